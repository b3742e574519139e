"""Cells of a record of which something may be removed: words, items, or the whole value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from butfor.models.arrays import BoolArray, IntArray
from butfor.models.records.absence import Absence
from butfor.models.records.record_table import Column
from butfor.models.text.cutting import CutText

Kind = Literal["text", "items", "category", "number"]


@dataclass(frozen=True, eq=False)
class RecordCell:
    """One cell, and the units that its parts belong to."""

    column: Column
    kind: Kind
    value: Any
    units: IntArray
    """The unit of each part: of each distinct word or item, or of the value as a whole."""
    absence: Absence | None = None
    """What stands in the place of the value, if that goes as a whole."""
    text: CutText | None = None
    """The text, with the places of its words."""
    items: tuple[Any, ...] = ()
    """The distinct items that may be removed."""

    @property
    def absent_value(self) -> Any:
        """What stands in the place of the value."""
        assert self.absence is not None
        return self.absence.value

    def without(self, removed: BoolArray) -> Any:
        """Return the value once some units are removed."""
        gone = np.flatnonzero(removed[self.units])
        if not len(gone):
            return self.value
        if self.text is not None:
            return self.text.without(gone.tolist())
        if self.kind == "items":
            return without_items(self.value, {self.items[at] for at in gone})
        return self.absent_value

    def split(self) -> Iterator[tuple[int, Any]]:
        """Yield the items of each unit as a list of the same kind, and those of none with −1."""
        mine = set(self.items)
        yield -1, without_items(self.value, mine)
        others = set(items_of(self.value))
        of_unit: dict[int, set[Any]] = {}
        for unit, item in zip(self.units.tolist(), self.items, strict=True):
            of_unit.setdefault(unit, set()).add(item)
        for unit, own in of_unit.items():
            yield unit, without_items(self.value, others - own)


def items_of(value: Any) -> Sequence[Any]:
    """Return the distinct items of a cell, in their order; of a dict, its keys.

    >>> items_of(["a", "b", "a"]), items_of({"a": 2})
    (['a', 'b'], ['a'])
    """
    values = sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    return list(dict.fromkeys(values))


def without_items(value: Any, gone: set[Any]) -> Any:
    """Return a list, set, array or dict without some items.

    >>> without_items(["a", "b", "a"], {"a"}), without_items({"a": 2, "b": 1}, {"a"})
    (['b'], {'b': 1})
    """
    if isinstance(value, Mapping):
        return {item: count for item, count in value.items() if item not in gone}
    left = [item for item in value if item not in gone]
    if isinstance(value, np.ndarray):
        return np.array(left, dtype=value.dtype)
    return type(value)(left)
