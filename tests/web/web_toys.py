"""Desks for the tests of the server: two that answer, and one with all that can go wrong."""

import os
import time
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Budget, Explainer
from butfor.datasets import load_inbox, load_moviegoers
from butfor.web.desk import Desk
from butfor.web.given import Items, Texts

TRAPS = ("free", "prize", "slow", "hang", "crash", "raise")
WEIGHTS = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
SLOW_SECONDS = 0.2
BUDGET = Budget(max_seconds=5)


def trapped(X):
    """Score rows, unless they hold a trap."""
    held = dict(zip(TRAPS, np.asarray((X != 0).sum(axis=0)).ravel() > 0, strict=True))
    if held["hang"]:
        time.sleep(1000)
    if held["crash"]:
        os._exit(7)
    if held["raise"]:
        raise ArithmeticError("secret <b>")
    if held["slow"]:
        time.sleep(SLOW_SECONDS)
    return X @ WEIGHTS


@cache
def inbox() -> tuple[Explainer, list[str]]:
    data = load_inbox()
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression()).fit(data.texts, data.y)
    return Explainer(model, class_names=data.target_names, budget=BUDGET), list(data.texts[:12])


@cache
def moviegoers():
    data = load_moviegoers()
    model = LogisticRegression().fit(data.X, data.y)
    names, classes = data.feature_names, data.target_names
    return Explainer(model, feature_names=names, class_names=classes, budget=BUDGET), data.X[:12]


class StillDesk(Desk):
    """A desk that fills no table in the background."""

    def open(self, explainer):
        pass


def inbox_desk(title="Inbox") -> Desk:
    explainer, texts = inbox()
    return StillDesk.of("inbox", title, explainer, Texts(texts))


def moviegoers_desk() -> Desk:
    explainer, X = moviegoers()
    return StillDesk.of("moviegoers", "Moviegoers", explainer, Items(X, explainer.feature_names))


def trap_desk() -> Desk:
    explainer = Explainer(trapped, feature_names=TRAPS, threshold=2.0, budget=BUDGET)
    return Desk.of("traps", "Traps", explainer)
