"""Explanations in plain text: facts in short, and the marked evidence for a terminal."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from butfor._render.evidence import Piece, items, pieces, shown_columns
from butfor._render.words import (
    REMOVED,
    active,
    amount,
    check_at_most,
    counted,
    is_text,
    printable,
    shortened,
)

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation


def facts(why: "Explanation") -> str:
    """Return size, proof, what removing means and effort of an answer, in short."""
    return " · ".join(fact for fact in (extent(why), proof(why), how_removed(why), effort(why)) if fact)


def extent(why: "Explanation") -> str:
    """Return how much of the row an answer removes."""
    whole = counted(why.n_active, active(why.unit))
    if not why:
        return whole
    return f"{why.size:,} of {whole}" + (f", total cost {amount(why.cost)}" if why.costs else "")


def proof(why: "Explanation") -> str:
    """Return what is proven of an answer; empty if nothing was found."""
    if not why:
        return ""
    if why.proven_minimum:
        return "proven cheapest" if why.costs else "proven smallest"
    return f"at least {'a cost of ' if why.costs else ''}{amount(why.lower_bound)} needed"


def effort(why: "Explanation") -> str:
    """Return the search, the number of scorings, what they cost if that is known, and the time."""
    spent = "" if why.spent is None else f" · spent {amount(why.spent)}"
    return f"{why.search} · {why.n_scored:,} scorings{spent} · {why.seconds * 1000:.1f} ms"


def how_removed(why: "Explanation") -> str:
    """Return in short what removing means for a text, and whether the answer holds when words are deleted."""
    if not is_text(why) or not why:
        return "; ".join(_how_parts_are_removed(why))
    holds = {
        None: "",
        True: ", holds too when deleted from the text",
        False: ", does not hold when deleted from the text",
    }
    return REMOVED[why.removal] + holds[why.survives_deletion]


def removal(why: "Explanation") -> str:
    """Return in sentences what removing means for a text, and whether the answer holds by deletion too."""
    if why.unit == "part" and why:
        return f"Removed means: {'; '.join(_how_parts_are_removed(why))}; the model reads the changed row."
    if not is_text(why) or not why:
        return ""
    several = "sentences" if why.unit == "sentence" else "words"
    if why.removal == "delete":
        return f"Removed means: the {several} are deleted from the text, and the model reads the rest."
    if why.removal == "mask":
        return f"Removed means: a mask stands in the place of the {several}, and the model reads that text."
    deleted = f"the {several} are deleted from the text"
    survives = {
        None: f"Whether it flips too when {deleted} was not tried.",
        True: f"The decision flips too when {deleted}.",
        False: f'But when {deleted}, the decision stays: explain with removal="delete" for an answer that '
        "holds then.",
    }
    zero = f"Removed means: the {several} are {REMOVED['zero']}, and the weights of all others stay."
    return f"{zero} {survives[why.survives_deletion]}"


def _how_parts_are_removed(why: "Explanation") -> list[str]:
    """Return what removing means for the parts of a record, as far as they are in the answer."""
    if why.unit != "part" or not why or not why.instead:
        return []
    pairs = zip(why.features, why.instead, strict=True)
    return list(dict.fromkeys(_how_one_is_removed(name, instead, why.removal) for name, instead in pairs))


def _how_one_is_removed(name: str, instead: str, removal: str) -> str:
    if instead:
        return f"{printable(shortened(name.split(' = ')[0]))} is {printable(shortened(instead))}"
    if name.startswith("'") and "' in " in name:
        return "words are masked" if removal == "mask" else "words are cut out of their text"
    if ": " in name:
        return "items are left out"
    return f"all parts of {printable(shortened(name))} are removed"


def highlighted(why: "Explanation", *, at_most: int = 60) -> list[Piece]:
    r"""Return the text, or the row's items, in pieces, and for each whether it is evidence.

    All removed items are listed, and as many of the others as fit into `at_most`. Every piece is safe to
    print: control characters, and those that change the direction of writing, are escaped, as in \x1b.
    """
    if why.table:
        return [piece for line in _lines(why) for piece in line]
    if why.text is not None:
        return [(printable(piece, keep="\n\t"), gone) for piece, gone in pieces(why.text, why.spans)]
    check_at_most(at_most)
    n_shown = max(at_most, why.size)
    result: list[Piece] = []
    for name, gone in islice(items(why), n_shown):
        result += [(", ", False)] * bool(result) + [(printable(shortened(name)), gone)]
    n_more = max(len(why.items), why.size) - n_shown
    return [*result, (f", … and {n_more:,} more", False)] if n_more > 0 else result


def _lines(why: "Explanation") -> Iterator[list[Piece]]:
    """Yield the columns of a record that are shown, line by line."""
    columns, others = shown_columns(why)
    for name, cell in columns:
        shown = [(printable(piece, keep="\t"), gone) for piece, gone in cell]
        yield [(f"{printable(shortened(name))}: ", False), *shown, ("\n", False)]
    if others:
        yield [(f"… and {len(others):,} more columns\n", False)]


def bracketed(why: "Explanation", *, at_most: int = 60) -> str:
    """Return the text, or the row's items, with the evidence in brackets, for output without colour."""
    return "".join(f"[{piece}]" if gone else piece for piece, gone in highlighted(why, at_most=at_most))
