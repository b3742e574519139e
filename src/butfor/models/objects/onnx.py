"""Sessions of ONNX Runtime, on rows of numbers or texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.objects.base import AdaptedModel, AsProbabilities
from butfor.models.rows import as_dense, in_pieces

NUMBERS = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(bool)": "bool",
}
"""The dtype of each type of input that holds numbers."""


@dataclass(eq=False, kw_only=True)
class OnnxSession(AdaptedModel):
    """A session with one input, of rows or of texts, and an output of scores."""

    session: Any
    takes_texts: bool
    n_features_in_: int | None
    scores: str
    """The name of the output with the scores."""
    labels: str | None
    """The name of the output with the labels, if there is one."""
    classes_: Sequence[Any] = ()
    name: str = "InferenceSession.run"
    ties_to_first: bool = True
    _as_probabilities: AsProbabilities = field(default_factory=AsProbabilities)

    @property
    def identity(self) -> Any:
        """The model that the session was made of."""
        source, _ = source_of(self.session)
        return source if isinstance(source, bytes) else Path(source).read_bytes()

    def predict_proba(self, X: Any) -> Any:
        """Return the score of each class, or one score a row."""
        outputs = self._run(X, self.scores)
        if isinstance(outputs[0], dict):  # of a ZipMap: classes and their probabilities
            return np.array([list(each.values()) for each in outputs], dtype=np.float64)
        return self._as_probabilities(np.asarray(outputs))

    def _predicted(self, X: Any) -> Any:
        return np.asarray(self._run(X, str(self.labels))).reshape(-1)

    def _run(self, X: Any, output: str) -> Any:
        (given,) = self.session.get_inputs()
        if self.takes_texts:
            texts = np.array(list(X), dtype=object)
            X = texts.reshape(-1, 1) if len(given.shape) == 2 else texts
            return self.session.run([output], {given.name: X})[0]
        dtype = NUMBERS[given.type]
        dense = (as_dense(piece).astype(dtype) for piece in in_pieces(X))
        pieces = [self.session.run([output], {given.name: piece})[0] for piece in dense]
        return sum(pieces[1:], pieces[0]) if isinstance(pieces[0], list) else np.concatenate(pieces)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the session behind, which cannot be pickled: another process makes it anew."""
        return self.__dict__ | {"session": source_of(self.session), "predict": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"session": made_anew(*state["session"])})
        self.predict = None if self.labels is None else self._predicted


@dataclass(eq=False)
class OnnxNetwork:
    """A session of a transformer: a function from what a tokenizer returns to logits."""

    session: Any
    training = False

    def __call__(self, **given: Any) -> Any:
        """Return the first output for those of the inputs that the session has."""
        names = [each.name for each in self.session.get_inputs()]
        return self.session.run(None, {name: np.asarray(given[name]) for name in names})[0]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the session behind, which cannot be pickled: another process makes it anew."""
        return {"session": source_of(self.session)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.session = made_anew(*state["session"])


def source_of(session: Any) -> tuple[Any, Any]:
    """Return what a session was made of."""
    return session._model_bytes or session._model_path, session.get_providers()


def made_anew(source: Any, providers: Any) -> Any:
    """Return a session of what another was made of."""
    from onnxruntime import InferenceSession

    return InferenceSession(source, providers=providers)


def of_session(session: Any) -> OnnxSession:
    """Return a session as a classifier; raise where its inputs or outputs are not known."""
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if len(inputs) != 1 or (inputs[0].type not in NUMBERS and inputs[0].type != "tensor(string)"):
        listed = ", ".join(f"{each.name} ({each.type})" for each in inputs)
        raise InputError(
            f"model must be a session with one input, of rows or texts, got the inputs {listed}. Pass a "
            "function that makes them, or with input ids the tokenizer as encoder."
        )
    takes_texts, shape = inputs[0].type == "tensor(string)", inputs[0].shape
    columns = shape[1] if len(shape) == 2 and isinstance(shape[1], int) and not takes_texts else None
    labels = [each for each in outputs if each.type in ("tensor(int64)", "tensor(string)")]
    scores = [each for each in outputs if each.type.startswith(("tensor(float", "tensor(double", "seq(map"))]
    if len(scores) != 1:
        listed = ", ".join(f"{each.name} ({each.type})" for each in outputs)
        raise InputError(
            f"model must be a session with one output of scores, got the outputs {listed}. Pass a function "
            "that returns one of them."
        )
    known = OnnxSession(
        session=session,
        takes_texts=takes_texts,
        n_features_in_=columns,
        scores=scores[0].name,
        labels=labels[0].name if labels else None,
    )
    known.classes_ = _classes(known, scores[0])
    known.predict = known._predicted if labels and len(known.classes_) else None
    return known


def _classes(known: OnnxSession, scores: Any) -> Sequence[Any]:
    """Return the classes: the keys of a ZipMap, or numbers where the number of columns is known."""
    if scores.type.startswith("seq(map"):
        probe = [""] if known.takes_texts else np.zeros((1, known.n_features_in_ or 1))
        return tuple(known._run(probe, known.scores)[0])
    n = scores.shape[1] if len(scores.shape) == 2 and isinstance(scores.shape[1], int) else 0
    return tuple(range(n)) if n > 1 else ()
