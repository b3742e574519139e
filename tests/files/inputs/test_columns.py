import pyarrow as pa
import pytest

from butfor import InputError
from butfor._files.inputs import ColumnNames
from butfor._files.inputs.columns import choose_columns, choose_id

N, F, S, T = pa.int64(), pa.float64(), pa.string(), pa.timestamp("us")
LI, LF, LS = pa.list_(N), pa.list_(F), pa.list_(S)


def chosen(schema, **columns):
    found = choose_columns(ColumnNames(**columns), pa.schema(schema))
    return found.id, found.feature, found.value


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"id": N, "feature": N, "value": F}, ("id", "feature", "value")),
        ({"ROW": S, "Item": S, "Count": N}, ("ROW", "Item", "Count")),
        ({"user_id": N, "item_id": N, "rating": N, "timestamp": N}, ("user_id", "item_id", "rating")),
        ({"user": N, "film": S}, ("user", "film", None)),
        ({"visitor": N, "item": S}, ("visitor", "item", None)),
        ({"user": N, "film": S, "stars": F}, ("user", "film", "stars")),
        ({"user": N, "film": S, "seen": T}, ("user", "film", None)),
        ({"features": LI}, (None, "features", None)),
        ({"id": S, "features": LI, "values": LF}, ("id", "features", "values")),
        ({"clicks": LS, "times": LF}, (None, "clicks", "times")),
        ({"customer": N, "bought": LI, "label": N}, ("customer", "bought", None)),
        ({"name": S, "words": LS, "counts": LI}, (None, "words", "counts")),
        ({"a": N, "b": N}, None),
        ({"id": N, "user": N, "item": N}, None),
        ({"a": LI, "b": LI}, None),
        ({"user": N, "item": N, "seen": N}, None),
        ({"user": N, "item": N, "x": F, "y": F}, None),
        ({"user": N}, None),
        ({"user": N, "item": F}, None),
        ({"user": F, "item": N}, None),
        ({"user": N, "item": N, "value": S}, None),
        ({"items": LF}, None),
        ({"items": LI, "values": LS}, None),
    ],
)
def test_columns_are_found_by_name_and_type_or_asked_for(schema, expected):
    if expected is None:
        with pytest.raises(InputError, match=r"^--(id|feature|value)-column must "):
            chosen(schema)
    else:
        assert chosen(schema) == expected


def test_the_user_may_name_any_column():
    schema = {"id": N, "user": S, "item": N, "page": S, "value": F, "stars": N}
    assert chosen(schema, id="user", feature="page", value="stars") == ("user", "page", "stars")
    assert chosen(schema, id="user", feature="id", value="") == ("user", "id", None)
    assert chosen({"a": LI, "b": LI}, feature="b", value="") == (None, "b", None)
    assert chosen({"a": LI, "b": LI}, feature="b", value="a") == (None, "b", "a")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": "nobody"}, "--id-column must name one column of DATA ('id' (int64), "),
        ({"id": "score"}, "--id-column must hold whole numbers or strings, got 'score' of double. Cast it."),
        ({"feature": "score"}, "--feature-column must hold columns of the matrix (whole numbers) or names"),
        ({"value": "name"}, "--value-column must hold numbers, got 'name' of string. Cast it."),
    ],
)
def test_a_named_column_must_be_there_and_fit(columns, message):
    with pytest.raises(InputError) as raised:
        chosen({"id": N, "item": N, "score": F, "name": S}, **columns)
    assert message in str(raised.value)


def test_lists_and_single_values_are_not_mixed_up():
    schema = {"id": N, "items": LI, "n": N}
    with pytest.raises(InputError, match="--feature-column must hold lists, as another column does, got 'n'"):
        chosen(schema, feature="n")
    with pytest.raises(InputError, match="--id-column must hold no lists, got 'items' of list"):
        chosen(schema, id="items")
    with pytest.raises(InputError, match="--id-column and --feature-column must differ, got 'id' for both"):
        chosen({"id": N, "item": N}, id="id", feature="id")


def test_ids_of_texts_are_found_by_name_alone():
    assert choose_id(ColumnNames(), pa.schema({"id": N, "text": S})) == "id"
    assert choose_id(ColumnNames(), pa.schema({"nr": N, "text": S})) is None
    assert choose_id(ColumnNames(text="id"), pa.schema({"id": S})) is None
    assert choose_id(ColumnNames(id="nr"), pa.schema({"nr": N, "id": N, "text": S})) == "nr"
    with pytest.raises(
        InputError, match="--id-column must name the column of ids, got no name where 'id' and"
    ):
        choose_id(ColumnNames(), pa.schema({"id": N, "user": N, "text": S}))
