"""Affine functions of a row, and how they look from one row: their values, and what each removal changes.

Sums of decision trees look almost the same from a row: what is not affine of them is a list of leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.formula.preprocessing import Columns, Point, Preprocessing
from butfor.models.formula.trees.local_leaves import LocalLeaves
from butfor.models.row import Row


@dataclass(frozen=True, eq=False)
class LocalAffine:
    """n functions of the removal set: z(r) = now − r · drops, for m features that may be removed.

    Where there are leaves of trees, the values of those that r reaches are added.
    """

    now: FloatArray
    """n: the values at the row itself."""
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

    @property
    def is_finite(self) -> bool:
        """Whether all changes by removals are finite numbers."""
        own = self.own.data if sparse.issparse(self.own) else self.own
        return bool(np.isfinite(own).all() and (self.leaves is None or np.isfinite(self.leaves.values).all()))

    def without(self, removed: BoolArray) -> FloatArray:
        """Return the values for removal sets (sets × functions)."""
        z = self.now - removed.astype(np.float64) @ self.drops
        return z if self.leaves is None else z + self.leaves.without(removed)

    def transformed(self, weights: FloatArray, bias: FloatArray) -> "LocalAffine":
        """Return weighted sums of the functions (functions × sums) + bias; `size` stays as it is."""
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

    def merged(self, bundle_of: IntArray, n_bundles: int) -> "LocalAffine":
        """Return the functions of bundles instead of features: the features of a bundle go together."""
        ones = np.ones(len(bundle_of))
        together = sparse.csr_array(
            (ones, (bundle_of, np.arange(len(bundle_of)))), shape=(n_bundles, len(bundle_of))
        )
        common = None if self.common is None else together @ self.common
        return replace(self, own=together @ self.own, common=common, zeros_are_exact=False)

    @staticmethod
    def side_by_side(members: "Sequence[LocalAffine]") -> "LocalAffine":
        """Join the affine functions of several models at the same row."""
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


class AffineMap(Protocol):
    """Affine functions of any row, or sums of trees, behind the steps of a pipeline."""

    @property
    def bias(self) -> FloatArray:
        """The values at a row of zeros; with trees, what is added to them."""
        ...

    def at(self, row: Row) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        ...

    def rescaled(self, scale: float, shift: float) -> Self:
        """Return scale · function + shift."""
        ...

    def grain(self, row: Row) -> float:
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

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the model's own weights."""
        return np.dtype(self.weights.dtype if self.stored_as is None else self.stored_as)

    def at(self, row: Row) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        point = self.steps.point(row)
        here = _of_columns(self.weights, point.columns)
        moving = _of_columns(self.weights, point.moving) if point.moves_apart else here
        strength = abs(here) if self.strength is None else _of_columns(self.strength, point.columns)
        size = np.abs(point.values) @ strength + np.abs(self.bias)
        if point.after.any():
            size = size + np.abs(point.after) @ abs(moving)
        return LocalAffine(
            now=point.values @ here + self.bias,
            own=_scaled(moving, point.before - point.after),
            size=size,
            precision=_precision(point, self.dtype),
            zeros_are_exact=self.strength is None,
        )

    def grain(self, row: Row) -> float:
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

    def at(self, row: Row) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        point = self.steps.point(row)
        here = _of_columns(self.vectors, point.columns)
        moving = _of_columns(self.vectors, point.moving) if point.moves_apart else here
        squares = float(point.values @ point.values)
        products = point.values @ here
        change = point.before - point.after
        size = squares + self.squared_norms + 2 * np.abs(products) + float(point.after @ point.after)
        return LocalAffine(
            now=-self.gamma * (squares - 2 * products + self.squared_norms),
            own=_scaled(moving, 2 * self.gamma * change),
            size=self.gamma * size,
            precision=_precision(point, np.dtype(np.float64)),  # all that libsvm uses
            common=-self.gamma * change * (point.before + point.after),
        )

    def rescaled(self, scale: float, shift: float) -> "SquaredDistances":
        """Raise `NotImplementedError`: no network needs it."""
        raise NotImplementedError

    def grain(self, row: Row) -> float:
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


def _precision(point: Point, dtype: np.dtype[Any]) -> float:
    return precision_of_sums(len(point.columns), point.dtype, dtype)


def precision_of_sums(n_terms: int, *dtypes: np.dtype[Any]) -> float:
    """Return the relative error of a model's own sum of so many products of numbers of these dtypes.

    Bits and small whole numbers times weights of single precision are added up in single precision.

    >>> doubtful = precision_of_sums(4, np.dtype(bool), np.dtype(np.float32))
    >>> doubtful > 1e-6 > precision_of_sums(4, np.dtype(np.float32), np.dtype(np.float64))
    True
    """
    single = np.result_type(*dtypes).itemsize < np.dtype(np.float64).itemsize
    return float(np.finfo(np.float32 if single else np.float64).eps) * (16 + n_terms)
