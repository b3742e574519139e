"""Models of MLflow, and what is recognised without importing anything."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from butfor import Explainer
from butfor.models.objects import adapted, unwrapped

RNG = np.random.default_rng(0)
X = (RNG.random((60, 6)) < 0.5).astype(float)
MODEL = LogisticRegression().fit(X, X @ RNG.normal(size=6) > 0)


def test_nothing_is_imported():
    code = """
import sys
from butfor import Explainer
from butfor.models.objects import adapted
adapted(len)
heavy = {"torch", "transformers", "keras", "onnxruntime", "mlflow", "spacy", "fasttext", "setfit", "lightgbm"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_own_models_are_left_alone():
    assert adapted(MODEL) is None
    assert unwrapped(MODEL) is MODEL


@pytest.mark.xdist_group("objects")
@pytest.mark.filterwarnings("ignore")
class TestMLflow:
    def test_a_model_of_a_known_kind_is_unwrapped(self, tmp_path):
        mlflow = pytest.importorskip("mlflow")
        mlflow.sklearn.save_model(MODEL, str(tmp_path / "model"), serialization_format="cloudpickle")
        loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
        explainer = Explainer(loaded)
        for row in X[:5]:
            why = explainer.explain(row)
            assert why.decision == str(loaded.predict(row[np.newaxis])[0])
            assert (why.local_model, why.columns) == ("linear", Explainer(MODEL).explain(row).columns)

    def test_a_model_of_ones_own_is_a_function(self, tmp_path):
        mlflow = pytest.importorskip("mlflow")

        class Own(mlflow.pyfunc.PythonModel):
            def predict(self, context, model_input, params=None):
                return np.asarray(model_input).sum(axis=1) / 6

        mlflow.pyfunc.save_model(str(tmp_path / "own"), python_model=Own())
        loaded = mlflow.pyfunc.load_model(str(tmp_path / "own"))
        why = Explainer(loaded, threshold=0.5).explain(np.ones(6))
        assert (why.size, why.score, why.local_model) == (4, 1.0, "black box")
