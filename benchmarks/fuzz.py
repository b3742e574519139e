"""Compare answers on random models with brute force: `python -m benchmarks.fuzz --cases 10000`.

Answers are judged by the model's own decision on one row at a time. Thresholds are chosen where rounding
matters most: at the score of the row itself or of the row without some features, or very close to it.
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import LabelBinarizer, MaxAbsScaler, Normalizer, StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC, LinearSVC

from benchmarks.tree_families import DENSE_ONLY, TREE_FAMILIES
from butfor import Budget, ButforError, Explainer, Explanation

Floats = npt.NDArray[Any]
Generator = np.random.Generator
Make = Callable[[Generator, Any, Floats], Any]
"""Returns a fitted model, from random numbers, the rows and the classes."""

N_ROWS, MOST_FEATURES = 24, 7
STEPS = (0.0, 0.0, 0.0, 1e-16, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-3)
"""Distances of thresholds from a score."""
SEARCHES: tuple[Any, ...] = ("auto", "certified", "complete", "sedc")
SAME = ("status", "columns", "lower_bound", "decision", "decision_without")
"""The fields on which `explain` and `explain_many` must agree."""


def main() -> None:
    """Print how many answers were judged and how many are wrong, for each family and dtype."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", choices=[*FAMILIES, *GROUPS], help="one family, or a group of them")
    parser.add_argument("--dense", action="store_true", help="dense rows instead of CSR")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    for number in range(options.cases):
        case = fuzz_case(options.seed, number, options.family, dense=options.dense)
        counts[case.name, "models"] += 1
        for what in judged(case):
            counts[case.name, what.split(":")[0]] += 1
            if what not in OUTCOMES:
                print(f"{case}: {what}", flush=True)
    print(_table(counts), f"\n{options.cases:,} models in {time.monotonic() - began:.0f} s")
    sys.exit(any(counts[name, fault] for name, fault in counts if fault in FAULTS))


OUTCOMES = ("proven", "found", "none", "budget")
FAULTS = ("raised", "unconfirmed", "wrong bound", "wrong decision", "explain_many differs")


def _table(counts: Counter[tuple[str, str]]) -> str:
    columns = ("models", *OUTCOMES, *FAULTS)
    names = sorted({name for name, _ in counts})
    rows = [
        ("family", *columns),
        *((name, *(f"{counts[name, each]:,}" for each in columns)) for name in names),
    ]
    total = [f"{sum(counts[name, each] for name in names):,}" for each in columns]
    return "\n".join("| " + " | ".join(row) + " |" for row in [*rows, ("all", *total)])


@dataclass(frozen=True, eq=False)
class FuzzCase:
    """A random model with a few rows, one of which is explained."""

    name: str
    seed: int
    number: int
    model: Any
    X: Any
    """The rows, CSR or dense."""
    position: int
    """The position of the row that is explained."""
    threshold: float | None
    """None: the model's own."""
    search: Any
    max_size: int

    def __str__(self) -> str:
        return f"--seed {self.seed}, case {self.number} ({self.name}, {self.search})"

    @property
    def row(self) -> Any:
        """The row that is explained."""
        return self.X[[self.position]]


def fuzz_case(seed: int, number: int, family: str | None = None, *, dense: bool = False) -> FuzzCase:
    """Return the case of this number."""
    rng = np.random.default_rng([seed, number])
    families = list(GROUPS.get(family or "", FAMILIES))
    family = families[number % len(families)] if family is None or family in GROUPS else family
    dtype = (np.float64, np.float32)[int(rng.integers(2))]
    m = int(rng.integers(1, MOST_FEATURES + 1))
    X = np.where(rng.random((N_ROWS, m)) < 0.7, _values(rng, (N_ROWS, m)), 0.0)
    signal = X @ rng.normal(size=m)
    classes = (signal > np.median(signal)).astype(int)
    classes[:8] = [0, 1] * 4
    rows = X.astype(dtype) if dense or family in DENSE_ONLY else sparse.csr_matrix(X.astype(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FAMILIES[family](rng, rows, classes)
    chosen = np.argsort(rng.random(N_ROWS))[:3]
    rows, position = rows[chosen], int(rng.integers(3))
    own = rng.random() < 0.1 or len(model.classes_) > 2
    threshold = None if own else _threshold(rng, model, rows[[position]])
    search = SEARCHES[int(rng.integers(len(SEARCHES)))]
    max_size = int(rng.choice([m, m, max(1, m - 2)]))
    name = f"{family}, {np.dtype(dtype).name}"
    return FuzzCase(name, seed, number, model, rows, position, threshold, search, max_size)


def _values(rng: Generator, shape: tuple[int, ...]) -> Floats:
    """Return positive numbers: ones, numbers that add up without rounding, or any."""
    kind = rng.integers(3)
    if kind == 0:
        return np.ones(shape)
    return rng.choice([0.5, 1.0, 2.0, 3.0], shape) if kind == 1 else rng.exponential(size=shape) + 0.01


def _weights(rng: Generator, *shape: int) -> Floats:
    """Return weights with many ties, or any."""
    if rng.random() < 0.5:
        return rng.choice([-2.0, -1.0, -0.5, 0.0, 0.1, 0.3, 0.5, 1.0, 2.0], shape)
    return rng.normal(size=shape)


def _threshold(rng: Generator, model: Any, row: Any) -> float | None:
    """Return the score of the row without some features, or a value close to it; None: the model's own."""
    columns = np.flatnonzero(rng.random(row.shape[1]) < rng.choice([0.0, 0.5]))
    threshold = float(_score(model, _without(row, columns)) + rng.choice(STEPS) * rng.choice([-1, 1]))
    if hasattr(model, "predict_proba"):
        threshold = min(max(threshold, 0.0), 1.0)
    return None if threshold == (0.5 if hasattr(model, "predict_proba") else 0.0) else threshold


def _linear(rng: Generator, X: Any, y: Floats) -> Any:
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), X.shape[1]
    dtype = X.dtype if rng.random() < 0.5 else np.float64
    model.coef_ = _weights(rng, 1, X.shape[1]).astype(dtype)
    model.intercept_ = _weights(rng, 1).astype(dtype)
    return model


def _linear_of_many(rng: Generator, X: Any, y: Floats) -> Any:
    model = _linear(rng, X, y)
    model.classes_ = np.array([0, 1, 2])
    model.coef_ = _weights(rng, 3, X.shape[1]).astype(model.coef_.dtype)
    model.intercept_ = _weights(rng, 3).astype(model.coef_.dtype)
    return model


def _mlp(n_outputs: int) -> Make:
    def make(rng: Generator, X: Any, y: Floats) -> Any:
        hidden = [int(rng.integers(1, 9)) for _ in range(rng.integers(1, 3))]
        model = MLPClassifier(hidden, activation=str(rng.choice(["relu", "relu", "tanh", "logistic"])))
        sizes = [X.shape[1], *hidden, n_outputs]
        dtype = X.dtype if rng.random() < 0.5 else np.float64
        model.coefs_ = [_weights(rng, n, k).astype(dtype) for n, k in pairwise(sizes)]
        model.intercepts_ = [_weights(rng, k).astype(dtype) for k in sizes[1:]]
        model.n_layers_, model.n_outputs_, model.n_features_in_ = len(sizes), n_outputs, X.shape[1]
        model.classes_ = np.arange(max(2, n_outputs))
        model.out_activation_ = "logistic" if n_outputs == 1 else "softmax"
        model._label_binarizer = LabelBinarizer().fit(model.classes_)  # which `predict` needs
        return model

    return make


def _svm(kernel: str) -> Make:
    def make(rng: Generator, X: Any, y: Floats) -> Any:
        model = SVC(
            kernel=kernel,
            C=float(rng.choice([0.1, 1.0, 100.0])),
            gamma=float(rng.choice([0.05, 0.5, 3.0])),
            degree=int(rng.integers(1, 5)),
            coef0=float(rng.choice([0.0, 1.0, -0.5])),
        )
        return model.fit(X, y)

    return make


def _fitted(model: Any) -> Make:
    return lambda rng, X, y: model().fit(X, y)


def _behind(step: Any, make: Make) -> Make:
    """Put a step that mixes features before the models of a family."""

    def fitted(rng: Generator, X: Any, y: Floats) -> Any:
        transformer = step(rng).fit(X)
        model = make_pipeline(transformer, make(rng, transformer.transform(X), y))
        model.steps[-1][1].n_features_in_ = transformer.transform(X).shape[1]
        return model

    return fitted


def _norm(rng: Generator) -> Any:
    return Normalizer(str(rng.choice(["l2", "l2", "l1", "max"])))


def _two_norms(rng: Generator) -> Any:
    return make_union(_norm(rng), make_pipeline(MaxAbsScaler(), _norm(rng)))


MIXED: dict[str, Make] = {
    "linear behind a norm": _behind(_norm, _linear),
    "linear, 3 classes, behind a norm": _behind(_norm, _linear_of_many),
    "linear behind two norms": _behind(_two_norms, _linear),
    "linear behind a projection": _behind(lambda rng: GaussianRandomProjection(2, random_state=0), _linear),
    "MLP behind a norm": _behind(_norm, _mlp(1)),
    "MLP, 3 classes, behind a norm": _behind(_norm, _mlp(3)),
    "SVC rbf behind a norm": _behind(lambda rng: Normalizer(), _svm("rbf")),
    "SVC poly behind a norm": _behind(lambda rng: Normalizer(), _svm("poly")),
}
"""Models behind steps that mix features."""
FAMILIES: dict[str, Make] = {
    **MIXED,
    "linear": _linear,
    "linear, 3 classes": _linear_of_many,
    "MLP": _mlp(1),
    "MLP, 3 classes": _mlp(3),
    **{f"SVC {kernel}": _svm(kernel) for kernel in ("rbf", "poly", "sigmoid", "linear")},
    "MultinomialNB": _fitted(MultinomialNB),
    "BernoulliNB": _fitted(BernoulliNB),
    "modified huber": _fitted(lambda: SGDClassifier(loss="modified_huber", random_state=0)),
    "scaled": _fitted(lambda: make_pipeline(StandardScaler(with_mean=False), SVC())),
    "sigmoid": _fitted(lambda: CalibratedClassifierCV(make_pipeline(MaxAbsScaler(), LinearSVC()), cv=2)),
    "isotonic": _fitted(lambda: CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=2)),
    "isotonic, one": _fitted(
        lambda: CalibratedClassifierCV(SGDClassifier(random_state=0), method="isotonic", ensemble=False, cv=2)
    ),
    **TREE_FAMILIES,
}


GROUPS = {"trees": TREE_FAMILIES, "mixed": MIXED}
"""Families that can be asked for together."""


def judged(case: FuzzCase) -> Iterator[str]:
    """Yield the outcome of the row, and every fault of the answers."""
    options = {"threshold": case.threshold, "search": case.search, "budget": Budget(case.max_size)}
    explainer = Explainer(case.model, **options)
    try:
        why = explainer.explain(case.row)
        whys = [explainer.explain(case.X[[i]]) for i in range(case.X.shape[0])]
        together = explainer.explain_many(case.X)
    except ButforError as error:
        yield f"raised: {error}"
        return
    yield "proven" if why.proven_minimum else why.status
    yield from _faults(case, why)
    for i, (alone, among_others) in enumerate(zip(whys, together, strict=True)):
        differing = [each for each in SAME if getattr(alone, each) != getattr(among_others, each)]
        if differing:
            yield f"explain_many differs: in row {i} in {', '.join(differing)}, {alone} {among_others}"


def _faults(case: FuzzCase, why: Explanation) -> Iterator[str]:
    """Yield the faults of an answer, judged by the model's own decisions on one row at a time."""
    own = _decision(case.model, case.row, case.threshold)
    if why.decision and why.decision != str(_named(case, own)):
        yield f"wrong decision: {why.decision} instead of {own}"
    active = np.flatnonzero(case.row.toarray() if sparse.issparse(case.row) else case.row).tolist()
    sizes = range(1, min(case.max_size, len(active)) + 1)
    flipping = [
        columns
        for columns in chain.from_iterable(combinations(active, size) for size in sizes)
        if _decision(case.model, _without(case.row, columns), case.threshold) != own
    ]
    minimum = min(map(len, flipping), default=case.max_size + 1)
    if why.status == "found" and tuple(sorted(why.columns)) not in flipping:
        yield f"unconfirmed: {why.columns} does not flip"
    if why.lower_bound > minimum or (why.status == "none" and flipping):
        yield f"wrong bound: {why.lower_bound} ({why.status}), {flipping[0]} flips"


def _named(case: FuzzCase, decided: Any) -> Any:
    return int(decided) if case.threshold is not None else decided


def _without(row: Any, columns: Any) -> Any:
    rest = row.toarray() if sparse.issparse(row) else row.copy()
    rest[:, list(columns)] = 0
    return sparse.csr_matrix(rest) if sparse.issparse(row) else rest


def _score(model: Any, row: Any) -> Any:
    if hasattr(model, "predict_proba"):
        return model.predict_proba(row)[0, 1]
    return model.decision_function(row)[0]


def _decision(model: Any, row: Any, threshold: float | None) -> Any:
    """Return the model's decision on one row."""
    if threshold is None:
        return model.predict(row)[0]
    return float(_score(model, row)) >= threshold


if __name__ == "__main__":
    main()
