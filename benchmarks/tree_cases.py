"""Tree ensembles and rows for `python -m benchmarks.trees`: real data from BUTFOR_DATA, or generated data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from benchmarks.cases import MEMORY, films
from butfor.study.datasets import DATASETS

HIST = "HistGradientBoosting"
FOR_TREECF = "LightGBM, 100 × 31 leaves"
LIGHTGBM = "LightGBM, 300 × 31 leaves"


@dataclass(frozen=True)
class TreeCase:
    """A fitted ensemble, and test rows on which it decides positively or negatively."""

    data: str
    name: str
    model: Any
    positive: list[Any]
    negative: list[Any]

    @property
    def sides(self) -> dict[str, list[Any]]:
        """The rows by the model's decision."""
        sides = {"positive": self.positive, "negative": self.negative}
        return {side: rows for side, rows in sides.items() if rows}

    def mixed(self, n_rows: int) -> list[Any]:
        """Return some rows, half of them positive if there are enough."""
        negative = self.negative[: max(n_rows // 2, n_rows - len(self.positive))]
        return [*self.positive[: n_rows - len(negative)], *negative]


def tree_cases(n_rows: int) -> Iterator[TreeCase]:
    """Yield all ensembles on all data."""
    for data, X, y in _datasets():
        for name, make in _models().items():
            yield _case(data, X, y, name, make(), n_rows, dense=name == HIST)


def lightgbm_on_films() -> tuple[str, Any, Any]:
    """Return the name of the data, all rows, and 300 boosted trees of LightGBM."""
    name, X, y = films()
    X = _floats(X)
    return name, X, _case(name, X, np.asarray(y), LIGHTGBM, _models()[LIGHTGBM](), 0, dense=False).model


def lightgbm_rows(n_rows: int) -> tuple[str, Any, list[Any]]:
    """Return the name of the data, 300 boosted trees of LightGBM, and rows that they predict positive."""
    name, X, y = films()
    case = _case(name, _floats(X), np.asarray(y), LIGHTGBM, _models()[LIGHTGBM](), n_rows, dense=False)
    return name, case.model, case.positive


def case_for_pyxai(n_rows: int) -> TreeCase:
    """Return an XGBoost model of dense rows: PyXAI does not know that values may be missing.

    Nor does its search know of a base score, so it is zero on the scale of log-odds.
    """
    from xgboost import XGBClassifier

    name, X, y = films()
    model = XGBClassifier(n_estimators=300, max_depth=6, base_score=0.5, n_jobs=2)
    return _case(name, _floats(X), np.asarray(y), "XGBoost, 300 × depth 6, dense", model, n_rows, dense=True)


def _case(data: str, X: Any, y: Any, name: str, model: Any, n_rows: int, *, dense: bool) -> TreeCase:
    train, test = train_test_split(np.arange(X.shape[0]), test_size=0.2, random_state=0)
    test = test[np.diff(X.indptr)[test] > 0]
    model = _fit(model, X[train].toarray() if dense else X[train], y[train])
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)  # for one row at a time threads only cost time
    is_positive = model.predict(X[test].toarray() if dense else X[test]) == 1
    chosen = (_chosen(X, test[is_positive == side], n_rows, dense=dense) for side in (True, False))
    return TreeCase(data, name, model, *chosen)


def _datasets() -> Iterator[tuple[str, Any, Any]]:
    """Yield name, rows and labels of MovieLens 1M and ecommerce, or of generated moviegoers."""
    name, X, y = films()
    yield name, _floats(X), np.asarray(y)
    ecommerce = DATASETS["ecommerce"]
    if ecommerce.is_present():
        data = ecommerce.load()
        yield "ecommerce", _floats(data.X), np.asarray(data.y)


def _floats(X: Any) -> Any:
    return sparse.csr_matrix(X, dtype=np.float64)


def _models() -> dict[str, Callable[[], Any]]:
    """Return what makes each ensemble, by its name. Libraries that are not installed are left out."""
    models: dict[str, Callable[[], Any]] = {}
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        print("lightgbm is not installed: pip install lightgbm")
    else:
        models[FOR_TREECF] = lambda: LGBMClassifier(n_estimators=100, verbose=-1, n_jobs=2)
        models[LIGHTGBM] = lambda: LGBMClassifier(n_estimators=300, verbose=-1, n_jobs=2)
    try:
        from xgboost import XGBClassifier
    except ImportError:
        print("xgboost is not installed: pip install xgboost-cpu")
    else:
        models["XGBoost, 300 × depth 6"] = lambda: XGBClassifier(n_estimators=300, max_depth=6, n_jobs=2)
    return {
        **models,
        HIST: lambda: HistGradientBoostingClassifier(random_state=0),
        "RandomForest, 200 trees": lambda: RandomForestClassifier(200, random_state=0, n_jobs=2),
        "ExtraTrees, 200 trees": lambda: ExtraTreesClassifier(200, random_state=0, n_jobs=2),
    }


@MEMORY.cache  # type: ignore[untyped-decorator]
def _fit(model: Any, X: Any, y: Any) -> Any:
    return model.fit(X, y)


def _chosen(X: Any, candidates: Any, n_rows: int, *, dense: bool) -> list[Any]:
    chosen = np.random.default_rng(0).permutation(candidates)[:n_rows]
    return [X[[i]].toarray() if dense else X[[i]] for i in chosen]
