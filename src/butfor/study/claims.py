"""Tables that the paper could not have: how near answers are to the smallest, and whether our claims hold."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from butfor.study.cells import MISSING, ReportTable, cells, file_name, shown_dataset, trimmed, two_digits
from butfor.study.measures import (
    Comparison,
    Optimality,
    ResultArrays,
    at_minimum,
    blocks,
    explained_percent,
    in_order,
    optimality,
    seconds,
)
from butfor.study.results import Result, Study

PAPERS = ("sedc", "lime-c", "shap-c")
ALWAYS_SMALLEST = ("sedc", "certified", "auto")
"""Searches that should always find the smallest answer of a linear model."""


def claim_tables(study: Study, compared: Sequence[Comparison]) -> list[ReportTable]:
    """Return the tables of minima and proofs for each kind of model, of our claims, and of errors if any."""
    grouped = blocks(compared)
    non_linear = [each for each in compared if not each.case.linear and "auto" in each.answers]
    errors = [result for result in study.results if result.status == "error"]
    return [
        *(_minima(block, inside) for block, inside in grouped.items()),
        *(_proofs(block, inside) for block, inside in grouped.items()),
        _smallest_claims(compared),
        *([_auto_claims(non_linear)] if non_linear else []),
        *([_errors(errors)] if errors else []),
    ]


def _minima(block: str, compared: Sequence[Comparison]) -> ReportTable:
    def text(each: Optimality) -> str:
        if each.minimum_percent is None:
            return MISSING
        return trimmed(each.minimum_percent, 1) + ("" if each.gap is None else f" (+{trimmed(each.gap)})")

    caption = (
        "Of the rows whose smallest answer is known, because a search proved it: the percentage for which a "
        "search found an answer of that size (and by how many features its answers are larger, on average)."
    )
    return _optimality_table("Smallest answers", block, caption, compared, text)


def _proofs(block: str, compared: Sequence[Comparison]) -> ReportTable:
    def text(each: Optimality) -> str:
        proven = MISSING if each.proven_percent is None else trimmed(each.proven_percent, 1)
        return proven + (f" ({each.n_none:,} none)" if each.n_none else "")

    caption = (
        "The percentage of its answers that a search itself proved to be smallest (and for how many rows it "
        "proved that there is none within the size limit)."
    )
    return _optimality_table("Proofs", block, caption, compared, text)


def _optimality_table(
    title: str,
    block: str,
    caption: str,
    compared: Sequence[Comparison],
    text: Callable[[Optimality], str],
) -> ReportTable:
    figures_of = [optimality(each) for each in compared]
    searches = in_order(search for figures in figures_of for search in figures)
    rows = []
    for each, figures in zip(compared, figures_of, strict=True):
        known = f"{each.minimum_known.sum():,} of {len(each.rows):,}"
        texts = [text(figures[search]) if search in figures else MISSING for search in searches]
        rows.append(cells(shown_dataset(each.case.dataset), known, *texts))
    columns = ("Data set", "Known", *searches)
    shown = f"{title}, {block}"
    return ReportTable(file_name(shown), shown, caption, columns, tuple(rows))


def _smallest_claims(compared: Sequence[Comparison]) -> ReportTable:
    linear = [each for each in compared if each.case.linear]
    known = sum(int(each.minimum_known.sum()) for each in linear)
    rows = []
    for search in (*ALWAYS_SMALLEST, "lime-c", "shap-c"):
        missed = {_shown(each): _n_missed(each, search) for each in linear if search in each.answers}
        if missed:
            claim = f"{search} finds the smallest answer on linear models"
            rows.append(_exceptions(claim, known, missed, expected=search in ALWAYS_SMALLEST))
    contradicted = {_shown(each): int((each.smallest < each.bound).sum()) for each in compared}
    n_rows = sum(len(each.rows) for each in compared)
    claim = "No search finds less than another one proved to be needed"
    rows.append(_exceptions(claim, n_rows, contradicted, expected=True))
    return ReportTable(
        "claims-smallest",
        "What we expected: smallest answers",
        "Rows of linear models count where the smallest answer is known; an exception is a row that was left "
        "unexplained or got a larger answer, in any repeat. Of lime-c and shap-c, nothing was expected.",
        ("Claim", "Where not", "Rows", "Exceptions", "Holds"),
        tuple(cells(*row) for row in rows),
        n_labels=2,
    )


def _n_missed(compared: Comparison, search: str) -> int:
    hits = at_minimum(compared.answers[search], compared).all(axis=1)
    return int((compared.minimum_known & ~hits).sum())


def _exceptions(claim: str, n_rows: int, missed: dict[str, int], *, expected: bool) -> list[str]:
    n_missed = sum(missed.values())
    if not expected:
        return [claim, "", f"{n_rows:,}", f"{n_missed:,}", MISSING]
    where = "; ".join(f"{case}: {count:,}" for case, count in missed.items() if count)
    return [claim, where, f"{n_rows:,}", f"{n_missed:,}", _yes_no(n_missed == 0)]


def _auto_claims(compared: Sequence[Comparison]) -> ReportTable:
    rows = [_auto_claim(each) for each in compared]
    held = [sum(row[column] == "yes" for row in rows) for column in (4, 8, 13)]
    more, smaller, faster = (f"{count} of {len(rows)}" for count in held)
    return ReportTable(
        "claims-auto",
        "What we expected: auto on non-linear models",
        "Does auto explain at least as many rows as the best of sedc, lime-c and shap-c? On how many rows "
        "that both explain is its answer larger than one of theirs, in any repeat? Is its median time "
        "(milliseconds, over the rows that every search explained) below each of theirs?",
        (
            *("Data set", "Model", "auto explains %", "best of the paper's %", "as many?"),
            *(f"larger than {search}" for search in PAPERS),
            *("never?", "auto ms", *(f"{search} ms" for search in PAPERS), "fastest?"),
        ),
        tuple(cells(*row) for row in (*rows, _held(more, smaller, faster))),
        n_labels=2,
        n_summary=1,
    )


def _held(more: str, smaller: str, faster: str) -> list[str]:
    return ["Holds", "", "", "", more, "", "", "", smaller, "", "", "", "", faster]


def _auto_claim(compared: Comparison) -> list[str]:
    percent = {search: round(each.value, 2) for search, each in explained_percent(compared).items()}
    median = {search: each.value for search, each in seconds(compared).items()}
    others = [search for search in PAPERS if search in compared.answers]
    best = max((percent[search] for search in others), default=None)
    auto = compared.answers["auto"]
    larger = {search: _n_larger(auto, compared.answers[search]) for search in others}
    timed = [search for search in others if search in median]
    return [
        shown_dataset(compared.case.dataset),
        compared.case.model,
        trimmed(percent["auto"]),
        MISSING if best is None else trimmed(best),
        MISSING if best is None else _yes_no(percent["auto"] >= best),
        *(f"{larger[search]:,}" if search in larger else MISSING for search in PAPERS),
        _yes_no(not any(larger.values())) if larger else MISSING,
        *(two_digits(1000 * median[each]) if each in median else MISSING for each in ("auto", *PAPERS)),
        _yes_no(all(median["auto"] < median[each] for each in timed)) if timed else MISSING,
    ]


def _n_larger(ours: ResultArrays, theirs: ResultArrays) -> int:
    """Count the rows for which an answer of ours is larger than one of the other search."""
    largest = np.where(ours.found, ours.size, 0).max(axis=1)
    smallest = np.where(theirs.found, theirs.size, np.iinfo(np.int64).max).min(axis=1)
    return int((largest > smallest).sum())


def _errors(errors: Iterable[Result]) -> ReportTable:
    counted = Counter((each.dataset, each.model, each.search, each.reason) for each in errors)
    return ReportTable(
        "errors",
        "Errors",
        "What a search or a model raised; such a row counts as not explained.",
        ("Data set", "Model", "Search", "Error", "Times"),
        tuple(
            cells(shown_dataset(dataset), model, search, reason, f"{count:,}")
            for (dataset, model, search, reason), count in counted.most_common()
        ),
        n_labels=4,
    )


def _shown(compared: Comparison) -> str:
    return f"{shown_dataset(compared.case.dataset)}, {compared.case.model}"


def _yes_no(holds: bool) -> str:
    return "yes" if holds else "no"
