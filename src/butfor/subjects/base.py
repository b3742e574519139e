"""What is explained, in one object."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from butfor.explanation import Removal, Unit
from butfor.models import FloatArray, IntArray, Row, Said, TextRow, removal_sets, stacked
from butfor.models.row_kind import RowKind
from butfor.models.text import without


@dataclass(frozen=True, eq=False)
class Subject:
    """A row or a text, with names for what can be removed of it: its units."""

    row: Row | TextRow
    """What the model sees; its units are those that may be removed, a search's 0 … m−1."""
    items: tuple[str, ...]
    """The names of all active units."""
    removable: IntArray
    """Which of them may be removed."""
    costs: FloatArray | None = None
    """What the removal of each removable unit costs."""
    unit: Unit = "feature"
    removal: Removal = "zero"
    text: str | None = None
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()
    """Where each removable unit stands in the text."""
    said: Said | None = None
    """What the model said of the row, if it was asked when the row came."""

    @property
    def kind(self) -> RowKind | None:
        """In which kind of table the model gets the row; None for a text."""
        return None if isinstance(self.row, TextRow) else self.row.kind

    def name(self, unit: int) -> str:
        """Give the name of a removable unit."""
        return self.items[int(self.removable[unit])]

    def columns(self, units: tuple[int, ...]) -> tuple[int, ...]:
        """Give the columns that are zero without these units, in their order."""
        one_by_one = [column for unit in units for column in self.row.columns_without((unit,))]
        # Some go only with several units together.
        return tuple(dict.fromkeys([*one_by_one, *self.row.columns_without(units)]))

    def deleted(self, units: tuple[int, ...]) -> str | None:
        """Cut these units out of the text, where only their columns became zero; None where it cannot be."""
        places = [self.spans[unit] for unit in units] if self.spans else []
        if self.text is None or self.removal != "zero" or not places or not all(places):
            return None
        return without(self.text, [span for spans in places for span in spans])

    def without(self, sets: "list[tuple[int, ...]]") -> Any:
        """Give what the model sees without each of these sets of units."""
        return self.row.without(removal_sets(sets, self.row.n_units))


def together(asked: "Sequence[tuple[Subject, list[tuple[int, ...]]]]") -> Any:
    """Give what the model sees of many subjects, each without each of its sets of units: rows, or texts."""
    if isinstance(asked[0][0].row, TextRow):
        return [text for subject, sets in asked for text in subject.without(sets)]
    return stacked(
        [(cast(Row, subject.row), removal_sets(sets, subject.row.n_units)) for subject, sets in asked]
    )


class Reader(Protocol):
    """From what a user asks about to a subject."""

    @property
    def takes_texts(self) -> bool:
        """Whether it reads texts, not rows of numbers."""
        ...

    @property
    def reads_again(self) -> bool:
        """Whether the model reads the changed text again, so that nothing is known of its formula."""
        ...

    @property
    def n_features(self) -> int | None:
        """How many columns a row must have, if that is known."""
        ...

    @property
    def unit(self) -> Unit:
        """What is removed at a time."""
        ...

    @property
    def costs(self) -> Any:
        """What removals cost, if that was said."""
        ...

    def protecting(self, features: Collection[Any]) -> "Reader":
        """Read so that these may not be removed either."""
        ...

    def many(self, rows: Any) -> Any:
        """Return rows or texts as they can be cut into pieces."""
        ...

    def read(self, given: Any) -> Subject:
        """Read one row or text."""
        ...
