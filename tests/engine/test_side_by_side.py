import threading
import time

import numpy as np
import pytest
from scipy import sparse

from butfor import SEARCHES, Budget, Explainer, ModelError
from butfor._engine import side_by_side as module
from butfor.models.local import black_box

RNG = np.random.default_rng(0)
WEIGHTS, BENDS = RNG.normal(size=40), RNG.normal(size=(40, 6))
ROWS = sparse.csr_matrix((RNG.random((50, 40)) < 0.5).astype(float))


def bent(X):
    return 1 / (1 + np.exp(-X @ WEIGHTS - np.tanh(X @ BENDS).sum(axis=1)))


class Recorded:
    """A model that writes down its calls, and who calls it."""

    def __init__(self, score=bent):
        self.score, self.sizes, self.threads = score, [], set()

    def __call__(self, X):
        self.sizes.append(X.shape[0] if hasattr(X, "shape") else len(X))
        self.threads.add(threading.current_thread())
        return self.score(X)


def same(one, other):
    names = ("status", "columns", "lower_bound", "n_scored", "n_asked", "path", "score", "score_without")
    for name in names:
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), name


@pytest.mark.parametrize("search", SEARCHES)
def test_answers_are_those_of_each_row_by_itself_in_fewer_calls(search):
    alone, together = Recorded(), Recorded()
    budget = Budget(max_size=4)
    rows = ROWS[:30]
    one_by_one = Explainer(alone, threshold=0.5, search=search, budget=budget)
    expected = [one_by_one.explain(row) for row in rows]
    many = Explainer(together, threshold=0.5, search=search, budget=budget)
    for one, other in zip(expected, many.explain_many(rows), strict=True):
        same(one, other)
    assert len(together.sizes) < len(alone.sizes)
    assert together.threads == {threading.main_thread()}


def test_a_slow_function_is_called_a_fifth_as_often_at_most():
    alone, together = Recorded(), Recorded()
    explainer = Explainer(alone, threshold=0.5)
    for row in ROWS:
        explainer.explain(row)
    list(Explainer(together, threshold=0.5).explain_many(ROWS))
    assert 5 * len(together.sizes) <= len(alone.sizes)
    # The first row is scored once more at the door. Last bits of scores, which depend on the rows of a call,
    # decide here and there what is asked next.
    assert sum(together.sizes) == pytest.approx(sum(alone.sizes) + 1, abs=10)


def test_texts_records_and_dense_rows_share_calls():
    def score(texts):
        return [0.2 + 0.3 * ("good" in text) + 0.3 * ("fine" in text) for text in texts]

    model = Recorded(score)
    texts = ["a good and fine day", "fine weather, good food", "so good, so fine", "nothing"] * 5
    explainer = Explainer(model, threshold=0.4, removal="delete")
    found = list(explainer.explain_many(texts))
    assert [set(why.features) for why in found[:3]] == [{"good", "fine"}] * 3
    assert len(model.sizes) < 25
    dense = Recorded(lambda X: bent(np.asarray(X)))
    assert all(list(Explainer(dense, threshold=0.5).explain_many(ROWS.toarray()[:5])))


def test_a_row_on_which_the_model_fails_costs_only_itself():
    def fails(X):
        if (X[:, [0]].toarray() == 7).any():
            raise RuntimeError("seven")
        return bent(X)

    def fails_in_search(X):
        X = X.toarray()
        if ((X[:, 0] == 7) & (np.count_nonzero(X, axis=1) < n_active)).any():
            raise RuntimeError("seven")
        return bent(X)

    rows = ROWS[:10].tolil()
    rows[3, 0] = 7
    n_active = rows[3].nnz
    for model in (fails, fails_in_search):
        explainer = Explainer(model, threshold=0.5)
        outcomes = list(explainer.explain_many(rows.tocsr(), errors="keep"))
        assert isinstance(outcomes[3], ModelError)
        assert "seven" in str(outcomes[3])
        assert all(outcomes[:3] + outcomes[4:])


def test_waiting_for_others_is_not_a_rows_own_time(clock):
    def score(X):
        clock.seconds += 0.01 * X.shape[0]
        return bent(X)

    budget = Budget(max_seconds=3.0)
    found = list(Explainer(score, threshold=0.5, budget=budget).explain_many(ROWS[:30]))
    assert clock.seconds > 6.0
    assert all(why.reason != "max_seconds=3 reached" for why in found)
    for why in found:
        assert why.seconds == pytest.approx(0.01 * why.n_asked, rel=0.2)


def test_the_deadline_of_a_row_holds(clock):
    def score(X):
        clock.seconds += 0.01 * X.shape[0]
        return np.ones(X.shape[0])

    found = list(Explainer(score, threshold=0.5, budget=Budget(max_seconds=1.0)).explain_many(ROWS[:5]))
    assert [why.status for why in found] == ["budget"] * 5
    assert all(why.seconds < 2.0 for why in found)


def test_an_interrupt_leaves_no_thread_behind():
    calls = []

    def score(X):
        calls.append(X.shape[0])
        if len(calls) == 6:
            raise KeyboardInterrupt
        return bent(X)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        list(Explainer(score, threshold=0.5).explain_many(ROWS))
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before


def test_calls_grow_while_that_pays():
    pace = module._CallSize(0.01)
    assert pace.most_rows == 100  # a second
    pace.note(100, 1.0)
    assert pace.most_rows == 100  # no faster for each row
    slow = module._CallSize(0.5)
    sizes = []
    for _ in range(5):
        sizes.append(slow.most_rows)
        slow.note(slow.most_rows, 2.0)  # two seconds, however many rows
    assert sizes == [32, 64, 128, 256, 512]


def test_a_large_call_is_cut_where_memory_would_not_hold_it(monkeypatch):
    for each in (module, black_box):
        monkeypatch.setattr(each, "MAX_VALUES", 2_000)
    values = []

    def score(X):
        values.append(X.nnz)
        return bent(X)

    assert len(list(Explainer(score, threshold=0.5).explain_many(ROWS[:20]))) == 20
    assert max(values) <= 2_000
