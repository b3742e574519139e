import datetime
import pickle
import uuid
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from input_tables import read_all, records, same, save, some_matrix

from butfor import InputError
from butfor._files.inputs import ColumnNames, open_input

NAMES = [f"word {i}" for i in range(11)]


def opened(*paths, n_features=11, **options):
    return open_input(list(paths), takes_texts=False, n_features=n_features, **options)


def long_form(X, feature=lambda columns: columns):
    rows, columns, values = records(X)
    return {"id": rows, "feature": feature(columns), "value": values}


def without_empty_rows(X):
    return X[np.flatnonzero(np.diff(X.indptr))]


@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
@pytest.mark.parametrize("row_group_size", [3, 1000])
def test_records_become_the_matrix_they_were_made_from(tmp_path, chunk_rows, row_group_size):
    X = some_matrix()
    data = opened(save(tmp_path / "x.parquet", long_form(X), row_group_size=row_group_size))
    assert (data.kind, data.holds_texts, data.id_type) == ("long table", False, "int")
    ids, rows, errors = read_all(pickle.loads(pickle.dumps(data)), chunk_rows)
    assert ids == [row for row in range(23) if row != 3]
    assert same(rows, without_empty_rows(X))
    assert rows.has_canonical_format
    assert not errors


@pytest.mark.parametrize("id_type", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_ids_and_features_may_be_strings(tmp_path, id_type):
    X = some_matrix()
    rows, columns, values = records(X)
    names = pa.array(NAMES).take(pa.array(columns))
    table = {"user": pa.array(rows).cast(pa.string()).cast(id_type), "item": names, "rating": values}
    data = opened(save(tmp_path / "x.parquet", table), names=NAMES)
    ids, read, _ = read_all(data, chunk_rows=4)
    assert data.id_type == "string"
    assert ids == [str(row) for row in range(23) if row != 3]
    assert same(read, without_empty_rows(X))


def test_rows_may_go_on_in_the_next_file(tmp_path):
    X = some_matrix()
    table = pa.table(long_form(X))
    cuts = [0, 2, 2, 40, 41, len(table)]  # one file of them is empty
    for number, (begin, end) in enumerate(pairwise(cuts)):
        part = table.slice(begin, end - begin)
        if number == 3:  # what makes no difference may differ
            part = part.set_column(0, "id", part["id"].cast(pa.int16()))
            part = part.set_column(2, "value", part["value"].cast(pa.float32()))
        save(tmp_path / "folder" / f"part-{number}.parquet", part)
    for chunk_rows in (1, 5, 22):
        ids, rows, _ = read_all(opened(str(tmp_path / "folder")), chunk_rows)
        assert ids == [row for row in range(23) if row != 3]
        assert same(rows, without_empty_rows(X))


ROW = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=4)


@given(
    rows=st.dictionaries(st.integers(-5, 5), ROW, min_size=1, max_size=8),
    has_values=st.booleans(),
    chunk_rows=st.integers(1, 9),
    row_group_size=st.integers(1, 9),
)
def test_any_records_are_read_as_a_dict_reads_them(
    tmp_path_factory, rows, has_values, chunk_rows, row_group_size
):
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    flat = [(id, feature, value) for id, row in rows.items() for feature, value in row]
    table = dict(zip(("id", "feature", "value"), map(list, zip(*flat, strict=True)), strict=True))
    data = opened(save(path, table, row_group_size=row_group_size), n_features=5, columns=None)
    if not has_values:
        data = opened(str(path), n_features=5, columns=ColumnNames(value=""))
    ids, X, _ = read_all(data, chunk_rows)
    assert ids == list(rows)  # in the order of the file
    for row, dense in zip(rows.values(), X.toarray(), strict=True):
        expected = [0.0] * 5
        for feature, value in row:
            expected[feature] = expected[feature] + value if has_values else 1.0
        assert dense.tolist() == expected


def test_without_values_each_feature_is_one_however_often_it_comes(tmp_path):
    path = save(tmp_path / "x.parquet", {"user_id": [7, 7, 7, 8], "page": [2, 0, 2, 1]})
    ids, X, _ = read_all(opened(path, n_features=3))
    assert ids == [7, 8]
    assert X.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("kind", "values", "total"),
    [
        (pa.int8(), [100, 100], 200.0),
        (pa.bool_(), [True, True], 2.0),
        (pa.decimal128(9, 2), [Decimal("1.50"), Decimal("2.25")], 3.75),
        (pa.float32(), [0.5, 0.25], 0.75),
        (pa.float16(), [0.5, 0.25], 0.75),
    ],
)
def test_values_of_a_feature_are_added_up_without_overflow(tmp_path, kind, values, total):
    table = {"id": [1, 1], "feature": [2, 2], "value": pa.array(values, kind)}
    _, X, _ = read_all(opened(save(tmp_path / "x.parquet", table), n_features=3))
    assert X.toarray().tolist() == [[0, 0, total]]
    assert X.dtype == (np.float32 if kind == pa.float32() else np.float64)


@pytest.mark.parametrize(
    ("ids", "read"),
    [
        (pa.array([2**63, 2**63, 1], pa.uint64()), ["9223372036854775808", "1"]),
        (pa.array([datetime.date(2026, 1, 2)] * 3), ["2026-01-02"]),
        (pa.array([5, 5, 6], pa.timestamp("ms")), ["1970-01-01 00:00:00.005", "1970-01-01 00:00:00.006"]),
        (pa.array([Decimal(5), Decimal(5), None]), ["5", None]),
    ],
)
def test_ids_of_other_types_are_strings(tmp_path, ids, read):
    data = opened(save(tmp_path / "x.parquet", {"id": ids, "feature": [0, 1, 2]}))
    assert data.id_type == "string"
    assert read_all(data)[0] == read


def test_ids_may_be_uuids(tmp_path):
    a, b, c = (uuid.UUID(int=number) for number in (8, 7, 9))
    stored = pa.array([a.bytes, a.bytes, None, b.bytes, c.bytes], pa.binary(16))
    ids = pa.ExtensionArray.from_storage(pa.uuid(), stored)
    path = save(tmp_path / "x.parquet", {"id": ids, "feature": range(5)})
    assert read_all(opened(path))[0] == [str(a), None, str(b), str(c)]


BAD = [
    ("feature", None, "the row must have a feature in 'feature', got none."),
    ("feature", -1, "the row must have features from 0 to 10, got -1."),
    ("feature", 11, "the row must have features from 0 to 10, got 11."),
    ("value", None, "the row must have values in 'value', got none for the feature 3."),
    ("value", float("nan"), "the row must have finite values, got nan for the feature 3."),
    ("value", float("-inf"), "the row must have finite values, got -inf for the feature 3."),
    ("id", None, "the row must have an id in the column 'id', got none."),
]


@pytest.mark.parametrize(("column", "cell", "error"), BAD)
def test_a_bad_record_costs_its_row_and_no_other(tmp_path, column, cell, error):
    table = {"id": [1, 2, 3], "feature": [5, 3, 6], "value": [1.0, 2.0, 3.0]}
    table[column][1] = cell
    ids, X, errors = read_all(opened(save(tmp_path / "x.parquet", table)))
    assert errors == {1: error}
    assert ids == [1, None if column == "id" else 2, 3]
    assert X.toarray().nonzero()[1].tolist() == [5, 6]
    assert X[1].nnz == 0


def test_the_first_thing_wrong_with_a_row_is_said(tmp_path):
    table = {"id": [1, 1, 1, 2], "feature": ["word 1", "wrod 2", "wrod 3", "word 4"]}
    _, X, errors = read_all(opened(save(tmp_path / "x.parquet", table), names=NAMES))
    assert errors == {0: "the row must have features that --names holds, got 'wrod 2'."}
    assert X.toarray().nonzero()[1].tolist() == [4]


def test_records_without_an_id_that_stand_together_are_one_row(tmp_path):
    table = {"id": [None, None, 4, 4, None], "feature": [0, 1, 2, 3, 4]}
    ids, X, errors = read_all(opened(save(tmp_path / "x.parquet", table)), chunk_rows=2)
    assert ids == [None, 4, None]
    assert sorted(errors) == [0, 2]
    assert X.getnnz(axis=1).tolist() == [0, 2, 0]


@pytest.mark.parametrize(
    "ids", [[1, 2, 3], [3, 2, 1], [2, 3, 1], ["b", "a", "c"], ["a", "B", "c"], [None, 2, None, 1, 3]]
)
def test_ids_may_come_in_any_order(tmp_path, ids):
    path = save(tmp_path / "x.parquet", {"id": ids, "feature": [0] * len(ids)}, row_group_size=2)
    assert read_all(opened(path))[0] == ids


@pytest.mark.parametrize("ids", [[1, 2, 1], [3, 1, 2, 2, 1], ["b", "a", "b"], [2, None, 2]])
def test_an_id_that_comes_back_is_refused_before_anything_is_explained(tmp_path, ids):
    path = save(tmp_path / "x.parquet", {"id": ids, "feature": [0] * len(ids)})
    message = f"all records of an id together, got {ids[-1]!r} in two places. Sort it, in DuckDB: COPY"
    with pytest.raises(InputError) as raised:
        next(opened(path).chunks(1))
    assert message in str(raised.value)


def test_the_advice_on_sorting_works(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = save(tmp_path / "x.parquet", {"id": [1, 2, 1], "feature": [0, 1, 2]})
    with pytest.raises(InputError) as raised:
        next(opened(path).chunks(1))
    advice = str(raised.value).partition("in DuckDB: ")[2]
    duckdb.sql(advice.replace("sorted.parquet", str(tmp_path / "sorted.parquet")))
    ids, X, _ = read_all(opened(str(tmp_path / "sorted.parquet")))
    assert ids == [1, 2]
    assert X.getnnz(axis=1).tolist() == [2, 1]


def test_ids_that_share_a_key_are_told_apart(tmp_path, monkeypatch):
    from butfor._files.inputs import parquet_long

    monkeypatch.setattr(
        parquet_long, "keys_of", lambda array: np.zeros(len(array.drop_null()), dtype=np.int64)
    )
    path = save(tmp_path / "x.parquet", {"id": ["b", "a", "c"], "feature": [0, 0, 0]})
    assert read_all(opened(path))[0] == ["b", "a", "c"]


def test_how_many_columns_there_are_must_be_known(tmp_path):
    path = save(tmp_path / "x.parquet", {"id": [1], "feature": [0]})
    with pytest.raises(InputError, match="--names must be given where the model does not say how many"):
        opened(path, n_features=None)
    assert read_all(opened(path, n_features=None, names=NAMES))[1].shape == (1, 11)


def test_names_must_be_known_and_differ_where_features_are_names(tmp_path):
    path = save(tmp_path / "x.parquet", {"id": [1], "feature": ["word 1"]})
    with pytest.raises(
        InputError, match="--names must be given where DATA names its features, as in 'feature'"
    ):
        opened(path)
    with pytest.raises(
        InputError, match="--names must differ where DATA has them for features, got 'a' twice"
    ):
        opened(path, n_features=3, names=["a", "b", "a"])
    with pytest.raises(InputError, match="--names must be 11, one for each column of the model, got 2"):
        opened(path, names=["a", "b"])


def test_a_table_without_records_is_refused(tmp_path):
    path = save(tmp_path / "x.parquet", {"id": pa.array([], pa.int64()), "feature": pa.array([], pa.int64())})
    with pytest.raises(InputError, match="at least one row"):
        next(opened(path).chunks(1))


def test_a_name_that_is_no_utf8_is_the_error_of_its_row(tmp_path):
    validity, offsets, _ = pa.array(["a", "b", "a"]).buffers()
    features = pa.Array.from_buffers(pa.string(), 3, [validity, offsets, pa.py_buffer(b"a\xffa")])
    path = save(tmp_path / "x.parquet", {"id": [1, 2, 3], "feature": features})
    assert read_all(opened(save(tmp_path / "y.parquet", {"id": features[:2], "feature": [0, 1]})))[0] == [
        "a",
        "\\xff",
    ]
    _, X, errors = read_all(opened(path, n_features=2, names=["a", "b"]))
    assert errors == {1: "the row must have features that --names holds, got b'\\xff'."}
    assert X.toarray().tolist() == [[1, 0], [0, 0], [1, 0]]
