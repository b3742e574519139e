import pickle

import joblib
import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from butfor import InputError
from butfor._files import load_model

rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((60, 8)) < 0.4).astype(float))
Y = (X @ rng.normal(size=8) > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        SVC(),
        MLPClassifier((3,), tol=0.1),
        make_pipeline(TfidfTransformer(), LinearSVC()),
        CalibratedClassifierCV(LinearSVC(), cv=2),
        TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_models_we_explain_load_from_skops_without_more_words(model, tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(model.fit(X, Y), path)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))


class Homemade(LogisticRegression):
    """A type that nobody but its author knows."""


def test_other_types_in_a_skops_file_are_listed_and_must_be_trusted(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(Homemade().fit(X, Y), path)
    with pytest.raises(
        InputError, match=r"not known to be harmless: \S*Homemade\. .* add --trust \S*Homemade$"
    ):
        load_model(path)
    assert isinstance(load_model(path, trusted_types=[f"{__name__}.Homemade"]), Homemade)


class Boom:
    """A pickle that would run code: here it would only make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_not_even_looked_into(tmp_path):
    path, witness = tmp_path / "model.pkl", tmp_path / "witness"
    path.write_bytes(pickle.dumps(Boom(witness)))
    with pytest.raises(InputError, match=r"runs whatever code its author put into it.* add --trust-pickle"):
        load_model(path)
    assert not witness.exists()


@pytest.mark.parametrize("dump", [joblib.dump, lambda model, path: path.write_bytes(pickle.dumps(model))])
def test_a_trusted_pickle(dump, tmp_path):
    path = tmp_path / "model.joblib"
    dump(LogisticRegression().fit(X, Y), path)
    assert load_model(path, trust_pickle=True).n_features_in_ == 8


def test_broken_models(tmp_path):
    path = tmp_path / "model"
    path.write_text("not a model")
    with pytest.raises(InputError, match="does not load as a pickle"):
        load_model(path, trust_pickle=True)
    sparse.save_npz(tmp_path / "matrix.npz", X)  # a zip, but no model
    with pytest.raises(InputError, match="does not load as skops"):
        load_model(tmp_path / "matrix.npz")
    with pytest.raises(InputError, match=r"MODEL must be a file, got .* which is not there"):
        load_model(tmp_path / "nowhere")
