"""The object that users hold."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from butfor.alternatives import Alternatives
from butfor.arguments import (
    as_ranking,
    as_reader,
    as_search,
    n_rows_of,
    name_of,
    names_of_classes,
    target_of,
)
from butfor.bench import Bench
from butfor.blocks import Outcome, Progress, explain_block, in_pieces, rows_at_once
from butfor.budget import Budget
from butfor.checks import require_count
from butfor.decisions import decide
from butfor.errors import ButforError, InputError
from butfor.explanation import Explanation, Unit
from butfor.inquiry import Inquiry
from butfor.models import FloatArray, IntArray, LocalModel
from butfor.parallel import explained_by
from butfor.ranked import Ranked
from butfor.rankings import Ranking, weigh
from butfor.searches import Search
from butfor.subjects import Rows


class Explainer:
    """Explain decisions of one model: the smallest sets of active features without which they flip.

    `model` is a fitted scikit-learn classifier or pipeline, or any callable from rows to scores. The model
    gets rows in the form in which you pass them: a sparse row as CSR, where a removed feature is absent; a
    dense row dense, where it is zero. A pipeline that starts with a text vectoriser is explained on texts,
    and so is any model, such as a callable from a list of strings to scores, with `removal` "delete" or
    "mask".

    The decision is the model's own, as its `predict` gives it. With `threshold` it is positive where the
    score is at least that. With more than two classes `target` asks for a flip to that class instead of any
    other; a row that the model decides for the target already has no explanation. Of a model that decides
    about several labels at once, `label` is the one in question.

    A callable that returns one score a row needs a `threshold`. Two columns are the probabilities of two
    classes, more are one score for each class, of which the highest decides; `class_names` names them.

    `search` is a name of `butfor.SEARCHES`, a search with its parameters such as `SEDC(max_iterations=500)`,
    or any callable with a search's signature. `protected` holds features, by name or column, that may never
    be part of an explanation. `groups` says which features go together: a mapping from features to groups,
    one group for each column, or a function of names. `costs` asks for the cheapest answer instead of the
    smallest: a mapping from names, or one number for each column. A protected group is no reason, but a
    feature that it shares with another group still goes with that one.

    For texts, `removal` says what it means to remove a word: its columns become "zero", or it is gone from
    the text ("delete"), or `mask_token` takes its place ("mask"). `unit` is what goes at a time: a "word"
    with all its occurrences, an "occurrence", or a "sentence".

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
        class_names: Sequence[str] | None = None,
        threshold: float | None = None,
        target: Any = None,
        label: Any = None,
        search: str | Search = "auto",
        budget: Budget | None = None,
        protected: Collection[str | int] = (),
        groups: Any = None,
        costs: Mapping[Any, float] | Sequence[float] | None = None,
        removal: str | None = None,
        unit: str | None = None,
        mask_token: str = "[MASK]",
        seed: int = 0,
    ) -> None:
        scorer, text_scorer, reader = as_reader(
            model,
            feature_names=feature_names,
            class_names=class_names,
            threshold=threshold,
            label=label,
            protected=protected,
            groups=groups,
            costs=costs,
            removal=removal,
            unit=unit,
            mask_token=mask_token,
        )
        named = names_of_classes(class_names, scorer, label)
        used = as_search(search, costs=costs is not None)
        _check_limits(budget, seed)
        self._inquiry = Inquiry(
            scorer=replace(scorer, target=target_of(target, scorer, named)),
            text_scorer=text_scorer,
            reader=reader,
            class_names=named,
            search=used,
            search_name=name_of(used),
            budget=budget or Budget(),
            seed=int(seed),
        )

    def with_options(
        self,
        *,
        search: str | Search | None = None,
        budget: Budget | None = None,
        protected: Collection[str | int] = (),
        seed: int | None = None,
    ) -> "Explainer":
        """Give an Explainer of the same model that is told something else; what is not given stays.

        What is `protected` is so besides what was. It costs next to nothing: the model is looked at once.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 2, 1]), threshold=4)
        >>> explainer.with_options(search="sedc", protected=[0]).explain([1, 1, 0]).columns
        (1,)
        """
        _check_limits(budget, 0 if seed is None else seed)
        inquiry = self._inquiry.recognised()
        if search is not None:
            inquiry.search = as_search(search, costs=inquiry.reader.costs is not None)
            inquiry.search_name = name_of(inquiry.search)
        if protected:
            inquiry.reader = inquiry.reader.protecting(protected)
        inquiry.budget = budget or inquiry.budget
        inquiry.seed = inquiry.seed if seed is None else int(seed)
        other = copy(self)
        other._inquiry = inquiry
        return other

    @property
    def budget(self) -> Budget:
        """The limits of one explanation."""
        return self._inquiry.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._inquiry.budget = budget

    @property
    def seed(self) -> int:
        """The seed of whatever is random."""
        return self._inquiry.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._inquiry.seed = seed

    @property
    def threshold(self) -> float:
        """The score from which on a decision is positive."""
        return self._inquiry.scorer.threshold

    @property
    def takes_texts(self) -> bool:
        """Whether it explains texts, not rows of numbers."""
        return self._inquiry.reader.takes_texts

    @property
    def n_features(self) -> int | None:
        """How many columns a row must have; None where neither the model nor the names tell, or for texts."""
        return self._inquiry.reader.n_features

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the classes are called; empty where nobody knows."""
        return self._inquiry.class_names

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """What the columns of a row are called, where they have names; None for texts."""
        reader = self._inquiry.reader
        return reader.names.given if isinstance(reader, Rows) else None

    @property
    def unit(self) -> Unit:
        """What is removed at a time: a feature, a group of them, a word, …"""
        return self._inquiry.reader.unit

    def row_of(self, items: Mapping[str | int, float] | Collection[str | int]) -> Any:
        """Make a row of features by name or column: of their values, or of those that are there, as ones.

        >>> explainer = Explainer(lambda X: X.sum(axis=1), feature_names=["Up", "It"], threshold=1)
        >>> explainer.row_of(["It"]).toarray()
        array([[0., 1.]])
        """
        reader = self._inquiry.reader
        if not isinstance(reader, Rows):
            raise InputError("items must not be given for a model that reads texts: give the text.")
        return reader.row_of(items)

    def decide(self, rows: Any) -> tuple[FloatArray, IntArray]:
        """Give the score of every row, or text, and the index of the class that the model decides for.

        They are asked about together. A row that the model fails on has a score of nan and class -1. With
        more than two classes the score is how far the class is ahead of the best other, or of the target.

        >>> import numpy as np
        >>> Explainer(lambda X: X @ np.array([2, 1]), threshold=2).decide(np.array([[0, 1], [1, 1]]))
        (array([1., 3.]), array([0, 1]))
        """
        return decide(self._inquiry, rows)

    def bench(self, row: Any) -> Bench:
        """Put a row on the bench, to take features away by hand and see what the model decides then.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1, 1]), threshold=2)
        >>> bench = explainer.bench([1, 0, 1])
        >>> bench.items, bench.without([1]).flipped, bench.without(["feature 0"]).score_without
        (('feature 0', 'feature 2'), False, 1.0)
        """
        return Bench(self._inquiry, self._inquiry.read(row))

    def local_model(self, row: Any) -> LocalModel:
        """Give the model as it is seen from this row; its `kind` tells how it is evaluated."""
        return self._inquiry.case(self._inquiry.read(row), deadline=math.inf).local

    def explain(self, row: Any) -> Explanation:
        """Find the smallest set of this row's active features without which the decision flips.

        The row may be a SciPy sparse matrix or array of one row, a frame or series, or dense with one or two
        dimensions; for a model that reads texts it is a string, alone or in a list. A frame's columns are
        matched by name. What is returned as found has been confirmed by the model itself on the real row.
        """
        started = time.monotonic()
        return self._inquiry.explain(self._inquiry.read(row), started)

    def explain_block(
        self, rows: Any, *, only_positive: bool = False, progress: Progress | None = None
    ) -> list[Outcome]:
        """Explain a block of rows, or texts, together: the building block of every job over many rows.

        Gives an outcome for each row, in their order: the explanation, as `explain` gives it; or the error
        that stands in its place, so that nothing else is lost; or None, where `only_positive` leaves a row
        out that is decided negative. `progress` is told how many more rows are done.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2)
        >>> explainer.explain_block(np.array([[0, 1], [1, np.nan]]), only_positive=True)
        [None, InputError('row must be finite, got nan in column 1. Impute or drop it first.')]
        """
        if only_positive:
            self._inquiry.require_positive_class()
        return explain_block(self._inquiry, rows, only_positive, progress or _no_progress)

    def explain_many(
        self,
        rows: Any,
        *,
        jobs: int = 1,
        progress: Callable[[int, int | None], None] | None = None,
        errors: Literal["raise", "keep"] = "raise",
    ) -> Iterator[Any]:
        """Explain rows of a matrix, or texts, in their order, while you iterate.

        The answers are those of `explain`, but what can be done for many rows together is: for a linear model
        everything. With `jobs` above one as many processes share the work, the model and the matrix; a row on
        which the model crashes one of them, or hangs, costs that row only. `progress` is told how many rows
        are done and of how many (None: nobody knows). A row that fails raises its error, which ends the
        iteration; with `errors="keep"` the error is given in the place of the explanation, as
        `Explanations` takes them.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2)
        >>> [why.columns for why in explainer.explain_many(np.array([[1, 0], [1, 1]]))]
        [(0,), (0,)]
        """
        require_count("jobs", jobs)
        if isinstance(rows, str):
            raise InputError(
                f"rows must be several rows or texts, got one text of {len(rows):,} characters: use explain."
            )
        if errors not in ("raise", "keep"):
            raise InputError(f'errors must be "raise" or "keep", got {errors!r}.')
        return _in_order(self._blocks(rows, jobs), n_rows_of(rows), progress, errors)

    def _blocks(self, rows: Any, jobs: int) -> Iterator[list[Outcome]]:
        """Explain rows block by block; of what comes one by one, each as it comes."""
        if jobs > 1:
            return explained_by(self._inquiry, rows, jobs)
        rows = self._inquiry.reader.many(rows)
        if n_rows_of(rows) is None:
            return (self.explain_block([row]) for row in rows)
        return map(self.explain_block, in_pieces(rows, rows_at_once(self._inquiry)))

    def alternatives(
        self,
        row: Any,
        *,
        max_size: int | None = None,
        limit: int | None = None,
        max_seconds: float | None = None,
    ) -> Alternatives:
        """Give all irreducible explanations of this row, smallest first, one after the other.

        None of them contains another. `max_size` and `max_seconds` are the budget's unless given; `limit` is
        how many at most. The search runs while you iterate; `complete_up_to` then says up to which size none
        is missing. Costs do not change the order.

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
        inquiry = copy(self._inquiry)
        inquiry.budget, inquiry.search_name = budget, "alternatives"
        return Alternatives(inquiry, row, limit)

    def rank(self, row: Any, by: str | Ranking = "removal", **parameters: Any) -> Ranked:
        """Weigh this row's active features by their evidence for the decision: (name, weight), highest first.

        `by` is "removal" (how far the score falls when the feature goes alone), "lime", "shap", or any
        ranking; `parameters` are the ranking's own, such as `n_samples=1000`. A weight above zero is evidence
        for the decision that the model took, be it positive or negative. LIME and SHAP weigh in the units of
        the score; single removals in log-odds where butfor knows those of a probability, which are the
        contributions themselves if the model is linear. Protected features are never removed and have no
        weight. The budget's limits are for explanations and do not apply.

        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([0.5, 0.25, -1.0]), threshold=0.5)
        >>> list(explainer.rank([1, 1, 0]))
        [('feature 0', 0.5), ('feature 1', 0.25)]
        """
        ranking = as_ranking(by, parameters)
        case = self._inquiry.trusted(self._inquiry.read(row), deadline=math.inf)
        weights = weigh(ranking, case.local, self.seed)
        order = np.argsort(-weights, kind="stable")
        return Ranked((case.subject.name(i), float(weights[i])) for i in order)


def _no_progress(n_rows: int) -> None:
    pass


def _check_limits(budget: Budget | None, seed: int) -> None:
    if budget is not None and not isinstance(budget, Budget):
        raise InputError(f"budget must be a Budget, such as Budget(max_size=30), got {budget!r}.")
    require_count("seed", seed, at_least=0)


def _in_order(
    blocks: Iterator[list[Outcome]],
    n_rows: int | None,
    progress: Callable[[int, int | None], None] | None,
    errors: str,
) -> Iterator[Any]:
    """Give outcomes one after the other."""
    n_done = 0
    for outcomes in blocks:
        for outcome in outcomes:
            if isinstance(outcome, ButforError) and errors == "raise":
                outcome.add_note(f"It is row {n_done:,} of those given.")
                raise outcome
            n_done += 1
            yield outcome
        if progress is not None:
            progress(n_done, n_rows)
