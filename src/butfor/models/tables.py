"""Rows as users pass them, read into canonical CSR with the kind of table in which a model gets them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.errors import InputError, abridged, name_differences
from butfor.models.row import Row
from butfor.models.row_kind import CSR, RowKind, is_frame


@dataclass(frozen=True, eq=False)
class OriginalRows:
    """Rows as the user passed them, where the model gets them in another form."""

    rows: Any
    signature: tuple[Any, ...]
    """What all rows of this form share: a key of the form."""
    in_words: str
    """The form in words, for messages."""
    remedy: str
    """What to do where the model decides otherwise on this form."""
    is_cleaned: bool = False
    """Whether explicit zeros or repeated entries were taken out, which may differ from row to row."""

    def row(self, number: int) -> Any:
        """Return one row."""
        if hasattr(self.rows, "iloc"):
            return self.rows.iloc[[number]]
        if sparse.issparse(self.rows):
            return self.rows if self.rows.shape[0] == 1 else self.rows.tocsr()[[number]]
        return self.rows[number : number + 1]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in canonical CSR: sorted, without repeated entries and explicit zeros, in their own dtype."""

    csr: Any
    kind: RowKind
    """In which kind of table the model gets the rows."""
    names: tuple[str, ...] | None = None
    """The names of the columns, where the rows came in a frame."""
    original: OriginalRows | None = None
    """The rows as the user passed them, where the model gets them in another form."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.csr.shape[0])


def as_table(
    rows: Any,
    n_features: int | None = None,
    names: tuple[str, ...] | None = None,
    *,
    takes_missing: bool = False,
) -> Table:
    """Read rows: any SciPy sparse matrix or array, a data frame or series, or anything dense.

    A frame's columns are matched by name with `names`, those that the model was fitted with. NaN is refused
    unless the model takes missing values.
    """
    if sparse.issparse(rows):
        table = _of_sparse(rows)
    elif is_frame(rows):
        table = _of_frame(rows, names)
    elif hasattr(rows, "to_frame") and hasattr(rows, "iloc"):  # a row of a frame of pandas
        table = _of_frame(rows.to_frame().T.infer_objects(), names)
    else:
        table = _of_dense(_as_numbers(rows))
    _check(table, n_features, takes_missing)
    return table


def _of_sparse(rows: Any) -> Table:
    rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
    kind = RowKind("csr_array") if isinstance(rows, sparse.sparray) else CSR
    if rows.format == "csr" and rows.has_canonical_format and rows.data.all():
        return Table(rows, kind)
    csr = kind.container(rows, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    is_cleaned = csr.nnz != rows.nnz
    if rows.format == "csr" and not is_cleaned:
        return Table(csr, kind)
    in_words, remedy = f"as {type(rows).__name__}", "Pass a CSR matrix."
    if is_cleaned:
        in_words = "with explicit zeros or repeated entries"
        remedy = "Call sum_duplicates() and eliminate_zeros() on it first."
    original = OriginalRows(rows, (rows.format, is_cleaned), in_words, remedy, is_cleaned)
    return Table(csr, kind, original=original)


def _of_dense(rows: npt.NDArray[Any]) -> Table:
    rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise InputError(f"row must have one or two dimensions, got {rows.ndim}.")
    return Table(sparse.csr_matrix(storable_values(rows)), RowKind("dense", rows.dtype.str))


def storable_values(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as SciPy can hold them: not of half precision or of another byte order."""
    if values.dtype == np.float16 or not values.dtype.isnative:
        return values.astype(np.result_type(values.dtype.newbyteorder("="), np.float32))
    return values


def _of_frame(frame: Any, names: tuple[str, ...] | None) -> Table:
    columns, dtypes = tuple(frame.columns), tuple(frame.dtypes)
    categorical = {dtype for dtype in set(dtypes) if str(dtype) == "category"}
    if categorical:
        name = next(name for name, dtype in zip(columns, dtypes, strict=True) if dtype in categorical)
        raise InputError(
            f"row must hold real numbers, got categories in the column {name!r}, of which zero may be "
            "none. Encode them as columns of zeros and ones."
        )
    module = type(frame).__module__.split(".")[0]
    in_words, remedy = f"as a frame of {module}", "Pass frame.to_numpy() if that is what you mean."
    own, ordered = _names_of(columns), frame
    if own is not None and names is not None and own != names:
        _require_same_names(own, names)
        own, ordered = names, frame[list(names)]
        in_words += " with its columns in another order than it was fitted on"
        remedy = "Put the columns into the model's order: frame[list(names)]."
    table = _of_dense(_as_numbers(ordered.to_numpy(), frame))
    original = OriginalRows(frame, (module, columns, dtypes), in_words, remedy)
    return Table(table.csr, table.kind, own, original)


def _names_of(columns: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the names of columns; None where they are not strings, as scikit-learn has it."""
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _require_same_names(own: tuple[str, ...], names: tuple[str, ...]) -> None:
    if len(own) == len(names) == len(set(own)) and set(own) == set(names):
        return
    raise InputError(
        f"row must have the columns that the model was fitted on, {len(names):,} by name, got a frame that "
        f"{name_differences(own, names)}. Pass frame.to_numpy() if its columns are in the model's order."
    )


def _check(table: Table, n_features: int | None, takes_missing: bool) -> None:
    csr = table.csr
    if n_features is not None and csr.shape[1] != n_features:
        raise InputError(
            f"row must have {n_features:,} features, as the model was fitted on, got {csr.shape[1]:,}."
        )
    if csr.dtype.kind not in "biuf":
        raise InputError(f"row must hold real numbers, got dtype {csr.dtype}.")
    good = ~np.isinf(csr.data) if takes_missing else np.isfinite(csr.data)
    if not good.all():
        value, column = csr.data[~good][0], csr.indices[~good][0]
        raise InputError(f"row must be finite, got {value} in column {column:,}. Impute or drop it first.")


def _as_numbers(rows: Any, frame: Any = None) -> npt.NDArray[Any]:
    dense = np.asarray(rows)
    if dense.dtype.kind in "OUS":
        kind = type(rows if frame is None else frame).__name__
        try:
            dense = dense.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"row must hold real numbers, got {kind}: {abridged(str(error))}.") from error
    return dense


def as_row(
    row: Any,
    n_features: int | None = None,
    names: tuple[str, ...] | None = None,
    *,
    takes_missing: bool = False,
) -> Row:
    """Read one row.

    Parameters
    ----------
    row : Row, array-like, sparse matrix, frame or series
        One row: a SciPy sparse matrix or array, a frame or series, or anything dense of up to two dimensions.
    n_features : int, optional
        The number of features that the model was fitted on.
    names : tuple of str, optional
        The names of the columns that the model was fitted on.
    takes_missing : bool, default=False
        Whether the model takes missing values, which are never removed.

    Returns
    -------
    Row
        The row, with a unit for each active feature.

    Raises
    ------
    InputError
        If it is a text, not exactly one row, or not numeric.

    Examples
    --------
    >>> as_row([0, 5, 0, 7]).columns
    array([1, 3], dtype=int32)
    """
    if isinstance(row, Row):
        return row
    if isinstance(row, (str, bytes)):
        raise InputError(
            f"row must be numeric, got a text of {len(row):,} characters. For a model that reads texts add "
            'removal="delete" to Explainer; else pass vectorizer.transform([text]).'
        )
    table = as_table(row, n_features, names, takes_missing=takes_missing)
    if table.n_rows != 1:
        raise InputError(f"row must be one row, got {table.n_rows:,}. Pass X[[i]] to explain row i.")
    return row_at(table, 0)


def row_at(table: Table, number: int) -> Row:
    """Return one row of a table.

    Parameters
    ----------
    table : Table
        The table.
    number : int
        The position of the row.

    Returns
    -------
    Row
        The row, with a unit for each active feature.

    Examples
    --------
    >>> row_at(as_table([[0, 5], [7, 0]]), 1).columns
    array([0], dtype=int32)
    """
    csr = table.csr
    start, end = csr.indptr[number], csr.indptr[number + 1]
    values = csr.data[start:end]
    return Row(
        columns=csr.indices[start:end].astype(np.int32, copy=False),
        values=values,
        n_features=csr.shape[1],
        kind=table.kind,
        removable=(values == values).nonzero()[0],  # a missing value stays
        names=table.names,
        original=table.original,
        number=number,
    )
