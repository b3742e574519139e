"""A study so small that it runs in a second: data sets, models and searches as a researcher adds them."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Finding
from butfor.datasets import load_moviegoers
from butfor.study.datasets import Data, Dataset
from butfor.study.models import StudyModel


def read(folder):
    people = load_moviegoers(n_people=200, n_films=60, films_per_person=8)
    return Data(people.X, people.y, people.feature_names)


class Moody(ClassifierMixin, BaseEstimator):
    """Refuses to score few rows of which one has an even number of films."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        self.fitted_on_ = X.shape[0]
        return self

    def predict_proba(self, X):
        if X.shape[0] < 10 and (X.sum(axis=1) % 2 == 0).any():
            raise RuntimeError("not in the mood")
        return self.inner_.predict_proba(X)


class Lazy(ClassifierMixin, BaseEstimator):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise RuntimeError("not today")


class First:
    """A search that removes the first feature, whatever that does."""

    name = "first"

    def __call__(self, local, budget: Budget, seed: int):
        flips = local.flips(local.scores_with_each((), range(1)))
        yield Finding((0,)) if flips[0] else Finding(reason="the first feature is not enough")


DATASETS = {
    "tiny": Dataset(
        name="tiny",
        kind="behaviour",
        target="joins the midnight club",
        citation="none",
        licence="CC0",
        homepage="none",
        share=0.2,
        read=read,
    )
}
MODELS = {
    "lazy": StudyModel("lazy", linear=False, candidates=lambda: [Lazy()]),
    "moody": StudyModel("moody", linear=False, candidates=lambda: [Moody()]),
    "plain": StudyModel("plain", linear=True, candidates=lambda: [LogisticRegression()]),
}
SEARCHES = {"first": First()}
