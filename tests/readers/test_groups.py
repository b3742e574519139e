"""Groups of features: against brute force over groups."""

import numpy as np
import pytest
from brute_force import minimum
from fitted_models import MODELS, N_FEATURES, fitted
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from butfor import SEARCHES, Budget, Explainer, InputError
from butfor.datasets import load_moviegoers


@st.composite
def groupings(draw):
    """One group, several or none for each feature."""
    group = st.sampled_from(["p", "q", "r", "s", "t"])
    several = st.lists(group, min_size=2, max_size=3, unique=True)
    choices = [group, st.none()] + ([several] if draw(st.booleans()) else [])
    return draw(st.lists(st.one_of(choices), min_size=N_FEATURES, max_size=N_FEATURES))


def labels(group, column):
    if group is None:
        return [f"feature {column}"]
    return [group] if isinstance(group, str) else group


def without(row, groups, names):
    """Put zeros where a feature is in one of the groups."""
    changed = row.toarray()
    for column in row.indices:
        if set(labels(groups[column], column)) & set(names):
            changed[0, column] = 0
    return changed[0]


@pytest.mark.parametrize("name", MODELS)
@n_examples(25)
@given(groups=groupings(), number=st.integers(0, 149))
def test_the_smallest_set_of_groups(name, groups, number):
    model, X = fitted(name)
    row = X[[number]]
    units = sorted({label for column in row.indices for label in labels(groups[column], column)})
    own = model.predict(row)[0]
    if len(units) > 11:
        return

    def flips(sets):
        rows = [without(row, groups, [units[i] for i in each]) for each in sets]
        return model.predict(sparse.csr_matrix(np.array(rows))) != own

    least, answers = minimum(flips, len(units))
    why = Explainer(model, groups=groups).explain(row)
    assert set(why.items) == set(units)
    assert (why.unit, why.local_model, why.n_active) == ("group", name.replace("deep", "neural"), len(units))
    if least is None:
        assert why.status == "none"
        return
    assert tuple(sorted(units.index(name) for name in why.features)) in answers
    assert why.proven_minimum
    expected = np.flatnonzero((without(row, groups, why.features) == 0) & (row.toarray()[0] != 0))
    assert sorted(why.columns) == list(expected)
    smallest = Explainer(model, groups=groups, budget=Budget(max_size=least)).alternatives(row)
    minimal = {frozenset(units.index(name) for name in each.features) for each in smallest}
    assert {frozenset(each) for each in answers} == minimal


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("shared", [False, True])
def test_every_search_works_on_groups(search, shared):
    model, X = fitted("neural network")
    groups = [f"group {i % 5}" for i in range(N_FEATURES)]
    if shared:
        groups = [[group, f"group {(i + 1) % 5}"] if i % 3 == 0 else group for i, group in enumerate(groups)]
    found = 0
    for number in range(10):
        why = Explainer(model, groups=groups, search=search).explain(X[[number]])
        if why:
            found += 1
            changed = sparse.csr_matrix(without(X[[number]], groups, why.features)[np.newaxis])
            assert model.predict_proba(changed)[0, 1] == pytest.approx(why.score_without)
            assert model.predict(changed)[0] != model.predict(X[[number]])[0]
    assert found >= 3


def test_genres_are_reasons():
    people = load_moviegoers(n_people=600, n_films=300)
    model = LogisticRegression().fit(people.X, people.y)
    explainer = Explainer(model, feature_names=people.feature_names, groups=people.genres)
    joins = np.flatnonzero(model.predict(people.X) == 1)[:20]
    reasons = [explainer.explain(people.X[[i]]) for i in joins]
    assert all(why.proven_minimum for why in reasons if why)
    single = [why.features for why in reasons if why.size == 1]
    assert single.count(("ghost story",)) > len(single) / 2  # the planted cause


@pytest.mark.parametrize("given", ["labels", "mapping", "names", "function"])
def test_groups_may_be_given_in_many_ways(given):
    names = ["a.org/1", "a.org/2", "b.org/1", "c"]
    groups = {
        "labels": ["a.org", "a.org", "b.org", None],
        "mapping": {0: "a.org", 1: "a.org", 2: "b.org"},
        "names": {"a.org/1": "a.org", "a.org/2": "a.org", "b.org/1": ["b.org"]},
        "function": lambda name: name.split("/")[0] if "/" in name else None,
    }[given]
    explainer = Explainer(
        lambda X: X @ np.array([1, 1, 1, 0]), threshold=2, feature_names=names, groups=groups
    )
    why = explainer.explain([1, 1, 1, 1])
    assert (why.features, why.columns, why.items) == (("a.org",), (0, 1), ("a.org", "b.org", "c"))
    assert dict(explainer.rank([1, 1, 1, 1])) == {"a.org": 2.0, "b.org": 1.0, "c": 0.0}


def test_protected_groups_and_members():
    def score(X):
        return X @ np.array([3, 1, 1, 1])

    options = {"threshold": 4, "groups": ["p", "p", "q", None]}
    assert Explainer(score, **options).explain([1, 1, 1, 1]).features == ("p",)
    for protected in (["p"], [0], [1]):
        why = Explainer(score, **options, protected=protected).explain([1, 1, 1, 1])
        assert set(why.features) <= {"q", "feature 3"}
        assert why.n_protected == 1
    shared = Explainer(score, threshold=4, groups=[["p", "q"], "p", "q", None], protected=["p"]).explain(
        [1, 1, 1, 1]
    )
    assert shared.features == ("q",)  # what p shares still goes with q


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], "groups must be a mapping or have a label for each of 4 columns, got 2"),
        ("abcd", "groups must be a mapping from features to groups, .* got str"),
        (7, "groups must be a mapping from features to groups, .* got int"),
        ({"zzz": "a"}, "groups must hold names or columns of features, got 'zzz'"),
        ({9: "a"}, "groups must hold columns from 0 to 3, got 9"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(InputError, match=message):
        Explainer(lambda X: X.sum(axis=1), threshold=1, feature_names=list("wxyz"), groups=groups)


def test_labels_from_a_data_frame():
    import pandas as pd

    def features(groups):
        return (
            Explainer(lambda X: X @ np.array([1, 1, 1]), threshold=2, groups=groups)
            .explain([1, 1, 1])
            .features
        )

    assert features(pd.Series(["a", "a", np.nan])) == features(["a", "a", None]) == ("a",)
    assert features(np.array(["a", "a", "b"])) == ("a",)


@pytest.mark.parametrize("protected", [None, 5, "horror"])
def test_protected_is_a_collection(protected):
    with pytest.raises(InputError, match="protected must be a collection of features, got"):
        Explainer(lambda X: X.sum(axis=1), threshold=1, protected=protected)


def test_a_name_may_stand_for_several_columns():
    explainer = Explainer(
        lambda X: X.sum(axis=1), threshold=2.5, feature_names=["x", "x", "y"], protected=["x"]
    )
    why = explainer.explain([1, 1, 1])
    assert (why.n_protected, why.features) == (2, ("y",))
