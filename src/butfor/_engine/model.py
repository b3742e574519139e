"""The user's model as the engine uses it: who scores, in which form rows reach it, and its formula."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor._readers import Reader, ReadRow, RecordReader, RowReader, one_text
from butfor.errors import InputError, ModelError
from butfor.models import (
    AdaptedModel,
    Decisions,
    KernelRows,
    LinearRows,
    Network,
    NetworkRows,
    RecordModel,
    RecordRow,
    Row,
    Scorer,
    Table,
    TextModel,
    TextRow,
    choose_kind,
    closed,
    holds,
    recognise,
    row_at,
    steps_of_texts,
)
from butfor.models.records.linear_records import LinearRecords
from butfor.models.row_kind import RowKind

LOG = logging.getLogger(__name__)
ROWS_TO_CHECK = 3
"""On how many rows of each kind a formula with trees or of texts is held against the model."""
LONG_TEXT = 20_000
"""Texts of more characters are not taken for that."""


@dataclass(eq=False)
class EngineModel:
    """One model, shared by all engines that ask it, so that it is recognised once."""

    scorer: Scorer
    text_scorer: Scorer | None
    """The model as it scores texts, if it reads them."""
    class_names: tuple[str, ...]
    text_model: TextModel | None = None
    """The vectorisers of a model that reads the changed text again, where they are known."""
    reads_again: bool = False
    """Whether the model reads the changed text, or record, again."""
    record_model: RecordModel | None = None
    """What is known of a model that takes records."""
    record_scorer: Scorer | None = None
    """The user's own model, where encoders are relaxed in the one that scores records."""
    kinds: dict[tuple[object, ...], RowKind] = field(default_factory=dict)
    """The kind of table in which the model gets rows, for each form in which users pass them."""
    _n_checked: dict[RowKind | None, int] = field(default_factory=dict)
    """On how many rows of each kind the formula was held against the model."""
    _n_same: int = 0
    """On how many records the user's own model was held against the one with relaxed encoders."""

    @cached_property
    def network(self) -> Network | None:
        """The model's formula, if it was recognised; none where scores vary."""
        if self.scorer.varies:
            return None
        if not self.reads_again:
            return recognise(self.scorer)
        if self.record_model is not None:
            return self.record_network
        if self.text_model is None:
            return None
        steps = steps_of_texts(self.text_model)
        return None if steps is None else recognise(self.scorer, self.text_model.rest, steps)

    @cached_property
    def record_network(self) -> Network | None:
        """The formula by which the model acts on records, if it was recognised."""
        known = self.record_model
        if self.scorer.varies or known is None or known.steps is None:
            return None
        return recognise(self.scorer, known.rest, known.steps)

    def get_ready(self) -> None:
        """Read the model and compile what it needs, at the first row: that is not the row's own time."""
        if self.network is not None:
            self.network.compile()

    def __getstate__(self) -> dict[str, Any]:
        """Recognise the model before it goes to other processes, so that they share its formula."""
        self.get_ready()
        if self.network is not None:
            self.network.prepare()
        return self.__dict__

    def formula_at(self, row: Row | TextRow | RecordRow) -> Network | None:
        """Return the model's formula; where it has trees or reads texts, once it held on the first rows.

        What a library's trees mean is read from its files, and what vectorisers make of a cut text from their
        settings. If that is not what the model does, it becomes a black box.
        """
        is_text, is_record = not isinstance(row, Row), isinstance(row, RecordRow)
        network = self.record_network if is_record else self.network
        is_read = is_text or (network is not None and network.has_trees) or self._is_adapted
        if network is None or not is_read or not row.n_units:
            return network
        if is_text and row.n_values > LONG_TEXT:  # reading it again and again would take its time
            return network
        n_checked = self._n_checked.get(row.kind, 0)
        if n_checked < ROWS_TO_CHECK:
            self._n_checked[row.kind] = n_checked + 1
            if not holds(network, self.scorer.handing(row.kind), row):
                LOG.warning(
                    "%s does not act on its %s as they were read: it is asked as a black box",
                    self.scorer.name,
                    "records" if is_record else "texts" if is_text else "rows",
                )
                network = None
                if is_record:
                    self.record_network = None
                if not is_record or self.reads_again:
                    self.network = None
        return network

    def is_trusted(self, kind: RowKind) -> bool:
        """Whether the formula may be used for rows of a kind as it is, without a look at the model."""
        return not self._is_adapted or self._n_checked.get(kind, 0) >= ROWS_TO_CHECK

    @property
    def _is_adapted(self) -> bool:
        """Whether it is a model of another library, whose parts were read."""
        return isinstance(self.scorer.model, AdaptedModel)

    @property
    def is_checked(self) -> bool:
        """Whether the formula was held against the model on as many records as is usual."""
        return self._n_checked.get(None, 0) >= ROWS_TO_CHECK and self.network is not None

    @cached_property
    def linear_records(self) -> LinearRecords | None:
        """The model as one sum of terms for each part of a record, if it is one."""
        return LinearRecords.of(self.network, self.record_model)

    @cached_property
    def of_blocks(self) -> LinearRows | NetworkRows | KernelRows | None:
        """What answers many rows at once, if the model is one for which there is such a way."""
        network = self.network
        return LinearRows.of(network) or NetworkRows.of(network) or KernelRows.of(network)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return max(2, len(self.class_names))

    def class_name(self, index: int) -> str:
        """Return the name of a class; an empty string where none is known."""
        return self.class_names[index] if self.class_names else ""

    def require_positive_class(self) -> None:
        """Raise where `only_positive` has no meaning."""
        if self.scorer.has_many_classes:
            raise InputError(
                "only_positive must not be set for a model of more than two classes, none of which is "
                "positive."
            )

    def admit(self, read: ReadRow) -> ReadRow:
        """Return a row in the form in which the model gets it; raise where no form keeps its decision."""
        if isinstance(read.row, RecordRow):
            self._count_classes(None, read.row.whole)
            self._require_own_decision(read.row)
            return read
        if isinstance(read.row, TextRow):
            self._count_classes(None, read.row.whole)
            return read
        row, decisions = self._admit_row(read.row)
        if decisions is None:
            return read if row is read.row else replace(read, row=row)
        if read.text is not None:
            self._require_same_decision(read.text, decisions)
        return replace(read, row=row, decisions=decisions)

    def kind_of(self, table: Table) -> RowKind:
        """Return the kind of table in which the model gets these rows, by the first of them."""
        return self._admit_row(row_at(table, 0))[0].kind if table.n_rows else table.kind

    def scorer_of(self, rows: Any, reader: Reader) -> tuple[Scorer, Any]:
        """Return who scores rows of a matrix, or texts, and what it is handed."""
        reader = reader.fitting(rows)
        if isinstance(reader, RecordReader):
            records = reader.table(rows)
            everything = records.copies(np.arange(records.n_rows), {})
            if records.n_rows:
                self._count_classes(None, lambda: records.copies(np.arange(1), {}))
            return self.record_scorer or self.scorer, everything
        if isinstance(reader, RowReader):
            table = reader.table(rows)
            kind = self.kind_of(table)  # at the first row the scorer may change
            return self.scorer.handing(kind), table.csr
        texts = [one_text(text) for text in rows]
        if texts:
            self._count_classes(None, lambda: texts[:1])
        return self.text_scorer or self.scorer, texts

    def _admit_row(self, row: Row) -> tuple[Row, Decisions | None]:
        self._count_classes(row.kind, row.whole)
        original, decisions = row.original, None
        form = (row.kind, None if original is None else original.signature)
        if form not in self.kinds or (original is not None and original.is_cleaned):
            self.kinds[form], decisions = choose_kind(self.scorer, row)
        kind = self.kinds[form]
        return (row if kind == row.kind else replace(row, kind=kind)), decisions

    def _require_same_decision(self, text: str, by_steps: Decisions) -> None:
        """Raise unless the whole pipeline decides on a text as its later steps do on the text's row."""
        assert self.text_scorer is not None
        whole = self.text_scorer.decide([text], by_predict=True)
        if whole.classes[0] != by_steps.classes[0]:
            raise ModelError(
                "the steps of the model, run one by one, contradict its predict: the score of the text is "
                f"{whole.shown()} by the whole model and {by_steps.shown()} by its steps. Pass "
                'removal="delete", for which the model reads the text itself.'
            )

    def _require_own_decision(self, row: RecordRow) -> None:
        """Raise unless the user's own model decides as the one with relaxed encoders.

        It is asked about the first records, and about those with unknown categories, at which it may raise.
        """
        if self.record_scorer is None or (self._n_same >= ROWS_TO_CHECK and not row.holds_unknown):
            return
        self._n_same += 1
        record = row.whole()
        own, ours = (each.decide(record, by_predict=True) for each in (self.record_scorer, self.scorer))
        if own.classes[0] != ours.classes[0]:
            raise ModelError(
                "the model contradicts itself once its encoders take unknown categories: the score of the "
                f'row is {own.shown()} and {ours.shown()} then. Set handle_unknown="ignore" on its encoders.'
            )

    def _count_classes(self, kind: RowKind | None, first_row: Callable[[], Any]) -> None:
        """Find out, at the first row, how many classes a function scores."""
        if not self.scorer.is_open:
            return
        self.scorer = closed(self.scorer.handing(kind), first_row())
        if self.text_scorer is not None:
            self.text_scorer = self.scorer
        self.class_names = self.class_names or tuple(map(str, self.scorer.classes))
