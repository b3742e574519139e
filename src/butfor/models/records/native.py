"""Classifiers that take frames with categories by themselves: LightGBM, CatBoost, HistGradientBoosting."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.models.arrays import FloatArray
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.records.absence import UNKNOWN, Absence
from butfor.models.records.record_model import RecordModel, identity
from butfor.models.records.sources import FrameSource


def native_record_model(model: Any) -> RecordModel:
    """Return what is known of a model that does not ask for records, but may be given some.

    LightGBM and histogram gradient boosting make codes of categories, which their trees compare. CatBoost
    takes strings for categories, and no missing ones.
    """
    name, library = type(model).__name__, type(model).__module__.split(".")[0]
    steps: Any = None
    if library == "lightgbm" and getattr(getattr(model, "booster_", model), "pandas_categorical", None):
        steps = CodesOfCategories(getattr(model, "booster_", model).pandas_categorical)
    elif name == "HistGradientBoostingClassifier" and library == "sklearn":
        steps = model._preprocessor
    if library == "catboost":
        return RecordModel(model, default_absence=Absence(UNKNOWN, "unknown"))
    if steps is None:
        return RecordModel(model)
    width = int(getattr(model, "n_features_in_", 0) or model.num_feature())
    source = FrameSource((), identity, (steps,), width, apart=True)
    front = Preprocessing(source=0)
    return RecordModel(model, sources=(source,), steps=front, rest=model, is_sparse=False)


@dataclass(frozen=True, eq=False)
class CodesOfCategories:
    """Makes numbers of a frame as LightGBM does: categories become their places among those that it knows."""

    known: list[list[Any]]
    """The categories of each column that has some, in the order of the columns."""

    def transform(self, frame: Any) -> FloatArray:
        """Return a matrix of numbers; what is unknown or missing is NaN."""
        known = iter(self.known)
        columns = []
        for name in frame.columns:
            series = frame[name]
            if str(series.dtype) == "category":
                codes = series.cat.set_categories(next(known)).cat.codes.to_numpy(dtype=np.float64)
                columns.append(np.where(codes < 0, np.nan, codes))
            else:
                columns.append(series.to_numpy(dtype=np.float64))
        return np.column_stack(columns)
