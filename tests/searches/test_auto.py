import numpy as np
import pytest
from handmade import logistic_regression, mlp
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy import sparse
from toys import constant, needle, set_function

from butfor import Auto, Budget, Explainer, InputError
from butfor.searches import auto as auto_module
from butfor.searches.shared.proving import prove_at_once


def test_it_is_never_larger_than_sedc(moviegoers):
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((10,), tol=0.01, random_state=0).fit(moviegoers.X, moviegoers.y)
    rows = np.flatnonzero(model.predict_proba(moviegoers.X)[:, 1] >= 0.5)[:100]
    auto, sedc = (Explainer(model, search=search) for search in ("auto", "sedc"))
    for i in rows:
        ours, theirs = auto.explain(moviegoers.X[[i]]), sedc.explain(moviegoers.X[[i]])
        assert ours
        assert ours.size <= theirs.size or not theirs
        assert ours.lower_bound >= theirs.lower_bound


def test_it_finds_a_needle_that_the_heuristics_miss():
    assert not Explainer(needle, threshold=0.5, search="lin-sedc").explain(np.ones(6))
    why = Explainer(needle, threshold=0.5).explain(np.ones(6))
    assert sorted(why.columns) == [1, 3, 5]
    assert why.proven_minimum


def test_the_proof_is_bought_only_where_it_is_cheap():
    def score(X):
        return np.asarray(X.sum(axis=1)).ravel()

    why = Explainer(score, threshold=14.5, search=Auto(max_proof_scorings=250)).explain(np.ones(20))
    assert (why.status, why.size, why.lower_bound) == ("found", 6, 3)  # 190 pairs are cheap, triples are not
    assert why.reason == 'a proof takes 21,489 scorings; search="complete" goes on to max_seconds'
    assert why.n_scored < 500


def test_without_an_answer_all_sets_are_scored():
    why = Explainer(constant, threshold=0.5, search=Auto(max_proof_scorings=50)).explain(np.ones(12))
    assert (why.status, why.lower_bound, why.reason) == ("none", 13, "")
    assert why.n_scored < 2 * 2**12


def hidden(X):
    """A set of three among 14 features, without which the score falls; nothing leads there."""
    return 1.0 - (X.toarray()[:, [9, 11, 13]] == 0).all(axis=1)


@pytest.mark.parametrize("costs", [None, {9: 2.0}])
def test_without_an_answer_sedc_goes_on(costs):
    names = list(range(14))
    costs = costs and {f"feature {name}": 1.0 + costs.get(name, 0.0) for name in names}
    assert not Explainer(hidden, threshold=0.5, search="sedc").explain(np.ones(14))
    why = Explainer(hidden, threshold=0.5, costs=costs, search=Auto(max_proof_scorings=50)).explain(
        np.ones(14)
    )
    assert set(why.columns) == {9, 11, 13}
    if costs:
        assert why.reason == "max_proof_scorings=50 reached; a larger one proves more"
    else:
        assert why.reason == 'a proof takes 91 scorings; search="complete" goes on to max_seconds'


@pytest.mark.parametrize("costs", [None, {"feature 0": 2.0}])
def test_without_an_answer_the_whole_time_is_used_and_the_reason_says_what_to_try(clock, costs):
    def score(X):
        clock.seconds += 1e-3 * X.shape[0]
        return constant(X)

    explainer = Explainer(score, threshold=0.5, costs=costs, budget=Budget(max_seconds=20))
    why = explainer.explain(np.ones(40))
    assert why.status == "budget"
    assert why.n_scored > 10_000
    assert clock.seconds >= 20
    other = "" if costs else ', search="lime-sedc"'
    assert why.reason == f"max_seconds=20 reached; try a larger max_seconds{other} or groups of features"


def test_equally_small_sets_are_told_apart_by_their_score():
    """Of all sets that were scored, flip and are as small as the answer, it has the lowest score."""
    n_others = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights, bends = rng.normal(1.0, 1.0, size=12), rng.normal(size=(12, 4))
        scored = {}

        def score(X, weights=weights, bends=bends, scored=scored):
            scores = X @ weights + 3 * np.tanh(X @ bends).sum(axis=1)
            scored.update(zip(map(tuple, X.toarray()), scores.tolist(), strict=True))
            return scores

        threshold = float(score(sparse.csr_matrix(np.ones((1, 12))))[0]) - 5.0
        why = Explainer(score, threshold=threshold).explain(np.ones(12))
        as_small = [s for row, s in scored.items() if 12 - sum(row) == why.size and s < threshold]
        assert why.score_without == min(as_small, default=why.score_without)
        n_others += len(as_small) > 1
    assert n_others >= 3


def test_what_is_proven_ends_the_search():
    score = {0b111: 9, 0b110: 5, 0b101: 6, 0b011: 7, 0b100: 3, 0b010: 1}
    table = np.array([score.get(kept, 9) for kept in range(8)], dtype=float)
    why = Explainer(set_function(table), threshold=4).explain(np.ones(3))
    assert set(why.columns) == {0, 1}  # no single feature flips, so two are the minimum
    assert why.proven_minimum
    assert why.n_scored <= 6  # the three single ones, and the three prefixes of their ranking


def test_what_the_proof_finds_needs_no_excuse(monkeypatch):
    # An exclusive or of two features: removing one of them is an answer, or only both are, or nothing is.
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    X = (rng.random((400, 6)) < 0.5).astype(float)
    model = MLPClassifier((8,), max_iter=500, tol=1e-3, random_state=0).fit(X, X[:, 0] != X[:, 1])
    asked = []

    def counted(local, budget, best):
        asked.append(len(best.removed))
        return prove_at_once(local, budget, best)

    monkeypatch.setattr(auto_module, "prove_at_once", counted)
    statuses = set()
    for row in X[:60]:
        asked.clear()
        why = Explainer(model).explain(row)
        statuses.add(why.status)
        assert why.proven_minimum or why.status == "none"
        assert why.reason == ""
        assert len(asked) == len(set(asked))  # the same question is never asked twice
    assert statuses == {"found", "none"}


def test_a_quick_answer_stands_when_time_runs_out(clock):
    def score(X):
        clock.seconds += 1
        return np.asarray(X.sum(axis=1)).ravel()

    explainer = Explainer(score, threshold=4.5, budget=Budget(max_seconds=3.5))
    why = explainer.explain(np.ones(8))
    assert why.status == "found"  # after four calls: the row, the single removals, prefixes of two and four
    assert why.size == 4
    assert why.reason == "max_seconds=3.5 reached"


def test_nonsense_limits():
    with pytest.raises(InputError, match="max_proof_scorings must be a whole number of at least 1, got 0"):
        Auto(max_proof_scorings=0)


@n_examples(150)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 12), known=st.booleans(), max_size=st.integers(1, 12))
def test_it_is_never_larger_than_sedc_on_small_networks(seed, m, known, max_size):
    rng = np.random.default_rng(seed)
    model = mlp(
        (rng.normal(size=(m, 4)), rng.normal(size=4)), (2 * rng.normal(size=(4, 1)), [0.0]), activation="tanh"
    )
    scorer = model if known else lambda X: model.predict_proba(X)[:, 1]
    sizes = {}
    for search in ("sedc", "auto"):
        explainer = Explainer(scorer, threshold=0.5, search=search, budget=Budget(max_size=max_size))
        why = explainer.explain(np.ones(m))
        assert why.local_model == ("neural network" if known else "black box")
        sizes[search] = why.size if why else np.inf
    assert sizes["auto"] <= sizes["sedc"]


def test_where_there_are_bounds_it_is_certified():
    rng = np.random.default_rng(0)
    for _ in range(50):
        model = logistic_regression(rng.normal(size=40), -1.0)
        why = Explainer(model).explain(rng.integers(0, 2, 40))
        certified = Explainer(model, search="certified").explain(rng.integers(0, 2, 40))
        for each in (why, certified):
            assert each.proven_minimum or each.status == "none"


@pytest.mark.parametrize("argument", ["max_proof_seconds", "max_proof_scorings"])
def test_bad_parameters(argument):
    with pytest.raises(InputError, match=f"{argument} must be"):
        Auto(**{argument: -1})
