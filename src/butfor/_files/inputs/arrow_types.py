"""Arrow's types of columns: which can hold texts, ids, features or values."""

from typing import Any


def holds_texts(kind: Any) -> bool:
    """Return whether a column of this type holds texts."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return holds_texts(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_list(kind: Any) -> bool:
    """Return whether a column holds lists."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_whole(kind: Any) -> bool:
    """Return whether a column holds whole numbers."""
    from pyarrow import types

    return bool(types.is_integer(kind))


def is_fraction(kind: Any) -> bool:
    """Return whether a column holds numbers that need not be whole."""
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_decimal(kind))


def is_number(kind: Any) -> bool:
    """Return whether a column can hold values."""
    from pyarrow import types

    return is_whole(kind) or is_fraction(kind) or bool(types.is_boolean(kind))


def is_feature(kind: Any) -> bool:
    """Return whether a column can hold features: columns of a matrix, or names."""
    return is_whole(kind) or holds_texts(kind)


def is_id(kind: Any) -> bool:
    """Return whether a column can hold ids: numbers, strings, and what becomes a string without loss."""
    from pyarrow import types

    is_other = types.is_date(kind) or types.is_timestamp(kind) or types.is_decimal(kind)
    return is_feature(kind) or bool(is_other) or str(kind) == "extension<arrow.uuid>"


def is_int64(kind: Any) -> bool:
    """Return whether ids stay numbers; larger ones are written as strings."""
    from pyarrow import types

    return is_whole(kind) and not types.is_uint64(kind)


def leaf(kind: Any) -> Any:
    """Return the type of what a list holds; of a single value, its own."""
    return kind.value_type if is_list(kind) else kind


def plain_number(kind: Any) -> Any:
    """Return the type that values are read as: floats of 64 bits, or of 32 where they are stored so."""
    import pyarrow as pa

    number = pa.float32() if leaf(kind) == pa.float32() else pa.float64()
    return pa.large_list(number) if is_list(kind) else number


def plain_type(kind: Any) -> Any:
    """Return the type that a column is read as, so that files may differ in what makes no difference."""
    import pyarrow as pa

    if is_list(kind):
        return pa.large_list(plain_type(kind.value_type))
    if holds_texts(kind):
        return pa.large_string()
    if is_int64(kind):
        return pa.int64()
    return kind
