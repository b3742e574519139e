"""`Explanations.summary()` as sentences and as HTML."""

from collections.abc import Mapping
from typing import Any

from butfor._render.html import bars, framed, more, shown
from butfor._render.words import NOUNS, amount, counted, quoted

ERRORS_SHOWN = 100


def summary_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return a summary in up to three sentences."""
    statuses = summary["statuses"]
    outcomes = {
        "explained": statuses["found"],
        "proven to have no answer": statuses["none"],
        "stopped before an answer was known": statuses["budget"],
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


def summary_card(summary: Mapping[str, Any], errors: Mapping[int, str]) -> str:
    """Return a summary as HTML: sentences, how many answers hold each feature, sizes, errors."""
    first, *others = summary_sentences(summary)[:2]
    elements = [f'<div class="butfor-sentence">{shown(first)}</div>']
    elements += [f"<div>{shown(each)}</div>" for each in others]
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
