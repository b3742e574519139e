import numpy as np
import pytest

from butfor import Budget, Explainer, InputError, ModelError, Noise

WEIGHTS = np.array([0.3, 0.2, 0.15, 0.1, 0.05, -0.1])


class Sampled:
    """A model that votes 0 or 1 at random, with a chance that is known to the test."""

    def __init__(self, seed, weights=WEIGHTS, offset=0.15, spread=None):
        self.rng, self.weights, self.offset, self.spread = (
            np.random.default_rng(seed),
            weights,
            offset,
            spread,
        )
        self.n_asked = 0

    def chances(self, X):
        return np.clip(self.offset + X @ self.weights, 0.0, 1.0)

    def __call__(self, X):
        self.n_asked += X.shape[0]
        chances = self.chances(X)
        if self.spread is None:
            return (self.rng.random(len(chances)) < chances).astype(float)
        return np.clip(chances + self.rng.normal(scale=self.spread, size=len(chances)), 0, 1)


def is_right(model, row, why, threshold=0.5):
    without = np.array(row, dtype=float)
    without[list(why.columns)] = 0
    own, flipped = model.chances(np.array([row, without])) >= threshold
    return own == (why.score >= threshold) and own != flipped


def test_without_a_word_it_is_refused_with_the_hint():
    explainer = Explainer(Sampled(0, spread=0.03), threshold=0.5)
    with pytest.raises(ModelError, match=r"must give the same row the same score.*noise=Noise\(\)"):
        explainer.explain(np.ones(6))


def test_rows_of_a_block_are_refused_one_by_one():
    jumpy = Sampled(0, spread=0.03)

    def score(X):
        steady = X[:, [5]].toarray().ravel() == 2
        return np.where(steady, jumpy.chances(X), jumpy(X))

    rows = np.ones((6, 6))
    rows[::2, 5] = 2
    outcomes = Explainer(score, threshold=0.5).explain_block(rows)
    assert all(isinstance(each, ModelError) for each in outcomes[1::2])
    assert not any(isinstance(each, ModelError) for each in outcomes[::2])
    assert not any(each.proven_minimum for each in outcomes[::2])  # the model is seen to vary


def test_the_stated_confidence_holds():
    """Votes near the threshold, so that errors are easy; the right answers are known."""
    n_runs, wrong, found = 150, 0, 0
    rng = np.random.default_rng(7)
    for seed in range(n_runs):
        model = Sampled(seed, weights=rng.normal(scale=0.2, size=6), offset=0.45)
        row = np.ones(6)
        why = Explainer(model, threshold=0.5, noise=Noise(confidence=0.8, max_repeats=100)).explain(row)
        assert why.n_asked == model.n_asked - 1  # and once at the door
        assert not why.proven_minimum
        if why:
            found += 1
            assert why.confidence == 0.8
            wrong += not is_right(model, row, why)
        else:
            assert why.status == "budget"
            assert why.reason
    assert found > 30
    assert wrong <= 0.2 * n_runs


def test_clear_answers_are_found_and_said():
    model = Sampled(3)
    why = Explainer(model, threshold=0.5, noise=Noise(confidence=0.95)).explain(np.ones(6))
    assert is_right(model, np.ones(6), why)
    assert (why.status, why.confidence, why.lower_bound) == ("found", 0.95, 1)
    assert str(why).endswith("With 95 % confidence, as the scores of the model vary.")


def test_many_rows_share_calls_and_answers_are_confirmed():
    model = Sampled(1, spread=0.1)
    explainer = Explainer(model, threshold=0.5, noise=Noise())
    rows = (np.random.default_rng(2).random((20, 6)) < 0.8).astype(float)
    outcomes = explainer.explain_block(rows, only_positive=True)
    for row, why in zip(rows, outcomes, strict=True):
        if why is None:
            assert model.chances(row[np.newaxis])[0] < 0.55
        elif why:
            assert is_right(model, row, why)
    assert sum(map(bool, outcomes)) > 5


def test_several_classes():
    rng = np.random.default_rng(0)
    weights = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]])

    def score(X):
        logits = X @ weights + rng.normal(scale=0.3, size=(X.shape[0], 3))
        shares = np.exp(logits)
        return shares / shares.sum(axis=1, keepdims=True)

    names = ["a", "b", "c"]
    why = Explainer(score, class_names=names, noise=Noise()).explain(np.ones(3))
    assert (why.columns, why.decision, why.decision_without) == ((0,), "a", "b")
    why = Explainer(score, class_names=names, target="c", noise=Noise()).explain(np.ones(3))
    assert (set(why.columns), why.decision_without) == ({0, 1}, "c")


def test_a_row_at_the_threshold_is_left_open():
    model = Sampled(0, weights=np.zeros(6), offset=0.5)
    why = Explainer(model, threshold=0.5, noise=Noise(max_repeats=50)).explain(np.ones(6))
    assert why.status == "budget"
    assert why.reason == "max_repeats=50 scores of the row leave its decision open"


def test_scores_outside_of_the_range():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=3, noise=Noise())
    with pytest.raises(ModelError, match=r"must return scores from 0 to 1, as noise says, got 6"):
        explainer.explain(np.ones(6))
    why = Explainer(lambda X: X.sum(axis=1), threshold=3, noise=Noise(low=-10, high=10)).explain(np.ones(6))
    assert why.size == 4


def test_a_limit_of_scorings():
    model = Sampled(4)
    budget = Budget(max_scorings=300)
    Explainer(model, threshold=0.5, noise=Noise(max_repeats=100), budget=budget).explain(np.ones(6))
    assert model.n_asked <= 300 + 1


class TestTolerance:
    """noise=0.05: scores of the same row differ by at most 0.05."""

    @staticmethod
    def jittered(X, rng):
        return X @ WEIGHTS + rng.uniform(-0.025, 0.025, size=X.shape[0])

    def test_a_flip_is_by_more_than_the_tolerance(self):
        for seed in range(30):
            rng = np.random.default_rng(seed)
            explainer = Explainer(lambda X, rng=rng: self.jittered(X, rng), threshold=0.45, noise=0.05)
            why = explainer.explain(np.ones(6))
            without = np.ones(6)
            without[list(why.columns)] = 0
            assert without @ WEIGHTS < 0.45 - 0.025
            assert (why.confidence, why.proven_minimum) == (1.0, False)
            assert why.reason == "scores vary, so that no smaller set is ruled out"

    def test_a_row_too_close_to_the_threshold(self):
        rng = np.random.default_rng(0)
        why = Explainer(lambda X: self.jittered(X, rng), threshold=0.69, noise=0.05).explain(np.ones(6))
        assert why.status == "budget"
        assert why.reason.startswith("the score of the row is no further from the threshold")

    def test_more_noise_than_was_said(self):
        rng = np.random.default_rng(0)
        explainer = Explainer(lambda X: self.jittered(X, rng), threshold=0.4, noise=0.001)
        with pytest.raises(ModelError, match="must give the same row the same score"):
            explainer.explain(np.ones(6))

    def test_formulas_are_not_used(self, moviegoers, club_model):
        why = Explainer(club_model, noise=0.01).explain(moviegoers.X[[0]])
        assert why.local_model == "black box"
        assert not why.proven_minimum


@pytest.mark.parametrize("noise", [0, -1, "much", True])
def test_bad_noise(noise):
    with pytest.raises(InputError, match="noise must be a Noise, such as"):
        Explainer(lambda X: X.sum(axis=1), threshold=1, noise=noise)


def test_bad_parameters():
    for wrong in (
        {"confidence": 1.0},
        {"confidence": "sure"},
        {"repeats": 0},
        {"max_repeats": 5},
        {"low": 1},
    ):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
            Noise(**wrong)
