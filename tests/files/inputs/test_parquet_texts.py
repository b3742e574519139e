"""Texts from Parquet, and what they have in common with those from CSV."""

import pickle

import pyarrow as pa
import pytest
from input_tables import TEXTS, open_texts, read_all, save, write_csv

from butfor import InputError

IDS = [f"00{i}" for i in range(len(TEXTS))]


@pytest.mark.parametrize("chunk_rows", [1, 3, 100])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_texts_come_back_as_they_were_saved(tmp_path, suffix, chunk_rows):
    path = tmp_path / f"x.{suffix}"
    if suffix == "parquet":
        save(path, {"id": IDS, "text": TEXTS}, row_group_size=2)
    else:
        rows = [("id", "text"), *zip(IDS, TEXTS, strict=True)]
        write_csv(path, rows, delimiter="," if suffix == "csv" else "\t")
    data = pickle.loads(pickle.dumps(open_texts(path)))
    assert (data.kind, data.holds_texts, data.id_type) == ("texts", True, "string")
    assert read_all(data, chunk_rows) == (IDS, TEXTS, {})


def test_a_bad_row_of_a_parquet_file_costs_no_other(tmp_path):
    validity, offsets, _ = pa.array(["one", "two", "six"]).buffers()
    texts = pa.Array.from_buffers(pa.string(), 3, [validity, offsets, pa.py_buffer(b"onet\xffosix")])
    path = save(tmp_path / "x.parquet", {"id": [1, 2, 3], "text": texts})
    ids, read, errors = read_all(open_texts(path))
    assert (ids, read) == ([1, 2, 3], ["one", "", "six"])
    assert list(errors) == [1]
    assert "a UTF-8 text, got one which holds the byte 0xff" in errors[1]
    path = save(tmp_path / "y.parquet", {"id": [1, None, 3], "text": ["one", "two", None]})
    ids, read, errors = read_all(open_texts(path))
    assert (ids, read) == ([1, None, 3], ["one", "", ""])
    assert errors == {
        1: "the row must have an id in the column 'id', got none.",
        2: "the row must have a text in the column 'text', got none.",
    }


def test_the_column_of_texts_is_the_only_one_besides_the_ids(tmp_path):
    path = save(tmp_path / "x.parquet", {"id": ["a"], "title": ["t"], "body": ["b"]})
    with pytest.raises(InputError, match="--text-column must name the column of DATA that holds the texts"):
        open_texts(path)
    assert read_all(open_texts(path, text="body"))[:2] == (["a"], ["b"])
    assert read_all(open_texts(path, text="id", id="title"))[:2] == (["t"], ["a"])
    with pytest.raises(InputError, match="--id-column and --text-column must differ, got 'body' for both"):
        open_texts(path, text="body", id="body")
    path = write_csv(tmp_path / "x.csv", [["id", "user", "text"], ["a", "b", "c"]])
    with pytest.raises(
        InputError, match="--id-column must name the column of ids, got no name where 'id' and"
    ):
        open_texts(path)
    with pytest.raises(InputError, match="--id-column must name one column of DATA"):
        open_texts(path, id="nobody")
    with pytest.raises(InputError, match="--id-column and --text-column must differ, got 'user' for both"):
        open_texts(path, text="user", id="user")
    assert read_all(open_texts(path, id="user", text="text"))[:2] == (["b"], ["c"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_rows_are_refused(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        write_csv(path, [["id", "text"]])
    else:
        save(path, {"text": pa.array([], pa.string())})
    with pytest.raises(InputError, match="at least one row"):
        next(open_texts(path, text="text").chunks(1))
