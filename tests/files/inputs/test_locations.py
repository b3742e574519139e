import os
import re
import subprocess
import sys

import fsspec
import numpy as np
import pytest
from input_tables import as_lists, read_all, same, save, some_matrix
from scipy import sparse

from butfor import InputError
from butfor._extras import install_line
from butfor._files.inputs import ColumnNames, open_input
from butfor._files.inputs.locations import find_files


def names(*data):
    return [os.path.basename(path) for path in find_files([str(path) for path in data]).paths]


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.parquet",
        "a.pq",
        "_SUCCESS",
        "_old.parquet",
        ".b.parquet.crc",
        ".x.parquet",
        "day=2/c.parquet",
        "_tmp/d.parquet",
        "README.md",
    ):
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).touch()
    return tmp_path / "folder"


def test_a_folder_is_its_files_but_for_those_that_readers_ignore(folder):
    assert names(folder) == ["a.pq", "b.parquet", "c.parquet"]
    assert names(f"file://{folder}") == ["a.pq", "b.parquet", "c.parquet"]
    assert names(folder / "*.parquet") == ["b.parquet"]
    assert names(folder / "_old.parquet") == ["_old.parquet"]
    assert names(folder / "b.parquet", folder / "a.pq") == [
        "b.parquet",
        "a.pq",
    ]  # in the order they are given


def test_paths_are_found_from_any_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert find_files(["folder/b.parquet"]).paths == (str(folder / "b.parquet"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "DATA must be at least one file or folder, got none."),
        (["nothing.parquet"], "which is not there"),
        (["nothing-*.parquet"], "which is not there"),
        (
            ["README.md"],
            "DATA must end in one of .npz, .npy, .parquet, .pq, .csv, .tsv, .jsonl, .ndjson, .txt, got ",
        ),
        (["b.parquet", "."], "DATA must name each file once, got "),
        (["_tmp"], "_tmp with none"),
        (["b.parquet", "x.csv"], "DATA must be files of one kind, got Parquet and CSV or TSV."),
        (["y.tsv", "x.csv"], "DATA must be files of one kind, got CSV or TSV"),
        (["nowhere://b.parquet"], "DATA must be a path or a URL that fsspec knows, got nowhere://b.parquet"),
    ],
)
def test_what_cannot_be_read_is_refused(folder, monkeypatch, data, message):
    monkeypatch.chdir(folder)
    (folder / "_tmp" / "d.parquet").unlink()
    for name in ("x.csv", "y.tsv"):
        (folder / name).touch()
    if data == ["b.parquet", "."]:
        (folder / "x.csv").unlink()
        (folder / "y.tsv").unlink()
    with pytest.raises(InputError) as raised:
        find_files(data)
    assert message in str(raised.value)


@pytest.fixture
def memory():
    fs = fsspec.filesystem("memory")
    yield fs
    fs.rm("/inputs", recursive=True)


def test_anything_that_fsspec_reaches_is_read(tmp_path, memory):
    X = some_matrix()
    sparse.save_npz(tmp_path / "x.npz", X)
    save(tmp_path / "x.parquet", {"features": as_lists(X, X.indices), "values": as_lists(X, X.data)})
    (tmp_path / "x.csv").write_text("text\none\ntwo\n")
    for name in ("x.npz", "x.parquet", "x.csv"):
        memory.pipe(f"/inputs/{name}", (tmp_path / name).read_bytes())
    for name in ("x.npz", "x.parquet"):
        data = open_input([f"memory://inputs/{name}"], takes_texts=False, n_features=11)
        ids, rows, _ = read_all(data)
        assert ids == list(range(23))
        assert same(rows, X)
    texts = open_input(["memory://inputs/x.csv"], takes_texts=True)
    assert read_all(texts, 1)[1] == ["one", "two"]
    before = texts.fingerprint()
    assert open_input(["memory://inputs/*.csv"], takes_texts=True).fingerprint() == before
    memory.pipe("/inputs/x.csv", b"text\none\nTwo\n")
    assert open_input(["memory://inputs/x.csv"], takes_texts=True).fingerprint() != before


@pytest.mark.parametrize(
    ("name", "takes_texts", "columns", "message"),
    [
        ("x.npz", True, {}, "DATA must hold texts, as the model reads texts, got a matrix, "),
        ("x.npy", True, {}, "DATA must hold texts, as the model reads texts, got a matrix, "),
        ("x.txt", False, {}, "MODEL must read texts to explain texts, got one that takes rows of numbers"),
        ("x.csv", False, {}, "DATA must start with a line of names, one for each column of numbers, got "),
        ("x.csv", False, {"value": "v"}, "--value-column must be left out where DATA has a column for each"),
        ("x.csv", False, {"text": "t"}, "--text-column must be left out where DATA holds no texts."),
        ("x.txt", True, {"id": "id"}, "--id-column must be left out where DATA is text files."),
        ("x.npz", False, {"id": "id"}, "--id-column must be left out where DATA is a matrix."),
        ("x.csv", True, {"feature": "id"}, "--feature-column must be left out where DATA holds texts."),
        ("x.parquet", False, {"text": "id"}, "--text-column must be left out where DATA holds no texts."),
    ],
)
def test_files_and_options_must_fit_the_model(tmp_path, name, takes_texts, columns, message):
    (tmp_path / name).touch()
    with pytest.raises(InputError) as raised:
        open_input([str(tmp_path / name)], ColumnNames(**columns), takes_texts=takes_texts)
    assert message in str(raised.value)


@pytest.mark.parametrize(("missing", "extra"), [("fsspec.core", "batch"), ("pyarrow", "parquet")])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, missing, extra):
    path = save(tmp_path / "x.parquet", {"features": [[1]]})
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=rf"this needs {missing}, .*: {re.escape(install_line(extra))}"):
        open_input([f"file://{path}"], takes_texts=False)


def test_plain_paths_need_neither_fsspec_nor_pyarrow(tmp_path):
    code = (
        "import sys; sys.modules.update({'fsspec': None, 'pyarrow': None})\n"
        "from butfor._files import open_input, rows_of\n"
        "for data in (['X.npz'], ['X.npy'], ['w*.csv'], ['folder']):\n"
        "    print(len(list(rows_of(open_input(data, takes_texts=data == ['folder'], n_features=11)))))\n"
    )
    sparse.save_npz(tmp_path / "X.npz", some_matrix())
    np.save(tmp_path / "X.npy", some_matrix().toarray())
    (tmp_path / "wide.csv").write_text(",".join("abcdefghijk") + "\n" + "1,2,3,4,5,6,7,8,9,10,11\n" * 3)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mails.jsonl").write_text('"one"\n"two"\n')
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["23", "23", "3", "2"]


@pytest.mark.parametrize("chunk_rows", [0, 2.5])
def test_chunks_have_at_least_a_row(tmp_path, chunk_rows):
    sparse.save_npz(tmp_path / "x.npz", some_matrix())
    with pytest.raises(InputError, match="chunk_rows must be a whole number of at least 1"):
        next(open_input([str(tmp_path / "x.npz")], takes_texts=False).chunks(chunk_rows))
