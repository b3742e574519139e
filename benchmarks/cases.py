"""The models and rows of the benchmarks: real data from BUTFOR_DATA, or data that ship with butfor."""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from butfor.datasets import load_inbox, load_moviegoers
from butfor.study.datasets import DATASETS, data_folder

NETWORK = MLPClassifier((100,), alpha=1.0, tol=0.002, max_iter=50, random_state=0)
DEEP_NETWORK = MLPClassifier((64, 32), alpha=1.0, tol=0.002, max_iter=50, random_state=0)
KERNEL = SVC(C=10.0, cache_size=1000)
FEMALE = 0.25
"""The share of people that the models predict to be female."""
MEMORY = joblib.Memory("build/models", verbose=0)


@dataclass(frozen=True)
class Case:
    """A fitted model, the threshold of its decision, and rows that it predicts positive."""

    data: str
    model_name: str
    model: Any
    method: str
    threshold: float
    rows: list[Any]

    @property
    def recognisable(self) -> Any:
        """What to pass to an Explainer so that it recognises the model."""
        return self.model.decision_function if self.method == "decision_function" else self.model

    def first(self, n_rows: int) -> "Case":
        """Return the case with its first rows only."""
        return replace(self, rows=self.rows[:n_rows])

    def score(self, X: Any) -> Any:
        """Return the scores of rows. An Explainer of this method sees a black box."""
        scores = getattr(self.model, self.method)(X)
        return scores[:, 1] if self.method == "predict_proba" else scores


def behaviour_cases(n_rows: int, first: int = 0) -> Iterator[Case]:
    """Yield models of who is female, by the films they rated (MovieLens 1M); 25 % are predicted to be.

    Rows are taken from the number `first` on.
    """
    name, X, y = films()
    models = {"logistic regression": LogisticRegression(C=0.1, max_iter=300), "MLP, 100 neurons": NETWORK}
    for model_name, model in models.items():
        yield _case(name, model_name, model, X, y, share=FEMALE, n_rows=n_rows, first=first)


def text_cases(n_rows: int, group: str = "alt.atheism") -> Iterator[Case]:
    """Yield models of which posts belong to a newsgroup, by TF-IDF (20news); as many are predicted to."""
    name, X, y, share = _texts(group)
    models = {"linear SVM": LinearSVC(), "rbf SVM": KERNEL}
    for model_name, model in models.items():
        yield _case(name, model_name, model, X, y, share=share, n_rows=n_rows)


def model_on_films(model: Any = NETWORK) -> tuple[str, Any, Any, float]:
    """Return the name of the data, all rows, the fitted model and its threshold."""
    name, X, y = films()
    model, _, threshold, _ = _fitted(model, X, y, FEMALE)
    return name, X, model, threshold


def kernel_on_texts() -> tuple[str, Any, Any, float]:
    """Return the name of the data, all rows, the rbf SVM and its threshold."""
    name, X, y, share = _texts()
    model, _, threshold, _ = _fitted(KERNEL, X, y, share)
    return name, X, model, threshold


def _case(
    name: str, model_name: str, model: Any, X: Any, y: Any, *, share: float, n_rows: int, first: int = 0
) -> Case:
    model, method, threshold, positive = _fitted(model, X, y, share)
    chosen = np.random.default_rng(0).permutation(positive)[first : first + n_rows]
    return Case(name, model_name, model, method, threshold, [X[[i]] for i in chosen])


def _fitted(model: Any, X: Any, y: Any, share: float) -> tuple[Any, str, float, Any]:
    """Fit a model; return it, its scoring method, its threshold and its positive test rows."""
    train, test = train_test_split(np.arange(X.shape[0]), test_size=0.2, random_state=0)
    model = _fit(model, X[train], y[train])
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    scores = getattr(model, method)(X[test])
    scores = scores[:, 1] if scores.ndim == 2 else scores
    threshold = float(np.quantile(scores, 1 - share))
    return model, method, threshold, test[scores >= threshold]


@MEMORY.cache  # type: ignore[untyped-decorator]
def _fit(model: Any, X: Any, y: Any) -> Any:
    return model.fit(X, y)


def films() -> tuple[str, Any, Any]:
    """Return the name, the binary rows and the labels of MovieLens 1M, or of generated moviegoers."""
    movielens = DATASETS["movielens_1m"]
    if movielens.is_present():
        data = movielens.load()
        return "MovieLens 1M", data.X, data.y
    people = load_moviegoers(n_people=6_000, n_films=3_700, films_per_person=100)
    return "moviegoers (generated)", people.X, people.y


def _texts(group: str = "alt.atheism") -> tuple[str, Any, Any, float]:
    """Return name, rows, labels and positive share of 20news, or of the messages that ship with butfor."""
    news = DATASETS["20news"]
    if not news.is_present():
        inbox = load_inbox()
        vectorizer = TfidfVectorizer(stop_words="english")
        return "inbox (ships with butfor)", vectorizer.fit_transform(inbox.texts), inbox.y, 0.5
    texts, labels = [], []
    with tarfile.open(data_folder() / news.files[0].path) as archive:
        for member in archive:
            if member.isfile():
                post = archive.extractfile(member)
                assert post is not None
                texts.append(_body(post.read().decode("latin-1")))
                labels.append(member.name.split("/")[-2] == group)
    X = TfidfVectorizer(min_df=2, stop_words="english").fit_transform(texts)
    y = np.array(labels).astype(int)
    return "20news", X, y, round(float(y.mean()), 4)


def _body(post: str) -> str:
    """Return a post without headers and quotations, which reveal the newsgroup."""
    lines = post.partition("\n\n")[2].splitlines()
    return "\n".join(line for line in lines if line[:1] not in (">", "|") and "writes:" not in line)
