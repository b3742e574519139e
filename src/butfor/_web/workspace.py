"""The workspace: a model with its rows, or the results of a batch, which one page of the server shows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from butfor import Explainer
from butfor._render.words import NOUNS
from butfor._web.filling import Filling
from butfor._web.metrics import Metrics
from butfor._web.overview import Overview, Query
from butfor._web.served_records import ServedRecords
from butfor._web.served_rows import Kind, ServedRows
from butfor._web.upkeep import Upkeep
from butfor.batch.identity import model_fingerprint

UNNAMED = ("negative", "positive")
"""The names of the classes of a model that has none."""


class StoredResults(Protocol):
    """The explanations that a batch wrote, by the number of the row."""

    def __call__(self, number: int) -> dict[str, Any]:
        """Return the explanation of a row, or its error."""
        ...

    def require_unchanged(self) -> None:
        """Raise if the results have changed since they were loaded."""
        ...


@dataclass(eq=False, kw_only=True)
class Workspace:
    """A model with its rows, or the results of a batch; safe to use from any thread."""

    name: str
    """The path of its pages, if there are several workspaces."""
    title: str
    kind: Kind
    classes: tuple[str, ...]
    threshold: float | None
    """None if the results of a batch hold none."""
    unit: tuple[str, str]
    """What one unit is called, and what several are."""
    explainer: Explainer | None = None
    data: ServedRows | None = None
    overview: Overview | None = None
    stored: StoredResults | None = None
    subject: str | None = None
    """Who is decided upon; `decision` is what was decided. Both are for sentences."""
    decision: str | None = None
    model_version: str | None = None
    """The fingerprint of the model, if it is known without the model."""
    _filling: Filling | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        explainer: Explainer,
        data: ServedRows | None = None,
        *,
        subject: str | None = None,
        decision: str | None = None,
    ) -> "Workspace":
        """Return the workspace of a model, with its rows if there are any."""
        classes = tuple(explainer.class_names) or UNNAMED
        return cls(
            name=name,
            title=title,
            kind="records" if explainer.takes_records else "texts" if explainer.takes_texts else "items",
            classes=classes,
            threshold=explainer.threshold,
            unit=NOUNS[explainer.unit],
            explainer=explainer,
            data=data,
            overview=None if data is None else Overview(data, classes),
            subject=subject,
            decision=decision,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return 0 if self.overview is None else len(self.overview)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def version(self) -> str:
        """The fingerprint of the model, as in the manifests of batches; empty if it is not known."""
        if self.explainer is None:
            return self.model_version or ""
        return model_fingerprint(self.explainer)

    @property
    def can_explain(self) -> bool:
        """Whether there is a model to ask."""
        return self.explainer is not None

    def open(self, explainer: Path, upkeep: Upkeep | None = None, metrics: Metrics | None = None) -> None:
        """Begin to score and explain all rows in the background; `explainer` is a file, made by `share`."""
        if self.explainer is not None and self.data is not None and self.overview is not None:
            max_seconds = self.explainer.budget.max_seconds
            self._filling = Filling(explainer, self.data, self.overview, max_seconds, upkeep, metrics)
            self._filling.start()

    def close(self) -> None:
        """Stop the work in the background."""
        if self._filling is not None:
            self._filling.close()

    def rows(self, query: Query) -> dict[str, Any]:
        """Return a page of rows; those that are not explained yet are explained next."""
        self._require_unchanged()
        page = self._required_overview.page(query)
        if self._filling is not None:
            self._filling.want([row["number"] for row in page["rows"] if row["status"] == "pending"])
        return page

    def summary(self, decision: str | None = None) -> dict[str, Any]:
        """Return counts over all rows, or over those with this decision."""
        self._require_unchanged()
        return self._required_overview.summary(decision)

    def row(self, number: int) -> dict[str, Any]:
        """Return what is known of one row without asking the model; raise IndexError if it does not exist."""
        if not 0 <= number < self.n_rows:
            raise IndexError(number)
        known = self._required_overview.state(number)
        return {
            **{name: known[name] for name in ("number", "id", "score", "decision", "status")},
            "text": None if self.data is None else self.data.text(number),
            "record": self.data.record(number) if isinstance(self.data, ServedRecords) else None,
            "explanation": None,
            "error": self._required_overview.error(number),
            **({} if self.stored is None else self.stored(number)),
        }

    def features(self, query: str, limit: int = 20) -> list[dict[str, Any]]:
        """Return features whose names contain the query; names that begin with it come first."""
        if self.explainer is None or self.explainer.takes_texts or self.explainer.takes_records:
            return []
        names, n_features = self.explainer.feature_names, self.explainer.n_features
        if names is None:  # without their number no row can be made of them
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
    def _required_overview(self) -> Overview:
        if self.overview is None:
            raise LookupError("there are no rows")
        return self.overview


def _by_number(query: str, n_features: int, limit: int) -> list[dict[str, Any]]:
    """Return unnamed features whose column begins with the digits of the query, shortest first."""
    wanted = query.casefold().removeprefix("feature").strip()
    if wanted and not (wanted.isdecimal() and wanted.isascii()):
        return []
    columns = range(n_features) if not wanted else _beginning_with(int(wanted[:20]), n_features)
    return [{"name": f"feature {column}", "column": column} for column in islice(columns, limit)]


def _beginning_with(number: int, most: int) -> Iterator[int]:
    """Yield the numbers below a limit that begin with the digits of `number`, shortest first."""
    width = 1
    while number * width < most:
        yield from range(number * width, min((number + 1) * width, most))
        width *= 10
        if number == 0:
            return
