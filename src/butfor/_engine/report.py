"""The one place that makes an Explanation."""

import math
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from butfor._engine.model import EngineModel
from butfor.budget import Budget
from butfor.models import LocalModel
from butfor.results.explanation import Explanation, Status
from butfor.searches import Finding

DEFAULTS = {field.name: field.default for field in fields(Explanation) if field.default is not MISSING}


class Report:
    """Makes explanations of rows that share a model, a limit of size, a search and a kind of local model."""

    def __init__(self, model: EngineModel, max_size: int, search: str, local_model: str) -> None:
        names, target = model.class_names, model.scorer.target
        self._class_names = names
        self._shared: dict[str, Any] = DEFAULTS | {
            "threshold": model.scorer.threshold,
            "max_size": max_size,
            "search": search,
            "local_model": local_model,
            "target": names[target] if names and target is not None else "",
            "n_classes": max(2, len(names)),
        }

    def explanation(self, *, classes: tuple[int, int], **of_row: Any) -> Explanation:
        """Make the explanation of a row; `classes` are the decisions on it, and without the removal set."""
        if self._class_names:
            of_row["decision"], of_row["decision_without"] = (self._class_names[index] for index in classes)
        # The frozen object is filled directly: its constructor would take half the time of a row in a block.
        explanation = object.__new__(Explanation)
        explanation.__dict__.update(self._shared)
        explanation.__dict__.update(of_row)
        return explanation


def status_of(finding: Finding, local: LocalModel, budget: Budget) -> Status:
    """Return the status, which is not claimed by the search but follows from what is proven."""
    if finding.removed:
        return "found"
    if local.costs is not None:
        return "none" if finding.cost_bound == math.inf else "budget"
    return "none" if finding.lower_bound > budget.largest(local.n_features) else "budget"


def lower_bound_of(finding: Finding, local: LocalModel, max_size: int) -> float:
    """Return the size, or cost, that an answer has at least; sets beyond the size limit may be cheaper."""
    if local.costs is None:
        return finding.lower_bound
    if local.n_features <= max_size:
        return min(finding.cost_bound, float(local.costs.sum()))
    return min(finding.cost_bound, float(np.sort(local.costs)[: max_size + 1].sum()))
