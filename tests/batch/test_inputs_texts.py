"""Texts from Parquet, CSV and TSV."""

import csv
import os
import pickle

import pyarrow as pa
import pytest
from batch_tables import read_all, save
from hypothesis import given
from hypothesis import strategies as st

from butfor import InputError
from butfor.batch.inputs import Columns, open_input

TEXTS = [
    "plain",
    "",
    "two\nlines",
    'a "quoted" word',
    "comma, semicolon;",
    "tab\tand\r\nreturn",
    "żółć 🙂",
    " ",
]
IDS = [f"00{i}" for i in range(len(TEXTS))]


def opened(*paths, **columns):
    return open_input([str(path) for path in paths], Columns(**columns), takes_texts=True)


def write_csv(path, rows, *, delimiter=",", encoding="utf-8", ends="\r\n"):
    with path.open("w", encoding=encoding, newline="") as file:
        quoting = csv.QUOTE_ALL if ends != "\r\n" else csv.QUOTE_MINIMAL  # which knows no other line ends
        csv.writer(file, delimiter=delimiter, lineterminator=ends, quoting=quoting).writerows(rows)
    return path


@pytest.mark.parametrize("chunk_rows", [1, 3, 100])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_texts_come_back_as_they_were_saved(tmp_path, suffix, chunk_rows):
    path = tmp_path / f"x.{suffix}"
    if suffix == "parquet":
        save(path, {"id": IDS, "text": TEXTS}, row_group_size=2)
    else:
        rows = [("id", "text"), *zip(IDS, TEXTS, strict=True)]
        write_csv(path, rows, delimiter="," if suffix == "csv" else "\t")
    data = pickle.loads(pickle.dumps(opened(path)))
    assert (data.kind, data.holds_texts, data.id_type) == ("texts", True, "string")
    assert read_all(data, chunk_rows) == (IDS, TEXTS, {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_bytes_are_counted_whatever_ends_a_line(tmp_path, encoding, ends):
    path = write_csv(
        tmp_path / "x.csv", [["text"], *([text] for text in TEXTS)], encoding=encoding, ends=ends
    )
    assert read_all(opened(path), chunk_rows=2) == (list(range(len(TEXTS))), TEXTS, {})


@given(
    texts=st.lists(st.text(st.sampled_from('ab,"\r\n\té🙂'), max_size=6), min_size=1, max_size=8),
    chunk_rows=st.integers(1, 4),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_text_survives(tmp_path_factory, texts, chunk_rows, ends):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    write_csv(path, [["n", "text"], *enumerate(texts)], ends=ends)
    _, read, errors = read_all(opened(path, text="text"), chunk_rows)
    assert read == texts
    assert not errors


def test_several_files_are_counted_on_and_may_order_their_columns(tmp_path):
    write_csv(tmp_path / "a.csv", [["text", "n"], ["one", 1], ["two", 2]])
    write_csv(tmp_path / "b.csv", [["text", "n"]])
    write_csv(tmp_path / "c.csv", [["n", "text"], [3, "three"], [], [4, "four"]])
    for chunk_rows in (1, 3, 9):
        read = read_all(opened(tmp_path / "*.csv"), chunk_rows)
        assert read == ([0, 1, 2, 3], ["one", "two", "three", "four"], {})
    write_csv(tmp_path / "d.csv", [["n", "message"], [5, "five"]])
    with pytest.raises(InputError, match=r"one column 'text' in each file, got .*d\.csv without"):
        next(opened(tmp_path / "*.csv").chunks(1))


def test_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text\n\n\none\n\n\ntwo\n\n")
    for chunk_rows in (1, 2):
        assert read_all(opened(path), chunk_rows) == ([0, 1], ["one", "two"], {})


def test_a_bad_row_of_a_csv_file_costs_no_other(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"text,id\none,a\ntwo,b,c\nthree\nf\xff\xfer,d\nfive,\xff\nsix,f\n")
    ids, texts, errors = read_all(opened(path), chunk_rows=2)
    assert ids == ["a", "b", None, "d", None, "f"]
    assert texts == ["one", "", "", "", "", "six"]
    assert errors == {
        1: "the row must have 2 cells, as the first line of DATA, got 3: quote a cell that holds the "
        "delimiter.",
        2: "the row must have an id in the column 'id', got none.",
        3: "the row must have a UTF-8 text, got one which holds the byte 0xff where UTF-8 has none such. "
        "Save the text as UTF-8.",
        4: "the row must have an id in the column 'id', got none.",
    }


def test_a_row_of_a_csv_file_without_its_text_is_an_error(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,text\na,one\nb\n")
    assert read_all(opened(path))[2] == {1: "the row must have a text in the column 'text', got none."}


def test_a_bad_row_of_a_parquet_file_costs_no_other(tmp_path):
    validity, offsets, _ = pa.array(["one", "two", "six"]).buffers()
    texts = pa.Array.from_buffers(pa.string(), 3, [validity, offsets, pa.py_buffer(b"onet\xffosix")])
    path = save(tmp_path / "x.parquet", {"id": [1, 2, 3], "text": texts})
    ids, read, errors = read_all(opened(path))
    assert (ids, read) == ([1, 2, 3], ["one", "", "six"])
    assert list(errors) == [1]
    assert "a UTF-8 text, got one which holds the byte 0xff" in errors[1]
    path = save(tmp_path / "y.parquet", {"id": [1, None, 3], "text": ["one", "two", None]})
    ids, read, errors = read_all(opened(path))
    assert (ids, read) == ([1, None, 3], ["one", "", ""])
    assert errors == {
        1: "the row must have an id in the column 'id', got none.",
        2: "the row must have a text in the column 'text', got none.",
    }


@pytest.mark.parametrize("row", [0, 5])
def test_a_broken_quote_is_refused_before_anything_is_explained(tmp_path, row):
    path = tmp_path / "x.csv"
    lines = ["text", *(f'"line {i}"' for i in range(6))]
    lines[row + 1] = '"a" b'
    path.write_text("\n".join(lines))
    with pytest.raises(
        InputError, match=rf"must be CSV, got .*: line {row + 2}: .* each quote in it be doubled"
    ):
        next(opened(path, text="text").chunks(2))


def test_a_line_is_counted_from_the_top_of_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('text\none\n"two\nlines"\nthree\nfour\n')
    data = opened(path)
    chunk = list(data.chunks(2))[1]
    time = path.stat().st_mtime_ns
    path.write_text('text\none\n"two\nlines"\nthree\n"f"r\n')
    os.utime(path, ns=(time, time))  # as if it had been so from the beginning
    with pytest.raises(InputError, match="line 6"):
        data.read(chunk)


def test_the_column_of_texts_is_the_only_one_besides_the_ids(tmp_path):
    path = save(tmp_path / "x.parquet", {"id": ["a"], "title": ["t"], "body": ["b"]})
    with pytest.raises(InputError, match="--text-column must name the column of DATA that holds the texts"):
        opened(path)
    assert read_all(opened(path, text="body"))[:2] == (["a"], ["b"])
    assert read_all(opened(path, text="id", id="title"))[:2] == (["t"], ["a"])
    with pytest.raises(InputError, match="--id-column and --text-column must differ, got 'body' for both"):
        opened(path, text="body", id="body")
    path = write_csv(tmp_path / "x.csv", [["id", "user", "text"], ["a", "b", "c"]])
    with pytest.raises(
        InputError, match="--id-column must name the column of ids, got no name where 'id' and"
    ):
        opened(path)
    with pytest.raises(InputError, match="--id-column must name one column of DATA"):
        opened(path, id="nobody")
    with pytest.raises(InputError, match="--id-column and --text-column must differ, got 'user' for both"):
        opened(path, text="user", id="user")
    assert read_all(opened(path, id="user", text="text"))[:2] == (["b"], ["c"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_rows_are_refused(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        write_csv(path, [["id", "text"]])
    else:
        save(path, {"text": pa.array([], pa.string())})
    with pytest.raises(InputError, match="at least one row"):
        next(opened(path, text="text").chunks(1))


def test_names_of_columns_must_be_utf8(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"t\xffxt\none\n")
    with pytest.raises(InputError, match=r"DATA must be UTF-8 text, got .* the byte 0xff"):
        opened(tmp_path / "x.csv")
