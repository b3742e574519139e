import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from butfor import InputError
from butfor.study.plan import GROWTH_ACTIVE, StudySettings, growth_row
from butfor.study.prepare import prepare
from butfor.study.registry import registry
from butfor.study.results import Study
from butfor.study.run import run_study
from butfor.study.store import FILE, JOURNAL, append, read_study
from butfor.verify import is_counterfactual

ADDED = Path(__file__).parent / "tiny.py"
SETTINGS = StudySettings(
    datasets=("tiny",),
    models=("plain",),
    searches=("sedc", "lime-c:n_samples=50", "random", "auto"),
    rows=6,
    repeats=2,
    tradeoff_rows=0,
    additions=(ADDED,),
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def answers(study: Study):
    return [replace(result, seconds=0.0) for result in study.results]


def stop_after(n_explained):
    def progress(what, n_done, total):
        if what == "explaining" and n_done >= n_explained:
            raise KeyboardInterrupt

    return progress


def test_every_search_on_every_row_as_often_as_it_has_chance(tmp_path):
    study = run_study(SETTINGS, tmp_path / "out")
    counts = {search: 0 for search in SETTINGS.searches}
    for result in study.results:
        counts[result.search] += 1
    assert counts == {"sedc": 6, "lime-c:n_samples=50": 12, "random": 12, "auto": 6}
    assert len({result.key for result in study.results}) == len(study.results) == 36
    assert len({result.row for result in study.results}) == 6
    assert study.finished
    assert not (tmp_path / "out" / JOURNAL).exists()
    assert read_study(tmp_path / "out").cases == study.cases


def test_what_is_found_flips_the_fitted_model(tmp_path, cache):
    study = run_study(SETTINGS, tmp_path / "out")
    known = registry((ADDED,))
    data = known.dataset("tiny").load()
    folder = cache / "butfor" / "models"
    ready = prepare("tiny", known, data, "plain", seed=0, cache=folder)
    found = [result for result in study.results if result.found]
    assert found
    for result in found:
        row = data.X[[result.row]]
        assert result.n_active == row.nnz
        assert is_counterfactual(ready.classifier, row, result.columns, threshold=ready.case.threshold), (
            result
        )


def test_words_can_be_cut_out_of_texts(tmp_path, cache):
    settings = replace(
        SETTINGS, datasets=("inbox",), models=("logistic",), searches=("sedc", "auto"), removal="delete"
    )
    study = run_study(settings, tmp_path / "out")
    known = registry((ADDED,))
    data = known.dataset("inbox").load()
    ready = prepare("inbox", known, data, "logistic", seed=0, cache=cache / "butfor" / "models")
    assert {case.removal for case in study.cases} == {"delete"}
    found = [result for result in study.results if result.found]
    assert found
    for result in found:
        words = "|".join(data.feature_names[column] for column in result.columns)
        text = data.documents[result.row]
        cut = re.sub(rf"(?i)\b({words})\b", "", text)
        before, after = ready.model("delete").predict_proba([text, cut])[:, 1]
        assert before >= ready.case.threshold > after, result
    with pytest.raises(InputError, match="--removal delete, and now it is zero"):
        run_study(replace(settings, removal="zero"), tmp_path / "out")


def test_only_texts_can_be_cut(tmp_path):
    with pytest.raises(InputError, match=r"tiny is of kind behaviour\. Name .*inbox"):
        run_study(replace(SETTINGS, removal="delete"), tmp_path / "out")
    with pytest.raises(InputError, match="--removal must be"):
        replace(SETTINGS, removal="mask")


def test_only_rows_that_the_model_predicts_positive(tmp_path):
    study = run_study(replace(SETTINGS, rows=300), tmp_path / "out")
    (case,) = study.cases
    assert case.n_explained == case.n_positive == len({result.row for result in study.results})
    assert case.n_test == 40
    assert abs(case.n_positive / case.n_test - 0.2) <= 0.05


def test_same_seed_same_results_whatever_the_processes(tmp_path):
    one = run_study(SETTINGS, tmp_path / "one")
    two = run_study(SETTINGS, tmp_path / "two", jobs=2)
    other = run_study(replace(SETTINGS, seed=1), tmp_path / "other")
    assert answers(one) == answers(two)
    assert answers(one) != answers(other)


def test_repeats_differ_and_rows_differ(tmp_path):
    study = run_study(replace(SETTINGS, searches=("random",), repeats=6, rows=8), tmp_path / "out")
    by_row = {}
    for result in study.results:
        by_row.setdefault(result.row, set()).add(result.columns)
    assert any(len(columns) > 1 for columns in by_row.values())


def test_an_interrupted_study_goes_on_where_it_stopped(tmp_path):
    whole = run_study(SETTINGS, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run_study(SETTINGS, tmp_path / "out", progress=stop_after(12))
    half = read_study(tmp_path / "out")
    assert 12 <= len(half.results) < 36
    assert not half.finished
    resumed = run_study(SETTINGS, tmp_path / "out")
    assert answers(resumed) == answers(whole)
    assert set(half.results) <= set(resumed.results)  # their very times: nothing was done again


def test_a_finished_study_is_not_done_again_but_can_grow(tmp_path):
    first = run_study(SETTINGS, tmp_path / "out", command="butfor study run")
    again = run_study(SETTINGS, tmp_path / "out", command="butfor study run")
    assert again.results == first.results
    more = replace(SETTINGS, rows=8, searches=("first",))
    grown = run_study(more, tmp_path / "out", command="butfor study run --rows 8")
    assert set(first.results) <= set(grown.results)
    assert {result.row for result in first.results} < {result.row for result in grown.results}
    assert grown.cases[0].n_explained == 8
    assert run_study(replace(SETTINGS, rows=3), tmp_path / "out").cases[0].n_explained == 8
    assert [run["command"] for run in grown.about["runs"]] == [
        "butfor study run",
        "butfor study run --rows 8",
    ]


def test_only_its_own_files_are_removed(tmp_path):
    notes = tmp_path / "out" / JOURNAL
    notes.mkdir(parents=True)
    (notes / "diary.jsonl").write_text("mine")
    (notes / "plans.json").write_text("mine")
    run_study(replace(SETTINGS, rows=2, searches=("sedc",)), tmp_path / "out")
    assert sorted(path.name for path in notes.iterdir()) == ["diary.jsonl", "plans.json"]


def test_two_runs_do_not_share_a_folder(tmp_path):
    def progress(what, n_done, total):
        with pytest.raises(InputError, match="is in use by another run"):
            run_study(SETTINGS, tmp_path / "out")

    assert run_study(replace(SETTINGS, rows=2), tmp_path / "out", progress=progress).finished


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_fitted(tmp_path):
    (tmp_path / "file").write_text("")
    told = []
    with pytest.raises(InputError, match="--out must be a folder that can be written to"):
        run_study(SETTINGS, tmp_path / "file", progress=lambda *told_: told.append(told_))
    assert not told


def test_errors_are_tried_again(tmp_path):
    broken, mended = tmp_path / "broken.py", tmp_path / "mended.py"
    search = "def first(local, budget, seed):\n    {}\nSEARCHES = {{'mine': first}}\n"
    broken.write_text(search.format("raise SystemExit('\\u2028 \\ud800')"))
    mended.write_text(
        search.format("yield butfor.Finding(reason='nothing')").replace("def", "import butfor\ndef", 1)
    )
    asked = replace(SETTINGS, datasets=("tiny",), searches=("mine",), rows=3, repeats=1)
    study = run_study(replace(asked, additions=(ADDED, broken)), tmp_path / "out")
    assert [result.status for result in study.results] == ["error"] * 3
    again = run_study(replace(asked, additions=(ADDED, broken)), tmp_path / "out")
    assert again.finished
    with pytest.raises(InputError, match="the search mine of the added code"):
        run_study(replace(asked, additions=(ADDED, mended)), tmp_path / "out")


def test_a_study_is_finished_when_all_that_was_ever_asked_is_there(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_study(SETTINGS, tmp_path / "out", progress=stop_after(12))
    other = run_study(replace(SETTINGS, rows=1, searches=("sedc",)), tmp_path / "out")
    assert [run["finished"] for run in other.about["runs"]] == [False, True]
    assert not other.finished
    assert run_study(SETTINGS, tmp_path / "out").finished


def test_a_model_that_cannot_be_fitted_costs_itself_only(tmp_path):
    study = run_study(replace(SETTINGS, models=("plain", "lazy")), tmp_path / "out")
    assert {case.model for case in study.cases} == {"plain"}
    assert len(study.results) == 36
    assert study.about["failures"] == ["lazy on tiny: RuntimeError: not today"]
    assert not study.finished
    with pytest.raises(InputError, match=r"No model could be fitted\. lazy on tiny: RuntimeError: not today"):
        run_study(replace(SETTINGS, models=("lazy",)), tmp_path / "none")


def test_the_searches_of_a_row_come_in_random_order(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_study(replace(SETTINGS, repeats=1), tmp_path / "out", progress=stop_after(20))
    [journal] = (tmp_path / "out" / JOURNAL).glob("*.jsonl")
    orders = {}
    for line in journal.read_text().splitlines():
        said = json.loads(line)
        orders.setdefault(said["row"], []).append(said["search"])
    assert len({tuple(order) for order in orders.values()}) > 1
    assert len(orders) >= 5


def test_every_row_and_repeat_has_a_seed_of_its_own(tmp_path):
    seen = tmp_path / "seen.py"
    seen.write_text(
        "from butfor import Finding\n"
        "def tell(local, budget, seed):\n"
        "    yield Finding(reason=str(seed))\n"
        "SEARCHES = {'tell': tell}\n"
    )
    asked = replace(SETTINGS, searches=("tell",), additions=(ADDED, seen))
    study = run_study(asked, tmp_path / "out")
    assert len({result.reason for result in study.results}) == len(study.results) == 12


def test_lines_of_an_unknown_study_are_not_taken(tmp_path):
    run_study(replace(SETTINGS, seed=7), tmp_path / "other")
    unknown = tmp_path / "out" / JOURNAL
    for result in read_study(tmp_path / "other").results:
        append(unknown, result)
    study = run_study(SETTINGS, tmp_path / "out")
    assert answers(study) == answers(run_study(SETTINGS, tmp_path / "whole"))


@pytest.mark.parametrize(("name", "value"), [("seed", 1), ("max_size", 5), ("max_seconds", 1.0)])
def test_what_cannot_be_compared_is_not_mixed(tmp_path, name, value):
    run_study(SETTINGS, tmp_path / "out")
    with pytest.raises(InputError, match=f"holds a study with --{name.replace('_', '-')}"):
        run_study(replace(SETTINGS, **{name: value}), tmp_path / "out")


def test_other_data_under_the_same_name_are_not_mixed(tmp_path):
    run_study(SETTINGS, tmp_path / "out")
    other = tmp_path / "other.py"
    other.write_text(ADDED.read_text().replace("n_films=60", "n_films=59"))
    with pytest.raises(InputError, match="results of plain on tiny with other data"):
        run_study(replace(SETTINGS, additions=(other,)), tmp_path / "out")


def test_a_model_that_fails_costs_its_own_rows_only(tmp_path):
    study = run_study(replace(SETTINGS, models=("moody", "plain")), tmp_path / "out")
    moody = [result for result in study.results if result.model == "moody"]
    failed = [result for result in moody if result.status == "error"]
    assert len(failed) > 0
    assert all("not in the mood" in result.reason for result in failed)
    assert all(result.n_active for result in failed)
    plain = [result for result in study.results if result.model == "plain"]
    assert len(plain) == len(moody) == 36
    assert not any(result.status == "error" for result in plain)


def test_a_search_of_ones_own(tmp_path):
    study = run_study(replace(SETTINGS, searches=("first",)), tmp_path / "out", jobs=2)
    assert {result.status for result in study.results} <= {"found", "budget"}
    assert all(result.size == 1 for result in study.results if result.found)
    assert all("the first feature" in result.reason for result in study.results if not result.found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datasets": ("nope",)}, "--datasets must be of .*movielens_1m.*tiny; got 'nope'"),
        ({"models": ("nope",)}, "--models must be of .*; got 'nope'"),
        ({"searches": ("nope",)}, "--searches must be of .*; got 'nope'"),
        ({"searches": ("sedc:n_samples=1",)}, "--searches must name a parameter of sedc"),
        ({"datasets": ("tiny:generated",)}, "tiny has no generated stand-in"),
        ({"datasets": ("fraud",)}, "fraud is private.*fraud:generated"),
    ],
)
def test_bad_names_are_refused_before_anything_runs(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        run_study(replace(SETTINGS, **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "value"), [("rows", 0), ("repeats", 0), ("tradeoff_rows", -1), ("seed", -1)]
)
def test_bad_numbers_are_refused(name, value):
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} must be a whole number"):
        replace(SETTINGS, **{name: value})


def test_tradeoff_and_growth(tmp_path):
    study = run_study(replace(SETTINGS, searches=("sedc",), rows=3, tradeoff_rows=2), tmp_path / "out")
    tradeoff = [result for result in study.results if result.part == "tradeoff"]
    assert len({result.row for result in tradeoff}) == 2
    assert {"sedc:max_iterations=1", "lime-c:n_samples=100", "auto"} <= {each.search for each in tradeoff}
    growth = [result for result in study.results if result.part == "growth"]
    chosen = growth_row(study)
    assert {result.row for result in growth} == {chosen.row}
    complete = [result for result in growth if result.search == "complete"]
    assert [result.max_size for result in complete] == list(range(1, chosen.size + 1))
    again = run_study(replace(SETTINGS, searches=("sedc",), rows=6, tradeoff_rows=2), tmp_path / "out")
    assert {result.row for result in again.results if result.part == "growth"} == {chosen.row}


def test_the_row_of_the_growth_figure_is_close_to_the_papers(tmp_path):
    study = run_study(replace(SETTINGS, searches=("sedc",), rows=40), tmp_path / "out")
    chosen = growth_row(study)
    found = [result for result in study.results if result.found]
    same_size = [abs(result.n_active - GROWTH_ACTIVE) for result in found if result.size == chosen.size]
    assert abs(chosen.n_active - GROWTH_ACTIVE) == min(same_size)


def test_a_killed_study_loses_nothing(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "butfor", "study", "run", "--add", str(ADDED), "--datasets", "tiny"]
    command += ["--models", "plain", "--searches", "lime-c,shap-c", "--rows", "8", "--repeats", "200"]
    command += ["--tradeoff-rows", "0", "--jobs", "2", "--out", str(out)]
    running = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and _n_lines(out) < 20:
            time.sleep(0.05)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    half = read_study(out)
    assert 20 <= len(half.results) < 8 * 200 * 2
    settings = replace(SETTINGS, searches=("lime-c", "shap-c"), rows=8, repeats=2)
    resumed = run_study(settings, out)
    assert set(half.results) <= set(resumed.results)
    assert (out / FILE).exists()


def _n_lines(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in (out / JOURNAL).glob("*.jsonl"))
