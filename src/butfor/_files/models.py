"""Models from files; a model file may be code, so it is opened with care."""

import sys
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from butfor._files.booster_files import library_of, load_booster
from butfor._files.opening import require_file
from butfor.errors import InputError

HARMLESS_TYPES = frozenset(
    {
        "collections.OrderedDict",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.metrics._classification.balanced_accuracy_score",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)
"""Plain data holders inside models that skops does not yet trust by itself."""
WRAPPERS = tuple(f"sklearn.externals.array_api_compat.{library}" for library in ("cupy", "dask", "torch"))
"""Modules of scikit-learn that import a library where it is installed, which takes seconds."""


def load_model(path: Path, *, trust_pickle: bool = False, trusted_types: Collection[str] = ()) -> Any:
    """Load a model from a skops file, from a file of LightGBM, XGBoost or CatBoost, or from a pickle.

    A pickle or joblib file is loaded only if the user says that it is trusted: it can run any code.
    """
    require_file("MODEL", path)
    library = library_of(path)
    if library is not None:
        return load_booster(path, library)
    if zipfile.is_zipfile(path):
        return _load_skops(path, trusted_types)
    if not trust_pickle:
        raise InputError(
            "MODEL must be a skops file, or a model file of LightGBM (text), XGBoost (JSON, UBJSON) or "
            f"CatBoost (cbm), got {path}, which can only be a pickle or joblib file: loading one runs "
            "whatever code its author put into it. Save the model with skops.io.dump, or, if you made the "
            "file yourself, add --trust-pickle."
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        raise InputError(
            f"MODEL {path} does not load as a pickle: {type(error).__name__}: {error}"
        ) from error


def _load_skops(path: Path, trusted_types: Collection[str]) -> Any:
    try:
        with _without_wrappers():
            from skops import io
    except ImportError as error:
        raise InputError('MODEL is a skops file, and reading it needs: pip install "butfor[cli]"') from error
    try:
        found = io.get_untrusted_types(file=path)
        unknown = sorted(set(found) - HARMLESS_TYPES - set(trusted_types))
        if not unknown:
            return io.load(path, trusted=found)
    except Exception as error:
        raise InputError(f"MODEL {path} does not load as skops: {type(error).__name__}: {error}") from error
    options = " ".join(f"--trust {name}" for name in unknown)
    raise InputError(
        f"MODEL {path} holds types that are not known to be harmless: {', '.join(unknown)}. "
        f"If you trust each of them, add {options}"
    )


@contextmanager
def _without_wrappers() -> Iterator[None]:
    """Hide scikit-learn's wrappers of large libraries from skops, which imports all modules that it finds."""
    hidden = [name for name in WRAPPERS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # to import such a name is an ImportError
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
