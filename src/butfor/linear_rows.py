"""Explanations of many rows of a linear model: found by sorting, confirmed by the model, all together."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from butfor.errors import ButforError
from butfor.explanation import Explanation
from butfor.inquiry import Inquiry
from butfor.models import BoolArray, LinearRows, Said, SortedRows, Table, sort_rows
from butfor.models.row_kind import RowKind
from butfor.searches import Auto
from butfor.subjects import Rows
from butfor.subjects.names import Names


def is_linear(inquiry: Inquiry) -> bool:
    """Tell whether answers are a matter of sorting: single features of a linear model, of equal cost."""
    reader = inquiry.reader
    plain = isinstance(reader, Rows) and reader.groups is None and reader.costs is None
    asked = isinstance(inquiry.search, Auto) and inquiry.scorer.target is None
    return plain and asked and inquiry.linear is not None


def explain_linear(
    inquiry: Inquiry, table: Table, *, only_positive: bool = False
) -> dict[int, Explanation | None]:
    """Explain those rows that sorting settles, by their number; None: it is negative.

    Rows so close to the threshold that rounding matters are not among them, nor those of which the model
    itself says something else.
    """
    began = time.monotonic()
    if not table.n_rows:
        return {}
    X = table.csr
    try:
        kind = inquiry.kind_of(table)
        said = inquiry.scorer.handing(kind).said(X, alone=True)
        wanted = np.ones(X.shape[0], dtype=bool)
        if only_positive:
            wanted = said.classes == inquiry.scorer.positive
        some = X if wanted.all() else X[wanted]
        answers = _Answers.of(inquiry, some, kind, said[wanted], table.names)
    except ButforError:
        return {}  # row by row it is seen which row it is that the model fails on
    explained: dict[int, Explanation | None] = dict.fromkeys(np.flatnonzero(~wanted).tolist())
    if answers is not None:
        sure = answers.confirmed()
        seconds = (time.monotonic() - began) / len(sure)
        numbers = np.flatnonzero(wanted)[sure].tolist()
        explained.update(zip(numbers, answers.explanations(sure, seconds), strict=True))
    return explained


@dataclass(frozen=True, eq=False)
class _Answers:
    """What sorting found for some rows, and what the model says of that."""

    inquiry: Inquiry
    X: Any
    found: SortedRows
    said: Said
    """What the model says of the rows."""
    said_without: Said
    """What it says of them without the features of the answer."""
    names: Names

    @staticmethod
    def of(
        inquiry: Inquiry, X: Any, kind: RowKind, said: Said, names: tuple[str, ...] | None
    ) -> "_Answers | None":
        """Sort the rows, and ask the model of what comes of it."""
        model, reader = cast(LinearRows, inquiry.linear), cast(Rows, inquiry.reader)
        removable = np.ones(X.nnz, dtype=bool)
        if reader.protected:
            removable = ~np.isin(X.indices, list(reader.protected))
        scorer = inquiry.scorer.handing(kind)
        found = sort_rows(model, X, kind, scorer.threshold, inquiry.budget.max_size, removable)
        if found is None or not X.shape[0]:
            return None
        outputs, classes = said.outputs.copy(), said.classes.copy()
        asked = found.settled & (found.sizes > 0)
        if asked.any():
            of_answers = scorer.said(_without(X, found)[asked], alone=True)
            outputs[asked], classes[asked] = of_answers.outputs, of_answers.classes
        return _Answers(inquiry, X, found, said, Said(outputs, classes), reader.names_of(names))

    def confirmed(self) -> BoolArray:
        """Tell which rows are settled, and the model agrees."""
        found, model = self.found, cast(LinearRows, self.inquiry.linear)
        agrees = model.agrees(found.scores, self.said.outputs, found.errors)
        flipped = self.said.classes != self.said_without.classes
        as_found = found.positive == (self.said.classes == self.inquiry.scorer.positive)
        sure = found.settled & agrees & as_found & (found.n_removable > 0)
        return np.asarray(sure & (flipped | (found.sizes == 0)))

    def explanations(self, which: BoolArray, seconds: float) -> Iterator[Explanation]:
        """Write down what was found for these rows."""
        inquiry, found, X = self.inquiry, self.found, self.X
        model, scorer, names = cast(LinearRows, inquiry.linear), inquiry.scorer, self.names
        max_size = inquiry.budget.max_size
        common: dict[str, Any] = {
            "weights": (),
            "threshold": scorer.threshold,
            "max_size": max_size,
            "seconds": seconds,
            "search": inquiry.search_name,
            "local_model": model.network.kind,
            "reason": "",
            "n_classes": max(2, len(inquiry.class_names)),
        }
        positive, negative = (inquiry.class_name(i) for i in (scorer.positive, 1 - scorer.positive))
        items, bounds = names.of(X.indices), X.indptr.tolist()
        # All answers behind one another: numbers become Python's own once for the block, not row by row.
        chosen = found.order[found.in_answer]
        removed = X.indices[chosen]
        features, columns = names.of(removed), tuple(removed.tolist())
        places = tuple((chosen - np.repeat(X.indptr[:-1], found.sizes)).tolist())
        path = tuple(model.reported(found.scores_without[found.in_answer]).tolist())
        said, said_without = self.said.outputs.tolist(), self.said_without.outputs.tolist()
        sizes, ends = found.sizes.tolist(), np.cumsum(found.sizes).tolist()
        n_removable, n_ranked = found.n_removable.tolist(), found.n_ranked.tolist()
        for i in np.flatnonzero(which).tolist():
            size, end, n_active = sizes[i], ends[i], bounds[i + 1] - bounds[i]
            own, other = (positive, negative) if found.positive[i] else (negative, positive)
            yield Explanation(
                status="found" if size else "none",
                features=features[end - size : end],
                columns=columns[end - size : end],
                score=said[i],
                score_without=said_without[i],
                lower_bound=size or min(max_size, n_removable[i]) + 1,
                n_active=n_active,
                n_protected=n_active - n_removable[i],
                # As many as the search scores: every feature alone, then the ranking from the top.
                n_scored=n_removable[i] + (0 if size == 1 else n_ranked[i]),
                cost=size,
                path=(*path[end - size : end - 1], said_without[i]) if size else (),
                items=items[bounds[i] : bounds[i + 1]],
                places=places[end - size : end],
                decision=own,
                decision_without=other if size else own,
                **common,
            )


def _without(X: Any, found: SortedRows) -> Any:
    """Give the rows without the features of their answers."""
    kept = np.ones(X.nnz, dtype=bool)
    kept[found.order[found.in_answer]] = False
    rest = X.copy()
    rest.data, rest.indices = X.data[kept], X.indices[kept]
    rest.indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr].astype(X.indptr.dtype)
    return rest
