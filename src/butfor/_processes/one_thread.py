"""One thread for each worker: libraries and models that would use all cores are told to use one.

Workers share the cores between them. Environment variables limit BLAS and OpenMP, but libraries that count
the cores themselves, as LightGBM does, ignore them.
"""

import functools
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

BOOSTERS = ("lightgbm", "xgboost")
THREAD_SETTINGS = ("n_jobs", "num_threads", "nthread", "n_threads")
"""What these libraries call the number of threads; in scikit-learn it is always the first."""
FREE = {"catboost": "CatBoost", "onnxruntime": "ONNX Runtime", "tensorflow": "TensorFlow", "keras": "Keras"}
"""Libraries whose models choose their threads when they are made or called: these cannot be limited."""
MAX_OBJECTS = 20_000
"""How many parts of a model are looked at: more of them are leaves of something large."""


def limit_threads(thing: Any) -> None:
    """Have libraries of this process, and the models inside of an object, use one thread.

    The object is changed: it must be the worker's own copy.
    """
    _limit_libraries()
    for part in parts_of(thing):
        attributes = _attributes(part)
        for name in _settings_of(part):
            if name in attributes and _is_number_of_threads(attributes[name]):
                attributes[name] = 1
        if _is_of(part, "xgboost") and hasattr(part, "set_param"):
            part.set_param({"nthread": 1})


def unlimited_libraries(thing: Any) -> list[str]:
    """Return the libraries of models inside of an object whose threads `limit_threads` cannot limit."""
    return sorted({FREE[name] for part in parts_of(thing) for name in FREE if _is_of(part, name)})


def _limit_libraries() -> None:
    """Limit what holds for the whole process, of the libraries that are imported."""
    with suppress(ImportError):
        from threadpoolctl import threadpool_limits  # installed with scikit-learn

        threadpool_limits(1)
    if "lightgbm" in sys.modules:
        with suppress(ImportError, AttributeError):  # in older versions only the model's own setting counts
            import_module("lightgbm.basic")._LIB.LGBM_SetMaxThreads(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _settings_of(part: Any) -> tuple[str, ...]:
    """Return the attributes of an object that are surely numbers of threads: others may mean anything."""
    if any(_is_of(part, library) for library in BOOSTERS):
        return THREAD_SETTINGS
    return ("n_jobs",) if callable(getattr(type(part), "get_params", None)) else ()


def _is_number_of_threads(value: Any) -> bool:
    """Whether it is a number of threads, or the library's own choice."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_of(part: Any, library: str) -> bool:
    """Whether the class of an object, or one that it is derived from, is of a library."""
    return any(each.__module__.partition(".")[0] == library for each in type(part).__mro__)


def _attributes(thing: Any) -> dict[str, Any]:
    """Return the attributes that an object holds itself; none of modules and classes."""
    if isinstance(thing, type | ModuleType):
        return {}
    found = getattr(thing, "__dict__", None)
    return found if isinstance(found, dict) else {}


def parts_of(thing: Any) -> Iterator[Any]:
    """Yield an object and everything inside of it that may be a model, each once."""
    waiting, seen = [thing], {id(thing): thing}
    while waiting and len(seen) <= MAX_OBJECTS:
        part = waiting.pop()
        yield part
        for each in _inside(part):
            if id(each) not in seen and not isinstance(each, str | bytes | int | float | None):
                seen[id(each)] = each
                waiting.append(each)


def _inside(thing: Any) -> list[Any]:
    """Return what an object is made of."""
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if isinstance(thing, functools.partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__]
    if isinstance(thing, FunctionType):
        return [cell.cell_contents for cell in thing.__closure__ or () if cell != CellType()]
    return list(_attributes(thing).values())
