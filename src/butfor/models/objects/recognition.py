"""The one place that recognises models of other libraries, by the names of their classes."""

from collections.abc import Callable
from typing import Any

from butfor.models.objects.base import AdaptedModel, kinds_of
from butfor.models.objects.boosters import of_catboost, of_lightgbm, of_xgboost
from butfor.models.objects.fast_text import of_fast_text
from butfor.models.objects.hugging_face import needs_classifier, needs_encoder, of_pipeline
from butfor.models.objects.keras import of_keras
from butfor.models.objects.onnx import of_session
from butfor.models.objects.set_fit import of_set_fit
from butfor.models.objects.spacy import of_language
from butfor.models.objects.torch_module import of_module

OBJECTS: dict[tuple[str, str], Callable[[Any], AdaptedModel]] = {
    ("lightgbm", "Booster"): of_lightgbm,
    ("xgboost", "Booster"): of_xgboost,
    ("catboost", "CatBoost"): of_catboost,
    ("torch", "Module"): of_module,
    ("keras", "Model"): of_keras,
    ("onnxruntime", "InferenceSession"): of_session,
    ("spacy", "Language"): of_language,
    ("fasttext", "_FastText"): of_fast_text,
    ("setfit", "SetFitModel"): of_set_fit,
    ("sentence_transformers", "SentenceTransformer"): needs_classifier,
    ("transformers", "Pipeline"): of_pipeline,
    ("transformers", "PreTrainedModel"): needs_encoder,
}
"""What makes a classifier of an object, by the names of the library and of its class, or of one above it."""
CLASSIFIERS = {("catboost", "CatBoostClassifier")}
"""Classes below one of these that are classifiers like those of scikit-learn."""


def adapted(model: Any) -> AdaptedModel | None:
    """Return a model of another library as a classifier; None if it is none of those.

    >>> adapted(len) is None
    True
    """
    if isinstance(model, AdaptedModel):
        return model
    known = next((kind for kind in kinds_of(model) if kind in OBJECTS or kind in CLASSIFIERS), None)
    return None if known is None or known in CLASSIFIERS else OBJECTS[known](model)


def unwrapped(model: Any) -> Any:
    """Return the model inside a model of MLflow; its `predict` where that is code of the user's own.

    >>> unwrapped(len) is len
    True
    """
    if ("mlflow", "PyFuncModel") not in kinds_of(model):
        return model
    try:
        raw = model.get_raw_model()
    except NotImplementedError:
        return model.predict
    return model.predict if ("mlflow", "PythonModel") in kinds_of(raw) else raw
