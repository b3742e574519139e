"""Sparse matrices out of .npz files, into arrays that can be read in place."""

import errno
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor.batch.inputs.locations import BLOCK, Files
from butfor.errors import InputError

ARRAYS = ("indptr", "indices", "data")


@dataclass(frozen=True, eq=False)
class Unpacked:
    """The arrays of a CSR matrix, of which only what is touched is in memory."""

    n_columns: int
    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]


def shape_of(files: Files, number: int) -> tuple[int, int]:
    """Give the number of rows and of columns of a matrix."""
    with _opened(files, number) as archive:
        return _shape(archive)


def unpack(files: Files, number: int, folder: Path) -> Unpacked:
    """Unpack a matrix, unless that has been done in this folder, and open it.

    It is done in a folder of its own that gets its name in the end, so that what has the name is whole.
    """
    return _unpacked(files, number, folder)


@lru_cache(maxsize=4)
def _unpacked(files: Files, number: int, folder: Path) -> Unpacked:
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
    shape = np.load(target / "shape.npy")
    return Unpacked(int(shape[1]), *(_mapped(target / f"{name}.npy") for name in ARRAYS))


def _mapped(path: Path) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    except ValueError:  # nothing can be mapped of an empty array
        array = np.load(path)
    return array


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
        _require_csr(shape, *(_mapped(folder / f"{name}.npy") for name in ARRAYS))


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
    shape: tuple[int, int], indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any]
) -> None:
    """Raise unless rows begin and end where they should; what stands in them is checked as it is read."""
    is_number = data.dtype.kind in "biuf" and data.dtype != np.float16  # which SciPy cannot hold
    if {indptr.dtype.kind, indices.dtype.kind} - set("iu") or not is_number:
        kinds = ", ".join(str(each.dtype) for each in (indptr, indices, data))
        raise ValueError(f"its arrays must be whole numbers, whole numbers and numbers, got {kinds}")
    if (indptr.ndim, indices.ndim, data.ndim) != (1, 1, 1) or len(indices) != len(data):
        raise ValueError(f"it has {indices.shape} indices for {data.shape} values")
    if len(indptr) != shape[0] + 1:
        raise ValueError(f"it has places for {len(indptr) - 1:,} rows, and {shape[0]:,} rows")
    if indptr[0] != 0 or indptr[-1] > len(indices):
        raise ValueError(f"its rows go from {indptr[0]} to {indptr[-1]} of {len(indices):,} values")
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
            yield archive
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        what = error.args[0] if isinstance(error, KeyError) else error
        raise InputError(
            "DATA must be a sparse matrix as scipy.sparse.save_npz writes it (.npz), got "
            f"{files.paths[number]}: {what}."
        ) from error
