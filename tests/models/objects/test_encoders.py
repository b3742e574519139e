"""A classifier and what makes its rows, as two objects."""

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from small_models import SPAM, TEXTS

from butfor import Explainer, InputError

VECTORISER = TfidfVectorizer().fit(TEXTS)
CLASSIFIER = LogisticRegression(C=100).fit(VECTORISER.transform(TEXTS), SPAM)


def test_a_vectoriser_and_a_classifier_are_their_pipeline():
    whole = Explainer(make_pipeline(VECTORISER, CLASSIFIER))
    parts = Explainer(CLASSIFIER, encoder=VECTORISER)
    for text in TEXTS:
        one, other = whole.explain(text), parts.explain(text)
        assert (one.features, one.score, one.local_model) == (other.features, other.score, "linear")
        assert one.proven_minimum == other.proven_minimum


def test_functions_on_both_sides():
    def encode(texts):
        return VECTORISER.transform(texts)

    def decide(rows):
        return CLASSIFIER.predict_proba(rows)

    expected = Explainer(CLASSIFIER, encoder=VECTORISER).explain(TEXTS[0])
    for model, encoder in ((CLASSIFIER, encode), (decide, encode), (decide, VECTORISER)):
        why = Explainer(model, encoder=encoder).explain(TEXTS[0])
        assert (why.size, why.score, why.local_model) == (
            expected.size,
            pytest.approx(expected.score),
            "black box",
        )


def test_a_booster_behind_a_vectoriser():
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(VECTORISER.transform(TEXTS * 9), list(SPAM) * 9)
    booster = lightgbm.train({"objective": "binary", "verbose": -1, "min_data_in_leaf": 1}, data, 5)
    why = Explainer(booster, encoder=VECTORISER).explain(TEXTS[0])
    assert why.score == pytest.approx(booster.predict(VECTORISER.transform([TEXTS[0]]))[0])
    assert why.unit == "word"


def test_refused_encoders():
    with pytest.raises(InputError, match=r"encoder must be a tokenizer, a SentenceTransformer, .* got int"):
        Explainer(CLASSIFIER, encoder=3)
    with pytest.raises(
        InputError, match=r"model must be a classifier or a callable behind its encoder, got in"
    ):
        Explainer(3, encoder=VECTORISER)
