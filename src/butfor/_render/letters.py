"""Letters: an explanation written by a template."""

from string import Formatter
from typing import TYPE_CHECKING, Any

from butfor._render.words import (
    NOUNS,
    amount,
    check_words,
    class_named,
    decimals,
    is_contradicted,
    joined,
    named_features,
    printable,
    these,
)
from butfor.errors import InputError

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

TEMPLATES = {
    "shown": (
        "You were shown this because of {n} {noun}: {features}. "
        "Without {them}, you would not have been shown it."
    ),
    "declined": (
        "Your application was declined because of {n} {noun}: {features}. "
        "Without {them}, it would not have been declined."
    ),
    "flagged": (
        "This was flagged because of {n} {noun}: {features}. Without {them}, it would not have been flagged."
    ),
    "decided": "But for {features}, {subject} would not be {decision}.",
}
"""The templates that have names."""


def letter(
    why: "Explanation",
    template: str = "shown",
    *,
    subject: str | None = None,
    decision: str | None = None,
    noun: tuple[str, str] | None = None,
    at_most: int = 5,
    even_if_contradicted: bool = False,
) -> str:
    """Return a template filled with an explanation.

    The template is the name of one of `TEMPLATES`, or a text with placeholders: {features}, {n}, {noun},
    {them} (it or them), {subject}, {decision}, {decision_without}, {score}, {score_without}, {threshold} and
    {cost}. `noun` is what one feature is called, and what several are.

    Raise `InputError` if nothing was found, since there is no reason to write about. Raise it too if the
    decision stays when the words are deleted from the text, unless `even_if_contradicted`: the letter would
    be wrong about the text.
    """
    template = TEMPLATES.get(template, template) if isinstance(template, str) else template
    parsed = _parsed(template)
    if not why:
        raise InputError(
            f"a letter must have reasons to give, got an explanation that found none (status "
            f"{why.status!r}): look at bool(why) first, or take why.sentence(), which says so."
        )
    if is_contradicted(why) and not even_if_contradicted:
        raise InputError(
            f"a letter must not say what the model contradicts: the text with {these(why)} deleted is "
            "decided as before (survives_deletion is False), and only with their columns at zero it is not. "
            'Explain it with Explainer(…, removal="delete"), take why.sentence(), which says so, or insist '
            "with even_if_contradicted=True."
        )
    check_words(subject=subject, decision=decision)
    words = _words(why, subject, decision, _checked_noun(noun, why), at_most)
    return "".join(literal + ("" if name is None else _word(name, words)) for literal, name in parsed)


def _parsed(template: Any) -> list[tuple[str, str | None]]:
    """Return the literal texts of a template, each with the placeholder that follows it.

    Only bare names are placeholders: a template may come from an untrusted source, and `str.format` would
    let it read attributes of objects.
    """
    how = f"template must be one of {', '.join(TEMPLATES)}, or a text with placeholders such as {{features}}"
    if not isinstance(template, str):
        raise InputError(f"{how}, got {template!r}.")
    try:
        fields = list(Formatter().parse(template))
    except ValueError as error:
        raise InputError(f"{how}, got {template!r}: {error}.") from error
    names = [name for _, name, _, _ in fields if name is not None]
    if not names:
        raise InputError(f"{how}, got {template!r}.")
    for _, name, style, conversion in fields:
        if name is not None and (name not in PLACEHOLDERS or style or conversion):
            bad = name + f"!{conversion}" * bool(conversion) + f":{style}" * bool(style)
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise InputError(f"template must have no other placeholders than {known}, got {{{bad}}}.")
    return [(literal, name) for literal, name, _, _ in fields]


PLACEHOLDERS = (
    "features",
    "n",
    "noun",
    "them",
    "subject",
    "decision",
    "decision_without",
    "score",
    "score_without",
    "threshold",
    "cost",
)


def _words(
    why: "Explanation", subject: str | None, decision: str | None, noun: tuple[str, str], at_most: int
) -> dict[str, str]:
    """Return the text of every placeholder; empty if it is not known."""
    score, score_without, threshold = decimals(why.score, why.score_without, why.threshold)
    several = why.size != 1
    words = (
        joined(named_features(why), at_most),
        f"{why.size:,}",
        noun[several],
        "them" if several else "it",
        printable(subject or ""),
        printable(decision or "") or (f"predicted {class_named(why.decision)}" if why.decision else ""),
        printable(why.decision_without),
        score,
        score_without,
        threshold,
        amount(why.cost if why.costs else why.size),
    )
    return dict(zip(PLACEHOLDERS, words, strict=True))


def _word(name: str, words: dict[str, str]) -> str:
    if not words[name]:
        reason = f"{name} must be given" if name in ("subject", "decision") else f"{name} is not known"
        raise InputError(f"{reason}, as the template says {{{name}}}.")
    return words[name]


def _checked_noun(noun: Any, why: "Explanation") -> tuple[str, str]:
    if noun is None:
        return NOUNS["word" if why.unit == "occurrence" else why.unit]
    if isinstance(noun, tuple | list) and len(noun) == 2 and all(isinstance(each, str) for each in noun):
        return noun[0], noun[1]
    raise InputError(f'noun must be two words, for one and for several, as ("film", "films"), got {noun!r}.')
