"""Names of the columns of a matrix."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.errors import InputError, nearest

_MADE_UP = re.compile("feature [0-9]{1,18}")
"""The made-up name of a column without one."""
MOST_MADE_UP = 1_000_000
"""The number of columns up to which made-up names are kept in memory."""


@dataclass(frozen=True, eq=False)
class Names:
    """The names of columns, where they have some; several columns may share a name."""

    known: tuple[str, ...] | None
    n_features: int | None

    def of(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> tuple[str, ...]:
        """Return the names of columns.

        >>> Names(("free", "prize"), 2).of([1]), Names(None, 2).of([1])
        (('prize',), ('feature 1',))
        """
        if self._as_array is None:
            return tuple([f"feature {column}" for column in columns])
        return tuple(self._as_array[columns].tolist())

    @cached_property
    def _as_array(self) -> Any:
        """All names as an array; None where made-up names for all columns would be too many."""
        if self.known is None and (self.n_features is None or self.n_features > MOST_MADE_UP):
            return None
        names = self.known or [f"feature {column}" for column in range(self.n_features or 0)]
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array

    def columns(self, argument: str, feature: Any) -> list[int]:
        """Return the columns of a feature that a user names, by name or by column.

        >>> Names(("free", "prize", "free"), 3).columns("protected", "free")
        [0, 2]
        >>> Names(None, 3).columns("protected", "feature 1")
        [1]
        """
        if isinstance(feature, str) and feature in self._by_name:
            return self._by_name[feature]
        if self.known is None and isinstance(feature, str) and _MADE_UP.fullmatch(feature):
            feature = int(feature.removeprefix("feature "))
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
            known = (
                "names are known only with feature_names"
                if self.known is None
                else f"no feature has that name{nearest(str(feature), self.known)}"
            )
            raise InputError(f"{argument} must hold names or columns of features, got {feature!r}: {known}.")
        if feature < 0 or (self.n_features is not None and feature >= self.n_features):
            last = "" if self.n_features is None else f" to {self.n_features - 1:,}"
            raise InputError(f"{argument} must hold columns from 0{last}, got {feature}.")
        return [int(feature)]

    def is_known(self, name: str) -> bool:
        """Return whether a feature has this name."""
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        by_name = defaultdict(list)
        for column, name in enumerate(self.known or ()):
            by_name[name].append(column)
        return dict(by_name)


def require_collection(argument: str, value: Any, of: str) -> None:
    """Raise unless a user passed a collection, which a string is not."""
    if isinstance(value, str):
        raise InputError(f"{argument} must be a collection of {of}, got the string {value!r}.")
    if not isinstance(value, Collection):
        raise InputError(f"{argument} must be a collection of {of}, got {value!r}.")
