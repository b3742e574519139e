"""Every model that is evaluated by its own formula, and some that must not be."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn import linear_model
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

N_FEATURES = 14


@dataclass(frozen=True)
class Data:
    X: object
    y: np.ndarray


def data(values: str, seed: int = 0, dtype=np.float64, dense: bool = False) -> Data:
    """80 sparse rows: bits, counts, reals of both signs, or positive reals."""
    rng = np.random.default_rng(seed)
    shape = (80, N_FEATURES)
    filled = {
        "bits": np.ones(shape),
        "counts": rng.integers(1, 5, shape).astype(float),
        "reals": rng.normal(scale=2, size=shape),
        "positive": rng.exponential(size=shape) + 0.01,
    }[values]
    X = np.where(rng.random(shape) < 0.6, filled, 0.0)
    noise = rng.normal(scale=0.3, size=80)
    signal = X @ rng.normal(size=N_FEATURES) + X[:, 0] * X[:, 1] + noise
    y = (signal > np.median(signal)).astype(int)
    X = X.astype(dtype)
    return Data(X if dense else sparse.csr_matrix(X), y)


MARGINS = (0.0, 1e-15, -1e-9, 1e-7)
"""How far a threshold lies beside a score: at the threshold the last bit decides."""


def thresholds(scores: np.ndarray) -> list[float]:
    """Thresholds at the first of some scores, in the middle, and a trifle beside them."""
    at = float(scores[0]), float(np.sort(scores)[len(scores) // 2])
    return [score + margin for score in at for margin in MARGINS]


def mlp(*hidden, activation="relu"):
    return MLPClassifier(hidden, activation=activation, max_iter=30, learning_rate_init=0.05, random_state=0)


def passive_aggressive():
    """Deprecated, and still in use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linear_model.PassiveAggressiveClassifier(random_state=0)


def fixed(model, **options):
    return FixedThresholdClassifier(model, **options)


LINEAR = {
    "LogisticRegression": LogisticRegression(),
    "LogisticRegression liblinear": LogisticRegression(solver="liblinear"),
    "LogisticRegression without intercept": LogisticRegression(fit_intercept=False),
    "LogisticRegressionCV": LogisticRegressionCV(Cs=2, cv=2),
    "RidgeClassifier": RidgeClassifier(),
    "RidgeClassifierCV": RidgeClassifierCV(),
    "LinearSVC": LinearSVC(),
    "SGDClassifier hinge": SGDClassifier(random_state=0),
    "SGDClassifier log": SGDClassifier(loss="log_loss", random_state=0),
    "SGDClassifier modified huber": SGDClassifier(loss="modified_huber", alpha=1.0, random_state=0),
    "Perceptron": Perceptron(random_state=0),
    "PassiveAggressive": passive_aggressive(),
    "SVC linear": SVC(kernel="linear"),
    "MLP without hidden layers": mlp(),
    "MLP identity": mlp(5, 3, activation="identity"),
}
FOR_POSITIVE_VALUES = {
    "l2 TfidfTransformer": make_pipeline(TfidfTransformer(), LogisticRegression()),
    "sublinear l1 TfidfTransformer": make_pipeline(
        TfidfTransformer(norm="l1", sublinear_tf=True), LinearSVC()
    ),
    "MultinomialNB behind a norm": make_pipeline(Normalizer(), MultinomialNB()),
    "square roots": make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression()),
    "logarithms and a norm": make_pipeline(FunctionTransformer(np.log1p), Normalizer(), LinearSVC()),
    "sublinear TfidfTransformer": make_pipeline(TfidfTransformer(norm=None, sublinear_tf=True), SVC()),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "ComplementNB norm": ComplementNB(norm=True),
    "BernoulliNB": BernoulliNB(),
    "BernoulliNB binarize 1.5": BernoulliNB(binarize=1.5),
    "BernoulliNB of bits": make_pipeline(Binarizer(), BernoulliNB(binarize=None)),
}
BENT = {
    "MLP relu": mlp(8),
    "MLP tanh": mlp(8, activation="tanh"),
    "MLP logistic": mlp(8, activation="logistic"),
    "MLP deep relu": mlp(7, 5),
    "MLP deep tanh": mlp(6, 5, 4, activation="tanh"),
    "MLP deep logistic": mlp(6, 5, activation="logistic"),
    "SVC rbf": SVC(C=10),
    "SVC rbf gamma": SVC(gamma=0.05, C=100),
    "SVC rbf of large gamma": SVC(gamma=4.0, C=10),
    "SVC poly": SVC(kernel="poly"),
    "SVC poly 2 coef0": SVC(kernel="poly", degree=2, coef0=1.5),
    "SVC sigmoid": SVC(kernel="sigmoid", coef0=-0.5),
    "NuSVC rbf": NuSVC(nu=0.1),
    "NuSVC poly": NuSVC(kernel="poly", degree=3, coef0=1.0, nu=0.05),
}
WRAPPED = {
    "MaxAbsScaler": make_pipeline(MaxAbsScaler(), LogisticRegression()),
    "StandardScaler": make_pipeline(StandardScaler(with_mean=False), mlp(6)),
    "RobustScaler": make_pipeline(RobustScaler(with_centering=False), SVC()),
    "Binarizer": make_pipeline(Binarizer(threshold=0.5), LinearSVC()),
    "TfidfTransformer without norm": make_pipeline(TfidfTransformer(norm=None), LogisticRegression()),
    "SelectKBest": make_pipeline(SelectKBest(k=6), MaxAbsScaler(), mlp(6)),
    "two selections": make_pipeline(
        VarianceThreshold(), SelectFromModel(LogisticRegression(), max_features=5, threshold=-np.inf), SVC()
    ),
    "passthrough": make_pipeline("passthrough", MaxAbsScaler(), "passthrough", LinearSVC()),
    "nested pipeline": make_pipeline(MaxAbsScaler(), make_pipeline(SelectKBest(k=9), RidgeClassifier())),
    "GridSearchCV": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    "GridSearchCV in a pipeline": make_pipeline(MaxAbsScaler(), GridSearchCV(SVC(), {"C": [1.0]}, cv=2)),
    "FixedThreshold": fixed(LogisticRegression(), threshold=0.4),
    "FixedThreshold of a pipeline": fixed(make_pipeline(MaxAbsScaler(), mlp(6)), threshold=0.6),
    "FixedThreshold decision": fixed(LinearSVC(), threshold=0.2, response_method="decision_function"),
    "FixedThreshold for class 0": fixed(LogisticRegression(), threshold=0.4, pos_label=0),
    "FixedThreshold decision for class 0": fixed(SVC(), threshold=0.1, pos_label=0),
    "TunedThreshold": TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    "TunedThreshold of a calibrated SVC": TunedThresholdClassifierCV(
        CalibratedClassifierCV(SVC(), cv=2), cv=2
    ),
}
CALIBRATED = {
    "sigmoid ensemble of LinearSVC": CalibratedClassifierCV(LinearSVC(), cv=3),
    "sigmoid, one LinearSVC": CalibratedClassifierCV(LinearSVC(), cv=3, ensemble=False),
    "sigmoid, one SVC": CalibratedClassifierCV(SVC(), cv=3, ensemble=False),
    "sigmoid ensemble of SVC": CalibratedClassifierCV(SVC(), cv=2),
    "sigmoid ensemble of MLP": CalibratedClassifierCV(mlp(5), cv=2),
    "sigmoid ensemble of naive Bayes": CalibratedClassifierCV(BernoulliNB(), cv=2),
    "isotonic ensemble of LinearSVC": CalibratedClassifierCV(LinearSVC(), cv=3, method="isotonic"),
    "isotonic, one LinearSVC": CalibratedClassifierCV(LinearSVC(), cv=3, method="isotonic", ensemble=False),
    "isotonic ensemble of SVC": CalibratedClassifierCV(SVC(), cv=2, method="isotonic"),
    "isotonic for class 0": fixed(
        CalibratedClassifierCV(LinearSVC(), cv=3, method="isotonic"), threshold=0.5, pos_label=0
    ),
    "calibrated pipelines": CalibratedClassifierCV(
        make_pipeline(SelectKBest(k=7), MaxAbsScaler(), LogisticRegression()), cv=3
    ),
    "calibrated behind a step": make_pipeline(MaxAbsScaler(), CalibratedClassifierCV(LinearSVC(), cv=2)),
}


def forest(n_trees=7, **options):
    return RandomForestClassifier(n_trees, random_state=0, **options)


def boosted(n_trees=8, **options):
    return GradientBoostingClassifier(n_estimators=n_trees, random_state=0, **options)


def voting(weights=None):
    members = [("a", LogisticRegression()), ("b", forest(5)), ("c", boosted(5, max_depth=2))]
    return VotingClassifier(members, voting="soft", weights=weights)


TREES = {
    "DecisionTree": DecisionTreeClassifier(random_state=0),
    "DecisionTree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
    "ExtraTree": ExtraTreeClassifier(random_state=0),
    "RandomForest": forest(),
    "RandomForest of an even number": forest(8),
    "RandomForest of depth 4": forest(max_depth=4),
    "ExtraTrees": ExtraTreesClassifier(7, random_state=0),
    "GradientBoosting": boosted(),
    "GradientBoosting exponential": boosted(loss="exponential"),
    "GradientBoosting from zero": boosted(init="zero", subsample=0.7),
    "AdaBoost of stumps": AdaBoostClassifier(n_estimators=12, random_state=0),
    "AdaBoost of trees": AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5),
    "Bagging": BaggingClassifier(n_estimators=6, random_state=0),
    "Bagging of some features": BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), n_estimators=6, max_features=0.5, random_state=0
    ),
}
AROUND_TREES = {
    "trees behind steps": make_pipeline(SelectKBest(k=9), MaxAbsScaler(), forest()),
    "trees behind a Binarizer": make_pipeline(Binarizer(threshold=0.5), boosted()),
    "GridSearchCV of trees": GridSearchCV(boosted(4), {"max_depth": [2]}, cv=2),
    "FixedThreshold of a forest": fixed(forest(8), threshold=0.5),
    "FixedThreshold of a forest for class 0": fixed(forest(8), threshold=0.5, pos_label=0),
    "sigmoid ensemble of forests": CalibratedClassifierCV(forest(5), cv=2),
    "sigmoid, one forest": CalibratedClassifierCV(forest(5), cv=2, ensemble=False),
    "isotonic ensemble of boosted trees": CalibratedClassifierCV(boosted(4), cv=2, method="isotonic"),
    "isotonic, one forest": CalibratedClassifierCV(forest(5), cv=2, method="isotonic", ensemble=False),
    "soft votes": voting(),
    "weighted soft votes": voting([3, 1, 2]),
    "soft votes of forests": VotingClassifier([("a", forest(5)), ("b", forest(6))], voting="soft"),
    "stacked": StackingClassifier([("a", forest(4)), ("b", LogisticRegression()), ("c", boosted(3))], cv=2),
    "Bagging of linear models": BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0),
}
DENSE_TREES = {
    "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3),
    "HistGradientBoosting of categories": HistGradientBoostingClassifier(
        max_iter=8, min_samples_leaf=3, categorical_features=[0, 5]
    ),
    "trees behind a StandardScaler": make_pipeline(StandardScaler(), forest()),
    "trees behind a MinMaxScaler": make_pipeline(MinMaxScaler((-1, 1)), boosted()),
}
DENSE = {
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "SVC fitted on dense rows": SVC(),
    "StandardScaler with mean": make_pipeline(StandardScaler(), LogisticRegression()),
    "MinMaxScaler": make_pipeline(MinMaxScaler((-1, 1)), mlp(6)),
    "RobustScaler with centre": make_pipeline(RobustScaler(), SVC()),
    "PCA": make_pipeline(PCA(4, random_state=0), LogisticRegression()),
    "whitened PCA": make_pipeline(StandardScaler(), PCA(4, whiten=True, random_state=0), mlp(5)),
    "IncrementalPCA": make_pipeline(IncrementalPCA(4), LinearSVC()),
    "LinearDiscriminantAnalysis as a step": make_pipeline(LinearDiscriminantAnalysis(), LogisticRegression()),
    "norm of centred values": make_pipeline(StandardScaler(), Normalizer(), LogisticRegression()),
    "rbf behind a norm of centred values": make_pipeline(MinMaxScaler((-1, 1)), Normalizer(), SVC()),
    "ColumnTransformer of dense rows": make_pipeline(
        ColumnTransformer([("a", StandardScaler(), slice(0, 6)), ("b", Normalizer(), slice(6, 14))]), mlp(5)
    ),
}
MIXED = {
    "Normalizer": make_pipeline(Normalizer(), LinearSVC()),
    "max Normalizer": make_pipeline(Normalizer("max"), LogisticRegression(C=10)),
    "MLP behind a max norm": make_pipeline(Normalizer("max"), mlp(6)),
    "l1 Normalizer": make_pipeline(Normalizer("l1"), LogisticRegression(C=10)),
    "two norms in a row": make_pipeline(Normalizer(), Normalizer(), LogisticRegression(C=10)),
    "scales behind a norm": make_pipeline(
        Normalizer(), StandardScaler(with_mean=False), SelectKBest(k=7), RidgeClassifier()
    ),
    "MLP behind a norm": make_pipeline(Normalizer(), mlp(8)),
    "deep MLP behind an l1 norm": make_pipeline(Normalizer("l1"), mlp(6, 5, activation="tanh")),
    "rbf behind a norm": make_pipeline(Normalizer(), SVC(C=10)),
    "poly behind a norm": make_pipeline(MaxAbsScaler(), Normalizer(), SVC(kernel="poly", degree=2, C=10)),
    "calibrated behind a norm": make_pipeline(Normalizer(), CalibratedClassifierCV(LinearSVC(), cv=2)),
    "soft votes behind a norm": make_pipeline(
        Normalizer(), VotingClassifier([("a", LogisticRegression(C=9)), ("b", mlp(4))], voting="soft")
    ),
    "TruncatedSVD": make_pipeline(TruncatedSVD(3, random_state=0), LogisticRegression()),
    "TruncatedSVD behind a norm": make_pipeline(Normalizer(), TruncatedSVD(4, random_state=0), mlp(5)),
    "random projection": make_pipeline(GaussianRandomProjection(5, random_state=0), LinearSVC()),
    "sparse random projection": make_pipeline(SparseRandomProjection(5, random_state=0), LinearSVC()),
    "union of a norm and a projection": make_pipeline(
        make_union(Normalizer(), TruncatedSVD(3, random_state=0)), LogisticRegression()
    ),
    "union of two norms": make_pipeline(make_union(Normalizer(), Normalizer("l1")), mlp(5)),
    "weighted union": make_pipeline(
        FeatureUnion(
            [("a", Normalizer()), ("b", MaxAbsScaler()), ("c", "drop"), ("d", "passthrough")],
            transformer_weights={"a": 3.0, "b": 0.5},
        ),
        LogisticRegression(),
    ),
    "ColumnTransformer": make_pipeline(
        ColumnTransformer(
            [("a", Normalizer(), [5, 0, 3, 7]), ("b", MaxAbsScaler(), [1, 2])], remainder="passthrough"
        ),
        LogisticRegression(),
    ),
}
"""Steps that mix features: norms, projections, unions."""
FAST = LINEAR | BENT | WRAPPED | CALIBRATED | MIXED | TREES | AROUND_TREES


class Doubled(LogisticRegression):
    """A subclass that overrides prediction."""

    def predict_proba(self, X):
        p = super().predict_proba(X)[:, 1] ** 2
        return np.stack([1 - p, p], axis=1)


class Renamed(LogisticRegression):
    """A subclass that overrides nothing, so far as we look."""


def halved(X):
    """Halve all values: a function of which nothing is known."""
    return X * 0.5


BLACK_BOX = {
    "FunctionTransformer of an own function": make_pipeline(
        FunctionTransformer(halved), LogisticRegression()
    ),
    "Binarizer behind a norm": make_pipeline(Normalizer(), Binarizer(threshold=0.2), LinearSVC()),
    "trees behind a norm": make_pipeline(Normalizer(), forest(3)),
    "trees behind a projection": make_pipeline(TruncatedSVD(3, random_state=0), forest(3)),
    "rbf behind a projection": make_pipeline(TruncatedSVD(3, random_state=0), SVC()),
    "rbf behind an l1 norm": make_pipeline(Normalizer("l1"), SVC()),
    "norm of a projection": make_pipeline(TruncatedSVD(3, random_state=0), Normalizer(), LinearSVC()),
    "norm of a union": make_pipeline(make_union(Normalizer(), MaxAbsScaler()), Normalizer(), LinearSVC()),
    "stack that passes features through": StackingClassifier([("a", forest(3))], cv=2, passthrough=True),
    "GradientBoosting from a model": boosted(3, init=LogisticRegression()),
    "KNeighbors": KNeighborsClassifier(),
    "overriding subclass": Doubled(),
    "subclass": Renamed(),
    "overriding subclass in a pipeline": make_pipeline(MaxAbsScaler(), Doubled()),
    "overriding subclass, calibrated": CalibratedClassifierCV(Doubled(), cv=2),
}
