"""The local model of sums of decision trees, alone or within a network."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.region import Region
from butfor.models.bounds.tree_layers import TreeLayersRegion
from butfor.models.bounds.trees import TreeRegion
from butfor.models.formula.activations import Quotient, Zone
from butfor.models.formula.affine import LocalAffine
from butfor.models.local.formula import FormulaModel


class TreeModel(FormulaModel):
    """Score removal sets by the leaves that they reach.

    The row decides most splits of the trees: those on inactive features, and those that go the same way
    whether the feature is there or not. What is left of the trees is small.
    """

    _is_exact = False
    """Whether the model adds up without rounding, so that its decisions are known at the very threshold."""

    @property
    def n_leaves(self) -> int:
        """How many leaves the row leaves open, in trees that are no affine functions of the removals."""
        return 0 if self.affine.leaves is None else len(self.affine.leaves)

    def _zone(self, affine: LocalAffine) -> Zone:
        """Return the scores in doubt: none where the model adds up without rounding and ties are known."""
        network, scorer, grain = self._uncollapsed, self._scorer, affine.grain
        by_score = scorer.predict is None
        self._is_exact = bool(
            isinstance(network.link, Quotient)
            and not (network.layers or network.scaled)
            and (by_score or network.ties_to_first)
            and affine.size.max() < 2.0**52 * grain
        )
        if not self._is_exact:
            return super()._zone(affine)
        self._error = 0.0
        if network.margin is not None:
            return Zone(0.0, 0.0, 0.0)
        middle = network.link.zone(scorer.threshold, 0.0).middle
        sums = grain * (np.round(middle / grain) + np.arange(-1, 2))
        scores = network.link.value(sums)
        is_positive = scores >= scorer.threshold if by_score else scores > scorer.threshold
        between = float(sums[np.argmax(is_positive)] - grain / 2)  # below the first sum that is positive
        self._spare = 0.49 * grain
        return Zone(between, between, between)

    def _ask_the_model(self, removed: BoolArray, scores: FloatArray) -> BoolArray:
        """Have the model decide which sets flip; without rounding, the first of equal ones is decided for."""
        margin = self.network.margin
        if not self._is_exact or margin is None:
            return super()._ask_the_model(removed, scores)
        decided = np.concatenate([z.argmax(axis=1) for z in self._affine_without(removed)])
        return np.asarray(decided != margin.own if margin.target is None else decided == margin.target)

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        gone = np.zeros(self.n_features, dtype=bool)
        gone[list(removed)] = True
        return self.network.value(self.affine.with_each(gone))[candidates]

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        affine = self.affine
        if affine.leaves is None or not np.isfinite(self._limit):
            return super()._region(max_size, outputs)
        if not self.network.layers:
            trees = self._open_trees.weighted(outputs)
            key = outputs.tobytes()
            if key not in self._slopes:
                self._slopes[key] = trees.changes_of_single_removals()
            return TreeRegion.root(
                **self._all_sets(max_size),
                constant=float(affine.now @ outputs) - self._limit,
                linear=-(affine.drops @ outputs),
                trees=trees,
                memory=self._slopes[key],
            )
        *before, last = self.network.layers
        bias = np.array([float(last.bias @ outputs) - self._limit])
        turned = replace(last, weights=(last.weights @ outputs)[:, np.newaxis], bias=bias)
        return TreeLayersRegion(
            **self._all_sets(max_size),
            layers=(*before, turned),
            z=affine.now,
            drops=affine.drops,
            trees=self._open_trees,
            candidate=np.zeros(self.n_features, dtype=bool),
        )

    @cached_property
    def _open_trees(self) -> OpenTrees:
        assert self.affine.leaves is not None
        return OpenTrees.of(self.affine.leaves)

    @cached_property
    def _slopes(self) -> dict[bytes, FloatArray]:
        """The slopes that proofs found so far, for each weighted sum of the outputs."""
        return {}

    def _keys(self, removed: BoolArray, scores: FloatArray) -> Iterator[bytes]:
        """Yield a key for each removal set; sets that reach the same leaves are the same to the model."""
        matters = removed if self.affine.moves is None else removed & self.affine.moves
        reached = np.zeros((len(removed), 0), dtype=bool)
        if self.affine.leaves is not None:
            reached = self.affine.leaves.reached(removed).T
        for key in np.packbits(np.concatenate([matters, reached], axis=1), axis=1):
            yield key.tobytes()
