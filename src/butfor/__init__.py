"""Evidence counterfactuals: the smallest set of a row's active features without which a classifier would
have decided otherwise.
"""

from typing import TYPE_CHECKING

from butfor._lazy import lazily

if TYPE_CHECKING:
    from butfor._engine.what_if import WhatIf
    from butfor.budget import Budget
    from butfor.errors import ButforError, InputError, ModelError, SearchError
    from butfor.explainer import Explainer
    from butfor.models import Calls, LocalModel
    from butfor.noise import Noise
    from butfor.results.alternatives import Alternatives
    from butfor.results.explanation import Explanation
    from butfor.results.explanation_iterator import ExplanationIterator
    from butfor.results.explanations import Explanations
    from butfor.results.outcomes import Outcomes
    from butfor.results.ranked import Ranked
    from butfor.results.trial import Trial
    from butfor.searches import (
        SEARCHES,
        SEDC,
        Auto,
        Certified,
        Complete,
        Finding,
        LimeC,
        LimeSEDC,
        LinSEDC,
        Random,
        Search,
        ShapC,
        ShapSEDC,
        Thrifty,
    )

__version__ = "0.2.0"

__all__ = [
    "SEARCHES",
    "SEDC",
    "Alternatives",
    "Auto",
    "Budget",
    "ButforError",
    "Calls",
    "Certified",
    "Complete",
    "Explainer",
    "Explanation",
    "ExplanationIterator",
    "Explanations",
    "Finding",
    "InputError",
    "LimeC",
    "LimeSEDC",
    "LinSEDC",
    "LocalModel",
    "ModelError",
    "Noise",
    "Outcomes",
    "Random",
    "Ranked",
    "Search",
    "SearchError",
    "ShapC",
    "ShapSEDC",
    "Thrifty",
    "Trial",
    "WhatIf",
]

# Modules are imported on first use: the command line must start fast.
_ELSEWHERE = {
    "Alternatives": "results.alternatives",
    "Budget": "budget",
    "ButforError": "errors",
    "Calls": "models",
    "Explainer": "explainer",
    "Explanation": "results.explanation",
    "ExplanationIterator": "results.explanation_iterator",
    "Explanations": "results.explanations",
    "InputError": "errors",
    "LocalModel": "models",
    "ModelError": "errors",
    "Noise": "noise",
    "Outcomes": "results.outcomes",
    "Ranked": "results.ranked",
    "SearchError": "errors",
    "Trial": "results.trial",
    "WhatIf": "_engine.what_if",
}
__getattr__, __dir__ = lazily(__name__, {name: _ELSEWHERE.get(name, "searches") for name in __all__})
