from dataclasses import replace

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC
from tiny import DATASETS as TINY

from butfor import InputError
from butfor.study import models
from butfor.study.datasets import split
from butfor.study.models import MODELS, StudyModel, fit, scored_by, scores
from butfor.study.prepare import prepare, threshold_for
from butfor.study.registry import Registry

DATA = TINY["tiny"].load()
X, y = DATA.X, DATA.y


def prepared(tmp_path, model="logistic", *, dataset=TINY["tiny"], data=DATA, seed=0):
    known = Registry({"tiny": dataset}, MODELS, {})
    return prepare("tiny", known, data, model, seed=seed, cache=tmp_path)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.floats(0, 1))
def test_no_threshold_comes_closer_to_the_share(values, share):
    score = np.array(values, dtype=float)
    threshold = threshold_for(score, share)
    distance = abs(np.mean(score >= threshold) - share)
    inner = [
        (low + high) / 2 for low, high in zip(sorted(set(values)), sorted(set(values))[1:], strict=False)
    ]
    assert all(distance <= abs(np.mean(score >= other) - share) + 1e-12 for other in inner)


def test_rows_to_explain_are_test_rows_that_the_model_predicts_positive(tmp_path):
    ready = prepared(tmp_path)
    _, test = split(X.shape[0])
    score = ready.classifier.predict_proba(X[test])[:, 1]
    assert set(ready.rows) == set(test[score >= ready.case.threshold])
    assert (X[ready.rows] != ready.X).nnz == 0
    assert ready.case.n_positive == len(ready.rows)
    assert ready.case.auc == pytest.approx(roc_auc_score(y[test], score))
    assert ready.case.mean_active == pytest.approx((X[ready.rows] != 0).sum(axis=1).mean())
    assert ready.case.sparsity_percent == pytest.approx(100 * (X.toarray() == 0).mean())


def test_the_seed_shuffles_the_rows_only(tmp_path):
    one, other = prepared(tmp_path), prepared(tmp_path, seed=1)
    assert set(one.rows) == set(other.rows)
    assert list(one.rows) != list(other.rows)


def test_a_model_is_fitted_once_for_the_same_content(tmp_path, monkeypatch):
    first = prepared(tmp_path)
    monkeypatch.setattr("butfor.study.prepare.fit", None)  # would raise if it were called
    again = prepared(tmp_path)
    assert again.case == first.case
    with pytest.raises(TypeError):
        prepared(tmp_path, data=replace(DATA, y=1 - y))
    with pytest.raises(TypeError):
        prepared(tmp_path, dataset=replace(TINY["tiny"], share=0.3))


def test_another_code_of_an_added_model_is_fitted_anew(tmp_path):
    def mine(additions):
        model = StudyModel("mine", linear=True, candidates=lambda: [LogisticRegression()])
        known = Registry({"tiny": TINY["tiny"]}, {"mine": model}, {}, additions)
        return prepare("tiny", known, DATA, "mine", seed=0, cache=tmp_path).case

    assert mine("a").fingerprint == mine("a").fingerprint != mine("b").fingerprint


def test_words_are_those_of_now_not_of_the_cache(tmp_path):
    prepared(tmp_path)
    renamed = replace(TINY["tiny"], target="something else")
    assert prepared(tmp_path, dataset=renamed).case.target == "something else"


@pytest.mark.parametrize("share", [0, 1, 20])
def test_a_share_that_is_none(tmp_path, share):
    with pytest.raises(InputError, match="share of tiny must be between 0 and 1"):
        prepared(tmp_path, dataset=replace(TINY["tiny"], share=share))


def test_a_test_part_of_one_class_has_no_auc(tmp_path):
    _, test = split(X.shape[0])
    one_class = y.copy()
    one_class[test] = 0
    assert np.isnan(prepared(tmp_path, data=replace(DATA, y=one_class)).case.auc)


def test_half_a_cache_file_is_never_taken(tmp_path, monkeypatch):
    def dump(prepared, path):
        path.write_text("half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(joblib, "dump", dump)
        with pytest.raises(KeyboardInterrupt):
            prepared(tmp_path)
    assert prepared(tmp_path).case.n_positive


def test_tuned_on_a_quarter_by_auc_and_fitted_on_all(monkeypatch):
    seen = []

    class Watched(LogisticRegression):
        def fit(self, X, y):
            seen.append((self.C, X.shape[0]))
            return super().fit(X, y)

        def predict_proba(self, X):
            good = super().predict_proba(X)
            return good if self.C == 1.0 else 1 - good  # the others are as bad as can be

    candidates = [Watched(C=0.5), Watched(C=1.0), Watched(C=2.0)]
    model = StudyModel("watched", linear=True, candidates=lambda: candidates)
    classifier, parameters = fit(model, X, y)
    assert [n for _, n in seen] == [150, 150, 150, 200]
    assert (classifier.C, parameters) == (1.0, "C=1.0")
    assert seen[-1][0] == 1.0


def test_a_single_candidate_is_not_tuned():
    model = StudyModel("one", linear=True, candidates=lambda: [LogisticRegression()])
    assert fit(model, X, y)[1] == ""


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_is_scored_as_the_explainer_sees_it(name):
    from butfor import Explainer

    classifier, _ = fit(MODELS[name], X, y)
    score = scores(classifier, X)
    assert roc_auc_score(y, score) > 0.7
    explainer = Explainer(scored_by(classifier), threshold=float(np.median(score)), search="lin-sedc")
    assert explainer.explain(X[[3]]).score == pytest.approx(score[3])


def test_the_papers_two_for_each_kind():
    two = {kind: [m.linear for m in MODELS.values() if m.of_paper == kind] for kind in ("behaviour", "text")}
    assert two == {"behaviour": [True, False], "text": [True, False]}


def test_decision_values_where_there_are_no_probabilities():
    svm = LinearSVC().fit(X, y)
    assert np.array_equal(models.scores(svm, X), svm.decision_function(X))
