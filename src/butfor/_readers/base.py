"""A row as a reader leaves it, and what a reader is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from butfor.models import (
    Decisions,
    FloatArray,
    IntArray,
    RecordRow,
    Row,
    TextRow,
    removal_sets,
    stacked_copies,
)
from butfor.models.text import without
from butfor.results.explanation import Removal, Unit


@dataclass(frozen=True, eq=False)
class ReadRow:
    """A row or a text, with its units: their names, costs and places."""

    row: Row | TextRow | RecordRow
    """What the model gets; its units are those that may be removed, numbered 0 … m−1 for a search."""
    items: tuple[str, ...]
    """The names of all active units."""
    removable: IntArray
    """The places, among `items`, of the units that may be removed."""
    costs: FloatArray | None = None
    """The cost of each removable unit; None: all cost the same."""
    unit: Unit = "feature"
    removal: Removal = "zero"
    text: str | None = None
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()
    """The spans of each removable unit in the text."""
    table: tuple[tuple[str, str], ...] = ()
    """Of a record: its columns, by name, and its cells as they are shown."""
    marks: tuple[tuple[tuple[int, int, int], ...], ...] = ()
    """Of a record: for each removable unit the column and the span in the cell as it is shown."""
    instead: tuple[str, ...] = ()
    """Of a record: for each removable unit what stands in its place; empty where nothing does."""
    n_unread: int = 0
    """How many more units a text has, which the model does not read."""
    decisions: Decisions | None = None
    """What the model decided on the row, if it was asked while the row was read."""

    def name(self, unit: int) -> str:
        """Return the name of a removable unit."""
        return self.items[int(self.removable[unit])]

    def columns(self, units: tuple[int, ...]) -> tuple[int, ...]:
        """Return the columns that are zero without these units, in their order."""
        if isinstance(self.row, Row) and self.row.is_plain:
            return tuple(self.row.columns_without(units))
        one_by_one = [column for unit in units for column in self.row.columns_without((unit,))]
        # Some columns go only when several units are removed together.
        return tuple(dict.fromkeys([*one_by_one, *self.row.columns_without(units)]))

    def deleted(self, units: tuple[int, ...]) -> str | None:
        """Return the text with these units cut out; None where it was cut already, or places are unknown."""
        places = [self.spans[unit] for unit in units] if self.spans else []
        if self.text is None or self.removal != "zero" or not places or not all(places):
            return None
        return without(self.text, [span for spans in places for span in spans])

    def without(self, sets: "list[tuple[int, ...]]") -> Any:
        """Return what the model gets without each of these removal sets."""
        return self.row.without(removal_sets(sets, self.row.n_units))


def stacked_rows(rows: "Sequence[tuple[ReadRow, list[tuple[int, ...]]]]") -> Any:
    """Return what the model gets of many rows, each without each of its removal sets: a matrix, or texts."""
    return stacked_copies([(read.row, removal_sets(sets, read.row.n_units)) for read, sets in rows])


class Reader(Protocol):
    """Reads what a user passes into a `ReadRow`."""

    @property
    def takes_texts(self) -> bool:
        """Whether it reads texts, not rows of numbers."""
        ...

    @property
    def takes_records(self) -> bool:
        """Whether it reads records, whose cells are of any kind."""
        ...

    @property
    def record_form(self) -> str | None:
        """In which form the model takes records; None where it takes none."""
        ...

    @property
    def record_columns(self) -> tuple[tuple[str, str | None], ...] | None:
        """The columns of records, by name, and what they hold; None where the model does not tell."""
        ...

    def choices(self, column: str) -> tuple[Any, ...]:
        """Return the categories that the model knows in a column of records."""
        ...

    def fitting(self, rows: Any) -> "Reader":
        """Return the reader of such rows: a model may take both rows of numbers and records."""
        ...

    @property
    def reads_again(self) -> bool:
        """Whether the model reads the changed text again, so that nothing is known of its formula."""
        ...

    @property
    def n_features(self) -> int | None:
        """The number of columns that a row must have, if known."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where they have some; None for texts."""
        ...

    @property
    def unit(self) -> Unit:
        """What is removed at a time."""
        ...

    def row_of(self, items: Any) -> Any:
        """Return a row of features by name or column; raise for a model that reads texts."""
        ...

    @property
    def costs(self) -> Any:
        """The costs of removals, if the user gave some."""
        ...

    def protecting(self, features: Collection[Any]) -> "Reader":
        """Return a reader for which these features or words are protected, too."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return what it was told by the names of Explainer's parameters; None where one does not apply."""
        ...

    def many(self, rows: Any) -> Any:
        """Return rows or texts in a form that can be sliced."""
        ...

    def read(self, row: Any) -> ReadRow:
        """Read one row or text."""
        ...
