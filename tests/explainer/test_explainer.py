from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from toys import linear

from butfor import Budget, Explainer, Finding, InputError, SearchError
from butfor.datasets import load_inbox, load_moviegoers
from butfor.verify import is_counterfactual

NAMES = ["a", "b", "c", "d", "e", "f"]
ROW = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]


def test_the_answer_is_complete():
    why = Explainer(linear, feature_names=NAMES, threshold=2.0).explain(ROW)
    assert why.features == ("a",)
    assert why.columns == (0,)
    assert (why.score, why.score_without, why.threshold) == (4.0, 1.0, 2.0)
    assert (why.n_active, why.max_size, why.lower_bound) == (4, 30, 1)
    assert (why.search, why.local_model, why.reason) == ("auto", "black box", "")
    assert why.n_scored > 0
    assert why.seconds > 0


@pytest.mark.parametrize(
    "convert",
    [
        list,
        np.array,
        lambda row: np.array([row]),
        lambda row: np.array(row, dtype=np.float32),
        lambda row: np.array(row, dtype=int),
        lambda row: np.array(row, dtype=bool),
        lambda row: sparse.csr_matrix([row]),
        lambda row: sparse.csc_matrix([row]),
        lambda row: sparse.coo_matrix([row]),
        lambda row: sparse.csr_array([row]),
        lambda row: sparse.lil_array([row]),
        lambda row: sparse.coo_array(np.array(row)),
    ],
)
def test_every_kind_of_row(convert):
    assert Explainer(linear, threshold=2.0).explain(convert(ROW)).columns == (0,)


def test_names_come_from_the_model_or_the_columns():
    assert Explainer(linear, threshold=2.0).explain(ROW).features == ("feature 0",)
    model = LogisticRegression(C=100).fit(np.eye(6), [1, 0, 0, 0, 0, 0])
    model.feature_names_in_ = np.array(NAMES, dtype=object)  # as fitting on a data frame leaves it
    # (scikit-learn warns of rows without names then; it must not reach the user)
    assert Explainer(model).explain(np.eye(6)[0]).features == ("a",)


def test_a_negative_row_is_turned_positive():
    why = Explainer(linear, feature_names=NAMES, threshold=5.0).explain(ROW)
    assert why.features == ("f",)
    assert (why.score, why.score_without) == (4.0, 6.0)
    assert why.score_drop == -2.0


def test_negative_is_often_the_default_and_then_nothing_helps():
    why = Explainer(lambda X: X.sum(axis=1), threshold=10).explain(ROW)
    assert why.status == "none"


def test_at_the_threshold_a_row_is_positive():
    # Down from the threshold by a hair is negative; up to it exactly is positive.
    assert Explainer(linear, threshold=4.0).explain(ROW).score_without < 4.0
    why = Explainer(lambda X: -np.asarray(X.sum(axis=1)).ravel(), threshold=-3.0).explain(ROW)
    assert (why.score, why.score_without, why.size) == (-4.0, -3.0, 1)


def test_explicit_zeros_are_not_active():
    row = sparse.csr_matrix((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 5]), np.array([0, 3])), shape=(1, 6))
    why = Explainer(linear, threshold=0.5).explain(row)
    assert why.n_active == 2
    assert row.nnz == 3  # the user's row is left alone


def test_an_all_zero_row():
    why = Explainer(linear, threshold=2.0).explain(np.zeros(6))
    assert (why.status, why.lower_bound, why.n_active, why.n_scored) == ("none", 1, 0, 0)


def test_a_local_model_for_a_row():
    local = Explainer(linear, threshold=2.0).local_model(ROW)
    assert local.kind == "black box"
    assert local.n_features == 4
    np.testing.assert_allclose(local.scores(np.eye(4, dtype=bool)), [1, 2, 3, 6])


def test_planted_causes_are_found(moviegoers, club_model):
    explainer = Explainer(club_model, search="sedc")
    positives = np.flatnonzero(club_model.predict_proba(moviegoers.X)[:, 1] >= 0.5)[:200]
    answers = [explainer.explain(moviegoers.X[[i]]) for i in positives]
    removed = [column for why in answers for column in why.columns]
    planted = {column for column, weight in moviegoers.causes.items() if weight > 0}
    assert all(answers)
    assert np.mean([column in planted for column in removed]) > 0.85
    share_of_all = np.mean([column in planted for column in moviegoers.X[positives].indices])
    assert share_of_all < 0.25


def one_set(removed, **more):
    def search(local, budget, seed):
        yield Finding(removed, **more)

    return search


def test_any_callable_is_a_search():
    why = Explainer(linear, feature_names=NAMES, threshold=2.0, search=one_set((1, 0))).explain(ROW)
    assert why.features == ("b", "a")
    assert why.search == "search"


def test_what_the_model_does_not_confirm_is_not_found():
    why = Explainer(linear, threshold=2.0, search=one_set((3,))).explain(ROW)
    assert why.status == "budget"
    assert why.columns == ()
    assert "did not confirm" in why.reason


def test_a_search_that_says_nothing():
    why = Explainer(linear, threshold=2.0, search=lambda local, budget, seed: iter(())).explain(ROW)
    assert (why.status, why.reason) == ("budget", "the search ended without a finding")


@pytest.mark.parametrize("removed", [(4,), (-1,), (0, 0)])
def test_a_search_that_names_features_that_are_not_there(removed):
    with pytest.raises(SearchError, match="must remove distinct features from 0 to 3, got"):
        Explainer(linear, threshold=2.0, search=one_set(removed)).explain(ROW)


def test_a_search_that_proves_too_much():
    with pytest.raises(SearchError, match="cannot prove that 2 features are needed"):
        Explainer(linear, threshold=2.0, search=one_set((0,), lower_bound=2)).explain(ROW)


def test_weights_go_with_the_features():
    why = Explainer(linear, threshold=2.0, search=one_set((0, 2), weights=(0.5, 0.25))).explain(ROW)
    assert why.weights == (0.5, 0.25)
    with pytest.raises(SearchError, match=r"a weight for each feature it removes, \(0, 2\), or none"):
        Explainer(linear, threshold=2.0, search=one_set((0, 2), weights=(0.5,))).explain(ROW)


def test_a_search_that_yields_something_else():
    with pytest.raises(SearchError, match="must yield Finding objects, got"):
        Explainer(linear, threshold=2.0, search=lambda local, budget, seed: [(0,)]).explain(ROW)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"search": "SEDC"}, "search must be one of auto, certified, .*, got 'SEDC'"),
        ({"search": 7}, "search must be a name or a search object such as .*, got 7"),
        ({"search": Finding}, "search must be a name or a search object"),
        ({"budget": 30}, "budget must be a Budget, such as .*, got 30"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"threshold": float("nan")}, "threshold must be a finite number, got nan"),
        ({"threshold": "high"}, "threshold must be a finite number, got 'high'"),
        ({"feature_names": "abcdef"}, "feature_names must be a sequence of names, got the string"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        Explainer(linear, **{"threshold": 2.0, **arguments})


def test_names_must_fit_the_model_and_the_row(club_model):
    with pytest.raises(InputError, match=r"feature_names must have 1,000 names, .* got 6"):
        Explainer(club_model, feature_names=NAMES)
    with pytest.raises(InputError, match="row must have 6 features, as the model was fitted on, got 5"):
        Explainer(linear, feature_names=NAMES, threshold=2.0).explain(ROW[:5])


def test_answers_hold_on_the_real_model(moviegoers, club_model):
    explainer = Explainer(club_model, threshold=0.3, budget=Budget(max_size=5))
    for i in range(40):
        why = explainer.explain(moviegoers.X[[i]])
        if why:
            assert is_counterfactual(club_model, moviegoers.X[[i]], why.columns, threshold=0.3)


def test_with_options_is_an_explainer_made_with_them():
    people = load_moviegoers(n_people=200, n_films=100)
    model = LogisticRegression().fit(people.X, people.y)
    names = list(people.feature_names)
    base = Explainer(model, feature_names=names, protected=[names[0]])
    options = {"search": "sedc", "budget": Budget(max_size=3), "seed": 3}
    told = base.with_options(protected=[names[1], 2], **options)
    made = Explainer(model, feature_names=names, protected=names[:3], **options)
    for number in range(30):
        one, two = told.explain(people.X[[number]]), made.explain(people.X[[number]])
        assert replace(one, seconds=0) == replace(two, seconds=0)
    assert (base.budget, base.seed) == (Budget(), 0)
    assert base.explain(people.X[[3]]).search == "auto"
    with pytest.raises(InputError, match="search must be one of"):
        base.with_options(search="sedcc")
    with pytest.raises(InputError, match="protected must hold names"):
        base.with_options(protected=["nobody's name"])


def test_a_row_of_items():
    explainer = Explainer(lambda X: X.sum(axis=1), feature_names=["Up", "It", "Up"], threshold=1)
    assert explainer.row_of(["It"]).toarray().tolist() == [[0, 1, 0]]
    assert explainer.row_of({"Up": 2, 1: 0.5}).toarray().tolist() == [[2, 0.5, 2]]
    assert explainer.row_of([]).toarray().tolist() == [[0, 0, 0]]
    for bad, message in ((["Her"], "no feature has that name"), ([3], "from 0 to 2"), ("It", "a collection"),
                         ({"It": "x"}, "finite number"), ({"It": np.nan}, "finite number")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            explainer.row_of(bad)
    with pytest.raises(InputError, match="how many columns"):
        Explainer(lambda X: X.sum(axis=1), threshold=1).row_of([0])


@pytest.mark.parametrize(
    "options",
    [{}, {"protected": ["free", "offer"]}, {"unit": "occurrence"}, {"unit": "sentence", "removal": "delete"}],
)
def test_places_say_where_the_features_stand_in_texts(options):
    inbox = load_inbox()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(inbox.texts, inbox.y)
    whys = [why for why in Explainer(model, **options).explain_many(inbox.texts[:80]) if why]
    assert len(whys) > 20
    for why in whys:
        assert tuple(why.items[place] for place in why.places) == why.features
        assert len(set(why.places)) == why.size


@pytest.mark.parametrize(
    "options",
    [{}, {"protected": range(0, 1000, 7)}, {"groups": load_moviegoers().genres}, {"search": "sedc"}],
)
def test_places_say_where_the_features_stand_in_rows(options):
    people = load_moviegoers()
    model = LogisticRegression().fit(people.X, people.y)
    whys = [why for why in Explainer(model, **options).explain_many(people.X[:100]) if why]
    assert len(whys) > 20
    for why in whys:
        assert tuple(why.items[place] for place in why.places) == why.features
