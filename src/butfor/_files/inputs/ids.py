"""Ids of rows in a column of a table: where a new one begins, whether one comes back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from butfor._files.inputs.base import IdType

NOTHING = object()
"""What stands before the first record; no id is equal to it."""


def ids_of(array: Any, id_type: IdType) -> list[Any]:
    """Return ids as ints or strs, None where there is none."""
    import pyarrow as pa

    if isinstance(array, pa.ExtensionArray):
        return [None if value is None else str(value) for value in array.to_pylist()]
    array = array if id_type == "int" else array.cast(pa.large_string())
    try:
        ids: list[Any] = array.to_pylist()
    except UnicodeDecodeError:  # a byte that is no UTF-8 is shown as \xff
        contents = array.cast(pa.large_binary()).to_pylist()
        ids = [None if each is None else each.decode(errors="backslashreplace") for each in contents]
    return ids


def missing_id(column: str) -> str:
    """Return the error of a row that has no id."""
    return f"the row must have an id in the column {column!r}, got none."


def new_ids(array: Any, before: Any) -> npt.NDArray[np.bool_]:
    """Mark the records whose id is not that of the record before; records without an id go together.

    >>> import pyarrow as pa
    >>> new_ids(pa.array([7, 7, 3, None, None, 3]), before=7)
    array([False, False,  True,  True, False,  True])
    """
    array = _comparable(array)
    new = np.ones(len(array), dtype=bool)
    if len(array):
        new[0] = before is NOTHING or before != array[0].as_py()
        new[1:] = _differ(array.slice(1), array.slice(0, len(array) - 1))
    return new


def _differ(these: Any, those: Any) -> npt.NDArray[np.bool_]:
    import pyarrow.compute as pc

    differ = pc.not_equal(these, those)
    if differ.null_count:
        differ = pc.fill_null(differ, pc.xor(these.is_null(), those.is_null()))
    mask: npt.NDArray[np.bool_] = differ.to_numpy(zero_copy_only=False)
    return mask


def last_id(array: Any) -> Any:
    """Return the last id of some records, for `new_ids` of those that follow."""
    return _comparable(array)[-1].as_py()


def _comparable(array: Any) -> Any:
    """Return an array that Arrow can compare, and Python hash."""
    import pyarrow as pa

    if pa.types.is_timestamp(array.type):
        return array.cast(pa.int64())
    if pa.types.is_large_string(array.type):
        return array.cast(pa.large_binary())  # not all of them need be UTF-8
    return array.storage if isinstance(array, pa.ExtensionArray) else array


@dataclass
class IdOrder:
    """Notes whether ids ascend or descend, and so come once each, without keeping them."""

    ascends: bool = True
    descends: bool = True
    _last: Any = None

    @property
    def holds(self) -> bool:
        """Whether no id can have come twice."""
        return self.ascends or self.descends

    def see(self, array: Any) -> None:
        """Look at further ids."""
        import pyarrow as pa
        import pyarrow.compute as pc

        array = _comparable(array).drop_null()
        if not self.holds or not len(array):
            return
        if self._last is not None:
            array = pa.concat_arrays([self._last, array])
        these, those = array.slice(1), array.slice(0, len(array) - 1)
        self.ascends = self.ascends and pc.all(pc.greater(these, those), min_count=0).as_py()
        self.descends = self.descends and pc.all(pc.less(these, those), min_count=0).as_py()
        self._last = array.slice(len(array) - 1)


def keys_of(array: Any) -> npt.NDArray[np.int64]:
    """Return 64 bits for each id that is there: a number itself, the hash of anything else."""
    import pyarrow as pa

    array = _comparable(array).drop_null()
    if array.type == pa.int64():
        numbers: npt.NDArray[np.int64] = array.to_numpy(zero_copy_only=False)
        return numbers
    return np.fromiter(map(hash, array.to_pylist()), dtype=np.int64, count=len(array))


def repeated(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the keys that come more than once.

    >>> repeated(np.array([4, 9, 4, 1, 4]))
    array([4])
    """
    keys = np.sort(keys)
    return np.unique(keys[1:][keys[1:] == keys[:-1]])
