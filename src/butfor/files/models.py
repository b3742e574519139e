"""Models, matrices and names from files; a model file is code, so it is opened with care."""

import json
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from butfor.errors import InputError

HARMLESS_TYPES = frozenset(
    {
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
"""Plain data holders inside scikit-learn's models that skops does not yet trust by itself."""


def load_model(path: Path, *, trust_pickle: bool = False, trusted_types: Collection[str] = ()) -> Any:
    """Load a model from a skops file, or from a pickle or joblib file if the user says that it is trusted."""
    _require_file("MODEL", path)
    if zipfile.is_zipfile(path):
        return _load_skops(path, trusted_types)
    if not trust_pickle:
        raise InputError(
            f"MODEL must be a skops file, got {path}, which can only be a pickle or joblib file: loading one "
            "runs whatever code its author put into it. Save the model with skops.io.dump, or, if you made "
            "the file yourself, add --trust-pickle."
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


def load_matrix(path: Path) -> Any:
    """Load a CSR matrix from a file that `scipy.sparse.save_npz` wrote."""
    from scipy import sparse

    _require_file("DATA", path)
    try:
        return sparse.load_npz(path).tocsr()
    except Exception as error:
        raise InputError(
            f"DATA must be a sparse matrix as scipy.sparse.save_npz writes it, got {path}: {error}"
        ) from error


def load_names(path: Path) -> list[str]:
    """Load feature names: one a line, or a JSON list in a .json file."""
    _require_file("--names", path)
    try:
        text = path.read_text(encoding="utf-8")
        names = json.loads(text) if path.suffix == ".json" else text.splitlines()
    except ValueError as error:
        raise InputError(f"--names must be UTF-8 text, one name a line, got {path}: {error}") from error
    if not isinstance(names, list):
        raise InputError(f"--names must hold a list of names, got {path} with a {type(names).__name__}.")
    return [str(name) for name in names]


def _require_file(argument: str, path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{argument} must be a file, got {path}, which is not there.")
