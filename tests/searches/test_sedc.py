import numpy as np
import pytest
from toys import bits, conjunction, constant

from butfor import SEDC, Budget, Explainer, InputError

# A worked example of Algorithm 1 with four features. Scores by what is removed; the threshold is 0.5.
SCORES = {
    "": 1.0,
    "a": 0.9, "b": 0.8, "c": 0.8, "d": 1.0,
    "ab": 0.85, "bc": 0.82, "bd": 0.95,
    "ac": 0.7, "cd": 0.75,
    "ad": 0.97,
    "abc": 0.45, "acd": 0.3,
}  # fmt: skip
ITERATIONS = [
    ["a", "b", "c", "d"],  # all single removals: none flips, b and c tie, b is the lower feature
    ["ab", "bc", "bd"],  # expand b; now c (0.8) is lower than all of these
    ["ac", "cd"],  # expand c: bc was generated before
    ["abc", "acd"],  # expand ac: both flip, acd drops further
]


class Recorder:
    """Score rows from the table above and write down what was asked, call by call."""

    def __init__(self):
        self.calls = []

    def __call__(self, X):
        asked = ["".join(np.array(list("abcd"))[gone]) for gone in ~bits(X)]
        self.calls.append(asked)
        return [SCORES[removed] for removed in asked]


def explain(max_iterations=50, max_size=30):
    model = Recorder()
    explainer = Explainer(
        model,
        feature_names=list("abcd"),
        threshold=0.5,
        search=SEDC(max_iterations=max_iterations),
        budget=Budget(max_size=max_size),
    )
    return explainer.explain(np.ones(4)), model.calls


def test_it_follows_algorithm_1_step_by_step():
    why, calls = explain()
    # the row itself first, the confirmation last; the way to it is known
    assert calls == [[""], *ITERATIONS, ["", "acd"]]
    assert why.features == ("c", "a", "d")
    assert why.score_without == 0.3
    assert why.n_scored == 11
    assert why.lower_bound == 2


def test_it_stops_after_max_iterations():
    why, calls = explain(max_iterations=3)
    assert calls == [[""], *ITERATIONS[:3], [""]]  # the row once more at last
    assert why.status == "budget"
    assert why.reason == "max_iterations=3 reached"


def test_a_set_of_the_largest_size_is_not_expanded():
    why, calls = explain(max_size=2)
    assert calls == [[""], *ITERATIONS[:3], ["ad"], [""]]  # then a; d has no new pair left
    assert why.status == "none"
    assert why.lower_bound == 3


def test_an_exhausted_frontier_is_a_proof():
    why = Explainer(constant, threshold=0.5, search="sedc").explain(np.ones(4))
    assert why.status == "none"
    assert why.lower_bound == 5
    assert why.n_scored == 15  # every set once


def test_bounds_grow_with_complete_sizes():
    why = Explainer(constant, threshold=0.5, search=SEDC(max_iterations=1)).explain(np.ones(4))
    assert (why.status, why.lower_bound) == ("budget", 2)
    why = Explainer(constant, threshold=0.5, search=SEDC(max_iterations=4)).explain(np.ones(4))
    assert (why.status, why.lower_bound) == ("budget", 3)  # all pairs of four: three expansions


def test_ties_go_to_the_lower_feature():
    assert Explainer(conjunction, threshold=0.5, search="sedc").explain(np.ones(6)).columns == (0,)


@pytest.mark.parametrize("max_iterations", [0, -1, 2.5, None, True])
def test_nonsense_limits(max_iterations):
    with pytest.raises(InputError, match="max_iterations must be a whole number of at least 1, got"):
        SEDC(max_iterations=max_iterations)


def test_one_model_call_per_expansion_on_a_large_matrix():
    from sklearn.linear_model import LogisticRegression

    from butfor.datasets import load_moviegoers

    people = load_moviegoers(n_people=6_000, n_films=3_700)
    assert people.X.shape == (6_000, 3_700)
    model = LogisticRegression().fit(people.X, people.y)
    calls, expansions = [], []

    def score(X):
        calls.append(X.shape[0])
        return model.predict_proba(X)[:, 1]

    def counting_sedc(local, budget, seed):
        for finding in SEDC()(local, budget, seed):
            expansions.append(finding)
            yield finding

    explainer = Explainer(score, threshold=0.5, search=counting_sedc)
    positives = np.flatnonzero(model.predict_proba(people.X)[:, 1] >= 0.5)[:30]
    sizes = [explainer.explain(people.X[[i]]).size for i in positives]
    assert max(sizes) > 3
    # Besides, each row is scored once before, and its answer confirmed once.
    assert len(calls) == len(expansions) + 2 * len(positives)
