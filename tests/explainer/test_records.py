"""Records, held against what `predict` says of rows that are changed by hand."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from profiles import is_nightly
from record_cases import (
    ABSENT,
    CLASSIFIERS,
    FRONTS,
    applications,
    changed_by_hand,
    fitted,
    judge_of,
    smallest_by_hand,
)
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from butfor import Budget, ButforError, Explainer, InputError, ModelError

BY_FORMULA = {
    "linear": set(FRONTS) - {"own steps"},
    "network": set(FRONTS) - {"own steps"},
    "forest": {"counts", "categories that raise", "dropped categories", "codes", "means"},
    "boosted": {"counts", "categories that raise", "dropped categories", "codes", "means"},
    "kernel": {"counts", "categories that raise", "dropped categories", "codes", "means"},
    "neighbours": set(),
}
"""Models that are never a black box, whatever the row."""
MIXED = ("pairs", "own steps", "rare categories")
"""Here two words may meet in one number, by hashing or as a pair, in some rows."""


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.filterwarnings("ignore", message="X .* valid feature names")
        yield


CASES = [
    (front, classifier)
    for front in FRONTS
    for classifier in CLASSIFIERS
    if classifier != "neighbours" or front in ("counts", "norms", "own steps")  # all are black boxes
]


@pytest.mark.parametrize(("front", "classifier"), CASES)
def test_answers_are_those_of_all_sets_tried_by_hand(front, classifier):
    model, (frame, _) = fitted(front, classifier), applications()
    explainer, judge = Explainer(model, budget=Budget(max_seconds=30)), judge_of(model)
    absent = ABSENT.get(front, {})
    kinds, n_found = set(), 0
    for i in range(30 if is_nightly() else 3):
        row = frame.iloc[[i]]
        why = explainer.explain(row)
        kinds.add(why.local_model)
        assert why.decision == model.predict(row)[0]
        smallest = smallest_by_hand(judge, row, why.items, absent)
        assert (why.size or None) == smallest, (i, why.features)
        assert why.status == ("none" if smallest is None else "found")
        if why:
            n_found += 1
            assert why.proven_minimum or why.local_model == "black box"
            changed = changed_by_hand(row.iloc[0].to_dict(), why.features, absent)
            assert judge.predict(pd.DataFrame([changed]))[0] == why.decision_without != why.decision
    assert n_found
    assert (kinds == {"black box"} or "black box" not in kinds) or front in MIXED
    if front in BY_FORMULA[classifier]:
        assert "black box" not in kinds


FORMS = {
    "frame of pandas": lambda frame, i: frame.iloc[[i]],
    "series": lambda frame, i: frame.iloc[i],
    "dict": lambda frame, i: frame.iloc[i].to_dict(),
    "list of a dict": lambda frame, i: [frame.iloc[i].to_dict()],
    "frame of polars": lambda frame, i: pl.DataFrame(frame.iloc[[i]].to_dict("list")),
    "categories": lambda frame, i: frame.astype({"country": "category", "plan": "category"}).iloc[[i]],
    "objects": lambda frame, i: frame.astype(object).iloc[[i]],
    "more columns, in another order": lambda frame, i: frame.iloc[[i], ::-1].assign(id=7),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_comes_in_every_form(form):
    model, (frame, _) = fitted("counts", "linear"), applications()
    explainer = Explainer(model)
    for i in range(5):
        expected, why = explainer.explain(frame.iloc[[i]]), explainer.explain(FORMS[form](frame, i))
        assert (set(why.features), why.decision, why.score_without) == (
            set(expected.features),
            expected.decision,
            pytest.approx(expected.score_without),
        )


@pytest.mark.parametrize(
    "rows",
    [
        lambda frame: frame,
        lambda frame: pl.DataFrame(frame.to_dict("list")),
        lambda frame: frame.to_dict("records"),
        lambda frame: (frame.iloc[[i]] for i in range(len(frame))),
        lambda frame: [row for _, row in frame.iterrows()],
    ],
    ids=["pandas", "polars", "dicts", "an iterator of frames", "a list of series"],
)
def test_many_rows_are_explained_as_one_by_one(rows):
    model, (frame, _) = fitted("norms", "linear"), applications()
    explainer, some = Explainer(model), frame.iloc[:9]
    together = list(explainer.explain_many(rows(some)))
    alone = [explainer.explain(some.iloc[[i]]) for i in range(len(some))]
    assert [why.features for why in together] == [why.features for why in alone]
    assert [why.score_without for why in together] == pytest.approx([why.score_without for why in alone])


def test_processes_share_the_work():
    model, (frame, _) = fitted("dropped categories", "forest"), applications()
    explainer = Explainer(model)
    together = list(explainer.explain_many(frame.iloc[:8], jobs=2))
    assert [why.features for why in together] == [
        explainer.explain(frame.iloc[[i]]).features for i in range(8)
    ]


def test_scores_of_many_rows_are_the_models_own():
    model, (frame, _) = fitted("counts", "linear"), applications()
    scores, classes = Explainer(model).decide(frame)
    assert scores == pytest.approx(model.predict_proba(frame)[:, 1])
    assert (np.array(["no", "yes"])[classes] == model.predict(frame)).all()


@pytest.mark.parametrize("front", ["counts", "categories that raise", "dropped categories", "means"])
def test_blocks_of_a_linear_model_are_explained_as_one_by_one(front):
    """Records of linear models go another way, by sorting; what comes of it is the same."""
    model, (frame, _) = fitted(front, "linear"), applications()
    frame = frame.iloc[:60].copy()
    frame.loc[7, "subject"] = "Refund, REFUND: card-refund; 'thanks'"
    frame.loc[8, "subject"] = "İstanbul refund"
    frame.loc[9, "subject"] = ""
    for protected in ((), ("country", "'card' in subject")):
        explainer = Explainer(model, protected=protected)
        together = list(explainer.explain_many(frame))
        for i, why in enumerate(together):
            alone = explainer.explain(frame.iloc[[i]])
            for name in ("features", "status", "marks", "table", "instead", "items", "places", "columns"):
                assert getattr(why, name) == getattr(alone, name), (i, name)
            assert why.lower_bound == alone.lower_bound
            assert (why.score, why.score_without, *why.path) == pytest.approx(
                (alone.score, alone.score_without, *alone.path)
            )
        assert len({why.seconds for why in together}) < 20  # most of them were explained together


class TestWhatIsSaid:
    """What a user says of columns: absent, protected, costs, groups, units, kinds."""

    @pytest.fixture
    def case(self):
        model, (frame, _) = fitted("counts", "linear"), applications()
        return model, frame

    def test_numbers_stay_unless_something_stands_for_their_absence(self, case):
        model, frame = case
        row = frame.iloc[[0]]
        assert not any(item.startswith(("age", "income")) for item in Explainer(model).explain(row).items)
        for absent, value in (({"age": 30}, 30), (30, 30), ("median", frame["age"].median())):
            explainer = Explainer(model, absent=absent, reference=frame)
            items = explainer.explain(row).items
            assert f"age = {row['age'].iloc[0]}" in items
            trial = explainer.what_if(row).without([f"age = {row['age'].iloc[0]}"])
            by_hand = model.predict_proba(row.assign(age=value))[0, 1]
            assert trial.score_without == pytest.approx(by_hand)

    def test_a_value_that_is_absent_already_is_no_part(self, case):
        model, frame = case
        age = int(frame["age"].iloc[0])
        assert f"age = {age}" not in Explainer(model, absent={"age": age}).explain(frame.iloc[[0]]).items

    def test_a_text_or_a_list_may_go_as_a_whole(self, case):
        model, frame = case
        absent = {"subject": "hello", "visited": ["shop"]}
        explainer = Explainer(model, absent=absent)
        for i, why in enumerate(explainer.explain_many(frame.iloc[:12])):
            row = frame.iloc[[i]]
            assert why.local_model == "linear"
            assert why.features == explainer.explain(row).features
            session, local = explainer.what_if(row), explainer.local_model(row)
            for place, name in enumerate(session.items):
                column = name.split(" = ")[0]
                if column in absent:
                    changed = row.assign(**{column: [absent[column]]})
                    by_hand = model.predict_proba(changed)[0, 1]
                    assert session.without([place]).score_without == pytest.approx(by_hand)
                    line = np.eye(len(session.items), dtype=bool)[[place]]
                    assert local.reported(local.scores(line))[0] == pytest.approx(by_hand)

    def test_a_row_of_nothing_but_numbers_says_what_to_do(self):
        frame, decided = applications()
        model = make_pipeline(
            make_column_transformer((StandardScaler(), ["age", "income"])), LogisticRegression()
        ).fit(frame, decided)
        with pytest.raises(InputError, match=r"its only values are numbers \('age', 'income'\).*absent="):
            Explainer(model).explain(frame.iloc[[0]])
        assert Explainer(model, absent=0).explain(frame.iloc[[0]]).items

    def test_protected_columns_and_parts_stay(self, case):
        model, frame = case
        for i in range(12):
            row = frame.iloc[[i]]
            why = Explainer(model, protected=["country", "'Refund' in subject", "visited: bank"]).explain(row)
            for part in why.features:
                assert not part.startswith(("country", "'refund'", "visited: bank"))
            kept = [item for item in why.items if item.startswith(("country", "'refund'", "visited: bank"))]
            assert why.n_protected == len(kept) > 0

    def test_columns_and_groups_may_be_units(self, case):
        model, frame = case
        row = frame.iloc[[1]]
        by_column = Explainer(model, unit="column").explain(row)
        assert set(by_column.items) <= {"country", "plan", "subject", "visited"}
        groups = {"country": "profile", "plan": "profile"}
        why = Explainer(model, groups=groups).explain(row)
        assert "profile" in why.items
        trial = Explainer(model, groups=groups).what_if(row).without(["profile"])
        by_hand = judge_of(model).predict_proba(row.assign(country="nowhere", plan="none"))[0, 1]
        assert trial.score_without == pytest.approx(by_hand)

    def test_costs_are_those_of_columns_or_parts(self, case):
        model, frame = case
        for i in range(8):
            row = frame.iloc[[i]]
            why = Explainer(model, costs={"country": 5, "'refund' in subject": 2.5}).explain(row)
            own = {"country": 5.0, "'refund'": 2.5}
            expected = sum(
                next((c for k, c in own.items() if part.startswith(k)), 1.0) for part in why.features
            )
            assert why.cost == expected

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"protected": ["contry"]}, "no column has that name, perhaps 'country' is meant"),
            ({"costs": {"contry": 2}}, "costs must hold columns"),
            ({"absent": {"contry": 2}}, "absent must hold columns"),
            ({"absent": "mode"}, "absent must be a mapping from columns to what stands for absence"),
            ({"absent": "median"}, "reference must be a frame"),
            (
                {"kinds": {"age": "image"}},
                "kinds must be a mapping from columns to text, items, category, number",
            ),
            ({"removal": "zero"}, 'removal must be "delete" or "mask" for a model that takes records'),
            ({"groups": ["a"]}, "groups must be a mapping from columns or parts to groups"),
            ({"costs": {"age": -1}}, "must be a positive number"),
            ({"feature_names": ["a"]}, "feature_names must not be given for a model that takes records"),
        ],
    )
    def test_bad_arguments(self, case, options, message):
        with pytest.raises(InputError, match=message):
            Explainer(case[0], **options)


def test_a_category_that_the_model_refuses_is_refused():
    """The model that is asked takes unknown categories; the user's own does not."""
    model, (frame, _) = fitted("categories that raise", "linear"), applications()
    explainer = Explainer(model)
    outcomes = list(explainer.explain_many(frame.iloc[:6]))
    strange = frame.iloc[:6].assign(country=["US", "AT", "DE", "US", "Atlantis", "US"])
    strange["country"] = strange["country"].astype(object)
    strange.loc[2, "country"] = None
    for row in (2, 4):
        with pytest.raises(ModelError, match="unknown categories"):
            explainer.explain(strange.iloc[[row]])
    kept = list(explainer.explain_many(strange, errors="keep"))
    assert [isinstance(each, ModelError) for each in kept] == [False, False, True, False, True, False]
    assert np.isnan(explainer.decide(strange)[0]).tolist() == [False, False, True, False, True, False]
    assert len(outcomes) == 6


@pytest.mark.parametrize(("unit", "n_parts"), [("word", 2), ("occurrence", 3), ("sentence", 2)])
def test_texts_in_columns_have_units_of_their_own(unit, n_parts):
    model, (frame, _) = fitted("counts", "linear"), applications()
    row = frame.iloc[[0]].assign(subject="Refund! A refund, please.")
    for removal in ("delete", "mask"):
        explainer = Explainer(model, unit=unit, removal=removal, protected=["country", "plan", "visited"])
        session = explainer.what_if(row)
        own = [place for place, name in enumerate(session.items) if name.endswith(" in subject")]
        assert len(own) == n_parts
        for place in own:
            ((_, start, end), *more) = session.marks[place]
            text = "Refund! A refund, please."
            for _, begin, stop in sorted([(0, start, end), *more], reverse=True):
                text = text[:begin] + ("[MASK]" if removal == "mask" else " ") + text[stop:]
            by_hand = model.predict_proba(row.assign(subject=text))[0, 1]
            assert session.without([place]).score_without == pytest.approx(by_hand)


def test_errors_show_no_more_than_the_beginning_of_a_cell():
    model, (frame, _) = fitted("counts", "linear"), applications()
    secret = "my card was declined twice and the number of it is 4711 0815"
    explainer = Explainer(model)
    for row in (
        frame.iloc[[0]].assign(age=secret),
        frame.iloc[[0]].assign(subject=7.5),
        frame.iloc[[0]].assign(income=[{"note": secret}]),
        frame.iloc[[0]].drop(columns="plan").assign(note=secret),
    ):
        with pytest.raises(ButforError) as caught:
            explainer.explain(row)
        assert "4711" not in str(caught.value)


def test_a_bad_row_costs_only_itself():
    model, (frame, _) = fitted("counts", "linear"), applications()
    rows = frame.iloc[:6].copy()
    rows["subject"] = rows["subject"].astype(object)
    rows.loc[2, "subject"] = None
    outcomes = list(Explainer(model).explain_many(rows, errors="keep"))
    assert [isinstance(outcome, ButforError) for outcome in outcomes] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]
    assert outcomes[3].features == Explainer(model).explain(frame.iloc[[3]]).features


class TestMissingValues:
    """Rows of numbers with NaN, for models that take them."""

    def test_missing_values_stay_and_answers_are_smallest(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (200, 6)).astype(float)
        X[rng.random(X.shape) < 0.2] = np.nan
        y = np.nansum(X, axis=1) + rng.normal(size=200) > 5
        for model in (RandomForestClassifier(6, random_state=0), HistGradientBoostingClassifier(max_iter=8)):
            explainer = Explainer(model.fit(X, y))
            for i in range(12):
                why = explainer.explain(X[i])
                assert why.local_model == "tree ensemble"
                active = np.flatnonzero(np.nan_to_num(X[i]))
                smallest = None
                for size in range(len(active) + 1):
                    sets = list(itertools.combinations(active, size))
                    rows = np.repeat(X[[i]], len(sets), axis=0)
                    for row, some in zip(rows, sets, strict=True):
                        row[list(some)] = 0
                    if (model.predict(rows) != model.predict(X[[i]])[0]).any():
                        smallest = size
                        break
                assert (why.size or None) == smallest

    def test_a_model_that_takes_none_is_not_asked(self):
        model = LogisticRegression().fit([[0.0, 1], [1, 0]], [0, 1])
        with pytest.raises(InputError, match="row must be finite, got nan in column 1"):
            Explainer(model).explain([1.0, np.nan])

    def test_an_imputer_takes_them(self):
        X = np.array([[0.0, 1], [1, 0], [1, np.nan], [0, 0]])
        model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(X, [0, 1, 1, 0])
        assert Explainer(model).explain([1.0, np.nan]).decision == str(model.predict([[1.0, np.nan]])[0])


def test_a_reference_of_polars_has_columns_of_words_too():
    model, (frame, _) = fitted("counts", "linear"), applications()
    reference = pl.DataFrame(frame.to_dict("list"))
    of_pandas, of_polars = (
        Explainer(model, absent="median", reference=each).explain(frame.iloc[[0]])
        for each in (frame, reference)
    )
    assert (of_pandas.items, of_pandas.features) == (of_polars.items, of_polars.features)
    assert any(item.startswith("country = ") for item in of_polars.items)
