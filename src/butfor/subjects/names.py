"""Columns of a matrix, and what they are called."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.errors import InputError

MOST_MADE_UP = 1_000_000
"""Names that are kept for columns that have none."""


@dataclass(frozen=True, eq=False)
class Names:
    """The names of columns, where they have some; a name may stand for several."""

    given: tuple[str, ...] | None
    n_features: int | None

    def of(self, columns: Iterable[int]) -> tuple[str, ...]:
        """Give the names of columns.

        >>> Names(("free", "prize"), 2).of([1]), Names(None, 2).of([1])
        (('prize',), ('feature 1',))
        """
        known = self.given if self.given is not None else self._made_up
        if known is None:
            return tuple([f"feature {column}" for column in columns])
        return tuple([known[column] for column in columns])

    @cached_property
    def _made_up(self) -> tuple[str, ...] | None:
        """Names for all columns, made once: to make them again for every row takes longer than to sort it."""
        few = self.n_features is not None and self.n_features <= MOST_MADE_UP
        return tuple([f"feature {column}" for column in range(self.n_features or 0)]) if few else None

    def columns(self, argument: str, feature: Any) -> list[int]:
        """Find the columns of a feature that is given by name or by column."""
        if isinstance(feature, str) and feature in self._by_name:
            return self._by_name[feature]
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
            known = (
                "names are known only with feature_names"
                if self.given is None
                else "no feature has that name"
            )
            raise InputError(f"{argument} must hold names or columns of features, got {feature!r}: {known}.")
        if feature < 0 or (self.n_features is not None and feature >= self.n_features):
            last = "" if self.n_features is None else f" to {self.n_features - 1:,}"
            raise InputError(f"{argument} must hold columns from 0{last}, got {feature}.")
        return [int(feature)]

    def is_known(self, name: str) -> bool:
        """Tell whether a feature has this name."""
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        by_name = defaultdict(list)
        for column, name in enumerate(self.given or ()):
            by_name[name].append(column)
        return dict(by_name)


def require_collection(argument: str, given: Any, of: str) -> None:
    """Refuse what does not hold several things by name."""
    if isinstance(given, str):
        raise InputError(f"{argument} must be a collection of {of}, got the string {given!r}.")
    if not isinstance(given, Collection):
        raise InputError(f"{argument} must be a collection of {of}, got {given!r}.")
