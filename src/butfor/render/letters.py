"""Letters: an explanation in the words of a template."""

from string import Formatter
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError
from butfor.render.words import (
    NOUNS,
    amount,
    check_words,
    class_named,
    decimals,
    is_contradicted,
    listed,
    printable,
    these,
)

if TYPE_CHECKING:
    from butfor.explanation import Explanation

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
"""The letters that are known by name."""


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
    """Fill a template with what an explanation says.

    The template is one of `TEMPLATES` by name, or any text with placeholders: {features}, {n}, {noun},
    {them} (it or them), {subject}, {decision}, {decision_without}, {score}, {score_without}, {threshold} and
    {cost}. `noun` is what one and several of the features are called. Where nothing was found there is
    nothing to give as a reason, and no letter: an `InputError`. It is the same where the text with the words
    deleted is decided as before, as a letter would say something else, unless `even_if_contradicted`.
    """
    template = TEMPLATES.get(template, template) if isinstance(template, str) else template
    parts = _parts(template)
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
    return "".join(literal + ("" if name is None else _word(name, words)) for literal, name in parts)


def _parts(template: Any) -> list[tuple[str, str | None]]:
    """Cut a template into its texts, each with the placeholder behind it.

    Only bare names stand for something: a template can come from anywhere, and `str.format` would let it
    reach into objects.
    """
    how = f"template must be one of {', '.join(TEMPLATES)}, or a text with placeholders such as {{features}}"
    if not isinstance(template, str):
        raise InputError(f"{how}, got {template!r}.")
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise InputError(f"{how}, got {template!r}: {error}.") from error
    names = [name for _, name, _, _ in parts if name is not None]
    if not names:
        raise InputError(f"{how}, got {template!r}.")
    for _, name, style, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or style or conversion):
            bad = name + f"!{conversion}" * bool(conversion) + f":{style}" * bool(style)
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise InputError(f"template must have no other placeholders than {known}, got {{{bad}}}.")
    return [(literal, name) for literal, name, _, _ in parts]


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
    """Give a text for every placeholder; an empty one where nothing is known."""
    score, score_without, threshold = decimals(why.score, why.score_without, why.threshold)
    several = why.size != 1
    words = (
        listed(why.features, at_most),
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
        given = f"{name} must be given" if name in ("subject", "decision") else f"{name} is not known"
        raise InputError(f"{given}, as the template says {{{name}}}.")
    return words[name]


def _checked_noun(noun: Any, why: "Explanation") -> tuple[str, str]:
    if noun is None:
        return NOUNS["word" if why.unit == "occurrence" else why.unit]
    if isinstance(noun, tuple | list) and len(noun) == 2 and all(isinstance(each, str) for each in noun):
        return noun[0], noun[1]
    raise InputError(f'noun must be two words, for one and for several, as ("film", "films"), got {noun!r}.')
