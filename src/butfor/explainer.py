"""The object that users hold."""

import math
import time
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from inspect import signature
from itertools import islice
from typing import Any

import numpy as np

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.errors import InputError, SearchError
from butfor.explanation import Explanation, Status
from butfor.models import (
    IntArray,
    LocalModel,
    Network,
    OutOfTime,
    Row,
    Scorer,
    as_row,
    as_scorer,
    local_model,
    recognise,
)
from butfor.rankings import RANKINGS, Ranking, weigh
from butfor.searches import SEARCHES, Finding, Search, irreducible_sets, removal_sets


class Explainer:
    """Explain decisions of one model: the smallest sets of active features without which they flip.

    `model` is a fitted scikit-learn classifier or pipeline, or any callable from a CSR matrix to scores.
    The decision is positive where the score is at least `threshold`; without one it is the model's own
    (0.5 for probabilities, 0 for decision values, the tuned one where the model carries it).
    `search` is a name of `butfor.SEARCHES`, a search with its parameters such as `SEDC(max_iterations=500)`,
    or any callable with a search's signature. `protected` holds features, by name or column, that may never
    be part of an explanation.

    >>> import numpy as np
    >>> def score(X):
    ...     return X @ np.array([0.5, 0.3, 0.2, -0.1])
    >>> explainer = Explainer(score, feature_names=["free", "prize", "call", "mum"], threshold=0.4)
    >>> print(explainer.explain([1, 1, 0, 1]))
    But for 'free', the score would be 0.20 instead of 0.70 (threshold 0.40).
    """

    def __init__(
        self,
        model: Any,
        *,
        feature_names: Sequence[str] | None = None,
        threshold: float | None = None,
        search: str | Search = "auto",
        budget: Budget | None = None,
        protected: Collection[str | int] = (),
        seed: int = 0,
    ) -> None:
        self._scorer = as_scorer(model, threshold)
        self._names = _names(feature_names, self._scorer)
        self._search = _search(search)
        self._search_name = _search_name(self._search)
        self._protected = _columns("protected", protected, self._names, self.n_features)
        if budget is not None and not isinstance(budget, Budget):
            raise InputError(f"budget must be a Budget, such as Budget(max_size=30), got {budget!r}.")
        require_count("seed", seed, at_least=0)
        self.budget = budget or Budget()
        self.seed = int(seed)

    @property
    def threshold(self) -> float:
        """The score from which on a decision is positive."""
        return self._scorer.threshold

    @property
    def n_features(self) -> int | None:
        """How many columns a row must have; None where neither the model nor the names tell."""
        if self._scorer.n_features is None and self._names is not None:
            return len(self._names)
        return self._scorer.n_features

    def local_model(self, row: Any) -> LocalModel:
        """Give the model as it is seen from this row; its `kind` tells how it is evaluated."""
        return local_model(self._scorer, self._network, self._row(row))

    def explain(self, row: Any) -> Explanation:
        """Find the smallest set of this row's active features without which the decision flips.

        The row may be a SciPy sparse matrix or array of one row, or dense with one or two dimensions.
        What is returned as found has been confirmed by the model itself on the real row.
        """
        started = time.monotonic()
        parsed = self._row(row)
        local = self._local(parsed, started + self.budget.max_seconds)
        finding = self._find(local)
        score, score_without = self._confirm(parsed, local, finding.removed)
        if not self._confirmed(local, finding, score, score_without) and local.kind != "black box":
            # The model does not act on its own formula: ask it instead.
            local = self._local(parsed, local.deadline, by_formula=False)
            finding = self._find(local)
            score, score_without = self._confirm(parsed, local, finding.removed)
        if not self._confirmed(local, finding, score, score_without):
            finding, score_without = Finding(reason=_NOT_CONFIRMED), score
        return self._explanation(parsed, local, finding, score, score_without, started)

    def alternatives(
        self,
        row: Any,
        *,
        max_size: int | None = None,
        limit: int | None = None,
        max_seconds: float | None = None,
    ) -> "Alternatives":
        """Give all irreducible explanations of this row, smallest first, one after the other.

        None of them contains another. `max_size` and `max_seconds` are the budget's unless given; `limit` is
        how many at most. The search runs while you iterate; `complete_up_to` then says up to which size none
        is missing.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 2, 1, 1]), threshold=4)
        >>> alternatives = explainer.alternatives([1, 1, 1, 1])
        >>> [why.columns for why in alternatives], alternatives.complete_up_to
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], 30)
        """
        budget = Budget(
            self.budget.max_size if max_size is None else max_size,
            self.budget.max_seconds if max_seconds is None else max_seconds,
        )
        if limit is not None:
            require_count("limit", limit)
        other = copy(self)
        other.budget, other._search_name = budget, "alternatives"
        return Alternatives(other, row, limit)

    def rank(self, row: Any, by: str | Ranking = "removal", **parameters: Any) -> list[tuple[str, float]]:
        """Weigh this row's active features by their evidence for the decision: (name, weight), highest first.

        `by` is "removal" (how far the score falls when the feature goes alone), "lime", "shap", or any
        ranking; `parameters` are the ranking's own, such as `n_samples=1000`. A weight above zero is evidence
        for the decision that the model took, be it positive or negative. LIME and SHAP weigh in the units of
        the score; single removals in log-odds where butfor knows those of a probability, which are the
        contributions themselves if the model is linear. Protected features are never removed and have no
        weight. The budget's limits are for explanations and do not apply.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([0.5, 0.25, -1.0]), threshold=0.5)
        >>> explainer.rank([1, 1, 0])
        [('feature 0', 0.5), ('feature 1', 0.25)]
        """
        ranking = _ranking(by, parameters)
        parsed = self._row(row)
        local = self._trusted(parsed, deadline=math.inf)
        weights = weigh(ranking, local, self.seed)
        columns = parsed.columns[parsed.removable]
        order = np.argsort(-weights, kind="stable")
        return [(self._name(int(columns[i])), float(weights[i])) for i in order]

    def _all(self, row: Any, progress: "Alternatives") -> Iterator[Explanation]:
        """Search for all irreducible sets, and tell how far the search has come."""
        started = time.monotonic()
        parsed = self._row(row)
        local = self._trusted(parsed, started + self.budget.max_seconds)
        smallest = 0
        try:
            for finding in irreducible_sets(local, self.budget.max_size):
                if not finding.removed:
                    progress.complete_up_to = finding.lower_bound - 1
                    continue
                smallest = smallest or len(finding.removed)
                scores = self._confirm(parsed, local, finding.removed)
                if self._confirmed(local, finding, *scores):
                    proven = Finding(finding.removed, lower_bound=smallest)
                    yield self._explanation(parsed, local, proven, *scores, started)
            progress.complete_up_to = self.budget.max_size
        except OutOfTime:
            progress.reason = f"max_seconds={self.budget.max_seconds:g} reached"

    def _explanation(
        self,
        row: Row,
        local: LocalModel,
        finding: Finding,
        score: float,
        score_without: float,
        started: float,
    ) -> Explanation:
        columns = tuple(int(column) for column in row.columns[row.removable[list(finding.removed)]])
        status = self._status(finding, local)
        return Explanation(
            status=status,
            features=tuple(map(self._name, columns)),
            columns=columns,
            weights=finding.weights,
            score=score,
            score_without=score_without,
            threshold=self._scorer.threshold,
            lower_bound=finding.lower_bound,
            n_active=len(row.columns),
            n_protected=len(row.columns) - len(row.removable),
            max_size=self.budget.max_size,
            n_scored=local.n_scored,
            seconds=time.monotonic() - started,
            search=self._search_name,
            local_model=local.kind,
            reason="" if status == "none" else finding.reason,
        )

    @cached_property
    def _network(self) -> Network | None:
        return recognise(self._scorer)

    def _local(self, row: Row, deadline: float, *, by_formula: bool = True) -> LocalModel:
        local = local_model(self._scorer, self._network if by_formula else None, row)
        local.deadline = deadline
        return local

    def _trusted(self, row: Row, deadline: float) -> LocalModel:
        """Give the model as seen from this row, held against what the model itself says of the row."""
        local = self._local(row, deadline)
        score, _ = self._confirm(row, local, ())
        if not local.agrees(score):
            local = self._local(row, deadline, by_formula=False)
        local.row_score = score
        return local

    def _confirmed(self, local: LocalModel, finding: Finding, score: float, score_without: float) -> bool:
        """Hold what was found against what the model itself said."""
        flipped = self._scorer.is_positive(score_without) != local.positive
        return local.agrees(score) and (flipped or not finding.removed)

    def _row(self, row: Any) -> Row:
        parsed = as_row(row, self.n_features)
        return parsed.protecting(self._protected) if len(self._protected) else parsed

    def _confirm(self, row: Row, local: LocalModel, removed: tuple[int, ...]) -> tuple[float, float]:
        """Have the model itself score the real row, unless it did, and the row without these features."""
        scores = [] if local.row_score is None else [local.row_score]
        sets = [*([] if scores else [()]), *([removed] if removed else [])]
        if sets:
            asked = self._scorer.scores(row.without(removal_sets(sets, len(row.removable))))
            scores += [float(score) for score in asked]
        return scores[0], scores[-1]

    def _find(self, local: LocalModel) -> Finding:
        """Run the search to its end, or to the deadline."""
        best = Finding(reason="the search ended without a finding")
        if local.n_features == 0:
            return best
        try:
            for finding in self._search(local, self.budget, self.seed):
                _check_finding(finding, local)
                best = finding
        except OutOfTime:
            best = replace(best, reason=f"max_seconds={self.budget.max_seconds:g} reached")
        return best

    def _status(self, finding: Finding, local: LocalModel) -> Status:
        if finding.removed:
            return "found"
        # A status is not claimed but follows from what is proven.
        return "none" if finding.lower_bound > self.budget.largest(local.n_features) else "budget"

    def _name(self, column: int) -> str:
        return f"feature {column}" if self._names is None else self._names[column]


class Alternatives:
    """The irreducible explanations of one row, smallest first; iterate to search on."""

    def __init__(self, explainer: Explainer, row: Any, limit: int | None) -> None:
        self.complete_up_to = 0
        """Every irreducible explanation of at most this many features has been given."""
        self.reason = ""
        """Why the search ended before the size limit; empty if it did not."""
        self._explanations = islice(explainer._all(row, self), limit)

    def __iter__(self) -> Iterator[Explanation]:
        return self

    def __next__(self) -> Explanation:
        return next(self._explanations)


_NOT_CONFIRMED = "the model did not confirm the set on the single row: it scores the same row differently"


def _names(feature_names: Sequence[str] | None, scorer: Scorer) -> tuple[str, ...] | None:
    if feature_names is None:
        return scorer.feature_names
    if isinstance(feature_names, str):
        raise InputError(f"feature_names must be a sequence of names, got the string {feature_names!r}.")
    names = tuple(map(str, feature_names))
    if scorer.n_features is not None and len(names) != scorer.n_features:
        raise InputError(
            f"feature_names must have {scorer.n_features:,} names, one for each feature that the model was "
            f"fitted on, got {len(names):,}."
        )
    return names


def _columns(
    argument: str, features: Collection[str | int], names: tuple[str, ...] | None, n_features: int | None
) -> IntArray:
    """Find the columns of features that are given by name or by column."""
    if isinstance(features, str):
        raise InputError(f"{argument} must be a collection of features, got the string {features!r}.")
    by_name = {} if names is None else {name: column for column, name in enumerate(names)}
    columns = []
    for feature in features:
        column = by_name.get(feature) if isinstance(feature, str) else feature
        if isinstance(column, bool) or not isinstance(column, int | np.integer):
            known = "names are known only with feature_names" if names is None else "no feature has that name"
            raise InputError(f"{argument} must hold names or columns of features, got {feature!r}: {known}.")
        if column < 0 or (n_features is not None and column >= n_features):
            last = "" if n_features is None else f" to {n_features - 1:,}"
            raise InputError(f"{argument} must hold columns from 0{last}, got {column}.")
        columns.append(int(column))
    return np.array(columns, dtype=np.intp)


def _ranking(by: str | Ranking, parameters: dict[str, Any]) -> Ranking:
    """Give the ranking of this name, with its parameters set."""
    ranking = RANKINGS.get(by) if isinstance(by, str) else by
    if isinstance(ranking, type) or not callable(ranking):
        raise InputError(f"by must be one of {', '.join(RANKINGS)}, or a callable, got {by!r}.")
    if not parameters:
        return ranking
    own = [name for name in signature(ranking).parameters if name not in ("local", "seed")]
    for name in parameters:
        if name not in own:
            takes = ", ".join(own) or "none"
            raise InputError(f"parameters of by={by!r} must be among its own ({takes}), got {name!r}.")
    return partial(ranking, **parameters)


def _search(search: str | Search) -> Search:
    if isinstance(search, str):
        if search not in SEARCHES:
            raise InputError(f"search must be one of {', '.join(SEARCHES)}, or a callable, got {search!r}.")
        return SEARCHES[search]
    if isinstance(search, type) or not callable(search):
        raise InputError(
            f"search must be a name or a search object such as SEDC(max_iterations=500), got {search!r}."
        )
    return search


def _search_name(search: Search) -> str:
    return str(getattr(search, "name", None) or getattr(search, "__name__", type(search).__name__))


def _check_finding(finding: object, local: LocalModel) -> None:
    if not isinstance(finding, Finding):
        raise SearchError(f"a search must yield Finding objects, got {finding!r}.")
    removed = finding.removed
    if len(set(removed)) < len(removed) or not all(0 <= feature < local.n_features for feature in removed):
        raise SearchError(
            f"a finding must remove distinct features from 0 to {local.n_features - 1}, got {removed}."
        )
    if finding.weights and len(finding.weights) != len(removed):
        raise SearchError(
            f"a finding must have a weight for each feature it removes, {removed}, or none, "
            f"got {finding.weights}."
        )
    if removed and finding.lower_bound > len(removed):
        raise SearchError(
            f"a finding cannot prove that {finding.lower_bound} features are needed and flip with {removed}."
        )
