"""SciPy's .npz files: unpacked once, then read in place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from butfor._files.inputs.base import (
    Chunk,
    ChunkedInput,
    ColumnNames,
    IdType,
    InputRows,
    ModelNeeds,
    joined_matrices,
)
from butfor._files.inputs.locations import Files
from butfor._files.inputs.scratch import scratch
from butfor._files.inputs.unpacking import UnpackedMatrix, shape_of, unpack
from butfor._files.inputs.whole_rows import chunks_of_rows, pieces_of
from butfor.errors import InputError


@dataclass(frozen=True)
class SparseMatrices(ChunkedInput):
    """Rows of sparse matrices as `scipy.sparse.save_npz` writes them; ids are row numbers, over all files.

    A file is compressed as a whole, so nothing can be read before all of it is unpacked: into the folder of
    `prepared`, or into a temporary one of the process. CSR is unpacked block by block; any other format is
    converted, for which the matrix must fit into memory.
    """

    files: Files
    shapes: tuple[tuple[int, int], ...]
    folder: str | None = None
    """Where it is unpacked."""
    holds_texts = False
    kind = "matrix"
    feature_names = None
    id_type: IdType = field(default="int", init=False)

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._counts, chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk, as they stand in the file."""
        *_, number = chunk.place
        blocks, errors, n_read = [], dict[int, str](), 0
        for file, begin, end in pieces_of(chunk, self._counts):
            X, bad = _block(self._unpacked(file), begin, end)
            self.files.require_unchanged(file)  # it was unpacked before, but a run is about what is there
            errors.update({n_read + position: error for position, error in bad.items()})
            blocks.append(X)
            n_read += end - begin
        return InputRows(list(range(number, number + chunk.n_rows)), joined_matrices(blocks), errors)

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind)

    def prepared(self, folder: str) -> Self:
        """Unpack the files into a folder."""
        for number in range(len(self.files.paths)):
            unpack(self.files, number, Path(folder))
        return replace(self, folder=folder)

    @property
    def _counts(self) -> list[int]:
        return [n_rows for n_rows, _ in self.shapes]

    def _unpacked(self, file: int) -> UnpackedMatrix:
        return unpack(self.files, file, Path(self.folder) if self.folder else scratch())


def open_npz(files: Files, columns: ColumnNames, needs: ModelNeeds) -> SparseMatrices:
    """Look at the shapes of the matrices, and at nothing else."""
    shapes = tuple(shape_of(files, number) for number in range(len(files.paths)))
    require_columns_of_model(files, [n_columns for _, n_columns in shapes], needs)
    return SparseMatrices(files, shapes)


def require_columns_of_model(files: Files, counts: Sequence[int], needs: ModelNeeds) -> None:
    """Raise unless each matrix has as many columns as the model, or as the first matrix."""
    for name, n_columns in zip(files.names, counts, strict=True):
        expected = counts[0] if needs.n_columns is None else needs.n_columns
        if n_columns != expected:
            what = "the first file" if needs.n_columns is None else "the model was fitted on"
            raise InputError(
                f"DATA must have {expected:,} columns, as {what}, got {name} with {n_columns:,}."
            )


def _block(unpacked: UnpackedMatrix, begin: int, end: int) -> tuple[Any, dict[int, str]]:
    """Copy some rows; a row with an out-of-range column becomes empty and is reported."""
    from scipy import sparse

    n_columns = unpacked.n_columns
    starts = unpacked.indptr[begin : end + 1].astype(np.int64)
    columns, values = unpacked.indices[starts[0] : starts[-1]], unpacked.data[starts[0] : starts[-1]]
    starts -= starts[0]
    bad = np.flatnonzero((columns < 0) | (columns >= n_columns))
    errors: dict[int, str] = {}
    if len(bad):
        rows = np.searchsorted(starts, bad, side="right") - 1
        for row, place in zip(rows.tolist(), bad.tolist(), strict=True):
            what = f"features from 0 to {n_columns - 1:,}, got {columns[place]}"
            errors.setdefault(row, f"the row must have {what}: the file is damaged.")
        columns, values, starts = _without(sorted(errors), columns, values, starts)
    X = sparse.csr_matrix((end - begin, n_columns), dtype=values.dtype)
    # Filled in by hand: the constructor would look at every entry again.
    kind = np.int64 if columns.dtype.itemsize == 8 else np.int32
    X.data, X.indices, X.indptr = values, columns.astype(kind, copy=False), starts.astype(kind)
    return X, errors


def _without(
    rows: list[int], columns: npt.NDArray[Any], values: npt.NDArray[Any], starts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64]]:
    lengths = np.diff(starts)
    good = np.ones(len(lengths), dtype=bool)
    good[rows] = False
    kept = np.repeat(good, lengths)
    return columns[kept], values[kept], np.concatenate([[0], np.cumsum(lengths * good)])
