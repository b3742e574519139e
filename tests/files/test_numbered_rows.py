"""Rows one by one: what is read must be what was written, and a large file is never held whole."""

import csv
import re
import sys
import tracemalloc
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from butfor import InputError
from butfor._extras import install_line
from butfor._files import ColumnNames, open_input, rows_of

TEXTS = ["free prize, call now", 'say "yes"', "two\nlines", "", "naïve café — 免费", "x\ty"]


def opened(*paths, text_column=None):
    data = open_input([str(path) for path in paths], ColumnNames(text=text_column), takes_texts=True)
    assert data.holds_texts
    return data


def read(*paths, text_column=None, rows=()):
    return list(rows_of(opened(*paths, text_column=text_column), [str(row) for row in rows]))


def write_csv(path, lines, **dialect):
    with path.open("w", newline="", encoding=dialect.pop("encoding", "utf-8")) as file:
        csv.writer(file, **dialect).writerows(lines)
    return path


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("a.csv", {}),
        ("a.CSV", {"encoding": "utf-8-sig"}),
        ("a.tsv", {"delimiter": "\t"}),
        ("a.csv", {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"}),
    ],
)
def test_delimited_files(tmp_path, name, dialect):
    lines = [["id", "body"], *([n, text] for n, text in enumerate(TEXTS))]
    path = write_csv(tmp_path / name, lines, **dialect)
    for column in ("body", None):  # the only column with texts may be left out
        items = read(path, text_column=column)
        assert [item.row for item in items] == TEXTS
        assert [item.label for item in items] == [f"row {n}" for n in range(len(TEXTS))]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_parquet_files(tmp_path, kind):
    path = tmp_path / "a.parquet"
    texts = pa.array([*TEXTS, None], pa.string())
    texts = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    parquet.write_table(pa.table({"id": range(len(texts)), "body": texts}), path, row_group_size=2)
    for column in ("body", None):
        *items, missing = read(path, text_column=column)
        assert [item.row for item in items] == TEXTS
        assert str(missing.row) == "the row must have a text in the column 'body', got none."


def test_rows_come_in_the_order_in_which_they_are_asked_for(tmp_path):
    path = write_csv(tmp_path / "a.csv", [["body"], *([f"text {n}"] for n in range(50))])
    assert [item.row for item in read(path, rows=[40, 3, 40])] == ["text 40", "text 3", "text 40"]
    for row in (50, -1):
        with pytest.raises(InputError, match=rf"--row must be from 0 to 49, the rows of DATA, got {row}"):
            read(path, rows=[3, row])


def test_rows_may_be_picked_by_their_ids(tmp_path):
    path = write_csv(tmp_path / "a.csv", [["id", "body"], *([f"u{n % 40}", f"text {n}"] for n in range(50))])
    items = read(path, rows=["id=u3", 7, "id=u39"])
    assert [(item.number, item.label, item.row) for item in items] == [
        (3, "row u3", "text 3"),  # the first of two
        (7, "row 7", "text 7"),
        (39, "row u39", "text 39"),
    ]
    with pytest.raises(InputError, match="--row must be the id of a row of DATA, got id=u40, which no"):
        read(path, rows=["id=u40"])
    with pytest.raises(InputError, match="--row must be the number of a row, or id=ID, got 'u3'"):
        read(path, rows=["u3"])


def test_no_more_is_read_than_a_pick_needs(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("body\n" + "fine\n" * 5_000 + '"open', encoding="utf-8")
    assert [item.row for item in read(path, rows=[2_000])] == ["fine"]
    with pytest.raises(InputError, match="DATA must be CSV"):
        read(path, rows=[6_000])
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"body": [f"text {n}" for n in range(5_000)]}), path, row_group_size=1_000)
    data = opened(path)
    assert [first for first, _ in data.blocks([4_999, 2_000])] == [2_000, 4_000]
    assert [item.row for item in rows_of(data, ["4999", "2000"])] == ["text 4999", "text 2000"]


def test_rows_of_a_wrong_length_are_told_and_the_others_are_not_lost(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,body\n1,fine\n2\n3,not, quoted\n\n4,fine too\n", encoding="utf-8")
    fine, short, long, last = (item.row for item in read(path))
    assert (fine, last) == ("fine", "fine too")
    assert "must have a text in the column 'body', got none" in str(short)
    assert "must have 2 cells, as the first line of DATA, got 3: quote a cell" in str(long)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_large_table_is_never_held_whole(tmp_path, suffix):
    path, n_rows, text = tmp_path / f"a.{suffix}", 20_000, "word " * 400
    if suffix == "csv":
        write_csv(path, [["body"], *([text] for _ in range(n_rows))])
    else:
        parquet.write_table(pa.table({"body": [f"{n} {text}" for n in range(n_rows)]}), path)
    data = opened(path, text_column="body")
    tracemalloc.start()
    assert sum(1 for _ in rows_of(data)) == n_rows
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.3 * n_rows * len(text)


def test_a_cell_may_be_as_long_as_a_book(tmp_path):
    path = write_csv(tmp_path / "a.csv", [["body"], ["word " * 100_000]])
    assert len(read(path)[0].row) == 500_000


def test_reading_starts_before_the_end_is_known(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"body\n" + b"fine\n" * 100_000 + b"caf\xe9\n")
    items = rows_of(opened(path))
    assert [item.row for item in islice(items, 3)] == ["fine"] * 3
    *_, last = items
    with pytest.raises(InputError, match=r"a UTF-8 text, got .* 0xe9 .* Save the text as UTF-8"):
        raise last.row  # of this row alone; the others are not lost


def test_text_files_are_one_text_each(tmp_path):
    for name, content in (("a.txt", b"\xef\xbb\xbffree\r\nprize"), ("b.TXT", b"mum"), ("c.txt", b"caf\xe9")):
        (tmp_path / name).write_bytes(content)
    a, b, c = read(tmp_path / "a.txt", tmp_path / "b.TXT", tmp_path / "c.txt")
    assert (a.row, b.row) == ("free\nprize", "mum")
    assert a.label == str(tmp_path / "a.txt")
    assert "must be UTF-8 text" in str(c.row)


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (
            "id,label,body\n1,ham,hi\n",
            None,
            r"--text-column must name the .* columns are 'id', 'label', 'body'",
        ),
        ("id,n\n1,2\n", None, r"got no name where 0 do"),
        (
            "id,body\n1,hi\n",
            "text",
            r"--text-column must name one column of DATA \('id', 'body'\), got 'text'",
        ),
        ("body,body\nhi,ho\n", "body", "--text-column must name one column"),
        ("body\n", "body", "DATA must have at least one row, got none"),
        ("", "body", r"--text-column must name one column of DATA \(none\)"),
        ('id,body\n1,"hi\n2,ho\n', "body", r"DATA must be CSV, got .*: line 3: unexpected end of data"),
        ('id,body\n1,"hi" there\n', "body", "each quote in it be doubled"),
    ],
)
def test_bad_tables(tmp_path, content, column, message):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read(path, text_column=column)


def test_bad_parquet_files(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="DATA must be Parquet files"):
        read(path)
    parquet.write_table(pa.table({"id": [1], "label": ["ham"], "body": ["hi"]}), path)
    with pytest.raises(InputError, match=r"--text-column must hold texts, got 'id' of int64"):
        read(path, text_column="id")
    with pytest.raises(InputError, match=r"columns are 'id', 'label', 'body'"):
        read(path)


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"body": ["hi"]}), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=re.escape(install_line("parquet"))):
        read(tmp_path / "a.parquet")


def test_rows_of_a_matrix(tmp_path):
    X = sparse.random(60, 8, 0.4, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "X.npz", X.tocsc())
    data = open_input([str(tmp_path / "X.npz")], takes_texts=False)
    assert not data.holds_texts
    rows = [item.row for item in rows_of(data)]
    assert {row.format for row in rows} == {"csr"}
    assert {row.shape for row in rows} == {(1, 8)}
    assert (sparse.vstack(rows) != X).nnz == 0
    np.savez(tmp_path / "dense.npz", X=X.toarray())
    for name in ("dense.npz", "nowhere.npz"):
        with pytest.raises(InputError, match="DATA must be"):
            open_input([str(tmp_path / name)], takes_texts=False)
