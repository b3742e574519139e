"""What worker processes do for the API: every task reads the explainer, asks it, and writes the answer."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butfor import Budget, Explainer, Explanation
from butfor.bench import Bench
from butfor.errors import ButforError
from butfor.render import TITLE, card, page
from butfor.render.html import notes
from butfor.render.plain import effort, extent, how_removed
from butfor.render.words import class_named, is_contradicted
from butfor.sharing import shared
from butfor.web.kept import Kept
from butfor.workers import Note

MOST_BENCHES = 32
"""Rows that are kept ready for further questions."""
LETTER = "{decision} because of {n} {noun}: {features}. Without {them}, "


@dataclass(frozen=True)
class Words:
    """How a desk speaks of its rows."""

    subject: str | None = None
    decision: str | None = None


@dataclass(frozen=True)
class Inquest:
    """What one request is about: whose model, which row, what may not be used."""

    explainer: Path
    row: Any = None
    """A text, or a row of numbers."""
    items: Any = None
    """Or the items of which to make a row."""
    protected: tuple[str | int, ...] = ()
    words: Words = Words()
    include: tuple[str, ...] = ()

    def opened(self, **options: Any) -> tuple[Explainer, Any]:
        """Give the explainer, told what may not be used, and the row."""
        explainer: Explainer = shared(self.explainer)
        row = self.row if self.items is None else explainer.row_of(_keyed(self.items, explainer))
        if options or self.protected:
            explainer = explainer.with_options(protected=self.protected, **options)
        return explainer, row


def load(paths: Sequence[Path], note: Note) -> None:
    """Read all explainers, so that no request waits for it."""
    for path in paths:
        shared(path)


def explain(asked: Inquest, search: str | None, budget: Budget, note: Note) -> bytes:
    """Find the smallest explanation."""
    explainer, row = asked.opened(search=search, budget=budget)
    return written(answer(explainer.explain(row), asked.words, asked.include))


def score(asked: Inquest, removed: Sequence[int | str], with_units: bool, note: Note) -> bytes:
    """Score a row without some units."""
    bench = _bench(asked)
    trial = bench.without(list(removed))
    why = trial.explanation
    return written(
        {
            "score": trial.score,
            "score_without": trial.score_without,
            "threshold": trial.threshold,
            "decision": trial.decision,
            "decision_without": trial.decision_without,
            "flipped": trial.flipped,
            "n_classes": bench.n_classes,
            "explanation": None if why is None else answer(why, asked.words, asked.include),
            "units": _units(bench) if with_units else None,
            "text": bench.text if with_units else None,
        }
    )


def alternatives(asked: Inquest, budget: Budget, skip: int, limit: int, note: Note) -> bytes:
    """Find several explanations, smallest first."""
    explainer, row = asked.opened()
    found = explainer.alternatives(
        row, max_size=budget.max_size, max_seconds=budget.max_seconds, limit=skip + limit
    )
    explanations = list(found)[skip:]
    return written(
        {
            "explanations": [answer(why, asked.words, asked.include) for why in explanations],
            "complete_up_to": found.complete_up_to,
            "reason": found.reason,
        }
    )


def compare(asked: Inquest, searches: Sequence[str], budget: Budget, note: Note) -> bytes:
    """Have several searches explain the same row."""
    compared = []
    for search in searches:
        compared.append(_compared(asked, search, budget))
        note(search)
    return written({"searches": compared})


def answer(why: Explanation, words: Words, include: Collection[str] = ()) -> dict[str, Any]:
    """Write an explanation with all that the page says of it."""
    letter, whole = None, None
    if "letter" in include and why and not is_contradicted(why):
        letter = _letter(why, words)
    if "page" in include:
        shown = card(why, subject=words.subject, decision=words.decision)
        whole = page(TITLE, [("", [shown])])
    return {
        **why.to_dict(),
        "size": why.size,
        "proven": why.proven_minimum,
        "sentence": why.sentence(subject=words.subject, decision=words.decision),
        "proof": notes(why),
        "facts": " · ".join(part for part in (extent(why), how_removed(why), effort(why)) if part),
        "letter": letter,
        "page": whole,
    }


def written(content: dict[str, Any]) -> bytes:
    """Write an answer as JSON, which knows no infinity.

    >>> written({"lower_bound": float("inf")})
    b'{"lower_bound": null}'
    """
    try:
        return json.dumps(content, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(content), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _compared(asked: Inquest, search: str, budget: Budget) -> dict[str, Any]:
    nothing = {"size": 0, "features": [], "places": [], "score_without": None, "lower_bound": None}
    try:
        explainer, row = asked.opened(search=search, budget=budget)
        why = explainer.explain(row)
    except ButforError as error:
        spent = {"proven": False, "n_scored": 0, "seconds": 0.0, "reason": ""}
        return {"search": search, "status": "error", **nothing, **spent, "error": str(error)}
    values = why.to_dict()
    kept = ("status", "features", "places", "score_without", "lower_bound", "n_scored", "seconds", "reason")
    return {
        "search": search,
        **{name: values[name] for name in kept},
        "size": why.size,
        "proven": why.proven_minimum,
        "error": None,
    }


def _letter(why: Explanation, words: Words) -> str:
    if words.decision is None and not why.decision:
        return why.sentence(subject=words.subject)
    if words.subject is not None:
        return why.letter("decided", subject=words.subject, decision=words.decision)
    said = why.letter(LETTER, decision=words.decision)
    named = words.decision is None and why.decision_without
    otherwise = class_named(why.decision_without) if named else "another"
    return f"{said[:1].upper()}{said[1:]}the decision would have been {otherwise}."


_benches = Kept(MOST_BENCHES)


def _bench(asked: Inquest) -> Bench:
    """Give a row ready for questions: read once, asked many times."""

    def made() -> Bench:
        explainer, row = asked.opened()
        return explainer.bench(row)

    key = (asked.explainer, _identity(asked.row), json.dumps(asked.items), asked.protected)
    return _benches.get(key, made)


def _identity(row: Any) -> Any:
    """Tell rows apart by their content."""
    return (row.indices.tobytes(), row.data.tobytes()) if hasattr(row, "indices") else row


def _units(bench: Bench) -> list[dict[str, Any]]:
    return [
        {"name": name, "spans": places, "removable": removable}
        for name, places, removable in zip(bench.items, bench.spans, bench.removable, strict=True)
    ]


def _keyed(items: Any, explainer: Explainer) -> Any:
    """JSON has names only: where features have none, they are columns."""
    if isinstance(items, dict) and explainer.feature_names is None:
        return {int(key) if _is_number(key) else key: value for key, value in items.items()}
    return items


def _is_number(key: str) -> bool:
    """Tell whether a key is a column; Python reads no number of thousands of digits."""
    return len(key) < 20 and key.isdecimal()
