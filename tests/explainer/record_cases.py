"""Tables with columns of all kinds, models of them, and a judge that changes rows by hand."""

import itertools
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC

WORDS = ["refund", "card", "thanks", "please", "declined"]
CATEGORIES, NUMBERS = ["country", "plan"], ["age", "income"]


def same(items):
    return items


def lower(texts):
    return [text.lower() for text in texts]


class Length(FunctionTransformer):
    """A step of own making: how long the texts of a column are."""

    def transform(self, X):
        return np.array([[len(text) / 10] for text in np.ravel(X)])

    def get_feature_names_out(self, names=None):
        return np.array(["length"], dtype=object)


@cache
def applications():
    """Applications with a text, categories, numbers and visits, and what was decided."""
    rng = np.random.default_rng(4)
    n = 240
    frame = pd.DataFrame(
        {
            "country": rng.choice(["US", "AT", "DE"], n),
            "plan": rng.choice(["free", "pro"], n),
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50, 10, n),
            "subject": [" ".join(rng.choice(WORDS, rng.integers(1, 4), replace=False)) for _ in range(n)],
            "visited": [
                list(rng.choice(["shop", "bank", "news"], rng.integers(0, 3), replace=False))
                for _ in range(n)
            ],
        }
    )
    score = 1.2 * (frame["country"] == "US") + 1.5 * frame["subject"].str.contains("refund")
    score += 1.2 * frame["visited"].map(lambda items: "bank" in items) - (frame["age"] - 50) / 40
    return frame, np.where(score + rng.normal(0, 0.5, n) > 1.2, "yes", "no")


def _columns(text, category, number, items=None):
    members = [("s", text, "subject"), ("c", category, CATEGORIES), ("n", number, NUMBERS)]
    return ColumnTransformer(members + ([] if items is None else [("v", items, "visited")]))


def _ignoring(**others):
    return OneHotEncoder(handle_unknown="ignore", **others)


FRONTS = {
    "counts": lambda: _columns(
        CountVectorizer(), _ignoring(), StandardScaler(), CountVectorizer(analyzer=same)
    ),
    "categories that raise": lambda: _columns(CountVectorizer(binary=True), OneHotEncoder(), MinMaxScaler()),
    "dropped categories": lambda: _columns(
        TfidfVectorizer(norm=None), OneHotEncoder(drop="first"), MinMaxScaler()
    ),
    "rare categories": lambda: _columns(
        HashingVectorizer(n_features=64, norm=None),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=90),
        KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    ),
    "norms": lambda: _columns(
        TfidfVectorizer(), _ignoring(), StandardScaler(), TfidfVectorizer(analyzer=same)
    ),
    "pairs": lambda: _columns(
        CountVectorizer(ngram_range=(1, 2)),
        make_pipeline(SimpleImputer(strategy="most_frequent"), _ignoring()),
        make_pipeline(SimpleImputer(), StandardScaler()),
    ),
    "codes": lambda: _columns(
        make_pipeline(FunctionTransformer(lower), CountVectorizer()),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        StandardScaler(),
    ),
    "means": lambda: _columns(CountVectorizer(), TargetEncoder(random_state=0), StandardScaler()),
    "own steps": lambda: ColumnTransformer(
        [("s", CountVectorizer(), "subject"), ("l", Length(), ["subject"]), ("c", _ignoring(), CATEGORIES)]
    ),
    "a union": lambda: FeatureUnion(
        [
            ("one", make_column_transformer((CountVectorizer(), "subject"))),
            ("other", make_column_transformer((_ignoring(), CATEGORIES), remainder="drop")),
        ]
    ),
    "a pipeline in a pipeline": lambda: make_pipeline(
        _columns(CountVectorizer(), _ignoring(), "passthrough"), StandardScaler(with_mean=False)
    ),
}
"""The first steps of models; see `ABSENT` for what stands for absence in each."""
ABSENT = {
    "dropped categories": {"country": "AT", "plan": "free"},
}
CLASSIFIERS = {
    "linear": lambda: LogisticRegression(),
    "forest": lambda: RandomForestClassifier(8, max_depth=5, random_state=0),
    "boosted": lambda: GradientBoostingClassifier(n_estimators=12, random_state=0),
    "network": lambda: MLPClassifier((6,), max_iter=150, random_state=0),
    "kernel": lambda: SVC(random_state=0),
    "neighbours": lambda: KNeighborsClassifier(5),
}


@cache
def fitted(front, classifier):
    """Return a fitted model of the applications."""
    frame, decided = applications()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(FRONTS[front](), CLASSIFIERS[classifier]()).fit(frame, decided)


def judge_of(model):
    """Return the same model, whose encoders take unknown categories for none, as the judge needs them."""
    import copy

    model = copy.deepcopy(model)
    for step in _all_steps(model):
        if isinstance(step, OneHotEncoder) and step.handle_unknown == "error" and step.drop is None:
            step.handle_unknown = "ignore"
    return model


def _all_steps(step):
    yield step
    if hasattr(step, "steps"):
        for _, inner in step.steps:
            yield from _all_steps(inner)
    elif hasattr(step, "transformers_"):
        for _, inner, _ in step.transformers_:
            yield from _all_steps(inner)
    elif hasattr(step, "transformer_list"):
        for _, inner in step.transformer_list:
            yield from _all_steps(inner)


def changed_by_hand(record, parts, absent):
    """Return a record, a dict, without some parts, which are given by their names."""
    record = dict(record)
    for part in parts:
        if " = " in part:
            column = part.split(" = ")[0]
            record[column] = absent.get(column, "no such thing")
        elif part.startswith("'"):
            word, column = re.fullmatch(r"'(.*)' in (.*)", part).groups()
            record[column] = " ".join(w for w in record[column].split() if w.lower() != word)
        else:
            column, item = part.split(": ")
            record[column] = [other for other in record[column] if other != item]
    return record


def smallest_by_hand(judge, row, items, absent):
    """Return the size of the smallest set of parts without which `predict` decides otherwise, or None.

    All sets are tried, in frames that are built by hand.
    """
    record = row.iloc[0].to_dict()
    sets = [some for size in range(len(items) + 1) for some in itertools.combinations(items, size)]
    frame = pd.DataFrame([changed_by_hand(record, some, absent) for some in sets])
    frame = frame.astype({name: row[name].dtype for name in NUMBERS})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decided = judge.predict(frame)
    return next((len(some) for some, now in zip(sets, decided, strict=True) if now != decided[0]), None)
