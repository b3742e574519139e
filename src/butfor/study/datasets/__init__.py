"""The data sets of the study, one in each file: every module of this package that has a `DATASET`."""

from importlib import import_module
from pkgutil import iter_modules

from butfor.study.datasets.base import Data, Dataset, Download, File, cache_folder, data_folder, split
from butfor.study.paper import paper_datasets

__all__ = ["DATASETS", "Data", "Dataset", "Download", "File", "cache_folder", "data_folder", "split"]


def _datasets() -> dict[str, Dataset]:
    """Return all data sets: the paper's in the order of its table, then the others by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = {module.DATASET.name: module.DATASET for module in modules if hasattr(module, "DATASET")}
    in_order = [name for name in paper_datasets() if name in found]
    return {name: found[name] for name in [*in_order, *sorted(set(found) - set(in_order))]}


DATASETS = _datasets()
"""All data sets, by name."""
