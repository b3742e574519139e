"""Rows of kernel machines, answered in blocks: against brute force, and against the same rows one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import loops
from profiles import n_examples
from scipy import sparse
from sklearn.svm import SVC

from butfor import Budget, Explainer
from butfor._engine import solved_rows
from butfor.models import KernelRows, as_table
from butfor.verify import brute_force_minimum

KERNELS = pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])


def machine(rng, kernel, n_columns):
    """Return a kernel machine with support vectors of both signs, few of which share a column."""
    X = (rng.random((12, n_columns)) < 0.4) * rng.choice([1.0, 0.5, 2.0, -1.0], (12, n_columns))
    y = np.arange(12) % 2
    gamma, coef0, degree = (
        float(rng.choice([0.1, 0.5])),
        float(rng.choice([0.0, 1.0])),
        int(rng.integers(1, 6)),
    )
    model = SVC(kernel=kernel, gamma=gamma, coef0=coef0, degree=degree, C=float(rng.choice([1.0, 100.0])))
    return model.fit(sparse.csr_matrix(X), y)


def rows_of(rng, n_rows, n_columns):
    return sparse.csr_matrix(
        (rng.random((n_rows, n_columns)) < 0.7) * rng.choice([1.0, 0.5, 2.0], (n_rows, n_columns))
    )


@KERNELS
@n_examples(40)
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_of_blocks_are_smallest(kernel, seed):
    rng = np.random.default_rng(seed)
    model, X = machine(rng, kernel, 9), rows_of(rng, 5, 9)
    threshold = float(rng.choice([0.0, np.median(model.decision_function(X)) + 1e-3]))
    max_size = int(rng.integers(1, 9))
    with loops("compiled"):
        explainer = Explainer(model.decision_function, threshold=threshold, budget=Budget(max_size=max_size))
        answers = solved_rows.explain_solved(explainer._engine, as_table(X))
    for number, why in zip(answers.numbers, answers.columns.explanations(), strict=True):
        best = brute_force_minimum(
            model.decision_function, X[[number]], threshold=threshold, max_size=max_size
        )
        assert why.status == ("found" if best else "none")
        assert why.size == why.lower_bound or not best
        assert not best or tuple(sorted(why.columns)) in best


@KERNELS
@n_examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_blocks_and_single_rows_are_explained_alike(kernel, seed):
    rng = np.random.default_rng(seed)
    model, X = machine(rng, kernel, 20), rows_of(rng, 5, 20)
    options = {
        "threshold": float(np.median(model.decision_function(X)) + 1e-3),
        "budget": Budget(max_size=int(rng.integers(1, 12))),
        "protected": [0] if rng.random() < 0.3 else [],
    }
    with loops("compiled"):
        explainer = Explainer(model.decision_function, **options)
        together, alone = explainer.explain_block(X), [explainer.explain(row) for row in X]
    with loops("plain"):
        plain = Explainer(model.decision_function, **options).explain_block(X)
    for ours, single, in_numpy in zip(together, alone, plain, strict=True):
        assert (ours.status, ours.size, ours.columns) == (single.status, single.size, single.columns)
        assert (ours.status, ours.size, ours.lower_bound) == (
            in_numpy.status,
            in_numpy.size,
            in_numpy.lower_bound,
        )
        np.testing.assert_allclose(ours.path, single.path, rtol=1e-9, atol=1e-12)


@KERNELS
def test_most_rows_are_answered_at_once(kernel, moviegoers):
    model = SVC(kernel=kernel, class_weight="balanced").fit(moviegoers.X[:200], moviegoers.y[:200])
    explainer = Explainer(model, budget=Budget(max_size=5))
    with loops("compiled"):
        answers = solved_rows.explain_solved(explainer._engine, as_table(moviegoers.X[:40]))
    assert len(answers.numbers) >= 36


def test_large_exponents_are_left_to_others():
    """A factor of exp(1000) would overflow; the row is still explained."""
    X = sparse.csr_matrix(np.array([[40.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]))
    model = SVC(gamma=1.0).fit(X, [1, 0, 0])
    with loops("compiled"):
        explainer = Explainer(model.decision_function, threshold=0.0)
        assert 0 in solved_rows.explain_solved(explainer._engine, as_table(X)).open(3)
        (first, *_) = explainer.explain_block(X)
    best = brute_force_minimum(model.decision_function, X[[0]], threshold=0.0)
    assert first.columns in best if best else first.status == "none"


def test_other_models_have_no_such_blocks(club_model):
    assert KernelRows.of(None) is None
    assert KernelRows.of(Explainer(club_model)._engine.model.network) is None
    with loops("plain"):
        svc = SVC().fit(sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1])
        assert KernelRows.of(Explainer(svc)._engine.model.network) is None
