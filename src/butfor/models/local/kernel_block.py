"""Many rows of a kernel machine at once, by compiled loops."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray
from butfor.models.bounds.quadratic import MAX_COMPILED, compiled_rows, curve_of
from butfor.models.bounds.region import CANDIDATES, FEW_SETS, PROGRESS, ROUNDS
from butfor.models.compiled import machine_kernels, machine_row_kernels
from butfor.models.formula.activations import COMPILED_CURVES
from butfor.models.formula.affine import LinearMap, SquaredDistances, precision_of_sums
from butfor.models.formula.network import Network
from butfor.models.local.linear_block import AnsweredRows
from butfor.models.row_kind import RowKind


@dataclass(frozen=True, eq=False)
class KernelRows:
    """A kernel machine of two classes over sums of one term for each active feature."""

    network: Network
    affine_map: LinearMap | SquaredDistances

    @staticmethod
    def of(network: Network | None) -> "KernelRows | None":
        """Return a network as one of these, or None if it is none, or if loops are not compiled."""
        if network is None or not network.sparse or len(network.affine_maps) != 1:
            return None
        ((affine_map,), (layer,)) = network.affine_maps, network.layers
        if (
            not isinstance(affine_map, LinearMap | SquaredDistances)
            or type(layer.activation) not in COMPILED_CURVES
        ):
            return None
        if machine_row_kernels() is None:
            return None
        machine = KernelRows(network, affine_map)
        _, _, (_, _, numbers), *others = machine._flat
        return machine if all(np.isfinite(each).all() for each in (numbers, *others)) else None

    @cached_property
    def _flat(self) -> tuple[Any, ...]:
        """The machine as compiled loops get it."""
        (layer,) = self.network.layers
        if isinstance(self.affine_map, SquaredDistances):
            vectors, biases = self.affine_map.vectors, self.affine_map.squared_norms
            curve, gamma = (machine_kernels().FACTORED, 0), float(self.affine_map.gamma)
        else:
            vectors, biases = self.affine_map.weights, self.affine_map.bias
            curve, gamma = curve_of(layer.activation), 1.0
        columns = compiled_rows(sparse.csr_array(vectors, dtype=np.float64))
        biases, weights = (
            np.ascontiguousarray(each, dtype=np.float64) for each in (biases, layer.weights[:, 0])
        )
        return curve, gamma, columns, biases, weights, float(layer.bias[0])

    def answers(
        self, X: Any, kind: RowKind, threshold: float, max_size: int, removable: BoolArray
    ) -> AnsweredRows | None:
        """Find the smallest answers; None if the steps before the model do not keep each entry in its place.

        The arguments are those of `LinearRows.answers`.
        """
        Z = self.affine_map.steps.in_place(X, kind)
        if Z is None:
            return None
        precision = precision_of_sums(int(np.diff(X.indptr).max(initial=0)), Z.dtype, np.dtype(np.float64))
        precision = max(precision, self.network.precision)
        zone = self.network.link.zone(threshold, precision)
        indices = (each.astype(np.int32, copy=False) for each in (X.indptr, X.indices))
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        n_removable = np.bincount(row_of[removable], minlength=X.shape[0])
        done, scores, errors, sizes, order, scores_without, n_scored = machine_row_kernels().explain_rows(
            machine_kernels().check,
            (*indices, np.ascontiguousarray(Z.data, dtype=np.float64), removable),
            self._flat,
            precision,
            tuple(map(float, zone)),
            min(max_size, max(1, int(n_removable.max(initial=0)))),
            MAX_COMPILED,
            (ROUNDS, FEW_SETS, PROGRESS, CANDIDATES),
        )
        return AnsweredRows(
            done=done & np.isfinite(scores),
            positive=scores > zone.middle,
            scores=scores,
            errors=errors,
            sizes=sizes,
            order=order,
            scores_without=scores_without,
            n_removable=n_removable,
            n_scored=n_scored,
        )
