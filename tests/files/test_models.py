import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import joblib
import lightgbm as lgb
import numpy as np
import pytest
import skops.io
import xgboost as xgb
from catboost import CatBoost, CatBoostClassifier
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import all_estimators

from butfor import Explainer, InputError
from butfor._files import load_model
from butfor._files.models import _is_estimator

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


LOADED = """
import sys
from pathlib import Path
from butfor._files import load_model
print(type(load_model(Path(sys.argv[1]))).__name__, sorted({"torch", "sklearn.mixture"} & set(sys.modules)))
"""


def test_a_skops_file_is_loaded_without_importing_all_of_scikit_learn(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(make_pipeline(TfidfTransformer(), LogisticRegression()).fit(X, Y), path)
    command = [sys.executable, "-c", LOADED, path]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "Pipeline []\n"


def test_all_estimators_of_scikit_learn_are_harmless():
    names = [f"{each.__module__}.{each.__name__}" for _, each in all_estimators()]
    assert len(names) > 100
    assert [name for name in names if not _is_estimator(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "sklearn.utils._mocking.CheckingClassifier",
        "sklearn.utils.estimator_checks.LogisticRegression",
        "sklearn.linear_model.LogisticRegression",
        "sklearn.linear_model._logistic.np",
        "sklearn.utils.validation.check_array",
        "sklearn.no_such_module.Thing",
        "sklearnish.linear_model.Thing",
        "os.system",
    ],
)
def test_no_other_type_is_taken_for_an_estimator_of_scikit_learn(name):
    assert not _is_estimator(name)


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


QUIET = {"verbose": 0, "thread_count": 1, "allow_writing_files": False, "iterations": 4}
LIGHTGBM = lgb.train(
    {"objective": "binary", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 3}, lgb.Dataset(X, Y), 4
)
XGBOOST = xgb.train({"objective": "binary:logistic", "nthread": 1, "max_depth": 3}, xgb.DMatrix(X, Y), 4)
CATBOOST = CatBoostClassifier(**QUIET).fit(X, np.where(Y, "yes", "no"))


@pytest.mark.parametrize("suffix", ["txt", "json", "ubj", "cbm"])
def test_files_of_the_tree_libraries_are_known_by_their_content(suffix, tmp_path):
    model = {"txt": LIGHTGBM, "cbm": CATBOOST}.get(suffix, XGBOOST)
    model.save_model(tmp_path / f"model.{suffix}")
    path = (tmp_path / f"model.{suffix}").rename(tmp_path / "model")
    loaded = load_model(path)
    assert type(loaded) is type(model)
    rows = xgb.DMatrix(X) if model is XGBOOST else X
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_lines_may_end_as_on_windows(tmp_path):
    path = tmp_path / "model.txt"
    path.write_bytes(LIGHTGBM.model_to_string().replace("\n", "\r\n").encode())
    np.testing.assert_array_equal(load_model(path).predict(X), LIGHTGBM.predict(X))


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_what_an_xgbclassifier_wrote_stops_at_its_best_iteration(suffix, tmp_path):
    noise, path = rng.permutation(Y), tmp_path / f"model.{suffix}"
    model = xgb.XGBClassifier(n_estimators=30, early_stopping_rounds=2, n_jobs=1)
    model.fit(X, Y, eval_set=[(X, noise)], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    model.save_model(path)
    np.testing.assert_array_equal(load_model(path).predict_proba(X), model.predict_proba(X))
    model.get_booster().save_model(path)
    np.testing.assert_array_equal(
        load_model(path).predict(xgb.DMatrix(X)), model.get_booster().predict(xgb.DMatrix(X))
    )


def test_a_file_of_a_regression_says_so(tmp_path):
    CatBoost({"loss_function": "RMSE", **QUIET}).fit(X, Y).save_model(tmp_path / "model.cbm")
    xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, Y).save_model(tmp_path / "model.json")
    for name, objective in (("model.cbm", "RMSE"), ("model.json", "reg:squarederror")):
        with pytest.raises(InputError, match=f"with the objective {objective}"):
            Explainer(load_model(tmp_path / name))


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_a_library_that_is_not_installed_is_named(library, tmp_path, monkeypatch):
    model = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST, "catboost": CATBOOST}[library]
    path = tmp_path / ("model.ubj" if library == "xgboost" else "model")
    model.save_model(path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"reading it needs: pip install {library}$"):
        load_model(path)


def test_classifiers_of_the_tree_libraries_in_skops_must_be_trusted(tmp_path):
    """They hand bytes of the file to their libraries, so they are no plain data."""
    path = tmp_path / "model.skops"
    model = lgb.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(X, Y)
    skops.io.dump(model, path)
    types = ["lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"]
    with pytest.raises(InputError, match=f"--trust {types[0]} --trust {types[1]}$"):
        load_model(path)
    np.testing.assert_array_equal(load_model(path, trusted_types=types).predict(X), model.predict(X))


DAMAGE = """
import random, re, sys
from pathlib import Path
from butfor import InputError
from butfor._files import load_model

n_refused = 0
for path in map(Path, sys.argv[1:]):
    content, bad = path.read_bytes(), path.with_name("bad")
    cuts = [content[: len(content) * i // 20] for i in range(1, 20)]
    holes = [content[:i] + content[i + 30 :] for i in random.Random(0).sample(range(6, len(content)), 20)]
    numbers = []
    if path.suffix in (".txt", ".json"):
        places = random.Random(1).choices([*re.finditer(rb"[0-9]+", content)], k=40)
        numbers = [content[: at.start()] + b"-7" + content[at.end() :] for at in places]
    for damaged in cuts + holes + numbers:
        bad.write_bytes(damaged)
        try:
            load_model(bad)
        except InputError as error:
            assert "bad" in str(error)
            n_refused += 1
print(n_refused)
"""


def test_damaged_files_are_refused_and_do_not_take_the_process_down(tmp_path):
    """The libraries themselves may abort: they read beyond the end of a file that was cut."""
    models = {"m.txt": LIGHTGBM, "m.json": XGBOOST, "m.ubj": XGBOOST, "m.cbm": CATBOOST}
    for name, model in models.items():
        model.save_model(tmp_path / name)
    command = [sys.executable, "-c", DAMAGE, *(str(tmp_path / name) for name in models)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert int(said.stdout.split()[-1]) > 150


def test_other_files_of_text_are_no_models(tmp_path):
    path = tmp_path / "model.json"
    for text in ('{"trees": []}', "[]", "tree stump"):
        path.write_text(text)
        with pytest.raises(InputError, match="MODEL must be a skops file, or a model file of LightGBM"):
            load_model(path)
    for text in ('{"learner": 1}', '{"learner": {"learner_model_param": {}}}', "tree\nversion=v4\n"):
        Path(path).write_text(text)
        with pytest.raises(InputError, match=r"model\.json does not load as a model of "):
            load_model(path)


def test_a_model_that_unpacks_to_too_much(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(2**21))
    with pytest.raises(InputError, match=r"MODEL must unpack to at most 0\.001 GiB, got .*bomb\.skops"):
        load_model(tmp_path / "bomb.skops", max_unpacked=0.001)
