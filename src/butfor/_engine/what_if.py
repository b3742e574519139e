"""What-if sessions: units of one row are removed by hand, and the model decides on the rest."""

import math
import time
from collections.abc import Sequence

import numpy as np

from butfor._engine.engine import Engine
from butfor._engine.one_row import trusted
from butfor._readers import ReadRow
from butfor.errors import InputError
from butfor.results.explanation import Unit
from butfor.results.trial import Trial

BY_HAND = "by hand"
"""The name of the search where a person chose the removal set."""


class WhatIf:
    """One row, read once, of which units are removed by hand; `Explainer.what_if` makes it.

    Parameters
    ----------
    engine : Engine
        What explains the row.
    read : ReadRow
        The row.
    """

    def __init__(self, engine: Engine, read: ReadRow) -> None:
        self._engine = engine
        self._read = read
        self._row = trusted(engine, read, deadline=math.inf)
        self._unit_at = {int(place): unit for unit, place in enumerate(read.removable)}

    @property
    def items(self) -> tuple[str, ...]:
        """The names of all active units, in the row's order; the place of a unit is its index here."""
        return self._read.items

    @property
    def removable(self) -> tuple[bool, ...]:
        """For each of `items`, whether it may be removed."""
        return tuple(place in self._unit_at for place in range(len(self.items)))

    @property
    def spans(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each of `items`, its spans in the text; empty where unknown, or the item is protected."""
        known, at = self._read.spans, self._unit_at
        return tuple(known[at[place]] if known and place in at else () for place in range(len(self.items)))

    @property
    def table(self) -> tuple[tuple[str, str], ...]:
        """Of a record: its columns and cells, (name, value as it is shown); empty for other rows."""
        return self._read.table

    @property
    def marks(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """For each of `items` its places in the table, (column, start, end); empty where it is protected."""
        known, at = self._read.marks, self._unit_at
        return tuple(known[at[place]] if known and place in at else () for place in range(len(self.items)))

    @property
    def text(self) -> str | None:
        """The text; None for a row of numbers."""
        return self._read.text

    @property
    def unit(self) -> Unit:
        """What is removed at a time: a feature, a group, a word, …"""
        return self._read.unit

    @property
    def n_classes(self) -> int:
        """The number of classes; with more than two, the score is the margin of the predicted class."""
        return self._engine.model.n_classes

    def without(self, removed: Sequence[int | str] = ()) -> Trial:
        """Return what the model itself decides on the row without some units.

        Parameters
        ----------
        removed : sequence of int or str
            Places among `items`, or names. A name means all units that have it.

        Returns
        -------
        Trial

        Raises
        ------
        InputError
            Where an item is not in the row, or is protected.
        """
        began = time.monotonic()
        row, model = self._row, self._engine.model
        units = tuple(dict.fromkeys(unit for each in removed for unit in self._units(each)))
        verdict = row.verdict(units)
        flipped = bool(units) and not row.is_at_target and row.has_flipped(verdict.classes[-1])
        why = None
        if flipped:
            answer = row.unproven(units, BY_HAND)
            why = row.report(answer, verdict, self._engine.settings, time.monotonic() - began)
        return Trial(
            score=verdict.scores[0],
            score_without=verdict.scores[-1],
            threshold=model.scorer.threshold,
            decision=model.class_name(verdict.classes[0]),
            decision_without=model.class_name(verdict.classes[-1]),
            flipped=flipped,
            explanation=why,
        )

    def _units(self, removed: int | str) -> list[int]:
        """Return the numbers of the units that a place or a name means, as a search numbers them."""
        if isinstance(removed, str):
            places = [place for place, name in enumerate(self.items) if name == removed]
            if not places:
                raise InputError(f"removed must name items of the row, got {removed!r}, which it has not.")
        elif isinstance(removed, bool) or not isinstance(removed, int | np.integer):
            raise InputError(f"removed must hold places or names of items, got {removed!r}.")
        elif not 0 <= removed < len(self.items):
            raise InputError(
                f"removed must hold places of the row's {len(self.items):,} items, from 0, got {removed}."
            )
        else:
            places = [int(removed)]
        protected = [place for place in places if place not in self._unit_at]
        if protected:
            raise InputError(
                f"removed must not hold protected items, got {self.items[protected[0]]!r}: release it first."
            )
        return [self._unit_at[place] for place in places]
