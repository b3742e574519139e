import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from butfor._cli import app
from butfor._extras import install_line
from butfor.study import run as run_module
from butfor.study.datasets import DATASETS
from butfor.study.plan import QUICK, StudySettings
from butfor.study.store import FILE, read_study

ADDED = Path(__file__).parent / "tiny.py"
TINY = ("--add", ADDED, "--datasets", "tiny", "--models", "plain", "--jobs", "1", "--out", "out")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("BUTFOR_DATA", str(tmp_path / "data"))
    return tmp_path


def study(*arguments):
    return CliRunner().invoke(app, ["study", *map(str, arguments)])


def asked_settings(monkeypatch, *arguments):
    """Give the settings that a command line makes, without running them."""
    seen = []

    def refuse(settings, out, *, jobs, command, progress):
        seen.append((settings, out, jobs))
        raise run_module.InputError("only asked")

    monkeypatch.setattr(run_module, "run_study", refuse)
    assert study("run", *arguments).exit_code == 2
    return seen[0]


def test_run_and_report(folder):
    result = study("run", *TINY, "--rows", 4, "--repeats", 2, "--tradeoff-rows", 2)
    assert result.exit_code == 0, result.output
    done = read_study(folder / "out")
    assert f"{len(done.results):,} results in out/{FILE}" in result.stdout
    assert "butfor study report out" in result.stdout
    assert done.finished
    result = study("report", "out")
    assert result.exit_code == 0, result.output
    report = folder / "out" / "report"
    for name in ("report.md", "report.html", "figures/growth.png"):
        assert (report / name).exists()
        assert f"written: {Path('out/report') / name}" in result.stdout
    assert "tiny" in (report / "report.html").read_text()


def test_quick_on_the_data_that_ships(folder):
    few = ("--rows", 2, "--repeats", 1, "--tradeoff-rows", 1, "--jobs", 1, "--out", "quick")
    assert study("run", "--quick", *few).exit_code == 0
    done = read_study(folder / "quick")
    assert {(case.dataset, case.model) for case in done.cases} == {
        ("inbox", "linear-svm"),
        ("inbox", "rbf-svm"),
        ("moviegoers", "logistic"),
        ("moviegoers", "mlp"),
    }
    assert all(result.found for result in done.results if result.search == "auto")
    assert study("report", "quick").exit_code == 0


def test_report_of_an_unfinished_study_elsewhere(folder):
    assert study("run", *TINY, "--rows", 3, "--repeats", 1, "--tradeoff-rows", 0).exit_code == 0
    assert study("report", f"out/{FILE}", "--out", "elsewhere").exit_code == 0
    assert (folder / "elsewhere" / "report.md").exists()


def test_every_option_arrives(monkeypatch):
    settings, out, jobs = asked_settings(
        monkeypatch,
        *("--datasets", "airline,20news", "--datasets", "flickr:generated", "--models", "mlp"),
        *("--searches", "sedc,lime-sedc:n_samples=100,1000:max_iterations=5,auto"),
        *("--rows", 7, "--repeats", 2, "--tradeoff-rows", 3, "--max-size", 9, "--max-seconds", 1.5),
        *("--seed", 4, "--jobs", 3, "--out", "here", "--add", ADDED),
    )
    assert settings == StudySettings(
        datasets=("airline", "20news", "flickr:generated"),
        models=("mlp",),
        searches=("sedc", "lime-sedc:n_samples=100,1000:max_iterations=5", "auto"),
        rows=7,
        repeats=2,
        tradeoff_rows=3,
        max_size=9,
        max_seconds=1.5,
        seed=4,
        additions=(ADDED,),
    )
    assert (out, jobs) == (Path("here"), 3)


def test_the_defaults_are_the_papers_protocol(monkeypatch):
    settings, out, _ = asked_settings(monkeypatch)
    assert settings == StudySettings()
    assert (settings.rows, settings.repeats, settings.max_size, settings.max_seconds) == (300, 5, 30, 120)
    assert out == Path("butfor-study")


def test_quick_needs_no_files_and_can_be_changed(monkeypatch):
    settings, _, _ = asked_settings(monkeypatch, "--quick", "--rows", 3)
    assert settings == StudySettings(**vars(QUICK) | {"rows": 3})
    assert all(not DATASETS[name].files for name in QUICK.datasets)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--datasets", "movielens_1m"), "butfor study download movielens_1m"),
        (("run", "--datasets", "nope"), "--datasets must be of flickr, "),
        (("run", "--rows", "0"), "--rows must be a whole number of at least 1, got 0"),
        (("run", "--quick", "--jobs", "0"), "--jobs must be a whole number of at least 1, got 0"),
        (("report", "nowhere"), "DIR must be the folder of a study"),
        (("download", "nope"), "--datasets must be of"),
        (("download", "facebook"), "private"),
        (("download", "yahoomovies"), "cannot be downloaded without a person"),
        (("datasets", "--add", "nowhere.py"), "--add must be a Python file"),
    ],
)
def test_bad_input_is_told_and_ends_with_2(arguments, message):
    result = study(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_datasets_are_listed_with_what_is_here(folder):
    result = study("datasets", "--add", ADDED)
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert set(DATASETS) | {"tiny"} <= set(lines)
    assert "6,040 × 3,706" in lines["movielens_1m"]
    assert "download" in lines["movielens_1m"]
    assert "private" in lines["fraud"]
    assert "by hand" in lines["yahoomovies"]
    assert "yes" in lines["inbox"]
    assert "678 × " in lines["inbox"]
    assert "200 × 60" in lines["tiny"]
    assert str(folder / "data") in result.stdout


def test_names_and_folders_are_not_taken_for_markup(folder, monkeypatch):
    monkeypatch.setenv("BUTFOR_DATA", str(folder / "[/red]"))
    mine = folder / "mine.py"
    mine.write_text(ADDED.read_text().replace('"tiny"', '"[red]tiny"'))
    result = study("datasets", "--add", mine)
    assert result.exit_code == 0
    assert "[/red] (set BUTFOR_DATA" in result.stdout
    assert "[red]tiny" in result.stdout


def test_a_data_set_that_cannot_be_read_is_one_line(folder):
    mine = folder / "mine.py"
    mine.write_text(ADDED.read_text().replace("people = ", "1 / 0\n    people = "))
    result = study("datasets", "--add", mine)
    assert result.exit_code == 0
    assert "ZeroDivisionError" in next(line for line in result.stdout.splitlines() if line.startswith("tiny"))


def test_what_could_not_be_fitted_is_told_in_the_end(folder):
    result = study("run", *TINY[:4], "--models", "plain,lazy", *TINY[6:], "--rows", 2, "--repeats", 1)
    assert result.exit_code == 2
    assert "error: lazy on tiny: RuntimeError: not today" in result.stderr
    assert not read_study(folder / "out").finished


def test_the_shape_of_files_that_are_here(folder):
    sms = folder / "data" / DATASETS["ecommerce"].files[0].path
    sms.parent.mkdir(parents=True)
    views = "A1/B1/C1/D1/;A1/B1/C1/D2/"
    sms.write_text(
        f"u1,2014-11-14 00:02:14,2014-11-14 00:02:20,{views}\nu2,2014-11-14,2014-11-14,A1/B1/C1/D1/\n"
    )
    (sms.parent / "trainingLabels.csv").write_text("male\nfemale\n")
    before = study("datasets").stdout
    assert "not read yet" in next(line for line in before.splitlines() if line.startswith("ecommerce"))
    after = study("datasets", "--read").stdout
    line = next(line for line in after.splitlines() if line.startswith("ecommerce"))
    assert "2 × 2" in line
    assert "15,000 × 21,880" in line
    assert "2 × 2" in study("datasets").stdout  # known from now on


@pytest.mark.parametrize("missing", ["pyarrow", "platformdirs"])
def test_a_missing_extra_is_named_with_its_mend(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    result = study("run", *TINY, "--rows", 2, "--repeats", 1, "--tradeoff-rows", 0)
    assert result.exit_code == 2
    assert install_line("study") in result.stderr


def test_the_rest_of_butfor_starts_without_the_study(folder):
    heavy = "{'pyarrow', 'matplotlib', 'sklearn', 'nltk'}"
    code = f"import sys, butfor._cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
