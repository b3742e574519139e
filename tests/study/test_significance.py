from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from butfor import InputError
from butfor.study.significance import LEVEL, exact_p, is_significantly_worse, mcnemar_mid_p

COUNTS = st.integers(0, 300)


def tail(n12: int, n21: int) -> Fraction:
    """Sum the probabilities of min(n12, n21) heads or fewer, in exact numbers."""
    n = n12 + n21
    return Fraction(sum(comb(n, k) for k in range(min(n12, n21) + 1)), 2**n)


def test_the_papers_example():
    assert round(exact_p(119, 92), 3) == 0.037
    assert round(mcnemar_mid_p(119, 92), 3) == 0.032


@given(COUNTS, COUNTS)
def test_as_in_exact_numbers(n12, n21):
    if n12 == n21:
        assert exact_p(n12, n21) == mcnemar_mid_p(n12, n21) == 1
        return
    half_point = Fraction(comb(n12 + n21, n12), 2 ** (n12 + n21 + 1))
    assert exact_p(n12, n21) == pytest.approx(float(tail(n12, n21)), rel=1e-9)
    assert mcnemar_mid_p(n12, n21) == pytest.approx(float(tail(n12, n21) - half_point), rel=1e-9)


@given(COUNTS, COUNTS)
def test_mid_p_lies_between_half_the_exact_p_and_all_of_it(n12, n21):
    exact, mid = exact_p(n12, n21), mcnemar_mid_p(n12, n21)
    assert exact / 2 * (1 - 1e-12) <= mid <= exact <= 1
    assert mid == pytest.approx(mcnemar_mid_p(n21, n12), rel=1e-9)


@given(COUNTS, st.integers(1, 50))
def test_more_wins_are_stronger_evidence(n, more):
    assert mcnemar_mid_p(n + more + 1, n) < mcnemar_mid_p(n + more, n)


@pytest.mark.parametrize("count", [-1, 1.5, True, "3", None])
def test_counts_are_whole_numbers(count):
    with pytest.raises(InputError, match="n12 must be a whole number of at least 0"):
        mcnemar_mid_p(count, 1)
    with pytest.raises(InputError, match="n21 must be a whole number of at least 0"):
        exact_p(1, count)


@pytest.mark.parametrize(
    ("wins", "losses"), [(5, 0), (6, 0), (7, 0), (20, 5), (20, 9), (9, 20), (2, 20), (4, 4)]
)
def test_worse_only_in_the_direction_of_the_best(wins, losses):
    best = [1.0] * wins + [2.0] * losses + [3.0] * 10  # ties say nothing
    other = [2.0] * wins + [1.0] * losses + [3.0] * 10
    half_point = Fraction(comb(wins + losses, wins), 2 ** (wins + losses + 1))
    expected = wins > losses and tail(wins, losses) - half_point < LEVEL
    assert is_significantly_worse(other, best) == expected


def test_the_test_above_has_both_answers():
    assert is_significantly_worse([2] * 7, [1] * 7)
    assert not is_significantly_worse([2] * 5, [1] * 5)
