"""Affine functions of a row, and how they look from one row: their values, and what each removal changes.

Sums of decision trees look almost the same from a row: what is not affine of them is a list of leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.counted import CountedText, NoFormula
from butfor.models.formula.preprocessing import Columns, Entries, Point, Preprocessing
from butfor.models.formula.ratios import Changes, Ratios, Tables
from butfor.models.formula.trees.local_leaves import LocalLeaves
from butfor.models.row import Row

UNSAFE = 1e-3
"""The share of a norm below which what is left of it by subtraction is added up anew."""


@dataclass(frozen=True, eq=False)
class LocalAffine:
    """n functions of the removal set: z(r) = now − r · drops, for m features that may be removed.

    Where there are leaves of trees, the values of those that r reaches are added. Where there are ratios,
    these are raw functions, of which the ratios make others.
    """

    now: FloatArray
    """n: the values at the row itself; with ratios, what leaves add is not in them."""
    own: Any
    """m × n, an array or CSR: how far each function falls when a feature goes, apart from `common`."""
    size: FloatArray
    """n: bounds on the sums of the absolute values of the terms, whatever is removed."""
    precision: float
    """The relative error of such a sum in the model's own arithmetic."""
    common: FloatArray | None = None
    """m: how far all functions alike fall when a feature goes."""
    zeros_are_exact: bool = False
    """Whether a drop of zero means that the model computes the same number, to the last bit."""
    leaves: LocalLeaves | None = None
    """What the leaves of trees add to the functions, beyond what is affine."""
    moves: BoolArray | None = None
    """m: of sums of trees, whether a removal changes the number of any tree of one unit; None: unknown."""
    grain: float = 0.0
    """Of sums of trees: a power of two of which all numbers that the model adds up are multiples."""
    ratios: Ratios | None = None
    """What becomes of the raw functions; None: they are the functions."""
    floor: FloatArray | None = None
    """With ratios: the raw functions without any unit, apart from leaves, added up without cancellation."""
    cut: "CutTexts | None" = None
    """Reads the text for removal sets for which this does not hold."""

    @property
    def is_finite(self) -> bool:
        """Whether all changes by removals are finite numbers."""
        own = self.own.data if sparse.issparse(self.own) else self.own
        return bool(np.isfinite(own).all() and (self.leaves is None or np.isfinite(self.leaves.values).all()))

    @cached_property
    def here(self) -> FloatArray:
        """The values of the functions at the row itself."""
        return self.now if self.ratios is None else self.without(np.zeros((1, self.n_units), dtype=bool))[0]

    @property
    def n_units(self) -> int:
        """The number of units that may be removed."""
        return int(self.own.shape[0])

    def without(self, removed: BoolArray) -> FloatArray:
        """Return the values for removal sets (sets × functions)."""
        if self.ratios is not None:
            return self._by_text(removed, self.raw_without(removed))
        z = self.now - removed.astype(np.float64) @ self.drops
        return z if self.leaves is None else z + self.leaves.without(removed)

    @property
    def falls_by_drops(self) -> bool:
        """Whether the functions are now − r · drops, and the drops an array."""
        return self.ratios is None and self.leaves is None and not sparse.issparse(self.own)

    def along(self, units: IntArray) -> FloatArray:
        """Return the values without the first of some units, without the first two, … (units × functions).

        Only where the functions fall by drops alone.
        """
        return np.asarray(self.now - self.drops[units].cumsum(axis=0))

    def raw_without(self, removed: BoolArray) -> FloatArray:
        """Return the raw functions for removal sets; without tables, norms of nothing are exactly zero."""
        assert self.floor is not None
        assert self.ratios is not None
        raw = self.floor + (~removed).astype(np.float64) @ self.drops
        tables = self.ratios.tables
        if self.leaves is not None:
            raw += self.leaves.without(removed)
        if tables is not None:
            counts = -(sparse.csr_array(removed.astype(np.float64)) @ tables.changes)
            if self.leaves is not None:
                reached = self.leaves.reached(removed).T
                counts = (
                    counts
                    + sparse.csr_array(reached.astype(np.float64) - self._reached_here) @ tables.at_leaves
                )
            self.ratios.change(raw, Changes.at_each(sparse.csr_array(counts)))
        return raw

    @cached_property
    def _reached_here(self) -> FloatArray:
        """Which leaves the row itself reaches, as ones and zeros."""
        assert self.leaves is not None
        return self.leaves.reached(np.zeros((1, self.n_units), dtype=bool))[:, 0].astype(np.float64)

    def _by_text(self, removed: BoolArray, raw: FloatArray) -> FloatArray:
        """Return the functions; the text is read for sets of too many units in a row, or of almost all."""
        assert self.ratios is not None
        values = self.ratios.value(raw)
        if self.cut is not None:
            again = self.cut.beyond(removed) | self._is_small(raw)
            if again.any():
                values[again] = self.cut.functions(removed[again])
        return values

    def _is_small(self, raw: FloatArray) -> BoolArray:
        """Return where so little is left of a norm that it may be nothing but rounding."""
        assert self.ratios is not None
        norms = list(self.ratios.norm_at.values())
        return np.asarray((raw[:, norms] <= UNSAFE * self._norms_here).any(axis=1))

    @cached_property
    def _norms_here(self) -> FloatArray:
        """The norms at the row itself."""
        assert self.ratios is not None
        norms = list(self.ratios.norm_at.values())
        return np.asarray(self.raw_without(np.zeros((1, self.n_units), dtype=bool))[0, norms])

    def with_each(self, removed: BoolArray) -> FloatArray:
        """Return the values for one removal set together with each single unit (units × functions)."""
        if self.ratios is None:
            z = self.now - self.drops[removed].sum(axis=0) - self.drops
            return np.asarray(z if self.leaves is None else z + self.leaves.with_each(removed))
        assert self.floor is not None
        raw = (
            self.floor + self.drops[~removed].sum(axis=0) - np.where(removed[:, np.newaxis], 0.0, self.drops)
        )
        if self.leaves is not None:
            raw += self.leaves.with_each(removed)
        if self.ratios.tables is not None:
            already, counts = self._counts_with_each(self.ratios.tables, removed)
            common = np.zeros((1, raw.shape[1]))
            self.ratios.change(common, Changes.at_one(already))
            raw += common
            self.ratios.change(raw, Changes.at_each(counts), already)
        values = self.ratios.value(raw)
        # What is left of a norm by subtraction may be nothing but rounding: these sets are added up anew.
        is_unsafe = self._is_small(raw)
        if self.cut is not None and removed.any():
            is_unsafe |= self.cut.beyond_with_each(removed)
        unsafe = np.flatnonzero(is_unsafe)
        if unsafe.size:
            sets = np.repeat(removed[np.newaxis], len(unsafe), axis=0)
            sets[np.arange(len(unsafe)), unsafe] = True
            values[unsafe] = self.without(sets)
        return values

    def _counts_with_each(self, tables: Tables, removed: BoolArray) -> tuple[FloatArray, Any]:
        """Return how a removal set changes counts, and how each further unit does (CSR, units × columns)."""
        counts = -(sparse.diags_array((~removed).astype(np.float64)) @ tables.changes)
        already = -tables.change_without(removed.astype(np.float64))
        if self.leaves is not None:
            reached = self.leaves.reached(removed[np.newaxis])[:, 0].astype(np.float64)
            counts = counts + self.leaves.steps_with_each(removed) @ tables.at_leaves
            already = already + tables.counted_at(reached - self._reached_here)
        return already, sparse.csr_array(counts)

    def transformed(self, weights: FloatArray, bias: FloatArray) -> "LocalAffine":
        """Return weighted sums of the functions (functions × sums) + bias; `size` stays as it is."""
        if self.ratios is not None:
            matrix = self.ratios.raw_weights(weights)
            assert self.floor is not None
            return replace(
                self,
                now=self.now @ matrix,
                own=self.drops @ matrix,
                floor=self.floor @ matrix,
                leaves=None if self.leaves is None else self.leaves.transformed(matrix),
                ratios=self.ratios.transformed(weights, bias),
                cut=None if self.cut is None else SumsOfCuts((self.cut,), weights, bias),
            )
        return replace(
            self,
            now=self.now @ weights + bias,
            own=self.drops @ weights,
            common=None,
            zeros_are_exact=False,
            leaves=None if self.leaves is None else self.leaves.transformed(weights),
            grain=0.0,
        )

    @cached_property
    def drops(self) -> FloatArray:
        """m × n: how far each function falls when a feature goes."""
        own = self.own.toarray() if sparse.issparse(self.own) else self.own
        return np.asarray(own if self.common is None else own + self.common[:, np.newaxis])

    def merged(self, point: Point) -> "LocalAffine":
        """Return the functions of bundles instead of features: the features of a bundle go together."""
        if point.bundle_of is None:
            return self
        n_features = len(point.bundle_of)
        together = sparse.csr_array(
            (np.ones(n_features), (point.bundle_of, np.arange(n_features))),
            shape=(point.n_bundles, n_features),
        )
        common = None if self.common is None else together @ self.common
        return replace(self, own=together @ self.own, common=common, zeros_are_exact=False)

    @staticmethod
    def side_by_side(members: "Sequence[LocalAffine]") -> "LocalAffine":
        """Join the affine functions of several models at the same row."""
        if any(member.ratios is not None for member in members):
            return _ratios_side_by_side(members)
        return LocalAffine(
            now=np.concatenate([member.now for member in members]),
            own=np.concatenate([member.drops for member in members], axis=1),
            size=np.concatenate([member.size for member in members]),
            precision=max(member.precision for member in members),
            zeros_are_exact=all(member.zeros_are_exact for member in members),
            leaves=LocalLeaves.side_by_side(
                [member.leaves for member in members], [len(member.now) for member in members]
            ),
        )


def _with_ratios(local: LocalAffine) -> LocalAffine:
    """Return the same functions as ratios that divide by nothing."""
    if local.ratios is not None:
        return local
    n, nothing = len(local.now), np.zeros((1, len(local.now)))
    ratios = Ratios((None,), np.zeros(n), nothing, local.size[np.newaxis])
    return replace(local, ratios=ratios, floor=local.now - local.drops.sum(axis=0))


def _ratios_side_by_side(members: "Sequence[LocalAffine]") -> LocalAffine:
    """Join functions of which some are divided by norms; those of the same norm become one branch."""
    members = [_with_ratios(member) for member in members]
    now, floor = (np.concatenate([getattr(each, name) for each in members]) for name in ("now", "floor"))
    drops = np.concatenate([member.drops for member in members], axis=1)
    leaves = LocalLeaves.side_by_side([each.leaves for each in members], [len(each.now) for each in members])
    functions = np.vstack([now, floor, drops, np.zeros((0, len(now))) if leaves is None else leaves.values])
    branches: list[tuple[str | None, int, dict[int, int]]] = []
    first = 0
    for number, member in enumerate(members):
        assert member.ratios is not None
        for branch, norm in enumerate(member.ratios.norms):
            at = first + member.ratios.norm_at.get(branch, 0)
            alike = [
                of_members
                for known, other, of_members in branches
                if known == norm
                and number not in of_members
                and (norm is None or np.array_equal(functions[:, at], functions[:, other]))
            ]
            if alike:
                alike[0][number] = branch
            else:
                branches.append((norm, at, {number: branch}))
        first += len(member.now)
    firsts_of = np.cumsum([0, *(len(member.now) for member in members)])
    index: list[int] = []
    filled, sizes = [], []
    for _, _, of_members in branches:
        for number, member in enumerate(members):
            ratios = member.ratios
            assert ratios is not None
            of = of_members.get(number)
            index += [-1] * ratios.n if of is None else range(*ratios.parts(of).indices(ratios.n_raw))
            if of is not None:
                index[-ratios.n :] = [int(firsts_of[number]) + i for i in index[-ratios.n :]]
            filled.append(np.zeros(ratios.n) if of is None else ratios.filled[of])
            sizes.append(np.zeros(ratios.n) if of is None else ratios.sizes[of])
    index += [at for norm, at, _ in branches if norm is not None]
    chosen = np.hstack([functions, np.zeros((len(functions), 1))])[:, index]
    n = sum(member.ratios.n for member in members if member.ratios is not None)
    joined = Ratios(
        tuple(norm for norm, _, _ in branches),
        np.concatenate([member.ratios.bias for member in members if member.ratios is not None]),
        np.concatenate(filled).reshape(len(branches), n),
        np.concatenate(sizes).reshape(len(branches), n),
        _tables_side_by_side(members, [of_members for _, _, of_members in branches]),
    )
    m = drops.shape[0]
    cuts = tuple(member.cut for member in members if member.cut is not None)
    return LocalAffine(
        now=chosen[0],
        own=chosen[2 : 2 + m],
        size=joined.size,
        precision=max(member.precision for member in members),
        leaves=None if leaves is None else replace(leaves, values=chosen[2 + m :]),
        ratios=joined,
        floor=chosen[1],
        cut=SumsOfCuts(cuts, np.eye(n), np.zeros(n)) if cuts else None,
    )


def _tables_side_by_side(members: "Sequence[LocalAffine]", branches: list[dict[int, int]]) -> Tables | None:
    """Join tables; members that share branches read the same text, so they have the same counts."""
    known = [member.ratios.tables if member.ratios is not None else None for member in members]
    first = next((tables for tables in known if tables is not None), None)
    if first is None:
        return None
    if any(tables is None or len(tables) != len(first) for tables in known) or any(
        len(of_members) < len(members) for of_members in branches
    ):
        raise NoFormula
    weights = np.concatenate([tables.weights for tables in known if tables is not None], axis=1)
    return replace(first, weights=weights)


class CutTexts(Protocol):
    """A text that is read again for some removal sets."""

    @property
    def window(self) -> int | None:
        """Up to how many units a set may remove in any case; None: there is no limit."""
        ...

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which removal sets these are."""
        ...

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        ...

    def functions(self, removed: BoolArray) -> FloatArray:
        """Return the functions for removal sets."""
        ...


@dataclass(frozen=True, eq=False)
class SumsOfCuts:
    """Weighted sums of functions for which a text is read again."""

    members: tuple[CutTexts, ...]
    weights: FloatArray
    bias: FloatArray

    @property
    def window(self) -> int | None:
        """Up to how many units a set may remove in any case; None: there is no limit."""
        return self.members[0].window

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which removal sets these are."""
        return self.members[0].beyond(removed)

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        return self.members[0].beyond_with_each(removed)

    def functions(self, removed: BoolArray) -> FloatArray:
        """Return the functions for removal sets."""
        functions = np.concatenate([member.functions(removed) for member in self.members], axis=1)
        return np.asarray(functions @ self.weights + self.bias)


class AffineMap(Protocol):
    """Affine functions of any row, or sums of trees, behind the steps of a pipeline."""

    @property
    def bias(self) -> FloatArray:
        """The values at a row of zeros; with trees, what is added to them."""
        ...

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        ...

    def rescaled(self, scale: float, shift: float) -> Self:
        """Return scale · function + shift."""
        ...

    def grain(self, row: Row | CountedText) -> float:
        """Return a power of two of which all terms that the model adds up are multiples; zero if unknown."""
        ...


@dataclass(frozen=True, eq=False)
class LinearMap:
    """The affine functions x · weights + bias."""

    weights: Any
    """columns × n, an array or CSR."""
    bias: FloatArray
    steps: Preprocessing
    strength: Any = None
    """columns × n: the absolute values that the model adds up, where they are more than the weights' own."""
    stored_as: np.dtype[Any] | None = None
    """The dtype of the weights in the model, where these were computed from them."""

    @cached_property
    def absolute_weights(self) -> FloatArray:
        """The absolute weights, to which rounding errors are relative; not for sparse ones."""
        return np.asarray(np.abs(self.weights if self.strength is None else self.strength), dtype=np.float64)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the model's own weights."""
        return np.dtype(self.weights.dtype if self.stored_as is None else self.stored_as)

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        return self.at_point(self.steps.point(row))

    def weights_of(self, columns: Columns) -> FloatArray:
        """Return the weights of some columns, as an array (columns × functions)."""
        weights = _of_columns(self.weights, columns)
        return np.asarray(weights.toarray() if sparse.issparse(weights) else weights)

    def value_of(self, entries: Entries) -> FloatArray:
        """Return the sums of the products of values and weights."""
        return np.asarray(entries.values @ _of_columns(self.weights, entries.columns))

    def at_point(self, point: Point) -> LocalAffine:
        """Evaluate them at a row that went through the steps."""
        here = _of_columns(self.weights, point.columns)
        moving = _of_columns(self.weights, point.moving) if point.moves_apart else here
        strength = abs(here) if self.strength is None else _of_columns(self.strength, point.columns)
        size = np.abs(point.values) @ strength + np.abs(self.bias)
        if np.count_nonzero(point.after):
            size = size + np.abs(point.after) @ abs(moving)
        local = LocalAffine(
            now=point.values @ here + self.bias,
            own=_scaled(moving, point.before - point.after),
            size=size,
            precision=precision_at(point, self.dtype),
            zeros_are_exact=self.strength is None,
        )
        return local.merged(point)

    def grain(self, row: Row | CountedText) -> float:
        """Return a power of two of which all terms that the model adds up are multiples; zero if unknown."""
        if self.strength is not None or self.stored_as is not None:
            return 0.0
        point = self.steps.point(row)
        moved = _of_columns(self.weights, np.concatenate([point.columns, point.moving]))
        weights = moved.data if sparse.issparse(moved) else moved
        values = np.concatenate([point.values, point.after])
        return min(grain_of(values) * grain_of(weights), grain_of(self.bias))

    def rescaled(self, scale: float, shift: float) -> "LinearMap":
        """Return scale · function + shift."""
        strength = None if self.strength is None else abs(scale) * self.strength
        weights = scale * self.weights.astype(np.float64)
        return replace(
            self, weights=weights, bias=scale * self.bias + shift, strength=strength, stored_as=self.dtype
        )


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """−γ · |x − s|² for each vector s.

    It is an affine function of the removal set, since each feature adds its own square.
    """

    vectors: Any
    """columns × n, an array or CSR."""
    gamma: float
    squared_norms: FloatArray
    steps: Preprocessing

    @property
    def bias(self) -> FloatArray:
        """The values at a row of zeros."""
        return -self.gamma * self.squared_norms

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        point = self.steps.plain_point(row)
        here = _of_columns(self.vectors, point.columns)
        moving = _of_columns(self.vectors, point.moving) if point.moves_apart else here
        squares = float(point.values @ point.values)
        products = point.values @ here
        change = point.before - point.after
        size = squares + self.squared_norms + 2 * np.abs(products) + float(point.after @ point.after)
        local = LocalAffine(
            now=-self.gamma * (squares - 2 * products + self.squared_norms),
            own=_scaled(moving, 2 * self.gamma * change),
            size=self.gamma * size,
            precision=precision_at(point, np.dtype(np.float64)),  # all that libsvm uses
            common=-self.gamma * change * (point.before + point.after),
        )
        return local.merged(point)

    def rescaled(self, scale: float, shift: float) -> "SquaredDistances":
        """Raise `NotImplementedError`: no network needs it."""
        raise NotImplementedError

    def grain(self, row: Row | CountedText) -> float:
        """Return zero: exponentials are rounded in any case."""
        return 0.0


def _of_columns(matrix: Any, columns: Columns) -> Any:
    """Return the entries of some columns of the row, in double precision."""
    return matrix[columns].astype(np.float64, copy=False)


def _scaled(matrix: Any, factors: FloatArray) -> Any:
    """Multiply each row of a matrix by its factor."""
    if not sparse.issparse(matrix):
        return factors[:, np.newaxis] * matrix
    matrix = matrix.copy()
    matrix.data *= np.repeat(factors, np.diff(matrix.indptr))
    return matrix


def grain_of(values: npt.NDArray[Any]) -> float:
    """Return the largest power of two of which all numbers are multiples; infinity if all are zero.

    >>> grain_of(np.array([3.0, 0.5])), grain_of(np.array([0.1])) < 1e-16
    (0.5, True)
    """
    mantissas, exponents = np.frexp(values[values != 0].astype(np.float64))
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    last_bits = (whole & -whole).astype(np.float64)
    return float(np.ldexp(last_bits, exponents - 53).min(initial=np.inf))


def precision_at(point: Point, dtype: np.dtype[Any]) -> float:
    """Return the relative error of sums of a row's values times weights of a dtype."""
    return precision_of_sums(len(point.columns), point.dtype, dtype)


def precision_of_sums(n_terms: int, *dtypes: np.dtype[Any]) -> float:
    """Return the relative error of a model's own sum of so many products of numbers of these dtypes.

    Bits and small whole numbers times weights of single precision are added up in single precision.

    >>> doubtful = precision_of_sums(4, np.dtype(bool), np.dtype(np.float32))
    >>> doubtful > 1e-6 > precision_of_sums(4, np.dtype(np.float32), np.dtype(np.float64))
    True
    """
    return _rounding(*dtypes) * (16 + n_terms)


@lru_cache
def _rounding(*dtypes: np.dtype[Any]) -> float:
    """Return the relative error of one product of numbers of these dtypes."""
    single = np.result_type(*dtypes).itemsize < np.dtype(np.float64).itemsize
    return float(np.finfo(np.float32 if single else np.float64).eps)
