"""Functions of the removal set that are divided by a norm, which is a function of the removal set itself."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from butfor.models.arrays import FloatArray, IntArray


class Changes(NamedTuple):
    """Changes of counts at points."""

    point: IntArray
    column: IntArray
    by: FloatArray

    @staticmethod
    def at_one(changes: FloatArray) -> "Changes":
        """Return the changes of all columns at one point."""
        column = np.flatnonzero(changes)
        return Changes(np.zeros(len(column), dtype=np.intp), column, changes[column])

    @staticmethod
    def at_each(changes: Any) -> "Changes":
        """Return the changes at several points (points × columns, CSR)."""
        point = np.repeat(np.arange(changes.shape[0]), np.diff(changes.indptr))
        return Changes(point, changes.indices, changes.data)


@dataclass(frozen=True, eq=False)
class Tables:
    """What columns add that are counted in several places of a text: a number for each count.

    The number, times weights, is added to the parts of a branch; its square, or absolute value, to the norm.
    What the whole text adds is among the raw functions: a table says what another count changes.
    """

    branch: IntArray
    """Columns: the branch."""
    now: FloatArray
    """Columns: the count in the whole text."""
    low: FloatArray
    """Columns: the least count, for which the first number stands."""
    high: FloatArray
    """Columns: the largest count."""
    numbers: FloatArray
    """Columns × counts; the last number is repeated."""
    weights: FloatArray
    """Columns × n; zeros where what is added to the parts is among the raw functions."""
    changes: Any
    """Units × columns, CSR: what each unit adds to a count while it is there."""
    at_leaves: Any
    """Leaves × columns, CSR: what each leaf adds."""

    def __len__(self) -> int:
        return len(self.low)

    def change_without(self, removed: FloatArray) -> FloatArray:
        """Return what is missing of each count without some units."""
        return np.asarray(self._changes_of_columns @ removed)

    def counted_at(self, reached: FloatArray) -> FloatArray:
        """Return what the leaves that are reached add to each count."""
        return np.asarray(self._leaves_of_columns @ reached)

    @cached_property
    def _changes_of_columns(self) -> Any:
        return self.changes.T.tocsr()

    @cached_property
    def _leaves_of_columns(self) -> Any:
        return self.at_leaves.T.tocsr()

    def number(self, columns: IntArray, counts: FloatArray) -> FloatArray:
        """Return the numbers of columns for their counts."""
        at = np.round(counts - self.low[columns]).astype(np.intp)
        return self.numbers[columns, np.clip(at, 0, self.numbers.shape[1] - 1)]

    def transformed(self, weights: FloatArray) -> "Tables":
        """Return the tables of weighted sums."""
        return replace(self, weights=self.weights @ weights)


@dataclass(frozen=True, eq=False)
class Ratios:
    """n functions: bias + Σ over branches of parts / norm.

    They are made of raw functions of the removal set: n parts for each branch, one branch after the other;
    then, for each branch that has a norm, that norm, or the square of the l2 norm. Tables change them.
    """

    norms: tuple[str | None, ...]
    """Branches: the norm, "l1", "l2" or "max", or None where nothing is divided."""
    bias: FloatArray
    """n."""
    filled: FloatArray
    """Branches × n: what is added unless the norm is zero."""
    sizes: FloatArray
    """Branches × n: bounds on the quotients, whatever is removed."""
    tables: Tables | None = None

    @property
    def n(self) -> int:
        """The number of functions."""
        return len(self.bias)

    @property
    def n_raw(self) -> int:
        """The number of raw functions."""
        return len(self.norms) * self.n + len(self.norm_at)

    @cached_property
    def norm_at(self) -> dict[int, int]:
        """The position of the norm of each branch that has one, among the raw functions."""
        normed = [branch for branch, norm in enumerate(self.norms) if norm is not None]
        return {branch: len(self.norms) * self.n + i for i, branch in enumerate(normed)}

    @property
    def size(self) -> FloatArray:
        """Bounds on the sums of the absolute terms of each function."""
        return np.asarray(self.sizes.sum(axis=0) + np.abs(self.bias) + np.abs(self.filled).sum(axis=0))

    def parts(self, branch: int) -> slice:
        """Return which raw functions are the parts of a branch."""
        return slice(branch * self.n, (branch + 1) * self.n)

    def change(self, raw: FloatArray, changes: "Changes", already: FloatArray | None = None) -> None:
        """Change raw functions at points (points × raw functions) by what tables say to changes of counts.

        `already` are changes that the raw functions have seen.
        """
        tables = self.tables
        assert tables is not None
        point, column, by = changes
        now = (tables.now if already is None else tables.now + already)[column]
        before, after = tables.number(column, now), tables.number(column, now + by)
        for branch, norm in enumerate(self.norms):
            own = tables.branch[column] == branch
            some, which = point[own], column[own]
            if tables.weights.any():
                gains = (after - before)[own, np.newaxis] * tables.weights[which]
                np.add.at(raw[:, self.parts(branch)], some, gains)
            if norm is not None:
                gain = of_norm(norm, after[own]) - of_norm(norm, before[own])
                raw[:, self.norm_at[branch]] += np.bincount(some, gain, minlength=len(raw))

    def value(self, raw: FloatArray) -> FloatArray:
        """Return the functions at points (points × n) from the raw ones (points × raw functions)."""
        total = np.broadcast_to(self.bias, (*raw.shape[:-1], self.n)).copy()
        for branch, norm in enumerate(self.norms):
            part = raw[..., self.parts(branch)]
            if norm is None:
                total += part
                continue
            divisor = raw[..., self.norm_at[branch], np.newaxis]
            divisor = np.sqrt(np.maximum(divisor, 0.0)) if norm == "l2" else divisor
            is_there = divisor > 0
            total += np.where(is_there, part / np.where(is_there, divisor, 1.0) + self.filled[branch], 0.0)
        return total

    def transformed(self, weights: FloatArray, bias: FloatArray) -> "Ratios":
        """Return weighted sums of the functions (functions × sums) + bias."""
        return replace(
            self,
            bias=self.bias @ weights + bias,
            filled=self.filled @ weights,
            sizes=self.sizes @ np.abs(weights),
            tables=None if self.tables is None else self.tables.transformed(weights),
        )

    def raw_weights(self, weights: FloatArray) -> FloatArray:
        """Return the matrix from the raw functions to those of weighted sums."""
        n_branches, n_sums, n_others = len(self.norms), weights.shape[1], len(self.norm_at)
        matrix = np.zeros((self.n_raw, n_branches * n_sums + n_others))
        for branch in range(n_branches):
            matrix[self.parts(branch), branch * n_sums : (branch + 1) * n_sums] = weights
        matrix[n_branches * self.n :, n_branches * n_sums :] = np.eye(n_others)
        return matrix


def of_norm(norm: str, values: FloatArray) -> FloatArray:
    """Return what values add to a norm: their absolute values, or their squares.

    The largest value is no sum: which it is, leaves say.
    """
    return np.abs(values) if norm == "l1" else np.square(values)
