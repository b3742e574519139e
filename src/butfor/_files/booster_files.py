"""Model files of LightGBM, XGBoost and CatBoost: data, not code, told apart by their content."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from butfor._files.lightgbm_text import require_lightgbm_text
from butfor._files.xgboost_document import require_xgboost_document
from butfor.errors import InputError, error_text

HEAD = 4096
"""So many bytes at the beginning of a file say which library wrote it."""
TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def library_of(path: Path) -> str | None:
    """Return the name of the library that wrote a model file; None for a file of another kind."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith((b"tree\n", b"tree\r\n")):
        return "lightgbm"
    if head.startswith(b"CBM1"):
        return "catboost"
    if head.lstrip().startswith(b"{") and b"learner" in head:
        return "xgboost"
    return None


def load_booster(path: Path, library: str) -> Any:
    """Load the model of a library from its own file."""
    title = TITLES[library]
    try:
        module = import_module(library)
    except ImportError as error:
        raise InputError(
            f"MODEL {path} is a model file of {title}, and reading it needs: pip install {library}"
        ) from error
    try:
        return _LOADED_BY[library](path, module)
    except Exception as error:
        raise InputError(f"MODEL {path} does not load as a model of {title}: {error_text(error)}") from error


def _load_lightgbm(path: Path, module: Any) -> Any:
    text = path.read_bytes().decode().replace("\r\n", "\n")
    require_lightgbm_text(text)
    return module.Booster(model_str=text)


def _load_xgboost(path: Path, module: Any) -> Any:
    """Load a Booster, or the XGBClassifier that wrote the file: that one heeds its best iteration."""
    content = path.read_bytes()
    by_classifier = '"classifier"' in str(require_xgboost_document(content).get("scikit_learn"))
    model = module.XGBClassifier() if by_classifier else module.Booster()
    model.load_model(bytearray(content))
    return model


def _load_catboost(path: Path, module: Any) -> Any:
    """Load a CatBoostClassifier, which has classes; of a model without any, what it is."""
    model = module.CatBoostClassifier().load_model(str(path), format="cbm")
    return model if len(model.classes_) else module.CatBoost().load_model(str(path), format="cbm")


_LOADED_BY: dict[str, Callable[[Path, Any], Any]] = {
    "lightgbm": _load_lightgbm,
    "xgboost": _load_xgboost,
    "catboost": _load_catboost,
}
