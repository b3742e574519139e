"""A model with its rows, or the results of a batch: what one page of the server is about."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from butfor import Explainer
from butfor.render.words import NOUNS
from butfor.web.filling import Filling
from butfor.web.given import Given, Kind
from butfor.web.table import Query, Table

UNNAMED = ("negative", "positive")
"""What the classes of a model are called that does not name them."""


class Stored(Protocol):
    """Reads what a batch has written."""

    def __call__(self, number: int) -> dict[str, Any]:
        """Give the explanation of a row, or its error."""
        ...

    def require_unchanged(self) -> None:
        """Raise where it is not what was loaded any more."""
        ...


@dataclass(eq=False, kw_only=True)
class Desk:
    """What is shown under one address; any thread may ask."""

    name: str
    """Its place in the address."""
    title: str
    kind: Kind
    classes: tuple[str, ...]
    threshold: float | None
    """None where results do not tell."""
    unit: tuple[str, str]
    """What one and several of the things are called that can be removed."""
    explainer: Explainer | None = None
    given: Given | None = None
    table: Table | None = None
    stored: Stored | None = None
    subject: str | None = None
    """Who is decided upon, and what was decided, for sentences."""
    decision: str | None = None
    _filling: Filling | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        explainer: Explainer,
        given: Given | None = None,
        *,
        subject: str | None = None,
        decision: str | None = None,
    ) -> "Desk":
        """Make the desk of a model, with its rows if there are any."""
        classes = tuple(explainer.class_names) or UNNAMED
        return cls(
            name=name,
            title=title,
            kind="texts" if explainer.takes_texts else "items",
            classes=classes,
            threshold=explainer.threshold,
            unit=NOUNS[explainer.unit],
            explainer=explainer,
            given=given,
            table=None if given is None else Table(given, classes),
            subject=subject,
            decision=decision,
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return 0 if self.table is None else len(self.table)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def can_explain(self) -> bool:
        """Whether there is a model to ask."""
        return self.explainer is not None

    def open(self, explainer: Path) -> None:
        """Begin to score and explain all rows in the background, with the explainer that was shared there."""
        if self.explainer is not None and self.given is not None and self.table is not None:
            self._filling = Filling(explainer, self.given, self.table, self.explainer.budget.max_seconds)
            self._filling.start()

    def close(self) -> None:
        """End what goes on in the background."""
        if self._filling is not None:
            self._filling.close()

    def rows(self, query: Query) -> dict[str, Any]:
        """Give a page of rows, which are explained before the others."""
        self._require_unchanged()
        page = self._rows.page(query)
        if self._filling is not None:
            self._filling.want([row["number"] for row in page["rows"] if row["status"] == "pending"])
        return page

    def summary(self, decision: str | None = None) -> dict[str, Any]:
        """Count what is known of all rows, or of those that are decided so."""
        self._require_unchanged()
        return self._rows.summary(decision)

    def row(self, number: int) -> dict[str, Any]:
        """Give what is known of one row without asking the model; IndexError where there is none such."""
        if not 0 <= number < self.n_rows:
            raise IndexError(number)
        known = self._rows.state(number)
        return {
            **{name: known[name] for name in ("number", "id", "score", "decision", "status")},
            "text": None if self.given is None else self.given.text(number),
            "explanation": None,
            "error": self._rows.error(number),
            **({} if self.stored is None else self.stored(number)),
        }

    def features(self, query: str, limit: int = 20) -> list[dict[str, Any]]:
        """Find features by their names or columns, to pick items: names that begin so, then all others."""
        if self.explainer is None or self.explainer.takes_texts:
            return []
        names, n_features = self.explainer.feature_names, self.explainer.n_features
        if names is None:  # where nobody knows how many there are, no row can be made of them
            return [] if n_features is None else _by_number(query, n_features, limit)
        wanted = query.casefold()
        folded = [name.casefold() for name in names]
        found: Iterator[int] = chain(
            (column for column, name in enumerate(folded) if name.startswith(wanted)),
            (column for column, name in enumerate(folded) if wanted in name and not name.startswith(wanted)),
        )
        return [{"name": names[column], "column": column} for column in islice(found, limit)]

    def _require_unchanged(self) -> None:
        if self.stored is not None:
            self.stored.require_unchanged()

    @property
    def _rows(self) -> Table:
        if self.table is None:
            raise LookupError("there are no rows")
        return self.table


def _by_number(query: str, n_features: int, limit: int) -> list[dict[str, Any]]:
    """Find columns that have no names: the one of that number, then those whose numbers begin so."""
    wanted = query.casefold().removeprefix("feature").strip()
    if wanted and not (wanted.isdecimal() and wanted.isascii()):
        return []
    columns = range(n_features) if not wanted else _beginning_with(int(wanted[:20]), n_features)
    return [{"name": f"feature {column}", "column": column} for column in islice(columns, limit)]


def _beginning_with(number: int, most: int) -> Iterator[int]:
    """Give the numbers below a limit that begin with the digits of this one, the shortest first."""
    width = 1
    while number * width < most:
        yield from range(number * width, min((number + 1) * width, most))
        width *= 10
        if number == 0:
            return
