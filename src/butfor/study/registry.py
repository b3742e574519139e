"""What a study can compare: what comes with butfor, and what a researcher adds with a file."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from butfor import SEARCHES, InputError, Search
from butfor.searches.settings import with_settings
from butfor.study.datasets import DATASETS, Dataset
from butfor.study.models import MODELS, StudyModel

GENERATED = ":generated"
SAME_EVERY_TIME = frozenset({"auto", "certified", "sedc", "lin-sedc", "complete"})
"""Searches without chance: they are run once a row. All others are repeated."""


@dataclass(frozen=True)
class Registry:
    """The data sets, models and searches by name."""

    datasets: dict[str, Dataset]
    models: dict[str, StudyModel]
    searches: dict[str, Search]

    def dataset(self, name: str) -> Dataset:
        """Give the data set of this name, with or without ":generated"."""
        dataset: Dataset = _named("--datasets", name.removesuffix(GENERATED), self.datasets)
        if name.endswith(GENERATED) and dataset.generate is None:
            raise InputError(f"--datasets: {dataset.name} has no generated stand-in; ask for {dataset.name}.")
        return dataset

    def model(self, name: str) -> StudyModel:
        """Give the model of this name."""
        model: StudyModel = _named("--models", name, self.models)
        return model

    def search(self, name: str) -> Search:
        """Give a search by its name, or with parameters: "lime-c:n_samples=500"."""
        plain, *settings = name.split(":")
        return with_settings(_named("--searches", plain, self.searches), settings, argument="--searches")

    def is_repeated(self, search: str) -> bool:
        """Whether the search may answer otherwise with another seed."""
        return search.split(":")[0] not in SAME_EVERY_TIME


@cache
def registry(additions: tuple[Path, ...] = ()) -> Registry:
    """Collect what comes with butfor and what these files add.

    A file is Python code with a dict named DATASETS, MODELS or SEARCHES: name to Dataset, StudyModel, search.
    """
    modules = [_module(path) for path in additions]
    return Registry(
        datasets=DATASETS | _added(modules, "DATASETS"),
        models=MODELS | _added(modules, "MODELS"),
        searches=SEARCHES | _added(modules, "SEARCHES"),
    )


def _module(path: Path) -> ModuleType:
    name = f"butfor_study_{path.stem}"
    spec = spec_from_file_location(name, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise InputError(f"--add must be a Python file, got {path}.")
    module = module_from_spec(spec)
    sys.modules[name] = module  # so that a model of a class defined there can be cached
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"--add {path} does not run: {type(error).__name__}: {error}") from error
    if not any(hasattr(module, each) for each in ("DATASETS", "MODELS", "SEARCHES")):
        raise InputError(f"--add {path} must define DATASETS, MODELS or SEARCHES, and has none of them.")
    return module


def _added(modules: Iterable[ModuleType], kind: str) -> dict[str, Any]:
    return {name: each for module in modules for name, each in getattr(module, kind, {}).items()}


def _named(argument: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise InputError(f"{argument} must be of {', '.join(known)}; got {name!r}.")
    return known[name]
