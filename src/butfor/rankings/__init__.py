"""Rankings: functions from a local model to one weight for each unit, higher for more evidence."""

from butfor.rankings.base import Ranking, weigh
from butfor.rankings.kernel_shap import kernel_shap_weights
from butfor.rankings.lime import lime_weights
from butfor.rankings.removal import removal_weights

RANKINGS: dict[str, Ranking] = {
    "removal": removal_weights,
    "lime": lime_weights,
    "shap": kernel_shap_weights,
}

__all__ = ["RANKINGS", "Ranking", "kernel_shap_weights", "lime_weights", "removal_weights", "weigh"]
