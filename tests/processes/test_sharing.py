"""Objects for other processes: the same, mapped and not copied."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from butfor._processes import sharing as module
from butfor._processes.sharing import share, shared, sharing

X, Y = np.eye(40, 7) + np.tri(40, 7, -2), np.arange(40) % 2


@pytest.mark.parametrize("thing", [np.arange(1000.0), np.zeros((0, 3)), np.array(["a", "b"], dtype=object)])
def test_arrays(tmp_path, thing):
    read = shared(share(thing, tmp_path / "thing"))
    assert (read.dtype, read.shape) == (thing.dtype, thing.shape)
    assert (read == thing).all()


def test_arrays_are_mapped_and_changes_stay_in_the_process(tmp_path):
    read = shared(share({"a": np.arange(5.0), "b": np.arange(3)}, tmp_path / "thing"))
    read["a"][0] = 1
    assert shared.__wrapped__(tmp_path / "thing")["a"][0] == 0
    assert read["a"].base is not None
    assert read is shared(tmp_path / "thing")


def test_slices_of_a_matrix_are_its_own(tmp_path):
    matrix = sparse.random_array((50, 30), density=0.2, format="csr", rng=0)
    read = shared(share(matrix, tmp_path / "thing"))
    assert (read[10:20] != matrix[10:20]).nnz == 0
    read[10:20].data[:] = 1


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), MLPClassifier((3,), max_iter=5), SVC(), SVC(kernel="poly"), BernoulliNB()],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_models_predict_the_same_from_shared_memory(tmp_path, model, kind):
    rows = sparse.csr_matrix(X) if kind == "csr" else X
    model.fit(rows, Y)
    read = shared(share(model, tmp_path / "thing"))
    score = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    np.testing.assert_array_equal(getattr(read, score)(rows), getattr(model, score)(rows))


def test_what_was_defined_here(tmp_path):
    """Lambdas, and a pipeline with one, which plain pickles refuse."""
    weights = np.arange(7.0)
    read = shared(share(lambda rows: rows @ weights, tmp_path / "thing"))
    np.testing.assert_array_equal(read(X), X @ weights)
    texts = ["free prize", "see you"] * 3
    model = make_pipeline(TfidfVectorizer(tokenizer=lambda text: text.split(), token_pattern=None), SVC())
    model.fit(texts, [1, 0] * 3)
    read = shared(share(model, tmp_path / "model"))
    np.testing.assert_array_equal(read.decision_function(texts), model.decision_function(texts))


@pytest.mark.parametrize("has_proc", [True, False])
def test_shared_for_as_long_as_it_is_needed(tmp_path, monkeypatch, has_proc):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not has_proc:
        monkeypatch.setattr(module, "OPEN_FILES", Path("nowhere"))
    read = "import sys; from pathlib import Path; from butfor._processes.sharing import shared as s; "
    with sharing(np.arange(5.0)) as path:
        if has_proc:
            if not module.OPEN_FILES.exists():
                pytest.skip("no /proc")
            assert not list(tmp_path.iterdir())  # so nobody can remove it
        command = [sys.executable, "-c", read + "print(s(Path(sys.argv[1])).sum())", path]
        assert subprocess.check_output(command, text=True) == "10.0\n"
    assert not list(tmp_path.iterdir())
    assert not path.exists()
