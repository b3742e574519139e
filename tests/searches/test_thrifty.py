import numpy as np
import pytest
from toys import constant

from butfor import Budget, Explainer, InputError, Thrifty
from butfor.verify import is_counterfactual


def counted(score):
    """A function that writes down which rows it was asked about, row by row."""
    asked = []

    def model(X):
        asked.extend(row.tobytes() for row in X.toarray())
        return score(X)

    return model, asked


def test_no_set_is_asked_about_twice_but_to_confirm_it():
    rng = np.random.default_rng(0)
    weights, bends = rng.normal(size=60), rng.normal(size=(60, 20))
    for threshold in (0.2, 0.35, 0.5):
        model, asked = counted(lambda X: 1 / (1 + np.exp(-X @ weights - np.tanh(X @ bends).sum(axis=1))))
        for search in ("thrifty", "auto"):
            asked.clear()
            why = Explainer(model, threshold=threshold, search=search).explain(np.ones(60))
            again = len(asked) - len(set(asked))
            assert again == (2 if why else 1)  # the row, and its answer
            assert why.n_asked == len(asked)


def test_the_minimum_of_a_network_in_few_scorings(moviegoers):
    """Judged by the proof that the network's formula allows."""
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((20,), tol=0.01, random_state=0).fit(moviegoers.X, moviegoers.y)
    proven = Explainer(model)
    asked = Explainer(lambda X: model.predict_proba(X)[:, 1], threshold=0.5, search="thrifty")
    at_minimum, scorings, units = [], 0, 0
    for i in range(60):
        best, why = proven.explain(moviegoers.X[[i]]), asked.explain(moviegoers.X[[i]])
        if best.proven_minimum:
            at_minimum.append(why.size == best.size)
            scorings += why.n_scored
            units += why.n_active + 10
    assert len(at_minimum) > 20
    assert np.mean(at_minimum) >= 0.98
    assert scorings <= 1.3 * units


def test_where_units_do_nothing_alone_and_all_of_them_flip_an_answer_is_still_small():
    """The ranking has the units that matter at its end, and the model of scores gives up at once."""

    def score(X):
        gone = X.toarray() == 0
        alone = 1e-5 * gone @ (np.arange(20, 0, -1) - 15.5) / 20
        return 0.996 - alone - 0.992 * gone[:, 15:].all(axis=1)

    assert Explainer(score, threshold=0.5, search="thrifty").explain(np.ones(20)).size == 5


def test_a_ranking_that_does_not_lead_to_a_flip_is_no_end():
    """Each unit of the answer does nothing alone, and the units that do something are no help."""

    def score(X):
        gone = X.toarray() == 0
        return 1.0 - 0.01 * gone[:, :20].sum(axis=1) - 0.5 * (gone[:, 20:].sum(axis=1) >= 3)

    why = Explainer(score, threshold=0.5, search="thrifty").explain(np.ones(26))
    assert why
    assert is_counterfactual(score, np.ones(26), why.columns, threshold=0.5)


def test_a_long_row_is_read_part_by_part():
    weights = np.zeros(3_000)
    weights[[700, 701, 2_000]] = 1.0
    explainer = Explainer(lambda X: X @ weights, threshold=0.5, search="thrifty")
    why = explainer.explain(np.ones(3_000))
    assert set(why.columns) == {700, 701, 2_000}
    assert why.n_scored < 500
    assert why.lower_bound == 1  # not every unit was removed alone
    assert "units of other parts were not removed alone" in why.reason


def test_sentences_are_the_parts_of_a_text():
    words = [f"word{i}" for i in range(400)]
    words[123], words[124] = "dreadful", "awful"
    text = ". ".join(" ".join(words[i : i + 20]) for i in range(0, 400, 20)) + "."
    asked = []

    def score(texts):
        asked.extend(texts)
        return [0.3 * ("dreadful" in text) + 0.3 * ("awful" in text) for text in texts]

    explainer = Explainer(score, threshold=0.2, removal="delete", search=Thrifty(max_singles=100))
    why = explainer.explain(text)
    assert set(why.features) == {"dreadful", "awful"}
    assert len(asked) < 80
    gone = [set(words) - set(each.replace(".", " ").split()) for each in asked[1:21]]
    assert sorted(map(len, gone)) == [20] * 20  # each sentence once


@pytest.mark.parametrize("max_scorings", [10, 20, 40, 60, 100, 300])
def test_the_limit_of_scorings_is_never_exceeded(max_scorings):
    weights = np.linspace(1, 2, 50)
    model, asked = counted(lambda X: X @ weights)
    budget = Budget(max_scorings=max_scorings, price=0.01)
    for search in ("auto", "thrifty", "sedc", "lime-c"):
        asked.clear()
        why = Explainer(model, threshold=65, budget=budget, search=search).explain(np.ones(50))
        assert len(asked) == why.n_asked <= max_scorings
        assert why.spent == pytest.approx(0.01 * len(asked))
        if why.status == "budget":
            assert why.reason == f"max_scorings={max_scorings} reached"
        if search in ("auto", "thrifty") and max_scorings >= 40:
            assert why


def test_without_an_answer_the_scorings_are_used_up():
    explainer = Explainer(constant, threshold=0.5, budget=Budget(max_scorings=500))
    why = explainer.explain(np.ones(40))
    assert why.status == "budget"
    assert why.reason.startswith("max_scorings=500 reached; try a larger max_scorings")
    assert why.n_asked == 499  # one was kept for an answer


def test_a_dear_model_is_not_asked_for_a_proof(clock):
    def score(X):
        clock.seconds += 0.01 * X.shape[0]
        return X @ np.linspace(1, 2, 50)

    why = Explainer(score, threshold=70.5).explain(np.ones(50))
    assert (why.status, why.size, why.lower_bound) == ("found", 3, 2)
    assert why.n_scored < 100  # all pairs of the 50 units are 1,225
    assert why.reason == 'a proof takes 1,225 scorings, some 12 s; search="complete" goes on to max_seconds'


def test_bad_parameters():
    for name in ("n_proposals", "max_singles"):
        with pytest.raises(InputError, match=f"{name} must be a whole number"):
            Thrifty(**{name: 0})
    with pytest.raises(InputError, match="max_scorings must be a whole number of at least 10, got 3"):
        Budget(max_scorings=3)
    with pytest.raises(InputError, match="price must be a positive number, got -1"):
        Budget(price=-1)


@pytest.mark.parametrize("max_scorings", [12, 16, 22, 30])
@pytest.mark.parametrize("threshold", [0.5, 1.5, -1.0])
def test_few_scorings_never_lead_to_an_answer_that_does_not_flip(max_scorings, threshold):
    """With so few scorings the row is read in parts; at a threshold of -1 nothing flips at all."""
    weights = np.zeros(20)
    weights[[3, 11]] = 1.0
    explainer = Explainer(
        lambda X: X @ weights, threshold=threshold, budget=Budget(max_scorings=max_scorings)
    )
    why = explainer.explain(np.ones(20))
    assert why.n_asked <= max_scorings
    assert bool(why) <= (threshold > 0)
    assert "did not confirm" not in why.reason
    if threshold == 1.5:
        assert why.status == "found" or max_scorings < 22


def with_sleepers(seed, m=14, n_sleepers=2):
    """A model whose units do more beside the strongest one; some make the decision firmer alone."""
    rng = np.random.default_rng(seed)
    weights = np.sort(rng.uniform(0.1, 1.0, size=m))[::-1]
    weights[rng.permutation(np.arange(3, m))[:n_sleepers]] = rng.uniform(-0.2, 0.0, size=n_sleepers)
    sleepers = weights <= 0

    def score(X):
        gone = X.toarray() == 0
        return 10.0 - gone @ weights - gone[:, 0] * (gone @ beside)

    beside = np.where(sleepers, 1.2, 0.3 * weights)
    enough = np.flatnonzero(~sleepers)[:6]
    threshold = 10.0 - (weights + beside)[enough].sum() + 0.01
    return score, threshold, set(np.flatnonzero(sleepers).tolist())


def test_units_that_matter_only_in_company_are_found():
    """Judged by scoring all sets: the smallest answers need units that speak against the decision alone.

    Some are missed: where the scores of a ranking's prefixes are as expected, the search ends without a look.
    """
    at_minimum = 0
    for seed in range(12):
        score, threshold, sleepers = with_sleepers(seed)
        best = Explainer(score, threshold=threshold, search="complete").explain(np.ones(14))
        why = Explainer(score, threshold=threshold, search="thrifty").explain(np.ones(14))
        assert best.proven_minimum
        assert sleepers & set(best.columns)
        assert why.size >= best.size
        at_minimum += why.size == best.size
    assert at_minimum >= 9


@pytest.mark.parametrize("sleeper", [25, 33, 59])
def test_a_first_answer_may_need_a_unit_that_does_nothing_alone(sleeper):
    """No four units of the ranking flip; with a unit of the far end in the place of one they do."""
    weights = np.linspace(1.0, 0.01, 60)
    weights[sleeper] = 0.0

    def score(X):
        gone = X.toarray() == 0
        return 10.0 - gone @ weights - 2.0 * gone[:, sleeper] * (gone[:, :5].sum(axis=1) >= 2)

    explainer = Explainer(score, threshold=5.5, search="thrifty", budget=Budget(max_size=4))
    why = explainer.explain(np.ones(60))
    assert sleeper in why.columns
    assert why.size == 4
    assert why.n_scored <= 2 * (60 + 10)


def averaged(seed, m):
    """A mean over the units that are left: what one unit does depends on how many others there are."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(-0.5, 1.0, size=m)

    def score(X):
        bits = X.toarray()
        return (bits @ weights) / np.sqrt(np.maximum(bits.sum(axis=1), 1))

    return score


def test_most_units_may_have_to_go():
    """Judged by scoring all sets: the answers need units that make the decision firmer alone."""
    at_minimum, sizes, scorings = 0, [], 0
    for seed in range(30):
        explainer = Explainer(averaged(seed, 12), threshold=0.9, search="complete")
        best = explainer.explain(np.ones(12))
        why = explainer.with_options(search="thrifty").explain(np.ones(12))
        assert bool(why) == bool(best)
        if best.size > 2:
            at_minimum += why.size == best.size
            sizes.append(best.size)
            scorings += why.n_scored
    assert max(sizes) >= 9
    assert at_minimum >= 0.95 * len(sizes)
    assert scorings <= 1.3 * 22 * len(sizes)


def test_sets_larger_than_allowed_are_no_answers():
    """Groups of units that are removed beside others may flip where no allowed set does."""
    explainer = Explainer(
        lambda X: X @ np.ones(40), threshold=34.5, search="thrifty", budget=Budget(max_size=5)
    )
    why = explainer.explain(np.ones(40))
    assert not why
    assert not why.columns


def test_nothing_is_scored_after_the_singles_where_one_unit_is_the_limit():
    explainer = Explainer(lambda X: X @ np.ones(9), threshold=5, search="thrifty", budget=Budget(max_size=1))
    why = explainer.explain(np.ones(9))
    assert not why
    assert why.n_scored == 9
