"""Read a data set once: parsing and lemmatising take minutes, and a study is often run again."""

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
class Shape:
    """What the paper's table says of a data set, here of the data themselves."""

    rows: int
    features: int
    positive_percent: float
    sparsity_percent: float


def load(known: Registry, name: str, cache: Path) -> Data:
    """Give a data set, or its stand-in; what was read before from the same files is taken from the cache."""
    import joblib

    dataset = known.dataset(name)
    if name.endswith(GENERATED) and dataset.generate is not None:
        return checked(name, dataset.generate())
    dataset.require_files()
    if not _is_kept(dataset):
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
    keep(data, path)
    return data


def checked(name: str, data: Data) -> Data:
    """Refuse what is no data set; give the rest as CSR of numbers without zeros, with labels 0 and 1."""
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
        expected, given = f"{X.shape[1]:,}", f"{len(data.feature_names):,}"
        raise InputError(f"feature_names of {name} must have {expected} names, one a column, got {given}.")
    if not np.isfinite(X.data).all():
        raise InputError(f"X of {name} must hold finite numbers only.")
    return replace(data, X=X, y=y.astype(np.int64))


def shape_of(data: Data) -> Shape:
    """Measure what the paper's table says of a data set."""
    n_rows, n_features = data.X.shape
    sparsity = 1 - data.X.nnz / (n_rows * n_features)
    return Shape(n_rows, n_features, 100 * float(data.y.mean()), 100 * sparsity)


def known_shape(dataset: Dataset, cache: Path) -> Shape | None:
    """Give the shape of a data set that was read before, or that is read in no time; else None."""
    if not dataset.is_present():
        return None
    if not dataset.files:
        return shape_of(checked(dataset.name, dataset.load()))
    path = _path(dataset, cache).with_suffix(".json") if _is_kept(dataset) else None
    if path is None or not path.exists():
        return None
    measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Shape(**measured)


def keep(value: Any, path: Path) -> None:
    """Write a file of the cache, whole or not at all, whoever else does the same."""
    import joblib

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    joblib.dump(value, unfinished)
    unfinished.replace(path)


def _is_kept(dataset: Dataset) -> bool:
    """Whether it is known which files and which code the data come from."""
    return bool(dataset.files) and datasets.DATASETS.get(dataset.name) is dataset


def _path(dataset: Dataset, cache: Path) -> Path:
    """Name the place of what was read from these files by this code."""
    import joblib

    paths = [data_folder() / file.path for file in dataset.files]
    files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    code = [path.read_bytes() for path in sorted(Path(datasets.__file__).parent.glob("*.py"))]
    return cache / f"{dataset.name}-{joblib.hash((files, code))}.joblib"
