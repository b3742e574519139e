"""The workspaces of `butfor serve --demo`: the two data sets that ship with butfor."""

import numpy as np

from butfor import Budget, Explainer
from butfor._demo import inbox_demo, moviegoers_demos, split
from butfor._web.served_rows import ServedItems, ServedTexts
from butfor._web.workspace import Workspace
from butfor.datasets import load_inbox, load_moviegoers


def demo_workspaces(budget: Budget | None = None) -> list[Workspace]:
    """Train a model on each data set, and return workspaces of the rows that were held out."""
    return [_inbox(budget), _moviegoers(budget)]


def _inbox(budget: Budget | None) -> Workspace:
    demo, texts = inbox_demo(), load_inbox().texts
    _, held_out = split(len(texts))
    explainer = Explainer(demo.model, budget=budget, **demo.options)
    data = ServedTexts([texts[number] for number in np.sort(held_out)])
    return Workspace.of("inbox", "Inbox: is this message spam?", explainer, data)


def _moviegoers(budget: Budget | None) -> Workspace:
    people = load_moviegoers()
    demo, _ = moviegoers_demos(people)
    _, held_out = split(people.X.shape[0])
    explainer = Explainer(demo.model, budget=budget, **demo.options)
    data = ServedItems(people.X[np.sort(held_out)], people.feature_names)
    return Workspace.of("moviegoers", "Moviegoers: who joins the midnight club?", explainer, data)
