"""Our sedc against the naive one: same rows, same model, same answers, one run."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.naive_sedc import naive_sedc
from butfor import Explainer
from butfor.datasets import load_moviegoers


@dataclass(frozen=True)
class Comparison:
    """What one search costs against the naive one, over the same rows."""

    model: str
    search: str
    n_rows: int
    median_active: float
    median_size: float
    same_answers: int
    naive_ms: float
    ms: float
    times_faster: float
    """The median over the rows of the ratio of the two times."""


def compare(n_rows: int) -> Iterator[Comparison]:
    """Compare on generated moviegoers of the shape of MovieLens 1M."""
    people = load_moviegoers(n_people=6_000, n_films=3_700, films_per_person=100)
    models = {
        "logistic regression": LogisticRegression(),
        "MLP, 100 hidden units": MLPClassifier((100,), alpha=1.0, tol=0.002, random_state=0),
    }
    for name, model in models.items():
        model.fit(people.X, people.y)
        scores = model.predict_proba(people.X)[:, 1]
        threshold = float(np.quantile(scores, 0.75))
        rows = np.random.default_rng(0).choice(np.flatnonzero(scores >= threshold), n_rows, replace=False)
        yield _compare(name, model, people.X, rows, threshold)


def _compare(name: str, model: Any, X: Any, rows: Any, threshold: float) -> Comparison:
    def score(row: Any) -> Any:
        return model.predict_proba(row)[:, 1]

    explainer = Explainer(score, threshold=threshold, search="sedc")
    naive = [_timed(naive_sedc, score, X[[i]], threshold) for i in rows]
    ours = [_timed(explainer.explain, X[[i]]) for i in rows]
    pairs = list(zip(naive, ours, strict=True))
    return Comparison(
        model=name,
        search="sedc, black box",
        n_rows=len(rows),
        median_active=median(why.n_active for why, _ in ours),
        median_size=median(why.size for why, _ in ours),
        same_answers=sum(columns == set(why.columns) for (columns, _), (why, _) in pairs),
        naive_ms=1000 * median(seconds for _, seconds in naive),
        ms=1000 * median(seconds for _, seconds in ours),
        times_faster=median(slow / fast for (_, slow), (_, fast) in pairs),
    )


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    return work(*arguments), time.perf_counter() - began
