import json
from dataclasses import asdict, replace

import pyarrow.parquet as pq
import pytest

from butfor import InputError
from butfor.study.results import Case, Result, Study
from butfor.study.store import ABOUT, FILE, JOURNAL, append, is_study, read_study, write_about, write_study

CASE = Case(
    dataset="airline",
    kind="text",
    target="sentiment",
    model="rbf-svm",
    linear=False,
    n_rows=10,
    n_features=20,
    positive_percent=10.0,
    sparsity_percent=90.0,
    n_test=2,
    n_positive=1,
    n_explained=1,
    mean_active=2.0,
    auc=0.9,
    threshold=0.25,
    parameters="C=1.0",
    fingerprint="abc",
)
RESULT = Result(
    part="main",
    dataset="airline",
    model="rbf-svm",
    search="lime-c:n_samples=500",
    row=7,
    repeat=1,
    max_size=30,
    n_active=12,
    status="found",
    size=2,
    lower_bound=1,
    n_scored=5000,
    seconds=0.123456,
    columns=(3, 1),
    reason="",
)
FAILED = replace(RESULT, repeat=2, status="error", size=0, columns=(), reason="Error: é\n<b>")
RUN = {"command": "butfor study run", "settings": {"seed": 0}, "finished": True}
STUDY = Study({"runs": [RUN]}, (CASE,), (RESULT, FAILED))


def test_what_is_written_is_read(tmp_path):
    assert write_study(tmp_path, STUDY) == tmp_path / FILE
    assert read_study(tmp_path) == read_study(tmp_path / FILE) == STUDY
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_any_parquet_reader_understands_it(tmp_path):
    table = pq.read_table(write_study(tmp_path, STUDY))
    assert table.num_rows == 2
    assert table["columns"].to_pylist() == [[3, 1], []]
    assert table["search"].to_pylist() == [RESULT.search] * 2


def test_the_journal_is_read_until_the_file_takes_its_place(tmp_path):
    write_about(tmp_path, STUDY.about, STUDY.cases)
    append(tmp_path / JOURNAL, RESULT)
    assert read_study(tmp_path).results == (RESULT,)
    append(tmp_path / JOURNAL, FAILED)
    assert read_study(tmp_path) == STUDY
    write_study(tmp_path, read_study(tmp_path))
    assert not (tmp_path / JOURNAL).exists()
    assert read_study(tmp_path) == STUDY


def test_a_torn_line_is_left_out(tmp_path):
    write_about(tmp_path, STUDY.about, STUDY.cases)
    line = json.dumps(asdict(RESULT))
    (tmp_path / JOURNAL / "1-2.jsonl").write_text(f"{line}\n{line[:40]}")
    append(tmp_path / JOURNAL, FAILED)
    assert read_study(tmp_path).results == (RESULT, FAILED)


def test_the_journal_goes_on_from_the_file(tmp_path):
    write_study(tmp_path, replace(STUDY, results=(RESULT,)))
    other = replace(CASE, model="linear-svm")
    write_about(tmp_path, {"runs": [RUN, RUN | {"finished": False}]}, [CASE, other])
    append(tmp_path / JOURNAL, FAILED)
    study = read_study(tmp_path)
    assert study.results == (RESULT, FAILED)
    assert study.cases == (CASE, other)
    assert not study.finished


def test_a_journal_counts_only_when_it_is_whole(tmp_path):
    write_about(tmp_path, STUDY.about, STUDY.cases)
    (tmp_path / JOURNAL / ABOUT).unlink()  # killed between the two files
    assert not is_study(tmp_path)


def test_strange_characters(tmp_path):
    strange = replace(FAILED, reason="line\u2028separator")
    write_about(tmp_path, STUDY.about, STUDY.cases)
    append(tmp_path / JOURNAL, strange)
    assert read_study(tmp_path).results == (strange,)


def test_no_limit_is_too_large(tmp_path):
    large = replace(RESULT, max_size=40_000)
    write_study(tmp_path, replace(STUDY, results=(large,)))
    assert read_study(tmp_path).results == (large,)


def test_no_study_there(tmp_path):
    with pytest.raises(InputError, match="DIR must be the folder of a study"):
        read_study(tmp_path)


def test_not_a_result_file(tmp_path):
    (tmp_path / FILE).write_text("nonsense")
    with pytest.raises(InputError, match="DIR must hold results of `butfor study run`"):
        read_study(tmp_path)


def test_half_an_about_is_never_there(tmp_path):
    write_about(tmp_path, STUDY.about, STUDY.cases)
    write_about(tmp_path, {"runs": []}, STUDY.cases)
    assert json.loads((tmp_path / JOURNAL / ABOUT).read_text()) == {"runs": []}
    assert not list((tmp_path / JOURNAL).glob("*.part"))
