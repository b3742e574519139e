"""Many rows of a network with one hidden layer at once, by compiled loops."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray
from butfor.models.bounds.hidden_layer import COMPILED_STEPS
from butfor.models.bounds.lines import MULTIPLIERS
from butfor.models.bounds.region import FEW_SETS, PROGRESS, ROUNDS
from butfor.models.compiled import network_kernels, row_kernels
from butfor.models.formula.activations import COMPILED
from butfor.models.formula.affine import LinearMap
from butfor.models.formula.network import Network
from butfor.models.local.linear_block import AnsweredRows, PlacedRows
from butfor.models.row_kind import RowKind

MAX_DROPS = 500_000
"""Rows with more features times neurons are left out: they take so long that a clock must be watched."""


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """A network of two classes with one hidden layer over sums of one term for each active feature."""

    network: Network
    affine_map: LinearMap

    @staticmethod
    def of(network: Network | None) -> "NetworkRows | None":
        """Return a network as one of these, or None if it is none, or if loops are not compiled."""
        if network is None or len(network.affine_maps) != 1 or len(network.layers) != 1 or network.softmax:
            return None
        ((affine_map,), (layer,)) = network.affine_maps, network.layers
        if not isinstance(affine_map, LinearMap) or sparse.issparse(affine_map.weights):
            return None
        finite = np.isfinite(affine_map.weights).all() and np.isfinite(layer.weights).all()
        if type(layer.activation) not in COMPILED or layer.weights.shape[1] != 1 or not finite:
            return None
        return None if row_kernels() is None else NetworkRows(network, affine_map)

    @cached_property
    def _flat(self) -> tuple[Any, ...]:
        """The network as compiled loops get it."""
        (layer,) = self.network.layers
        hidden = self.affine_map.weights, self.affine_map.bias
        inner, bias = (np.ascontiguousarray(each, dtype=np.float64) for each in hidden)
        outer = np.ascontiguousarray(layer.weights[:, 0], dtype=np.float64)
        return COMPILED[type(layer.activation)], inner, bias, outer, float(layer.bias[0])

    def answers(
        self, X: Any, kind: RowKind, threshold: float, max_size: int, removable: BoolArray
    ) -> AnsweredRows | None:
        """Find the smallest answers; None if the steps before the model do not keep each entry in its place.

        The arguments are those of `LinearRows.answers`.
        """
        placed = PlacedRows.of(self.network, self.affine_map, X, kind, threshold)
        if placed is None:
            return None
        indices = (each.astype(np.int32, copy=False) for each in (X.indptr, X.indices))
        values = np.ascontiguousarray(placed.Z.data, dtype=np.float64)
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        n_removable = np.bincount(row_of[removable], minlength=X.shape[0])
        longest = min(max_size, max(1, int(n_removable.max(initial=0))))
        loops = network_kernels()
        done, scores, sizes, order, scores_without, n_scored = row_kernels().explain_rows(
            loops.check,
            loops.narrowed,
            (*indices, values, removable),
            self._flat,
            placed.errors,
            tuple(map(float, placed.zone)),
            longest,
            MAX_DROPS,
            (ROUNDS, FEW_SETS, PROGRESS, COMPILED_STEPS, MULTIPLIERS),
        )
        return AnsweredRows(
            done=done & np.isfinite(scores),
            positive=scores > placed.zone.middle,
            scores=scores,
            errors=placed.errors,
            sizes=sizes,
            order=order,
            scores_without=scores_without,
            n_removable=n_removable,
            n_scored=n_scored,
        )
