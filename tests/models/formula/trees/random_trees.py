"""Random trees, and a slow judge of them: copies of a row walk through each tree, in plain Python."""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import Binarizer, MaxAbsScaler, StandardScaler
from tree_walk import walked

from butfor.models import Row, as_row, with_units
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.formula.trees.nodes import Categories, Trees
from butfor.models.formula.trees.tree_map import TreeMap

VALUES = np.array([1.0, 2.0, 3.0, -1.0, 0.1, -0.3, 2.7, 1e-36, 7.0])
"""What rows hold: both signs, numbers that single precision rounds, one that LightGBM takes for zero."""
AROUND = np.concatenate([VALUES, VALUES.astype(np.float32), [0.0, -0.5, 0.5, 1.5]])
THRESHOLDS = np.concatenate([AROUND, np.nextafter(AROUND, -np.inf), AROUND])


def random_trees(rng, n_features, *, n_trees=4, depth=4, n_outputs=1, plain=False, whole=True):
    """Return trees of any shape, with features that come back on a path; `plain` ones compare numbers only.

    Numbers of leaves are multiples of 1/4 if `whole`: sums of them are exact.
    """
    feature, left, right, roots = [], [], [], []

    def grow(left_depth):
        node = len(feature)
        for each in (feature, left, right):
            each.append(-1)
        if left_depth and rng.random() < 0.85:
            feature[node] = int(rng.integers(n_features))
            left[node] = grow(left_depth - 1)
            right[node] = grow(left_depth - 1)
        return node

    for _ in range(n_trees):
        roots.append(grow(depth))
    n = len(feature)
    is_leaf = np.array(feature) < 0
    by_output = n_outputs == 1 or rng.random() < 0.5
    shape = n, 1 if by_output else n_outputs
    numbers = rng.integers(-8, 9, shape) / 4 if whole else rng.normal(size=shape)
    trees = Trees(
        feature=np.array(feature, dtype=np.int32),
        threshold=rng.choice(THRESHOLDS, n),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        missing_left=rng.random(n) < 0.5,
        values=np.where(is_leaf[:, np.newaxis], numbers, 0.0),
        roots=np.array(roots, dtype=np.int32),
        output_of=rng.integers(0, n_outputs, n_trees) if by_output else None,
    )
    if plain:
        return trees
    return replace(
        trees,
        single=bool(rng.random() < 0.5),
        zero_is_missing=(rng.random(n) < 0.3) if rng.random() < 0.3 else None,
        categories=random_categories(rng, n) if rng.random() < 0.4 else None,
    )


def random_categories(rng, n_nodes):
    """Let some of the nodes split on categories."""
    count = np.where(rng.random(n_nodes) < 0.5, rng.integers(1, 6, n_nodes), 0)
    return Categories(
        start=np.where(count > 0, np.cumsum(count) - count, -1),
        count=count,
        goes_left=rng.random(int(count.sum())) < 0.5,
        others_left=rng.random(n_nodes) < 0.5,
        fractions=str(rng.choice(["cut", "cut if positive", "unknown"])),
    )


def random_row(rng, n_features, *, at_most=8, dense=None):
    """Return a row, CSR or dense, and the numbers that it holds."""
    numbers = np.zeros(n_features)
    active = rng.permutation(n_features)[: rng.integers(1, at_most + 1)]
    numbers[active] = rng.choice(VALUES, len(active))
    is_dense = rng.random() < 0.5 if dense is None else dense
    return as_row(numbers if is_dense else sparse.csr_matrix(numbers[np.newaxis])), numbers


@dataclass(frozen=True, eq=False)
class Case:
    """Trees and a row, with what becomes of each active feature."""

    tree_map: TreeMap
    row: Row
    numbers: np.ndarray
    unit_of: dict[int, int]
    """The unit of each column that may be removed."""

    @property
    def sets(self) -> np.ndarray:
        """All removal sets, as a boolean matrix."""
        return all_sets(self.row.n_units)

    def walked(self, removed) -> np.ndarray:
        """Return the outputs for removal sets: copies of the row walk through the trees."""
        copies = np.repeat(self.numbers[np.newaxis], len(removed), axis=0)
        for column, unit in self.unit_of.items():
            copies[removed[:, unit], column] = 0.0
        X = sparse.csr_matrix(copies) if self.row.kind.is_sparse else copies
        for step in self.tree_map.steps.transformers:
            X = step.transform(X)
        return walked(self.tree_map, X)


def random_case(rng, *, n_outputs=1, **options) -> Case:
    """Return trees behind steps, and a row with protected features and groups, each now and then."""
    n_features = int(rng.integers(3, 12))
    row, numbers = random_row(rng, n_features)
    steps = _steps(rng, row, n_features)
    trees = random_trees(rng, n_features, n_outputs=n_outputs, **options)
    n_columns = _n_columns(steps, n_features)
    trees = replace(trees, feature=np.minimum(trees.feature, n_columns - 1).astype(np.int32))
    tree_map = TreeMap(
        trees,
        rng.integers(-4, 5, n_outputs) / 4,
        steps,
        absent_is_missing=bool(rng.random() < 0.5),
        missing_value=float(rng.choice([math.nan, math.nan, 0.0, 1.0, -1.0])),
    )
    return _with_units(rng, Case(tree_map, row, numbers, {int(c): i for i, c in enumerate(row.columns)}))


def all_sets(n_units):
    """Return all removal sets of so many units, as a boolean matrix."""
    return np.array(list(product([False, True], repeat=n_units)), dtype=bool).reshape(2**n_units, n_units)


def tree_scores(rng, n_units, n_outputs=1):
    """Return sums of trees at a row with leaves left open, and a function that looks up what is walked."""
    while True:
        numbers = np.concatenate([np.ones(n_units), np.zeros(1)])
        whole = bool(rng.random() < 0.5)
        n_trees, depth = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        trees = random_trees(
            rng, n_units + 1, n_trees=n_trees, depth=depth, n_outputs=n_outputs, plain=True, whole=whole
        )
        trees = replace(trees, threshold=rng.choice([0.5, -0.5], len(trees.feature), p=[0.9, 0.1]))
        tree_map = TreeMap(trees, rng.normal(size=n_outputs), Preprocessing())
        case = Case(tree_map, as_row(numbers), numbers, {i: i for i in range(n_units)})
        affine = tree_map.at(case.row)
        if affine.leaves is not None:
            return affine, _table(case.walked(case.sets), n_units)


def _table(outputs, n_units):
    """Return a function that looks up the outputs of removal sets, which are in the order of `all_sets`."""
    return lambda removed: outputs[(removed > 0) @ (1 << np.arange(n_units)[::-1])]


def _with_units(rng, case):
    """Protect some features, or put features into groups, or both."""
    columns, kind = case.row.columns, rng.integers(3)
    if kind == 0:
        return case
    if kind == 1:
        row = case.row.protecting(columns[rng.random(len(columns)) < 0.3])
        return replace(case, row=row, unit_of={int(c): i for i, c in enumerate(columns[row.removable])})
    groups = [int(group) if group else None for group in rng.integers(0, 5, len(columns))]
    numbers = {group: i for i, group in enumerate(sorted({each for each in groups if each is not None}))}
    row = with_units(
        case.row, [[] if each is None else [(numbers[each],)] for each in groups], n_units=len(numbers)
    )
    unit_of = {int(c): numbers[each] for c, each in zip(columns, groups, strict=True) if each is not None}
    return replace(case, row=row, unit_of=unit_of)


def _steps(rng, row, n_features):
    """Return a scaler, a selection or both, or nothing."""
    X = rng.choice([0.0, 1.0, 2.0, -4.0], (20, n_features))
    X[:, rng.random(n_features) < 0.3] = 0.0
    X[:, 0] = np.arange(20)
    kind = rng.integers(6)
    steps = {
        1: [MaxAbsScaler()],
        2: [VarianceThreshold()],
        3: [VarianceThreshold(), MaxAbsScaler()],
        4: [Binarizer(threshold=0.5)],
        5: [MaxAbsScaler() if row.kind.is_sparse else StandardScaler()],
    }.get(int(kind), [])
    for step in steps:
        X = step.fit_transform(X)
    return Preprocessing(tuple(steps))


def _n_columns(steps, n_features):
    X = np.zeros((1, n_features))
    for step in steps.transformers:
        X = step.transform(X)
    return X.shape[1]
