"""The words of explanations: names that are safe to print, lists, numbers, what a score and a removal is."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import category

from butfor.errors import InputError

if TYPE_CHECKING:
    from butfor.explanation import Explanation

LONGEST_NAME = 80
"""Characters of a name in a sentence; a sentence of a text can be a name too."""
JOINERS = "\u200c\u200d"
"""They move nothing and hide nothing, and emoji and several scripts fall apart without them."""
NOUNS = {
    "feature": ("feature", "features"),
    "group": ("group", "groups"),
    "word": ("word", "words"),
    "occurrence": ("occurrence of a word", "occurrences of words"),
    "sentence": ("sentence", "sentences"),
}
"""What one and several units of a row are called."""
BARE_CLASS = re.compile(r"-?[0-9]+(\.[0-9]+)?|True|False")
"""A class that has no name of its own: in a sentence nobody would take it for a class."""
REMOVED = {"zero": "taken out of the model's columns", "delete": "deleted from the text", "mask": "masked"}
"""What was done with the words of a text."""

Quote = Callable[[str], str]


def active(unit: str) -> tuple[str, str]:
    """Give what one and several active units are called: in a text all of them are."""
    one, several = NOUNS[unit]
    return (f"active {one}", f"active {several}") if unit in ("feature", "group") else (one, several)


def printable(text: str, keep: str = "") -> str:
    r"""Names and texts are data: control and direction characters are shown, never obeyed by a terminal.

    >>> print(printable("free\x1b[31m"))
    free\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if _is_safe(c) or c in keep else c.encode("unicode_escape").decode() for c in text)


def _is_safe(character: str) -> bool:
    return character.isprintable() or character in JOINERS or category(character) == "Zs"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long name.

    >>> shortened("Dr. Strangelove or: How I Learned to Stop Worrying", 15)
    'Dr. Strangelov…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def quoted(name: str) -> str:
    """Put a name in quotes, safe to print and not too long."""
    return f"'{printable(shortened(name))}'"


def class_named(name: str, quote: Quote = quoted) -> str:
    """Write a class: its name in quotes, or a number as one.

    >>> class_named("spam"), class_named("1"), class_named("True")
    ("'spam'", 'class 1', 'class True')
    """
    return f"class {shortened(name)}" if BARE_CLASS.fullmatch(name) else quote(name)


def listed(names: Sequence[str], at_most: int = 10, *, quote: Quote = quoted) -> str:
    """Write names as a list in a sentence.

    >>> listed(["free", "prize", "call"]), listed(["free", "prize", "call"], 1)
    ("'free', 'prize' and 'call'", "'free', … and 2 more")
    """
    check_at_most(at_most)
    shown = [quote(name) for name in names[:at_most]]
    if len(names) > at_most:
        return f"{', '.join(shown)}, … and {len(names) - at_most:,} more"
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def counted(n: int, noun: tuple[str, str]) -> str:
    """Write how many there are of something.

    >>> counted(1, ("film", "films")), counted(1200, ("film", "films"))
    ('1 film', '1,200 films')
    """
    return f"{n:,} {noun[n != 1]}"


def amount(value: float) -> str:
    """Write a count or a cost.

    >>> amount(3), amount(3.0), amount(1250.5)
    ('3', '3', '1,250.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def decimals(*numbers: float) -> list[str]:
    """Write the numbers with the fewest digits that keep them apart, two decimals at least.

    >>> decimals(0.71, 0.27, 0.29), decimals(0.71, 0.2899, 0.29)
    (['0.71', '0.27', '0.29'], ['0.7100', '0.2899', '0.2900'])
    >>> decimals(3e-9, 1e-9), decimals(0.5, 0.5), decimals(3e12, 0)
    (['3e-09', '1e-09'], ['0.50', '0.50'], ['3e+12', '0'])
    """
    styles = [f".{digits}g" for digits in range(3, 18)]
    if max(map(abs, numbers)) < 1e6:
        styles = [*(f".{digits}f" for digits in range(2, 7)), *styles]
    for style in styles:
        written = [format(number, style) for number in numbers]
        if len(set(map(float, written))) == len(set(numbers)):
            return written
    raise AssertionError("17 significant digits tell any two floats apart")


def check_at_most(at_most: Any) -> None:
    """Refuse what is no number of things to show."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
        raise InputError(f"at_most must be a whole number of at least 1, got {at_most!r}.")


def check_words(**words: Any) -> None:
    """Refuse what is neither a string nor None."""
    for argument, value in words.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{argument} must be a string, got {value!r}.")


def whole(why: "Explanation") -> str:
    """Say what was explained: a row, or a text."""
    return "text" if is_text(why) else "row"


def is_text(why: "Explanation") -> bool:
    """Tell whether it is a text that was explained; results of a batch have its units but not the text."""
    return why.text is not None or why.unit not in ("feature", "group")


def is_contradicted(why: "Explanation") -> bool:
    """Tell whether the text without the words, read by the model anew, is decided as before."""
    return bool(why) and why.survives_deletion is False


def these(why: "Explanation") -> str:
    """Point to the words of a text that an answer removes."""
    one, several = NOUNS["sentence" if why.unit == "sentence" else "word"]
    return f"these {several}" if why.size != 1 else f"this {one}"


def score_of(why: "Explanation", quote: Quote = quoted) -> str:
    """Say whose score it is, of two classes: of the one that is decided for from the threshold on."""
    positive = positive_class(why)
    if positive:
        return f"score of {class_named(positive, quote)}"
    return "score of the other class" if why.decision else "score"


def positive_class(why: "Explanation") -> str:
    """Give the class that is decided for from the threshold on; nothing where its name is not known."""
    if is_positive(why):
        return why.decision
    return why.decision_without if why.decision_without != why.decision else ""


def is_positive(why: "Explanation") -> bool:
    """Return whether a row of two classes was decided for the class that the score is of.

    At the very threshold that is the model's to say: then it is seen from where the score goes.
    """
    if why.score == why.threshold:
        return why.score_without <= why.score
    return why.score > why.threshold


def lead(why: "Explanation") -> str:
    """Say what the score of many classes is: how far one is ahead, or how far the target is behind."""
    return "gap" if why.target else "lead"


def is_at_target(why: "Explanation") -> bool:
    """Tell whether the model decides already for the class that was asked for."""
    return bool(why.target) and why.target == why.decision
