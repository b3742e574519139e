"""The steps of a text classifier between the counts of its vectorisers and the estimator that decides."""

from dataclasses import replace
from typing import Any

from butfor.models.formula.families.steps import NORMS, steps_behind, without_norm
from butfor.models.formula.preprocessing import Preprocessing
from butfor.models.text.layout import PROBE, holds_vectoriser, is_nothing, is_vectoriser
from butfor.models.text.pipelines import TextModel


def steps_of_texts(model: TextModel) -> Preprocessing | None:
    """Return the steps from counts to the rows on which the rest of a model decides; None if unknown."""
    return _through(model, model.steps)


def _through(model: TextModel, steps: Any) -> Preprocessing | None:
    front: Preprocessing | None = None
    for step in steps:
        if front is not None:
            front = steps_behind(front, step)
        elif holds_vectoriser(step):
            front = _front(model, step)
        else:
            continue  # it cleans texts
        if front is None:
            return None
    return front


def _front(model: TextModel, step: Any) -> Preprocessing | None:
    """Return a vectoriser, or a union or pipeline of some, as steps from counts."""
    if is_vectoriser(step):
        sources = [i for i, leaf in enumerate(model.leaves) if leaf.vectoriser is step]
        return of_vectoriser(step, sources[0]) if sources else None
    if hasattr(step, "steps"):
        return _through(model, [inner for _, inner in step.steps if not is_nothing(inner)])
    weights, branches = step.transformer_weights or {}, []
    for name, member in step.transformer_list:
        if is_nothing(member):
            continue
        branch = _front(model, member) if holds_vectoriser(member) else None
        if branch is None:
            return None
        branches.append(branch.as_branch(member.transform(list(PROBE)).shape[1], weights.get(name, 1)))
    return Preprocessing(branches=tuple(branches))


def of_vectoriser(vectoriser: Any, source: int) -> Preprocessing | None:
    """Return what a vectoriser makes of its own counts."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
    from sklearn.preprocessing import Binarizer

    own = next(
        (
            each
            for each in (TfidfVectorizer, CountVectorizer, HashingVectorizer)
            if isinstance(vectoriser, each)
        ),
        None,
    )
    changed = ("transform", "_count_vocab", "_get_hasher")
    if own is None or any(getattr(type(vectoriser), name, 0) != getattr(own, name, 0) for name in changed):
        return None
    steps = Preprocessing(source=source)
    hashes = own is HashingVectorizer
    if vectoriser.binary:
        if hashes and vectoriser.alternate_sign:
            return None  # words of opposite signs that share a column leave a zero, which becomes one
        steps = replace(steps, transformers=(Binarizer(),))
    if own is TfidfVectorizer:
        weights = without_norm(vectoriser._tfidf)
        steps = replace(steps, transformers=(*steps.transformers, weights))
    norm = None if own is CountVectorizer else vectoriser.norm
    return replace(steps, norm=norm) if norm is None or norm in NORMS else None
