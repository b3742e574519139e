"""Rows as users give them, read: canonical CSR, and the kind of table in which a model gets them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.errors import InputError, abridged
from butfor.models.row_kind import CSR, RowKind, is_frame

NAMES_SHOWN = 5
"""How many names of columns an error lists."""


@dataclass(frozen=True, eq=False)
class Given:
    """Rows in the form in which the user gave them, where the model gets them in another one."""

    rows: Any
    signature: tuple[Any, ...]
    """What all rows of this form have in common."""
    in_words: str
    """What the form is, for messages."""
    remedy: str
    """What to do where the model reads this form otherwise."""
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
    given: Given | None = None
    """The rows as the user gave them, where the model gets them in another form."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.csr.shape[0])


def as_table(rows: Any, n_features: int | None = None, names: tuple[str, ...] | None = None) -> Table:
    """Read rows: any SciPy sparse matrix or array, a data frame or series, or anything dense.

    A frame's columns are matched by name with `names`, those that the model was fitted with.
    """
    if sparse.issparse(rows):
        table = _of_sparse(rows)
    elif is_frame(rows):
        table = _of_frame(rows, names)
    elif hasattr(rows, "to_frame") and hasattr(rows, "iloc"):  # a row of a frame of pandas
        table = _of_frame(rows.to_frame().T.infer_objects(), names)
    else:
        table = _of_dense(_as_numbers(rows))
    _check(table, n_features)
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
    return Table(csr, kind, given=Given(rows, (rows.format, is_cleaned), in_words, remedy, is_cleaned))


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
    given = Given(frame, (module, columns, dtypes), in_words, remedy)
    return Table(table.csr, table.kind, own, given)


def _names_of(columns: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the names of columns; None where they are not strings, as scikit-learn has it."""
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _require_same_names(own: tuple[str, ...], names: tuple[str, ...]) -> None:
    if len(own) == len(names) == len(set(own)) and set(own) == set(names):
        return
    known, got = set(names), set(own)
    missing = [name for name in names if name not in got]
    unknown = [name for name in own if name not in known]
    problems = [
        f"{what} {', '.join(map(repr, some[:NAMES_SHOWN]))}{', …' if len(some) > NAMES_SHOWN else ''}"
        for what, some in (("lacks", missing), ("has besides", unknown))
        if some
    ] or ["has some of them more than once"]
    raise InputError(
        f"row must have the columns that the model was fitted on, {len(names):,} by name, got a frame that "
        f"{' and '.join(problems)}. Pass frame.to_numpy() if its columns are in the model's order."
    )


def _check(table: Table, n_features: int | None) -> None:
    csr = table.csr
    if n_features is not None and csr.shape[1] != n_features:
        raise InputError(
            f"row must have {n_features:,} features, as the model was fitted on, got {csr.shape[1]:,}."
        )
    if csr.dtype.kind not in "biuf":
        raise InputError(f"row must hold real numbers, got dtype {csr.dtype}.")
    bad = ~np.isfinite(csr.data)
    if bad.any():
        value, column = csr.data[bad][0], csr.indices[bad][0]
        raise InputError(f"row must be finite, got {value} in column {column:,}. Impute or drop it first.")


def _as_numbers(rows: Any, given: Any = None) -> npt.NDArray[Any]:
    dense = np.asarray(rows)
    if dense.dtype.kind in "OUS":
        kind = type(rows if given is None else given).__name__
        try:
            dense = dense.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"row must hold real numbers, got {kind}: {abridged(str(error))}.") from error
    return dense
