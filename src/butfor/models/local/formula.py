"""The local model of a model whose formula is known."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray, prefixes
from butfor.models.bounds.deep import DeepRegion
from butfor.models.bounds.hidden_layer import HiddenLayerRegion
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.region import AllOf, Region
from butfor.models.formula.activations import Identity, Zone
from butfor.models.formula.affine import LocalAffine
from butfor.models.formula.network import Network
from butfor.models.local.base import LocalModel
from butfor.models.local.black_box import BlackBox
from butfor.models.local.deadline import Deadline
from butfor.models.record_row import AnyRow
from butfor.models.scorer import Scorer

MAX_VALUES = 500_000
"""How many values of affine functions are held at once: a few MB, which fit into the processor's cache."""
MAX_KEPT = 100_000
"""How many decisions of the model are kept for a row: some 30 MB."""


class FormulaModel(LocalModel):
    """Score removal sets by the model's own formula, with all that the row determines computed beforehand.

    It is the same function, not an approximation. Where a score is so close to the threshold that rounding
    could change the decision, the model itself decides. It is asked about one row at a time, as users ask it,
    because the last bits of a matrix product change with the number of rows.

    Parameters
    ----------
    network : Network
        The model's formula.
    scorer : Scorer
        The user's model.
    row : Row, TextRow or RecordRow
        What the model decides on, without a unit map.
    deadline : Deadline, optional
        When scoring begins to raise `OutOfTime`.
    costs : array of shape (n_units,), optional
        What the removal of each unit costs.
    """

    has_bounds = True
    _spare = 0.0
    """How far all scores are away from the threshold at least, where the model adds up without rounding."""

    def __init__(
        self,
        network: Network,
        scorer: Scorer,
        row: AnyRow,
        *,
        deadline: Deadline | None = None,
        costs: FloatArray | None = None,
    ) -> None:
        self.kind = network.kind
        self._scorer = scorer
        self._row = row
        affine = network.at(row)
        self._error = network.error(affine)
        self._uncollapsed = network
        self.network, self.affine = network.collapsed(affine)
        score = float(self.network.value(self.affine.here[np.newaxis])[0])
        self.is_finite = isfinite(score) and self.affine.is_finite
        """Whether the formula can be used at all: a model may carry infinite weights."""
        zone = self._zone(affine)
        if zone.low <= score <= zone.high:  # the model decides by itself on a row this close
            positive = scorer.is_positive(float(scorer.scores(row.whole())[0]))
        else:
            positive = score > zone.high
        super().__init__(
            n_features=self.affine.own.shape[0],
            score=score,
            threshold=zone.middle,
            positive=positive,
            deadline=deadline,
            costs=costs,
        )
        low, high = (zone.low, zone.high) if positive else (-zone.high, -zone.low)
        self._surely_across, self._surely_not_across = low, high
        # A set with a lower bound above this does not flip, even if the bound is rounded badly.
        self._limit = high + self._error - self._spare
        self._decided: dict[bytes, bool] = {}

    def _zone(self, affine: LocalAffine) -> Zone:
        """Return the scores that are too close to the threshold to be sure of the model's decision."""
        return self._uncollapsed.link.zone(self._scorer.threshold, affine.precision).widened(self._error)

    def reported(self, scores: FloatArray) -> FloatArray:
        """Return scores on the user's scale, not turned."""
        return self.network.link.value(self._sign * scores)

    def _evidence(self, removed: BoolArray) -> FloatArray:
        if self.network.margin is None:
            return super()._evidence(removed)
        return np.concatenate([self.network.reported(z) for z in self._affine_without(removed)])

    def evidence_of_row(self) -> float:
        """Return the evidence of the row itself."""
        return self._sign * float(self.network.reported(self.affine.here[np.newaxis])[0])

    def regions(self, max_size: int) -> list[Region]:
        """Return regions of all sets of at most `max_size` units: one for each rival class."""
        margin, n_outputs = self.network.margin, self._n_outputs
        if margin is None:
            return [self._region(max_size, np.array([self._sign]))]
        regions = [self._region(max_size, weights) for weights in margin.differences(n_outputs)]
        return regions if margin.target is None else [AllOf.over(regions)]

    def is_out_of_reach(self, max_size: int) -> bool:
        """Return whether the largest drops together are too small, of a score that falls by drops alone."""
        if self.network.layers or self.network.margin is not None or not self.affine.falls_by_drops:
            return False
        drops, stay = self._sign * self.affine.drops[:, 0], max(0, self.n_features - max_size)
        largest = np.partition(drops, stay)[stay:] if stay < len(drops) else drops[:0]
        lowest = self._sign * float(self.affine.now[0]) - float(largest[largest > 0].sum())
        return lowest > self._limit

    def _all_sets(self, max_size: int) -> dict[str, Any]:
        """Return the arguments of a region that holds all sets of at most a size."""
        return {
            "free": np.arange(self.n_features),
            "k": min(max_size, self.n_features),
            "check_deadline": self.deadline.check,
        }

    @property
    def _n_outputs(self) -> int:
        layers = self.network.layers
        return len(layers[-1].bias) if layers else len(self.affine.here)

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        """Return the region of all sets for one weighted sum of the outputs."""
        if not np.isfinite(self._limit):  # no score is beyond an infinite limit
            drops = np.zeros(self.n_features)
            return LinearRegion(**self._all_sets(max_size), constant=-self._limit, drops=drops)
        if not self.network.layers:
            return LinearRegion(
                **self._all_sets(max_size),
                constant=float(self.affine.now @ outputs) - self._limit,
                drops=self.affine.drops @ outputs,
            )
        *before, last = self.network.layers
        weights, constant = last.weights @ outputs, float(last.bias @ outputs) - self._limit
        if before:
            turned = replace(last, weights=weights[:, np.newaxis], bias=np.array([constant]))
            layers = (*before, turned)
            now, drops = self.affine.now, self.affine.drops
            return DeepRegion.root(**self._all_sets(max_size), layers=layers, z=now, drops=drops)
        return HiddenLayerRegion.root(
            **self._all_sets(max_size),
            constant=constant,
            activation=last.activation,
            weights=weights,
            z=self.affine.now,
            drops=self.affine.drops,
        )

    def agrees(self, row_score: float) -> bool:
        """Return whether the formula agrees with the model's score of the row itself."""
        ours = self.network.reported(self.affine.here[np.newaxis])
        slope = float(self.network.link.steepest(np.abs(ours))[0])
        return bool(abs(ours[0] - row_score) <= 1e-6 * (1 + abs(row_score)) + slope * self._error)

    def _scores(self, removed: BoolArray) -> FloatArray:
        pieces = [self.network.value(z) for z in self._affine_without(removed)]
        return pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0), *pieces])

    def _affine_without(self, removed: BoolArray) -> Iterator[FloatArray]:
        """Yield the values of the affine functions for removal sets, as many at once as fit a cache."""
        for some in self._slices(len(removed)):
            yield self.affine.without(removed[some])

    def _decided_scores_of_prefixes(self, units: IntArray) -> FloatArray:
        if not self.affine.falls_by_drops:
            return super()._decided_scores_of_prefixes(units)
        scores = self._sign * self.network.value(self.affine.along(units))
        return self._decide_near_threshold(scores, lambda which: prefixes(units, self.n_features)[which])

    def _path(self, units: IntArray) -> FloatArray:
        if self.network.margin is not None:
            return super()._path(units)
        return self.reported(self._decided_scores_of_prefixes(units))

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        drops = self.affine.drops
        z = self.affine.now
        if removed:
            z = z - drops[list(removed)].sum(axis=0)
        if drops.size <= MAX_VALUES:  # scoring all is faster than gathering the candidates
            return self.network.value(z - drops)[candidates]
        scores = np.empty(len(candidates))
        for some in self._slices(len(candidates)):
            scores[some] = self.network.value(z - drops[candidates[some]])
        return scores

    def _slices(self, n: int) -> list[slice]:
        step = max(1, MAX_VALUES // len(self.affine.now))
        return [slice(start, start + step) for start in range(0, n, step)]

    def _decide_near_threshold(self, scores: FloatArray, sets: Callable[[IntArray], BoolArray]) -> FloatArray:
        unsure = ((scores >= self._surely_across) & (scores <= self._surely_not_across)).nonzero()[0]
        if unsure.size:
            flips = self._ask_the_model(sets(unsure), self._sign * scores[unsure])
            below, above = np.nextafter(self.threshold, [-np.inf, np.inf])
            across, not_across = (below, self.threshold) if self.positive else (self.threshold, above)
            scores[unsure] = np.where(
                flips, np.minimum(scores[unsure], across), np.maximum(scores[unsure], not_across)
            )
        return scores

    def _ask_the_model(self, removed: BoolArray, scores: FloatArray) -> BoolArray:
        """Have the model itself decide which removal sets flip, one at a time, and keep its decisions."""
        flips = np.empty(len(removed), dtype=bool)
        for i, key in enumerate(self._keys(removed, scores)):
            if key in self._decided:
                flips[i] = self._decided[key]
                continue
            flips[i] = self._judge.flips(self._judge.scores(removed[i : i + 1]))[0]
            if len(self._decided) < MAX_KEPT:
                self._decided[key] = bool(flips[i])
        return flips

    @cached_property
    def _judge(self) -> BlackBox:
        """The model itself, asked about the same row."""
        row_score = self._scorer.threshold if self.positive else -np.inf
        return BlackBox(self._scorer, self._row, row_score=row_score, deadline=self.deadline)

    @cached_property
    def _adds_exactly(self) -> bool:
        """Whether the model decides alike on all sets of the same score."""
        return self.network.margin is None and self._uncollapsed.adds_exactly(self._row)

    def _keys(self, removed: BoolArray, scores: FloatArray) -> Iterator[bytes]:
        """Yield a key for each removal set; sets of one key are the same to the model, to the last bit.

        Where no sum is rounded, or the link is level, only the score counts. Where an affine function lies on
        a level piece of its activation, only that piece counts. A unit then counts only if it changes another
        affine function.
        """
        if self._adds_exactly:
            yield from (score.tobytes() for score in scores + 0.0)
            return
        ends = self.network.link.level(scores, self._error)
        matters = removed.copy()
        pieces = np.zeros((len(removed), 0), dtype=np.intp)
        if self.affine.zeros_are_exact and not sparse.issparse(self.affine.own):
            activation = self.network.layers[0].activation if self.network.layers else Identity()
            error, moves = self.affine.precision * self.affine.size, (self.affine.own != 0).T
            levels = [activation.level(z, error) for z in self._affine_without(removed)]
            pieces = np.concatenate(levels)
            matters &= (pieces < 0).astype(np.float64) @ moves > 0
        pieces[ends >= 0], matters[ends >= 0] = -1, False
        fields = ends[:, np.newaxis].astype(np.int32), pieces.astype(np.int32), np.packbits(matters, axis=1)
        for of_set in zip(*fields, strict=True):
            yield b"".join(field.tobytes() for field in of_set)
