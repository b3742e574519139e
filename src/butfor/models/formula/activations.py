"""The one-dimensional functions that networks and kernels apply to affine functions of a row."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logit, ndtr

from butfor.models.arrays import BoolArray, FloatArray, IntArray


class Activation(Protocol):
    """A function φ of one number, with what is needed to bound it and its rounding errors."""

    only_kinks: ClassVar[bool]
    """Whether `critical` returns the same points for every slope."""

    def value(self, z: FloatArray) -> FloatArray:
        """Return φ(z), number by number."""
        ...

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ(z)| where |z| ≤ size."""
        ...

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound |φ'(z)| where |z| ≤ size."""
        ...

    def slope(self, z: FloatArray) -> FloatArray:
        """Return φ'(z)."""
        ...

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Return, for each slope, all points where φ(z) − slope · z can have an extremum (points × …).

        Where there is none, any number may stand, NaN included.
        """
        ...

    def straight(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Return on which of these ranges φ is linear."""
        ...

    def level(self, z: FloatArray, error: FloatArray | float) -> IntArray:
        """Return the number of the level piece on which z lies for sure, if off by `error`; otherwise −1.

        On a level piece φ is the same number to the last bit, whatever z is.
        """
        ...


class Curved(Activation, Protocol):
    """A smooth activation that can be bounded by parabolas."""

    def bend_below(
        self, weights: FloatArray, at: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Return a c with weight · φ(z) ≥ its tangent at `at` + c · (z − at)² for all z in [low, high]."""
        ...


class Zone(NamedTuple):
    """The place of a threshold on another scale: surely below it under `low`, surely above it over `high`."""

    low: float
    middle: float
    high: float

    def widened(self, error: float) -> "Zone":
        """Return the zone for a compared number that is off by up to `error`."""
        return Zone(self.low - error, self.middle, self.high + error)


class Link(Activation, Protocol):
    """A rising activation at the very end: from the wide scale of a search to the user's own scale."""

    def zone(self, threshold: float, error: float) -> Zone:
        """Return where φ(z) crosses a threshold, if the model's own φ(z) may be off by `error`."""
        ...


class _NeverLevel:
    """An activation without level pieces."""

    def level(self, z: FloatArray, error: FloatArray | float) -> IntArray:
        """Return −1 everywhere."""
        return np.full(z.shape, -1)


class _Bent(_NeverLevel):
    """An activation that is linear on no range, or whose linear ranges are not worth a distinction."""

    only_kinks: ClassVar[bool] = False

    def straight(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Return that no range is linear."""
        return np.zeros(low.shape, dtype=bool)


@dataclass(frozen=True)
class Identity(_NeverLevel):
    """φ(z) = z."""

    only_kinks: ClassVar[bool] = True

    def zone(self, threshold: float, error: float) -> Zone:
        """Return the threshold itself."""
        return Zone(threshold, threshold, threshold)

    def value(self, z: FloatArray) -> FloatArray:
        """Return z."""
        return z

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |z|."""
        return size

    def steepest(self, size: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones_like(size)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones_like(z)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Return no points."""
        return np.empty((0, *slopes.shape))

    def straight(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Return that every range is linear."""
        return np.ones(low.shape, dtype=bool)


@dataclass(frozen=True)
class Quotient(Identity):
    """φ(z) = z / divisor: a mean, which the model computes from a sum. It is a link and nothing else."""

    divisor: float

    def zone(self, threshold: float, error: float) -> Zone:
        """Return the threshold of the sum."""
        middle = threshold * self.divisor
        rounding = 4 * float(np.finfo(np.float64).eps) * abs(middle)
        return Zone(middle - rounding, middle, middle + rounding)

    def value(self, z: FloatArray) -> FloatArray:
        """Divide."""
        return z / self.divisor

    def steepest(self, size: FloatArray) -> FloatArray:
        """Return the slope."""
        return np.full_like(size, 1 / self.divisor)


@dataclass(frozen=True)
class Relu:
    """φ(z) = max(z, 0)."""

    only_kinks: ClassVar[bool] = True

    def value(self, z: FloatArray) -> FloatArray:
        """Return max(z, 0)."""
        return np.maximum(z, 0.0)

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by |z|."""
        return size

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by 1."""
        return np.ones_like(size)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return 0 or 1."""
        return (z > 0).astype(np.float64)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Return the kink."""
        return np.zeros((1, *slopes.shape))

    def straight(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Return which ranges lie on one side of the kink."""
        return (low >= 0) | (high <= 0)

    def level(self, z: FloatArray, error: FloatArray | float) -> IntArray:
        """Return 0 where z is surely negative, so that φ is zero."""
        return np.where(z + error < 0, 0, -1)


@dataclass(frozen=True)
class Tanh(_Bent):
    """φ(z) = tanh(z): an activation of networks, and the sigmoid kernel."""

    def value(self, z: FloatArray) -> FloatArray:
        """Return the hyperbolic tangent."""
        return np.tanh(z)

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by 1."""
        return np.ones_like(size)

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by 1."""
        return np.ones_like(size)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return 1 − φ²."""
        return np.asarray(1 - np.tanh(z) ** 2)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Solve 1 − φ² = slope."""
        z = np.arctanh(np.sqrt(1 - slopes))
        return np.stack([z, -z])

    def bend_below(
        self, weights: FloatArray, at: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Minimise over a grid: the bend's slope is at most a sixth of the third derivative, which is 2."""
        return _bend_on_grid(self._bend, weights, at, low, high, steepness=1 / 3)

    def _bend(self, at: FloatArray, z: FloatArray) -> FloatArray:
        value, move = np.tanh(at), z - at
        slope = 1 - value**2
        near = np.abs(move) < 1e-3
        safe = np.where(near, 1.0, move)
        taylor = -value * slope + move * slope * (3 * value**2 - 1) / 3
        return np.asarray(np.where(near, taylor, (np.tanh(z) - value - slope * move) / safe**2))


@dataclass(frozen=True)
class Logistic(_Bent):
    """φ(z) = 1 / (1 + exp(−z)): an activation of networks, and the link from log-odds to probabilities."""

    def zone(self, threshold: float, error: float) -> Zone:
        """Return the log-odds of the threshold; no probability lies above 1 or below 0."""
        if threshold > 1:
            return Zone(math.inf, math.inf, math.inf)
        if threshold <= 0:
            return Zone(-math.inf, -math.inf, -math.inf)
        # Beyond −750 and 40 a probability is 0 or 1 to the last bit, however it is computed.
        return Zone(
            max(-750.0, float(logit(max(0.0, threshold - error)))),
            float(logit(threshold)) if threshold < 1 else 53 * math.log(2),  # from there on it rounds to 1
            min(40.0, float(logit(min(1.0, threshold + error)))),
        )

    def value(self, z: FloatArray) -> FloatArray:
        """Return the logistic function."""
        return np.asarray(expit(z))

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by 1."""
        return np.ones_like(size)

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by a quarter."""
        return np.full_like(size, 0.25)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return φ(1 − φ)."""
        value = self.value(z)
        return value * (1 - value)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Solve φ(1 − φ) = slope."""
        z = 2 * np.arctanh(np.sqrt(1 - 4 * slopes))
        return np.stack([z, -z])


@dataclass(frozen=True)
class Gelu(_Bent):
    """φ(z) = z · Φ(z), with the normal distribution Φ or, if `approximate`, with tanh in its place."""

    approximate: bool = False

    def value(self, z: FloatArray) -> FloatArray:
        """Return z times the share of the normal distribution below z."""
        return np.asarray(z * self._gate(z)[0])

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by |z|."""
        return size

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by its largest value, 1.129."""
        return np.full_like(size, 1.13)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return φ'."""
        gate, rise = self._gate(z)
        return np.asarray(gate + z * rise)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Solve φ' = slope on the three ranges on which φ' rises or falls; and return where they meet.

        A first guess comes from a table. Two steps of the secant method make it exact to some ten digits; the
        value of φ(z) − slope · z depends on the square of what is left.
        """
        points = [np.full(slopes.shape, turn) for turn in self._turns]
        for z, of_slopes in self._ranges():
            guess = np.interp(slopes, of_slopes, z)
            low, high = guess - _GELU_STEP, guess + _GELU_STEP
            for _ in range(2):
                rise = (self.slope(guess + 1e-5) - self.slope(guess - 1e-5)) / 2e-5
                move = (slopes - self.slope(guess)) / np.where(np.abs(rise) < 1e-6, np.inf, rise)
                guess = np.clip(guess + move, low, high)
            points.append(guess)
        return np.stack(points)

    def _gate(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what z is multiplied by, and its slope."""
        if not self.approximate:
            return np.asarray(ndtr(z)), np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        factor = math.sqrt(2 / math.pi)
        inner = np.tanh(factor * (z + 0.044715 * z**3))
        return (1 + inner) / 2, (1 - inner**2) / 2 * factor * (1 + 3 * 0.044715 * z**2)

    @property
    def _turns(self) -> tuple[float, float]:
        """Where φ' is lowest and highest."""
        (first, _), (second, _), _ = self._ranges()
        return float(first.max()), float(second.max())

    def _ranges(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return points of each range with the slopes there, which rise."""
        return _gelu_ranges(self.approximate)


_GELU_STEP = 1e-3
"""How far the points of the table of slopes lie apart. Beyond its ends φ is 0 or z, to the last digits."""


@cache
def _gelu_ranges(approximate: bool) -> list[tuple[FloatArray, FloatArray]]:
    z = np.arange(-9.0, 9.0, _GELU_STEP)
    slopes = Gelu(approximate).slope(z)
    lowest, highest = int(slopes.argmin()), int(slopes.argmax())
    cuts = [slice(0, lowest + 1), slice(lowest, highest + 1), slice(highest, len(z))]
    ranges = []
    for cut in cuts:
        order = np.argsort(slopes[cut], kind="stable")
        ranges.append((z[cut][order], slopes[cut][order]))
    return ranges


@dataclass(frozen=True)
class Exponential(_Bent):
    """φ(z) = exp(z) of a z that is never positive: the rbf kernel, where z is −γ times a squared distance."""

    def value(self, z: FloatArray) -> FloatArray:
        """Return the exponential."""
        return np.exp(z)

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by 1: a squared distance is not negative."""
        return np.ones_like(size)

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by 1."""
        return np.ones_like(size)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return φ itself."""
        return np.exp(z)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Solve φ = slope."""
        return np.log(slopes)[np.newaxis]

    def bend_below(
        self, weights: FloatArray, at: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Return the bend at one end of the range, since it rises with z."""
        move = np.where(weights > 0, low, high) - at
        near = np.abs(move) < 1e-2
        safe = np.where(near, 1.0, move)
        taylor = 1 / 2 + move * (1 / 6 + move * (1 / 24 + move * (1 / 120 + move / 720)))
        return weights * np.exp(at) * np.where(near, taylor, (np.expm1(safe) - safe) / safe**2)


@dataclass(frozen=True)
class Power(_NeverLevel):
    """φ(z) = z^degree: the poly kernel."""

    only_kinks: ClassVar[bool] = False
    degree: int

    def value(self, z: FloatArray) -> FloatArray:
        """Return the power."""
        return z**self.degree

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by its value at the ends."""
        return size**self.degree

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by its value at the ends."""
        return self.degree * size ** max(0, self.degree - 1)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return degree · z^(degree − 1)."""
        return self.degree * z ** max(0, self.degree - 1)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Solve degree · z^(degree − 1) = slope."""
        if self.degree < 2:
            return np.empty((0, *slopes.shape))
        z = np.abs(slopes / self.degree) ** (1 / (self.degree - 1))
        return np.stack([z, -z])

    def straight(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Return whether φ is linear at all."""
        return np.full(low.shape, self.degree < 2)

    def bend_below(
        self, weights: FloatArray, at: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Take the ends of the range where the bend is linear in z (degree 3), otherwise use a grid."""
        if self.degree <= 3:
            return np.minimum(weights * self._bend(at, low), weights * self._bend(at, high))
        size = np.maximum(np.abs(low), np.abs(high))
        third = self.degree * (self.degree - 1) * (self.degree - 2) * size ** (self.degree - 3)
        return _bend_on_grid(self._bend, weights, at, low, high, steepness=third / 6)

    def _bend(self, at: FloatArray, z: FloatArray) -> FloatArray:
        """Return (z^d − at^d − d · at^(d−1) · (z − at)) / (z − at)².

        That is Σ (i + 1) · at^i · z^(d−2−i).
        """
        terms = [(i + 1) * at**i * z ** (self.degree - 2 - i) for i in range(self.degree - 1)]
        return np.asarray(sum(terms, np.zeros_like(z)))


@dataclass(frozen=True, eq=False)
class Steps(_Bent):
    """A rising, piecewise linear φ, constant beyond its ends: isotonic regression, or a clipped line."""

    x: FloatArray
    y: FloatArray

    def zone(self, threshold: float, error: float) -> Zone:
        """Return where φ lies within `error` of the threshold, including all of a level piece there.

        >>> Steps(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.5, 0.5, 1.0])).zone(0.5, 0.1)
        Zone(low=0.8, middle=1.0, high=2.2)
        """
        low = self._first_at_least(threshold - error)
        high = self._last_at_most(threshold + error)
        if math.isinf(low) and math.isinf(high):
            middle = 0.0 if low < high else low
        else:
            middle = min(max(low, self._first_at_least(threshold)), high)
        return Zone(low, middle, high)

    def level(self, z: FloatArray, error: FloatArray | float) -> IntArray:
        """Return how many knots lie below z, where that number is sure and φ does not rise; otherwise −1.

        >>> steps = Steps(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 0.5]))
        >>> steps.level(np.array([-1.0, 0.5, 1.5, 3.0]), 0.1)
        array([ 0, -1,  2,  3])
        """
        piece = np.searchsorted(self.x, z - error, side="right")
        is_flat = np.diff(self.y, prepend=self.y[0], append=self.y[-1]) == 0
        sure = (piece == np.searchsorted(self.x, z + error, side="right")) & is_flat[piece]
        return np.where(sure, piece, -1)

    def _first_at_least(self, y: float) -> float:
        """Return the least z with φ(z) ≥ y: infinity if there is none, minus infinity if all are."""
        knot = int(np.searchsorted(self.y, y))
        return self._crossing(knot, y)

    def _last_at_most(self, y: float) -> float:
        """Return the largest z with φ(z) ≤ y: minus infinity if there is none, infinity if all are."""
        knot = int(np.searchsorted(self.y, y, side="right"))
        return self._crossing(knot, y)

    def _crossing(self, knot: int, y: float) -> float:
        """Return where φ is y on the piece that ends at a knot."""
        if knot == 0:
            return -math.inf
        if knot == len(self.y):
            return math.inf
        return float(np.interp(y, self.y[knot - 1 : knot + 1], self.x[knot - 1 : knot + 1]))

    def value(self, z: FloatArray) -> FloatArray:
        """Interpolate."""
        return np.interp(z, self.x, self.y)

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| by the largest knot."""
        return np.full_like(size, np.abs(self.y).max())

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slope by the steepest piece."""
        slopes = np.diff(self.y) / np.diff(self.x)
        return np.full_like(size, slopes.max(initial=0.0))

    def slope(self, z: FloatArray) -> FloatArray:
        """Return the slope of the piece to the left."""
        slopes = np.concatenate([[0.0], np.diff(self.y) / np.diff(self.x), [0.0]])
        return slopes[np.searchsorted(self.x, z)]

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Return every knot."""
        return np.broadcast_to(self.x.reshape(-1, *(1,) * slopes.ndim), (len(self.x), *slopes.shape))


@dataclass(frozen=True, eq=False)
class SideBySide(_Bent):
    """Several activations, each for its own stretch of the inputs."""

    members: tuple[Activation, ...]
    widths: tuple[int, ...]

    def value(self, z: FloatArray) -> FloatArray:
        """Apply each activation to its stretch."""
        return self._apply("value", z)

    def largest(self, size: FloatArray) -> FloatArray:
        """Bound |φ| stretch by stretch."""
        return self._apply("largest", size)

    def steepest(self, size: FloatArray) -> FloatArray:
        """Bound the slopes stretch by stretch."""
        return self._apply("steepest", size)

    def level(self, z: FloatArray, error: FloatArray | float) -> IntArray:
        """Return the level pieces stretch by stretch."""
        cuts = np.cumsum(self.widths)[:-1]
        stretches = np.split(z, cuts, axis=-1), np.split(np.broadcast_to(error, z.shape), cuts, axis=-1)
        pieces = [member.level(*each) for member, *each in zip(self.members, *stretches, strict=True)]
        return np.concatenate(pieces, axis=-1)

    def _apply(self, method: str, z: FloatArray) -> FloatArray:
        stretches = np.split(z, np.cumsum(self.widths)[:-1], axis=-1)
        values = [
            getattr(member, method)(stretch) for member, stretch in zip(self.members, stretches, strict=True)
        ]
        return np.concatenate(values, axis=-1)

    def slope(self, z: FloatArray) -> FloatArray:
        """Return the slopes stretch by stretch."""
        return self._apply("slope", z)

    def critical(self, slopes: FloatArray) -> FloatArray:
        """Return the points stretch by stretch, padded with NaN where one has fewer than another."""
        stretches = np.split(slopes, np.cumsum(self.widths)[:-1], axis=-1)
        points = [member.critical(each) for member, each in zip(self.members, stretches, strict=True)]
        most = max(len(each) for each in points)
        padded = [
            np.concatenate([each, np.full((most - len(each), *each.shape[1:]), np.nan)]) for each in points
        ]
        return np.concatenate(padded, axis=-1)


def _bend_on_grid(
    bend: Callable[[FloatArray, FloatArray], FloatArray],
    weights: FloatArray,
    at: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    steepness: FloatArray | float,
) -> FloatArray:
    """Bound weight · bend from below on [low, high], where the slope of the bend is at most `steepness`."""
    n_pieces = 16
    points = low + (high - low) * np.linspace(0.0, 1.0, n_pieces + 1)[:, np.newaxis]
    lowest = (weights * bend(at, points)).min(axis=0)
    return np.asarray(lowest - np.abs(weights) * steepness * (high - low) / (2 * n_pieces))


COMPILED: dict[type[Activation], int] = {Relu: 0, Tanh: 1, Logistic: 2}
"""The activations that compiled loops know, with the numbers that they have there."""
COMPILED_CURVES: dict[type[Activation], int] = {Exponential: 0, Power: 1, Tanh: 2}
"""The curves of kernel machines that compiled loops know, with the numbers that they have there."""
