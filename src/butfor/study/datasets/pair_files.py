"""Turn pairs of who did what into a binary matrix, and name its columns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse


def binary_matrix(row_keys: Sequence[Any], feature_keys: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
    """Return a CSR matrix with a 1 for every pair, its row keys and its feature keys, both sorted.

    >>> X, people, films = binary_matrix(["eve", "adam", "eve", "eve"], [7, 9, 9, 9])
    >>> X.toarray().tolist(), people, films
    ([[0.0, 1.0], [1.0, 1.0]], ['adam', 'eve'], [7, 9])
    """
    rows, row_of = np.unique(np.asarray(row_keys), return_inverse=True)
    features, feature_of = np.unique(np.asarray(feature_keys), return_inverse=True)
    shape = (len(rows), len(features))
    X = sparse.csr_matrix((np.ones(len(row_of)), (row_of, feature_of)), shape=shape)
    X.sum_duplicates()
    X.data[:] = 1.0
    return X, rows.tolist(), features.tolist()


def distinct_names(keys: Sequence[Any], title_of: Mapping[Any, str]) -> tuple[str, ...]:
    """Return the titles of features; with the key if several share a title, the key alone if it is unknown.

    >>> distinct_names([3, 5, 7, 9], {3: "Hamlet", 5: "Titanic", 7: "Hamlet"})
    ('Hamlet [3]', 'Titanic', 'Hamlet [7]', '9')
    """
    titles = [title_of.get(key, str(key)) for key in keys]
    uses = Counter(titles)
    return tuple(
        title if uses[title] == 1 else f"{title} [{key}]" for key, title in zip(keys, titles, strict=True)
    )
