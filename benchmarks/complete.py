"""Complete search over as many sets as took 117 minutes in the paper."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.common import timed
from butfor import Budget, Explainer


@dataclass(frozen=True)
class CompleteSearch:
    """One complete search of a row that no set flips, so that every set is scored."""

    model: str
    n_active: int
    size: int
    n_sets: int
    seconds: float


def complete_searches(n_active: int = 34, size: int = 6) -> Iterator[CompleteSearch]:
    """Search all sets of at most `size` features of a row that none of them flips."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, n_active)) < 0.5).astype(float)
    y = X.sum(axis=1) > n_active / 2
    models = {
        "logistic regression": LogisticRegression(),
        "MLP, 100 neurons": MLPClassifier((100,), max_iter=40, tol=0.01, random_state=0),
    }
    for name, model in models.items():
        model.fit(X, y)
        explainer = Explainer(model, threshold=1e-12, search="complete", budget=Budget(max_size=size))
        why, seconds = timed(explainer.explain, np.ones(n_active))
        assert why.status == "none"
        yield CompleteSearch(name, n_active, size, why.n_scored, seconds)
