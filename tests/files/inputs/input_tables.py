"""Tables, matrices and texts for the tests of what all commands read."""

import csv

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

from butfor._files.inputs import ColumnNames, open_input

TEXTS = [
    "plain",
    "",
    "two\nlines",
    'a "quoted" word',
    "comma, semicolon;",
    "tab\tand\r\nreturn",
    "żółć 🙂",
    " ",
]


def some_matrix(n_rows=23, n_columns=11, seed=0):
    """A matrix with an empty row, and with values of both signs that add up without rounding."""
    dense = np.random.default_rng(seed).integers(-4, 5, size=(n_rows, n_columns)) / 2
    dense[np.abs(dense) < 1] = 0
    dense[3] = 0
    return sparse.csr_matrix(dense)


def save(path, columns, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path, **options)
    return str(path)


def write_csv(path, rows, *, delimiter=",", encoding="utf-8", ends="\r\n"):
    with path.open("w", encoding=encoding, newline="") as file:
        quoting = csv.QUOTE_ALL if ends != "\r\n" else csv.QUOTE_MINIMAL  # which knows no other line ends
        csv.writer(file, delimiter=delimiter, lineterminator=ends, quoting=quoting).writerows(rows)
    return path


def open_texts(*paths, **columns):
    return open_input([str(path) for path in paths], ColumnNames(**columns), takes_texts=True)


def records(X):
    """The records of a matrix, row by row: (row, column, value)."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices, X.data


def as_lists(X, array):
    """The entries of each row of a matrix, taken from an array of one a stored value."""
    return pa.ListArray.from_arrays(pa.array(X.indptr, pa.int32()), pa.array(array))


def read_all(data, chunk_rows=5):
    """Read all chunks; return the ids, the rows and the errors by number of row."""
    ids, blocks, errors = [], [], {}
    for number, chunk in enumerate(data.chunks(chunk_rows)):
        rows = data.read(chunk)
        assert chunk.number == number
        assert chunk.n_rows == len(rows.ids)
        assert 0 < chunk.n_rows <= chunk_rows
        errors |= {len(ids) + position: error for position, error in rows.errors.items()}
        ids += rows.ids
        blocks.append(rows.content)
    given = (
        [text for block in blocks for text in block] if data.holds_texts else sparse.vstack(blocks).tocsr()
    )
    return ids, given, errors


def same(X, Y):
    return X.shape == Y.shape and (X != Y).nnz == 0
