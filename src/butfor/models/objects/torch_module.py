"""Modules of PyTorch on rows of numbers, and on bags of ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.calling.returned import as_outputs
from butfor.models.objects.base import AdaptedModel, AsProbabilities, kinds_of
from butfor.models.objects.torch_calls import device_of, require_eval_mode, without_gradients
from butfor.models.objects.torch_chain import Part, chain_of

MAX_VALUES = 2_000_000
"""How many numbers of dense rows the module gets at once."""


@dataclass(eq=False)
class TorchModule(AdaptedModel):
    """A module that takes rows as a dense tensor or, if it starts with an EmbeddingBag, as bags of ids."""

    module: Any
    chain: tuple[Part, ...] | None
    """The module as a chain of layers and functions, where it is one."""
    bag: Any = None
    """The EmbeddingBag at its beginning, if there is one."""
    n_features_in_: int | None = None
    classes_: Sequence[Any] = ()
    _as_probabilities: AsProbabilities = field(default_factory=AsProbabilities)

    @property
    def name(self) -> str:  # type: ignore[override]
        """What its scores are called in messages."""
        return type(self.module).__name__

    @property
    def method(self) -> str:  # type: ignore[override]
        """What its scores are read as."""
        return "" if self.chain is None else "forward"

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, or one score a row."""
        step = max(1, MAX_VALUES // max(1, X.shape[1]))
        with without_gradients():
            outputs = [self._outputs(X[i : i + step]) for i in range(0, X.shape[0], step)]
        return self._as_probabilities(np.concatenate(outputs))

    def rows(self, rows: Any) -> Any:
        """Return rows that came as a tensor as a matrix; ids become counts."""
        if ("torch", "Tensor") not in kinds_of(rows):
            return rows
        rows = (rows.to_dense() if rows.is_sparse else rows).detach().cpu().numpy()
        if self.bag is None or rows.dtype.kind not in "iu":
            return rows
        return _counts(np.atleast_2d(rows), self.n_features_in_, self.bag.padding_idx)

    def _outputs(self, X: Any) -> FloatArray:
        import torch

        device = device_of(self.module)
        if self.bag is not None:
            returned = self._of_bags(sparse.csr_matrix(X), torch, device)
        else:
            X = X.toarray() if sparse.issparse(X) else np.asarray(X)
            dtype = next((numbers.dtype for numbers in self.module.parameters()), torch.float32)
            returned = self.module(torch.as_tensor(X, device=device).to(dtype))
        outputs = np.asarray(as_outputs(getattr(returned, "logits", returned)), dtype=np.float64)
        return outputs.reshape(X.shape[0], -1) if outputs.size == X.shape[0] else outputs

    def _of_bags(self, X: Any, torch: Any, device: Any) -> Any:
        """Call the module on bags: ids, where each bag begins and, for sums, the weight of each id."""
        X.sum_duplicates()
        X.eliminate_zeros()
        weights, ids, offsets = None, X.indices, X.indptr
        if self.bag.mode == "sum":
            weights = torch.as_tensor(X.data, device=device).to(self.bag.weight.dtype)
        elif self.bag.mode == "mean":
            ids, offsets = _repeated(X)
        if not self.bag.include_last_offset:
            offsets = offsets[:-1]
        given = [torch.as_tensor(each.astype(np.int64), device=device) for each in (ids, offsets)]
        if type(self.module).__name__ == "Sequential":  # it hands one argument from layer to layer
            first, *others = self.module
            returned = first(*given, per_sample_weights=weights)
            for layer in others:
                returned = layer(returned)
            return returned
        if weights is None or bool((weights == 1).all()):
            return self.module(*given)
        if "per_sample_weights" not in signature(self.module.forward).parameters:
            raise ValueError(
                "ones in the row expected, as the module takes ids without weights, got other values"
            )
        return self.module(*given, per_sample_weights=weights)


def of_module(module: Any) -> TorchModule:
    """Return a module as a classifier of rows."""
    require_eval_mode(module)
    leaves = [each for each in module.modules() if not list(each.children())]
    kinds = [type(each).__name__ for each in leaves]
    if "Embedding" in kinds or kinds.count("EmbeddingBag") > 1:
        raise InputError(
            f"model must be a module that takes rows of numbers, or bags of ids by one EmbeddingBag, got "
            f"{type(module).__name__}, whose rows are not known. Pass a function that makes its tensors."
        )
    bag = leaves[kinds.index("EmbeddingBag")] if "EmbeddingBag" in kinds else None
    chain = chain_of(module)
    known = TorchModule(module, chain, bag)
    if bag is not None:
        known.n_features_in_ = int(bag.num_embeddings)
    elif chain is not None and chain[0].weights is not None:
        known.n_features_in_ = len(chain[0].weights)
    if chain is not None:
        n_outputs = [part.bias for part in chain if part.bias is not None][-1].shape[0]
        known.classes_ = () if n_outputs == 1 else tuple(f"class {i}" for i in range(n_outputs))
        ends = chain[-1].name
        known._as_probabilities = AsProbabilities(ends == "softmax")
    return known


def _counts(ids: Any, n_features: Any, padding: int | None) -> Any:
    """Return how often each id stands in each row."""
    row_of = np.repeat(np.arange(len(ids)), ids.shape[1])
    kept = np.ones(ids.size, dtype=bool) if padding is None else ids.ravel() != padding
    columns = ids.ravel()[kept]
    return sparse.csr_matrix((np.ones(len(columns)), (row_of[kept], columns)), shape=(len(ids), n_features))


def _repeated(X: Any) -> tuple[Any, Any]:
    """Return each id as often as it is counted, and where each bag begins."""
    counts = X.data.astype(np.int64)
    if (counts != X.data).any() or (counts < 0).any():
        raise ValueError("counts in the row expected, as the module takes the mean of ids, got other values")
    ends = np.concatenate([[0], np.cumsum(counts)])
    return np.repeat(X.indices, counts), ends[X.indptr]
