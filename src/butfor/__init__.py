"""Evidence counterfactuals: the smallest set of a row's active features without which a classifier would
have decided otherwise.
"""

from butfor.budget import Budget
from butfor.errors import ButforError, InputError, ModelError, SearchError
from butfor.explainer import Explainer
from butfor.explanation import Explanation
from butfor.explanations import Explanations
from butfor.ranked import Ranked
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
)

__version__ = "0.1.0"

__all__ = [
    "SEARCHES",
    "SEDC",
    "Auto",
    "Budget",
    "ButforError",
    "Certified",
    "Complete",
    "Explainer",
    "Explanation",
    "Explanations",
    "Finding",
    "InputError",
    "LimeC",
    "LimeSEDC",
    "LinSEDC",
    "ModelError",
    "Random",
    "Ranked",
    "Search",
    "SearchError",
    "ShapC",
    "ShapSEDC",
]
