"""An explanation as a sentence."""

from typing import TYPE_CHECKING

from butfor._render.words import (
    REMOVED,
    Quote,
    active,
    amount,
    check_words,
    class_named,
    counted,
    decimals,
    is_at_target,
    is_contradicted,
    is_text,
    joined,
    margin_noun,
    named_features,
    printable,
    quoted,
    score_of,
    these,
    whole,
)

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation


def sentence(
    why: "Explanation",
    *,
    subject: str | None = None,
    decision: str | None = None,
    at_most: int = 10,
    wrap: Quote = str,
) -> str:
    """Return a sentence: what the decision would be without the evidence, or why nothing was found.

    For a text it includes what removing means, unless the decision flips too when the words are deleted.
    `wrap` is put around every name.
    """
    check_words(subject=subject, decision=decision)
    removed = joined(named_features(why, wrap), at_most)

    def quote(name: str) -> str:
        return wrap(quoted(name))

    in_full = subject is None and decision is None
    if is_at_target(why):
        return f"T{_the_decision(subject)[1:]} is {class_named(why.target, quote)} already."
    if not why:
        nothing = _nothing(why, quote) if in_full else _nothing_for_people(why, subject, decision, quote)
        return nothing + unread(why)
    removed += f" (total cost {amount(why.cost)})" * (in_full and why.costs)
    outcome = _with_numbers(why, quote) if in_full else _otherwise(why, subject, decision, quote)
    return (
        f"{_without(why, removed)}, {outcome}.{_but(why, subject, decision, quote)}{_sure(why)}{unread(why)}"
    )


def _sure(why: "Explanation") -> str:
    """Return how sure the answer is, if the scores of the model vary."""
    if why.confidence is None or why.confidence >= 1:
        return ""
    return f" With {100 * why.confidence:g} % confidence, as the scores of the model vary."


def unread(why: "Explanation") -> str:
    """Return that the model does not read all of the text, if that is so."""
    if not why.n_unread:
        return ""
    units, are = counted(why.n_unread, active(why.unit)), "is" if why.n_unread == 1 else "are"
    return f" The model does not read {units} beyond its length, which {are} no evidence."


def _without(why: "Explanation", removed: str) -> str:
    """Return the beginning: what is removed and, if that matters, how."""
    if not is_text(why) or why.removal == "delete" or why.survives_deletion:
        return f"But for {removed}"
    rest = ", and the weights of all other words left as they are" if why.removal == "zero" else ""
    return f"With {removed} {REMOVED[why.removal]}{rest}"


def _but(why: "Explanation", subject: str | None, decision: str | None, quote: Quote) -> str:
    """Return what the model decides on the text without the words, if that contradicts the answer."""
    if not is_contradicted(why):
        return ""
    return f" But with {these(why)} deleted from the text itself, {_still(why, subject, decision, quote)}."


def _with_numbers(why: "Explanation", quote: Quote) -> str:
    """Return what would be decided, with the scores."""
    score, without, threshold = decimals(why.score, why.score_without, why.threshold)
    if not _has_names(why):
        return f"the score would be {without} instead of {score} (threshold {threshold})"
    outcome = _otherwise(why, None, None, quote)
    if why.n_classes > 2:
        return outcome
    return f"{outcome} ({score_of(why, quote)}: {without} instead of {score}, threshold {threshold})"


def _has_names(why: "Explanation") -> bool:
    return bool(why.decision and why.decision_without)


def _otherwise(why: "Explanation", subject: str | None, decision: str | None, quote: Quote) -> str:
    """Return the words for another decision."""
    if decision is not None:
        return f"{_who(why, subject)} would not be {printable(decision)}"
    what = _the_decision(subject)
    if why and _has_names(why):
        classes = class_named(why.decision_without, quote), class_named(why.decision, quote)
        return f"{what} would be {' instead of '.join(classes)}"
    if why.target and why.n_classes > 2:
        return f"{what} would be {class_named(why.target, quote)}"
    return (
        f"{what} would not be {class_named(why.decision, quote)}"
        if why.decision
        else f"{what} would be another"
    )


def _still(why: "Explanation", subject: str | None, decision: str | None, quote: Quote) -> str:
    """Return the words for the same decision."""
    if decision is not None:
        return f"{_who(why, subject)} would still be {printable(decision)}"
    what = _the_decision(subject)
    if why.target and why.n_classes > 2:
        return f"{what} would still not be {class_named(why.target, quote)}"
    return (
        f"{what} would still be {class_named(why.decision, quote)}" if why.decision else f"{what} would stay"
    )


def _who(why: "Explanation", subject: str | None) -> str:
    return f"this {whole(why)}" if subject is None else printable(subject)


def _the_decision(subject: str | None) -> str:
    return "the decision" if subject is None else f"the decision on {printable(subject)}"


def _nothing(why: "Explanation", quote: Quote) -> str:
    """Return why nothing was found, with the score."""
    score, threshold = decimals(why.score, why.threshold)
    numbers = f"{score_of(why, quote)}: {score}, threshold {threshold}"
    if why.n_classes > 2:
        numbers = f"{margin_noun(why)} {score}"
    elif not why.decision:
        numbers = f"score {score}, threshold {threshold}"
    return f"{_why_nothing(why, quote)} ({numbers})."


def _why_nothing(why: "Explanation", quote: Quote) -> str:
    nothing = _nothing_to_remove(why)
    if nothing:
        return f"{nothing}, so there is nothing to remove"
    n_removable = why.n_active - why.n_protected
    of_its, removed = f"of its {_removable(why)}", _removed(why, "removed")
    if why.status == "none" and n_removable == 1:
        only = f"its only {_removable(why).removeprefix('1 ')}"
        without = f"with {only} {removed}" if is_text(why) else f"without {only}"
        return f"Proven: even {without}, {_stays(why, quote)}"
    if why.status == "none":
        at_most = f" (at most {why.max_size:,})" if why.max_size < n_removable else ""
        return f"Proven: whichever {of_its} are {removed}{at_most}, {_stays(why, quote)}"
    return f"No answer found: {printable(why.reason)}{_proven_so_far(why, of_its)}"


def _stays(why: "Explanation", quote: Quote) -> str:
    if why.target and why.n_classes > 2:
        return f"the decision does not become {class_named(why.target, quote)}"
    return f"the decision stays {class_named(why.decision, quote)}" if why.decision else "the decision stays"


def _removed(why: "Explanation", otherwise: str) -> str:
    """Return the word for the removal; for a text it says how the words are removed."""
    return REMOVED[why.removal] if is_text(why) else otherwise


def _nothing_for_people(why: "Explanation", subject: str | None, decision: str | None, quote: Quote) -> str:
    nothing = _nothing_to_remove(why)
    if nothing:
        return f"{nothing}, so nothing can be left out to change the decision."
    n_removable, of_the = why.n_active - why.n_protected, f"of the {_removable(why)}"
    if why.status == "none":
        at_most = f" (at most {why.max_size:,})" if why.max_size < n_removable else ""
        removed, still = _removed(why, "left out"), _still(why, subject, decision, quote)
        return f"Whichever {of_the} were {removed}{at_most}, {still}."
    otherwise = _otherwise(why, subject, decision, quote)
    return (
        f"Nothing was found without which {otherwise}: {printable(why.reason)}{_proven_so_far(why, of_the)}."
    )


def _nothing_to_remove(why: "Explanation") -> str:
    several = active(why.unit)[1]
    if why.n_active == 0 and is_text(why):
        return f"The {whole(why)} has no words that the model knows"
    if why.n_active == 0 and why.unit == "part":
        return f"The {whole(why)} has no {several} that can be removed"
    if why.n_active == 0:
        return f"The {whole(why)} has no {several}"
    if why.n_active == why.n_protected:
        return f"All {several} of the {whole(why)} are protected"
    return ""


def _removable(why: "Explanation") -> str:
    n_removable = why.n_active - why.n_protected
    return counted(n_removable, active(why.unit)) + " not protected" * (why.n_protected > 0)


def _proven_so_far(why: "Explanation", of_its: str) -> str:
    bound = amount(why.lower_bound)
    if why.costs:
        return f"; proven: nothing that costs less than {bound} can do it" * (why.lower_bound > 0)
    return f"; proven: fewer than {bound} {of_its} cannot do it" * (why.lower_bound > 1)
