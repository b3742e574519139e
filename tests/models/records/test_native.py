"""Models that take categories of frames by themselves, held against all sets of values tried by hand."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from butfor import Explainer

rng = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "country": rng.choice(["US", "AT", "DE", "FR"], 300),
        "age": rng.integers(18, 80, 300),
        "plan": rng.choice(["free", "pro"], 300),
        "zip": rng.choice([1010, 1020, 1030], 300),
    }
)
LABELS = np.where(
    (FRAME["country"] == "US") * 2 + (FRAME["plan"] == "pro") + (FRAME["zip"] == 1020) + rng.normal(size=300)
    > 1.5,
    "yes",
    "no",
)
CATEGORIES = ["country", "plan", "zip"]
TYPED = FRAME.astype(dict.fromkeys(CATEGORIES, "category"))
TYPED.loc[3, "country"] = None
MODELS = {
    "HistGradientBoosting": (HistGradientBoostingClassifier(max_iter=15), TYPED, "tree ensemble"),
    "LightGBM": (LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1), TYPED, "tree ensemble"),
    "XGBoost": (XGBClassifier(n_estimators=10, enable_categorical=True, n_jobs=1), TYPED, "black box"),
    "CatBoost": (
        CatBoostClassifier(
            iterations=15,
            cat_features=["country", "plan"],
            verbose=0,
            thread_count=1,
            allow_writing_files=False,
        ),
        FRAME,
        "black box",
    ),
}


def without(row, columns, name):
    changed = row.copy()
    for column in columns:
        absent = "no such thing" if name == "CatBoost" else None
        changed[column] = pd.Series([absent], index=row.index, dtype=row[column].dtype)
    return changed


@pytest.mark.parametrize("name", MODELS)
def test_the_smallest_sets_are_found(name):
    model, frame, kind = MODELS[name]
    labels = (LABELS == "yes").astype(int) if name == "XGBoost" else LABELS
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, labels)
        explainer = Explainer(model)
        for i in range(12):
            row = frame.iloc[[i]]
            why = explainer.explain(row)
            assert why.local_model == kind
            columns = [item.split(" = ")[0] for item in why.items]
            assert "age" not in columns
            decided = {
                some: str(np.ravel(model.predict(without(row, some, name)))[0])
                for size in range(len(columns) + 1)
                for some in itertools.combinations(columns, size)
            }
            assert why.decision == decided[()]
            flipping = [len(some) for some, now in decided.items() if now != decided[()]]
            assert (why.size or None) == min(flipping, default=None)
            if why:
                assert decided[
                    tuple(sorted({part.split(" = ")[0] for part in why.features}, key=columns.index))
                ] == (why.decision_without)
