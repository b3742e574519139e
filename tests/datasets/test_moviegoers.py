import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from butfor import InputError
from butfor.datasets import load_moviegoers


def test_the_same_seed_gives_the_same_people(moviegoers):
    again, other = load_moviegoers(), load_moviegoers(seed=1)
    assert (again.X != moviegoers.X).nnz == 0
    assert (again.y == moviegoers.y).all()
    assert again.feature_names == moviegoers.feature_names != other.feature_names


def test_its_shape(moviegoers):
    assert moviegoers.X.shape == (3_000, 1_000)
    assert len(set(moviegoers.feature_names)) == len(moviegoers.genres) == 1_000
    assert set(moviegoers.X.data) == {1.0}
    assert moviegoers.y.mean() == pytest.approx(0.3, abs=0.001)


def test_activity_and_popularity_have_long_tails(moviegoers):
    seen = np.asarray(moviegoers.X.sum(axis=1)).ravel()
    viewers = np.asarray(moviegoers.X.sum(axis=0)).ravel()
    assert np.median(seen) == pytest.approx(40, rel=0.1)
    for counts in (seen, viewers):
        assert counts.min() >= 1
        assert counts.max() > 5 * np.median(counts)
        assert counts.mean() > 1.2 * np.median(counts)


def test_a_model_learns_the_planted_causes(moviegoers):
    assert cross_val_score(LogisticRegression(), moviegoers.X, moviegoers.y, scoring="roc_auc").mean() > 0.85
    learnt = LogisticRegression().fit(moviegoers.X, moviegoers.y).coef_[0]
    planted = list(moviegoers.causes)
    assert np.corrcoef(learnt[planted], list(moviegoers.causes.values()))[0, 1] > 0.9
    others = np.setdiff1d(np.arange(1_000), planted)
    assert np.abs(learnt[planted]).mean() > 4 * np.abs(learnt[others]).mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_people": 0}, "n_people must be a whole number of at least 1, got 0"),
        ({"n_films": 5}, "n_films must be a whole number of at least 12, got 5"),
        ({"n_films": 10_000}, "n_films must be at most 4,200, the number of titles, got 10,000"),
        ({"films_per_person": 1.5}, "films_per_person must be a whole number"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        load_moviegoers(**arguments)


def test_a_small_one():
    assert load_moviegoers(n_people=5, n_films=12, films_per_person=3).X.shape == (5, 12)
