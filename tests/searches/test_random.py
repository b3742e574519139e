import numpy as np
from toys import constant, linear

from butfor import Budget, Explainer


def test_it_keeps_only_removals_that_lower_the_score():
    explainer = Explainer(linear, threshold=-2.5, search="random", seed=1)
    why = explainer.explain(np.ones(6))
    assert set(why.columns) == {0, 1, 2, 3}  # the others raise the score


def test_it_has_no_limit_on_the_size():
    explainer = Explainer(linear, threshold=-2.5, search="random", budget=Budget(max_size=1))
    assert explainer.explain(np.ones(6)).size == 4


def test_another_seed_may_give_another_answer():
    answers = {
        Explainer(linear, threshold=0.0, search="random", seed=s).explain(np.ones(6)).columns
        for s in range(9)
    }
    assert len(answers) > 1


def test_it_says_when_nothing_helped():
    why = Explainer(constant, threshold=0.5, search="random").explain(np.ones(6))
    assert (why.status, why.reason) == ("budget", "every feature was tried once without a flip")


def test_a_removal_without_effect_is_taken_back():
    explainer = Explainer(lambda X: X[:, :2].sum(axis=1), threshold=0.5, search="random")
    assert sorted(explainer.explain(np.ones(30)).columns) == [0, 1]
