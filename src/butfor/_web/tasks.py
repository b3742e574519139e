"""The tasks of worker processes: each loads an explainer, asks it, and returns the answer as JSON."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from butfor import Budget, Explainer, Explanation, WhatIf
from butfor._processes.messages import Note
from butfor._processes.one_thread import limit_threads
from butfor._processes.sharing import shared
from butfor._render import TITLE, card, page
from butfor._render.html import notes
from butfor._render.plain import effort, extent, how_removed
from butfor._render.words import class_named, is_contradicted
from butfor._web.cache import LRUCache
from butfor._web.upkeep import Upkeep
from butfor.errors import ButforError

MOST_WHAT_IFS = 32
"""What-if sessions that a process keeps for further requests."""
LETTER = "{decision} because of {n} {noun}: {features}. Without {them}, "


@dataclass(frozen=True)
class Wording:
    """The words for sentences about a row: who is decided upon, and what was decided."""

    subject: str | None = None
    decision: str | None = None


@dataclass(frozen=True)
class Question:
    """What one request is about: an explainer, a row, and the features that may not be used."""

    explainer: Path
    row: Any = None
    """A text, a row of numbers, or a record."""
    items: Any = None
    """The items to make a row of; None if `row` is set."""
    protected: tuple[str | int, ...] = ()
    wording: Wording = Wording()
    include: tuple[str, ...] = ()

    def digest(self) -> str:
        """Return a digest of the row, as this explainer gets it."""
        content = (str(self.explainer), _row_key(self.row), json.dumps(self.items))
        return sha256(repr(content).encode("utf-8", "surrogatepass")).hexdigest()

    def load(self, **options: Any) -> tuple[Explainer, Any]:
        """Return the explainer with the protected features and other options, and the row."""
        explainer: Explainer = shared(self.explainer)
        row = self.row if self.items is None else explainer.row_of(_with_columns(self.items, explainer))
        if options or self.protected:
            explainer = explainer.with_options(protected=self.protected, **options)
        return explainer, row


class Reply(NamedTuple):
    """The answer to a request, and what came of the searches for it."""

    content: bytes
    searches: tuple[tuple[str, str], ...] = ()
    """The outcome of each search, and whether it is proven."""


def load(paths: Sequence[Path], upkeep: Upkeep, note: Note) -> None:
    """Load all explainers, so that no request waits for that; each process uses one thread."""
    for path in paths:
        limit_threads(shared(path))
    upkeep.limit_memory()


def ping(note: Note) -> str:
    """Answer, which a process can only do once it has loaded all explainers."""
    return "here"


def explain(question: Question, search: str | None, budget: Budget, note: Note) -> Reply:
    """Find the smallest explanation."""
    explainer, row = question.load(search=search, budget=budget)
    why = explainer.explain(row)
    return Reply(written(answer(why, question.wording, question.include)), (_outcome(why),))


def score(question: Question, removed: Sequence[int | str], with_units: bool, note: Note) -> Reply:
    """Score a row without some units."""
    what_if = _what_if(question)
    trial = what_if.without(list(removed))
    why = trial.explanation
    content = written(
        {
            "score": trial.score,
            "score_without": trial.score_without,
            "threshold": trial.threshold,
            "decision": trial.decision,
            "decision_without": trial.decision_without,
            "flipped": trial.flipped,
            "n_classes": what_if.n_classes,
            "explanation": None if why is None else answer(why, question.wording, question.include),
            "units": _units(what_if) if with_units else None,
            "text": what_if.text if with_units else None,
            "table": what_if.table if with_units else None,
        }
    )
    return Reply(content)


def alternatives(question: Question, budget: Budget, skip: int, limit: int, note: Note) -> Reply:
    """Find several explanations, smallest first."""
    explainer, row = question.load()
    found = explainer.alternatives(
        row, max_size=budget.max_size, max_seconds=budget.max_seconds, limit=skip + limit
    )
    explanations = list(found)[skip:]
    content = written(
        {
            "explanations": [answer(why, question.wording, question.include) for why in explanations],
            "complete_up_to": found.complete_up_to,
            "reason": found.reason,
        }
    )
    if explanations:
        return Reply(content, (_outcome(explanations[0]),))
    return Reply(content, (("budget", "unproven") if found.reason else ("none", "proven"),))


def compare(question: Question, searches: Sequence[str], budget: Budget, note: Note) -> Reply:
    """Have several searches explain the same row."""
    compared = []
    for search in searches:
        compared.append(_compared(question, search, budget))
        note(search)
    outcomes = tuple((each["status"], _proof(each["proven"], each["status"])) for each in compared)
    return Reply(written({"searches": compared}), outcomes)


def answer(why: Explanation, wording: Wording, include: Collection[str] = ()) -> dict[str, Any]:
    """Return an explanation as the API has it; `include` names a letter and a page."""
    letter, html = None, None
    if "letter" in include and why and not is_contradicted(why):
        letter = _letter(why, wording)
    if "page" in include:
        body = card(why, subject=wording.subject, decision=wording.decision)
        html = page(TITLE, [("", [body])])
    return {
        **why.to_dict(),
        "size": why.size,
        "proven": why.proven_minimum,
        "sentence": why.sentence(subject=wording.subject, decision=wording.decision),
        "proof": notes(why),
        "facts": " · ".join(fact for fact in (extent(why), how_removed(why), effort(why)) if fact),
        "letter": letter,
        "page": html,
    }


def _outcome(why: Explanation) -> tuple[str, str]:
    """Return the status of an explanation, and whether it is proven."""
    return why.status, _proof(why.proven_minimum, why.status)


def _proof(is_minimum: bool, status: str) -> str:
    return "proven" if is_minimum or status == "none" else "unproven"


def written(content: dict[str, Any]) -> bytes:
    """Return an answer as JSON; infinity and nan become null.

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


def _compared(question: Question, search: str, budget: Budget) -> dict[str, Any]:
    nothing = {"size": 0, "features": [], "places": [], "score_without": None, "lower_bound": None}
    try:
        explainer, row = question.load(search=search, budget=budget)
        why = explainer.explain(row)
    except ButforError as error:
        spent = {"proven": False, "n_scored": 0, "seconds": 0.0, "reason": ""}
        return {"search": search, "status": "error", **nothing, **spent, "error": str(error)}
    values = why.to_dict()
    names = ("status", "features", "places", "score_without", "lower_bound", "n_scored", "seconds", "reason")
    return {
        "search": search,
        **{name: values[name] for name in names},
        "size": why.size,
        "proven": why.proven_minimum,
        "error": None,
    }


def _letter(why: Explanation, wording: Wording) -> str:
    if wording.decision is None and not why.decision:
        return why.sentence(subject=wording.subject)
    if wording.subject is not None:
        return why.letter("decided", subject=wording.subject, decision=wording.decision)
    text = why.letter(LETTER, decision=wording.decision)
    named = wording.decision is None and why.decision_without
    otherwise = class_named(why.decision_without) if named else "another"
    return f"{text[:1].upper()}{text[1:]}the decision would have been {otherwise}."


_what_ifs = LRUCache(MOST_WHAT_IFS)


def _what_if(question: Question) -> WhatIf:
    """Return a what-if session for a row; a recent one is used again."""

    def start() -> WhatIf:
        explainer, row = question.load()
        return explainer.what_if(row)

    key = (question.explainer, _row_key(question.row), json.dumps(question.items), question.protected)
    return _what_ifs.get(key, start)


def _row_key(row: Any) -> Any:
    """Return a hashable key of a row's content."""
    if hasattr(row, "indices"):
        return row.indices.tobytes(), row.data.tobytes()
    return json.dumps(row) if isinstance(row, dict | list) else row


def _units(what_if: WhatIf) -> list[dict[str, Any]]:
    return [
        {"name": name, "spans": spans, "marks": marks, "removable": removable}
        for name, spans, marks, removable in zip(
            what_if.items, what_if.spans, what_if.marks, what_if.removable, strict=True
        )
    ]


def _with_columns(items: Any, explainer: Explainer) -> Any:
    """Return items with columns as numbers if features have no names: keys of JSON are always strings."""
    if isinstance(items, dict) and explainer.feature_names is None:
        return {int(key) if _is_column(key) else key: value for key, value in items.items()}
    return items


def _is_column(key: str) -> bool:
    """Return whether a key is a column; int() refuses strings of thousands of digits."""
    return len(key) < 20 and key.isdecimal()
