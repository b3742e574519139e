"""Read a data set once: parsing and lemmatising take minutes, and a study is often run again."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from butfor.study import datasets
from butfor.study.datasets import Data, Dataset, data_folder
from butfor.study.registry import GENERATED, Registry


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
        return dataset.generate()
    dataset.require_files()
    if not _is_kept(dataset):
        return dataset.load()
    path = _path(dataset, cache)
    if path.exists():
        data: Data = joblib.load(path)
        return data
    data = dataset.load()
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.glob(f"{dataset.name}-*"):
        old.unlink()
    unfinished = path.with_suffix(".part")
    joblib.dump(data, unfinished)
    path.with_suffix(".json").write_text(json.dumps(asdict(shape_of(data))), encoding="utf-8")
    unfinished.replace(path)
    return data


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
        return shape_of(dataset.load())
    path = _path(dataset, cache).with_suffix(".json") if _is_kept(dataset) else None
    if path is None or not path.exists():
        return None
    measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Shape(**measured)


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
