"""Read a data set once: parsing and lemmatising take minutes, and a study is often run again."""

from pathlib import Path

from butfor.study import datasets
from butfor.study.datasets import Data, data_folder
from butfor.study.registry import GENERATED, Registry


def load(known: Registry, name: str, cache: Path) -> Data:
    """Give a data set, or its stand-in; what was read before from the same files is taken from the cache."""
    import joblib

    dataset = known.dataset(name)
    if name.endswith(GENERATED) and dataset.generate is not None:
        return dataset.generate()
    dataset.require_files()
    if not dataset.files or dataset.name not in datasets.DATASETS:
        return dataset.load()
    path = cache / f"{name}-{joblib.hash((_files(known, name), _code()))}.joblib"
    if path.exists():
        data: Data = joblib.load(path)
        return data
    data = dataset.load()
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.glob(f"{name}-*.joblib"):
        old.unlink()
    unfinished = path.with_suffix(".part")
    joblib.dump(data, unfinished)
    unfinished.replace(path)
    return data


def _files(known: Registry, name: str) -> list[tuple[str, int, int]]:
    """Tell the files of a data set apart from changed ones, without reading them."""
    paths = [data_folder() / file.path for file in known.dataset(name).files]
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]


def _code() -> list[bytes]:
    """Tell this code apart from another version that may read the files otherwise."""
    return [path.read_bytes() for path in sorted(Path(datasets.__file__).parent.glob("*.py"))]
