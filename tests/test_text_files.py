"""Texts from files: what is read must be what was written, and a large file is never held whole."""

import csv
import sys
import tracemalloc
from itertools import islice

import pyarrow as pa
import pytest
from pyarrow import parquet

from butfor import InputError
from butfor.files import as_features, load_costs, load_groups, open_source

TEXTS = ["free prize, call now", 'say "yes"', "two\nlines", "", "naïve café — 免费", "x\ty"]


def read(*paths, texts=(), text_column=None, rows=()):
    source = open_source(paths, texts, text_column=text_column, rows=rows)
    assert source.holds_texts
    return list(source.items)


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
        assert [item.given for item in items] == TEXTS
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
        assert [item.given for item in items] == TEXTS
        assert str(missing.given) == "the row must have a text in the column 'body', got none."


def test_rows_come_in_the_order_in_which_they_are_asked_for(tmp_path):
    path = write_csv(tmp_path / "a.csv", [["body"], *([f"text {n}"] for n in range(50))])
    assert [item.given for item in read(path, rows=[40, 3, 40])] == ["text 40", "text 3", "text 40"]
    for row in (50, -1):
        with pytest.raises(InputError, match=rf"--row must be from 0 to 49, the rows of DATA, got {row}"):
            read(path, rows=[3, row])


def test_rows_of_a_wrong_length_are_told_and_the_others_are_not_lost(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,body\n1,fine\n2\n3,not, quoted\n\n4,fine too\n", encoding="utf-8")
    fine, short, long, last = (item.given for item in read(path))
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
    source = open_source([path], [], text_column="body", rows=[])
    tracemalloc.start()
    assert sum(1 for _ in source.items) == n_rows
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.3 * n_rows * len(text)


def test_a_cell_may_be_as_long_as_a_book(tmp_path):
    path = write_csv(tmp_path / "a.csv", [["body"], ["word " * 100_000]])
    assert len(read(path)[0].given) == 500_000


def test_reading_starts_before_the_end_is_known(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"body\n" + b"fine\n" * 100_000 + b"caf\xe9\n")
    items = open_source([path], [], text_column=None, rows=[]).items
    assert [item.given for item in islice(items, 3)] == ["fine"] * 3
    with pytest.raises(InputError, match=r"must be UTF-8 text, got .* 0xe9 .* Save the text as UTF-8"):
        list(items)


def test_text_files_are_one_text_each(tmp_path):
    for name, content in (("a.txt", b"\xef\xbb\xbffree\r\nprize"), ("b.TXT", b"mum"), ("c.txt", b"caf\xe9")):
        (tmp_path / name).write_bytes(content)
    a, b, c = read(tmp_path / "a.txt", tmp_path / "b.TXT", tmp_path / "c.txt")
    assert (a.given, b.given) == ("free\nprize", "mum")
    assert a.label == str(tmp_path / "a.txt")
    assert "must be UTF-8 text" in str(c.given)


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
    with pytest.raises(InputError, match="DATA must be a Parquet file"):
        read(path)
    parquet.write_table(pa.table({"id": [1], "label": ["ham"], "body": ["hi"]}), path)
    with pytest.raises(InputError, match=r"--text-column must hold texts, got 'id' of int64"):
        read(path, text_column="id")
    with pytest.raises(InputError, match=r"columns are 'id', 'label', 'body'"):
        read(path)


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"body": ["hi"]}), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'pip install "butfor\[parquet\]"'):
        read(tmp_path / "a.parquet")


def test_groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text('feature,group\n"a, b",horror\n7,horror\n7,drama\n\n', encoding="utf-8-sig")
    assert load_groups(path) == {"a, b": ["horror"], "7": ["horror", "drama"]}
    assert as_features(load_groups(path), ()) == {"a, b": ["horror"], 7: ["horror", "drama"]}
    (tmp_path / "groups.json").write_text('["horror", null]')
    assert as_features(load_groups(tmp_path / "groups.json"), ()) == ["horror", None]


def test_costs(tmp_path):
    (tmp_path / "costs.csv").write_text("feature,cost\na,2\nb,0.5\n")
    (tmp_path / "costs.json").write_text('{"a": 2, "b": 0.5}')
    for name in ("costs.csv", "costs.json"):
        assert load_costs(tmp_path / name) == {"a": 2, "b": 0.5}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "a,2\n", "--costs must start with feature,cost, got 'a,2'"),
        ("a.csv", "", "--costs must start with feature,cost, got ''"),
        ("a.csv", "feature,cost\na,b,2\n", "two cells a line, got 3 in line 2: quote a cell"),
        ("a.csv", "feature,cost\na,dear\n", "a number for each feature, got 'dear' in line 2"),
        ("a.csv", "feature,cost\na,1\na,2\n", "name a feature once, got 'a' again in line 3"),
        ("a.csv", 'feature,cost\n"a,1\n', "--costs must be CSV"),
        ("a.json", "{", "--costs must be JSON"),
        ("a.json", "[" * 100_000, "--costs must be JSON"),
        ("a.json", "3", "--costs must hold a JSON object"),
    ],
)
def test_bad_costs(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        load_costs(tmp_path / name)
