"""Settings are checked wherever they are changed, and what is changed shares the model."""

import pytest
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Explainer, InputError
from butfor._engine import model as engine_model


@pytest.fixture
def explainer():
    return Explainer(LogisticRegression().fit([[1, 0], [0, 1], [1, 1], [0, 0]], [1, 0, 1, 0]))


@pytest.mark.parametrize("budget", [5, None, "long"])
def test_a_budget_must_be_a_budget(explainer, budget):
    with pytest.raises(InputError, match="budget must be a Budget"):
        explainer.budget = budget
    assert explainer.budget == Budget()


@pytest.mark.parametrize("seed", [-1, 0.5, "7", None])
def test_a_seed_must_be_a_whole_number(explainer, seed):
    with pytest.raises(InputError, match="seed must be a whole number"):
        explainer.seed = seed
    assert explainer.seed == 0


def test_changed_settings_leave_the_other_explainer_as_it_was(explainer):
    other = explainer.with_options(budget=Budget(max_size=3), seed=7, search="sedc", protected=[0])
    assert (other.budget.max_size, other.seed) == (3, 7)
    assert (explainer.budget.max_size, explainer.seed) == (30, 0)
    other.budget = Budget(max_size=4)
    assert explainer.explain([1, 1]).max_size == 30
    assert other.explain([1, 1]).max_size == 4


def test_a_model_is_recognised_once(explainer, monkeypatch):
    seen = []
    recognise = engine_model.recognise
    monkeypatch.setattr(engine_model, "recognise", lambda scorer: seen.append(scorer) or recognise(scorer))
    explainer.explain([1, 0])
    for _ in range(5):
        list(explainer.alternatives([1, 0]))
    explainer.what_if([1, 0]).without([0])
    explainer.with_options(seed=3).explain([1, 1])
    explainer.rank([1, 1])
    assert len(seen) == 1


def test_settings_are_given_by_the_names_of_the_parameters(explainer):
    told = explainer.with_options(seed=7, protected=[1]).settings()
    assert (told["seed"], told["protected"], told["unit"], told["removal"]) == (7, [1], "feature", "zero")
    assert told["model"] is explainer.settings()["model"]
    assert told["scored_by"] == "LogisticRegression.predict_proba"
