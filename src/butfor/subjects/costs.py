"""What the removal of a unit costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.checks import require_positive
from butfor.errors import InputError
from butfor.models import FloatArray


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs by name or by column; whatever is not named costs one."""

    by_key: Mapping[Any, float]
    by_column: FloatArray | None = None

    def of(self, names: Sequence[str], columns: list[int] | None) -> FloatArray:
        """Give the costs of units, by their names or, for single features, by their columns."""
        if self.by_column is not None:
            return self.by_column[columns]
        costs = [self.by_key.get(name, 1.0) for name in names]
        if columns is not None:
            costs = [self.by_key.get(column, cost) for column, cost in zip(columns, costs, strict=True)]
        return np.array(costs, dtype=np.float64)


def as_costs(costs: Any, n_features: int | None, *, by_column: bool) -> Costs | None:
    """Read the costs that a user gives: a mapping from names or columns, or one number for each column."""
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        for key, cost in costs.items():
            require_positive(f"costs[{key!r}]", cost)
        return Costs({key: float(cost) for key, cost in costs.items()})
    if not by_column:
        raise InputError(
            "costs must be a mapping from names to costs where units are not single features, got "
            f"{type(costs).__name__}."
        )
    try:
        numbers = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(())
    if numbers.ndim != 1 or (n_features is not None and len(numbers) != n_features):
        expected = "one number for each column" if n_features is None else f"{n_features:,} numbers"
        raise InputError(f"costs must be a mapping from names to costs, or {expected}, got {costs!r:.60}.")
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise InputError("costs must be positive, finite numbers; use protected for what may not be removed.")
    return Costs({}, numbers)
