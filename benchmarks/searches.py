"""Our searches against the naive one: the same rows and model, in one run."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.common import explained, timed
from benchmarks.naive_sedc import naive_sedc
from butfor import SEARCHES, Budget, Explainer, Explanation
from butfor.models import OutOfTime

Answers = list[tuple[frozenset[int] | None, Explanation | None]]
NAIVE_SECONDS = 30.0
PROOF_SECONDS = 1.0


@dataclass(frozen=True)
class Comparison:
    """The cost of one search over the rows of a case, against the naive one."""

    data: str
    model: str
    search: str
    n_rows: int
    median_active: float
    explained: int
    median_size: float
    largest_size: int
    same_as_naive: int
    """Rows with the answer of the naive search; for certified, with an answer of its size or smaller."""
    compared: int
    """Rows that the naive search finished in time."""
    proven: int
    """Rows whose answer is proven to be smallest, or that are proven to have none of at most 30 features."""
    median_gap: float
    """For rows without a proof: how much larger the answer is than the proven bound."""
    ms: float
    p90_ms: float
    largest_ms: float
    model_call_ms: float
    """The time of one model call on the row and its changed copy, which every answer needs."""
    times_faster: float
    """The median over the rows of the ratio of the naive search's time to this one's."""
    search_ms: float
    """The time of the local model and the search alone, without the call of the model that confirms."""
    search_times_faster: float


def compare(case: Case) -> Iterator[Comparison]:
    """Yield the comparison for the naive search, then for ours: black box, local model, certified, auto."""
    naive = [
        timed(naive_sedc, case.score, row, case.threshold, max_seconds=NAIVE_SECONDS) for row in case.rows
    ]
    call_ms = 1000 * median(timed(case.score, row[[0, 0]])[1] for row in case.rows)
    seconds = [each for _, each in naive]
    yield _comparison(
        case, "naive", [(columns, None) for columns, _ in naive], seconds, seconds, naive, call_ms
    )
    for name, search, model in (
        ("sedc, black box", "sedc", case.score),
        ("sedc, local model", "sedc", case.recognisable),
        ("certified", "certified", case.recognisable),
        ("auto", "auto", case.recognisable),
    ):
        budget = Budget(max_seconds=PROOF_SECONDS) if name == "certified" else None
        explainer = Explainer(model, threshold=case.threshold, search=search, budget=budget)
        ours = explained(explainer, case.rows)
        answers: Answers = [(frozenset(why.columns), why) for why, _ in ours]
        seconds = [each for _, each in ours]
        alone = [timed(_search_alone, explainer, search, row)[1] for row in case.rows]
        yield _comparison(case, name, answers, seconds, alone, naive, call_ms)


def _search_alone(explainer: Explainer, search: str, row: Any) -> None:
    """Make the local model and search, but do not let the model confirm the answer."""
    local = explainer.local_model(row)
    with suppress(OutOfTime), local.limited_to(explainer.budget.max_seconds):
        for _ in SEARCHES[search](local, explainer.budget, 0):
            pass


def _comparison(
    case: Case,
    name: str,
    answers: Answers,
    seconds: list[float],
    alone: list[float],
    naive: list[tuple[frozenset[int] | None, float]],
    call_ms: float,
) -> Comparison:
    sizes = [len(columns) for columns, _ in answers if columns]
    finished = [
        (ours, theirs)
        for (ours, _), (theirs, _) in zip(answers, naive, strict=True)
        if ours is not None and theirs is not None
    ]
    explanations = [why for _, why in answers if why is not None]
    proven = [why.proven_minimum or why.status == "none" for why in explanations]
    gaps = [why.size - why.lower_bound for why, done in zip(explanations, proven, strict=True) if not done]
    as_small = name in ("certified", "auto")
    milliseconds = 1000 * np.array(seconds)
    return Comparison(
        data=case.data,
        model=case.model_name,
        search=name,
        n_rows=len(case.rows),
        median_active=median(row.nnz for row in case.rows),
        explained=len(sizes),
        median_size=median(sizes),
        largest_size=max(sizes),
        same_as_naive=sum(
            ours == theirs or (as_small and bool(ours) and (not theirs or len(ours) <= len(theirs)))
            for ours, theirs in finished
        ),
        compared=len(finished),
        proven=sum(proven),
        median_gap=float(median(gaps)) if gaps else 0.0,
        ms=float(np.median(milliseconds)),
        p90_ms=float(np.quantile(milliseconds, 0.9)),
        largest_ms=float(milliseconds.max()),
        model_call_ms=call_ms,
        times_faster=median(slow / fast for (_, slow), fast in zip(naive, seconds, strict=True)),
        search_ms=1000 * median(alone),
        search_times_faster=median(slow / fast for (_, slow), fast in zip(naive, alone, strict=True)),
    )
