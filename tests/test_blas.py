from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from butfor import Explainer
from butfor._blas import one_thread


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    """Also where there is one core only."""
    with threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("the linear algebra of this machine has one thread only")
        yield


def test_linear_algebra_has_one_thread_meanwhile():
    with one_thread():
        assert threads() == {1}
    assert threads() == {2}


def test_an_error_ends_it():
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads() == {2}


def test_inside_of_itself_it_does_nothing():
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_of_two_threads_one_limits():
    """Else the second would take the limit of the first for the number to go back to."""

    def inside():
        with one_thread():
            return threads()

    with one_thread(), ThreadPoolExecutor(1) as other:
        assert other.submit(inside).result() == {1}
    assert threads() == {2}


@pytest.mark.parametrize("n_rows", [1, 3])
def test_the_model_has_all_threads(n_rows):
    seen = []

    def score(X):
        seen.append(threads())
        return X @ np.linspace(1, 2, 40)

    explainer = Explainer(score, threshold=50, search="thrifty")
    rows = np.ones((n_rows, 40))
    whys = [explainer.explain(rows[0])] if n_rows == 1 else list(explainer.explain_many(rows))
    assert all(whys)
    assert seen
    assert set(map(frozenset, seen)) == {frozenset({2})}
