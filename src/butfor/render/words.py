"""Explanations in words: names that are safe to print, lists, numbers, and the sentence."""

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


def sentence(
    why: "Explanation",
    *,
    subject: str | None = None,
    decision: str | None = None,
    at_most: int = 10,
    quote: Quote = quoted,
) -> str:
    """Say in one sentence without what the decision would be another, or why nothing was found."""
    check_words(subject=subject, decision=decision)
    removed = listed(why.features, at_most, quote=quote)
    if subject is None and decision is None:
        return _with_numbers(why, removed, quote)
    who = printable(subject) if subject is not None else "this row" if why.text is None else "this text"
    still, otherwise = _outcomes(why, who, decision, quote)
    if is_at_target(why):
        return f"{who} is predicted {quote(why.target)} already."
    if not why:
        return _nothing_for_people(why, still, otherwise)
    if decision is None and why.n_classes > 2 and why.decision and why.decision_without:
        otherwise = f"{who} would be predicted {quote(why.decision_without)} instead of {quote(why.decision)}"
    return f"But for {removed}, {otherwise}."


def check_at_most(at_most: Any) -> None:
    """Refuse what is no number of things to show."""
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
        raise InputError(f"at_most must be a whole number of at least 1, got {at_most!r}.")


def check_words(**words: Any) -> None:
    """Refuse what is neither a string nor None."""
    for argument, value in words.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{argument} must be a string, got {value!r}.")


def _with_numbers(why: "Explanation", removed: str, quote: Quote) -> str:
    if not why:
        score, threshold = decimals(why.score, why.threshold)
        numbers = f"{lead(why)} {score}" if why.n_classes > 2 else f"score {score}, threshold {threshold}"
        return f"{_why_nothing(why, quote)} ({numbers})."
    cost = f" (total cost {amount(why.cost)})" if why.costs else ""
    if why.n_classes > 2 and why.decision and why.decision_without:
        classes = f"{quote(why.decision_without)} instead of {quote(why.decision)}"
        return f"But for {removed}{cost}, the prediction would be {classes}."
    score, without, threshold = decimals(why.score, why.score_without, why.threshold)
    scores = f"{without} instead of {score} (threshold {threshold})"
    return f"But for {removed}{cost}, the score would be {scores}."


def _outcomes(why: "Explanation", who: str, decision: str | None, quote: Quote) -> tuple[str, str]:
    """Say what would be so if the decision stayed, and if it were another."""
    if decision is None and why.target and why.n_classes > 2:
        target = f"predicted {quote(why.target)}"
        return f"{who} would still not be {target}", f"{who} would be {target}"
    if decision is None and not why.decision:
        return f"the decision on {who} would stay", f"the decision on {who} would be another"
    decided = f"predicted {quote(why.decision)}" if decision is None else printable(decision)
    return f"{who} would still be {decided}", f"{who} would not be {decided}"


def lead(why: "Explanation") -> str:
    """Say what the score of many classes is: how far one is ahead, or how far the target is behind."""
    return "gap" if why.target else "lead"


def is_at_target(why: "Explanation") -> bool:
    """Tell whether the model decides already for the class that was asked for."""
    return bool(why.target) and why.target == why.decision


def _why_nothing(why: "Explanation", quote: Quote) -> str:
    if is_at_target(why):
        return f"The prediction is {quote(why.target)} already"
    nothing = _nothing_to_remove(why)
    if nothing:
        return f"{nothing}, so there is nothing to remove"
    stays = "the decision stays"
    if why.target and why.n_classes > 2:
        stays = f"the prediction does not become {quote(why.target)}"
    n_removable = why.n_active - why.n_protected
    of_its = f"of its {_removable(why)}"
    if why.status == "none" and n_removable == 1:
        return f"Proven: even without its only {_removable(why).removeprefix('1 ')}, {stays}"
    if why.status == "none":
        at_most = f" (at most {why.max_size:,})" if why.max_size < n_removable else ""
        return f"Proven: whichever {of_its} are removed{at_most}, {stays}"
    return f"No answer found: {printable(why.reason)}{_proven_so_far(why, of_its)}"


def _nothing_for_people(why: "Explanation", still: str, otherwise: str) -> str:
    nothing = _nothing_to_remove(why)
    if nothing:
        return f"{nothing}, so nothing can be left out to change the decision."
    n_removable, of_the = why.n_active - why.n_protected, f"of the {_removable(why)}"
    if why.status == "none":
        at_most = f" (at most {why.max_size:,})" if why.max_size < n_removable else ""
        return f"Whichever {of_the} were left out{at_most}, {still}."
    return (
        f"Nothing was found without which {otherwise}: {printable(why.reason)}{_proven_so_far(why, of_the)}."
    )


def _nothing_to_remove(why: "Explanation") -> str:
    whole, several = "row" if why.text is None else "text", active(why.unit)[1]
    if why.n_active == 0 and why.text is not None:
        return f"The {whole} has no words that the model knows"
    if why.n_active == 0:
        return f"The {whole} has no {several}"
    if why.n_active == why.n_protected:
        return f"All {several} of the {whole} are protected"
    return ""


def _removable(why: "Explanation") -> str:
    n_removable = why.n_active - why.n_protected
    return counted(n_removable, active(why.unit)) + " not protected" * (why.n_protected > 0)


def _proven_so_far(why: "Explanation", of_its: str) -> str:
    bound = amount(why.lower_bound)
    if why.costs:
        return f"; proven: nothing that costs less than {bound} can do it" * (why.lower_bound > 0)
    return f"; proven: fewer than {bound} {of_its} cannot do it" * (why.lower_bound > 1)
