"""What every search must do, judged by brute force and by the model itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy.sparse import csr_matrix
from toys import ALL, TOYS, set_function

from butfor import SEARCHES, Budget, Explainer
from butfor.verify import brute_force_minimum, is_counterfactual


def judge(score, row, threshold, search, max_size=30):
    """Explain a row and hold the answer against brute force."""
    explainer = Explainer(score, threshold=threshold, search=search, budget=Budget(max_size=max_size), seed=3)
    why = explainer.explain(row)
    minimum = brute_force_minimum(score, row, threshold=threshold, max_size=max_size)
    smallest = len(minimum[0]) if minimum else None
    assert why.score == score_of(score, row, ())
    if why.status == "found":
        assert is_counterfactual(score, row, why.columns, threshold=threshold)
        assert why.score_without == pytest.approx(score_of(score, row, why.columns))
        assert why.size >= why.lower_bound
        assert why.size <= max_size or search == "random"
        if smallest is not None:
            assert why.lower_bound <= smallest <= why.size
        if why.proven_minimum:
            assert why.size == smallest
    elif why.status == "none":
        assert smallest is None
    else:
        assert why.reason
        assert smallest is None or why.lower_bound <= smallest
    assert bool(why) == (why.status == "found") == (why.size > 0)
    return why, smallest


def score_of(score, row, removed):
    changed = np.array(row, dtype=float)
    changed[list(removed)] = 0
    try:
        return score(changed[np.newaxis])[0]
    except AttributeError:  # it takes CSR only
        return score(csr_matrix(changed))[0]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_on_toys_with_known_answers(toy, search):
    _, smallest = judge(toy.score, toy.row, toy.threshold, search)
    assert smallest == toy.minimum


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_the_size_limit_holds(toy, search):
    for max_size in (1, 2):
        judge(toy.score, toy.row, toy.threshold, search, max_size)


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
@pytest.mark.parametrize("search", ["complete", "auto"])
def test_small_rows_are_done_with_proof(toy, search):
    why, smallest = judge(toy.score, toy.row, toy.threshold, search)
    assert why.status == ("none" if smallest is None else "found")
    assert why.proven_minimum == (smallest is not None)


@st.composite
def set_functions(draw):
    """Any function of up to eight bits, with many ties, a threshold it often meets, and a row."""
    m = draw(st.integers(1, 8))
    values = draw(st.lists(st.integers(0, 4), min_size=2**m, max_size=2**m))
    threshold = draw(st.sampled_from([0.0, 1.0, 2.0, 2.5, 4.0, 5.0]))
    row = draw(st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=m, max_size=m))
    return set_function(np.array(values, dtype=float)), threshold, row


@pytest.mark.parametrize("search", SEARCHES)
@n_examples(150)
@given(case=set_functions())
def test_on_any_set_function(search, case):
    score, threshold, row = case
    why, smallest = judge(score, row, threshold, search)
    if search in ("complete", "auto"):  # at most 255 sets: both must prove it
        assert why.status == ("none" if smallest is None else "found")
        assert why.size == (smallest or 0)


@pytest.mark.parametrize("search", SEARCHES)
@n_examples(60)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 10))
def test_on_random_networks(search, seed, m):
    rng = np.random.default_rng(seed)
    inner, outer = rng.normal(size=(m, 4)), rng.normal(size=4)

    def score(X):
        return np.tanh(X @ inner) @ outer

    row = rng.choice([0.0, 1.0, 2.0, -1.0], size=m, p=[0.1, 0.5, 0.2, 0.2])
    judge(score, row, float(rng.normal(scale=0.5)), search)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_same_seed_gives_the_same_answer(moviegoers, club_model, search):
    budget = Budget(max_size=2)

    def answers(seed):
        explainer = Explainer(club_model, search=search, budget=budget, seed=seed)
        return [explainer.explain(moviegoers.X[[i]]).columns for i in range(20)]

    first = answers(7)
    assert answers(7) == first
    assert any(first)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_row_of_thousands_of_active_features(search):
    weights = np.linspace(1, 2, 2_000)
    # Complete search would never be done; the others must not depend on how fast the machine is.
    budget = Budget(max_size=3, max_seconds=1 if search == "complete" else 120)
    explainer = Explainer(lambda X: X @ weights, threshold=weights.sum() - 5.9, search=search, budget=budget)
    why = explainer.explain(np.ones(2_000))
    assert why.n_active == 2_000
    if search in ("auto", "sedc", "lin-sedc"):
        assert set(why.columns) == {1_997, 1_998, 1_999}
    elif search == "complete":
        assert (why.status, why.reason) == ("budget", "max_seconds=1 reached")


def test_every_search_is_in_the_contract():
    from butfor import searches

    classes = {type(search) for search in SEARCHES.values()}
    named = {value for value in vars(searches).values() if hasattr(value, "name") and isinstance(value, type)}
    assert classes == named


def test_everything_may_have_to_go():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=1.0, search="complete")
    assert explainer.explain(ALL).size == 6
