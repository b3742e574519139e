"""Models from files; a model file may be code, so it is opened with care."""

import zipfile
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

from butfor._extras import install_line
from butfor._files.booster_files import library_of, load_booster
from butfor._files.opening import require_file
from butfor._files.zips import MAX_UNPACKED, require_unpackable
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
NO_MODELS = frozenset({"conftest", "estimator_checks", "experimental", "externals", "tests"})
"""Parts of scikit-learn in which no estimator is meant for users."""


def load_model(
    path: Path,
    *,
    trust_pickle: bool = False,
    trusted_types: Collection[str] = (),
    max_unpacked: float = MAX_UNPACKED,
) -> Any:
    """Load a model from a skops file, from a file of LightGBM, XGBoost or CatBoost, or from a pickle.

    A pickle or joblib file is loaded only if the user says that it is trusted: it can run any code.
    """
    require_file("MODEL", path)
    library = library_of(path)
    if library is not None:
        return load_booster(path, library)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            require_unpackable(archive, "MODEL", str(path), max_unpacked)
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
        io = _skops()
    except ImportError as error:
        raise InputError(f"MODEL is a skops file, and reading it needs: {install_line('cli')}") from error
    try:
        found = io.get_untrusted_types(file=path)
        strange = set(found) - HARMLESS_TYPES - set(trusted_types)
        unknown = sorted(name for name in strange if not _is_estimator(name))
        if not unknown:
            return io.load(path, trusted=found)
    except Exception as error:
        raise InputError(f"MODEL {path} does not load as skops: {type(error).__name__}: {error}") from error
    options = " ".join(f"--trust {name}" for name in unknown)
    raise InputError(
        f"MODEL {path} holds types that are not known to be harmless: {', '.join(unknown)}. "
        f"If you trust each of them, add {options}"
    )


def _skops() -> Any:
    """Import skops without all that it looks through for the names of scikit-learn's estimators.

    That takes longer than all else, and PyTorch and other libraries are imported with it. Which estimators
    may be trusted is known without it. Where skops is imported already, it is as it is.
    """
    from sklearn import utils

    look_through = utils.all_estimators
    utils.all_estimators = list
    try:
        from skops import io
    finally:
        utils.all_estimators = look_through
    return io


def _is_estimator(name: str) -> bool:
    """Return whether a type is an estimator that scikit-learn offers: these are harmless.

    >>> _is_estimator("sklearn.svm._classes.SVC"), _is_estimator("sklearn.svm.os.system")
    (True, False)
    """
    from sklearn.base import BaseEstimator

    module, _, of = name.rpartition(".")
    public = module.partition("._")[0]
    if not public.startswith("sklearn.") or NO_MODELS & set(public.split(".")):
        return False
    try:
        found = getattr(import_module(public), of, None)
    except ImportError:
        return False
    return isinstance(found, type) and issubclass(found, BaseEstimator) and found.__module__ == module
