import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Budget, Explainer, Noise

X = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
LINEAR = LogisticRegression().fit(X, ["no", "yes", "yes", "no"])
MANY = LogisticRegression().fit(X, ["a", "b", "c", "a"])
TEXTS = make_pipeline(CountVectorizer(), LogisticRegression()).fit(["win now", "see you"], ["spam", "ham"])


def total(rows):
    return rows.sum(axis=1)


def lines(explainer):
    """Return the title of an outline and its lines by name."""
    title, *others = repr(explainer).splitlines()
    return title, {name.strip(): text.strip() for name, text in (line.split(":", 1) for line in others)}


def test_a_linear_model():
    title, said = lines(Explainer(LINEAR, feature_names=["free", "prize", "call"]))
    assert title == "Explainer of LogisticRegression.predict_proba"
    assert said == {
        "model": "linear, evaluated by its formula: answers can be proven",
        "rows": "numbers in 3 columns: 'free', 'prize', 'call'",
        "decision": "'yes' from a score of 0.5 on, else 'no', as its own predict decides",
        "search": "auto",
        "limits": "30 units, 120 seconds for each row",
    }


def test_options_are_shown_where_they_were_given():
    explainer = Explainer(
        LINEAR,
        feature_names=["free", "prize", "call"],
        threshold=0.75,
        search="certified",
        budget=Budget(max_size=1, max_seconds=0.5, max_scorings=100),
        protected=["prize"],
        costs={"words": 2},
        groups={"free": "words", "call": "words", "prize": "prize"},
    )
    _, said = lines(explainer)
    assert said["decision"] == "'yes' from a score of 0.75 on, else 'no'"
    assert said["search"] == "certified"
    assert said["limits"] == "1 unit, 0.5 seconds, 100 scorings for each row"
    assert "'prize'" in said["protected"]
    assert "cheapest" in said["costs"]
    assert "go together" in said["groups"]


def test_protected_columns_have_their_names():
    _, said = lines(Explainer(LINEAR, feature_names=["free", "prize", "call"], protected=[1]))
    assert said["protected"] == "'prize'"


def test_texts_and_what_removal_means():
    assert lines(Explainer(TEXTS))[1]["rows"] == (
        "texts; the unit is a word, and to remove it means that it is deleted"
    )
    zero = Explainer(TEXTS, removal="zero", unit="occurrence")
    assert lines(zero)[1]["rows"].endswith(
        "an occurrence, and to remove it means that its columns become zero"
    )


def test_functions():
    title, said = lines(Explainer(total, threshold=1.5))
    assert title == "Explainer of total"
    assert said["model"].startswith("black box, which can only be asked")
    assert said["rows"] == "numbers"
    assert said["decision"] == "positive from a score of 1.5 on, else negative"
    assert lines(Explainer(total))[1]["decision"] == "known once the model has scored its first row"


def test_several_classes_and_a_target():
    assert lines(Explainer(MANY))[1]["decision"] == "one of 3 classes: 'a', 'b', 'c'"
    assert lines(Explainer(MANY, target="b"))[1]["decision"].endswith("; must become 'b'")


@pytest.mark.parametrize("noise", [Noise(confidence=0.9), 0.01])
def test_scores_that_vary(noise):
    _, said = lines(Explainer(total, threshold=1.5, noise=noise))
    assert said["model"].endswith("answers are not proven")
    assert said["noise"] == repr(noise)


def test_records():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "income": [0.0, 1.0, 0.0, 1.0]})
    model = LogisticRegression().fit(frame, [0, 1, 0, 1])
    _, said = lines(Explainer(model, absent=0))
    assert said["rows"] == "records (frame) of 2 columns: 'age', 'income'"


def test_names_are_cut_and_safe_to_print():
    names = ["\x1b[31mred", "x" * 100, "\u202eleft", "last"]
    _, said = lines(Explainer(lambda rows: rows.sum(axis=1), threshold=1, feature_names=names))
    assert said["rows"] == f"numbers in 4 columns: '\\x1b[31mred', '{'x' * 39}…', '\\u202eleft', …"


def test_it_changes_with_the_options():
    explainer = Explainer(LINEAR).with_options(search="certified", budget=Budget(max_size=2))
    assert lines(explainer)[1]["search"] == "certified"
    assert lines(explainer)[1]["limits"].startswith("2 units")
