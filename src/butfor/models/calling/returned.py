"""What functions return as scores, made one array."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

LABEL, SCORE = "label", "score"


def as_outputs(returned: Any) -> Any:
    """Return what a function returned as an array: one score a row, or one a row and class.

    Besides numbers, tensors and sparse matrices it takes what classifiers of Hugging Face return: for each
    text a list of `{"label": …, "score": …}`, one for each class, in any order; the columns are then by the
    sorted labels.

    >>> as_outputs([[{"label": "no", "score": 0.9}, {"label": "yes", "score": 0.1}]])
    array([[0.9, 0.1]])
    """
    if hasattr(returned, "toarray"):
        return returned.toarray()
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu().numpy()
    labels = labels_in(returned)
    if labels:
        return np.array([[_scores(each)[label] for label in labels] for each in returned], dtype=float)
    return np.asarray(returned)


def labels_in(returned: Any) -> tuple[str, ...]:
    """Return the labels of the first of several answers, sorted; none where they are numbers.

    >>> labels_in([[{"label": "yes", "score": 0.1}, {"label": "no", "score": 0.9}]]), labels_in([0.5])
    (('no', 'yes'), ())
    """
    if not isinstance(returned, Sequence) or isinstance(returned, str) or not len(returned):
        return ()
    first = returned[0]
    is_list = isinstance(first, Sequence) and bool(first) and all(isinstance(each, dict) for each in first)
    if isinstance(first, dict) and {LABEL, SCORE} <= set(first):
        raise ValueError(
            "a score for every label expected, got the best label alone: call the pipeline with top_k=None"
        )
    return tuple(sorted(_scores(first), key=_by_number)) if is_list else ()


def _by_number(label: str) -> tuple[str, int]:
    """Return what labels are sorted by: LABEL_2 comes before LABEL_10."""
    digits = re.search(r"\d*$", label)
    number = digits.group() if digits else ""
    return label.removesuffix(number), int(number or -1)


def _scores(answer: Any) -> dict[str, float]:
    return {str(each[LABEL]): float(each[SCORE]) for each in answer}
