"""LIME's weights, held against the lime package itself."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge

from butfor import Explainer, InputError
from butfor.rankings import lime_weights
from butfor.rankings.lime import surrogate

WORDS = 40
rng = np.random.default_rng(0)
INNER, OUTER = rng.normal(size=(WORDS, 8)), rng.normal(size=8)


def score(X):
    return 1 / (1 + np.exp(-np.tanh(X @ INNER / 3) @ OUTER))


def package(seed, n_samples=1_000, m=WORDS):
    """Run the package on a text of m words; give its weights, and the samples that it made."""
    from lime.lime_text import LimeTextExplainer

    def of_texts(texts):
        X = np.zeros((len(texts), WORDS))
        for number, text in enumerate(texts):
            X[number, [int(word[1:]) for word in text.split()]] = 1
        return np.column_stack([1 - score(X), score(X)])

    explainer = LimeTextExplainer(random_state=seed)
    fit, made = explainer.base.explain_instance_with_data, []

    def watched(data, labels, *arguments, **options):
        made.append((data.astype(bool), labels[:, 1]))
        return fit(data, labels, *arguments, **options)

    explainer.base.explain_instance_with_data = watched
    explained = explainer.explain_instance(
        " ".join(f"w{i}" for i in range(m)), of_texts, num_features=m, num_samples=n_samples
    )
    weights = np.zeros(m)
    for word, weight in explained.as_map()[1]:
        weights[int(explained.domain_mapper.indexed_string.word(word)[1:])] = weight
    columns = [int(explained.domain_mapper.indexed_string.word(i)[1:]) for i in range(m)]
    present, scores = made[0]
    return weights, present[:, np.argsort(columns)], scores


def ours(seed, n_samples=1_000):
    row = np.ones(WORDS)
    return lime_weights(Explainer(score, threshold=0.1).local_model(row), n_samples, seed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("m", [1, 2, 12, WORDS])
def test_fed_the_same_samples_the_weights_are_the_package_s(m):
    weights, present, scores = package(seed=1, m=m)
    np.testing.assert_allclose(surrogate(present, scores), weights, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_the_ranks_agree_with_the_package_as_two_runs_of_it_agree():
    theirs = [package(seed)[0] for seed in range(6)]
    own = [ours(seed) for seed in range(6)]

    def agreement(pairs):
        return np.mean([spearmanr(one, other).statistic for one, other in pairs])

    among_theirs = agreement(combinations(theirs, 2))
    with_theirs = agreement(product(own, theirs))
    assert 0.5 < among_theirs < 0.99  # samples matter here, so that the comparison says something
    assert with_theirs > among_theirs - 0.02
    np.testing.assert_allclose(np.mean(own, axis=0), np.mean(theirs, axis=0), atol=0.02)


def test_fewer_samples_than_features():
    present, scores = rng.random((10, 30)) < 0.5, rng.random(10)
    present[0] = True
    distances = 100 * (1 - np.sqrt(present.mean(axis=1)))
    ridge = Ridge(alpha=1).fit(present, scores, sample_weight=np.sqrt(np.exp(-((distances / 25) ** 2))))
    np.testing.assert_allclose(surrogate(present, scores), ridge.coef_)


def test_the_row_itself_is_one_of_the_samples():
    local = Explainer(score, threshold=0.1).local_model(np.ones(WORDS))
    lime_weights(local, 100)
    assert 97 <= local.n_scored <= 99  # a random set that was drawn twice is scored once


def test_the_same_seed_gives_the_same_weights():
    np.testing.assert_array_equal(ours(3), ours(3))
    assert not np.array_equal(ours(3), ours(4))


def test_a_row_without_features_has_no_weights():
    local = Explainer(score, threshold=0.1).local_model(np.zeros(WORDS))
    assert lime_weights(local).shape == (0,)


@pytest.mark.parametrize("n_samples", [1, 0, 2.5, "many"])
def test_too_few_samples(n_samples):
    local = Explainer(score, threshold=0.1).local_model(np.ones(WORDS))
    with pytest.raises(InputError, match="n_samples must be a whole number of at least 2, got"):
        lime_weights(local, n_samples)
