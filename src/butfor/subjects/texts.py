"""Texts: words, occurrences of words or sentences, taken out of columns or out of the text itself."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.errors import ButforError, InputError, ModelError, abridged
from butfor.explanation import Removal, Unit
from butfor.models import BoolArray, Row, TextRow, as_row
from butfor.models.row_kind import DENSE, is_frame
from butfor.models.text import Span, TextModel, Units, units_of_text, words_of
from butfor.subjects.base import Subject
from butfor.subjects.costs import Costs
from butfor.subjects.names import Names, require_collection
from butfor.subjects.units import subject_of_units


def one_text(given: Any) -> str:
    """Return the text that is given, be it alone or, as `predict` takes it, in a list, array or series."""
    texts = [given] if isinstance(given, str) else many_texts(given)
    if isinstance(texts, list) and len(texts) == 1 and isinstance(texts[0], str):
        return str(texts[0])
    several = isinstance(texts, list) and len(texts) > 1
    what = f"{len(texts):,} values" if several else type(given).__name__
    raise InputError(
        f"row must be one text, as the model reads texts, got {what}. To explain several texts use "
        "explain_many; to explain rows of numbers, give Explainer the classifier without its vectoriser."
    )


def many_texts(given: Any) -> Any:
    """Return the texts of an array, a series or a frame of one column as a list; all else as it is."""
    if is_frame(given):
        if len(given.columns) != 1:
            raise InputError(
                f"rows must be texts, or a frame of one column of them, got {len(given.columns):,} columns: "
                "pass the column that holds the texts, such as frame['text']."
            )
        given = given[given.columns[0]]
    return list(given) if getattr(given, "ndim", 0) == 1 or hasattr(given, "to_list") else given


@dataclass(frozen=True, eq=False)
class Texts:
    """Read texts for a model that takes them.

    With `removal` "zero" the columns of a unit become zero and nothing else changes; with "delete" it is cut
    out of the text, with "mask" a token stands in its place, and the model reads the text again.
    """

    model: TextModel | None
    """The vectorising steps, where they are known."""
    removal: Removal
    unit: Unit
    mask: str
    columns: Names
    """What the columns are called that the vectorising steps make."""
    protected: frozenset[Any] = frozenset()
    """Columns, and words."""
    costs: Costs | None = None
    takes_texts = True
    n_features = None

    @property
    def reads_again(self) -> bool:
        """Whether the model reads the changed text again."""
        return self.removal != "zero"

    def protecting(self, words: Collection[Any]) -> "Texts":
        """Read texts so that these words may not be removed either."""
        require_collection("protected", words, "words")
        kept = self.protected | {str(word).casefold() for word in words}
        known = [word for word in words if self.columns.is_known(word)]
        named = {column for word in known for column in self.columns.columns("protected", word)}
        return replace(self, protected=kept | named)

    def many(self, rows: Any) -> Any:
        """Return texts as they can be cut into pieces."""
        return many_texts(rows)

    def read(self, given: Any) -> Subject:
        """Read one text."""
        text = one_text(given)
        if self.model is None:
            return self._out_of_text(text, units_of_text(text, self.unit))
        try:
            vector = self.model.rows([text])
            units = self.model.units(text, self.unit, row=vector)
        except ButforError:
            raise
        except Exception as error:
            raise ModelError(
                f"the steps of the model raised {type(error).__name__} on the text: "
                f"{abridged(str(error), texts=[text])}"
            ) from error
        if self.removal == "zero":
            row = as_row(vector)
            return self._out_of_columns(text, units, replace(row, kind=DENSE) if self.model.dense else row)
        return self._out_of_text(text, units)

    def _out_of_columns(self, text: str, units: Units, row: Row) -> Subject:
        held: dict[int, list[tuple[int, ...]]] = {int(column): [] for column in row.columns}
        for column, words in units.grams:
            held[column].append(words)
        holdings = [list(dict.fromkeys(each)) for each in held.values()]
        if self.unit == "word":  # its columns go, whatever else is counted in them
            holdings = [
                [tuple(sorted({word for gram in each for word in gram}))] if each else [] for each in holdings
            ]
        protected = self._protected(text, units)
        spans = tuple(span for span, kept in zip(units.spans, protected, strict=True) if not kept)
        return subject_of_units(
            row,
            units.names,
            holdings,
            protected,
            self.costs,
            unit=self.unit,
            removal="zero",
            text=text,
            spans=spans,
        )

    def _out_of_text(self, text: str, units: Units) -> Subject:
        protected = self._protected(text, units)
        removable = np.flatnonzero(~protected)
        spans = tuple(units.spans[i] for i in removable)
        for i, places in zip(removable, spans, strict=True):
            if not places:
                raise InputError(
                    f'removal must be "zero" for this text, got "{self.removal}": where {units.names[i]!r} '
                    "stands in it cannot be told, as the tokenizer changes its words too much."
                )
        return Subject(
            row=TextRow(text, spans, self.mask if self.removal == "mask" else None),
            items=tuple(units.names),
            removable=removable,
            costs=None if self.costs is None else self.costs.of_names([units.names[i] for i in removable]),
            unit=self.unit,
            removal=self.removal,
            text=text,
            spans=spans,
        )

    def _protected(self, text: str, units: Units) -> BoolArray:
        protected = np.array(
            [self._is_protected(text, *unit) for unit in zip(units.names, units.spans, strict=True)]
        )
        for column, touched in units.grams:
            if column in self.protected:
                protected[list(touched)] = True
        return protected.astype(bool)

    def _is_protected(self, text: str, name: str, spans: tuple[Span, ...]) -> bool:
        """Tell whether a unit is, or holds, a protected word, whatever its case."""
        if name.casefold() in self.protected:
            return True
        pieces = [text[start:end].casefold() for start, end in spans]
        words = {piece[slice(*word)] for piece in pieces for word in words_of(piece)} | set(pieces)
        return bool(self.protected) and not self.protected.isdisjoint(words)
