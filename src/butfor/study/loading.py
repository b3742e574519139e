"""Read data sets through a cache: parsing and lemmatising take minutes, and a study is often run again."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from butfor import InputError
from butfor.study import datasets
from butfor.study.datasets import Data, Dataset, data_folder
from butfor.study.registry import Registry
from butfor.study.results import GENERATED


@dataclass(frozen=True)
class DataShape:
    """The figures of the paper's table of data sets, measured on the data."""

    rows: int
    features: int
    positive_percent: float
    sparsity_percent: float


def load(known: Registry, name: str, cache: Path) -> Data:
    """Return a data set or its stand-in, from the cache if the same files were read before."""
    import joblib

    dataset = known.dataset(name)
    if name.endswith(GENERATED) and dataset.generate is not None:
        return checked(name, dataset.generate())
    dataset.require_files()
    if not _is_cached(dataset):
        return checked(name, dataset.load())
    path = _path(dataset, cache)
    if path.exists():
        data: Data = joblib.load(path)
        return data
    data = checked(name, dataset.load())
    for old in cache.glob(f"{dataset.name}-*"):
        old.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(asdict(shape_of(data))), encoding="utf-8")
    write_cached(data, path)
    return data


def checked(name: str, data: Data) -> Data:
    """Return data with X as CSR of floats without stored zeros, and y as integers.

    Raise an InputError if X, y and feature_names do not fit together, or y does not hold 0 and 1.
    """
    if not isinstance(data, Data):
        raise InputError(f"Reading {name} must give Data(X, y, feature_names), got a {type(data).__name__}.")
    X = sparse.csr_matrix(data.X, dtype=np.float64)
    X.sum_duplicates()
    X.eliminate_zeros()
    y = np.asarray(data.y)
    if y.shape != X.shape[:1]:
        raise InputError(f"y of {name} must have a label for each of {X.shape[0]:,} rows, got {y.shape}.")
    if set(np.unique(y).tolist()) != {0, 1}:
        raise InputError(f"y of {name} must hold 0 and 1, both of them, got {np.unique(y).tolist()[:5]}.")
    if len(data.feature_names) != X.shape[1]:
        expected, n_names = f"{X.shape[1]:,}", f"{len(data.feature_names):,}"
        raise InputError(f"feature_names of {name} must have {expected} names, one a column, got {n_names}.")
    if not np.isfinite(X.data).all():
        raise InputError(f"X of {name} must hold finite numbers only.")
    return replace(data, X=X, y=y.astype(np.int64))


def shape_of(data: Data) -> DataShape:
    """Measure the figures of the paper's table of data sets."""
    n_rows, n_features = data.X.shape
    sparsity = 1 - data.X.nnz / (n_rows * n_features)
    return DataShape(n_rows, n_features, 100 * float(data.y.mean()), 100 * sparsity)


def known_shape(dataset: Dataset, cache: Path) -> DataShape | None:
    """Return the shape of a data set that was read before or that needs no files; else None."""
    if not dataset.is_present():
        return None
    if not dataset.files:
        return shape_of(checked(dataset.name, dataset.load()))
    path = _path(dataset, cache).with_suffix(".json") if _is_cached(dataset) else None
    if path is None or not path.exists():
        return None
    measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return DataShape(**measured)


def write_cached(value: Any, path: Path) -> None:
    """Write a file of the cache atomically. Several processes may write the same file."""
    import joblib

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    joblib.dump(value, unfinished)
    unfinished.replace(path)


def _is_cached(dataset: Dataset) -> bool:
    """Return whether the data can be cached: butfor's own code reads them from files."""
    return bool(dataset.files) and datasets.DATASETS.get(dataset.name) is dataset


def _path(dataset: Dataset, cache: Path) -> Path:
    """Return the path in the cache for these files as this code reads them."""
    import joblib

    paths = [data_folder() / file.path for file in dataset.files]
    files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    code = [path.read_bytes() for path in sorted(Path(datasets.__file__).parent.glob("*.py"))]
    return cache / f"{dataset.name}-{joblib.hash((files, code))}.joblib"
