"""What is on storage is held against the plan: by a check, by a run that goes on, and at the end of a run."""

import json
import shutil

import pytest
from batches import explainer, names, output, save, whole

from butfor import InputError
from butfor._files.inputs.locations import DataChangedError
from butfor.batch import check_batch, run_batch

PART = "part-00002.parquet"


def run(data, out, **options):
    return run_batch(explainer(), data, str(out), **{"engine": "here", "chunk_rows": 25, **options})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A matrix, what a run wrote of it, and what another run wrote of the same."""
    folder = tmp_path_factory.mktemp("written")
    data = save(folder / "X.npz")
    for name in ("out", "other"):
        run(data, folder / name)
    return data, folder / "out", folder / "other"


@pytest.fixture
def out(written, tmp_path):
    shutil.copytree(written[1], tmp_path / "out")
    return tmp_path / "out"


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)


DAMAGES = {
    "it is not there": lambda out, other: (out / PART).unlink(),
    "it is torn": lambda out, other: (out / PART).write_bytes((out / PART).read_bytes()[:-9]),
    "it is damaged: its checksum does not hold": lambda out, other: flip(out / PART),
    "it is a copy of part-00001.parquet": lambda out, other: shutil.copy(
        out / "part-00001.parquet", out / PART
    ),
    "it is of another run": lambda out, other: shutil.copy(other / PART, out / PART),
}


@pytest.mark.parametrize("problem", DAMAGES)
def test_a_part_that_is_not_what_it_must_be_is_named_and_done_again(written, out, problem):
    data, undisturbed, other = written
    assert check_batch(str(out)).is_complete
    DAMAGES[problem](out, other)
    found = check_batch(str(out))
    assert f"{PART}: {problem}" in str(found)
    assert "4 of 5 parts are there and whole, with 95 of 120 rows" in str(found)
    assert not found.is_complete
    summary = run(data, out)
    assert (summary.n_earlier, summary.is_clean) == (95, True)
    assert output(out) == output(undisturbed)
    assert check_batch(str(out)).is_complete


def test_what_readers_would_take_for_a_part_is_refused(written, out):
    shutil.copy(out / PART, out / "copy.parquet")
    found = check_batch(str(out))
    assert "copy.parquet: it is no part of this run: remove it" in str(found)
    assert (len(found.parts), found.is_complete) == (5, False)
    with pytest.raises(InputError, match=r"no others, got copy\.parquet"):
        run(written[0], out)


def test_what_cannot_be_checked(tmp_path, written, out):
    with pytest.raises(InputError, match=r"folder that butfor batch wrote to, got .* no _manifest\.json"):
        check_batch(str(tmp_path / "nowhere"))
    manifest = json.loads((out / "_manifest.json").read_text())
    del manifest["run"]
    (out / "_manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    for refused in (lambda: check_batch(str(out)), lambda: run(written[0], out)):
        with pytest.raises(InputError, match="an earlier version of butfor wrote without checksums"):
            refused()


def test_many_problems_are_not_all_told(written, tmp_path):
    run(written[0], tmp_path / "many", chunk_rows=4)
    for path in (tmp_path / "many").glob("part-*"):
        path.unlink()
    assert str(check_batch(str(tmp_path / "many"))).splitlines()[20:] == [
        "… and 10 more",
        f"{tmp_path}/many: 0 of 30 parts are there and whole, with 0 of 120 rows; run "
        + json.loads((tmp_path / "many/_manifest.json").read_text())["run"],
        "The command that wrote it does what is missing, and nothing twice.",
    ]


def when_done(n_rows, act):
    """Make what is told of progress, and acts once when so many rows are done."""
    acted = []

    def told(n_done, total):
        if n_done >= n_rows and not acted:
            acted.append(act())

    return told


def test_what_is_lost_during_a_run_is_not_done(written, tmp_path):
    data, undisturbed, _ = written
    out = tmp_path / "out"

    def lose():
        (out / "part-00000.parquet").unlink()
        flip(out / "part-00001.parquet")
        (out / "_manifest.json").unlink()

    summary = run(data, out, progress=when_done(75, lose))
    assert (summary.statistics.n_rows, summary.is_complete, summary.is_clean) == (70, False, False)
    for said in (
        "70 of 120 rows done",
        "lost: _manifest.json: it was removed during the run",
        "lost: part-00000.parquet: it is not there",
        "lost: part-00001.parquet: it is damaged",
        "The same command does what is missing",
    ):
        assert said in str(summary)
    assert json.loads((out / "_summary.json").read_text())["n_done"] == 70
    assert run(data, out).is_clean
    assert output(out) == output(undisturbed)
    assert names(out) == whole(5)


def test_a_folder_that_another_run_has_taken(written, tmp_path):
    data, _, other = written
    out = tmp_path / "out"

    def take():
        shutil.rmtree(out)
        shutil.copytree(other, out)

    summary = run(data, out, progress=when_done(75, take))
    assert "lost: _manifest.json: it was replaced during the run" in str(summary)
    assert not summary.is_complete
    assert (out / "_summary.json").read_bytes() == (other / "_summary.json").read_bytes()


@pytest.mark.parametrize("engine", ["here", "local"])
def test_data_that_changes_ends_the_run(written, tmp_path, engine):
    data, undisturbed, _ = written
    rows, out, was = tmp_path / "rows.npz", tmp_path / "out", tmp_path / "was.npz"
    shutil.copy(data, rows)

    def replace():
        rows.rename(was)
        shutil.copy(data, rows)

    with pytest.raises(DataChangedError, match=r"rows\.npz, which was replaced.* put that back and"):
        run(rows, out, progress=when_done(50, replace), engine=engine, jobs=1, chunk_rows=10)
    assert 5 <= len(list(out.glob("part-*"))) < 12
    was.replace(rows)
    assert run(rows, out, chunk_rows=10).is_clean
    assert output(out) == output(undisturbed)


def test_data_that_changes_at_the_very_end(written, tmp_path):
    rows = tmp_path / "rows.npz"
    shutil.copy(written[0], rows)
    with pytest.raises(DataChangedError, match="removed since the run began"):
        run(rows, tmp_path / "out", progress=when_done(120, rows.unlink))


def test_memory_that_workers_do_not_share(written):
    with pytest.raises(InputError, match="that other processes see, got memory://x, which is in the memory"):
        run(written[0], "memory://x", engine="local")
