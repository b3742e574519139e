"""What the MovieLens data sets share: who rated which film; positive are women."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from butfor.study.datasets.base import Data
from butfor.study.datasets.pair_files import binary_matrix, distinct_names

CITATION = (
    "F. M. Harper, J. A. Konstan (2015). The MovieLens datasets: history and context. ACM Transactions on"
    " Interactive Intelligent Systems 5(4), 19."
)
LICENCE = "GroupLens terms: research only, no redistribution without permission, no commercial use"


def fields(path: Path, separator: str) -> Iterator[list[str]]:
    """Yield the fields of every line of a file of MovieLens."""
    with path.open(encoding="latin-1") as file:
        yield from (line.rstrip("\n").split(separator) for line in file)


def movielens(
    ratings: Path, separator: str, *, gender_of: Mapping[int, str], title_of: Mapping[int, str]
) -> Data:
    """Return a row for everybody who rated a film, with all films that they rated, liked or not."""
    pairs: Any = np.array([rating[:2] for rating in fields(ratings, separator)], dtype=np.int64)
    X, people, films = binary_matrix(pairs[:, 0], pairs[:, 1])
    y = np.array([gender_of[person] == "F" for person in people], dtype=np.int64)
    return Data(X=X, y=y, feature_names=distinct_names(films, title_of))
