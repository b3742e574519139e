"""The fast local model: the user's own function, evaluated partially at the row."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.activations import Identity
from butfor.models.base import BoolArray, FloatArray, IntArray, LocalModel
from butfor.models.black_box import BlackBox
from butfor.models.deep_region import DeepRegion
from butfor.models.linear_region import LinearRegion
from butfor.models.network import Network
from butfor.models.region import AllOf, Region
from butfor.models.row import Row
from butfor.models.scorer import Scorer
from butfor.models.unit_region import UnitRegion

MAX_VALUES = 500_000
"""How many values of forms are held at once: a few MB, which stay near the processor."""
MAX_KEPT = 100_000
"""How many of the model's own decisions are kept for a row: some 30 MB."""


class Partial(LocalModel):
    """Score removal sets by the model's own formula, with all that the row fixes worked out beforehand.

    It is the same function, not an approximation. Where a score is so close to the threshold that rounding
    could change the decision, the model itself is asked: it has the last word. It is asked about one row at a
    time, as its users ask it: the last bits of a matrix product change with the number of rows.
    """

    has_bounds = True

    def __init__(self, network: Network, scorer: Scorer, row: Row) -> None:
        self.kind = network.kind
        self._scorer = scorer
        self._row = row
        forms = network.at(row)
        self._error = network.error(forms)
        zone = network.link.zone(scorer.threshold, forms.precision).widened(self._error)
        self._uncollapsed = network
        self.network, self.forms = network.collapsed(forms)
        score = float(self.network.value(self.forms.now[np.newaxis])[0])
        if zone.low <= score <= zone.high:  # the model's own word on the row alone counts here
            positive = scorer.is_positive(float(scorer.scores(row.whole())[0]))
        else:
            positive = score > zone.high
        super().__init__(n_features=row.n_parts, score=score, threshold=zone.middle, positive=positive)
        low, high = (zone.low, zone.high) if positive else (-zone.high, -zone.low)
        self._surely_across, self._surely_not_across = low, high
        # Beyond this a set surely does not flip, even if a bound is rounded as badly as the model.
        self._limit = high + self._error
        self._decided: dict[bytes, bool] = {}

    def reported(self, scores: FloatArray) -> FloatArray:
        """Give scores on the scale that the user knows, not turned."""
        return self.network.link.value(self._sign * scores)

    def evidence(self, removed: BoolArray) -> FloatArray:
        """Score removal sets on the scale that the user knows; lower is closer to the flip."""
        if self.network.lead is None:
            return super().evidence(removed)
        self.check_deadline()
        self.n_scored += len(removed)
        return np.concatenate([self.network.reported(z) for _, z in self._forms_without(removed)])

    def evidence_of_row(self) -> float:
        """Score the row itself in the same way."""
        return self._sign * float(self.network.reported(self.forms.now[np.newaxis])[0])

    def regions(self, max_size: int) -> list[Region]:
        """Give the regions of all sets of at most `max_size` features: one for each rival class."""
        lead, n_outputs = self.network.lead, self._n_outputs
        if lead is None:
            return [self._region(max_size, np.array([self._sign]))]
        regions = [self._region(max_size, weights) for weights in lead.differences(n_outputs)]
        return regions if lead.target is None else [AllOf.over(regions)]

    def _everything(self, max_size: int) -> dict[str, Any]:
        """Give the parts of a region that holds all sets of at most a size."""
        return {
            "free": np.arange(self.n_features),
            "k": min(max_size, self.n_features),
            "check_deadline": self.check_deadline,
        }

    @property
    def _n_outputs(self) -> int:
        layers = self.network.layers
        return len(layers[-1].bias) if layers else len(self.forms.now)

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        """Give the region of all sets for one sum of the outputs, weighed with these numbers."""
        if not np.isfinite(self._limit):  # what is compared with infinity need not be computed
            drops = np.zeros(self.n_features)
            return LinearRegion(**self._everything(max_size), constant=-self._limit, drops=drops)
        if not self.network.layers:
            return LinearRegion(
                **self._everything(max_size),
                constant=float(self.forms.now @ outputs) - self._limit,
                drops=self.forms.drops @ outputs,
            )
        *before, last = self.network.layers
        weights, constant = last.weights @ outputs, float(last.bias @ outputs) - self._limit
        if before:
            turned = replace(last, weights=weights[:, np.newaxis], bias=np.array([constant]))
            return DeepRegion(
                **self._everything(max_size),
                layers=(*before, turned),
                z=self.forms.now,
                drops=self.forms.drops,
                candidate=np.zeros(self.n_features, dtype=bool),
            )
        return UnitRegion.root(
            **self._everything(max_size),
            constant=constant,
            activation=last.activation,
            weights=weights,
            z=self.forms.now,
            drops=self.forms.drops,
        )

    def is_finite(self) -> bool:
        """Tell whether the formula can be used at all: a model may carry infinite weights."""
        own = self.forms.own
        return bool(np.isfinite(self.score) and np.isfinite(getattr(own, "data", own)).all())

    def agrees(self, row_score: float) -> bool:
        """Hold the formula against what the model says of the row itself."""
        ours = self.network.reported(self.forms.now[np.newaxis])
        slope = float(self.network.link.steepest(np.abs(ours))[0])
        return bool(abs(ours[0] - row_score) <= 1e-6 * (1 + abs(row_score)) + slope * self._error)

    def _scores(self, removed: BoolArray) -> FloatArray:
        scores = np.empty(len(removed))
        for some, z in self._forms_without(removed):
            scores[some] = self.network.value(z)
        return scores

    def _forms_without(self, removed: BoolArray) -> Iterator[tuple[slice, FloatArray]]:
        """Give the values of the forms for removal sets, as many at once as stay near the processor."""
        for some in self._chunks(len(removed)):
            yield some, self.forms.now - removed[some].astype(np.float64) @ self.forms.drops

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        drops = self.forms.drops
        z = self.forms.now - drops[list(removed)].sum(axis=0)
        if drops.size <= MAX_VALUES:  # to score all is cheaper than to gather the candidates
            return self.network.value(z - drops)[candidates]
        scores = np.empty(len(candidates))
        for some in self._chunks(len(candidates)):
            scores[some] = self.network.value(z - drops[candidates[some]])
        return scores

    def _chunks(self, n: int) -> list[slice]:
        step = max(1, MAX_VALUES // len(self.forms.now))
        return [slice(start, start + step) for start in range(0, n, step)]

    def _settled(self, scores: FloatArray, sets: Callable[[IntArray], BoolArray]) -> FloatArray:
        unsure = np.flatnonzero((scores >= self._surely_across) & (scores <= self._surely_not_across))
        if unsure.size:
            flips = self._ask_the_model(sets(unsure), self._sign * scores[unsure])
            below, above = np.nextafter(self.threshold, [-np.inf, np.inf])
            across, not_across = (below, self.threshold) if self.positive else (self.threshold, above)
            scores[unsure] = np.where(
                flips, np.minimum(scores[unsure], across), np.maximum(scores[unsure], not_across)
            )
        return scores

    def _ask_the_model(self, removed: BoolArray, scores: FloatArray) -> BoolArray:
        """Have the model itself decide which removal sets flip, one at a time; its decisions are kept."""
        judge = BlackBox(
            self._scorer, self._row, row_score=self._scorer.threshold if self.positive else -np.inf
        )
        judge.deadline = self.deadline
        flips = np.empty(len(removed), dtype=bool)
        for i, key in enumerate(self._keys(removed, scores)):
            if key in self._decided:
                flips[i] = self._decided[key]
                continue
            flips[i] = judge.flips(judge.scores(removed[i : i + 1]))[0]
            if len(self._decided) < MAX_KEPT:
                self._decided[key] = bool(flips[i])
        return flips

    @cached_property
    def _adds_exactly(self) -> bool:
        """Whether sets of the same score are one to the model."""
        return self.network.lead is None and self._uncollapsed.adds_exactly(self._row)

    def _keys(self, removed: BoolArray, scores: FloatArray) -> Iterator[bytes]:
        """Yield a key for every removal set: sets of the same key are one to the model, to the last bit.

        Where no sum is rounded, or the link is level, the score counts and nothing else. A form on a level
        piece of its activation counts as that piece, and a feature only where it changes another form.
        """
        if self._adds_exactly:
            yield from (score.tobytes() for score in scores + 0.0)
            return
        ends = self.network.link.level(scores, self._error)
        matters = removed.copy()
        pieces = np.zeros((len(removed), 0), dtype=np.intp)
        if self.forms.zeros_are_exact and not sparse.issparse(self.forms.own):
            activation = self.network.layers[0].activation if self.network.layers else Identity()
            error, moves = self.forms.precision * self.forms.size, (self.forms.own != 0).T
            levels = [activation.level(z, error) for _, z in self._forms_without(removed)]
            pieces = np.concatenate(levels)
            matters &= (pieces < 0).astype(np.float64) @ moves > 0
        pieces[ends >= 0], matters[ends >= 0] = -1, False
        parts = ends[:, np.newaxis].astype(np.int32), pieces.astype(np.int32), np.packbits(matters, axis=1)
        for line in zip(*parts, strict=True):
            yield b"".join(part.tobytes() for part in line)
