"""Names, lists, numbers and terms as explanations write them; all names are safe to print."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import category

from butfor.errors import InputError

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

LONGEST_NAME = 80
"""Characters of a name in a sentence; a name can be a whole sentence of a text."""
JOINERS = "\u200c\u200d"
"""Harmless characters that emoji and several scripts need."""
NOUNS = {
    "feature": ("feature", "features"),
    "group": ("group", "groups"),
    "word": ("word", "words"),
    "occurrence": ("occurrence of a word", "occurrences of words"),
    "sentence": ("sentence", "sentences"),
    "part": ("part", "parts"),
}
"""What one unit is called, and what several are."""
BARE_CLASS = re.compile(r"-?[0-9]+(\.[0-9]+)?|True|False")
"""A class without a name of its own; a sentence writes "class" before it."""
REMOVED = {"zero": "taken out of the model's columns", "delete": "deleted from the text", "mask": "masked"}
"""How the words of a text are removed."""

NO_VALUE = ("", "unknown", "missing", "left out")
"""What may stand in the place of a part of a record and is no value."""

Quote = Callable[[str], str]


def active(unit: str) -> tuple[str, str]:
    """Return what one active unit is called, and what several are; units of a text are always active."""
    one, several = NOUNS[unit]
    return (f"active {one}", f"active {several}") if unit in ("feature", "group") else (one, several)


def printable(text: str, keep: str = "") -> str:
    r"""Return a text with escapes for control characters and those that change the direction of writing.

    >>> print(printable("free\x1b[31m"))
    free\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if _is_safe(c) or c in keep else c.encode("unicode_escape").decode() for c in text)


def _is_safe(character: str) -> bool:
    return character.isprintable() or character in JOINERS or category(character) == "Zs"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name, cut if it is too long.

    >>> shortened("Dr. Strangelove or: How I Learned to Stop Worrying", 15)
    'Dr. Strangelov…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def quoted(name: str) -> str:
    """Return a name in quotes, safe to print and not too long."""
    return f"'{printable(shortened(name))}'"


def bare(name: str) -> str:
    """Return a name without quotes, safe to print and not too long."""
    return printable(shortened(name))


def named_features(why: "Explanation", wrap: Quote = str) -> list[str]:
    """Return the features as sentences name them: in quotes, but for parts of records, which have their own.

    Where another value takes the place of a part, that is named, too. `wrap` is put around each name.
    """
    if why.unit != "part":
        return [wrap(quoted(name)) for name in why.features]
    instead = why.instead or ("",) * len(why.features)
    return [wrap(bare(name)) + _then(value) for name, value in zip(why.features, instead, strict=True)]


def _then(instead: str) -> str:
    return "" if instead in NO_VALUE else f" (then {bare(instead)})"


def class_named(name: str, quote: Quote = quoted) -> str:
    """Return a class in words: its name in quotes, or "class" and its number.

    >>> class_named("spam"), class_named("1"), class_named("True")
    ("'spam'", 'class 1', 'class True')
    """
    return f"class {shortened(name)}" if BARE_CLASS.fullmatch(name) else quote(name)


def listed(names: Sequence[str], at_most: int = 10, *, quote: Quote = quoted) -> str:
    """Return names as a list for a sentence.

    >>> listed(["free", "prize", "call"]), listed(["free", "prize", "call"], 1)
    ("'free', 'prize' and 'call'", "'free', … and 2 more")
    """
    return joined([quote(name) for name in names], at_most)


def joined(names: Sequence[str], at_most: int = 10) -> str:
    """Return names, as they are shown, as a list for a sentence."""
    check_at_most(at_most)
    shown = names[:at_most]
    if len(names) > at_most:
        return f"{', '.join(shown)}, … and {len(names) - at_most:,} more"
    return " and ".join(words for words in (", ".join(shown[:-1]), *shown[-1:]) if words)


def counted(n: int, noun: tuple[str, str]) -> str:
    """Return a number with its noun.

    >>> counted(1, ("film", "films")), counted(1200, ("film", "films"))
    ('1 film', '1,200 films')
    """
    return f"{n:,} {noun[n != 1]}"


def amount(value: float) -> str:
    """Return a count or a cost in digits.

    >>> amount(3), amount(3.0), amount(1250.5)
    ('3', '3', '1,250.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def decimals(*numbers: float) -> list[str]:
    """Return the numbers with the fewest digits that keep them apart, at least two decimals.

    >>> decimals(0.71, 0.27, 0.29), decimals(0.71, 0.2899, 0.29)
    (['0.71', '0.27', '0.29'], ['0.7100', '0.2899', '0.2900'])
    >>> decimals(3e-9, 1e-9), decimals(0.5, 0.5), decimals(3e12, 0)
    (['3e-09', '1e-09'], ['0.50', '0.50'], ['3e+12', '0'])
    """
    # The page rounds by the same rules, in numbers.js: tests/js/words.json has cases that both must pass.
    styles = [f"z.{digits}g" for digits in range(3, 18)]  # z: a zero has no sign
    if max(map(abs, numbers)) < 1e6:
        styles = [*(f"z.{digits}f" for digits in range(2, 7)), *styles]
    for style in styles:
        written = [format(number, style) for number in numbers]
        if len(set(map(float, written))) == len(set(numbers)):
            return written
    raise AssertionError("17 significant digits tell any two floats apart")


def check_at_most(at_most: Any) -> None:
    """Raise unless `at_most` is a whole number of at least 1."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
        raise InputError(f"at_most must be a whole number of at least 1, got {at_most!r}.")


def check_words(**words: Any) -> None:
    """Raise unless every word is a string or None."""
    for argument, value in words.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{argument} must be a string, got {value!r}.")


def whole(why: "Explanation") -> str:
    """Return what was explained: "row" or "text"."""
    return "text" if is_text(why) else "row"


def is_text(why: "Explanation") -> bool:
    """Return whether a text was explained; results of a batch hold its units but not the text."""
    return why.text is not None or why.unit not in ("feature", "group", "part")


def is_contradicted(why: "Explanation") -> bool:
    """Return whether the model decides as before on the text with the words deleted."""
    return bool(why) and why.survives_deletion is False


def these(why: "Explanation") -> str:
    """Return the pronoun and noun for the words of a text that an answer removes."""
    one, several = NOUNS["sentence" if why.unit == "sentence" else "word"]
    return f"these {several}" if why.size != 1 else f"this {one}"


def score_of(why: "Explanation", quote: Quote = quoted) -> str:
    """Return the name of the score of two classes: it belongs to the positive class."""
    positive = positive_class(why)
    if positive:
        return f"score of {class_named(positive, quote)}"
    return "score of the other class" if why.decision else "score"


def positive_class(why: "Explanation") -> str:
    """Return the class that is decided from the threshold on; empty if its name is not known."""
    if is_positive(why):
        return why.decision
    return why.decision_without if why.decision_without != why.decision else ""


def is_positive(why: "Explanation") -> bool:
    """Return whether the decision of two classes is the positive class.

    At the threshold itself the model decides; the direction in which the score moves shows how it did.
    """
    if why.score == why.threshold:
        return why.score_without <= why.score
    return why.score > why.threshold


def margin_noun(why: "Explanation") -> str:
    """Return what sentences call the margin of many classes: a lead, or the gap to a target."""
    return "gap" if why.target else "lead"


def is_at_target(why: "Explanation") -> bool:
    """Return whether the model already decides for the target."""
    return bool(why.target) and why.target == why.decision
