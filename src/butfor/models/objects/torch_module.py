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
from butfor.models.objects.chain import ChainPart, numbered_classes, shape_of
from butfor.models.objects.torch_calls import content_of, device_of, require_eval_mode, without_gradients
from butfor.models.objects.torch_chain import chain_of
from butfor.models.rows import as_dense, in_pieces


@dataclass(eq=False)
class TorchModule(AdaptedModel):
    """A module that takes rows as a dense tensor or, if it starts with an EmbeddingBag, as bags of ids."""

    module: Any
    chain: tuple[ChainPart, ...] | None = None
    bag: Any = None
    """The EmbeddingBag at its beginning, if there is one."""
    n_features_in_: int | None = None
    classes_: Sequence[Any] = ()
    ties_to_first: bool = True
    _as_probabilities: AsProbabilities = field(default_factory=AsProbabilities)

    @property
    def name(self) -> str:  # type: ignore[override]
        """What its scores are called in messages."""
        return type(self.module).__name__

    @property
    def identity(self) -> Any:
        """The layers and their numbers."""
        return content_of(self.module)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, or one score a row."""
        with without_gradients():
            outputs = [self._outputs(piece) for piece in in_pieces(X)]
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
            dtype = next((numbers.dtype for numbers in self.module.parameters()), torch.float32)
            returned = self.module(torch.as_tensor(as_dense(X), device=device).to(dtype))
        outputs = np.asarray(as_outputs(getattr(returned, "logits", returned)), dtype=np.float64)
        return outputs.reshape(X.shape[0], -1) if outputs.size == X.shape[0] else outputs

    def _of_bags(self, X: Any, torch: Any, device: Any) -> Any:
        """Call the module on bags: ids, each as often as it is counted, and where each bag begins.

        Values that are no counts become weights of ids, which only sums have.
        """
        X.sum_duplicates()
        X.eliminate_zeros()
        weights, ids, offsets = None, X.indices, X.indptr
        if _are_counts(X.data):
            ids, offsets = _repeated(X)
        else:
            self._require_weights()
            weights = torch.as_tensor(X.data, device=device).to(self.bag.weight.dtype)
        if not self.bag.include_last_offset:
            offsets = offsets[:-1]
        given = [torch.as_tensor(each.astype(np.int64), device=device) for each in (ids, offsets)]
        told = {} if weights is None else {"per_sample_weights": weights}
        if not self._is_sequence:
            return self.module(*given, **told)
        first, *others = self.module  # a Sequential hands one argument from layer to layer
        returned = first(*given, **told)
        for layer in others:
            returned = layer(returned)
        return returned

    def _require_weights(self) -> None:
        """Raise unless ids may have weights."""
        known = self._is_sequence or "per_sample_weights" in signature(self.module.forward).parameters
        if self.bag.mode != "sum" or not known:
            raise ValueError(
                "counts in the row expected, as the module takes ids without weights, got other values"
            )

    @property
    def _is_sequence(self) -> bool:
        return type(self.module).__name__ == "Sequential"


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
    if chain is not None:
        known.n_features_in_, n_outputs = shape_of(chain)
        known.classes_ = numbered_classes(n_outputs)
        known._as_probabilities = AsProbabilities(chain[-1].name == "softmax")
    return known


def _counts(ids: Any, n_features: Any, padding: int | None) -> Any:
    """Return how often each id stands in each row."""
    row_of = np.repeat(np.arange(len(ids)), ids.shape[1])
    kept = np.ones(ids.size, dtype=bool) if padding is None else ids.ravel() != padding
    columns = ids.ravel()[kept]
    return sparse.csr_matrix((np.ones(len(columns)), (row_of[kept], columns)), shape=(len(ids), n_features))


def _are_counts(values: Any) -> bool:
    return bool((values >= 0).all() and (values == np.floor(values)).all())


def _repeated(X: Any) -> tuple[Any, Any]:
    """Return each id as often as it is counted, and where each bag begins."""
    counts = X.data.astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return np.repeat(X.indices, counts), ends[X.indptr]
