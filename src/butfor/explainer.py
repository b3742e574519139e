"""The object that users hold."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from butfor.budget import Budget
from butfor.checks import require_count
from butfor.errors import InputError, SearchError
from butfor.explanation import Explanation, Status
from butfor.models import LocalModel, OutOfTime, Row, Scorer, as_row, as_scorer, local_model
from butfor.searches import SEARCHES, Finding, Search, removal_sets


class Explainer:
    """Explain decisions of one model: the smallest sets of active features without which they flip.

    `model` is a fitted scikit-learn classifier or pipeline, or any callable from a CSR matrix to scores.
    The decision is positive where the score is at least `threshold`; without one it is the model's own
    (0.5 for probabilities, 0 for decision values, the tuned one where the model carries it).
    `search` is a name of `butfor.SEARCHES`, a search with its parameters such as `SEDC(max_iterations=500)`,
    or any callable with a search's signature.

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
        seed: int = 0,
    ) -> None:
        self._scorer = as_scorer(model, threshold)
        self._names = _names(feature_names, self._scorer)
        self._search = _search(search)
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
        row = as_row(row, self.n_features)
        return local_model(self._scorer, row, row_score=self._score_without(row, ()))

    def explain(self, row: Any) -> Explanation:
        """Find the smallest set of this row's active features without which the decision flips.

        The row may be a SciPy sparse matrix or array of one row, or dense with one or two dimensions.
        What is returned as found has been confirmed by the model itself on the real row.
        """
        started = time.monotonic()
        row = as_row(row, self.n_features)
        score = self._score_without(row, ())
        local = local_model(self._scorer, row, row_score=score)
        local.deadline = started + self.budget.max_seconds
        finding = self._find(local)
        score_without = self._score_without(row, finding.removed) if finding.removed else score
        if finding.removed and self._scorer.is_positive(score_without) == self._scorer.is_positive(score):
            finding = Finding(reason=_NOT_CONFIRMED)
            score_without = score
        columns = tuple(int(row.columns[feature]) for feature in finding.removed)
        status = self._status(finding, local)
        return Explanation(
            status=status,
            features=tuple(map(self._name, columns)),
            columns=columns,
            score=score,
            score_without=score_without,
            threshold=self._scorer.threshold,
            lower_bound=finding.lower_bound,
            n_active=len(row.columns),
            max_size=self.budget.max_size,
            n_scored=local.n_scored,
            seconds=time.monotonic() - started,
            search=_search_name(self._search),
            local_model=local.kind,
            reason="" if status == "none" else finding.reason,
        )

    def _score_without(self, row: Row, removed: tuple[int, ...]) -> float:
        """Have the model itself score the real row, alone, without these features."""
        return float(self._scorer.scores(row.without(removal_sets([removed], len(row.columns))))[0])

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
        return "none" if finding.lower_bound > min(self.budget.max_size, local.n_features) else "budget"

    def _name(self, column: int) -> str:
        return f"feature {column}" if self._names is None else self._names[column]


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
    if removed and finding.lower_bound > len(removed):
        raise SearchError(
            f"a finding cannot prove that {finding.lower_bound} features are needed and flip with {removed}."
        )
