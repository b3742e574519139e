"""Certified and auto against brute force, on random ensembles of trees of every library."""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from brute_force import minimum
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from scipy import sparse

from benchmarks.tree_families import DENSE_ONLY, TREE_FAMILIES
from butfor import Auto, Explainer
from butfor.models.bounds.ascent import Ascent
from butfor.searches.shared import proving
from butfor.verify import brute_force_minimum

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module", autouse=True)
def _few_sets():
    """Have even small regions narrowed and split, not only scored set by set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proving, "FEW_SETS", 3)
        patch.setattr(proving, "MAX_ENUMERATED", 0)
        yield


@dataclass(frozen=True, eq=False)
class Question:
    """A model, a row, and what an Explainer is told."""

    model: object
    numbers: np.ndarray
    is_sparse: bool
    options: dict = field(default_factory=dict)
    units: tuple[tuple[int, ...], ...] = ()
    """The columns that go with each unit."""

    @property
    def row(self):
        return self.table(self.numbers[np.newaxis])

    def table(self, copies):
        return sparse.csr_matrix(copies) if self.is_sparse else copies

    def without(self, sets):
        """Put zeros into copies of the row."""
        copies = np.repeat(self.numbers[np.newaxis], len(sets), axis=0)
        for copy, units in zip(copies, sets, strict=True):
            copy[[column for unit in units for column in self.units[unit]]] = 0
        return self.table(copies)

    def decisions(self, X):
        """Return what the model decides; next to a threshold it is asked about one row at a time."""
        threshold = self.options.get("threshold")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if threshold is None:
                return np.ravel(self.model.predict(X))
            scores = self.model.predict_proba(X)[:, 1].astype(float)
            for i in np.flatnonzero(np.abs(scores - threshold) < 1e-9):
                scores[i] = self.model.predict_proba(X[[i]])[0, 1]
        return scores >= threshold

    def flips(self, sets):
        if not sets:
            return []
        own, target = self.decisions(self.row)[0], self.options.get("target")
        decided = self.decisions(self.without(sets))
        return decided != own if target is None else decided == target


def ensemble(rng, family):
    """Return a fitted ensemble of few features, and rows like those that it was fitted on."""
    m = int(rng.integers(4, 9))
    values = np.ones((50, m)) if rng.random() < 0.5 else rng.choice([0.5, 1.0, 2.0, -1.0, 0.1], (50, m))
    X = np.where(rng.random((50, m)) < 0.7, values, 0.0)
    signal = X @ rng.normal(size=m) + 2 * X[:, 0] * X[:, 1]
    y = (signal > np.median(signal)).astype(int)
    is_sparse = family not in DENSE_ONLY and bool(rng.random() < 0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TREE_FAMILIES[family](rng, sparse.csr_matrix(X) if is_sparse else X, y)
    return model, X[X.any(axis=1)], is_sparse


def threshold_for(rng, question):
    """Return a threshold that some removal set meets exactly, one nearby, any, or None: the model's own."""
    kind = rng.choice(["own", "met", "met", "near", "any"])
    if kind == "own" or len(question.model.classes_) > 2:
        return None
    if kind == "any":
        return float(rng.random())
    copy = np.where(rng.random(len(question.numbers)) < 0.6, question.numbers, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = float(question.model.predict_proba(question.table(copy[np.newaxis]))[0, 1])
    step = 0.0 if kind == "met" else float(rng.choice([1e-15, -1e-15, 1e-9, -1e-9]))
    return min(max(score + step, 0.0), 1.0)


def random_question(rng, model, X, is_sparse, extra="none"):
    numbers = X[rng.integers(len(X))]
    active = np.flatnonzero(numbers)
    question = Question(model, numbers, is_sparse, units=tuple((int(column),) for column in active))
    options = {"threshold": threshold_for(rng, question)}
    units = question.units
    if extra == "protected":
        options["protected"] = [int(column) for column in active[rng.random(len(active)) < 0.4]]
        units = tuple(unit for unit in units if unit[0] not in options["protected"])
    elif extra == "costs":
        options["costs"] = [float(cost) for cost in rng.choice([0.1, 0.5, 1.0, 1.5, 3.0], len(numbers))]
    elif extra == "groups":
        options["groups"], units = random_groups(rng, numbers)
    elif extra == "target":
        options["target"] = int(rng.integers(3))
    return Question(model, numbers, is_sparse, options, units)


def random_groups(rng, numbers):
    """Return one group or two for each column, and the columns of each group that occurs in the row."""
    width = int(rng.integers(1, 3))
    groups = [[f"group {i}" for i in rng.permutation(5)[:width]] for _ in numbers]
    active = np.flatnonzero(numbers)
    labels = sorted({label for column in active for label in groups[column]})
    return groups, tuple(
        tuple(int(column) for column in active if label in groups[column]) for label in labels
    )


@contextmanager
def by_proof_alone():
    """Have certified begin without an answer, so that all depends on the bounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("butfor.searches.certified.SEDC", lambda: lambda *_: iter(()))
        yield


def judge(question, search):
    if search == "proof":
        with by_proof_alone():
            judge(question, "certified")
        return
    why = Explainer(question.model, search=search, **question.options).explain(question.row)
    target = question.options.get("target")
    if target is not None and question.decisions(question.row)[0] == target:
        assert (why.status, why.size) == ("none", 0)
        return
    assert not question.units or why.local_model != "black box"
    costs = question.options.get("costs")
    of_units = None if costs is None else [costs[unit[0]] for unit in question.units]
    least, answers = minimum(question.flips, len(question.units), of_units)
    if least is None:
        assert why.status == "none"
        return
    assert why.status == "found"
    assert why.lower_bound == pytest.approx(least)
    assert (why.size if costs is None else why.cost) == pytest.approx(least)
    gone = [{column for unit in units for column in question.units[unit]} for units in answers]
    assert set(why.columns) in gone
    if set(question.options) == {"threshold"}:
        by_columns = brute_force_minimum(question.model, question.row, **question.options)
        assert tuple(sorted(why.columns)) in by_columns


SEARCHES = ["certified", Auto(max_proof_seconds=100), "proof"]
EXTRAS = ["none", "none", "costs", "groups", "protected"]


def judge_searches(family, seed, extras):
    """Have each search answer a question about a random ensemble, with one of the extras."""
    rng = np.random.default_rng(seed)
    model, X, is_sparse = ensemble(rng, family)
    for search in SEARCHES:
        judge(random_question(rng, model, X, is_sparse, str(rng.choice(extras))), search)


@pytest.mark.parametrize("family", TREE_FAMILIES)
@n_examples(14)
@given(seed=SEEDS)
def test_every_family(family, seed):
    judge_searches(family, seed, EXTRAS)


@pytest.mark.parametrize("family", [name for name in TREE_FAMILIES if "3 classes" in name])
@n_examples(14)
@given(seed=SEEDS)
def test_a_target_among_three_classes(family, seed):
    judge_searches(family, seed, ["target"])


def judge_many(family, n=8):
    for seed in range(n):
        rng = np.random.default_rng(seed)
        model, X, is_sparse = ensemble(rng, family)
        for _ in range(8):
            judge(random_question(rng, model, X, is_sparse), "proof")


@pytest.mark.parametrize("family", ["gradient boosting", "soft votes"])
def test_a_wrong_bound_would_be_noticed(monkeypatch, family):
    """The judge above is no rubber stamp: plant a bug in a bound, and it fails."""
    minorant = Ascent.minorant.fget

    def too_high(self):
        true = minorant(self)
        return replace(true, constant=true.constant + 0.3)

    monkeypatch.setattr(Ascent, "minorant", property(too_high))
    with pytest.raises(AssertionError):
        judge_many(family)


def test_without_such_a_bug_the_judge_is_content():
    judge_many("gradient boosting")
