import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer
from sklearn.svm import LinearSVC
from vectorisers import LABELS, TEXTS, TextLength

from butfor import InputError, ModelError
from butfor.models import as_scorer, recognise
from butfor.models.text import split_text_model, without


def swapped(texts):
    return [text.swapcase() for text in texts]


PLAIN = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
MODELS = {
    "plain": PLAIN,
    "svm": make_pipeline(CountVectorizer(), LinearSVC()),
    "tfidf": make_pipeline(CountVectorizer(), TfidfTransformer(), MultinomialNB()),
    "norms": make_pipeline(
        HashingVectorizer(n_features=2**10, norm=None), TfidfTransformer(), Normalizer(), LogisticRegression()
    ),
    "selection": make_pipeline(CountVectorizer(), SelectKBest(chi2, k=9), MaxAbsScaler(), MultinomialNB()),
    "mixing": make_pipeline(TfidfVectorizer(), TruncatedSVD(3), LogisticRegression()),
    "union": make_pipeline(make_union(TextLength(), TfidfVectorizer()), Normalizer(), LogisticRegression()),
    "nested": make_pipeline(make_pipeline(CountVectorizer(), TfidfTransformer()), LogisticRegression()),
    "nested mixing": make_pipeline(
        make_pipeline(TfidfVectorizer(), TruncatedSVD(3)), make_pipeline(MaxAbsScaler(), LogisticRegression())
    ),
    "gaps": Pipeline(
        [("a", "passthrough"), ("b", CountVectorizer()), ("c", None), ("d", LogisticRegression())]
    ),
    "cleaned": make_pipeline(
        FunctionTransformer(swapped), CountVectorizer(lowercase=False), LogisticRegression()
    ),
    "grid": GridSearchCV(PLAIN, {"logisticregression__C": [1, 100]}, cv=2),
    "random": RandomizedSearchCV(PLAIN, {"logisticregression__C": [1, 100]}, n_iter=1, cv=2),
    "fixed": FixedThresholdClassifier(PLAIN, threshold=0.3),
    "fixed decision": FixedThresholdClassifier(PLAIN, threshold=0.2, response_method="decision_function"),
    "fixed other class": FixedThresholdClassifier(PLAIN, threshold=0.4, pos_label=0),
    "tuned": TunedThresholdClassifierCV(PLAIN, scoring="f1", cv=2),
    "inner": make_pipeline(CountVectorizer(), FixedThresholdClassifier(LogisticRegression(), threshold=0.7)),
    "grid of thresholds": GridSearchCV(FixedThresholdClassifier(PLAIN), {"threshold": [0.35, 0.6]}, cv=2),
    "threshold of grid": FixedThresholdClassifier(
        GridSearchCV(PLAIN, {"logisticregression__C": [1, 100]}, cv=2), threshold=0.45
    ),
}


@cache
def fitted(name):
    return clone(MODELS[name]).fit(TEXTS, LABELS)


@pytest.mark.parametrize("name", MODELS)
def test_rows_and_the_rest_are_the_whole(name):
    model = fitted(name)
    parts = split_text_model(model)
    rows = parts.rows(TEXTS)
    assert parts.whole is model
    assert rows.format == "csr"
    assert rows.shape == (len(TEXTS), parts.n_features)
    np.testing.assert_array_equal(parts.rest.predict(rows), model.predict(TEXTS))
    for method in ("predict_proba", "decision_function"):
        assert hasattr(parts.rest, method) == hasattr(model, method)
        if hasattr(model, method):
            np.testing.assert_allclose(
                getattr(parts.rest, method)(rows), getattr(model, method)(TEXTS), rtol=1e-12
            )


@pytest.mark.parametrize("name", MODELS)
def test_the_scorer_of_the_rest_decides_as_the_whole_does(name):
    model = fitted(name)
    parts = split_text_model(model)
    scorer = as_scorer(parts.rest)
    positive = scorer.scores(parts.rows(TEXTS)) >= scorer.threshold
    np.testing.assert_array_equal(model.classes_[scorer.positive] == model.predict(TEXTS), positive)
    assert scorer.n_features == parts.n_features
    assert recognise(scorer) is not None


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_units(name):
    parts = split_text_model(fitted(name))
    units = parts.units("Free prize, now!")
    assert [name.lower() for name in units.names] == ["free", "prize", "now"]
    assert units.spans == (((0, 4),), ((5, 10),), ((12, 15),))
    assert parts.units(without("Free prize, now!", units.spans[1])).names == units.names[::2]


def test_norms_directly_behind_the_vectorisers_belong_to_the_rows():
    parts = split_text_model(fitted("norms"))
    assert len(parts.steps) == 3
    assert isinstance(parts.rest, LogisticRegression)
    norms = np.asarray(parts.rows(TEXTS).power(2).sum(axis=1)).ravel()
    assert set(norms.round(9).tolist()) == {0.0, 1.0}


def test_names_are_those_of_the_columns():
    model = fitted("cleaned")
    names = split_text_model(model).feature_names
    assert names == tuple(model[1].get_feature_names_out())
    assert split_text_model(fitted("norms")).feature_names is None
    model = clone(MODELS["union"]).set_params(featureunion__textlength=CountVectorizer(ngram_range=(2, 2)))
    names = split_text_model(model.fit(TEXTS, LABELS)).feature_names
    assert "tfidfvectorizer__free" in names
    assert "textlength__free prize" in names


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(MaxAbsScaler(), LogisticRegression()),
        make_pipeline(TextLength(), LogisticRegression()),
        make_pipeline(CountVectorizer(), TfidfTransformer()),
        CountVectorizer(),
        clone(PLAIN),
        GridSearchCV(PLAIN, {}),
        FixedThresholdClassifier(clone(PLAIN)),
        lambda texts: [0.0] * len(texts),
        None,
    ],
)
def test_other_models_are_not_taken_apart(model):
    assert split_text_model(model) is None


def test_a_frozen_model_is_taken_apart():
    model = clone(PLAIN).fit(TEXTS, LABELS)
    assert split_text_model(FixedThresholdClassifier(FrozenEstimator(model))).rest.estimator_ is model[-1]


def test_the_model_itself_is_left_as_it_was():
    model = FixedThresholdClassifier(clone(PLAIN).fit(TEXTS, LABELS), threshold=0.3)
    before = dict(vars(model))
    split_text_model(model)
    assert vars(model) == before


def test_vectorisers_of_files_are_refused():
    model = clone(PLAIN).fit(TEXTS, LABELS)
    model[0].input = "filename"
    with pytest.raises(InputError, match="model must take texts as strings"):
        split_text_model(model)


def test_steps_that_raise_are_named():
    union = make_union(
        TfidfVectorizer(), FunctionTransformer(lambda texts: np.array([[1 / t.count("e")] for t in texts]))
    )
    model = make_pipeline(union, LogisticRegression()).fit(["see", "be"], [0, 1])
    model[0].transformer_list[1][1].func = len
    with pytest.raises(
        ModelError, match=r"the steps of the model raised .* on the text 'A few words of text.'"
    ):
        split_text_model(model)


def test_a_text_model_can_be_pickled():
    parts = split_text_model(clone(PLAIN).fit(TEXTS, LABELS))
    parts.units(TEXTS[0])
    assert pickle.loads(pickle.dumps(parts)).units(TEXTS[0]) == parts.units(TEXTS[0])
