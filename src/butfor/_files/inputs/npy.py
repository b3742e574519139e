"""NumPy's .npy files: a dense matrix, of which any rows are read in place."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
from butfor._files.inputs.npz import require_columns_of_model
from butfor._files.inputs.whole_rows import chunks_of_rows, pieces_of
from butfor.errors import InputError


@dataclass(frozen=True)
class NpyHeader:
    """What stands before the numbers of a .npy file."""

    shape: tuple[int, int]
    dtype: str
    by_column: bool
    """Whether the numbers of a column are next to each other, as in Fortran, not those of a row."""
    offset: int
    """Where the numbers begin."""


@dataclass(frozen=True)
class DenseMatrices(ChunkedInput):
    """Rows of dense matrices as `numpy.save` writes them; ids are row numbers, over all files."""

    files: Files
    headers: tuple[NpyHeader, ...]
    holds_texts = False
    kind = "dense matrix"
    feature_names = None
    id_type: IdType = field(default="int", init=False)

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows(self._counts, chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the rows of a chunk, across files."""
        *_, number = chunk.place
        blocks = [self._block(*piece) for piece in pieces_of(chunk, self._counts)]
        return InputRows(list(range(number, number + chunk.n_rows)), joined_matrices(blocks))

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind)

    @property
    def _counts(self) -> list[int]:
        return [n_rows for n_rows, _ in (header.shape for header in self.headers)]

    def _block(self, file: int, begin: int, end: int) -> npt.NDArray[Any]:
        header = self.headers[file]
        (n_rows, n_columns), dtype = header.shape, np.dtype(header.dtype)
        with _opened(self.files, file) as raw:
            if header.by_column:
                X = np.empty((end - begin, n_columns), dtype)
                for column in range(n_columns):
                    X[:, column] = _numbers(raw, header, column * n_rows + begin, end - begin)
            else:
                X = _numbers(raw, header, begin * n_columns, (end - begin) * n_columns)
                X = X.reshape(end - begin, n_columns)
        return X.astype(dtype.newbyteorder("="), copy=not X.flags.writeable)


def open_npy(files: Files, columns: ColumnNames, needs: ModelNeeds) -> DenseMatrices:
    """Look at what stands before the numbers, and at nothing else."""
    headers = tuple(_header(files, number) for number in range(len(files.paths)))
    require_columns_of_model(files, [header.shape[1] for header in headers], needs)
    return DenseMatrices(files, headers)


def _header(files: Files, number: int) -> NpyHeader:
    with _opened(files, number) as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, by_column, dtype = read(file)
        if dtype.kind not in "biuf":
            raise ValueError(f"it holds no numbers but {dtype}")
        if len(shape) != 2:
            raise ValueError(f"it has the shape {shape}, not rows and columns")
        header = NpyHeader((int(shape[0]), int(shape[1])), dtype.str, by_column, file.tell())
        size = header.offset + math.prod(shape) * dtype.itemsize
        if file.seek(0, 2) < size:
            raise ValueError(f"it ends before its {shape[0]:,} rows do")
        return header


def _numbers(file: Any, header: NpyHeader, first: int, count: int) -> npt.NDArray[Any]:
    dtype = np.dtype(header.dtype)
    file.seek(header.offset + first * dtype.itemsize)
    return np.frombuffer(file.read(count * dtype.itemsize), dtype, count)


@contextmanager
def _opened(files: Files, number: int) -> Iterator[Any]:
    try:
        with files.opened(number) as file:
            yield file
    except (ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "DATA must be a matrix of numbers as numpy.save writes it (.npy), got "
            f"{files.paths[number]}: {error}."
        ) from error
