"""Stand-ins for data that are not public: random data with the shape that the paper's table gives.

A stand-in has the table's number of rows, features and positives, and its sparsity. A few features are very
popular and most are rare; a few rows are very active and most are not; no column is empty. The label depends
on the popular features, so that a model can learn it, and on chance. Nothing else is taken from the original:
results on a stand-in show how searches behave on data of this shape, not what they find in the original.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.study.datasets.base import Data, IntArray
from butfor.study.paper import PaperData

Floats = npt.NDArray[np.float64]

_ACTIVITY_SPREAD = 1.3
"""Spread of the log-normal activity. It must be large, since the paper's predicted positives are up to three
times as active as the average row."""
_HEAD, _STEEPNESS = 30, 1.6
"""The popularity of the r-th feature is (r + head) ** -steepness."""
_LEARNABLE = 20
"""A feature with this many rows has half of its weight, a rarer one less: no model could learn it."""
_CHANCE = 0.4
"""Spread of the noise, relative to the spread of the evidence of the features."""


def generated(paper: PaperData, *, seed: int = 0) -> Data:
    """Return a stand-in with the shape of one row of the paper's table.

    >>> from butfor.study.paper import paper_datasets
    >>> data = generated(paper_datasets()["yahoomovies"])
    >>> data.X.shape, f"{data.y.mean():.2%}", data.feature_names[:2]
    ((7642, 11915), '28.87%', ('feature 1', 'feature 2'))
    """
    rng = np.random.default_rng(seed)
    n_active = _activity(rng, paper)
    X = _matrix(rng, n_active, paper.features)
    return Data(
        X=X,
        y=_labels(rng, X, paper),
        feature_names=tuple(f"feature {number}" for number in range(1, paper.features + 1)),
    )


def mean_active(paper: PaperData) -> float:
    """Return the mean number of active features of a row that fits the table best.

    The table's sparsity has two decimals, of 100,000 features or more, and was sometimes rounded (ecommerce:
    99.9898 is printed as 99.99), sometimes cut off (movielens_100k: 93.6953 is printed as 93.69). So several
    means are possible. The one nearest to the mean of the rows that the models predict positive is returned.
    For flickr this is 2.49, not the 19.1 that the printed sparsity would give: its predicted positives have
    2.02 and 2.96, and the whole public data 3.1.
    """
    low, high = (paper.features * (100 - paper.sparsity_percent + d) / 100 for d in (-0.01, 0.005))
    return float(np.clip(_mean_active_positive(paper), max(low, 1.0), max(high, 1.0)))


def _mean_active_positive(paper: PaperData) -> float:
    return (paper.mean_active_linear + paper.mean_active_nonlinear) / 2


def _activity(rng: np.random.Generator, paper: PaperData) -> IntArray:
    """Draw the number of active features of each row: at least one, log-normal above that."""
    more = rng.lognormal(sigma=_ACTIVITY_SPREAD, size=paper.rows)
    more *= (mean_active(paper) - 1) / more.mean()
    n_active = 1 + np.floor(more + rng.random(paper.rows)).astype(np.int64)
    return np.minimum(n_active, max(1, paper.features // 4))


def _matrix(rng: np.random.Generator, n_active: IntArray, n_features: int) -> Any:
    """Draw distinct features for each row by popularity. Every feature is in at least one row."""
    weights = (np.arange(n_features) + _HEAD) ** -_STEEPNESS
    cumulated = np.cumsum(rng.permutation(weights))
    cumulated /= cumulated[-1]

    def drawn(n_wanted: IntArray) -> tuple[IntArray, IntArray]:
        rows = np.repeat(np.arange(len(n_wanted)), n_wanted)
        return rows, np.searchsorted(cumulated, rng.random(len(rows)), side="right")

    rows, features = drawn(n_active)
    n_own = min(n_features, len(features))
    features[rng.choice(len(features), n_own, replace=False)] = rng.permutation(n_features)[:n_own]
    cells = _distinct(rows * n_features + features)
    for _ in range(6):  # draw again what a row drew twice; only very active rows stay short
        rows, features = drawn(n_active - np.bincount(cells // n_features, minlength=len(n_active)))
        cells = _distinct(np.concatenate([cells, rows * n_features + features]))
    n_in_row = np.bincount(cells // n_features, minlength=len(n_active))
    row_starts = np.concatenate([[0], np.cumsum(n_in_row)])
    shape = (len(n_active), n_features)
    return sparse.csr_matrix((np.ones(len(cells)), (cells % n_features).astype(np.int32), row_starts), shape)


def _distinct(cells: IntArray) -> IntArray:
    """Sort in place and drop duplicates; ten times faster than np.unique on millions of cells."""
    cells.sort()
    return cells[np.flatnonzero(np.diff(cells, prepend=-1))]


def _labels(rng: np.random.Generator, X: Any, paper: PaperData) -> IntArray:
    """Return the labels: the rows with the most evidence, noise included, are positive."""
    n_rows_of = np.bincount(X.indices, minlength=X.shape[1])
    learnable = n_rows_of / (n_rows_of + _LEARNABLE)
    weights = rng.choice([-1, 1], X.shape[1]) * rng.uniform(0.5, 1.5, X.shape[1]) * learnable
    evidence = X @ weights
    n_active = np.diff(X.indptr).astype(np.float64)
    evidence = evidence + _weight_of_activity(evidence, n_active, paper) * n_active
    noisy = evidence + _CHANCE * evidence.std() * rng.normal(size=len(evidence))
    n_positive = max(1, round(paper.rows * paper.positive_percent / 100))
    y = np.zeros(paper.rows, dtype=np.int64)
    y[np.argsort(-noisy, kind="stable")[:n_positive]] = 1
    return y


def _weight_of_activity(evidence: Floats, n_active: Floats, paper: PaperData) -> float:
    """Return what every active feature adds, so that the predicted positives are as active as the paper's."""
    n_predicted = max(1, round(paper.rows * paper.predicted_positive_percent / 100))
    low, high = -5.0, 5.0
    for _ in range(30):
        weight = (low + high) / 2
        first = np.argpartition(-(evidence + weight * n_active), n_predicted - 1)[:n_predicted]
        too_active = n_active[first].mean() > _mean_active_positive(paper)
        low, high = (low, weight) if too_active else (weight, high)
    return (low + high) / 2
