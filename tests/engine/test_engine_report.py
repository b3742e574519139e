"""Explanations that the engine makes are whole, on every path."""

from dataclasses import fields

import pytest
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Explainer, Explanation
from butfor.datasets import load_inbox, load_moviegoers

NAMES = [field.name for field in fields(Explanation)]


def explanations(explainer, rows):
    """Yield explanations of some rows by each path of the engine."""
    yield from (explainer.explain(row) for row in rows)
    yield from explainer.explain_many(rows)
    yield from explainer.alternatives(rows[0], limit=2)
    session = explainer.what_if(rows[0])
    trial = session.without(range(len(session.items)))
    yield from [] if trial.explanation is None else [trial.explanation]


@pytest.mark.parametrize("kind", ["linear", "black box", "texts"])
def test_every_field_is_there_and_the_constructor_agrees(kind):
    if kind == "texts":
        inbox = load_inbox()
        from butfor._demo import inbox_demo

        explainer, rows = Explainer(inbox_demo().model), inbox.texts[:3]
    else:
        people = load_moviegoers()
        model = LogisticRegression().fit(people.X, people.y)
        scored = model if kind == "linear" else model.predict_proba
        explainer, rows = Explainer(scored, budget=Budget(max_seconds=5)), people.X[:3]
    n_made = 0
    for why in explanations(explainer, rows):
        assert sorted(vars(why)) == sorted(NAMES)
        again = Explanation(**{name: getattr(why, name) for name in NAMES})
        assert again == why
        assert hash(again) == hash(why)
        n_made += 1
    assert n_made >= 7
