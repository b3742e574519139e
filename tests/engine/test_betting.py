import numpy as np
import pytest

from butfor._engine.betting import MeanTest


def ever_shown(rng, draw, value, alpha, n_numbers=300):
    test = MeanTest(value)
    for number in draw(rng, n_numbers):
        test.take(float(number))
        if test.is_shown(alpha):
            return True
    return False


DRAWS = {
    "votes": lambda mean: lambda rng, n: rng.random(n) < mean,
    "shares": lambda mean: lambda rng, n: rng.beta(10 * mean, 10 * (1 - mean), n),
    "two levels": lambda mean: lambda rng, n: np.where(rng.random(n) < 0.5, mean - 0.1, mean + 0.1),
    "rare and large": lambda mean: lambda rng, n: rng.random(n) < mean,
}


@pytest.mark.parametrize("value", [0.5, 0.15, 0.9])
@pytest.mark.parametrize("kind", DRAWS)
def test_a_mean_at_the_value_is_hardly_ever_called_above_it(kind, value):
    """Looked at after each of 300 numbers, 400 times, with a chance of at most 0.1 that it is called so."""
    rng = np.random.default_rng(0)
    draw = DRAWS[kind](value)
    wrong = sum(ever_shown(rng, draw, value, 0.1) for _ in range(400))
    assert wrong <= 400 * 0.1 + 2 * np.sqrt(400 * 0.09)


@pytest.mark.parametrize("kind", DRAWS)
def test_a_mean_that_is_above_is_called_so(kind):
    rng = np.random.default_rng(1)
    draw = DRAWS[kind](0.7)
    assert sum(ever_shown(rng, draw, 0.5, 0.02) for _ in range(50)) >= 48


def test_values_at_the_ends():
    for value, number in ((0.0, 0.2), (1.0, 1.0)):
        test = MeanTest(value)
        for _ in range(50):
            test.take(number)
        assert test.is_shown(0.05) == (value == 0.0)
