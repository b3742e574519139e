"""Slow, simple checks of answers, written independently of every search and local model.

They put zeros into dense copies of the row and ask the model. They know nothing else.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, islice
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models import as_row, as_scorer, choose_kind

MAX_SUBSETS_OF = 20
"""The largest set of which all subsets (a million) are tried."""


def is_counterfactual(
    model: Any, row: Any, columns: Collection[int], *, threshold: float | None = None
) -> bool:
    """Return whether the model decides otherwise when these columns of the row are set to zero.

    Parameters
    ----------
    model : estimator or callable
        A model that `Explainer` takes.
    row : array-like or sparse matrix of one row
        The row.
    columns : collection of int
        Columns of active features.
    threshold : float, optional
        The score from which on a decision is positive. If it is not given, the model decides.

    Returns
    -------
    bool
        Whether the decision flips.

    Raises
    ------
    InputError
        If a column is not an active feature of the row.

    Examples
    --------
    >>> def at_least_two(X):
    ...     return X.sum(axis=1)
    >>> is_counterfactual(at_least_two, [1, 0, 1, 1], [0, 2], threshold=2)
    True
    >>> is_counterfactual(at_least_two, [1, 0, 1, 1], [0], threshold=2)
    False
    """
    return bool(_flipping_sets(model, row, [tuple(columns)], threshold))


def is_irreducible(model: Any, row: Any, columns: Collection[int], *, threshold: float | None = None) -> bool:
    """Return whether the columns are a counterfactual of which no proper subset is one.

    Irreducible does not mean minimum: another, smaller set may flip the decision too.

    Parameters
    ----------
    model : estimator or callable
        A model that `Explainer` takes.
    row : array-like or sparse matrix of one row
        The row.
    columns : collection of int
        Columns of active features, at most 20.
    threshold : float, optional
        The score from which on a decision is positive. If it is not given, the model decides.

    Returns
    -------
    bool
        Whether the set is irreducible.

    Raises
    ------
    InputError
        If there are too many columns, or one is not an active feature of the row.

    Examples
    --------
    >>> def at_least_two(X):
    ...     return X.sum(axis=1)
    >>> is_irreducible(at_least_two, [1, 1, 1], [0, 1], threshold=2)
    True
    >>> is_irreducible(at_least_two, [1, 1, 1], [0, 1, 2], threshold=2)
    False
    """
    if len(columns) > MAX_SUBSETS_OF:
        raise InputError(
            f"columns must be at most {MAX_SUBSETS_OF}, as all their subsets are tried, got {len(columns)}."
        )
    subsets = (subset for size in range(1, len(columns)) for subset in combinations(columns, size))
    flipping = is_counterfactual(model, row, columns, threshold=threshold)
    return flipping and not _flipping_sets(model, row, subsets, threshold)


def brute_force_minimum(
    model: Any, row: Any, *, threshold: float | None = None, max_size: int | None = None
) -> list[tuple[int, ...]]:
    """Return all counterfactuals of minimum size, by trying all sets of columns.

    Parameters
    ----------
    model : estimator or callable
        A model that `Explainer` takes.
    row : array-like or sparse matrix of one row
        The row.
    threshold : float, optional
        The score from which on a decision is positive. If it is not given, the model decides.
    max_size : int, optional
        The largest size to try. If it is not given, all sizes are tried.

    Returns
    -------
    list of tuples of int
        Sets of columns; empty if no set of at most `max_size` columns flips the decision.

    Examples
    --------
    >>> def score(X):
    ...     return X @ np.array([3, 2, 2, 1])
    >>> brute_force_minimum(score, [1, 1, 0, 1], threshold=4)
    [(0,)]
    >>> brute_force_minimum(score, [1, 1, 1, 1], threshold=5)
    [(0, 1), (0, 2), (0, 3), (1, 2)]
    """
    active = [int(column) for column in as_row(row).columns]
    for size in range(1, min(len(active), max_size or len(active)) + 1):
        flipping = _flipping_sets(model, row, combinations(active, size), threshold)
        if flipping:
            return flipping
    return []


def _flipping_sets(
    model: Any, row: Any, sets: Iterable[tuple[int, ...]], threshold: float | None
) -> list[tuple[int, ...]]:
    scorer = as_scorer(model, threshold)
    parsed = as_row(row, scorer.n_features, scorer.feature_names)
    scorer = scorer.handing(choose_kind(scorer, parsed)[0])
    dense = np.zeros(parsed.n_features, dtype=parsed.values.dtype)
    dense[parsed.columns] = parsed.values
    decided = scorer.decide(parsed.kind.container(dense[np.newaxis]), by_predict=True).classes[0]
    flipping = []
    for batch in _batches(sets, 1 + 1_000_000 // parsed.n_features):
        copies = np.tile(dense, (len(batch), 1))
        for copy, columns in zip(copies, batch, strict=True):
            _require_active(dense, columns)
            copy[list(columns)] = 0
        now = scorer.decide(parsed.kind.container(copies), by_predict=True, alone=True).classes
        flipping += [columns for columns, after in zip(batch, now, strict=True) if after != decided]
    return flipping


def _require_active(dense: Any, columns: tuple[int, ...]) -> None:
    for column in columns:
        if not 0 <= column < len(dense) or dense[column] == 0:
            raise InputError(f"columns must be active features of the row, got column {column}.")


def _batches(sets: Iterable[tuple[int, ...]], size: int) -> Iterator[list[tuple[int, ...]]]:
    iterator = iter(sets)
    while batch := list(islice(iterator, size)):
        yield batch
