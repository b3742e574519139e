"""Text classifiers of Hugging Face: pipelines, and models with their tokenizers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from butfor.errors import InputError
from butfor.models.arrays import FloatArray
from butfor.models.calling.returned import as_outputs
from butfor.models.objects.base import AdaptedModel, AsProbabilities, LabelledTexts, kinds_of
from butfor.models.objects.torch_calls import content_of, device_of, require_eval_mode, without_gradients

BATCH_SIZE = 32
"""How many texts the model gets at a time, if the pipeline says nothing."""
CLOSE = 1e-4
"""How far a score may be from the pipeline's own."""
TEXTS_TO_CHECK = 3
LONGEST = 1_000_000
"""A tokenizer that knows of no limit has one beyond this."""


@dataclass(eq=False, kw_only=True)
class TextClassifier(LabelledTexts):
    """A transformer that classifies texts: a tokenizer, a model, and what becomes of its outputs."""

    network: Any
    """A function from input ids, an attention mask, … to logits: a model of transformers, or like one."""
    tokenizer: Any
    name: str
    told: dict[str, Any] = field(default_factory=dict)
    """What the tokenizer is told, such as `truncation=True`."""
    pipeline: Any = None
    """The pipeline that the user holds, if it is one."""
    is_raw: bool = False
    """Whether the pipeline returns logits."""
    batch_size: int = BATCH_SIZE
    tensors: str = "pt"
    """The kind of tensors that the network takes: of PyTorch ("pt") or numpy ("np")."""
    _as_probabilities: AsProbabilities = field(default_factory=AsProbabilities)
    _n_checked: int = 0
    _by_pipeline: bool = False
    """Whether the pipeline itself is asked, as it does not act as its parts do."""

    @property
    def mask_token(self) -> str | None:  # type: ignore[override]
        """The tokenizer's own mask; None where it has none."""
        mask = getattr(self.tokenizer, "mask_token", None)
        return None if mask is None else str(mask)

    @property
    def identity(self) -> Any:
        """The layers and their numbers, the tokenizer's tokens, and what both are told."""
        known: dict[str, int] = getattr(self.tokenizer, "get_vocab", dict)()
        told = sorted((name, repr(value)) for name, value in self.told.items())
        return content_of(self.network), sorted(known.items()), told, self.labels, self.one

    def scores_of_labels(self, texts: list[str]) -> FloatArray:
        """Return the scores; those of the first texts are held against the pipeline's own."""
        if self._by_pipeline:
            return self._asked(texts)
        scores = self._scores(texts)
        if self.pipeline is not None and self._n_checked < TEXTS_TO_CHECK:
            self._n_checked += 1
            own = self._asked(texts[:1])
            if own.shape != scores[:1].shape or not np.allclose(own, scores[:1], atol=CLOSE):
                self._by_pipeline = True
                return self._asked(texts)
        return scores

    def tokens(self, text: str) -> Sequence[tuple[int, int]] | None:
        """Return the places of the tokens that the model reads."""
        return places_of_tokens(self.tokenizer, text, **self.told)

    def _scores(self, texts: list[str]) -> FloatArray:
        """Return the scores, from the model's own outputs; texts of about one length go together."""
        encoded = self.tokenizer(texts, **self.told)
        order = np.argsort([len(ids) for ids in encoded["input_ids"]], kind="stable")
        pieces = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        given = [{name: [lines[i] for i in piece] for name, lines in encoded.items()} for piece in pieces]
        outputs = np.concatenate([self._outputs(each) for each in given])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        outputs = outputs[back]
        if self.apart or len(self.labels) == 1:
            return np.asarray(expit(outputs))
        return np.asarray(softmax(outputs, axis=1)) if self.labels else self._as_probabilities(outputs)

    def _outputs(self, given: dict[str, list[Any]]) -> FloatArray:
        """Return the logits of encoded texts, which are padded to the longest."""
        encoded = self.tokenizer.pad(given, padding=len(given["input_ids"]) > 1, return_tensors=self.tensors)
        try:
            returned = self._called(encoded)
        except Exception as error:
            self._require_length(encoded["input_ids"].shape[1], error)
            raise
        logits = getattr(returned, "logits", returned)
        logits = as_outputs(logits.float() if hasattr(logits, "float") else logits)
        if getattr(logits, "ndim", 0) != 2:
            raise InputError(
                f"model must return a row of logits for each text, as models for sequence classification do, "
                f"got {type(returned).__name__} of {self.name}."
            )
        return np.asarray(logits, dtype=np.float64)

    def _called(self, encoded: Any) -> Any:
        if self.tensors == "np":
            return self.network(**encoded)
        with without_gradients():
            return self.network(**encoded.to(device_of(self.network)))

    def _require_length(self, n_tokens: int, error: Exception) -> None:
        """Raise where the model failed on a text that is longer than it reads."""
        longest = getattr(self.tokenizer, "model_max_length", n_tokens)
        if n_tokens > longest:
            raise InputError(
                f"row must be a text of at most {longest:,} tokens, which {self.name} reads, got "
                f"{n_tokens:,}. Make the pipeline with truncation=True, or pass a shorter text."
            ) from error

    def _asked(self, texts: list[str]) -> FloatArray:
        """Return the scores that the pipeline itself returns."""
        answers = self.pipeline(texts, top_k=None, batch_size=self.batch_size)
        number = {label: i for i, label in enumerate(self.labels)}
        scores = np.zeros((len(texts), len(self.labels)))
        for line, answer in zip(scores, answers, strict=True):
            for each in answer:
                line[number[each["label"]]] = each["score"]
        return np.asarray(softmax(scores, axis=1)) if self.is_raw else scores


def places_of_tokens(tokenizer: Any, text: str, **told: Any) -> Sequence[tuple[int, int]] | None:
    """Return the places of a tokenizer's tokens in a text; None where it does not know them."""
    try:
        encoded = tokenizer(text, return_offsets_mapping=True, **told)
    except NotImplementedError:  # one in Python alone
        return None
    return [(start, end) for start, end in encoded["offset_mapping"] if start < end]


def tokens_of(encoder: Any) -> Callable[[str], Any] | None:
    """Return what tells the places of the tokens that an encoder reads; None where it does not know them."""
    if ("sentence_transformers", "SentenceTransformer") not in kinds_of(encoder):
        return None
    return partial(places_of_tokens, encoder.tokenizer, truncation=True, max_length=encoder.max_seq_length)


def of_pipeline(pipeline: Any) -> TextClassifier:
    """Return a pipeline as a classifier of texts; only those for text classification are."""
    if ("transformers", "TextClassificationPipeline") not in kinds_of(pipeline):
        raise InputError(
            'model must be a pipeline for "text-classification", got one for '
            f'"{getattr(pipeline, "task", "another task")}". Pass a function from texts to scores.'
        )
    applied = getattr(pipeline._postprocess_params.get("function_to_apply"), "name", "").lower()
    size = getattr(pipeline, "_batch_size", None)
    known = of_model(pipeline.model, pipeline.tokenizer, dict(pipeline._preprocess_params), applied)
    own_class = type(pipeline).__module__.startswith("transformers.")
    return replace(
        known,
        name=type(pipeline).__name__,
        pipeline=pipeline,
        is_raw=applied == "none",
        batch_size=size if isinstance(size, int) and size > 1 else BATCH_SIZE,
        _by_pipeline=not own_class,
    )


def of_model(
    model: Any, tokenizer: Any, told: dict[str, Any] | None = None, applied: str = ""
) -> TextClassifier:
    """Return a model with its tokenizer as a classifier of texts.

    Without a pipeline the tokenizer truncates texts that are longer than the model reads.
    """
    require_eval_mode(model)
    config = getattr(model, "config", None)
    problem = getattr(config, "problem_type", None)
    labels = _labels(config)
    if problem == "regression" or (applied == "none" and len(labels) == 1):
        raise InputError(
            f"model must classify texts, got {type(model).__name__} for regression. Pass a function from "
            "texts to scores, and a threshold."
        )
    _require_padding(tokenizer)
    apart = applied == "sigmoid" or (not applied and problem == "multi_label_classification")
    limited = getattr(tokenizer, "model_max_length", LONGEST + 1) <= LONGEST
    own = told if told is not None else {"truncation": True} if limited else {}
    return TextClassifier(
        network=model, tokenizer=tokenizer, name=type(model).__name__, labels=labels, apart=apart, told=own
    )


def needs_classifier(model: Any) -> AdaptedModel:
    """Raise: a SentenceTransformer alone decides nothing."""
    raise InputError(
        "model must be a classifier, got a SentenceTransformer, which decides nothing: "
        "Explainer(classifier, encoder=sentence_transformer)."
    )


def needs_encoder(model: Any) -> AdaptedModel:
    """Raise: a model of transformers alone does not read texts."""
    raise InputError(
        f"encoder must be given with {type(model).__name__}, which does not read texts itself: "
        "Explainer(model, encoder=tokenizer)."
    )


def _labels(config: Any) -> tuple[str, ...]:
    known = getattr(config, "id2label", None) or {}
    return tuple(str(known[number]) for number in sorted(known))


def _require_padding(tokenizer: Any) -> None:
    if getattr(tokenizer, "pad_token", None) is None:
        raise InputError(
            "encoder must be a tokenizer with a pad token, so that texts of different lengths go into one "
            f"call, got {type(tokenizer).__name__} without one. Set tokenizer.pad_token and the model's "
            "config.pad_token_id."
        )
