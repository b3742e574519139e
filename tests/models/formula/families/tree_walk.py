"""A slow judge of trees that were read: one row walks through them, node by node, in plain Python."""

import math

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from butfor.models.formula.activations import Identity, Logistic

TINY = float(np.float32(1e-35))


def rows_of(X):
    """Return each row as a dict of what is stored: the entries of CSR, or all numbers of a dense row."""
    if sparse.issparse(X):
        pairs = [(X.indices[a:b], X.data[a:b]) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
        return [dict(zip(columns.tolist(), values.tolist(), strict=True)) for columns, values in pairs]
    return [dict(enumerate(row.tolist())) for row in np.asarray(X)]


def walked_outputs(network, X):
    """Return the outputs of a network of one sum of trees for some rows (rows × outputs)."""
    (tree_map,) = network.affine_maps
    assert not network.layers
    return walked(tree_map, X)


def walked(tree_map, X):
    """Return the sums of trees for some rows (rows × outputs)."""
    return np.array([_outputs(tree_map, row) for row in rows_of(X)])


def walked_probabilities(network, X):
    """Return the probabilities of all classes (rows × classes)."""
    return probabilities_of(network, walked_outputs(network, X))


def probabilities_of(network, outputs):
    """Return the probabilities of all classes from the outputs of a network."""
    if network.softmax:
        assert network.link == Identity()
        return softmax(outputs, axis=1)
    assert network.link == Logistic()
    return np.column_stack([expit(-outputs[:, 0]), expit(outputs[:, 0])])


def _outputs(tree_map, row):
    trees, outputs = tree_map.trees, np.array(tree_map.bias, dtype=float)
    for tree, root in enumerate(trees.roots):
        leaf = int(root)
        while trees.feature[leaf] >= 0:
            goes_left = _goes_left(trees, leaf, _value(tree_map, row, int(trees.feature[leaf])))
            leaf = int((trees.left if goes_left else trees.right)[leaf])
        if trees.output_of is None:
            outputs += trees.values[leaf]
        else:
            outputs[trees.output_of[tree]] += trees.values[leaf, 0]
    return outputs


def _value(tree_map, row, column):
    """Return what a node compares: the number of the row, as the library rounds it; NaN if missing."""
    if column not in row and tree_map.absent_is_missing:
        return math.nan
    value = float(row.get(column, 0.0))
    value = float(np.float32(value)) if tree_map.trees.single else value
    return math.nan if value == tree_map.missing_value else value


def _goes_left(trees, node, value):
    by_zero = trees.zero_is_missing is not None and trees.zero_is_missing[node]
    if math.isnan(value) or (by_zero and abs(value) <= TINY):
        return bool(trees.missing_left[node])
    categories = trees.categories
    if categories is None or categories.start[node] < 0:
        return value <= float(trees.threshold[node])
    negative = categories.fractions == "cut if positive" and value < 0
    if negative or (categories.fractions == "unknown" and value != int(value)):
        return bool(categories.others_left[node])
    if int(value) < 0 or int(value) >= categories.count[node]:
        return bool(categories.others_left[node])
    return bool(categories.goes_left[categories.start[node] + int(value)])


def assert_sound(trees):
    """Check that the arrays fit together and that each node but the roots has exactly one parent."""
    inner = trees.feature >= 0
    children = np.concatenate([trees.left[inner], trees.right[inner]])
    everything = np.sort(np.concatenate([children, trees.roots]))
    assert np.array_equal(everything, np.arange(len(trees.feature)))
    assert np.array_equal(trees.left >= 0, inner)
    assert np.array_equal(trees.right >= 0, inner)
    assert not trees.values[inner].any()
    assert trees.feature.dtype == trees.left.dtype == trees.right.dtype == trees.roots.dtype == np.int32
    assert trees.threshold.dtype == trees.values.dtype == np.float64
    assert len(trees.values) == len(trees.feature)
    assert trees.output_of is None or trees.values.shape[1] == 1
    assert trees.missing_left.dtype == bool
    lengths = {len(array) for array in (trees.threshold, trees.right, trees.missing_left)}
    assert lengths == {len(trees.feature)}


def sparse_numbers(seed, kind, n_rows=250, n_columns=8):
    """Return CSR of bits, counts, reals of both signs, or categories, with some stored zeros."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n_rows, n_columns, 0.45, format="csr", random_state=rng)
    draw = {
        "bits": lambda n: np.ones(n),
        "counts": lambda n: rng.integers(1, 6, n).astype(float),
        "reals": lambda n: np.where(rng.random(n) < 0.1, 0.0, rng.normal(size=n)),
        "categories": lambda n: rng.integers(0, 40, n).astype(float),
    }
    X.data = draw[kind](X.nnz)
    return X


def classes_of(X, seed, n_classes=2):
    """Return classes that depend on the columns, alone and in pairs, with noise."""
    rng = np.random.default_rng(seed)
    dense = X.toarray()
    scores = dense @ rng.normal(size=(X.shape[1], n_classes)) + rng.normal(size=(len(dense), n_classes))
    scores += (dense[:, [0]] != 0) * (dense[:, [1]] > 0) * rng.normal(size=n_classes) * 4
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return np.argmax(scores, axis=1)


def squared_error(labels, scores):
    """Return the gradient and the second derivative of an objective that no library knows."""
    return scores - labels, np.ones_like(scores)


def rows_on_thresholds(trees, X):
    """Return dense rows whose numbers lie on thresholds of the trees, just beside them, or are zero."""
    rng = np.random.default_rng(5)
    dense = X.toarray()[:40].copy()
    for column in range(dense.shape[1]):
        nodes = np.flatnonzero(trees.feature == column)
        if len(nodes):
            at = trees.threshold[rng.choice(nodes, len(dense))]
            at = np.nextafter(
                at, rng.choice([-np.inf, np.inf], len(at)), where=rng.random(len(at)) < 0.5, out=at
            )
            chosen = rng.random(len(at)) < 0.7
            dense[chosen, column] = at[chosen]
    dense[rng.random(dense.shape) < 0.2] = 0.0
    dense[np.abs(dense) > 1e30] = 1e30
    return dense
