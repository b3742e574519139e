"""Records of all forms, and copies of them with other cells, in the user's own dtypes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from butfor.errors import InputError
from butfor.models.records.record_table import (
    GONE,
    DictTable,
    FrameTable,
    ListTable,
    as_record_table,
    is_record,
)

FRAME = pd.DataFrame(
    {
        "country": pd.Series(["US", "AT"]),
        "plan": pd.Series(["free", "pro"], dtype="category"),
        "age": pd.Series([30, 40]),
        "visited": [["shop"], []],
    }
)


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))], ids=["pandas", "polars"])
def test_copies_have_changed_cells_and_the_same_types(frame):
    table = FrameTable(frame)
    changes = {"country": {1: "(unknown)"}, "plan": {0: "other"}, "visited": {2: ["x"]}}
    copies = table.copies(np.array([0, 0, 1]), changes)
    assert copies["country"].to_list() == ["US", "(unknown)", "AT"]
    assert copies["plan"].to_list() == ["other", "free", "pro"]
    assert copies["visited"].to_list() == [["shop"], ["shop"], ["x"]]
    assert copies["age"].to_list() == [30, 30, 40]
    assert str(copies["age"].dtype) == str(frame["age"].dtype)
    assert str(copies["plan"].dtype) == str(frame["plan"].dtype)
    assert frame["country"].to_list() == ["US", "AT"]


def test_a_missing_value_goes_where_its_dtype_can_hold_it():
    copies = FrameTable(FRAME).copies(
        np.array([0, 1]), {"age": {0: None}, "plan": {1: None}, "country": {0: None}}
    )
    assert copies["age"].isna().tolist() == [True, False]
    assert str(copies["plan"].dtype) == "category"
    assert copies["plan"].isna().tolist() == [False, True]
    assert copies["country"].isna().tolist() == [True, False]
    assert FRAME.notna().all().all()
    of_polars = FrameTable(pl.DataFrame({"age": [1, 2]})).copies(np.array([0, 1]), {"age": {0: float("nan")}})
    assert of_polars["age"].to_list() == [None, 2]


def test_dicts_lose_keys_and_lists_lose_items():
    table = DictTable([{"a": 1, "b": ["x", "y"]}])
    assert table.copies(np.array([0, 0]), {"a": {0: GONE}, "b": {1: ["y"]}}) == [
        {"b": ["x", "y"]},
        {"a": 1, "b": ["y"]},
    ]
    assert ListTable([["x", "y"]]).copies(np.array([0, 0]), {"items": {1: ["y"]}}) == [["x", "y"], ["y"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (FRAME, True),
        (FRAME[["age"]], False),
        (FRAME[["plan"]], True),
        (pl.DataFrame({"a": [1], "b": [True]}), False),
        (pl.DataFrame({"a": ["x"]}), True),
        (np.zeros((2, 2)), False),
        (np.array([["a", 1]], dtype=object), True),
        (np.array([[2, 1]], dtype=object), False),
        ([1, 2], False),
        ([[1, 2], [3, 4]], False),
        ([{"a": 1}], True),
        (["a", "b"], True),
        (FRAME.iloc[0], True),
        (pd.Series([1.0, 2.0]), False),
    ],
)
def test_what_no_matrix_of_numbers_can_hold_is_a_record(rows, expected):
    assert is_record(rows) is expected


@pytest.mark.parametrize(
    ("rows", "form", "message"),
    [
        ("text", "frame", "row must be a frame, a row of one, or a dict of columns, .* got str"),
        (FRAME, "dicts", r"row must be a dict, .* pass frame.to_dict\('records'\)"),
        ([1], "dicts", "row must be a dict, as the model takes dicts, got list"),
        (FRAME, "lists", r"row must be a list of items, .* such as frame\['items'\]"),
        ("shop", "lists", "row must be a list of items, .* got a string"),
    ],
)
def test_another_form_is_refused_with_what_to_do(rows, form, message):
    with pytest.raises(InputError, match=message):
        as_record_table(rows, form, on_frames=True)
