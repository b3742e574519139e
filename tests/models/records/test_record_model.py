"""What is learned of models that take records, from their first steps."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from butfor.models.records import split_record_model
from butfor.models.records.record_model import reads_items

FRAME = pd.DataFrame(
    {
        "plan": ["free", "pro", "free", "pro"],
        "zip": [1, 2, 2, 1],
        "age": [30, 40, 50, 60],
        "subject": ["a refund", "my card", "card and refund", "hello there"],
    }
)
LABELS = [0, 1, 0, 1]


def fitted(front, X=FRAME):
    return make_pipeline(front, LogisticRegression()).fit(X, LABELS)


def test_columns_are_what_the_steps_make_of_them():
    front = make_column_transformer(
        (TfidfVectorizer(), "subject"), (OneHotEncoder(), ["zip", "plan"]), (StandardScaler(), ["age"])
    )
    model = split_record_model(fitted(front))
    assert model.form == "frame"
    assert model.columns == ("plan", "zip", "age", "subject")  # as in the frame
    assert model.kinds == {"plan": "category", "zip": "category", "age": "number", "subject": "text"}
    assert model.codes == {"zip"}
    assert model.categories == {"zip": (1, 2), "plan": ("free", "pro")}
    assert model.steps is not None


def test_columns_that_are_dropped_are_not_read():
    front = make_column_transformer((OneHotEncoder(), ["plan"]), ("drop", ["age"]))
    assert split_record_model(fitted(front)).columns == ("plan",)


@pytest.mark.parametrize(
    "front",
    [
        make_column_transformer((make_pipeline(TfidfVectorizer(), TruncatedSVD(2)), "subject")),
        ColumnTransformer(
            [("a", CountVectorizer(), "subject"), ("b", HashingVectorizer(n_features=16), "subject")],
            transformer_weights={"a": 2.0},
        ),
        make_pipeline(make_column_transformer((OneHotEncoder(), ["plan"])), MaxAbsScaler()),
    ],
)
def test_steps_behind_are_known(front):
    assert split_record_model(fitted(front)).steps is not None


def test_rows_of_numbers_are_no_records():
    X = np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]])
    for front in (
        StandardScaler(),
        ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"),
    ):
        assert split_record_model(fitted(front, X)) is None
    assert split_record_model(LogisticRegression().fit(X, LABELS)) is None
    assert split_record_model(lambda rows: rows) is None


def test_arrays_of_objects_and_dicts_have_a_form_of_their_own():
    objects = FRAME[["plan", "zip"]].to_numpy(dtype=object)
    assert split_record_model(fitted(OneHotEncoder(), objects)).form == "array"
    by_number = ColumnTransformer([("a", OneHotEncoder(), [0])], remainder="passthrough")
    assert split_record_model(fitted(by_number, objects)).columns == (0, 1)
    assert split_record_model(fitted(DictVectorizer(), FRAME.to_dict("records"))).form == "dicts"


def test_an_analyzer_that_returns_what_it_is_given_takes_lists():
    assert reads_items(CountVectorizer(analyzer=lambda items: items))
    assert reads_items(CountVectorizer(tokenizer=lambda items: items, preprocessor=lambda items: items))
    assert reads_items(CountVectorizer(analyzer=lambda items: [item.name for item in items]))
    assert not reads_items(CountVectorizer())
    assert not reads_items(CountVectorizer(analyzer=str.split))
    assert not reads_items(CountVectorizer(tokenizer=str.split))


def test_a_vectoriser_of_characters_reads_texts():
    assert not reads_items(CountVectorizer(analyzer=list).fit(["a text", "some more"]))
    assert reads_items(CountVectorizer(analyzer=list).fit([["a", "b"], ["shop"]]))
