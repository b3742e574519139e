"""Models with known answers, as callables from CSR rows to scores, on binary rows of six features."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Score = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Toy:
    """A model, a threshold, a row, and the size of its minimum answer (None: there is none)."""

    name: str
    score: Score
    threshold: float
    row: tuple[float, ...]
    minimum: int | None


def bits(X) -> np.ndarray:
    return X.toarray() != 0


def linear(X):
    return X @ np.array([3.0, 2.0, 1.0, 0.5, -1.0, -2.0])


def conjunction(X):
    return bits(X)[:, :3].all(axis=1).astype(float)


def disjunction(X):
    return bits(X)[:, :3].any(axis=1).astype(float)


def xor(X):
    return (bits(X)[:, :2].sum(axis=1) == 1).astype(float)


def constant(X):
    return np.ones(X.shape[0])


def monotone(X):
    return np.sqrt(np.asarray(X.sum(axis=1)).ravel())


def needle(X):
    """Flat but for one triple: nothing shows the way to it."""
    gone = ~bits(X)
    return 1.0 - (gone[:, [1, 3, 5]].all(axis=1) & ~gone[:, [0, 2, 4]].any(axis=1))


def majority(X):
    """Nothing changes near a full row."""
    return (bits(X).sum(axis=1) >= 2).astype(float)


ALL = (1.0,) * 6
TOYS = (
    Toy("linear", linear, 2.0, ALL, 1),
    Toy("linear, negative row", linear, 5.0, ALL, 1),
    Toy("linear, two needed", linear, 1.0, (1, 1, 1, 0, 1, 0), 2),
    Toy("and", conjunction, 0.5, ALL, 1),
    Toy("or", disjunction, 0.5, ALL, 3),
    Toy("xor, one on", xor, 0.5, (1, 0, 1, 1, 1, 1), 1),
    Toy("xor, both on: a negative row", xor, 0.5, ALL, 1),
    Toy("constant positive", constant, 0.5, ALL, None),
    Toy("constant negative", constant, 1.5, ALL, None),
    Toy("constant at the threshold", constant, 1.0, ALL, None),
    Toy("monotone", monotone, 1.5, ALL, 4),
    Toy("needle", needle, 0.5, ALL, 3),
    Toy("constant near the row", majority, 0.5, ALL, 5),
    Toy("two active features", linear, 4.5, (1, 1, 0, 0, 0, 0), 1),
    Toy("two active features, both needed", disjunction, 0.5, (1, 1, 0, 0, 0, 0), 2),
    Toy("one active feature", linear, 2.5, (1, 0, 0, 0, 0, 0), 1),
    Toy("no active feature", linear, 0.0, (0,) * 6, None),
)


def set_function(table: np.ndarray) -> Score:
    """Any function at all of m bits: score a row by looking its bits up in a table of 2**m values."""
    m = int(np.log2(len(table)))

    def score(X):
        return table[bits(X) @ (1 << np.arange(m))]

    return score
