"""McNemar's one-sided test on pairs, as in the paper's Appendix C."""

import numpy as np
import numpy.typing as npt

from butfor._checks import require_count

LEVEL = 0.01
"""A search is significantly worse than the best one if the mid-p value is below this level."""


def exact_p(n12: int, n21: int) -> float:
    """Return the exact one-sided p of n12 against n21 discordant pairs; 1 if they are equal.

    Like the mid-p it stays the same if the counts are swapped: check first which one is larger.

    >>> round(exact_p(119, 92), 3)
    0.037
    """
    from scipy.stats import binom

    require_count("n12", n12, at_least=0)
    require_count("n21", n21, at_least=0)
    return 1.0 if n12 == n21 else float(binom.cdf(min(n12, n21), n12 + n21, 0.5))


def mcnemar_mid_p(n12: int, n21: int) -> float:
    """Return the one-sided mid-p: the exact p without half the probability of n12 itself.

    >>> round(mcnemar_mid_p(119, 92), 3)
    0.032
    """
    from scipy.stats import binom

    p = exact_p(n12, n21)
    return p if n12 == n21 else p - 0.5 * float(binom.pmf(n12, n12 + n21, 0.5))


def is_significantly_worse(figures: npt.ArrayLike, best: npt.ArrayLike) -> bool:
    """Return whether a search is significantly worse than the best one.

    Both are figures for the same rows, and lower is better.

    >>> is_significantly_worse([2] * 9, [1] * 9), is_significantly_worse([1] * 9, [2] * 9)
    (True, False)
    """
    n_best_wins = int(np.sum(np.asarray(best) < np.asarray(figures)))
    n_best_loses = int(np.sum(np.asarray(best) > np.asarray(figures)))
    return n_best_wins > n_best_loses and mcnemar_mid_p(n_best_wins, n_best_loses) < LEVEL
