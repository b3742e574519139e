"""Texts; units are words, occurrences of words, or sentences."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor._readers.base import ReadRow
from butfor._readers.costs import Costs
from butfor._readers.names import Names, require_collection
from butfor._readers.unit_rows import row_of_units
from butfor.errors import ButforError, InputError, ModelError, abridged
from butfor.models import BoolArray, Row, TextRow, as_row
from butfor.models.row_kind import DENSE, holds_numbers, is_frame
from butfor.models.text import Span, TextModel, TextUnits, units_by_tokens, units_of_text, words_of
from butfor.results.explanation import Removal, Unit


def one_text(passed: Any) -> str:
    """Return one text that was passed alone or, as `predict` takes it, in a list, array or series."""
    texts = [passed] if isinstance(passed, str) else many_texts(passed)
    if isinstance(texts, list) and len(texts) == 1 and isinstance(texts[0], str):
        return str(texts[0])
    several = isinstance(texts, list) and len(texts) > 1
    what = f"{len(texts):,} values" if several else type(passed).__name__
    raise InputError(
        f"row must be one text, as the model reads texts, got {what}. To explain several texts use "
        "explain_many; to explain rows of numbers, give Explainer the classifier without its vectoriser."
    )


def many_texts(passed: Any) -> Any:
    """Return the texts of an array or a series as a list; anything else unchanged.

    A frame is refused: a model that reads texts would read the names of its columns.
    """
    if is_frame(passed):
        column = next((name for name in passed.columns if not holds_numbers(passed[name].dtype)), "text")
        raise InputError(
            "row must be a text, or a column of them, as the model reads texts, got a frame, of which it "
            f"would read the names of the columns: pass frame[{column!r}]."
        )
    return list(passed) if getattr(passed, "ndim", 0) == 1 or hasattr(passed, "to_list") else passed


@dataclass(frozen=True, eq=False)
class TextReader:
    """Reads texts.

    With `removal` "zero" the columns of a unit become zero and nothing else changes. With "delete" the unit
    is cut out of the text, with "mask" a token takes its place, and the model reads the changed text.
    """

    model: TextModel | None
    """The vectorising steps, where they are known."""
    removal: Removal
    unit: Unit
    mask: str
    columns: Names
    """The names of the columns that the vectorising steps make."""
    protected: frozenset[Any] = frozenset()
    """Columns, and words."""
    costs: Costs | None = None
    tokens: Callable[[str], Sequence[Span] | None] | None = None
    """Returns the places of the tokens that the model reads, where it knows them."""
    takes_texts = True
    takes_records = False
    record_form = None
    record_columns = None
    n_features = None
    feature_names = None

    @property
    def reads_again(self) -> bool:
        """Whether the model reads the changed text."""
        return self.removal != "zero"

    def choices(self, column: str) -> tuple[Any, ...]:
        """Return nothing: there are no records."""
        return ()

    def fitting(self, rows: Any) -> "TextReader":
        """Return itself."""
        return self

    def protecting(self, words: Collection[Any]) -> "TextReader":
        """Return a reader for which these words are protected, too."""
        require_collection("protected", words, "words")
        by_word = self.protected | {str(word).casefold() for word in words}
        known = [word for word in words if self.columns.is_known(word)]
        by_column = {column for word in known for column in self.columns.columns("protected", word)}
        return replace(self, protected=by_word | by_column)

    def row_of(self, items: Any) -> Any:
        """Raise: a text has no columns."""
        raise InputError("items must not be given for a model that reads texts: give the text.")

    def as_dict(self) -> dict[str, Any]:
        """Return what it was told by the names of Explainer's parameters; None where one does not apply."""
        return {
            "protected": sorted(self.protected, key=repr),
            "groups": None,
            "costs": None if self.costs is None else self.costs.as_pair(),
            "feature_names": None,
            "removal": self.removal,
            "unit": self.unit,
            "mask_token": self.mask,
        }

    def many(self, rows: Any) -> Any:
        """Return texts in a form that can be sliced."""
        return many_texts(rows)

    def read(self, row: Any) -> ReadRow:
        """Read one text."""
        text = one_text(row)
        try:
            if self.model is None:
                return self._out_of_text(text, self._units(text))
            if self.reads_again:
                return self._out_of_text(text, self.model.units(text, self.unit, active_only=False))
            vector = self.model.rows([text])
            units = self.model.units(text, self.unit, row=vector)
        except ButforError:
            raise
        except Exception as error:
            raise ModelError(
                f"the steps of the model raised {type(error).__name__} on the text: "
                f"{abridged(str(error), texts=[text])}"
            ) from error
        parsed = as_row(vector)
        parsed = replace(parsed, kind=DENSE) if self.model.dense else parsed
        return self._out_of_columns(text, units, parsed)

    def _units(self, text: str) -> TextUnits:
        """Return the units of a text whose vectoriser is not known."""
        tokens = None if self.tokens is None else self.tokens(text)
        return units_of_text(text, self.unit) if tokens is None else units_by_tokens(text, self.unit, tokens)

    def _out_of_columns(self, text: str, units: TextUnits, row: Row) -> ReadRow:
        grams: dict[int, list[tuple[int, ...]]] = {int(column): [] for column in row.columns}
        for column, words in units.grams:
            grams[column].append(words)
        clauses = [list(dict.fromkeys(each)) for each in grams.values()]
        if self.unit == "word":  # its columns go, whatever else is counted in them
            clauses = [
                [tuple(sorted({word for gram in each for word in gram}))] if each else [] for each in clauses
            ]
        protected = self._protected(text, units)
        spans = tuple(span for span, stays in zip(units.spans, protected, strict=True) if not stays)
        return row_of_units(
            row,
            units.names,
            clauses,
            protected,
            self.costs,
            unit=self.unit,
            removal="zero",
            text=text,
            spans=spans,
        )

    def _out_of_text(self, text: str, units: TextUnits) -> ReadRow:
        protected = self._protected(text, units)
        removable = np.flatnonzero(~protected)
        spans = tuple(units.spans[i] for i in removable)
        for i, places in zip(removable, spans, strict=True):
            if not places:
                raise InputError(
                    f"words must have places to be cut out: where {units.names[i]!r} stands in the text "
                    "cannot be told, as the tokenizer changes its words too much. Explain it with "
                    'removal="zero" (--removal zero), which sets the columns of words to zero.'
                )
        return ReadRow(
            row=TextRow(text, spans, self.mask if self.removal == "mask" else None, self.model),
            items=tuple(units.names),
            removable=removable,
            costs=None if self.costs is None else self.costs.of_names([units.names[i] for i in removable]),
            unit=self.unit,
            removal=self.removal,
            text=text,
            spans=spans,
            n_unread=units.n_unread,
        )

    def _protected(self, text: str, units: TextUnits) -> BoolArray:
        protected = np.array(
            [self._is_protected(text, *unit) for unit in zip(units.names, units.spans, strict=True)]
        )
        for column, touched in units.grams:
            if column in self.protected:
                protected[list(touched)] = True
        return protected.astype(bool)

    def _is_protected(self, text: str, name: str, spans: tuple[Span, ...]) -> bool:
        """Return whether a unit is a protected word, or holds one, whatever its case."""
        if name.casefold() in self.protected:
            return True
        pieces = [text[start:end].casefold() for start, end in spans]
        words = {piece[slice(*word)] for piece in pieces for word in words_of(piece)} | set(pieces)
        return bool(self.protected) and not self.protected.isdisjoint(words)
