import numpy as np

from butfor import Budget
from butfor._demo import split
from butfor._web.demo_workspaces import demo_workspaces
from butfor.datasets import load_inbox, load_moviegoers


def test_the_demo_shows_rows_that_its_models_were_not_trained_on():
    inbox, moviegoers = demo_workspaces(Budget(max_seconds=3))
    texts, people = load_inbox(), load_moviegoers()
    trained = {texts.texts[number] for number in split(len(texts.texts))[0]}
    shown = [inbox.data.text(number) for number in range(inbox.n_rows)]
    assert not trained & set(shown)
    assert (len(shown), moviegoers.n_rows) == (len(texts.texts) // 5, people.X.shape[0] // 5)
    for workspace in (inbox, moviegoers):
        assert workspace.explainer.budget.max_seconds == 3
        scores, classes = workspace.explainer.decide(workspace.data.some(range(workspace.n_rows)))
        assert np.isfinite(scores).all()
        assert 0.1 < classes.mean() < 0.9  # both kinds of decisions are there to be seen
    label = dict(zip(texts.texts, texts.y, strict=True))
    decided = inbox.explainer.decide(shown)[1]
    assert np.mean(decided == [label[text] for text in shown]) > 0.8
