"""Fit a model on a data set, choose its threshold and the rows to explain."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from butfor import Explanation, InputError, __version__
from butfor.study.datasets import Data, Dataset, split
from butfor.study.loading import shape_of, write_cached
from butfor.study.models import MODELS, StudyModel, fit, scores
from butfor.study.registry import Registry
from butfor.study.results import Case


@dataclass(frozen=True)
class Prepared:
    """A fitted model with the test rows that it predicts positive, in the order of their explanation."""

    case: Case
    classifier: Any
    rows: Any
    """The rows, counted in the data set from 0."""
    X: Any
    """The features of these rows."""
    texts: tuple[str, ...] | None = None
    """The texts of these rows, as the vectoriser takes them."""
    vectoriser: Any = None

    def row(self, position: int, removal: str) -> Any:
        """Return one of the rows, or its text if words are to be cut."""
        if removal == "zero":
            return self.X[[position]]
        assert self.texts is not None
        return self.texts[position]

    def columns_of(self, why: Explanation, removal: str) -> tuple[int, ...]:
        """Return the columns of an answer; those of its words, if they are cut."""
        if removal == "zero":
            return why.columns
        analyze, vocabulary = self.vectoriser.build_analyzer(), self.vectoriser.vocabulary_
        tokens = [token for word in why.features for token in analyze(word)]
        return tuple(int(vocabulary[token]) for token in tokens if token in vocabulary)

    def model(self, removal: str) -> Any:
        """Return what decides on such rows."""
        from sklearn.pipeline import make_pipeline

        return self.classifier if removal == "zero" else make_pipeline(self.vectoriser, self.classifier)


def prepare(name: str, known: Registry, data: Data, model: str, *, seed: int, cache: Path) -> Prepared:
    """Fit the model on the training rows and choose the threshold, or load both from the cache."""
    import joblib

    dataset, chosen = known.dataset(name), known.model(model)
    if not 0 < dataset.share < 1:
        raise InputError(f"share of {name} must be between 0 and 1, got {dataset.share}.")
    fingerprint = joblib.hash(
        (data.X, data.y, data.cleaned, name, dataset.share, seed, *_model_identity(known, chosen))
    )
    path = cache / f"{fingerprint}.joblib"
    if path.exists():
        prepared: Prepared = joblib.load(path)
    else:
        prepared = _prepare(name, dataset, data, chosen, seed, fingerprint)
        write_cached(prepared, path)
    case = replace(prepared.case, kind=dataset.kind, target=dataset.target, linear=chosen.linear)
    return replace(prepared, case=case)


def _model_identity(known: Registry, model: StudyModel) -> tuple[Any, ...]:
    """Return everything but the data that the fitted model depends on."""
    import sklearn

    settings = [(type(each).__name__, each.get_params()) for each in model.candidates()]
    added = "" if MODELS.get(model.name) is model else known.additions
    return model.name, settings, added, __version__, sklearn.__version__


def _prepare(
    name: str, dataset: Dataset, data: Data, model: StudyModel, seed: int, fingerprint: str
) -> Prepared:
    from sklearn.metrics import roc_auc_score

    train, test = split(data.X.shape[0])
    classifier, parameters = fit(model, data.X[train], data.y[train])
    score = np.asarray(scores(classifier, data.X[test]), dtype=float)
    if not np.isfinite(score).all():
        raise InputError(f"{model.name} must give finite scores, got {score[~np.isfinite(score)][0]}.")
    threshold = threshold_for(score, dataset.share)
    positive = np.random.default_rng(seed).permutation(test[score >= threshold])
    shape = shape_of(data)
    case = Case(
        dataset=name,
        kind=dataset.kind,
        target=dataset.target,
        model=model.name,
        linear=model.linear,
        n_rows=shape.rows,
        n_features=shape.features,
        positive_percent=shape.positive_percent,
        sparsity_percent=shape.sparsity_percent,
        n_test=len(test),
        n_positive=len(positive),
        n_explained=len(positive),
        mean_active=float(np.diff(data.X[positive].indptr).mean()),
        auc=float(roc_auc_score(data.y[test], score)) if len(np.unique(data.y[test])) == 2 else float("nan"),
        threshold=threshold,
        parameters=parameters,
        fingerprint=fingerprint,
    )
    texts = None if data.cleaned is None else tuple(data.cleaned[row] for row in positive)
    return Prepared(case, classifier, positive, data.X[positive], texts, data.vectoriser)


def threshold_for(score: Any, share: float) -> float:
    """Return the threshold whose share of positive rows is closest to `share`, halfway between two scores.

    >>> threshold_for(np.array([0.1, 0.2, 0.6, 0.8]), share=0.5)
    0.4
    """
    levels = np.unique(score)
    if len(levels) == 1:
        return float(levels[0])
    between = (levels[1:] + levels[:-1]) / 2
    shares = (len(score) - np.searchsorted(np.sort(score), between)) / len(score)
    return float(between[np.argmin(np.abs(shares - share))])
