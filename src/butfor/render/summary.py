"""What many explanations have in common, in words and in HTML: made of `Explanations.summary()` alone."""

from collections.abc import Mapping
from typing import Any

from butfor.render.html import bars, framed, more, shown
from butfor.render.words import NOUNS, amount, counted, quoted

ERRORS_SHOWN = 100


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """Write a summary in up to three sentences."""
    statuses = summary["statuses"]
    outcomes = {
        "explained": statuses["found"],
        "proven to have no answer": statuses["none"],
        "stopped before an answer was known": statuses["budget"],
        "failed": statuses["error"],
    }
    written = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.items() if n)
    lines = [f"{counted(summary['n_rows'], ('row', 'rows'))}{': ' if written else ''}{written}."]
    if statuses["found"]:
        lines += [
            f"{_sizes(summary)}; {_proven(summary)}.{_contradicted(summary)}",
            f"Most often part of an answer: {_most(summary)}.",
        ]
    return lines


def summary_card(summary: Mapping[str, Any], errors: Mapping[int, str]) -> str:
    """Show a summary: its sentences, how often which feature is part of an answer, the sizes, the errors."""
    first, *others = summary_lines(summary)[:2]
    parts = [f'<div class="butfor-sentence">{shown(first)}</div>']
    parts += [f"<div>{shown(line)}</div>" for line in others]
    if summary["features"]:
        left_out = summary["n_features"] - len(summary["features"])
        noun = NOUNS[summary["unit"]]
        caption = f"Answers with this {noun[0]}" + f" ({left_out:,} rarer ones not shown)" * (left_out > 0)
        parts.append(bars([(name, n, f"{n:,}") for name, n in summary["features"]], caption=caption))
        sizes = [(counted(size, noun), n, f"{n:,}") for size, n in summary["sizes"]]
        parts.append(bars(sizes, caption="Answers of this size"))
    if errors:
        said = "".join(
            f"<li>row {row:,}: {shown(str(message))}</li>"
            for row, message in list(errors.items())[:ERRORS_SHOWN]
        )
        left_out = len(errors) - ERRORS_SHOWN
        said += f"<li>… and {left_out:,} more</li>" * (left_out > 0)
        parts.append(more(counted(len(errors), ("row failed", "rows failed")), f"<ul>{said}</ul>"))
    return framed(*parts)


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
    """Say of how many texts the answers are true of the model's columns alone."""
    n = summary["n_contradicted"]
    several = "sentences" if summary["unit"] == "sentence" else "words"
    of_all = f"{n:,} of {summary['statuses']['found']:,}"
    return f" {of_all} do not hold when the {several} are deleted from the text." if n else ""


def _most(summary: Mapping[str, Any]) -> str:
    return ", ".join(f"{quoted(name)} ({n:,})" for name, n in summary["features"][:5])
