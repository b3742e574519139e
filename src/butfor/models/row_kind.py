"""The kind of table in which rows reach a model: the one that the user passes."""

from dataclasses import dataclass, field
from typing import Any, Literal

from scipy import sparse


@dataclass(frozen=True)
class RowKind:
    """The kind of table in which rows reach a model.

    A model may read absent entries of CSR and zeros of a dense row in different ways, as XGBoost does. So
    a CSR row stays CSR, where a removed feature is absent, and a dense row stays dense, where it is zero.
    """

    name: Literal["csr_matrix", "csr_array", "dense", "frame"]
    dtype: str = ""
    """The dtype in which the model gets the values; empty: their own."""
    columns: tuple[tuple[str, str], ...] = ()
    """The names and dtypes of a frame's columns."""
    template: Any = field(default=None, compare=False)
    """A frame of this kind without rows."""

    @property
    def is_sparse(self) -> bool:
        """Whether absent entries stay absent."""
        return self.name in ("csr_matrix", "csr_array")

    @property
    def container(self) -> type:
        """The class of CSR in which rows of this kind are built."""
        container: type = sparse.csr_array if self.name == "csr_array" else sparse.csr_matrix
        return container

    def of(self, csr: Any) -> Any:
        """Return rows of CSR as a table of this kind.

        >>> RowKind("dense", "int8").of(sparse.csr_matrix([[0.0, 2.0]]))
        array([[0, 2]], dtype=int8)
        """
        if self.is_sparse:
            return self.container(csr, dtype=self.dtype) if self.dtype else csr
        dense = csr.toarray()
        if self.name == "dense":
            return dense.astype(self.dtype, copy=False) if self.dtype else dense
        if hasattr(self.template, "iloc"):
            frame = type(self.template)(dense, columns=self.template.columns)
            return frame.astype(dict(self.template.dtypes))
        frame = type(self.template)(dense, schema=self.template.columns, orient="row")
        return frame.cast(dict(self.template.schema))


CSR = RowKind("csr_matrix")
DENSE = RowKind("dense")


def frame_kind(frame: Any) -> RowKind:
    """Return the kind of a data frame of pandas or polars."""
    columns = tuple((str(name), str(dtype)) for name, dtype in zip(frame.columns, frame.dtypes, strict=True))
    return RowKind("frame", columns=columns, template=frame[:0])


def holds_numbers(dtype: Any) -> bool:
    """Return whether a column of a frame of pandas or polars holds numbers, or truth values.

    >>> import numpy as np
    >>> holds_numbers(np.dtype("int8")), holds_numbers(np.dtype(object))
    (True, False)
    """
    if hasattr(dtype, "kind"):  # of pandas, where a category has one, too
        return dtype.kind in tuple("biuf") and str(dtype) != "category"
    return str(dtype) == "Boolean" or bool(getattr(dtype, "is_numeric", lambda: False)())


def is_frame(rows: Any) -> bool:
    """Return whether rows are a data frame of pandas or polars."""
    return hasattr(rows, "columns") and hasattr(rows, "dtypes")
