"""Linear forms of a row, seen from it: what they are worth now, and what each removal changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.base import FloatArray, IntArray
from butfor.models.preprocessing import Columns, Point, Preprocessing
from butfor.models.row import Row


@dataclass(frozen=True, eq=False)
class LocalForms:
    """U linear forms of which features are removed: z(r) = now − r · drops."""

    now: FloatArray
    """U values at the row itself."""
    own: Any
    """m × U, an array or CSR: how far each form falls when a feature goes, but for the common part."""
    size: FloatArray
    """U: bounds on the sums of the absolute values of the terms, whatever is removed."""
    precision: float
    """The relative error of such a sum in the model's own arithmetic."""
    common: FloatArray | None = None
    """m: how far all forms alike fall when a feature goes."""
    zeros_are_exact: bool = False
    """Whether a drop of zero says that the model's own form is the same to the last bit."""

    @cached_property
    def drops(self) -> FloatArray:
        """m × U: how far each form falls when a feature goes."""
        own = self.own.toarray() if sparse.issparse(self.own) else self.own
        return np.asarray(own if self.common is None else own + self.common[:, np.newaxis])

    def merged(self, part_of: IntArray, n_parts: int) -> "LocalForms":
        """Let features go together: part by part."""
        ones = np.ones(len(part_of))
        together = sparse.csr_array((ones, (part_of, np.arange(len(part_of)))), shape=(n_parts, len(part_of)))
        common = None if self.common is None else together @ self.common
        return replace(self, own=together @ self.own, common=common, zeros_are_exact=False)

    @staticmethod
    def side_by_side(parts: "Sequence[LocalForms]") -> "LocalForms":
        """Join the forms of several models of the same row."""
        return LocalForms(
            now=np.concatenate([part.now for part in parts]),
            own=np.concatenate([part.drops for part in parts], axis=1),
            size=np.concatenate([part.size for part in parts]),
            precision=max(part.precision for part in parts),
            zeros_are_exact=all(part.zeros_are_exact for part in parts),
        )


class Forms(Protocol):
    """Linear forms of any row, behind the steps of a pipeline."""

    def at(self, row: Row) -> LocalForms:
        """Evaluate them partially at one row."""
        ...

    def affine(self, scale: float, shift: float) -> Self:
        """Give scale · form + shift."""
        ...

    def grain(self, row: Row) -> float:
        """Return a power of two of which all terms that the model adds up are multiples; zero: not known."""
        ...


@dataclass(frozen=True, eq=False)
class LinearForms:
    """x · weights + bias."""

    weights: Any
    """columns × U, an array or CSR"""
    bias: FloatArray
    steps: Preprocessing
    strength: Any = None
    """columns × U: the absolute values that the model adds up, where they are more than the weights' own."""
    stored_as: np.dtype[Any] | None = None
    """The dtype of the weights in the model, where these here were made of them."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the model's own weights."""
        return np.dtype(self.weights.dtype if self.stored_as is None else self.stored_as)

    def at(self, row: Row) -> LocalForms:
        """Evaluate them partially at one row."""
        point = self.steps.point(row)
        here = _lines(self.weights, point.columns)
        moving = _lines(self.weights, point.moving) if point.moves_apart else here
        strength = abs(here) if self.strength is None else _lines(self.strength, point.columns)
        size = np.abs(point.values) @ strength + np.abs(self.bias)
        if point.after.any():
            size = size + np.abs(point.after) @ abs(moving)
        return LocalForms(
            now=point.values @ here + self.bias,
            own=_scaled(moving, point.before - point.after),
            size=size,
            precision=_precision(point, self.dtype),
            zeros_are_exact=self.strength is None,
        )

    def grain(self, row: Row) -> float:
        """Return a power of two of which all terms that the model adds up are multiples; zero: not known."""
        if self.strength is not None or self.stored_as is not None:
            return 0.0
        point = self.steps.point(row)
        lines = _lines(self.weights, np.concatenate([point.columns, point.moving]))
        weights = lines.data if sparse.issparse(lines) else lines
        values = np.concatenate([point.values, point.after])
        return min(grain_of(values) * grain_of(weights), grain_of(self.bias))

    def affine(self, scale: float, shift: float) -> "LinearForms":
        """Give scale · form + shift."""
        strength = None if self.strength is None else abs(scale) * self.strength
        weights = scale * self.weights.astype(np.float64)
        return replace(
            self, weights=weights, bias=scale * self.bias + shift, strength=strength, stored_as=self.dtype
        )


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """−γ · |x − s|² for every vector s: linear in what is removed, since each feature adds its own square."""

    vectors: Any
    """columns × U, an array or CSR"""
    gamma: float
    squared_norms: FloatArray
    steps: Preprocessing

    def at(self, row: Row) -> LocalForms:
        """Evaluate them partially at one row."""
        point = self.steps.point(row)
        here = _lines(self.vectors, point.columns)
        moving = _lines(self.vectors, point.moving) if point.moves_apart else here
        squares = float(point.values @ point.values)
        products = point.values @ here
        change = point.before - point.after
        size = squares + self.squared_norms + 2 * np.abs(products) + float(point.after @ point.after)
        return LocalForms(
            now=-self.gamma * (squares - 2 * products + self.squared_norms),
            own=_scaled(moving, 2 * self.gamma * change),
            size=self.gamma * size,
            precision=_precision(point, np.dtype(np.float64)),  # libsvm knows nothing else
            common=-self.gamma * change * (point.before + point.after),
        )

    def affine(self, scale: float, shift: float) -> "SquaredDistances":
        """Not needed: distances never stand alone."""
        raise NotImplementedError

    def grain(self, row: Row) -> float:
        """Return that it is not known: exponentials are rounded in any case."""
        return 0.0


def _lines(matrix: Any, columns: Columns) -> Any:
    """Give some lines of an array or a CSR matrix, in double precision."""
    return matrix[columns].astype(np.float64, copy=False)


def _scaled(lines: Any, factors: FloatArray) -> Any:
    """Multiply every line by its factor."""
    if not sparse.issparse(lines):
        return factors[:, np.newaxis] * lines
    lines = lines.copy()
    lines.data *= np.repeat(factors, np.diff(lines.indptr))
    return lines


def grain_of(values: npt.NDArray[Any]) -> float:
    """Return the largest power of two of which all numbers are multiples; infinite where all are zero.

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
