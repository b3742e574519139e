"""Scores and outcomes of all rows in flat arrays, so that pages and counts of many rows take milliseconds."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from butfor._web.cache import LRUCache
from butfor._web.row_features import RowFeatures
from butfor._web.served_rows import BoolArray, ListedRows
from butfor.errors import InputError
from butfor.results.explanation import Explanation

RowStatus = Literal["pending", "found", "none", "budget", "error"]
Sort = Literal["number", "-number", "score", "-score", "size", "-size"]
STATUSES: tuple[str, ...] = get_args(RowStatus)
SORTS: tuple[str, ...] = get_args(Sort)
PENDING, FOUND, ERROR = STATUSES.index("pending"), STATUSES.index("found"), STATUSES.index("error")
TOP_FEATURES = 30

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Query:
    """Which rows to list, in which order, and which page of them; all filters apply together."""

    page: int = 1
    per_page: int = 50
    sort: str = "number"
    q: str = ""
    decision: str | None = None
    status: str | None = None
    size: int | None = None
    proven: bool | None = None
    feature: str | None = None

    def __post_init__(self) -> None:
        _require_one_of("sort", self.sort, SORTS)
        if self.status is not None:
            _require_one_of("status", self.status, STATUSES)


class Overview:
    """Scores, decisions and sizes of all rows, as far as they are known; safe to use from any thread."""

    def __init__(
        self, rows: ListedRows, classes: Sequence[str], row_features: RowFeatures | None = None
    ) -> None:
        n_rows = len(rows)
        self._rows = rows
        self._classes = tuple(classes)
        self._lock = threading.RLock()
        self._score = np.full(n_rows, np.nan)
        self._decision = np.full(n_rows, -1, dtype=np.int16)
        self._scored = np.zeros(n_rows, dtype=bool)
        self._status = np.full(n_rows, PENDING, dtype=np.int8)
        self._size = np.zeros(n_rows, dtype=np.int32)
        self._lower_bound = np.zeros(n_rows)
        self._proven = np.zeros(n_rows, dtype=bool)
        self._contradicted = np.zeros(n_rows, dtype=bool)
        self._row_features = RowFeatures() if row_features is None else row_features
        self._errors: dict[int, str] = {}
        self._version = self._score_version = 0
        self._cache = LRUCache()
        self._search_cache = LRUCache()
        """Results of text searches, which take longer; they have a cache, and so a lock, of their own."""

    def __len__(self) -> int:
        return len(self._status)

    def note_scores(self, numbers: Sequence[int], scores: Any, classes: Any) -> None:
        """Store the scores of rows and the indices of their classes; nan and -1 if the model failed."""
        with self._lock:
            rows = np.asarray(numbers)
            self._score[rows], self._decision[rows], self._scored[rows] = scores, classes, True
            self._version += 1
            self._score_version += 1

    def note_outcomes(self, numbers: Sequence[int], outcomes: Sequence[Explanation | Exception]) -> None:
        """Store the outcomes of rows that have none yet: explanations, or the errors that were raised."""
        with self._lock:
            for number, outcome in zip(numbers, outcomes, strict=True):
                if self._status[number] != PENDING:
                    continue
                if isinstance(outcome, Explanation):
                    self._store(number, outcome)
                else:
                    self._status[number] = ERROR
                    self._errors[number] = str(outcome)
                self._scored[number] = True
            self._version += 1

    def fill(self, start: int, columns: Mapping[str, Any]) -> None:
        """Store the outcomes of consecutive rows from arrays, one a column.

        `columns` are score, decision (indices of classes), status (of STATUSES), size, lower_bound,
        proven, contradicted.
        """
        with self._lock:
            rows = slice(start, start + len(columns["status"]))
            for name, values in columns.items():
                getattr(self, f"_{name}")[rows] = values
            self._scored[rows] = True
            self._version += 1
            self._score_version += 1

    def error(self, number: int) -> str | None:
        """Return the error of a row, or None."""
        return self._errors.get(number)

    def state(self, number: int) -> dict[str, Any]:
        """Return what is known of one row."""
        with self._lock:
            return self._entry(number)

    def pending(self, numbers: IntArray) -> IntArray:
        """Return those of the rows that have no outcome yet."""
        pending: IntArray = numbers[self._status[numbers] == PENDING]
        return pending

    def unscored(self, numbers: IntArray) -> IntArray:
        """Return those of the rows that have no score yet."""
        return numbers[~self._scored[numbers]]

    def page(self, query: Query) -> dict[str, Any]:
        """Return one page of rows, as GET api/rows has it."""
        found = self._search_cache.get(query.q, lambda: self._rows.matching(query.q)) if query.q else None
        with self._lock:
            matching = self._matching(query, found)
            first = (query.page - 1) * query.per_page
            numbers = matching[first : first + query.per_page].tolist()
            entries = [self._entry(number) for number in numbers]
            progress = self._progress()
        for entry in entries:
            entry["preview"] = self._rows.preview(entry["number"])
        return {
            "total": len(self),
            "matching": len(matching),
            "page": query.page,
            "per_page": query.per_page,
            "rows": entries,
            "progress": progress,
        }

    def summary(self, decision: str | None = None) -> dict[str, Any]:
        """Count decisions, statuses, sizes and features, as GET api/rows/summary has it."""
        with self._lock:
            return self._cache.get(("summary", decision, self._version), lambda: self._counts(decision))

    def _counts(self, decision: str | None) -> dict[str, Any]:
        chosen = slice(None) if decision is None else self._decided(decision)
        statuses = np.bincount(self._status[chosen], minlength=len(STATUSES))
        decided = np.bincount(self._decision[chosen] + 1, minlength=len(self._classes) + 1)[1:]
        sizes = np.bincount(self._size[chosen][self._status[chosen] == FOUND])
        named: dict[str, int] = {}
        for name, count in zip(self._classes, decided.tolist(), strict=True):
            named[name] = named.get(name, 0) + count
        return {
            "total": int(statuses.sum()),
            "progress": self._progress(),
            "decisions": named,
            "statuses": dict(zip(STATUSES, statuses.tolist(), strict=True)),
            "sizes": {str(size): count for size, count in enumerate(sizes.tolist()) if count},
            "n_found": int(statuses[FOUND]),
            "n_proven": int(np.count_nonzero(self._proven[chosen])),
            "features": [
                {"name": name, "count": count}
                for name, count in self._row_features.most_common(
                    TOP_FEATURES, None if decision is None else self._decided(decision)
                )
            ],
        }

    def _matching(self, query: Query, found: BoolArray | None) -> IntArray:
        """Return the numbers of all rows of a query, in order; `found` marks the rows that hold its text."""
        whole = replace(query, page=1, per_page=1)
        return self._cache.get(("matching", whole, self._version), lambda: self._ordered(whole, found))

    def _ordered(self, query: Query, found: BoolArray | None) -> IntArray:
        order, masks = self._order(query.sort), self._masks(query)
        if found is not None:
            masks.append(found)
        return order[np.logical_and.reduce(masks)[order]] if masks else order

    def _order(self, sort: str) -> IntArray:
        if sort.endswith("number"):
            numbers = np.arange(len(self))
            return numbers[::-1] if sort.startswith("-") else numbers
        version = self._score_version if sort.endswith("score") else self._version
        return self._cache.get(("order", sort, version), lambda: self._sorted(sort))

    def _sorted(self, sort: str) -> IntArray:
        """Return the rows sorted; rows without a value come last in either direction."""
        values = (
            self._score if sort.endswith("score") else np.where(self._status == FOUND, self._size, np.nan)
        )
        return np.argsort(-values if sort.startswith("-") else values, kind="stable")

    def _masks(self, query: Query) -> list[BoolArray]:
        masks: list[BoolArray] = []
        if query.decision is not None:
            masks.append(self._decided(query.decision))
        if query.status is not None:
            masks.append(self._status == STATUSES.index(query.status))
        if query.size is not None:
            masks.append((self._size == query.size) & (self._status == FOUND))
        if query.proven is not None:
            masks.append((self._proven == query.proven) & (self._status == FOUND))
        if query.feature is not None:
            masks.append(self._row_features.mask(query.feature, len(self)))
        return masks

    def _decided(self, decision: str) -> BoolArray:
        indices = [index for index, name in enumerate(self._classes) if name == decision]
        return np.isin(self._decision, indices)

    def _store(self, number: int, why: Explanation) -> None:
        if np.isnan(self._score[number]):
            self._score[number] = why.score
            self._score_version += 1
        if self._decision[number] < 0:
            self._decision[number] = self._class_of(why)
        self._status[number] = STATUSES.index(why.status)
        self._size[number] = why.size
        self._lower_bound[number] = why.lower_bound
        self._proven[number] = why.proven_minimum
        self._contradicted[number] = why.survives_deletion is False
        self._row_features.add(number, why.features)

    def _class_of(self, why: Explanation) -> int:
        """Return the index of the decided class; the score decides if the classes have no names."""
        if not why.decision:
            return int(why.score >= why.threshold)
        return self._classes.index(why.decision) if why.decision in self._classes else -1

    def _entry(self, number: int) -> dict[str, Any]:
        status, score = self._status[number], float(self._score[number])
        known = status not in (PENDING, ERROR)
        decision = int(self._decision[number])
        return {
            "number": number,
            "id": self._rows.id(number),
            "preview": "",
            "score": None if np.isnan(score) else score,
            "decision": None if decision < 0 else self._classes[decision],
            "status": STATUSES[status],
            "size": int(self._size[number]) if status == FOUND else None,
            "lower_bound": float(self._lower_bound[number]) if known else None,
            "proven": bool(self._proven[number]) if status == FOUND else None,
            "contradicted": bool(self._contradicted[number]) if status == FOUND else None,
        }

    def _progress(self) -> dict[str, int]:
        explained = len(self) - int(np.count_nonzero(self._status == PENDING))
        return {"total": len(self), "scored": int(np.count_nonzero(self._scored)), "explained": explained}


def _require_one_of(argument: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{argument} must be one of {', '.join(known)}, got {value!r}.")
