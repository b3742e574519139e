"""The identity of a run: fingerprints, settings and versions, to compare with those of an earlier run."""

import math
import platform
import sys
from contextlib import suppress
from copy import copy
from dataclasses import is_dataclass
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

from butfor import Explainer, InputError, __version__
from butfor._processes.one_thread import parts_of
from butfor._processes.sharing import pickler_by_value

LONGEST = 80
"""The longest setting, in characters, that is stored as it is. Of a longer one the fingerprint is stored."""


WORDS = {
    "scored_by": "scored by",
    "class_names": "class names",
    "feature_names": "feature names",
    "mask_token": "mask token",
}
"""How manifests name settings that are not named as Explainer's parameters."""


def fingerprint(thing: Any) -> str:
    """Return a hash of the content of any object. It is the same in every process.

    >>> fingerprint({"a", "b"}) == fingerprint({"b", "a"}) != fingerprint({"a"})
    True
    """
    try:
        return str(_ContentHasher(hash_name="sha1", coerce_mmap=True).hash(thing))
    except Exception:
        # Functions that pickle refuses can be pickled by value, with their code.
        try:
            return fingerprint(bytes(pickler_by_value().dumps(thing)))
        except Exception as error:
            raise InputError(
                "MODEL and settings must be such as can be pickled, got "
                f"{type(thing).__name__}, which cannot: {type(error).__name__}: {error}"
            ) from error


def model_fingerprint(explainer: Explainer) -> str:
    """Return the fingerprint of an explainer's model: the model's version, whatever its file is called."""
    model = explainer.settings()["model"]
    return fingerprint(getattr(model, "identity", model))


def settings_of(explainer: Explainer) -> dict[str, Any]:
    """Return the settings of an explainer by name, as values for JSON; long values as fingerprints.

    >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=2)
    >>> settings = settings_of(explainer)
    >>> settings["threshold"], settings["search"], settings["max_size"]
    (2.0, 'Auto(max_proof_seconds=1.0, max_proof_scorings=5000)', 30)
    """
    told = explainer.settings()
    budget = told.pop("budget")
    told |= {
        "model": model_fingerprint(explainer),
        "search": _search(told["search"]),
        "max_size": budget.max_size,
        "max_seconds": budget.max_seconds,
        "max_scorings": budget.max_scorings,
        "price": budget.price,
        "noise": None if told["noise"] is None else repr(told["noise"]),
    }
    return {WORDS.get(name, name): plain(value) for name, value in told.items()}


def versions(model: Any = None) -> dict[str, str]:
    """Return the versions of everything that the results depend on, the libraries of a model among them.

    >>> list(versions())
    ['butfor', 'numpy', 'scipy', 'scikit-learn', 'Python']
    """
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    for name in sorted(_packages(model)):
        with suppress(PackageNotFoundError):  # a module of the user's
            libraries[name] = version(name)
    return {"butfor": __version__, **libraries, "Python": platform.python_version()}


def _packages(model: Any) -> set[str]:
    """Return the packages that the classes and functions inside of a model come from, but for Python's."""
    modules: set[str] = set()
    for part in parts_of(model):
        kinds = type(part).__mro__
        modules.update(str(each.__module__) for each in kinds)
        if isinstance(part, FunctionType):
            modules.add(str(part.__module__))
    return {each.partition(".")[0] for each in modules} - {"butfor", *sys.stdlib_module_names}


def plain(value: Any) -> Any:
    """Return a value that JSON can hold; the fingerprint of a long value or of one of another type.

    >>> plain(2.5), plain(["a", 1]), plain(range(3))[:12]
    (2.5, ['a', 1], 'fingerprint ')
    """
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, float):
        return str(value)
    simple = isinstance(value, str) or (
        isinstance(value, list) and all(type(each) in (str, int, bool) for each in value)
    )
    return value if simple and len(str(value)) <= LONGEST else f"fingerprint {fingerprint(value)}"


def _search(search: Any) -> Any:
    """Return the repr of a search that is a dataclass, parameters included; any other search as it is."""
    described = repr(search)
    return described if is_dataclass(search) and " at 0x" not in described else search


class _ContentHasher(NumpyHasher):  # type: ignore[misc]
    """A joblib hasher that ignores what differs between two processes that hold equal objects."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._described: set[int] = set()
        """Ids of the functions that were hashed already; functions may call each other in circles."""

    def save(self, thing: Any) -> None:
        if isinstance(thing, set | frozenset):
            thing = (type(thing).__name__, sorted(thing, key=repr))
        elif isinstance(thing, FunctionType):
            known = id(thing) in self._described
            self._described.add(id(thing))
            thing = thing.__qualname__ if known else _described(thing)
        elif isinstance(thing, np.random.RandomState | np.random.Generator):
            thing = thing.bit_generator if isinstance(thing, np.random.Generator) else thing._bit_generator
            thing = thing.state  # the seed sequence may differ each time it is loaded
        elif "_stop_words_id" in getattr(thing, "__dict__", ()):  # a memory address
            thing = copy(thing)
            del thing._stop_words_id
        super().save(thing)


def _described(function: FunctionType) -> tuple[Any, ...]:
    """Return what a function does: its code, and the values and functions that it reads from outside."""
    code = function.__code__
    outer = {name: function.__globals__[name] for name in _names(code) if name in function.__globals__}
    values = {name: value for name, value in outer.items() if _may_change(value, function.__module__)}
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = (function.__defaults__, function.__kwdefaults__)
    return (function.__module__, function.__qualname__, _code(code), defaults, held, values)


def _may_change(value: Any, module: str) -> bool:
    """Return whether a global may change between two runs: a value, or a function of the same package."""
    if isinstance(value, FunctionType):
        return value.__module__.partition(".")[0] == module.partition(".")[0]
    if isinstance(value, ModuleType | type):
        return False
    return not callable(value) or isinstance(type(value).__call__, FunctionType)


def _names(code: CodeType) -> list[str]:
    """Return the global names that a function uses, including those of nested functions."""
    within = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return sorted({*code.co_names, *within})


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return (code.co_code, code.co_names, constants)
