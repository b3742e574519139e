"""Regions of models behind norms, on rows and on texts, with their true scores on every set."""

import random
import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from regions import Excess, judge, lost_from
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from butfor import Explainer

WORDS = ["free", "prize", "call", "now", "mum", "win"]


def short_texts(rng, n):
    return [" ".join(rng.choice(WORDS, rng.integers(2, 8))) for _ in range(n)]


def network(*hidden, activation="relu"):
    return MLPClassifier(hidden, activation=activation, max_iter=40, learning_rate_init=0.05, random_state=0)


TEXT_MODELS = {
    "linear": make_pipeline(TfidfVectorizer(), LinearSVC(C=5)),
    "linear, pairs": make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC(C=5)),
    "linear, l1 pairs": make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), norm="l1"), LogisticRegression(C=50)
    ),
    "linear, sublinear triples": make_pipeline(
        TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True), LinearSVC(C=5)
    ),
    "linear, bits of pairs": make_pipeline(CountVectorizer(ngram_range=(1, 2), binary=True), LinearSVC()),
    "linear, hashed": make_pipeline(HashingVectorizer(n_features=8, ngram_range=(1, 2)), LinearSVC(C=5)),
    "linear, two vectorisers": make_pipeline(
        make_union(TfidfVectorizer(ngram_range=(1, 2)), TfidfVectorizer(analyzer="char_wb")), LinearSVC(C=5)
    ),
    "network": make_pipeline(TfidfVectorizer(), network(6)),
    "network, pairs": make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), network(6)),
    "deep network, sublinear pairs": make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), network(5, 4, activation="tanh")
    ),
}
ROW_MODELS = {
    "linear, values of both signs": make_pipeline(Normalizer(), LinearSVC(C=5)),
    "network, values of both signs": make_pipeline(Normalizer(), network(5, activation="logistic")),
    "linear, max norm": make_pipeline(Normalizer("max"), LinearSVC(C=5)),
    "network, max norm": make_pipeline(Normalizer("max"), network(5)),
    "linear, two norms": make_pipeline(make_union(Normalizer(), Normalizer("l1")), LinearSVC(C=5)),
}
KERNELS = {
    "rbf": make_pipeline(Normalizer(), SVC(C=5, gamma=1.0)),
    "poly": make_pipeline(Normalizer(), SVC(C=5, kernel="poly", degree=3, gamma=1.0, coef0=0.5)),
    "sigmoid": make_pipeline(Normalizer(), SVC(C=5, kernel="sigmoid", gamma=0.7)),
}


@cache
def fitted(name):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in TEXT_MODELS:
            return TEXT_MODELS[name].fit(short_texts(rng, 60), rng.integers(0, 2, 60))
        X = random_rows(rng, 60)
        return (ROW_MODELS | KERNELS)[name].fit(X, X.sum(axis=1) + rng.normal(size=60) > 0)


def random_rows(rng, n):
    return np.where(rng.random((n, 7)) < 0.7, rng.normal(size=(n, 7)), 0.0)


@dataclass(frozen=True)
class Problem:
    """A region; the excess over the limit, times what the region multiplies it by; the norms of sets."""

    region: object
    excess: Excess
    norms: Excess


def problem(name, seed):
    """Return a random row or text of a model, with a threshold among its scores or near them."""
    rng = np.random.default_rng(seed)
    model = fitted(name)
    if name in TEXT_MODELS:
        unit = str(rng.choice(["word", "occurrence"]))
        passed, options = short_texts(rng, 1)[0], {"removal": "delete", "unit": unit}
    else:
        passed, options = sparse.csr_matrix(random_rows(rng, 1)), {}
    score = model.decision_function if hasattr(model, "decision_function") else model.predict_proba
    local = Explainer(score, threshold=0.5, **options).local_model(passed)
    if local.kind == "black box" or local.n_features == 0:
        return None
    scores = local.reported(local.scores(rng.random((20, local.n_features)) < 0.4))
    threshold = float(rng.choice(scores) + rng.choice([0.0, 1e-9, 0.05, -0.05]))
    if "predict_proba" in repr(score):
        threshold = min(max(threshold, 1e-3), 1 - 1e-3)
    local = Explainer(score, threshold=threshold, **options).local_model(passed)
    k = int(rng.integers(1, local.n_features + 1))
    region = local.regions(k)[0]
    affine, _ = local._reaching(k)  # whose norms hold for all sets of the region
    ratios = affine.ratios

    def excess(removed):
        return local._sign * local.network.value(affine.without(removed > 0)) - local._limit

    def norm(removed):
        return affine.raw_without(removed > 0)[:, ratios.norm_at.get(0, 0)]

    def times_norm(removed):
        if ratios.norms not in (("l1",), ("l2",), ("max",)):
            return excess(removed)
        root = ratios.norms == ("l2",) and name not in KERNELS
        return excess(removed) * (np.sqrt(np.maximum(norm(removed), 0.0)) if root else norm(removed))

    n = local.n_features
    return Problem(region, Excess(n, times_norm), Excess(n, norm))


def follow_norms(each, seed):
    """Judge a region, what is left of it, and its halves, which may be halves of the range of a norm."""
    region, choice = each.region, random.Random(seed)
    for level in range(4):
        low, high = region.norm_range

        def within(removed, low=low, high=high):
            norms = each.norms(removed)
            outside = (norms < low * (1 - 1e-9)) | (norms > high * (1 + 1e-9))
            return np.where(outside, np.inf, each.excess(removed))

        region, flipping = judge(region, Excess(each.excess.n_features, within), everywhere=level == 0)
        if region is None or not region.k:
            return
        halves = region.halves()
        if all(half.norm_range == region.norm_range for half in halves):
            assert not {one for one in flipping if all(one in lost_from(half, {one}) for half in halves)}
        else:
            (low, middle), (other, high) = (half.norm_range for half in halves)
            assert low < middle == other < high
            assert all(lost_from(half, flipping) == set() for half in halves)
        if not halves:
            return
        region = choice.choice(halves)
        region = replace(region, candidate=np.zeros(len(region.free), dtype=bool))
