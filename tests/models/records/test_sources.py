"""What the first steps of models make of records, held against the steps themselves on changed copies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from butfor import Explainer
from butfor.models.counted import NoFormula

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": rng.choice(["x", "y", "z", None], 60, p=[0.4, 0.3, 0.2, 0.1]),
        "b": rng.choice([1, 2, 3], 60),
        "n": rng.normal(size=60).round(3),
        "m": np.where(rng.random(60) < 0.2, np.nan, rng.integers(0, 9, 60)),
    }
)
LABELS = rng.integers(0, 2, 60)
ENCODERS = {
    "one-hot": OneHotEncoder(handle_unknown="ignore"),
    "rare": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=15, sparse_output=False),
    "imputed": make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
    "codes": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
    "means": TargetEncoder(random_state=0),
}
NUMBERS = {
    "scaled": make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
    "bins": make_pipeline(SimpleImputer(), KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")),
    "splines": make_pipeline(SimpleImputer(), SplineTransformer(3)),
    "powers": make_pipeline(SimpleImputer(), PowerTransformer()),
}


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_numbers_are_those_of_the_steps_on_changed_copies(encoder, numbers):
    front = ColumnTransformer([("c", ENCODERS[encoder], ["a", "b"]), ("n", NUMBERS[numbers], ["n", "m"])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(front, LogisticRegression(max_iter=1000)).fit(FRAME, LABELS)
    explainer = Explainer(model, absent={"n": 0.5})
    for i in range(8):
        row = explainer._engine.read(FRAME.iloc[[i]]).row
        for number, source in enumerate(row.model.sources):
            contributions, _ = source.contributions(row, 4)
            sets = rng.random((6, row.n_units)) < 0.5
            theirs = row.recounted(number, sets).toarray()
            for line, expected in zip(sets, theirs, strict=True):
                ours = np.zeros(source.n_columns())
                for column, value in contributions.counts(set(np.flatnonzero(line).tolist())).items():
                    ours[column] = value
                assert ours == pytest.approx(expected, abs=1e-12)


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.one_of(st.sampled_from("xyz"), st.lists(st.sampled_from("uvw")))
    )
)
def test_dicts_add_up_key_by_key_and_item_by_item(record):
    records = [{"a": "x", "b": ["u", "v"]}, {"a": ["u"], "c": "z"}, {"b": "y", "c": ["w", "u"]}, {"a": "y"}]
    model = make_pipeline(DictVectorizer(), LogisticRegression()).fit(records, [0, 1, 1, 0])
    explainer = Explainer(model)
    row = explainer._engine.read(record).row
    contributions, _ = row.model.sources[0].contributions(row, 4)
    for number in range(2 ** min(row.n_units, 6)):
        line = np.array([bool(number >> unit & 1) for unit in range(row.n_units)], dtype=bool)
        expected = row.recounted(0, line[np.newaxis]).toarray()[0]
        ours = contributions.counts(set(np.flatnonzero(line).tolist()))
        assert {column: value for column, value in enumerate(expected) if value} == ours


def test_a_function_of_items_that_looks_at_several_of_them_is_asked():
    def with_length(items):
        return [*items, f"{len(items)} of them"]

    lists = [["a", "b"], ["a"], ["b", "c"], ["c"]]
    model = make_pipeline(CountVectorizer(analyzer=with_length), LogisticRegression()).fit(
        lists, [1, 0, 1, 0]
    )
    explainer = Explainer(model)
    row = explainer._engine.read(["a", "b"]).row
    with pytest.raises(NoFormula):
        row.model.sources[0].contributions(row, 4)
    why = explainer.explain(["a", "b"])
    assert why.local_model == "black box"
    assert why.decision == str(model.predict([["a", "b"]])[0])
