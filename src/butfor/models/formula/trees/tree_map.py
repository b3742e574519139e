"""Sums of decision trees as functions of any row, behind the steps of a pipeline."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.counted import CountedText, NoFormula
from butfor.models.formula.affine import LocalAffine, grain_of
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.growing import INACTIVE, STAYS, Reached, reach
from butfor.models.formula.trees.local_leaves import LocalLeaves, as_bits
from butfor.models.formula.trees.nodes import Trees
from butfor.models.formula.trees.spines import Spines
from butfor.models.row import Row
from butfor.models.row_kind import RowKind

MOST_SPINES = 8
"""For so many different forms of absence at most the trees are kept in order."""


@dataclass(frozen=True, eq=False)
class TreeMap:
    """The sums of trees + bias."""

    trees: Trees
    bias: FloatArray
    """Outputs: what is added to the sum of the trees."""
    steps: Preprocessing
    precision: npt.DTypeLike = np.float64
    """The dtype in which the model adds up."""
    absent_is_missing: bool = False
    """Whether an absent entry of CSR is a missing value to the model, not a zero."""
    missing_value: float = math.nan
    """A value that the model takes for a missing one."""
    adds_up_votes: bool = False
    """Whether the numbers of leaves may be such that the model adds them up without rounding."""
    rounds_integers: bool = False
    """Whether the model rounds whole numbers of dense rows to single precision."""
    spines: dict[RowKind | bool | bytes, Spines] = field(default_factory=dict)
    """The trees as rows without active features see them.

    They go by the kind of table; without steps, by whether an absent entry is missing in it; for records, by
    what stands for absence.
    """

    def prepare(self) -> None:
        """Order the trees for rows of CSR, so that processes share them; behind steps a row must do it."""
        if not self.steps.transformers and self.absent_is_missing not in self.spines:
            self._ordered(self.absent_is_missing, np.zeros(1), self.absent_is_missing)

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate the sums at one row, as functions of the removal set."""
        if isinstance(row, Row) or row.is_text:
            row = self.steps.plain(row)
            reached, values = self._reached(row)
            n_units = row.n_bundles
        else:
            reached, values = self._reached_of_cells(row)
            n_units = row.n_units
        own = values[~reached.must.any(axis=1)]  # of the leaf that the row itself reaches, tree by tree
        largest = np.maximum.reduceat(np.abs(values), np.flatnonzero(is_first(reached.tree)), axis=0)
        drops, moves, leaves = _folded(reached, values - own[reached.tree], n_units)
        return LocalAffine(
            now=own.sum(axis=0) + self.bias,
            own=drops,
            size=largest.sum(axis=0) + np.abs(self.bias),
            precision=float(np.finfo(self.precision).eps) * (len(own) + 16),
            leaves=leaves,
            moves=moves,
            grain=min(grain_of(values), grain_of(self.bias), 1.0) if self.adds_up_votes else 0.0,
        )

    def rescaled(self, scale: float, shift: float) -> "TreeMap":
        """Return scale · sum + shift."""
        return replace(self, trees=self.trees.rescaled(scale), bias=scale * self.bias + shift, spines={})

    def grain(self, row: Row | CountedText) -> float:
        """Return a power of two of which all numbers that the model adds up are multiples."""
        return self.at(row).grain

    def _reached(self, row: Row) -> tuple[Reached, FloatArray]:
        """Return the leaves that the row can reach, and their values (leaves × outputs)."""
        columns, values, is_there, dtype = self.steps.active(row)
        if self.rounds_integers and not row.kind.is_sparse and dtype.kind in "iu":
            values = values.astype(np.float32).astype(np.float64)
        n_columns = max(self.trees.n_features, int(columns.max(initial=-1)) + 1)
        unit_of = np.full(n_columns, INACTIVE, dtype=np.int64)
        present = np.zeros(n_columns)
        units = np.full(len(columns), STAYS, dtype=np.int64)
        units[row.removable] = np.arange(row.n_bundles) if row.bundle_of is None else row.bundle_of
        unit_of[columns[is_there]] = units[is_there]
        present[columns[is_there]] = self._as_seen(values[is_there])
        spines = self._spines_for(row)
        has_bundles = row.bundle_of is not None
        reached = reach(spines, unit_of, present, row.n_bundles, has_bundles=has_bundles)
        return reached, self._by_output(spines.trees.values[reached.node], reached.tree)

    def _reached_of_cells(self, row: CountedText) -> tuple[Reached, FloatArray]:
        """Return the same for a record, of which removed cells need not be zeros."""
        point = self.steps.point_of_cells(row)
        if self.rounds_integers and not row.is_sparse and point.dtype.kind in "iu":
            raise NoFormula
        bundle_of = point.bundle_of
        assert bundle_of is not None
        n_columns = max(
            self.trees.n_features, *(int(each.max(initial=-1)) + 1 for each in (point.columns, point.moving))
        )
        now, absent = np.zeros(n_columns), np.zeros(n_columns)
        unit_of = np.full(n_columns, STAYS, dtype=np.int64)
        now[point.columns] = point.values
        moves = ~_alike(point.before, point.after)
        unit_of[point.moving[moves]] = bundle_of[moves]
        absent[point.moving[moves]] = point.after[moves]
        is_missing = self.absent_is_missing and row.is_sparse
        if is_missing:
            now[now == 0] = np.nan
        now = self._as_seen(now)
        key = absent.tobytes()
        if key not in self.spines:
            if len(self.spines) > MOST_SPINES:
                self.spines.clear()
            self._ordered(key, absent, is_missing)
        spines = self.spines[key]
        seen = self._as_seen(np.where(absent == 0, np.nan, absent) if is_missing else absent)
        unit_of[_alike(now, seen)] = INACTIVE
        reached = reach(spines, unit_of, now, row.n_units, has_bundles=True)
        return reached, self._by_output(spines.trees.values[reached.node], reached.tree)

    def _spines_for(self, row: Row) -> Spines:
        is_missing = self.absent_is_missing and row.kind.is_sparse
        key = row.kind if self.steps.transformers else is_missing
        return (
            self.spines[key] if key in self.spines else self._ordered(key, self.steps.absent(row), is_missing)
        )

    def _ordered(self, key: RowKind | bool | bytes, absent: FloatArray, is_missing: bool) -> Spines:
        absent = self._as_seen(absent)
        if is_missing:
            absent = np.where(absent == 0, np.nan, absent)
        self.spines[key] = Spines.of(self.trees, absent)
        return self.spines[key]

    def _as_seen(self, values: FloatArray) -> FloatArray:
        """Return values with NaN in the place of what the model takes for missing."""
        if math.isnan(self.missing_value):
            return values
        compared = values.astype(np.float32) if self.trees.single else values
        return np.where(compared == self.missing_value, np.nan, values)

    def _by_output(self, values: FloatArray, tree: IntArray) -> FloatArray:
        """Return the values of leaves, given as wide as they are stored, for every output."""
        if self.trees.output_of is None:
            return values
        by_output = np.zeros((len(values), len(self.bias)))
        by_output[np.arange(len(values)), self.trees.output_of[tree]] = values[:, 0]
        return by_output


def _alike(these: FloatArray, those: FloatArray) -> BoolArray:
    """Return where numbers are the same; missing ones are."""
    return np.asarray((these == those) | (np.isnan(these) & np.isnan(those)))


def is_first(numbers: IntArray) -> BoolArray:
    """Return which of some ascending numbers, none below zero, are the first of their kind."""
    return np.diff(numbers, prepend=-1) > 0


def _folded(
    reached: Reached, changes: FloatArray, n_units: int
) -> tuple[FloatArray, BoolArray, LocalLeaves | None]:
    """Return what trees of one unit drop by its removal, the units of these, and the leaves of other trees.

    `changes` are the values of leaves less that of the leaf that the row itself reaches.
    """
    n_leaves = np.bincount(reached.tree)[reached.tree]
    alone = (n_leaves == 2) & reached.must.any(axis=1)
    drops, moves = np.zeros((n_units, changes.shape[1])), np.zeros(n_units, dtype=bool)
    _, unit = np.nonzero(as_bits(reached.must[alone], n_units))
    moves[unit] = True
    for output, change in enumerate(changes[alone].T):
        drops[:, output] = -np.bincount(unit, change, minlength=n_units)
    rest = n_leaves > 2
    if not rest.any():
        return drops, moves, None
    must, tree = reached.must[rest], np.cumsum(is_first(reached.tree[rest])) - 1
    return drops, moves, LocalLeaves(must, must | reached.keep[rest], changes[rest], tree, n_units)
