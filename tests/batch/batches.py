"""A small matrix, models of it, and how the output of a run is read and compared."""

import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse

from butfor import Explainer

RNG = np.random.default_rng(0)
X = sparse.csr_matrix((RNG.random((120, 12)) < 0.4).astype(float))
WEIGHTS = np.array([3.0, 2.0, 1.0, 1.0, 0.5, 0.5, -0.5, -1.0, -1.0, -2.0, 0.2, 0.1])
THRESHOLD = 2.0
BAD = 17
"""The row on which the models below fail."""


def score(X):
    return X @ WEIGHTS


def marked(*rows):
    """Return the rows with one more feature, which marks these rows and must not be removed."""
    marks = sparse.csr_matrix((np.array(rows, dtype=float), (rows, [0] * len(rows))), shape=(X.shape[0], 1))
    return sparse.hstack([X, marks], format="csr")


def has(X, row):
    return (X[:, [X.shape[1] - 1]].toarray() == row).any()


def raises(X):
    if has(X, BAD):
        raise ValueError("a row that it does not like")
    return score(X[:, :-1])


def slow(X):
    time.sleep(0.001)
    return score(X)


def explainer(model=score, **options):
    return Explainer(model, threshold=THRESHOLD, **options)


def save(path: Path, matrix=X) -> str:
    sparse.save_npz(path, matrix)
    return str(path)


def output(out: Path) -> dict:
    """Read the output by the id of the row, without the times; no row may be there twice."""
    lines = [line for part in sorted(out.glob("part-*.parquet")) for line in pq.read_table(part).to_pylist()]
    for line in lines:
        del line["seconds"]
    by_id = {line["id"]: line for line in lines}
    assert len(by_id) == len(lines)
    return by_id


def names(out: Path) -> set[str]:
    return {path.name for path in out.iterdir()} - {"_lock"}


def whole(n_chunks: int) -> set[str]:
    """Give the files of a run that is through."""
    return {"_manifest.json", "_summary.json", *(f"part-{i:05d}.parquet" for i in range(n_chunks))}
