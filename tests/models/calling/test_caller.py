import asyncio
import pickle
import sqlite3
import threading

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from butfor import Calls, Explainer, InputError, ModelError
from butfor.models.calling.cache import keys_of

WEIGHTS = np.linspace(1, 2, 20)
ROWS = (np.random.default_rng(0).random((15, 20)) < 0.7).astype(float)


def score(X):
    return X @ WEIGHTS


class Recorded:
    """A model that writes down the sizes of its calls and how many run at once."""

    def __init__(self, fails_at=()):
        self.sizes, self.running, self.most, self.fails_at = [], 0, 0, set(fails_at)
        self.lock, self.meeting = threading.Lock(), threading.Barrier(3)

    def _begin(self, n_rows):
        with self.lock:
            self.sizes.append(n_rows)
            number = len(self.sizes)
            self.running += 1
            self.most = max(self.most, self.running)
        if number in self.fails_at:
            raise ConnectionResetError("gone")

    def __call__(self, X):
        try:
            self._begin(X.shape[0])
            return score(X)
        finally:
            self.running -= 1


def test_a_call_carries_no_more_than_was_said():
    model = Recorded()
    why = Explainer(model, threshold=15, calls=Calls(batch_size=4)).explain(ROWS[0])
    assert max(model.sizes) <= 4
    assert why.columns == Explainer(score, threshold=15).explain(ROWS[0]).columns


def test_several_calls_run_at_the_same_time_in_threads():
    model = Recorded()

    def meets(X):  # the first three calls of full size wait for one another
        with model.lock:
            model.sizes.append(X.shape[0])
            waits = X.shape[0] == 5 and model.sizes.count(5) <= 3
        if waits:
            model.meeting.wait(timeout=20)
        return score(X)

    Explainer(meets, threshold=15, calls=Calls(batch_size=5, concurrency=3)).explain(np.ones(20))
    assert model.sizes.count(5) >= 4


def test_an_async_function_is_awaited_with_a_given_concurrency():
    most, running = 0, 0

    async def model(texts):
        nonlocal most, running
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return [0.3 * ("free" in text) + 0.3 * ("prize" in text) for text in texts]

    text = "claim your free prize now or lose the whole prize"
    explainer = Explainer(model, threshold=0.5, removal="delete", calls=Calls(batch_size=1, concurrency=4))
    assert explainer.explain(text).size == 1
    assert most == 4
    assert Explainer(model, threshold=0.5, removal="delete").explain(text).size == 1  # without Calls

    async def in_a_loop():  # as in a notebook
        return explainer.explain(text).size

    assert asyncio.run(in_a_loop()) == 1


def test_an_async_object_and_its_errors():
    class Model:
        async def __call__(self, X):
            if X.shape[0] > 1:
                raise ValueError("too many")
            return score(X)

    assert Explainer(Model(), threshold=15, calls=Calls(batch_size=1)).explain(ROWS[0])
    explainer = Explainer(Model(), threshold=15)
    with pytest.raises(ModelError, match="raised ValueError on"):
        explainer.explain(ROWS[0])


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_failures_that_may_pass_are_tried_again(kind, monkeypatch):
    waits = []
    monkeypatch.setattr("butfor.models.calling.caller.time.sleep", waits.append)

    async def no_sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr("butfor.models.calling.caller.asyncio.sleep", no_sleep)
    model = Recorded(fails_at=(2, 3))

    async def awaited(X):
        return model(X)

    function = model if kind == "plain" else awaited
    assert Explainer(function, threshold=15, calls=Calls(retries=2)).explain(ROWS[0])
    assert [1 <= waits[0] <= 1.5, 2 <= waits[1] <= 3] == [True, True]
    explainer = Explainer(Recorded(fails_at=(2, 3)), threshold=15, calls=Calls(retries=1, wait=1e-3))
    with pytest.raises(ModelError, match="ConnectionResetError"):
        explainer.explain(ROWS[0])


def test_other_failures_are_not_tried_again():
    calls = []

    def wrong(X):
        calls.append(1)
        raise ValueError("no such column")

    def n_calls(**options):
        calls.clear()
        explainer = Explainer(wrong, threshold=15, calls=Calls(**options))
        with pytest.raises(ModelError, match="no such column"):
            explainer.explain(ROWS[0])
        return len(calls)

    once = n_calls()
    assert n_calls(retries=5) == once
    assert n_calls(retries=2, wait=1e-3, retry_on=[ValueError]) == 3 * once


class TestCache:
    def test_a_second_run_pays_for_one_score(self, tmp_path):
        first, second = Recorded(), Recorded()
        calls = Calls(cache=tmp_path / "scores.sqlite")
        whys = [
            list(Explainer(model, threshold=15, calls=calls).explain_many(ROWS)) for model in (first, second)
        ]
        assert [why.columns for why in whys[0]] == [why.columns for why in whys[1]]
        assert sum(first.sizes) > 200
        assert sum(second.sizes) == 1  # to see that it is the same model

    def test_what_was_paid_before_an_interrupt_is_kept(self, tmp_path):
        model = Recorded(fails_at=(5,))
        calls = Calls(cache=tmp_path / "scores.sqlite", batch_size=3)
        interrupted = Explainer(model, threshold=15, calls=calls)
        with pytest.raises(ModelError):
            interrupted.explain(ROWS[0])
        paid = sum(model.sizes[:4])
        again = Recorded()
        Explainer(again, threshold=15, calls=calls).explain(ROWS[0])
        alone = Recorded()
        Explainer(alone, threshold=15, calls=Calls(batch_size=3)).explain(ROWS[0])
        kept = sqlite3.connect(tmp_path / "scores.sqlite").execute("SELECT count(*) FROM scores").fetchone()
        assert kept[0] < sum(alone.sizes)  # the row and the answer are asked about twice without a cache
        assert sum(again.sizes) == kept[0] - paid + 1

    def test_another_model_is_noticed(self, tmp_path):
        calls = Calls(cache=tmp_path / "scores.sqlite")
        Explainer(score, threshold=15, calls=calls).explain(ROWS[0])
        other = Explainer(lambda X: 2 * score(X), threshold=15, calls=calls)
        with pytest.raises(InputError, match="cache must hold scores of this model"):
            other.explain(ROWS[0])

    def test_a_file_of_another_kind(self, tmp_path):
        (tmp_path / "notes.txt").write_text("not a database\n" * 100)
        explainer = Explainer(score, threshold=15, calls=Calls(cache=tmp_path / "notes.txt"))
        with pytest.raises(InputError, match="cache must be a file for scores"):
            explainer.explain(ROWS[0])

    def test_it_goes_to_other_processes(self, tmp_path):
        explainer = Explainer(score, threshold=15, calls=Calls(cache=tmp_path / "scores.sqlite"))
        expected = explainer.explain(ROWS[0]).columns
        assert pickle.loads(pickle.dumps(explainer)).explain(ROWS[0]).columns == expected

    def test_several_classes_and_texts(self, tmp_path):
        def model(texts):
            return [[text.count("a") + 1, text.count("b"), 0] for text in texts]

        calls = Calls(cache=tmp_path / "scores.sqlite")
        for _ in range(2):
            explainer = Explainer(model, class_names=["a", "b", "c"], removal="delete", calls=calls)
            assert explainer.explain("b bb a").decision == "b"

    def test_texts_are_not_in_the_file(self, tmp_path):
        path = tmp_path / "scores.sqlite"
        explainer = Explainer(len_score, threshold=5, removal="delete", calls=Calls(cache=path))
        explainer.explain("a very secret message")
        assert b"secret" not in path.read_bytes()


def len_score(texts):
    return [float(len(text)) for text in texts]


def test_keys_tell_contents_apart_not_places():
    frame = pd.DataFrame({"a": [1, 2, 1], "b": ["x", "y", "x"]}, index=[5, 6, 7])
    first, second, third = keys_of(frame)
    assert first == third != second
    assert keys_of(frame.astype({"a": "float32"}))[0] != first
    dense = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert len(set(keys_of(dense))) == 1
    assert keys_of(dense)[0] != keys_of(dense.astype("float32"))[0]
    assert keys_of(sparse.csr_matrix(dense))[0] not in keys_of(dense)
    assert len(set(keys_of([{"a": 1}, {"a": 2}, "a", ["a"]]))) == 4


def test_bad_arguments():
    with pytest.raises(InputError, match="calls must be a Calls"):
        Explainer(score, threshold=1, calls={"batch_size": 3})
    for wrong in ({"batch_size": 0}, {"retries": -1}, {"wait": 0}, {"concurrency": 0}, {"retry_on": ["x"]}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must"):
            Calls(**wrong)
