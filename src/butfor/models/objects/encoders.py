"""Models in two pieces: an encoder, which makes rows or tokens of texts, and what decides on them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from butfor.errors import InputError
from butfor.models.objects.base import AdaptedModel, kinds_of
from butfor.models.objects.hugging_face import of_model
from butfor.models.objects.onnx import OnnxNetwork
from butfor.models.objects.recognition import adapted
from butfor.models.scorer import DOUBT

READS_TEXTS = {
    ("transformers", "Pipeline"),
    ("spacy", "Language"),
    ("fasttext", "_FastText"),
    ("setfit", "SetFitModel"),
}
"""Models that need no encoder."""


def encoded(model: Any, encoder: Any) -> Any:
    """Return the model that reads texts: an encoder, and a model behind it.

    Parameters
    ----------
    model : classifier, module or callable
        What decides.
    encoder : tokenizer, SentenceTransformer, vectoriser or callable
        What the model gets instead of texts.

    Returns
    -------
    Pipeline or AdaptedModel
    """
    if not READS_TEXTS.isdisjoint(kinds_of(model)):
        raise InputError(f"encoder must not be given with {_name(model)}, which reads texts itself.")
    if ("transformers", "PreTrainedTokenizerBase") in kinds_of(encoder):
        if ("onnxruntime", "InferenceSession") in kinds_of(model):
            return replace(of_model(OnnxNetwork(model), encoder), tensors="np")
        return of_model(model, encoder)
    encode = _encode(encoder)
    known = adapted(model)
    if known is None and not hasattr(model, "fit"):
        if not callable(model):
            raise InputError(
                f"model must be a classifier or a callable behind its encoder, got {type(model).__name__}."
            )
        return Encoded(model, encode, f"{_name(model)} behind {_name(encoder)}")
    if known is not None:
        return Encoded(
            known.predict_proba, encode, known.name, known.classes_, known.ties_to_first, known.doubt
        )
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    is_step = hasattr(encoder, "transform") and hasattr(encoder, "fit")
    return Pipeline([("encoder", encoder if is_step else FunctionTransformer(encode)), ("model", model)])


@dataclass(eq=False)
class Encoded(AdaptedModel):
    """A function of rows behind an encoder of texts."""

    function: Callable[[Any], Any]
    encode: Callable[[Any], Any]
    name: str
    classes_: Any = ()
    ties_to_first: bool = False
    doubt: float = DOUBT
    takes_texts = True

    def predict_proba(self, X: Any) -> Any:
        """Return what the function returns for encoded texts."""
        return self.function(self.encode(list(X)))


def _encode(encoder: Any) -> Callable[[Any], Any]:
    """Return what encodes texts: the method `encode` or `transform`, or the encoder itself."""
    if ("sentence_transformers", "SentenceTransformer") in kinds_of(encoder):
        return _Quiet(encoder)
    for method in ("transform", "encode"):
        if hasattr(encoder, method):
            return getattr(encoder, method)  # type: ignore[no-any-return]
    if callable(encoder):
        return encoder  # type: ignore[no-any-return]
    raise InputError(
        "encoder must be a tokenizer, a SentenceTransformer, a vectoriser or a function from texts to rows, "
        f"got {type(encoder).__name__}."
    )


@dataclass(frozen=True)
class _Quiet:
    """A SentenceTransformer that shows no progress."""

    encoder: Any

    def __call__(self, texts: Any) -> Any:
        return self.encoder.encode(list(texts), show_progress_bar=False)


def _name(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", type(thing).__name__))
