"""`Explanations.summary()` as sentences and as HTML."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from butfor._render.html import bars, framed, more, shown
from butfor._render.plain import proof
from butfor._render.words import (
    NOUNS,
    amount,
    counted,
    decimals,
    is_contradicted,
    joined,
    printable,
    quoted,
    shortened,
)

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

ERRORS_SHOWN = 100
ROWS_SHOWN, ROWS_LISTED = 5, 100
"""How many rows are seen at a glance, and how many once the others are unfolded."""
FEATURES_SHOWN = 4
OUTCOMES = {"none": "proven to have no answer", "budget": "stopped before an answer was known"}
"""What is said of rows without an answer, by status."""


def summary_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return a summary in up to three sentences."""
    statuses = summary["statuses"]
    outcomes = {
        "explained": statuses["found"],
        OUTCOMES["none"]: statuses["none"],
        OUTCOMES["budget"]: statuses["budget"],
        "failed": statuses["error"],
    }
    written = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.items() if n)
    sentences = [f"{counted(summary['n_rows'], ('row', 'rows'))}{': ' if written else ''}{written}."]
    if statuses["found"]:
        sentences += [
            f"{_sizes(summary)}; {_proven(summary)}.{_contradicted(summary)}",
            f"Most often part of an answer: {_most(summary)}.",
        ]
    return sentences


def summary_card(summary: Mapping[str, Any], errors: Mapping[int, str], rows: str = "") -> str:
    """Return a summary as HTML: sentences, `rows` as a table, counts of features and sizes, errors."""
    first, *others = summary_sentences(summary)[:2]
    elements = [f'<div class="butfor-sentence">{shown(first)}</div>']
    elements += [f"<div>{shown(each)}</div>" for each in others]
    elements.append(rows)
    if summary["features"]:
        left_out = summary["n_features"] - len(summary["features"])
        noun = NOUNS[summary["unit"]]
        caption = f"Answers with this {noun[0]}" + f" ({left_out:,} rarer ones not shown)" * (left_out > 0)
        elements.append(bars([(name, n, f"{n:,}") for name, n in summary["features"]], caption=caption))
        sizes = [(counted(size, noun), n, f"{n:,}") for size, n in summary["sizes"]]
        elements.append(bars(sizes, caption="Answers of this size"))
    if errors:
        rows = "".join(
            f"<li>row {row:,}: {shown(str(message))}</li>"
            for row, message in list(errors.items())[:ERRORS_SHOWN]
        )
        left_out = len(errors) - ERRORS_SHOWN
        rows += f"<li>… and {left_out:,} more</li>" * (left_out > 0)
        elements.append(more(counted(len(errors), ("row failed", "rows failed")), f"<ul>{rows}</ul>"))
    return framed(*elements)


def glance(rows: Sequence[int], whys: "Sequence[Explanation]") -> str:
    """Return a table with a line for each of the first explanations; all but a few are folded away."""
    if not whys:
        return ""
    listed_whys = whys[:ROWS_LISTED]
    titles = ["Row", *(["Decision"] if any(why.decision for why in listed_whys) else []), "But for", "Score"]
    lines = [_line(row, why, titles) for row, why in zip(rows, listed_whys, strict=False)]
    table = _table(titles, lines[:ROWS_SHOWN])
    if len(lines) <= ROWS_SHOWN:
        return table
    left_out = len(whys) - len(lines)
    ending = f"<div>… and {left_out:,} that are not listed here</div>" * (left_out > 0)
    return table + more(f"and {len(whys) - ROWS_SHOWN:,} more", _table(titles, lines[ROWS_SHOWN:]) + ending)


def _table(titles: Sequence[str], lines: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return (
        f'<table class="butfor-glance"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )


def _line(row: int, why: "Explanation", titles: Sequence[str]) -> str:
    """Return an explanation in one line: what was decided, but for what, and how the score moves."""
    if why:
        names = joined([f"<bdi>{shown(quoted(name))}</bdi>" for name in why.features], FEATURES_SHOWN)
        evidence = f"{names} <small>{shown(_standing(why))}</small>"
        classes, scores = [why.decision, why.decision_without], decimals(why.score, why.score_without)
    else:
        evidence = f"<small>{shown(OUTCOMES[why.status])}</small>"
        classes, scores = [why.decision], decimals(why.score)
    decided = " → ".join(f"<bdi>{shown(printable(shortened(each)))}</bdi>" for each in classes if each)
    cells = [*([decided] if "Decision" in titles else []), evidence, shown(" → ".join(scores))]
    return f'<tr><th scope="row">{row:,}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _standing(why: "Explanation") -> str:
    """Return what is proven of an answer, and whether it holds when the words are deleted from the text."""
    return proof(why) + "; does not hold when they are deleted from the text" * is_contradicted(why)


def _sizes(summary: Mapping[str, Any]) -> str:
    smallest, largest, noun = summary["smallest"], summary["largest"], NOUNS[summary["unit"]]
    if smallest == largest:
        return f"Answers have {counted(largest, noun)}"
    median = amount(summary["median_size"])
    return f"Answers have {smallest:,} to {largest:,} {noun[1]}, {median} in the median"


def _proven(summary: Mapping[str, Any]) -> str:
    kind = "cheapest" if summary["costs"] else "smallest"
    return f"{summary['n_proven']:,} of {summary['statuses']['found']:,} are proven {kind}"


def _contradicted(summary: Mapping[str, Any]) -> str:
    """Return how many answers hold only for the model's columns, not for the text."""
    n = summary["n_contradicted"]
    several = "sentences" if summary["unit"] == "sentence" else "words"
    of_all = f"{n:,} of {summary['statuses']['found']:,}"
    return f" {of_all} do not hold when the {several} are deleted from the text." if n else ""


def _most(summary: Mapping[str, Any]) -> str:
    return ", ".join(f"{quoted(name)} ({n:,})" for name, n in summary["features"][:5])
