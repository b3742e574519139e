"""The local model of a row whose units share columns."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, removal_sets
from butfor.models.bounds.region import Minimum, Minorant, Region
from butfor.models.local.asking import Asker
from butfor.models.local.base import MAX_CELLS, LocalModel
from butfor.models.unit_map import UnitMap

STEPS = 8
"""How often the shares are moved for one minorant of the bundles."""


class Overlapping(LocalModel):
    """A function of which units are removed, by a local model of which bundles are gone.

    Parameters
    ----------
    inner : LocalModel
        The local model of the bundles, whose deadline it shares.
    unit_map : UnitMap
        Which units hold which bundles.
    costs : array of shape (n_units,), optional
        What the removal of each unit costs.
    """

    def __init__(self, inner: LocalModel, unit_map: UnitMap, *, costs: FloatArray | None = None) -> None:
        self.kind = inner.kind
        self.has_bounds = inner.has_bounds
        sign = 1.0 if inner.positive else -1.0
        super().__init__(
            n_features=unit_map.n_units,
            score=sign * inner.score,
            threshold=sign * inner.threshold,
            positive=inner.positive,
            deadline=inner.deadline,
            costs=costs,
        )
        self._inner = inner
        self._unit_map = unit_map

    def reported(self, scores: FloatArray) -> FloatArray:
        """Return what the inner model reports."""
        return self._inner.reported(scores)

    def agrees(self, row_score: float) -> bool:
        """Return whether the inner model agrees."""
        return self._inner.agrees(row_score)

    def regions(self, max_size: int) -> list[Region]:
        """Return a region of units for each region of bundles."""
        k = min(max_size, self.n_features)
        return [
            OverlappingRegion(
                free=np.arange(self.n_features),
                k=k,
                check_deadline=self.deadline.check,
                inner=inner,
                unit_map=self._unit_map,
            )
            for inner in self._inner.regions(self._unit_map.most_bundles(k))
        ]

    def evidence_of_row(self) -> float:
        """Return the evidence of the inner model."""
        return self._inner.evidence_of_row()

    @property
    def n_scored(self) -> int:
        """How many removal sets the inner model has scored."""
        return self._inner.n_scored

    @property
    def n_asked(self) -> int:
        """How many rows the inner model was asked to score."""
        return self._inner.n_asked

    def note_asked(self, n_rows: int) -> None:
        """Count rows of the inner model."""
        self._inner.note_asked(n_rows)

    def ask_by(self, asker: Asker) -> None:
        """Have the inner model ask in another way."""
        self._inner.ask_by(asker)

    def rule_out(self, removed: tuple[int, ...]) -> None:
        """Have the inner model remember that the bundles of a removal set do not flip."""
        gone = self._unit_map.gone(removal_sets([removed], self.n_features))[0]
        self._inner.rule_out(tuple(map(int, np.flatnonzero(gone))))

    def remembered(self, removed: BoolArray) -> list[float | None]:
        """Return what the inner model remembers of the bundles that go with the units."""
        return self._inner.remembered(self._unit_map.gone(removed))

    @property
    def scorings_left(self) -> float:
        """How many more sets the inner model may score."""
        return self._inner.scorings_left

    @property
    def seconds_a_scoring(self) -> float:
        """How long the inner model takes for a set."""
        return self._inner.seconds_a_scoring

    def _counting_nothing(self) -> AbstractContextManager[None]:
        return self._inner._counting_nothing()

    def _scores(self, removed: BoolArray) -> FloatArray:
        return self._sign * self._in_blocks(removed, self._inner.scores)

    def _evidence(self, removed: BoolArray) -> FloatArray:
        return self._in_blocks(removed, self._inner.evidence)

    def _in_blocks(self, removed: BoolArray, ask: Callable[[BoolArray], FloatArray]) -> FloatArray:
        """Ask about bundles, for as many removal sets at once as memory and the deadline allow."""
        step = max(1, MAX_CELLS // max(1, self._unit_map.n_clauses))
        answers = [np.zeros(0)]
        for start in range(0, len(removed), step):
            self.check_deadline()
            answers.append(ask(self._unit_map.gone(removed[start : start + step])))
        return np.concatenate(answers)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlappingRegion(Region):
    """A region of sets of units, bounded by a region of the bundles that go with them."""

    inner: Region
    """The region of the bundles."""
    unit_map: UnitMap
    """From the free units to the free bundles."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of the minorants of the bundles, folded into functions of the units.

        Only a share of each bundle is charged to the units (`UnitMap.fold`). Polyak steps on the dual lower
        the share where the minimiser counts a bundle several times, and raise it where it does not count it.
        """
        shares = np.ones(self.unit_map.n_bundles)
        for minimum in self.inner.minorants():
            behind = minimum.minorant
            lowering = np.minimum(behind.coefficients, 0.0)
            for _ in range(STEPS):
                constant, coefficients = self.unit_map.fold(behind.coefficients, shares)
                folded = self.lowest(Minorant(behind.constant + constant, coefficients, behind))
                yield folded
                uphill = lowering * (self.unit_map.hits(folded.chosen) - 1)
                uphill[((uphill > 0) & (shares >= 1)) | ((uphill < 0) & (shares <= 0))] = 0.0
                steepness = float(uphill @ uphill)
                if folded.bound > 0 or steepness < 1e-18:
                    break
                shares = np.clip(shares - folded.bound / steepness * uphill, 0.0, 1.0)

    def _after_fixing(
        self, gone: BoolArray, stays: BoolArray, best: Minorant | None
    ) -> "OverlappingRegion | None":
        unit_map, bundles_gone, bundles_kept = self.unit_map.narrowed(gone, stays)
        n_bundles = unit_map.most_bundles(self.k)
        inner = replace(self.inner, k=n_bundles + int(bundles_gone.sum())).narrowed(
            bundles_gone, bundles_kept, None if best is None else best.behind
        )
        return None if inner is None else replace(self, inner=inner, unit_map=unit_map)
