"""Texts from CSV and TSV: where each record begins, and what a bad one costs."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from input_tables import TEXTS, open_texts, read_all, write_csv

from butfor import InputError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_bytes_are_counted_whatever_ends_a_line(tmp_path, encoding, ends):
    path = write_csv(
        tmp_path / "x.csv", [["text"], *([text] for text in TEXTS)], encoding=encoding, ends=ends
    )
    assert read_all(open_texts(path), chunk_rows=2) == (list(range(len(TEXTS))), TEXTS, {})


@given(
    texts=st.lists(st.text(st.sampled_from('ab,"\r\n\té🙂'), max_size=6), min_size=1, max_size=8),
    chunk_rows=st.integers(1, 4),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_text_survives(tmp_path_factory, texts, chunk_rows, ends):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    write_csv(path, [["n", "text"], *enumerate(texts)], ends=ends)
    _, read, errors = read_all(open_texts(path, text="text"), chunk_rows)
    assert read == texts
    assert not errors


def test_several_files_are_counted_on_and_may_order_their_columns(tmp_path):
    write_csv(tmp_path / "a.csv", [["text", "n"], ["one", 1], ["two", 2]])
    write_csv(tmp_path / "b.csv", [["text", "n"]])
    write_csv(tmp_path / "c.csv", [["n", "text"], [3, "three"], [], [4, "four"]])
    for chunk_rows in (1, 3, 9):
        read = read_all(open_texts(tmp_path / "*.csv"), chunk_rows)
        assert read == ([0, 1, 2, 3], ["one", "two", "three", "four"], {})
    write_csv(tmp_path / "d.csv", [["n", "message"], [5, "five"]])
    with pytest.raises(InputError, match=r"one column 'text' in each file, got .*d\.csv without"):
        next(open_texts(tmp_path / "*.csv").chunks(1))


def test_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text\n\n\none\n\n\ntwo\n\n")
    for chunk_rows in (1, 2):
        assert read_all(open_texts(path), chunk_rows) == ([0, 1], ["one", "two"], {})


def test_a_bad_row_of_a_csv_file_costs_no_other(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"text,id\none,a\ntwo,b,c\nthree\nf\xff\xfer,d\nfive,\xff\nsix,f\n")
    ids, texts, errors = read_all(open_texts(path), chunk_rows=2)
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
    assert read_all(open_texts(path))[2] == {1: "the row must have a text in the column 'text', got none."}


@pytest.mark.parametrize("row", [0, 5])
def test_a_broken_quote_is_refused_before_anything_is_explained(tmp_path, row):
    path = tmp_path / "x.csv"
    lines = ["text", *(f'"line {i}"' for i in range(6))]
    lines[row + 1] = '"a" b'
    path.write_text("\n".join(lines))
    with pytest.raises(
        InputError, match=rf"must be CSV, got .*: line {row + 2}: .* each quote in it be doubled"
    ):
        next(open_texts(path, text="text").chunks(2))


def test_a_line_is_counted_from_the_top_of_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('text\none\n"two\nlines"\nthree\nfour\n')
    data = open_texts(path)
    chunk = list(data.chunks(2))[1]
    time = path.stat().st_mtime_ns
    path.write_text('text\none\n"two\nlines"\nthree\n"f"r\n')
    os.utime(path, ns=(time, time))  # as if it had been so from the beginning
    with pytest.raises(InputError, match="line 6"):
        data.read(chunk)


def test_names_of_columns_must_be_utf8(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"t\xffxt\none\n")
    with pytest.raises(InputError, match=r"DATA must be UTF-8 text, got .* the byte 0xff"):
        open_texts(tmp_path / "x.csv")
