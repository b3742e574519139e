"""Local models behind norms, and of texts that are really cut: what the model itself says, and proofs."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import SVC, LinearSVC

from butfor import Budget, Explainer
from butfor.models import as_scorer

WORDS = ["free", "prize", "call", "now", "the", "mum", "win", "cash", "today", "love", "you", "money"]


def short_texts(n=120, seed=0):
    """Return texts of a few words, and classes that depend on words and on pairs of them."""
    rng = np.random.default_rng(seed)
    weight = dict(zip(WORDS, rng.normal(size=len(WORDS)), strict=True))
    texts = [" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(n)]
    pairs = [2.0 * (("free prize" in text) - ("call now" in text)) for text in texts]
    signal = [
        sum(weight[word] for word in text.split()) + pair for text, pair in zip(texts, pairs, strict=True)
    ]
    return texts, (np.array(signal) + 0.3 * rng.normal(size=n) > 0).astype(int)


TEXTS, CLASSES = short_texts()
VECTORISERS = {
    "counts": CountVectorizer(),
    "TF-IDF": TfidfVectorizer(),
    "pairs": TfidfVectorizer(ngram_range=(1, 2)),
    "sublinear l1 pairs": TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, norm="l1"),
    "bits of pairs": CountVectorizer(ngram_range=(1, 2), binary=True),
    "sublinear triples without norm": TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True, norm=None),
    "hashed pairs": HashingVectorizer(n_features=16, ngram_range=(1, 2)),
    "characters in words": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
    "two vectorisers": make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3))),
}
CLASSIFIERS = {
    "logistic regression": LogisticRegression(C=5),
    "linear SVM": LinearSVC(C=2),
    "naive Bayes": MultinomialNB(),
    "network": MLPClassifier((8,), max_iter=60, learning_rate_init=0.02, random_state=0),
    "rbf SVM": SVC(C=5),
}


def pipeline(vectoriser, classifier):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(VECTORISERS[vectoriser], CLASSIFIERS[classifier]).fit(TEXTS, CLASSES)


def is_possible(vectoriser, classifier):
    return not (vectoriser == "hashed pairs" and classifier == "naive Bayes")


PAIRS = [(each, other) for each in VECTORISERS for other in CLASSIFIERS if is_possible(each, other)]
WAYS = [("word", "delete"), ("occurrence", "delete"), ("word", "mask"), ("occurrence", "mask")]


@pytest.mark.parametrize(("vectoriser", "classifier"), PAIRS)
def test_scores_are_those_of_the_really_cut_text(vectoriser, classifier):
    model = pipeline(vectoriser, classifier)
    score = as_scorer(model).function
    rng = np.random.default_rng(0)
    n_formulas = 0
    for number, text in enumerate(TEXTS[:8]):
        unit, removal = WAYS[number % len(WAYS)]
        local = Explainer(model, removal=removal, unit=unit, mask_token="free").local_model(text)
        if local.kind == "black box":  # squares of counts that several units share
            assert classifier == "rbf SVM"
            continue
        n_formulas += 1
        removed = rng.random((10, local.n_features)) < rng.random((10, 1))
        removed[0], removed[1] = False, True
        expected = score(local._row.without(removed))
        np.testing.assert_allclose(local.reported(local.scores(removed)), expected, rtol=1e-9, atol=1e-9)
        some, others = tuple(np.flatnonzero(removed[2])), np.flatnonzero(~removed[2])
        sets = np.repeat(removed[2:3], len(others), axis=0)
        sets[np.arange(len(others)), others] = True
        expected = score(local._row.without(sets)) if len(others) else np.zeros(0)
        ours = local.reported(local.scores_with_each(some, others))
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    assert n_formulas or classifier == "rbf SVM"


def smallest(decide, local):
    """Try all sets, smallest first, on the model's own predict; return the size, or None."""
    everything = np.zeros((1, local.n_features), dtype=bool)
    own = decide(local._row.without(everything))[0]
    for size in range(1, local.n_features + 1):
        sets = np.array(
            [
                np.isin(np.arange(local.n_features), each)
                for each in combinations(range(local.n_features), size)
            ]
        )
        if (decide(local._row.without(sets)) != own).any():
            return size
    return None


@pytest.mark.parametrize(("vectoriser", "classifier"), PAIRS)
def test_certified_is_brute_force(vectoriser, classifier):
    model = pipeline(vectoriser, classifier)
    for number, text in enumerate(TEXTS[8:14]):
        unit, removal = WAYS[number % len(WAYS)]
        explainer = Explainer(model, removal=removal, unit=unit, mask_token="now", search="certified")
        why, local = explainer.explain(text), explainer.local_model(text)
        if local.kind == "black box":
            continue
        expected = smallest(model.predict, local)
        assert why.status == ("none" if expected is None else "found")
        assert why.size == (expected or 0)
        assert why.status == "none" or why.proven_minimum


def assert_smallest(model, kind):
    """Hold certified answers of some texts against brute force; the local model must be of this kind."""
    explainer = Explainer(model, removal="delete", search="certified")
    for text in TEXTS[:6]:
        why, local = explainer.explain(text), explainer.local_model(text)
        assert local.kind == kind
        assert why.size == (smallest(model.predict, local) or 0)


def test_several_classes():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, len(TEXTS))
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=9)).fit(TEXTS, classes)
    assert_smallest(model, "linear")


@pytest.mark.parametrize(
    "rest",
    [
        make_pipeline(TruncatedSVD(5, random_state=0), LogisticRegression()),
        CalibratedClassifierCV(LinearSVC(), cv=2),
    ],
    ids=["projection", "calibrated"],
)
def test_what_stands_between_the_vectoriser_and_the_decision(rest):
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), rest).fit(TEXTS, CLASSES)
    assert_smallest(model, "linear")


def test_trees_on_counts_of_cut_texts():
    model = make_pipeline(CountVectorizer(), RandomForestClassifier(9, random_state=0)).fit(TEXTS, CLASSES)
    assert_smallest(model, "tree ensemble")


def test_many_words_in_a_row_are_cut():
    """Pairs are looked for across a few removed words at first, then across more, then in the text itself."""
    words = [f"{a}{b}" for a in "abcdefgh" for b in "stuvwxyz"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation(words)[:50]) for _ in range(80)]
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression())
    model.fit(texts, rng.integers(0, 2, len(texts)))
    local = Explainer(model, removal="delete").local_model(texts[0])
    removed = np.zeros((4, local.n_features), dtype=bool)
    for row, length in zip(removed, (3, 6, 20, 45), strict=True):
        row[2 : 2 + length] = True
    expected = model.predict_proba(local._row.without(removed))[:, 1]
    np.testing.assert_allclose(local.reported(local.scores(removed)), expected, rtol=1e-9)
    some = tuple(np.flatnonzero(removed[2]))
    others = np.flatnonzero(~removed[2])
    sets = np.repeat(removed[2:3], len(others), axis=0)
    sets[np.arange(len(others)), others] = True
    expected = model.predict_proba(local._row.without(sets))[:, 1]
    np.testing.assert_allclose(local.reported(local.scores_with_each(some, others)), expected, rtol=1e-9)


def test_a_bound_method_of_a_pipeline_is_the_pipeline():
    model = pipeline("pairs", "logistic regression")
    for method, threshold in ((model.decision_function, 0.0), (model.predict_proba, 0.5)):
        explainer = Explainer(method, removal="delete", threshold=threshold)
        assert explainer.local_model(TEXTS[0]).kind == "linear"
        assert explainer.explain(TEXTS[0]).size == Explainer(model, removal="delete").explain(TEXTS[0]).size
    for method in (model.decision_function, model.predict_proba):
        assert Explainer(method).explain(TEXTS[0]).size == Explainer(model).explain(TEXTS[0]).size


def test_a_size_limit_and_costs_hold_behind_a_norm():
    model = pipeline("pairs", "linear SVM")
    costs = {word: 1.0 + number for number, word in enumerate(WORDS)}
    for text in TEXTS[:8]:
        why = Explainer(model, removal="delete", budget=Budget(max_size=2)).explain(text)
        assert why.size <= 2
        explainer = Explainer(model, removal="delete", costs=costs, search="certified")
        cheapest, local = explainer.explain(text), explainer.local_model(text)
        own = model.predict([text])[0]
        flipping = [
            sum(local.costs[list(each)])
            for size in range(1, local.n_features + 1)
            for each in combinations(range(local.n_features), size)
            if model.predict(local._row.without(np.isin(np.arange(local.n_features), each)[np.newaxis]))[0]
            != own
        ]
        assert cheapest.cost == pytest.approx(min(flipping, default=0.0))
