import numpy as np
import pytest
from scipy import sparse

from butfor import InputError
from butfor.models import as_row


def test_columns_and_values_of_the_active_features():
    row = as_row(sparse.csr_matrix([[0.0, -2.5, 0.0, 4.0]]))
    assert row.columns.tolist() == [1, 3]
    assert row.values.tolist() == [-2.5, 4.0]
    assert row.n_features == 4


def test_duplicates_are_summed_and_may_cancel():
    data = (np.array([1.0, 2.0, 3.0, -3.0]), (np.zeros(4, dtype=int), np.array([2, 2, 0, 0])))
    row = as_row(sparse.coo_matrix(data, shape=(1, 3)))
    assert (row.columns.tolist(), row.values.tolist()) == ([2], [3.0])


def test_the_matrix_of_removal_sets_is_what_a_loop_would_build():
    rng = np.random.default_rng(0)
    dense = rng.integers(-2, 3, size=30)
    row = as_row(dense)
    removed = rng.random((50, len(row.columns))) < 0.4
    built = row.without(removed)
    for values, gone in zip(built.toarray(), removed, strict=True):
        expected = dense.copy()
        expected[row.columns[gone]] = 0
        assert values.tolist() == expected.tolist()
    assert built.has_canonical_format
    assert built.dtype == dense.dtype


def test_the_user_s_kind_of_matrix_is_kept():
    nothing = np.zeros((1, 1), dtype=bool)
    assert isinstance(as_row(sparse.csc_array([[1.0]])).without(nothing), sparse.csr_array)
    assert isinstance(as_row(sparse.csc_matrix([[1.0]])).without(nothing), sparse.csr_matrix)
    assert isinstance(as_row([1.0]).without(nothing), sparse.csr_matrix)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, np.nan, 2.0], "row must be finite, got nan in column 1"),
        (sparse.csr_matrix([[0.0, 0.0, np.inf]]), "row must be finite, got inf in column 2"),
        (np.eye(3), r"row must be one row, got 3. Pass X\[\[i\]\]"),
        (sparse.eye(3, format="csr"), "row must be one row, got 3"),
        (np.empty((0, 3)), "row must be one row, got 0"),
        ([1.0, 2.0], "row must have 3 features, as the model was fitted on, got 2"),
        (np.ones((1, 1, 3)), "row must have one or two dimensions, got 3"),
        (np.array([1, 2, 3j]), "row must hold real numbers, got dtype complex128"),
        (["a", "b", "c"], "row must hold real numbers, got list"),
        ([1, 2, None], "row must hold real numbers|row must be finite"),
        (7.0, "row must have one or two dimensions, got 0"),
        ("free prize", "row must be numeric, got a text of 10 characters"),
    ],
)
def test_bad_rows(row, message):
    with pytest.raises(InputError, match=message):
        as_row(row, 3)
