"""The two data sets that ship with butfor, ready to be looked at."""

import numpy as np

from butfor import Budget, Explainer
from butfor.datasets import load_inbox, load_moviegoers
from butfor.demo import inbox_case, moviegoers_cases, split
from butfor.web.desk import Desk
from butfor.web.given import Items, Texts


def demo_desks(budget: Budget | None = None) -> list[Desk]:
    """Train a model on each data set, and show the messages and people that it was not trained on."""
    return [_inbox(budget), _moviegoers(budget)]


def _inbox(budget: Budget | None) -> Desk:
    case, texts = inbox_case(), load_inbox().texts
    _, held_out = split(len(texts))
    explainer = Explainer(case.model, budget=budget, **case.options)
    given = Texts([texts[number] for number in np.sort(held_out)])
    return Desk.of("inbox", "Inbox: is this message spam?", explainer, given)


def _moviegoers(budget: Budget | None) -> Desk:
    people = load_moviegoers()
    case, _ = moviegoers_cases(people)
    _, held_out = split(people.X.shape[0])
    explainer = Explainer(case.model, budget=budget, **case.options)
    given = Items(people.X[np.sort(held_out)], people.feature_names)
    return Desk.of("moviegoers", "Moviegoers: who joins the midnight club?", explainer, given)
