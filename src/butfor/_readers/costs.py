"""Costs of removing units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor._checks import require_positive
from butfor._readers.groups import Groups
from butfor._readers.names import Names
from butfor.errors import InputError
from butfor.models import FloatArray


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs by name of a unit or by column; a unit without a cost costs one."""

    by_key: Mapping[Any, float]
    by_column: FloatArray | None = None

    def as_pair(self) -> tuple[dict[Any, float], FloatArray | None]:
        """Return the costs by key, and those by column."""
        return dict(self.by_key), self.by_column

    def of_columns(self, columns: list[int]) -> FloatArray:
        """Return the costs of single features."""
        if self.by_column is not None:
            return self.by_column[columns]
        return np.array([self.by_key.get(column, 1.0) for column in columns])

    def of_names(self, names: Sequence[str]) -> FloatArray:
        """Return the costs of groups or words; of words, whatever their case."""
        return np.array([self.by_key.get(name, self.by_key.get(name.casefold(), 1.0)) for name in names])


def costs_of_columns(costs: Any, names: Names) -> Costs | None:
    """Read costs of single features: a mapping from names or columns, or one number for each column."""
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        checked = checked_costs(costs)
        return Costs({column: checked[key] for key in checked for column in names.columns("costs", key)})
    try:
        numbers = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(())
    if numbers.ndim != 1 or (names.n_features is not None and len(numbers) != names.n_features):
        expected = (
            "one number for each column" if names.n_features is None else f"{names.n_features:,} numbers"
        )
        raise InputError(f"costs must be a mapping from names to costs, or {expected}, got {costs!r:.60}.")
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise InputError("costs must be positive, finite numbers; use protected for what may not be removed.")
    return Costs({}, numbers)


def costs_of_groups(costs: Any, groups: Groups) -> Costs | None:
    """Read costs of groups: a mapping from names of groups, and of features in no group."""
    if costs is None:
        return None
    checked = checked_costs(costs)
    return Costs({name: checked[key] for key in checked for name in groups.unit_names("costs", key)})


def costs_of_words(costs: Any) -> Costs | None:
    """Read costs of words, whatever their case."""
    if costs is None:
        return None
    checked = checked_costs(costs)
    return Costs({**{str(word).casefold(): cost for word, cost in checked.items()}, **checked})


def checked_costs(costs: Any) -> dict[Any, float]:
    """Return a mapping of costs; raise unless it is one, and all of them are positive."""
    if not isinstance(costs, Mapping):
        raise InputError(
            "costs must be a mapping from names to costs where units are not single features, got "
            f"{type(costs).__name__}."
        )
    for key, cost in costs.items():
        require_positive(f"costs[{key!r}]", cost)
    return {key: float(cost) for key, cost in costs.items()}
