import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from input_tables import save

from butfor import InputError
from butfor._files.inputs import ColumnNames, open_input

NAMES = ("age", "income", "visits")


def opened(path, names=NAMES, n_features=3, **columns):
    return open_input(
        [str(path)], ColumnNames(**columns), takes_texts=False, n_features=n_features, names=names
    )


def read_all(data, chunk_rows=2):
    chunks = [data.read(chunk) for chunk in data.chunks(chunk_rows)]
    return [id for rows in chunks for id in rows.ids], np.concatenate([rows.content for rows in chunks])


@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_columns_are_put_into_the_order_of_the_model(tmp_path, chunk_rows):
    table = {
        "visits": pa.array([1, 0, 7], pa.int8()),
        "user": ["a", "b", "c"],
        "income": [Decimal("2.5"), Decimal("-1"), Decimal("0.5")],
        "age": [True, False, True],
    }
    data = opened(save(tmp_path / "x.parquet", table, row_group_size=2))
    data = pickle.loads(pickle.dumps(data))
    assert (data.kind, data.holds_texts, data.id_type) == ("wide table", False, "string")
    assert data.feature_names == NAMES
    ids, X = read_all(data, chunk_rows)
    assert ids == ["a", "b", "c"]
    assert X.tolist() == [[1, 2.5, 1], [0, -1, 0], [1, 0.5, 7]]


def test_files_of_other_numbers_are_counted_on(tmp_path):
    save(tmp_path / "x" / "a.parquet", {"age": [1], "income": [2.5], "visits": [3]})
    save(tmp_path / "x" / "b.parquet", {"visits": [6.5], "age": [4], "income": [5]})
    ids, X = read_all(opened(tmp_path / "x"))
    assert (ids, X.tolist()) == ([0, 1], [[1, 2.5, 3], [4, 5, 6.5]])


def test_a_bad_row_costs_no_other(tmp_path):
    table = {"id": [1, 2, None, 4], "age": [1, None, 3, 4], "income": [1, None, 3, None], "visits": [1] * 4}
    data = opened(save(tmp_path / "x.parquet", table))
    (chunk,) = data.chunks(9)
    rows = data.read(chunk)
    assert rows.ids == [1, 2, None, 4]
    assert rows.errors == {
        1: "the row must have a number in the column 'age', got none.",
        2: "the row must have an id in the column 'id', got none.",
        3: "the row must have a number in the column 'income', got none.",
    }
    assert rows.content.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


N, F, S = [1, 2], [0.5, 1.5], ["a", "b"]


@pytest.mark.parametrize(
    ("table", "options", "kind"),
    [
        ({"age": N, "income": N, "visits": N}, {}, "wide table"),
        ({"id": N, "feature": N, "value": F}, {}, "long table"),
        ({"id": N, "feature": N, "value": F}, {"names": ("id", "feature", "value")}, "wide table"),
        ({"user": S, "item": S, "age": F}, {"value": "age"}, "long table"),
        ({"x": F, "y": F, "z": F}, {"names": None}, "wide table"),
        ({"x": F, "y": F, "z": F, "id": S}, {"names": None}, "wide table"),
        ({"x": F, "y": F}, {"names": None, "n_features": None}, "wide table"),
        ({"user": N, "page": N}, {"names": None}, "long table"),
        ({"user": N, "page": N, "age": F}, {"names": None, "feature": ""}, "wide table"),
        ({"user": N, "page": N, "age": F}, {"names": None, "feature": "page"}, "long table"),
    ],
)
def test_which_form_a_table_has_follows_from_names_and_types(tmp_path, table, options, kind):
    assert opened(save(tmp_path / "x.parquet", table), **options).kind == kind


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (
            {"age": N, "income": N},
            {},
            "DATA must have a column for each feature of the model, 3 by name",
        ),
        ({"age": N, "income": N, "visits": S}, {}, "with the column 'visits' of string. Encode it"),
        ({"x": F, "y": F}, {"names": None}, "DATA must have 3 columns, as the model was fitted on, got "),
        (
            {"user": N, "page": N, "stars": F},
            {"names": None, "n_features": 2},
            '--feature-column must name the column of features, or be "" where each column is a feature: got '
            "no name where DATA may be either. Its columns are 'user', 'page', 'stars'.",
        ),
        ({"a": S, "b": S}, {}, "--id-column must name the column of ids"),
    ],
)
def test_what_may_be_either_or_is_neither_is_refused(tmp_path, table, options, message):
    path = save(tmp_path / "x.parquet", table)
    with pytest.raises(InputError) as raised:
        opened(path, **options)
    assert message in str(raised.value)
