"""Workspaces for the tests of the server: three that answer, and one with all that can go wrong."""

import os
import time
from functools import cache

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from butfor import Budget, Explainer
from butfor._web.served_records import ServedRecords
from butfor._web.served_rows import ServedItems, ServedTexts
from butfor._web.workspace import Workspace
from butfor.datasets import load_applications, load_inbox, load_moviegoers

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
def inbox(removal: str = "delete") -> tuple[Explainer, list[str]]:
    data = load_inbox()
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression()).fit(data.texts, data.y)
    explainer = Explainer(model, class_names=data.target_names, budget=BUDGET, removal=removal)
    return explainer, list(data.texts[:12])


@cache
def moviegoers():
    data = load_moviegoers()
    model = LogisticRegression().fit(data.X, data.y)
    names, classes = data.feature_names, data.target_names
    return Explainer(model, feature_names=names, class_names=classes, budget=BUDGET), data.X[:12]


def same_items(items):
    return items


@cache
def loans():
    """Applications for a loan, as records."""
    data = load_applications(n_applications=400)
    front = make_column_transformer(
        (CountVectorizer(), "purpose"),
        (OneHotEncoder(handle_unknown="ignore"), ["sector", "channel"]),
        (CountVectorizer(analyzer=same_items), "visited"),
        ("passthrough", ["years"]),
    )
    model = make_pipeline(front, LogisticRegression(max_iter=1000)).fit(data.frame(), data.y)
    return Explainer(model, class_names=data.target_names, budget=BUDGET), list(data.records[:12])


def loans_workspace() -> Workspace:
    explainer, records = loans()
    return StillWorkspace.of("loans", "Loans", explainer, ServedRecords(records))


class StillWorkspace(Workspace):
    """A workspace that fills no table in the background."""

    def open(self, explainer, upkeep=None, metrics=None):
        pass


def inbox_workspace(title="Inbox") -> Workspace:
    explainer, texts = inbox()
    return StillWorkspace.of("inbox", title, explainer, ServedTexts(texts))


def moviegoers_workspace() -> Workspace:
    explainer, X = moviegoers()
    return StillWorkspace.of("moviegoers", "Moviegoers", explainer, ServedItems(X, explainer.feature_names))


def trap_workspace() -> Workspace:
    explainer = Explainer(trapped, feature_names=TRAPS, threshold=2.0, budget=BUDGET)
    return Workspace.of("traps", "Traps", explainer)
