"""Model files of LightGBM, XGBoost and CatBoost, in all commands."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier
from scipy import sparse
from typer.testing import CliRunner

from butfor import Explainer
from butfor._cli import app

SECONDS = 60
NAMES = tuple("abcdefgh")
rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((60, 8)) < 0.5).astype(float))
Y = (X @ np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0]) > 3).astype(int)
FRAME = pd.DataFrame(X.toarray(), columns=list(NAMES))
LIGHTGBM = {"objective": "binary", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5}
XGBOOST = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3}
CATBOOST = {
    "iterations": 10,
    "learning_rate": 0.4,
    "verbose": 0,
    "thread_count": 1,
    "allow_writing_files": False,
}
MODELS = {
    "model.txt": lgb.train(LIGHTGBM, lgb.Dataset(X, Y), 10),
    "model.json": xgb.train(XGBOOST, xgb.DMatrix(X, Y), 10),
    "model.ubj": xgb.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(X, Y),
    "model.cbm": CatBoostClassifier(**CATBOOST).fit(X, np.where(Y, "yes", "no")),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, model in MODELS.items():
        model.save_model(name)
    sparse.save_npz("X.npz", X)
    FRAME.to_csv("X.csv", index=False)
    Path("names.txt").write_text("\n".join(NAMES))
    return tmp_path


def butfor(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code in (0, 1), result.stderr  # 1: nothing was found
    return result.stdout


def explained(*arguments):
    return [json.loads(line) for line in butfor("explain", *arguments, "--json").splitlines()]


@pytest.mark.parametrize("name", MODELS)
def test_explain_as_the_model_in_memory(name, folder):
    lines = explained(name, "X.npz")
    whys = list(Explainer(MODELS[name]).explain_many(X))
    for key in ("status", "score", "decision"):
        assert [line[key] for line in lines] == [getattr(why, key) for why in whys]
    assert [tuple(line["columns"]) for line in lines] == [why.columns for why in whys]
    assert any(line["status"] == "found" for line in lines)


@pytest.mark.parametrize("name", MODELS)
def test_names_come_from_the_option_or_from_the_table(name, folder):
    for data, *options in (("X.npz", "--names", "names.txt"), ("X.csv",)):
        lines = explained(name, data, *options)
        assert {name for line in lines for name in line["items"]} == set(NAMES)


@pytest.mark.parametrize("suffix", ["txt", "json", "ubj", "cbm"])
def test_names_that_the_file_holds(suffix, folder):
    fitted = {
        "txt": lambda: lgb.train(LIGHTGBM, lgb.Dataset(FRAME, Y), 10),
        "json": lambda: xgb.train(XGBOOST, xgb.DMatrix(FRAME, Y), 10),
        "ubj": lambda: xgb.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(FRAME, Y),
        "cbm": lambda: CatBoostClassifier(**CATBOOST).fit(FRAME, Y),
    }
    fitted[suffix]().save_model(f"named.{suffix}")
    FRAME[list(reversed(NAMES))].to_csv("reversed.csv", index=False)  # columns are matched by name
    one, other = (explained(f"named.{suffix}", data) for data in ("X.csv", "reversed.csv"))
    assert [{**line, "seconds": 0} for line in one] == [{**line, "seconds": 0} for line in other]
    assert {name for line in one for name in line["items"]} == set(NAMES)


@pytest.mark.parametrize("name", MODELS)
def test_a_batch_is_resumed_as_the_model_is_the_same(name, folder):
    """A model that is loaded again has the same fingerprint."""
    run = ("batch", name, "X.npz", "--out", "out", "--engine", "here")
    assert "60 of 60 rows done" in butfor(*run)
    assert "nothing was left to do" in butfor(*run)
    stored = [line for part in Path("out").glob("*.parquet") for line in pq.read_table(part).to_pylist()]
    whys = list(Explainer(MODELS[name]).explain_many(X))
    assert [tuple(line["columns"] or ()) for line in stored] == [why.columns for why in whys]


def test_a_batch_in_a_worker_process(folder):
    run = ("batch", "model.json", "X.npz", "--out", "out")
    command = [sys.executable, "-m", "butfor", *run, "--jobs", "1"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert "60 of 60 rows done" in said.stdout, said.stderr
    assert "nothing was left to do" in butfor(*run, "--engine", "here")  # as the fingerprint is the same


def test_serve(folder):
    command = [sys.executable, "-m", "butfor", "serve", "model.cbm", "X.npz", "--port", "0", "--jobs", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "BUTFOR_TOKEN"}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().split(" ")[0]
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}api/explain", b'{"row": 3}', headers)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            why = json.load(answer)
    finally:
        process.kill()
        process.communicate()
    assert tuple(why["columns"]) == Explainer(MODELS["model.cbm"]).explain(X[[3]]).columns
