"""The local model of a row whose units share features."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.models.base import MAX_CELLS, BoolArray, FloatArray, LocalModel
from butfor.models.holders import Holders
from butfor.models.region import Minimum, Minorant, Region

STEPS = 8
"""How often the shares are moved for one minorant of the parts."""


class Overlapping(LocalModel):
    """A local model over the parts of a row, asked about units that hold them."""

    def __init__(self, parts: LocalModel, holders: Holders) -> None:
        self.kind = parts.kind
        self.has_bounds = parts.has_bounds
        sign = 1.0 if parts.positive else -1.0
        super().__init__(
            n_features=holders.n_units,
            score=sign * parts.score,
            threshold=sign * parts.threshold,
            positive=parts.positive,
        )
        self._parts = parts
        self._holders = holders

    def reported(self, scores: FloatArray) -> FloatArray:
        """Give scores on the scale that the user knows, not turned."""
        return self._parts.reported(scores)

    def agrees(self, row_score: float) -> bool:
        """Tell whether this is the model that gives the row itself this score, on the user's scale."""
        return self._parts.agrees(row_score)

    def regions(self, max_size: int) -> list[Region]:
        """Give regions that hold all sets of at most `max_size` units."""
        self._parts.deadline = self.deadline
        k = min(max_size, self.n_features)
        return [
            OverlappingRegion(
                free=np.arange(self.n_features),
                k=k,
                check_deadline=self.check_deadline,
                parts=parts,
                holders=self._holders,
            )
            for parts in self._parts.regions(self._holders.most_parts(k))
        ]

    def evidence(self, removed: BoolArray) -> FloatArray:
        """Score removal sets on the scale that the user knows; lower is closer to the flip."""
        self.n_scored += len(removed)
        return self._in_blocks(removed, self._parts.evidence)

    def evidence_of_row(self) -> float:
        """Score the row itself in the same way."""
        return self._parts.evidence_of_row()

    def _scores(self, removed: BoolArray) -> FloatArray:
        return self._sign * self._in_blocks(removed, self._parts.scores)

    def _in_blocks(self, removed: BoolArray, ask: Callable[[BoolArray], FloatArray]) -> FloatArray:
        """Ask about parts, for as many sets at once as memory and the deadline allow."""
        self._parts.deadline = self.deadline
        step = max(1, MAX_CELLS // max(1, self._holders.n_holdings))
        answers = [np.zeros(0)]
        for start in range(0, len(removed), step):
            self.check_deadline()
            answers.append(ask(self._holders.gone(removed[start : start + step])))
        return np.concatenate(answers)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlappingRegion(Region):
    """A region of sets of units, bounded through the parts that go with them."""

    parts: Region
    holders: Holders
    """Of the parts that are free, by the units that are."""

    def minorants(self) -> Iterator[Minimum]:
        """Yield the minima of the parts' minorants, folded into functions of the units.

        What a part is charged to the units is a share that goes down where the minimiser counts it several
        times, and up where it does not count it: Polyak steps on the dual.
        """
        shares = np.ones(self.holders.n_parts)
        for minimum in self.parts.minorants():
            behind = minimum.minorant
            lowering = np.minimum(behind.coefficients, 0.0)
            for _ in range(STEPS):
                constant, coefficients = self.holders.fold(behind.coefficients, shares)
                folded = self.lowest(Minorant(behind.constant + constant, coefficients, behind))
                yield folded
                uphill = lowering * (self.holders.hits(folded.chosen) - 1)
                uphill[((uphill > 0) & (shares >= 1)) | ((uphill < 0) & (shares <= 0))] = 0.0
                steepness = float(uphill @ uphill)
                if folded.bound > 0 or steepness < 1e-18:
                    break
                shares = np.clip(shares - folded.bound / steepness * uphill, 0.0, 1.0)

    def _settled(
        self, gone: BoolArray, stays: BoolArray, best: Minorant | None
    ) -> "OverlappingRegion | None":
        holders, parts_gone, parts_kept = self.holders.narrowed(gone, stays)
        n_parts = holders.most_parts(self.k)
        parts = replace(self.parts, k=n_parts + int(parts_gone.sum())).narrowed(
            parts_gone, parts_kept, None if best is None else best.behind
        )
        return None if parts is None else replace(self, parts=parts, holders=holders)
