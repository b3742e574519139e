import numpy as np
import pytest

from butfor import Explainer, InputError, ModelError
from butfor.models.calling.returned import as_outputs, labels_in

WORDS = {"good": 0.5, "fine": 0.1, "bad": -0.5}


def of_labels(texts):
    """What a text classifier of Hugging Face returns with top_k=None: the best label first."""
    answers = []
    for text in texts:
        positive = float(np.clip(0.2 + sum(WORDS.get(word, 0) for word in text.split()), 0, 1))
        scores = [{"label": "POSITIVE", "score": positive}, {"label": "NEGATIVE", "score": 1 - positive}]
        answers.append(sorted(scores, key=lambda each: -each["score"]))
    return answers


def test_labels_with_scores():
    why = Explainer(of_labels, removal="delete").explain("good and fine it is")
    assert (why.features, why.decision, why.decision_without) == (("good",), "POSITIVE", "NEGATIVE")
    turned = Explainer(of_labels, removal="delete", class_names=["POSITIVE", "NEGATIVE"])
    with pytest.raises(InputError, match="class_names must be 'NEGATIVE', 'POSITIVE', in this order"):
        turned.explain("good and fine")


def test_labels_are_sorted_by_their_numbers():
    answers = [[{"label": f"LABEL_{i}", "score": i / 100} for i in (10, 2, 0)]]
    assert labels_in(answers) == ("LABEL_0", "LABEL_2", "LABEL_10")
    assert as_outputs(answers).tolist() == [[0.0, 0.02, 0.1]]


def test_three_labels_in_any_order():
    def model(texts):
        counts = [{label: text.count(label) for label in "abc"} for text in texts]
        return [[{"label": k, "score": float(v)} for k, v in each.items()][::-1] for each in counts]

    explainer = Explainer(model, removal="delete")
    why = explainer.explain("a aa b c")
    assert explainer.class_names == ("a", "b", "c")
    assert why.decision == "a"
    explainer = Explainer(model, removal="delete", target="c", class_names=["a", "b", "c"])
    why = explainer.explain("a aa b c")
    assert (set(why.features), why.decision_without) == ({"a", "aa", "b"}, "c")


def test_the_best_label_alone_is_refused_with_the_line_that_mends_it():
    def model(texts):
        return [each[0] for each in of_labels(texts)]

    with pytest.raises(ModelError, match="call the pipeline with top_k=None"):
        Explainer(model, removal="delete").explain("good and fine")


def test_columns_and_numbers():
    weights = np.array([2.0, 1.0, 1.0])
    for shape in ((-1,), (-1, 1)):
        model = lambda X, shape=shape: (X @ weights).reshape(shape)  # noqa: E731
        assert Explainer(model, threshold=3).explain([1, 1, 1]).columns == (0,)
    two = lambda X: np.column_stack([1 - X @ weights / 4, X @ weights / 4])  # noqa: E731
    assert Explainer(two).explain([1, 0, 1]).columns == (0,)
