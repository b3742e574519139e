"""The local model of models behind a norm: their functions of the row are divided by one."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.bounds.counts import OpenCounts
from butfor.models.bounds.linear import LinearRegion
from butfor.models.bounds.normed_kernel import NormedKernelRegion
from butfor.models.bounds.open_trees import OpenTrees
from butfor.models.bounds.ratios import RatioRegion
from butfor.models.bounds.region import Region
from butfor.models.counted import NoFormula
from butfor.models.formula.activations import Curved
from butfor.models.formula.affine import LocalAffine
from butfor.models.local.formula import MAX_VALUES, FormulaModel
from butfor.models.row import Row

FEW = 8
"""So many sets of many units in a row are scored by reading the text; for more, n-grams are looked for."""
WIDEST = 32
"""Sets that remove more units in a row are scored by reading the text."""


class NormedModel(FormulaModel):
    """Score removal sets by functions that are divided by a norm, which changes with each removal."""

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        gone = np.zeros(self.n_features, dtype=bool)
        gone[list(removed)] = True
        while (
            self.affine.cut is not None and self.affine.cut.beyond_with_each(gone).any() and self._widened()
        ):
            pass
        if self.affine.drops.size <= MAX_VALUES or self.affine.leaves is not None:
            return self.network.value(self.affine.with_each(gone))[candidates]
        return self._scores(self._sets_with_each(removed, candidates))

    def _affine_without(self, removed: BoolArray) -> Iterator[FloatArray]:
        while self.affine.cut is not None and self.affine.cut.beyond(removed).sum() > FEW and self._widened():
            pass
        yield from super()._affine_without(removed)

    def _widened(self) -> bool:
        """Have the functions hold for twice as many units in a row; return whether they do."""
        window = None if self.affine.cut is None else self.affine.cut.window
        if window is None or window >= WIDEST:
            return False
        wider = self._reaching(2 * window)
        if wider is None:
            return False
        self.affine = wider[0]
        self._by_window[0] = wider
        return True

    def _region(self, max_size: int, outputs: FloatArray) -> Region:
        if not np.isfinite(self._limit):
            return super()._region(max_size, outputs)
        reaching = self._reaching(max_size)
        if reaching is None:
            drops = np.zeros(self.n_features)  # nothing is ruled out
            return LinearRegion(**self._all_sets(max_size), constant=-1.0, drops=drops)
        affine, trees = reaching
        ratios = affine.ratios
        assert ratios is not None
        layers, constant, weights = self.network.layers, -self._limit, outputs
        if self.network.sparse and trees is None and ratios.norms == ("l2",):
            return self._kernel_region(max_size, float(outputs[0]))
        if layers:
            *before, last = layers
            bias = np.array([float(last.bias @ outputs) - self._limit])
            turned = replace(last, weights=(last.weights @ outputs)[:, np.newaxis], bias=bias)
            layers, constant, weights = (*before, turned), 0.0, np.zeros(0)
        return RatioRegion(
            **self._all_sets(max_size),
            ratios=ratios,
            layers=tuple(layers),
            constant=constant,
            weights=weights,
            z=affine.now,
            drops=affine.drops,
            size=_sizes(affine),
            trees=trees,
            counts=None if ratios.tables is None else OpenCounts.of(ratios.tables, trees, max_size),
            candidate=np.zeros(self.n_features, dtype=bool),
            slopes=None if trees is None else self._slopes(trees, outputs),
        )

    def _kernel_region(self, max_size: int, sign: float) -> Region:
        """Return the region of all sets for a weighted sum of kernels of ratios."""
        (layer,), affine, ratios = self.network.layers, self.affine, self.affine.ratios
        assert ratios is not None
        return NormedKernelRegion(
            **self._all_sets(max_size),
            constant=sign * float(layer.bias[0]) - self._limit,
            activation=cast(Curved, layer.activation),
            weights=sign * layer.weights[:, 0],
            bias=ratios.bias + ratios.filled[0],
            sizes=ratios.sizes[0],
            z=affine.now[:-1],
            drops=sparse.csr_array(affine.drops[:, :-1]),
            q=float(affine.now[-1]),
            squares=affine.drops[:, -1],
            q_size=float(_sizes(affine)[-1]),
            candidate=np.zeros(self.n_features, dtype=bool),
        )

    def _slopes(self, trees: OpenTrees, outputs: FloatArray) -> FloatArray:
        """Return the slopes that proofs found so far for the trees, of one weighted sum of the outputs."""
        key = len(trees.unit_of_pair), outputs.tobytes()
        if key not in self._known_slopes:
            self._known_slopes[key] = np.full(len(trees.unit_of_pair), np.nan)
        return self._known_slopes[key]

    @cached_property
    def _known_slopes(self) -> dict[tuple[int, bytes], FloatArray]:
        return {}

    def _reaching(self, max_size: int) -> tuple[LocalAffine, OpenTrees | None] | None:
        """Return the functions and their trees that hold for all sets of a size; None if unknown."""
        window = None if self.affine.cut is None else self.affine.cut.window
        if window is None or max_size <= window:
            window = 0
        while 0 < window < max_size:
            window *= 2
        if window not in self._by_window:
            self._by_window[window] = self._read_wider(window)
        return self._by_window[window]

    def _read_wider(self, window: int) -> tuple[LocalAffine, OpenTrees | None] | None:
        affine = self.affine
        if window:
            assert not isinstance(self._row, Row)
            try:
                affine = self._uncollapsed.at(self._row.wider(window))
            except NoFormula:
                return None
            _, affine = self._uncollapsed.collapsed(affine)
        leaves = affine.leaves
        if leaves is None:
            return affine, None
        return affine, replace(OpenTrees.of(leaves), number=np.arange(len(leaves)))

    @cached_property
    def _by_window(self) -> dict[int, tuple[LocalAffine, OpenTrees | None] | None]:
        """The functions that hold for sets of more units in a row, by their number; 0: those at hand."""
        return {}


def _sizes(affine: LocalAffine) -> FloatArray:
    """Return the sums of the absolute terms of the raw functions."""
    sizes = np.abs(affine.now) + np.abs(affine.drops).sum(axis=0)
    return np.asarray(sizes if affine.leaves is None else sizes + np.abs(affine.leaves.values).sum(axis=0))
