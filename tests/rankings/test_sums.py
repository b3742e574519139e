import tracemalloc

import numpy as np
import pytest

from butfor.rankings import sums
from butfor.rankings.sums import ridge_of_few, solve_positive, weighted_gram, weighted_sums


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("max_cells", [1, 60, 1_000_000])
def test_sums_over_blocks_are_sums_over_all(max_cells, monkeypatch, rng):
    monkeypatch.setattr(sums, "MAX_CELLS", max_cells)
    sets, first, second = rng.random((40, 7)) < 0.4, rng.random(40), rng.random(40)
    z = sets.astype(float)
    np.testing.assert_allclose(weighted_sums(sets, first, second), [z.T @ first, z.T @ second])
    np.testing.assert_allclose(weighted_gram(sets, first), z.T @ np.diag(first) @ z)


@pytest.mark.parametrize("max_cells", [1, 60, 1_000_000])
def test_the_ridge_of_few_sets_is_the_ridge(max_cells, monkeypatch, rng):
    monkeypatch.setattr(sums, "MAX_CELLS", max_cells)
    sets, weights, target = rng.random((6, 20)) < 0.5, rng.random(6), rng.normal(size=6)
    for centre in (rng.random((1, 20)), rng.random((6, 1))):
        z = sets - centre
        normal = z.T @ np.diag(weights) @ z + 0.3 * np.eye(20)
        expected = np.linalg.solve(normal, z.T @ (weights * target))
        np.testing.assert_allclose(ridge_of_few(sets, weights, centre, target, 0.3), expected)


def test_a_singular_system_has_a_short_solution(rng):
    half = rng.normal(size=(5, 3))
    singular = half @ half.T
    target = singular @ rng.normal(size=5)
    solution = solve_positive(singular, target)
    np.testing.assert_allclose(singular @ solution, target, rtol=1e-6)
    shortest = np.linalg.pinv(singular) @ target
    assert np.linalg.norm(solution - shortest) < 1e-5 * np.linalg.norm(shortest)
    np.testing.assert_allclose(solve_positive(np.zeros((0, 0)), np.zeros(0)), [])
    regular = singular + np.eye(5)
    np.testing.assert_allclose(solve_positive(regular, target), np.linalg.solve(regular, target))


def test_the_matrix_is_never_held_as_numbers(rng):
    sets, weights = rng.random((50_000, 100)) < 0.5, np.ones(50_000)
    tracemalloc.start()
    weighted_gram(sets, weights)
    weighted_sums(sets, weights)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < sets.size * 8 / 2
