"""The data sets, models and searches of a study: those of butfor, and those that researchers add."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from butfor import SEARCHES, SEDC, Auto, Certified, Complete, InputError, LinSEDC, Search
from butfor.searches.shared.settings import with_settings
from butfor.study.datasets import DATASETS, Dataset
from butfor.study.models import MODELS, StudyModel
from butfor.study.results import GENERATED

SAME_EVERY_TIME = (Auto, Certified, Complete, LinSEDC, SEDC)
"""Searches that use no random numbers. They are run once on each row; all others are repeated."""


@dataclass(frozen=True)
class Registry:
    """The data sets, models and searches by name."""

    datasets: dict[str, Dataset]
    models: dict[str, StudyModel]
    searches: dict[str, Search]
    additions: str = ""
    """A hash of the files that were added."""

    def dataset(self, name: str) -> Dataset:
        """Return the data set of this name, with or without ":generated"."""
        dataset: Dataset = _named("--datasets", name.removesuffix(GENERATED), self.datasets)
        if name.endswith(GENERATED) and dataset.generate is None:
            raise InputError(f"--datasets: {dataset.name} has no generated stand-in; ask for {dataset.name}.")
        return dataset

    def model(self, name: str) -> StudyModel:
        """Return the model of this name."""
        model: StudyModel = _named("--models", name, self.models)
        return model

    def search(self, name: str) -> Search:
        """Return the search of this name, perhaps with parameters: "lime-c:n_samples=500"."""
        plain, *settings = name.split(":")
        return with_settings(_named("--searches", plain, self.searches), settings, argument="--searches")

    def is_repeated(self, search: str) -> bool:
        """Return whether the search may give another answer with another seed."""
        return not isinstance(self.search(search), SAME_EVERY_TIME)

    def identity(self, search: str) -> str:
        """Return a text that differs for two searches of the same name."""
        plain = search.split(":")[0]
        own = self.searches[plain] is SEARCHES.get(plain)
        return repr(self.search(search)) if own else f"of the added code {self.additions}"


@cache
def registry(additions: tuple[Path, ...] = ()) -> Registry:
    """Return what comes with butfor and what these files add.

    A file is Python code with a dict named DATASETS, MODELS or SEARCHES: name to Dataset, StudyModel, search.
    """
    modules = [_module(path) for path in additions]
    return Registry(
        datasets=DATASETS | _added(modules, "DATASETS", Dataset),
        models=MODELS | _added(modules, "MODELS", StudyModel),
        searches=SEARCHES | _added(modules, "SEARCHES", None),
        additions=sha256(b"".join(path.read_bytes() for path in additions)).hexdigest()[:12],
    )


def _module(path: Path) -> ModuleType:
    """Run a file as a module. It gets a name in sys.modules, so that its classes can be unpickled."""
    if not path.is_file():
        raise InputError(f"--add must be a Python file, got {path}.")
    name = f"butfor_study_{sha256(path.read_bytes()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"--add must be a Python file, got {path}.")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"--add {path} does not run: {type(error).__name__}: {error}") from error
    if not any(hasattr(module, each) for each in ("DATASETS", "MODELS", "SEARCHES")):
        raise InputError(f"--add {path} must define DATASETS, MODELS or SEARCHES, and has none of them.")
    return module


def _added(modules: Iterable[ModuleType], kind: str, wanted: type | None) -> dict[str, Any]:
    """Merge the dicts of all files; `wanted` is the class of their values, or None for searches."""
    added: dict[str, Any] = {}
    for module in modules:
        found = getattr(module, kind, {})
        where = f"{kind} of --add {module.__file__}"
        if not isinstance(found, dict):
            raise InputError(f"{where} must be a dict of names, got a {type(found).__name__}.")
        for name, each in found.items():
            if not isinstance(name, str) or not name.strip() or set(name) & set(":,"):
                raise InputError(f"{where} must have names without comma and colon, got {name!r}.")
            if wanted is None and (isinstance(each, type) or not callable(each)):
                raise InputError(f"{where} must hold searches, such as SEDC(), got {each!r} for {name!r}.")
            if wanted is not None and not isinstance(each, wanted):
                raise InputError(
                    f"{where} must hold objects of {wanted.__name__}, got {each!r} for {name!r}."
                )
            if wanted is not None and each.name != name:
                raise InputError(f"{where} must have {each.name!r} under its own name, got {name!r}.")
            added[name] = each
    return added


def _named(argument: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise InputError(f"{argument} must be of {', '.join(known)}; got {name!r}.")
    return known[name]
