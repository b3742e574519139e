"""The contract: what is explained is the decision of the user's own `predict` on the user's own row.

Every form of a row × real models. The judge is the model itself: on what the user passes, and on that with
the features of the answer set to zero.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from profiles import is_nightly
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from butfor import Budget, ButforError, Explainer, InputError, ModelError
from butfor.errors import UnknownNameWarning

N_ROWS, NAMES = 120, tuple("abcdefgh")
rng = np.random.default_rng(7)
X = (rng.random((N_ROWS, len(NAMES))) < 0.5).astype(np.float64)
SIGNAL = X @ np.array([2.0, -1.5, 1.0, 1.0, -1.0, 0.5, 0.5, -0.5]) + 1.5 * X[:, 0] * X[:, 3]
BINARY = np.where(np.median(SIGNAL) < SIGNAL, "yes", "no")
THREE = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.33, 0.67]))
FRAME = pd.DataFrame(X.astype(int), columns=list(NAMES))


def boosted():
    return {
        "XGBoost": XGBClassifier(n_estimators=8, n_jobs=1),
        "LightGBM": LGBMClassifier(n_estimators=8, min_child_samples=5, verbose=-1, n_jobs=1),
        "CatBoost": CatBoostClassifier(iterations=8, verbose=0, thread_count=1, allow_writing_files=False),
    }


def models():
    return boosted() | {
        "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5),
        "RandomForest": RandomForestClassifier(10, random_state=0),
        "KNeighbors": KNeighborsClassifier(4),
        "LogisticRegression": LogisticRegression(),
        "scaled MLP": make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=40, random_state=0)),
        "SVC": SVC(),
        "Calibrated SVC": CalibratedClassifierCV(SVC(), cv=2),
        "Bagging SVC": BaggingClassifier(SVC(), 3, random_state=0),
        "FixedThreshold SVC": FixedThresholdClassifier(SVC(), threshold=0.3),
        "OneVsRest SVC": OneVsRestClassifier(SVC()),
        "Voting": VotingClassifier(
            [("svc", SVC(probability=True)), ("lr", LogisticRegression())], voting="soft"
        ),
        "Stacking": StackingClassifier([("svc", SVC()), ("lr", LogisticRegression())], cv=2),
        "LinearSVC": make_pipeline(MaxAbsScaler(), LinearSVC()),
        "columns by name": make_pipeline(
            make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough"),
            LogisticRegression(),
        ),
    }


FITTED_ON = {
    "array": lambda: X,
    "frame": lambda: FRAME,
    "CSR": lambda: sparse.csr_matrix(X),
}
FORMS = {
    "1-D": lambda i: X[i],
    "list": lambda i: [X[i].astype(int).tolist()],
    "float64": lambda i: X[[i]],
    "float32": lambda i: X[[i]].astype(np.float32),
    "int64": lambda i: X[[i]].astype(np.int64),
    "bool": lambda i: X[[i]].astype(bool),
    "uint8": lambda i: X[[i]].astype(np.uint8),
    "object": lambda i: X[[i]].astype(object),
    "csr_matrix": lambda i: sparse.csr_matrix(X[[i]]),
    "csr_array float32": lambda i: sparse.csr_array(X[[i]].astype(np.float32)),
    "csr_matrix int": lambda i: sparse.csr_matrix(X[[i]].astype(np.int64)),
    "csc": lambda i: sparse.csc_matrix(X[[i]]),
    "coo": lambda i: sparse.coo_matrix(X[[i]]),
    "lil": lambda i: sparse.lil_matrix(X[[i]]),
    "explicit zeros": lambda i: _with_explicit_zero(i),
    "frame": lambda i: FRAME.iloc[[i]],
    "float frame": lambda i: FRAME.iloc[[i]].astype(np.float32),
    "mixed frame": lambda i: FRAME.iloc[[i]].astype({"a": bool, "b": np.float64}),
    "series": lambda i: FRAME.iloc[i],
    "polars": lambda i: pl.DataFrame(FRAME.iloc[[i]].to_dict("list")),
    "reordered": lambda i: FRAME.iloc[[i], ::-1],
    "renamed": lambda i: FRAME.iloc[[i]].rename(columns={"a": "z"}),
    "too few": lambda i: FRAME.iloc[[i], :-1],
}


def _with_explicit_zero(i):
    row = sparse.csr_matrix(np.where(X[[i]] == 0, 9.0, X[[i]]))
    row.data[row.data == 9.0] = 0.0
    return row


@pytest.fixture(autouse=True)
def one_thread():
    """HistGradientBoosting's threads would wait for one another where tests run side by side."""
    with threadpool_limits(1):
        yield


def fitted(name, on):
    labels = BINARY if name != "XGBoost" else (BINARY == "yes").astype(int)
    model = models()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(FITTED_ON[on](), labels)


def as_predict_takes_it(row):
    """A row as `predict` takes it: 1-D has no place there."""
    if isinstance(row, pd.Series):
        return row.to_frame().T
    return row if np.ndim(row) == 2 or sparse.issparse(row) else np.asarray(row)[np.newaxis]


def without(row, columns, names):
    """The user's own row with these columns set to zero, in a frame by name; of CSR they are gone."""
    if isinstance(row, pd.DataFrame):
        changed = row.copy()
        for name in names:
            changed[name] = np.zeros(1, dtype=changed[name].dtype)
        return changed
    if isinstance(row, pl.DataFrame):
        return row.with_columns([pl.lit(0).cast(row[name].dtype).alias(name) for name in names])
    if sparse.issparse(row):
        changed = row.tolil(copy=True)
        changed[0, list(columns)] = 0
        changed = changed.asformat(row.format)
        return changed
    changed = np.array(row, copy=True)
    changed[0, list(columns)] = 0
    return changed


def judged(model, row):
    """What the model's own `predict` says; None where it refuses the row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(np.ravel(model.predict(row))[0])
        except Exception:
            return None


def dense_of(row):
    return row.toarray() if sparse.issparse(row) else np.asarray(row, dtype=np.float64)


@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse")
@pytest.mark.parametrize("on", FITTED_ON)
@pytest.mark.parametrize("name", models())
def test_the_decision_is_that_of_predict_on_what_the_user_passes(name, on):
    try:
        model = fitted(name, on)
    except (TypeError, ValueError) as error:  # the model itself refuses to be fitted on such a table
        assert any(word in str(error) for word in ("ense", "sparse", "dataframes"))  # noqa: PT017
        return
    # Numbers in columns that have names are ages and counts: which of them have an absence must be said.
    of_records = {"absent": 0} if (name, on) == ("columns by name", "frame") else {}
    explainer = Explainer(model, budget=Budget(max_seconds=20), **of_records)
    answers = 0
    for form, make in FORMS.items():
        for i in (0, 1, 2) if is_nightly() else (1,):
            row = as_predict_takes_it(make(i))
            said = judged(model, row)
            try:
                why = explainer.explain(make(i))
            except ButforError as refusal:
                # It is refused by the model too, or is another form or order than the model was fitted on.
                refused = ("renamed", "too few", "explicit zeros", "reordered")
                assert said is None or form in refused, (form, refusal)  # noqa: PT017
                continue
            if said is None:  # the model takes the same numbers in another form
                said, row = next(
                    (said, other)
                    for other in other_forms(row, i)
                    if (said := judged(model, other)) is not None
                )
            assert why.decision == said, (form, i)
            if why:
                answers += 1
                names = [why.table[column][0] for column in why.columns] if of_records else why.features
                now = judged(model, without(row, why.columns, names))
                assert now == why.decision_without != why.decision, (form, i)
            if why.proven_minimum and why.size == 2:
                active = zip(np.flatnonzero(dense_of(row)[0]), why.items, strict=True)
                singles = [
                    judged(model, without(row, [column], [name.split(" = ")[0]])) for column, name in active
                ]
                assert set(singles) == {why.decision}, (form, i)
    assert answers


def other_forms(row, i):
    """The same row in forms that a model may take where it refuses the user's own."""
    if sparse.issparse(row):
        return [sparse.csr_matrix(row, dtype=np.float64), row.toarray()]
    return [FRAME.iloc[[i]], X[[i]]]


def test_xgboost_fitted_on_dense_rows_is_explained_on_dense_rows():
    """Absent from CSR is missing to XGBoost: the same row is another row there."""
    model = fitted("XGBoost", "frame")
    explainer, decided = Explainer(model), model.predict(FRAME)
    whys = list(explainer.explain_many(FRAME))
    assert [int(why.decision) for why in whys] == decided.tolist()
    assert [why.columns for why in whys[:20]] == [
        explainer.explain(FRAME.iloc[[i]]).columns for i in range(20)
    ]
    as_csr = model.predict(sparse.csr_matrix(X))
    assert (as_csr != decided).any()  # so the form matters, and each is explained as it is given
    sparse_whys = explainer.explain_many(sparse.csr_matrix(X))
    assert [int(why.decision) for why in sparse_whys] == as_csr.tolist()


@pytest.mark.parametrize("name", ["LogisticRegression", "scaled MLP", "LightGBM", "RandomForest"])
@pytest.mark.parametrize(
    "form", [lambda: FRAME, lambda: FRAME[FRAME.columns[::-1]], lambda: pl.DataFrame(FRAME)]
)
def test_many_rows_of_a_frame_are_those_of_explain(name, form):
    model, rows = fitted(name, "frame"), form()[:12]
    explainer = Explainer(model)
    if name == "LightGBM" and rows.columns[0] != NAMES[0]:
        with pytest.raises(InputError, match="Put the columns into the model's order"):
            list(explainer.explain_many(rows))
        return
    whys = list(explainer.explain_many(rows))
    one_by_one = [explainer.explain(rows[i : i + 1]) for i in range(12)]
    assert [(why.decision, why.features) for why in whys] == [
        (why.decision, why.features) for why in one_by_one
    ]
    # A product of many dense rows may round otherwise than that of one.
    assert [why.score for why in whys] == pytest.approx([why.score for why in one_by_one], rel=1e-14)
    assert [why.decision for why in whys] == model.predict(FRAME[:12]).tolist()
    scores, classes = explainer.decide(rows)
    assert [model.classes_[i] for i in classes] == [why.decision for why in whys]
    assert scores.tolist() == pytest.approx([why.score for why in whys], rel=1e-14)


def test_a_frame_lends_its_names_where_nobody_else_has_any():
    model = LogisticRegression().fit(X, BINARY)
    explainer = Explainer(model)
    assert set(explainer.explain(FRAME.iloc[[0]]).items) <= set(NAMES)
    assert all(set(why.items) <= set(NAMES) for why in explainer.explain_many(FRAME[:3]))
    assert explainer.explain(X[[0]]).items[0].startswith("feature ")
    named = Explainer(model, feature_names=[name.upper() for name in NAMES])
    assert set(named.explain(X[[0]]).items) <= set("ABCDEFGH")
    with pytest.raises(InputError, match="row must have the columns that the model was fitted on, 8 by name"):
        named.explain(FRAME.iloc[[0]])


def test_a_frame_with_other_columns_is_refused_by_name():
    explainer = Explainer(fitted("LogisticRegression", "frame"))
    with pytest.raises(InputError, match="a frame that lacks 'a' and has besides 'z'"):
        explainer.explain(FORMS["renamed"](0))
    with pytest.raises(InputError, match="a frame that lacks 'h'"):
        explainer.explain(FORMS["too few"](0))


def test_categories_become_missing():
    """To LightGBM the numbers of a categorical column are names, of which zero may be none."""
    frame = FRAME.assign(a=FRAME["a"].add(1).astype("category"))
    model = LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(frame, BINARY)
    explainer = Explainer(model)
    for i in range(20):
        why = explainer.explain(frame.iloc[[i]])
        without = frame.iloc[[i]].assign(a=pd.Series([None], index=[frame.index[i]], dtype=frame["a"].dtype))
        before, after = model.predict(frame.iloc[[i]])[0], model.predict(without)[0]
        assert why.decision == before
        assert why.features == ((f"a = {frame['a'].iloc[i]}",) if before != after else ())
        assert why.instead == (("missing",) if before != after else ())


@pytest.mark.parametrize(
    "name", [*boosted(), "LogisticRegression", "RandomForest", "SVC", "scaled MLP", "KNeighbors"]
)
def test_decisions_between_three_classes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = models()[name].fit(X, THREE)
    explainer = Explainer(model)
    rows = np.vstack([X[:25], np.zeros((1, len(NAMES)))])
    decided = np.ravel(model.predict(rows)).tolist()
    for row, own, why in zip(rows, decided, explainer.explain_many(rows), strict=True):
        assert why.decision == str(own)
        if why:
            now = np.where(np.isin(np.arange(len(NAMES)), why.columns), 0.0, row)
            assert str(np.ravel(model.predict(now[np.newaxis]))[0]) == why.decision_without != why.decision


def test_probabilities_of_svc_are_not_what_it_decides_by():
    """Its predict_proba comes of another model than its predict: the decision is that of predict."""
    noisy = np.where(rng.random(N_ROWS) < 0.25, "yes", BINARY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(probability=True, C=0.3, random_state=0).fit(X, noisy)
    decided = model.predict(X)
    assert (decided != model.classes_[model.predict_proba(X).argmax(axis=1)]).any()
    assert [why.decision for why in Explainer(model).explain_many(X)] == decided.tolist()
    by_score = Explainer(model, threshold=0.5).explain_many(X)
    assert [why.decision == "yes" for why in by_score] == (model.predict_proba(X)[:, 1] >= 0.5).tolist()


class Cautious:
    """Decides from 0.8 on, and does not say so."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        score = np.asarray(X)[:, :2].sum(axis=1) * 0.3
        return np.column_stack([1 - score, score])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.8).astype(int)]


def test_a_model_that_contradicts_itself_is_refused():
    with pytest.raises(ModelError, match=r"predict decides otherwise than the score 0\.6 .* Give threshold"):
        Explainer(Cautious()).explain([1, 1, 1])
    assert Explainer(Cautious(), threshold=0.5).explain([1, 1, 1]).columns == (0,)
    outcomes = Explainer(Cautious()).explain_block(np.array([[0, 1, 1], [1, 1, 0]]))
    assert outcomes[0].decision == "no"  # on which score and predict agree
    assert isinstance(outcomes[1], ModelError)


def test_a_tie_is_decided_as_predict_decides_it():
    """At 0.5 scikit-learn takes the first class."""
    model = KNeighborsClassifier(2).fit(X, BINARY)
    ties = X[model.predict_proba(X)[:, 1] == 0.5]
    assert len(ties)
    explainer = Explainer(model)
    for row, why in zip(ties, explainer.explain_many(ties), strict=True):
        assert why.decision == model.predict(row[np.newaxis])[0] == "no"
        assert why.score == 0.5


INDICATORS = np.column_stack([X[:, 0] > 0, SIGNAL > 1, X[:, 2] + X[:, 5] > 1]).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        OneVsRestClassifier(SVC()),
        MLPClassifier((6,), max_iter=60, random_state=0),
        MultiOutputClassifier(LogisticRegression()),
        RandomForestClassifier(7, random_state=0),
        KNeighborsClassifier(5),
        GridSearchCV(OneVsRestClassifier(LogisticRegression()), {"estimator__C": [1.0]}, cv=2),
        make_pipeline(MaxAbsScaler(), OneVsRestClassifier(LinearSVC())),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_label_of_several(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, INDICATORS)
    with pytest.raises(
        InputError, match=r"label must be given, as .* decides about 3 labels at once: one of 0, 1, 2"
    ):
        Explainer(model)
    with pytest.raises(InputError, match="label must be one of 0, 1, 2, got 7"):
        Explainer(model, label=7)
    for label in range(3):
        for row, why in zip(X[:15], Explainer(model, label=label).explain_many(X[:15]), strict=True):
            applies = model.predict(row[np.newaxis])[0, label] == 1
            assert why.decision == (f"label {label}" if applies else f"not label {label}")
            if why:
                now = np.where(np.isin(np.arange(len(NAMES)), why.columns), 0.0, row)
                assert (model.predict(now[np.newaxis])[0, label] == 1) != applies


def test_a_label_is_for_models_of_several():
    with pytest.raises(InputError, match=r"label must not be given for LogisticRegression.* give target"):
        Explainer(LogisticRegression().fit(X, BINARY), label="yes")
    with pytest.raises(InputError, match="label must be given, as KNeighborsClassifier decides about 3"):
        Explainer(KNeighborsClassifier().fit(X, INDICATORS).predict_proba)
    with pytest.raises(InputError, match="label must not be given for a function"):
        Explainer(lambda X: X.sum(axis=1), label=0)


def test_functions_of_several_columns_need_no_threshold():
    model = LogisticRegression().fit(X, BINARY)
    for function in (model.predict_proba, lambda rows: model.predict_proba(rows)):
        explainer = Explainer(function, class_names=["no", "yes"])
        assert [why.decision for why in explainer.explain_many(X)] == model.predict(X).tolist()
    three = LogisticRegression().fit(X, THREE)
    for names in (None, ["low", "middle", "high"]):
        explainer = Explainer(lambda rows: three.predict_proba(rows), class_names=names)
        expected = names or ["class 0", "class 1", "class 2"]
        whys = list(explainer.explain_many(X[:20]))
        assert [why.decision for why in whys] == [expected[i] for i in three.predict(X[:20])]
        assert explainer.class_names == tuple(expected)
    with pytest.raises(InputError, match=r"threshold must be given, as .* returns one score a row"):
        Explainer(lambda rows: rows.sum(axis=1)).explain(X[0])
    with pytest.raises(
        InputError, match=r"class_names must have 3 names, as .* returns so many columns, got 2"
    ):
        Explainer(lambda rows: three.predict_proba(rows), class_names=["no", "yes"]).explain(X[0])


def test_a_function_of_csr_gets_csr_though_the_row_is_dense():
    assert Explainer(lambda X: X.toarray().sum(axis=1), threshold=2).explain([1, 1, 0]).size == 1


def test_thresholds_beyond_all_probabilities_are_refused():
    with pytest.raises(
        InputError, match=r"threshold must be between 0 and 1, as .* by probabilities, got 1.5"
    ):
        Explainer(LogisticRegression().fit(X, BINARY), threshold=1.5)
    with pytest.raises(InputError, match="threshold must be between 0 and 1"):
        Explainer(LogisticRegression().fit(X, BINARY).predict_proba, threshold=1.5)


TEXTS = ["refund my card now", "card lost refund please", "see you at lunch", "lunch with mum now"] * 3


@pytest.fixture(scope="module")
def text_model():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        TEXTS, ["spam", "spam", "ham", "ham"] * 3
    )


@pytest.mark.parametrize("removal", ["zero", "delete"])
def test_texts_as_predict_takes_them(text_model, removal):
    explainer = Explainer(text_model, removal=removal)
    alone = [explainer.explain(text) for text in TEXTS[:4]]
    assert [why.decision for why in alone] == text_model.predict(TEXTS[:4]).tolist()
    for form in (list, np.array, pd.Series, pl.Series):
        assert explainer.explain(form(TEXTS[:1])).text == TEXTS[0]
        whys = list(explainer.explain_many(form(TEXTS[:4])))
        assert [(why.text, why.features) for why in whys] == [(why.text, why.features) for why in alone]
        assert len(explainer.decide(form(TEXTS[:4]))[0]) == 4
    for frame in (pd.DataFrame({"id": 7, "text": TEXTS}), pl.DataFrame({"text": TEXTS})):
        if isinstance(frame, pd.DataFrame):  # the pipeline itself would read the names of the columns
            assert len(text_model.predict(frame)) == len(frame.columns)
        for ask in (explainer.explain, lambda rows: list(explainer.explain_many(rows)), explainer.decide):
            with pytest.raises(InputError, match=r"got a frame, .* pass frame\['text'\]"):
                ask(frame)
    with pytest.raises(InputError, match="row must be one text, as the model reads texts, got 2 values"):
        explainer.explain(TEXTS[:2])


class Contrary(Pipeline):
    """A pipeline that decides otherwise than its steps."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_pipeline_that_contradicts_its_steps_is_refused(text_model):
    explainer = Explainer(Contrary(text_model.steps), removal="zero")
    with pytest.raises(ModelError, match="the steps of the model, run one by one, contradict its predict"):
        explainer.explain(TEXTS[0])
    deleted = Explainer(Contrary(text_model.steps)).explain(TEXTS[0])
    assert deleted.decision == Contrary(text_model.steps).predict(TEXTS[:1])[0]


def test_errors_quote_no_texts_and_no_rows(text_model):
    secret = "my card number is one two three four, and my name is Jane Roe " * 20

    def fails(texts):
        raise ValueError(f"cannot read {texts!r} of {texts[0]}")

    failures = []
    for explainer, row in (
        (Explainer(fails, threshold=0, removal="delete"), secret),
        (Explainer(LogisticRegression().fit(X, BINARY)), secret),
        (Explainer(LogisticRegression().fit(X, BINARY)), [secret] * 8),
        (Explainer(LogisticRegression().fit(X, BINARY)), pd.DataFrame([[secret] * 8])),
        (Explainer(text_model), [secret, secret]),
    ):
        with pytest.raises(ButforError) as failure:
            explainer.explain(row)
        failures.append(str(failure.value))
        outcome = explainer.explain_block([row])[0]
        failures.append(str(outcome))
    assert all("one two three four, and my name" not in message for message in failures)
    assert all(len(message) < 450 for message in failures)


def test_words_that_the_model_does_not_know_are_told(text_model):
    with pytest.warns(UnknownNameWarning, match=r"protected names .* 'refnd', perhaps 'refund' is meant"):
        Explainer(text_model, protected=["refnd", "card"])
    with pytest.warns(UnknownNameWarning, match="costs names what the model does not know: 'zebra'"):
        Explainer(text_model, costs={"zebra": 3.0, "Card": 2.0})
    Explainer(text_model, protected=["REFUND", "lunch", "mum"])
    with pytest.raises(InputError, match="no feature has that name, perhaps 'income' is meant"):
        Explainer(lambda X: X.sum(axis=1), threshold=1, feature_names=["income", "age"], protected=["incme"])
