import json
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from typer.testing import CliRunner

import butfor
from butfor import SEARCHES, Explanation
from butfor._cli import app
from butfor._extras import install_line

rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((60, 8)) < 0.5).astype(float))
Y = (X @ np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0]) > 3).astype(int)
MODEL = LogisticRegression(C=10).fit(X, Y)
POSITIVES = np.flatnonzero(MODEL.predict_proba(X)[:, 1] >= 0.5)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    skops.io.dump(MODEL, "model.skops")
    joblib.dump(MODEL, "model.joblib")
    sparse.save_npz("X.npz", X)
    sparse.save_npz("narrow.npz", X[:, :7])
    sparse.save_npz("empty.npz", X[:0])
    (tmp_path / "names.txt").write_text("\n".join("abcdefgh"))
    return tmp_path


def butfor_explain(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def test_explain_prints_a_sentence(folder):
    row = POSITIVES[0]
    result = butfor_explain("model.skops", "X.npz", "--row", row, "--names", "names.txt")
    assert result.exit_code == 0
    assert f"row {row}  But for '" in result.stdout
    assert ", threshold 0.50)." in result.stdout
    assert "proven smallest" in result.stdout
    assert "\x1b[" not in result.stdout  # piped: plain text


def test_in_a_terminal_the_sentence_stands_out_and_the_rest_is_dim(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    row = POSITIVES[0]
    result = butfor_explain("model.skops", "X.npz", "--row", row)
    assert f"\x1b[2mrow {row}  \x1b[0m\x1b[1mBut for" in result.stdout
    result = butfor_explain("model.skops", "X.npz", "--row", 60)
    assert result.stderr.startswith("\x1b[1;31merror: \x1b[0m--row must be")


def test_json_is_one_explanation_a_line(folder):
    result = butfor_explain("model.skops", "X.npz", "--row", 0, "--row", 3, "--json", "--search", "sedc")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line.pop("row") for line in lines] == [0, 3]
    for line in lines:
        assert Explanation.from_dict(line).search == "sedc"


def test_all_rows_by_default_and_every_search(folder):
    for search in SEARCHES:
        result = butfor_explain("model.skops", "X.npz", "--search", search, "--json")
        assert len(result.stdout.splitlines()) == 60
        assert result.exit_code == 0


def test_options_reach_the_explainer(folder):
    options = ("--threshold", 0.2, "--max-size", 2, "--max-seconds", 7, "--seed", 5)
    result = butfor_explain("model.skops", "X.npz", "--row", 0, "--json", *options)
    line = json.loads(result.stdout)
    assert (line["threshold"], line["max_size"]) == (0.2, 2)
    result = butfor_explain("model.skops", "X.npz", "--row", POSITIVES[0], "--json", "--max-seconds", 1e-9)
    assert json.loads(result.stdout)["reason"] == "max_seconds=1e-09 reached"
    free = json.loads(butfor_explain("model.skops", "X.npz", "--row", POSITIVES[0], "--json").stdout)
    for protect in (free["columns"][0], "abcdefgh"[free["columns"][0]]):
        result = butfor_explain(
            *("model.skops", "X.npz", "--row", POSITIVES[0], "--json", "--names", "names.txt"),
            *("--protect", protect),
        )
        line = json.loads(result.stdout)
        assert line["n_protected"] == 1
        assert free["columns"][0] not in line["columns"]
    random = ("model.skops", "X.npz", "--json", "--search", "random", "--seed")
    removed = [
        [json.loads(line)["columns"] for line in butfor_explain(*random, seed).stdout.splitlines()]
        for seed in (1, 1, 2)
    ]
    assert removed[0] == removed[1] != removed[2]


def test_parameters_of_the_search(folder):
    def n_scored(*options):
        result = butfor_explain("model.skops", "X.npz", "--row", POSITIVES[0], "--json", *options)
        return json.loads(result.stdout)["n_scored"]

    few = n_scored("--search", "lime-c", "--set", "n_samples=20")
    many = n_scored("--search", "lime-c", "--set", "n_samples=120")
    assert many - few == 100
    rounds = ("--search", "lime-sedc", "--set", "max_iterations=3", "--set", "n_samples=20,50")
    assert n_scored(*rounds) > 20


def test_one_label_of_several(folder):
    model = OneVsRestClassifier(LogisticRegression()).fit(X, np.asarray((X[:, :3] > 0).todense()).astype(int))
    skops.io.dump(model, "labels.skops")
    result = butfor_explain("labels.skops", "X.npz", "--row", 0)
    assert result.exit_code == 2
    assert "label must be given, as OneVsRestClassifier decides about 3 labels at once" in result.stderr
    result = butfor_explain("labels.skops", "X.npz", "--row", 0, "--label", 1, "--json")
    assert json.loads(result.stdout)["decision"] in ("label 1", "not label 1")


def test_nothing_found_ends_with_1(folder):
    result = butfor_explain("model.skops", "X.npz", "--row", 0, "--threshold", 0)
    assert result.exit_code == 1
    assert "Proven: whichever of its" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.skops", "X.npz"), "MODEL must be a file"),
        (("model.joblib", "X.npz"), "add --trust-pickle"),
        (("model.skops", "nowhere.npz"), "DATA must be a file"),
        (("model.skops", "names.txt"), "MODEL must read texts to explain texts"),
        (("model.skops", "model.joblib"), "DATA must be a sparse matrix"),
        (("model.skops", "X.npz", "--row", 60), "--row must be from 0 to 59, the rows of DATA, got 60"),
        (("model.skops", "X.npz", "--row", -1), "--row must be from 0 to 59"),
        (("model.skops", "X.npz", "--search", "best"), "search must be one of auto, certified"),
        (("model.skops", "X.npz", "--max-size", 0), "max_size must be a whole number"),
        (("model.skops", "X.npz", "--max-seconds", "nan"), "max_seconds must be a positive number"),
        (("model.skops", "X.npz", "--threshold", "inf"), "threshold must be a finite number"),
        (("model.skops", "X.npz", "--names", "nowhere"), "--names must be a file"),
        (
            ("model.skops", "narrow.npz"),
            "DATA must have 8 columns, as the model was fitted on, got narrow.npz with 7.",
        ),
        (("model.skops", "empty.npz"), "DATA must have at least one row"),
    ],
)
def test_bad_input_ends_with_2_and_no_traceback(folder, arguments, message):
    assert_refused(arguments, message)


@pytest.mark.parametrize(
    ("search", "setting", "message"),
    [
        ("sedc", "n_samples=9", "--set must name a parameter of sedc (max_iterations), got 'n_samples=9'"),
        ("lin-sedc", "weights=1", "--set must name a parameter of lin-sedc (it has none), got 'weights=1'"),
        (
            "sedc",
            "max_iterations=print(1)",
            "--set must be NAME=VALUE with a number, or several with commas, got 'max_iterations=print(1)'",
        ),
        ("sedc", "max_iterations", "--set must be NAME=VALUE"),
        ("lime-c", "n_samples={[]}", "--set must be NAME="),
        ("lime-sedc", "n_samples=9,3", "several that increase"),
        ("sedc", "max_iterations=-1", "max_iterations must be"),
        ("lime-c", "n_samples=1,2", "n_samples must be a whole"),
        ("best", "a=1", "search must be one of auto, certified"),
    ],
)
def test_bad_parameters_of_a_search(folder, search, setting, message):
    assert_refused(("model.skops", "X.npz", "--search", search, "--set", setting), message)


def assert_refused(arguments, message):
    result = butfor_explain(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_a_trusted_pickle(folder):
    assert butfor_explain("model.joblib", "X.npz", "--row", POSITIVES[0], "--trust-pickle").exit_code == 0


def test_a_bad_row_is_reported_and_the_others_are_not_lost(folder):
    broken = X.toarray()
    broken[1, 0] = np.nan
    sparse.save_npz("broken.npz", sparse.csr_matrix(broken))
    rows = ("--row", POSITIVES[0], "--row", 1, "--row", POSITIVES[-1])
    result = butfor_explain("model.skops", "broken.npz", *rows)
    assert result.exit_code == 2
    assert result.stdout.count("But for") == 2
    assert "error: row 1: row must be finite, got nan in column 0" in result.stderr
    lines = [
        json.loads(line)
        for line in butfor_explain("model.skops", "broken.npz", "--json", *rows).stdout.splitlines()
    ]
    assert [line["row"] for line in lines] == [POSITIVES[0], 1, POSITIVES[-1]]
    assert "must be finite" in lines[1]["error"]


def test_hostile_names_are_data(folder):
    (folder / "names.txt").write_text("\n".join(["[bold red]x[/]\x1b[31m"] * 8))
    result = butfor_explain("model.skops", "X.npz", "--row", POSITIVES[0], "--names", "names.txt")
    assert r"[bold red]x[/]\x1b[31m" in result.stdout


def test_searches_and_version():
    listed = CliRunner().invoke(app, ["searches"]).stdout
    assert all(search in listed for search in SEARCHES)
    assert CliRunner().invoke(app, ["--version"]).stdout == f"butfor {butfor.__version__}\n"


def test_no_command_shows_help():
    assert "Usage" in CliRunner().invoke(app, []).output


def test_the_installed_command_and_the_module():
    for command in ([sys.executable, "-m", "butfor"], [str(Path(sys.executable).with_name("butfor"))]):
        out = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
        assert out == f"butfor {butfor.__version__}\n"


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    from butfor.__main__ import main

    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "butfor._cli")
    with pytest.raises(SystemExit, match=rf"needs typer: {re.escape(install_line('cli'))}"):
        main()


def test_the_version_needs_no_scikit_learn():
    code = "import sys, butfor._cli; print('sklearn' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "False\n"
