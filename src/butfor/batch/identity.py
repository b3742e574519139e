"""What a run is about, as values that can be held against those of an earlier run."""

import math
import platform
from copy import copy
from dataclasses import is_dataclass
from importlib.metadata import version
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

from butfor import Explainer, InputError, __version__
from butfor.render.extras import optional

LONGEST = 80
"""Characters of a setting that is kept as it is; of a longer one the fingerprint is kept."""


def fingerprint(thing: Any) -> str:
    """Give a short name to any object: the same in every process, another one for another content.

    >>> fingerprint({"a", "b"}) == fingerprint({"b", "a"}) != fingerprint({"a"})
    True
    """
    try:
        return str(_Hasher(hash_name="sha1", coerce_mmap=True).hash(thing))
    except Exception:
        # Whatever cannot be pickled as it is may still be pickled with its code.
        try:
            return fingerprint(bytes(optional("cloudpickle", extra="batch").dumps(thing)))
        except Exception as error:
            raise InputError(
                "MODEL and settings must be such as can be pickled, got "
                f"{type(thing).__name__}, which cannot: {type(error).__name__}: {error}"
            ) from error


def settings_of(explainer: Explainer) -> dict[str, Any]:
    """List what an explainer was given, by name, in values for JSON; what is long by its fingerprint.

    >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=2)
    >>> settings = settings_of(explainer)
    >>> settings["threshold"], settings["search"], settings["max_size"]
    (2.0, 'Auto(max_proof_seconds=1.0, max_proof_scorings=5000)', 30)
    """
    told = explainer._inquiry
    reader: Any = told.reader  # of rows or of texts, which have not all of these
    scorer = told.scorer
    names = getattr(reader, "names", None)
    groups = getattr(reader, "groups", None)
    settings = {
        "model": fingerprint((told.text_scorer or scorer).model),
        "scored by": scorer.name,
        "threshold": scorer.threshold,
        "target": scorer.target,
        "class names": list(told.class_names),
        "search": _search(told.search),
        "max_size": told.budget.max_size,
        "max_seconds": told.budget.max_seconds,
        "protected": sorted(reader.protected, key=repr),
        "groups": None if groups is None else groups.given,
        "costs": None if reader.costs is None else (dict(reader.costs.by_key), reader.costs.by_column),
        "feature names": None if names is None else names.given,
        "removal": getattr(reader, "removal", "zero"),
        "unit": getattr(reader, "unit", "feature"),
        "mask token": getattr(reader, "mask", None),
        "seed": told.seed,
    }
    return {name: plain(value) for name, value in settings.items()}


def versions() -> dict[str, str]:
    """Give the versions of all that has a say in the results."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"butfor": __version__, **libraries, "Python": platform.python_version()}


def plain(value: Any) -> Any:
    """Give a value as JSON can hold it; a long one, or one of another kind, as its fingerprint.

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
    """Give a search of ours as it is written, parameters and all; of any other the fingerprint."""
    described = repr(search)
    return described if is_dataclass(search) and " at 0x" not in described else search


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's, but blind to what differs between two processes that hold the same thing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._told: set[int] = set()
        """The functions that have been described, which may call each other."""

    def save(self, thing: Any) -> None:
        if isinstance(thing, set | frozenset):
            thing = (type(thing).__name__, sorted(thing, key=repr))
        elif isinstance(thing, FunctionType):
            known = id(thing) in self._told
            self._told.add(id(thing))
            thing = thing.__qualname__ if known else _described(thing)
        elif isinstance(thing, np.random.RandomState | np.random.Generator):
            thing = thing.bit_generator if isinstance(thing, np.random.Generator) else thing._bit_generator
            thing = thing.state  # its seed may be another one each time that it is loaded
        elif "_stop_words_id" in getattr(thing, "__dict__", ()):  # an address in memory
            thing = copy(thing)
            del thing._stop_words_id
        super().save(thing)


def _described(function: FunctionType) -> tuple[Any, ...]:
    """Say what a function does: its code, and the values and functions that it takes from around it."""
    code = function.__code__
    outer = {name: function.__globals__[name] for name in _names(code) if name in function.__globals__}
    values = {name: value for name, value in outer.items() if _has_a_say(value, function.__module__)}
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = (function.__defaults__, function.__kwdefaults__)
    return (function.__module__, function.__qualname__, _code(code), defaults, held, values)


def _has_a_say(value: Any, module: str) -> bool:
    """Tell what may change between two runs: values, and functions of the same package."""
    if isinstance(value, FunctionType):
        return value.__module__.partition(".")[0] == module.partition(".")[0]
    if isinstance(value, ModuleType | type):
        return False
    return not callable(value) or isinstance(type(value).__call__, FunctionType)


def _names(code: CodeType) -> list[str]:
    """Give the names that a function uses, those of functions within it too."""
    within = [name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each)]
    return sorted({*code.co_names, *within})


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return (code.co_code, code.co_names, constants)
