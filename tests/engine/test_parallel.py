"""Many rows, one after the other, in one process and in several."""

import numpy as np
import pytest
from same_explanations import assert_same
from scipy import sparse

from butfor import Budget, Explainer, Explanation, Explanations, InputError
from butfor._engine import parallel


@pytest.fixture
def explainer(club_model, moviegoers):
    return Explainer(club_model, feature_names=moviegoers.feature_names)


def test_processes_give_the_same(explainer, moviegoers, monkeypatch):
    monkeypatch.setattr("butfor._engine.many_rows.LINEAR_ROWS_AT_ONCE", 20)
    X = moviegoers.X[:90]
    alone = [explainer.explain(X[[i]]) for i in range(90)]
    assert_same(list(explainer.explain_many(X)), alone)
    assert_same(list(explainer.explain_many(X, jobs=2)), alone)


def test_a_function_of_this_file_in_processes(moviegoers, club_model):
    weights = club_model.coef_[0]
    explainer = Explainer(lambda X: X @ weights, threshold=0.0, budget=Budget(max_size=2))
    X = moviegoers.X[:70]
    assert_same(list(explainer.explain_many(X, jobs=2)), list(explainer.explain_many(X)))


def test_texts_frames_arrays_and_lists_of_rows():
    import pandas as pd

    explainer = Explainer(lambda X: X.sum(axis=1), threshold=1.5)
    dense = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]])
    expected = [explainer.explain(row) for row in dense]
    for rows in (
        dense,
        dense.tolist(),
        pd.DataFrame(dense),
        sparse.coo_array(dense),
        list(sparse.csr_matrix(dense)),
    ):
        assert_same(list(explainer.explain_many(rows)), expected)


def test_rows_that_come_one_by_one_are_explained_as_they_come():
    read = []

    def rows():
        for i in range(5):
            read.append(i)
            yield [1, 1, i]

    explanations = Explainer(lambda X: X.sum(axis=1), threshold=1.5).explain_many(rows())
    assert read == []
    assert isinstance(next(explanations), Explanation)
    assert read == [0]
    assert len(list(explanations)) == 4


def test_no_more_is_worked_ahead_than_a_few_pieces(monkeypatch):
    monkeypatch.setattr("butfor._engine.many_rows.ROWS_AT_ONCE", 2)
    read = []

    def rows():
        for i in range(100):
            read.append(i)
            yield [1, 1, 1]

    explanations = Explainer(lambda X: X.sum(axis=1), threshold=1.5).explain_many(rows(), jobs=2)
    next(explanations)
    assert len(read) <= 2 * parallel.AHEAD * 2 + 2
    explanations.close()


def test_progress(explainer, moviegoers):
    told = []
    list(explainer.explain_many(moviegoers.X[:30], progress=lambda done, total: told.append((done, total))))
    assert told == [(30, 30)]
    told.clear()
    list(explainer.explain_many(iter(moviegoers.X[:3]), progress=lambda *each: told.append(each)))
    assert told == [(1, None), (2, None), (3, None)]


def test_a_row_that_fails_raises_or_is_kept(explainer, moviegoers):
    X = moviegoers.X[:5].astype(float).toarray()
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="finite") as caught:
        list(explainer.explain_many(X))
    assert caught.value.__notes__ == ["It is row 3 of those given."]
    kept = list(explainer.explain_many(X, errors="keep"))
    assert [isinstance(each, InputError) for each in kept] == [False, False, False, True, False]
    whys = Explanations(kept)
    assert (whys.rows, list(whys.errors)) == ((0, 1, 2, 4), [3])


@pytest.mark.parametrize(
    ("options", "words"),
    [({"jobs": 0}, "jobs must be"), ({"errors": "skip"}, "errors must be"), ({"rows": "free"}, "one text")],
)
def test_bad_arguments_are_refused_at_once(explainer, options, words):
    with pytest.raises(InputError, match=words):
        explainer.explain_many(**{"rows": np.ones((1, 3))} | options)
