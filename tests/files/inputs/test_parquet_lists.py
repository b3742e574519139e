import pickle

import numpy as np
import pyarrow as pa
import pytest
from input_tables import as_lists, read_all, same, save, some_matrix

from butfor import InputError
from butfor._files.inputs import open_input

NAMES = [f"word {i}" for i in range(11)]


def opened(*paths, n_features=11, **options):
    return open_input(list(paths), takes_texts=False, n_features=n_features, **options)


@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
@pytest.mark.parametrize("row_group_size", [3, 1000])
def test_lists_become_the_matrix_they_were_made_from(tmp_path, chunk_rows, row_group_size):
    X = some_matrix()
    table = {"features": as_lists(X, X.indices), "values": as_lists(X, X.data)}
    data = opened(save(tmp_path / "x.parquet", table, row_group_size=row_group_size))
    assert (data.kind, data.holds_texts, data.id_type) == ("lists", False, "int")
    ids, rows, errors = read_all(pickle.loads(pickle.dumps(data)), chunk_rows)
    assert ids == list(range(23))
    assert same(rows, X)
    assert not errors


@pytest.mark.parametrize("wrap", [pa.list_, pa.large_list])
def test_features_may_be_names_and_rows_have_ids(tmp_path, wrap):
    X = some_matrix()
    names = as_lists(X, pa.array(NAMES).take(pa.array(X.indices)))
    table = {
        "user_id": [f"u{row}" for row in range(23)],
        "words": names.cast(wrap(pa.string())),
        "counts": as_lists(X, X.data),
    }
    data = opened(save(tmp_path / "x.parquet", table), names=NAMES)
    ids, rows, _ = read_all(data)
    assert data.id_type == "string"
    assert ids == table["user_id"]
    assert same(rows, X)


def test_names_may_be_a_dictionary_and_lists_of_one_length(tmp_path):
    names = pa.array(["b", "a", "b"]).dictionary_encode()
    table = {"items": pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), names)}
    _, X, _ = read_all(opened(save(tmp_path / "x.parquet", table), n_features=2, names=["a", "b"]))
    assert X.toarray().tolist() == [[0, 1], [1, 1]]
    pairs = {"items": pa.array([[0, 1], None, [1, 1]], pa.list_(pa.int16(), 2))}
    _, X, errors = read_all(opened(save(tmp_path / "y.parquet", pairs), n_features=2))
    assert X.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert list(errors) == [1]


def test_several_files_are_counted_on(tmp_path):
    X = some_matrix()
    for number, (begin, end) in enumerate([(0, 6), (6, 6), (6, 7), (7, 23)]):
        save(tmp_path / "x" / f"{number}.parquet", {"features": as_lists(X, X.indices)[begin:end]})
    ids, rows, _ = read_all(opened(str(tmp_path / "x")), chunk_rows=4)
    assert ids == list(range(23))
    assert same(rows, (X != 0).astype(float))


def test_a_bad_row_costs_no_other(tmp_path):
    table = {
        "id": [10, 11, 12, None, 14, 15, 16, 17, 18],
        "features": [[1], [2, 3], None, [4], [5, None], [6], [7], [11], []],
        "values": [[1.0], [1.0], [1.0], [1.0], [1.0, 1.0], None, [float("inf")], [1.0], []],
    }
    ids, X, errors = read_all(opened(save(tmp_path / "x.parquet", table)), chunk_rows=4)
    assert ids == table["id"]
    assert errors == {
        1: "the row must have as many values as features, got 1 and 2.",
        2: "the row must have a list in the column 'features', got none.",
        3: "the row must have an id in the column 'id', got none.",
        4: "the row must have a feature in 'features', got none.",
        5: "the row must have a list in the column 'values', got none.",
        6: "the row must have finite values, got inf for the feature 7.",
        7: "the row must have features from 0 to 10, got 11.",
    }
    assert np.argwhere(X.toarray()).tolist() == [[0, 1]]


def test_a_chunk_of_bad_rows_alone_is_read(tmp_path):
    table = {"features": pa.array([None, None], pa.list_(pa.int32()))}
    ids, X, errors = read_all(opened(save(tmp_path / "x.parquet", table)))
    assert (ids, X.shape, X.nnz, sorted(errors)) == ([0, 1], (2, 11), 0, [0, 1])


def test_the_fingerprint_follows_content_and_columns(tmp_path):
    from butfor._files.inputs import ColumnNames

    path = save(tmp_path / "x.parquet", {"a": [[1]], "b": [[2]]})
    a, b = (opened(path, columns=ColumnNames(feature=name, value="")).fingerprint() for name in "ab")
    assert a != b
    save(tmp_path / "x.parquet", {"a": [[3]], "b": [[2]]})
    assert opened(path, columns=ColumnNames(feature="a", value="")).fingerprint() != a


def test_a_table_without_rows_is_refused(tmp_path):
    path = save(tmp_path / "x.parquet", {"features": pa.array([], pa.list_(pa.int32()))})
    with pytest.raises(InputError, match="at least one row"):
        next(opened(path).chunks(1))


def test_ids_that_come_more_than_once_are_found(tmp_path):
    for ids, again in (
        (["a", "b", "c", "d"], []),
        (["d", "c", "b", "a"], []),
        (["b", "a", "d", "c"], []),
        (["b", "a", "b", "a"], ["b", "a"]),
        (["a", None, None, "b"], []),
        ([4, 9, 4, 1], [4]),
    ):
        table = {"id": ids, "features": [[1], [2], [3], [4]]}
        assert opened(save(tmp_path / "x.parquet", table)).repeated_ids() == again
    assert opened(save(tmp_path / "x.parquet", {"features": [[1], [2]]})).repeated_ids() == []
