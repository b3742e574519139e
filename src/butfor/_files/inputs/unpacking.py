"""Sparse matrices out of .npz files, into arrays that can be read in place."""

import errno
import math
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._files.inputs.locations import BLOCK, Files
from butfor._files.zips import require_unpackable
from butfor.errors import InputError

ARRAYS = ("indptr", "indices", "data")


@dataclass(frozen=True)
class StoredArray:
    """An array in a .npy file, read piece by piece; mapped, all that was ever read would count as memory."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    def __getitem__(self, piece: slice) -> npt.NDArray[Any]:
        """Read the elements from a first one to before a last one."""
        begin, end, _ = piece.indices(self.shape[0])
        place = self.offset + begin * self.dtype.itemsize
        found = np.fromfile(self.path, self.dtype, count=max(0, end - begin), offset=place)
        return found.astype(self.dtype.newbyteorder("="), copy=False)

    def __len__(self) -> int:
        return self.shape[0]


@dataclass(frozen=True)
class UnpackedMatrix:
    """The arrays of a CSR matrix, in files."""

    n_columns: int
    indptr: StoredArray
    indices: StoredArray
    data: StoredArray


def shape_of(files: Files, number: int) -> tuple[int, int]:
    """Return the number of rows and of columns of a matrix."""
    with _opened(files, number) as archive:
        return _shape(archive)


def unpack(files: Files, number: int, folder: Path) -> UnpackedMatrix:
    """Unpack a matrix, unless that has been done in this folder.

    It is done in a folder of its own that gets its name in the end, so that what has the name is whole.
    """
    target = folder / f"matrix-{files.stamp}-{number}"
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="_unpacking-", dir=folder))
        try:
            _write(files, number, fresh)
            os.rename(fresh, target)
        except OSError:
            if not target.is_dir():  # otherwise another process was first
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return UnpackedMatrix(int(np.load(target / "shape.npy")[1]), *(_stored(target, name) for name in ARRAYS))


def _stored(folder: Path, name: str) -> StoredArray:
    path = folder / f"{name}.npy"
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in read_header:
            raise ValueError(f"{name} is of the unknown format {version}")
        shape, _, dtype = read_header[version](file)
        offset = file.tell()
    if dtype.hasobject or path.stat().st_size != offset + dtype.itemsize * math.prod(shape):
        raise ValueError(f"{name} does not hold {shape} numbers of {dtype}")
    return StoredArray(path, dtype, shape, offset)


def _write(files: Files, number: int, folder: Path) -> None:
    with _opened(files, number) as archive:
        shape = _shape(archive)
        if _format(archive) == "csr":
            for name in ARRAYS:
                _copy(archive, name, folder)
        else:
            with files.opened(number) as file:
                _convert(file, folder)
        np.save(folder / "shape.npy", np.array(shape))
        _require_csr(shape, *(_stored(folder, name) for name in ARRAYS))


def _copy(archive: zipfile.ZipFile, name: str, folder: Path) -> None:
    try:
        with archive.open(f"{name}.npy") as packed, (folder / f"{name}.npy").open("wb") as plain:
            shutil.copyfileobj(packed, plain, BLOCK)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise InputError(f"DATA must fit into {folder.parent} when unpacked, got: {error}.") from error


def _convert(file: Any, folder: Path) -> None:
    from scipy import sparse

    X = sparse.load_npz(file).tocsr()
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(X, name))


def _require_csr(
    shape: tuple[int, int], indptr: StoredArray, indices: StoredArray, data: StoredArray
) -> None:
    """Raise unless rows begin and end where they should; what stands in them is checked as it is read."""
    is_number = data.dtype.kind in "biuf" and data.dtype != np.float16  # which SciPy cannot hold
    if {indptr.dtype.kind, indices.dtype.kind} - set("iu") or not is_number:
        kinds = ", ".join(str(each.dtype) for each in (indptr, indices, data))
        raise ValueError(f"its arrays must be whole numbers, whole numbers and numbers, got {kinds}")
    if len(indptr.shape) != 1 or len(indices.shape) != 1 or indices.shape != data.shape:
        raise ValueError(f"it has {indices.shape} indices for {data.shape} values")
    if len(indptr) != shape[0] + 1:
        raise ValueError(f"it has places for {len(indptr) - 1:,} rows, and {shape[0]:,} rows")
    (first,), (last,) = indptr[:1], indptr[-1:]
    if first != 0 or last > len(indices):
        raise ValueError(f"its rows go from {first} to {last} of {len(indices):,} values")
    for begin in range(0, len(indptr), BLOCK):
        if np.any(np.diff(indptr[begin : begin + BLOCK + 1].astype(np.int64)) < 0):
            raise ValueError("a row of it ends before it begins")


def _shape(archive: zipfile.ZipFile) -> tuple[int, int]:
    with archive.open("shape.npy") as member:
        shape = np.lib.format.read_array(member, allow_pickle=False)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(f"its shape is {shape.tolist()}, not rows and columns")
    return int(shape[0]), int(shape[1])


def _format(archive: zipfile.ZipFile) -> str:
    with archive.open("format.npy") as member:
        name = np.lib.format.read_array(member, allow_pickle=False).item()
    return name.decode("ascii") if isinstance(name, bytes) else str(name)


@contextmanager
def _opened(files: Files, number: int) -> Iterator[zipfile.ZipFile]:
    try:
        with files.opened(number) as file, zipfile.ZipFile(file) as archive:
            require_unpackable(archive, "DATA", files.paths[number], files.max_unpacked)
            yield archive
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        what = error.args[0] if isinstance(error, KeyError) else error
        raise InputError(
            "DATA must be a sparse matrix as scipy.sparse.save_npz writes it (.npz), got "
            f"{files.paths[number]}: {what}."
        ) from error
