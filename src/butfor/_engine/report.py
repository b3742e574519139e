"""The one place that makes an Explanation: of one row, or of many as columns."""

import math
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from butfor._engine.model import EngineModel
from butfor.budget import Budget
from butfor.models import IntArray, LocalModel
from butfor.results.columns import Coded, Column, Columns, Listed
from butfor.results.explanation import Explanation, Status, filled
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
        return filled(self._shared, of_row.items())

    def columns(
        self, *, classes: tuple[IntArray, IntArray], same: dict[str, Any], **of_rows: Column
    ) -> Columns:
        """Make the explanations of many rows; `same` are fields with one value for all of them."""
        if self._class_names:
            names = Listed(self._class_names)
            of_rows["decision"], of_rows["decision_without"] = (Coded(each, names) for each in classes)
        return Columns(len(classes[0]), self._shared | same, of_rows)


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
