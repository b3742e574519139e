"""Calibrated classifiers: a rising function of a classifier's score, or the mean of several of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.models.formula.activations import Logistic, Steps
from butfor.models.formula.affine import precision_of_sums
from butfor.models.formula.network import Network, mean_of
from butfor.models.formula.preprocessing import Preprocessing

Read = Callable[[Any, str, Preprocessing], Network | None]


def read_calibrated(model: Any, method: str, steps: Preprocessing, read: Read) -> Network | None:
    """Read a CalibratedClassifierCV around an estimator that can be read."""
    if len(model.classes_) > 2:
        return None
    members = [_member(each, steps, read) for each in model.calibrated_classifiers_]
    networks = [member for member in members if member is not None]
    if len(networks) < len(members):
        return None
    return networks[0] if len(networks) == 1 else mean_of(networks)


def _member(member: Any, steps: Preprocessing, read: Read) -> Network | None:
    response = "decision_function" if hasattr(member.estimator, "decision_function") else "predict_proba"
    network = read(member.estimator, response, steps)
    if network is None:
        return None
    calibrator = member.calibrators[0]
    if member.method == "sigmoid":
        return replace(network.rescaled(-calibrator.a_, -calibrator.b_), link=Logistic())
    if member.method == "isotonic":
        tables = calibrator.X_thresholds_, calibrator.y_thresholds_
        # It looks up scores in the precision of its tables.
        precision = precision_of_sums(0, tables[0].dtype)
        link = Steps(*(table.astype(np.float64) for table in tables))
        return replace(network.without_link(), link=link, precision=max(network.precision, precision))
    if member.method == "temperature" and response == "decision_function":
        return replace(network.rescaled(2 * float(calibrator.beta_), 0.0), link=Logistic())
    return None
