"""What stands for absence in encoded columns, and models whose encoders take unknown categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from butfor.models.records.absence import UNKNOWN, absences_of, relaxed, unknown_to

FRAME = pd.DataFrame({"country": ["US", "AT", "DE", "US"] * 5, "zip": [1010, 1020, 1010, 1030] * 5})
LABELS = [0, 1, 1, 0] * 5


def words(encoder, frame=FRAME):
    return [None if each is None else each.in_words for each in absences_of(encoder.fit(frame, LABELS))]


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        (OneHotEncoder(handle_unknown="ignore"), ["unknown", "unknown"]),
        (OneHotEncoder(), ["unknown", "unknown"]),
        (OneHotEncoder(drop="first"), ['"AT"', "1010"]),
        (OneHotEncoder(drop=["US", 1030]), ['"US"', "1030"]),
        (OneHotEncoder(drop="if_binary"), ["unknown", "unknown"]),
        (OrdinalEncoder(), [None, None]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["unknown", "unknown"]),
        (TargetEncoder(), ["unknown", "unknown"]),
    ],
)
def test_absence_follows_from_the_encoder(encoder, expected):
    assert words(encoder) == expected


def test_a_missing_category_that_was_learned_from_is_absence():
    frame = FRAME.assign(country=["US", None, "DE", "US"] * 5)
    assert words(OneHotEncoder(), frame) == ["missing", "unknown"]


def test_an_unknown_value_is_none_of_those_that_are_known():
    assert unknown_to(np.array(["a", UNKNOWN], dtype=object)).value == f"{UNKNOWN}?"
    assert unknown_to(np.array([3, 8])).value == 9
    assert unknown_to(np.array([0.5, 2.5])).value == 3.0
    assert unknown_to(np.array([False, True])) is None


def test_only_encoders_that_raise_are_relaxed():
    fine = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"])), LogisticRegression()
    ).fit(FRAME, LABELS)
    assert relaxed(fine) is fine
    model = make_pipeline(
        make_column_transformer((make_pipeline(OneHotEncoder()), ["country"])), LogisticRegression()
    )
    for strict in (model.fit(FRAME, LABELS), GridSearchCV(model, {}, cv=2).fit(FRAME, LABELS)):
        unknown = FRAME.assign(country="Atlantis")
        with pytest.raises(ValueError, match="unknown categories"):
            strict.predict(unknown)
        other = relaxed(strict)
        assert len(other.predict(unknown)) == len(unknown)
        assert (other.predict_proba(FRAME) == strict.predict_proba(FRAME)).all()
        with pytest.raises(ValueError, match="unknown categories"):  # the user's model is as it was
            strict.predict(unknown)
