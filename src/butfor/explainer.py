"""The object that users hold."""

import math
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from butfor._checks import require_count
from butfor._engine.alternatives import explain_all
from butfor._engine.arguments import as_engine_model, as_ranking, as_search
from butfor._engine.engine import Engine
from butfor._engine.many_rows import Progress, explain_block, rows_at_once
from butfor._engine.noisy_row import explain_noisy
from butfor._engine.one_row import explain_row, localise, trusted
from butfor._engine.outline import outline
from butfor._engine.parallel import explained_by
from butfor._engine.scoring import decide
from butfor._engine.settings import Settings
from butfor._engine.slices import in_pieces, n_rows_of
from butfor._engine.what_if import WhatIf
from butfor.budget import Budget
from butfor.errors import ButforError, InputError
from butfor.models import Calls, FloatArray, IntArray, LocalModel
from butfor.models.local.asking import DIRECT
from butfor.noise import Noise
from butfor.rankings import Ranking, weigh
from butfor.results.alternatives import Alternatives
from butfor.results.explanation import Explanation, Unit
from butfor.results.explanation_iterator import ExplanationIterator
from butfor.results.outcomes import Outcome, Outcomes
from butfor.results.ranked import Ranked
from butfor.searches import Search


class Explainer:
    """Explain decisions of one model: the smallest sets of active features without which they flip.

    Parameters
    ----------
    model : classifier, pipeline, booster or callable
        A fitted scikit-learn classifier or pipeline, a classifier or native booster of LightGBM, XGBoost or
        CatBoost, or any callable from rows to scores. The model gets rows in the form in which you pass them:
        a sparse row as CSR, where a removed feature is absent; a dense row dense, where it is zero. A
        pipeline that starts with a text vectoriser is explained on texts, and so is any model, such as a
        callable from a list of strings to scores, with `removal` "delete" or "mask". A model that takes
        frames with columns of several kinds, dicts or lists of items is explained on such records. A callable
        that returns one score a row needs a `threshold`. Two columns are the probabilities of two classes;
        more are one score for each class, of which the highest decides.
    feature_names : sequence of str, optional
        The names of the columns; those that the model was fitted with, if not given.
    class_names : sequence of str, optional
        The names of the classes, in the model's order.
    threshold : float, optional
        The score from which on a decision is positive. If not given, the decision is that of the model's own
        `predict`.
    target : class, optional
        With more than two classes, the class to which the decision must flip, by label or by name; if not
        given, any other. A row that the model decides for the target already has no explanation.
    label : optional
        The label in question, of a model that decides about several labels at once.
    search : str or search, default "auto"
        A name of `butfor.SEARCHES`, a search with its parameters such as `SEDC(max_iterations=500)`, or any
        callable with a search's signature.
    budget : Budget, optional
        The limits of one explanation.
    protected : collection of str or int, optional
        Features, by name or column, groups or words that may never be part of an explanation; of records,
        columns or parts such as 'country = "US"'. A feature that a protected group shares with another group
        still goes with that one.
    groups : mapping, sequence or callable, optional
        Which features go together: a mapping from features to groups, one group for each column, or a
        function of names. Of records, a mapping from columns or parts.
    costs : mapping or sequence of float, optional
        Asks for the cheapest answer instead of the smallest: a mapping from names to costs, or one number for
        each column.
    removal : {"zero", "delete", "mask"}, optional
        What removing a word of a text means: its columns become zero, or it is cut out of the text, or
        `mask_token` takes its place. The default for texts is "delete".
    unit : {"word", "occurrence", "sentence", "column"}, optional
        What is removed from a text at a time: a word with all its occurrences, one occurrence, a sentence. Of
        records, "column" makes each column one unit.
    mask_token : str, optional
        What takes the place of a masked word: the tokenizer's own mask if the model has one, else "[MASK]".
    encoder : tokenizer, SentenceTransformer, vectoriser or callable, optional
        What turns texts into that which the model takes, where the two are separate objects: the tokenizer of
        a transformer, a SentenceTransformer or a fitted vectoriser before a classifier, or any function from
        a list of texts to rows. Texts are then explained.
    absent : mapping, number or str, optional
        For records: what stands for absence in columns, such as `{"age": 40}`; one number for all columns of
        numbers, such as 0 where they are counts; or "median" or "mean" of the `reference` data. A number for
        which nothing is said stays as it is.
    reference : data frame, optional
        The data of which `absent` takes the median or the mean.
    kinds : mapping, optional
        For records: what columns hold, "text", "items", "category" or "number", where the model does not
        tell.
    seed : int, default 0
        The seed of whatever is random.
    noise : Noise or float, optional
        Declares that the model gives the same row another score each time. `Noise(confidence=0.95)` for one
        that samples: scores are means, and answers are confirmed to that confidence. A number, if scores of
        the same row differ by at most that: then a flip must be by more.
    calls : Calls, optional
        How a model is called that is slow, remote or paid for: the size of a call, how many run at the same
        time, retries, a cache on disk. An async function is awaited, with or without it.

    Raises
    ------
    InputError
        Where an argument is not what is expected. The message names it and says what to do.
    ModelError
        Where the model fails, or contradicts itself.

    Examples
    --------
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
        mask_token: str | None = None,
        encoder: Any = None,
        absent: Mapping[Any, Any] | float | str | None = None,
        reference: Any = None,
        kinds: Mapping[Any, str] | None = None,
        seed: int = 0,
        noise: Noise | float | None = None,
        calls: Calls | None = None,
    ) -> None:
        known, reader = as_engine_model(
            model,
            feature_names=feature_names,
            class_names=class_names,
            threshold=threshold,
            target=target,
            label=label,
            protected=protected,
            groups=groups,
            costs=costs,
            removal=removal,
            unit=unit,
            mask_token=mask_token,
            encoder=encoder,
            absent=absent,
            reference=reference,
            kinds=kinds,
            varies=noise is not None,
            calls=calls,
        )
        used = as_search(search, costs=costs is not None)
        limits = Budget() if budget is None else budget
        self._engine = Engine(known, Settings(reader, used, limits, seed, noise))

    def __repr__(self) -> str:
        return outline(self._engine)

    def with_options(
        self,
        *,
        search: str | Search | None = None,
        budget: Budget | None = None,
        protected: Collection[str | int] = (),
        seed: int | None = None,
    ) -> "Explainer":
        """Return an Explainer of the same model with some options changed.

        It costs next to nothing: both share the model, which is recognised once.

        Parameters
        ----------
        search, budget, seed : optional
            As for `Explainer`; what is not given stays.
        protected : collection of str or int, optional
            Protected besides what was protected before.

        Returns
        -------
        Explainer

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 2, 1]), threshold=4)
        >>> explainer.with_options(search="sedc", protected=[0]).explain([1, 1, 0]).columns
        (1,)
        """
        reader, changes = self._engine.settings.reader, dict[str, Any](budget=budget, seed=seed)
        if search is not None:
            changes["search"] = as_search(search, costs=reader.costs is not None)
        if protected:
            changes["reader"] = reader.protecting(protected)
        return self._changed(**{name: value for name, value in changes.items() if value is not None})

    def _changed(self, **settings: Any) -> "Explainer":
        other = copy(self)
        other._engine = self._engine.changed(**settings)
        return other

    @property
    def budget(self) -> Budget:
        """The limits of one explanation."""
        return self._engine.settings.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._engine = self._engine.changed(budget=budget)

    @property
    def seed(self) -> int:
        """The seed of whatever is random."""
        return self._engine.settings.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._engine = self._engine.changed(seed=seed)

    @property
    def threshold(self) -> float:
        """The score from which on a decision is positive."""
        return self._engine.model.scorer.threshold

    @property
    def takes_texts(self) -> bool:
        """Whether it explains texts, not rows of numbers."""
        return self._engine.settings.reader.takes_texts

    @property
    def takes_records(self) -> bool:
        """Whether it explains records: rows of a frame with cells of any kind, dicts, lists of items."""
        return self._engine.settings.reader.takes_records

    @property
    def record_form(self) -> str | None:
        """The form in which the model takes records, "frame", "dicts", "lists" or "array"; None: none."""
        return self._engine.settings.reader.record_form

    @property
    def record_columns(self) -> tuple[tuple[str, str | None], ...] | None:
        """The columns of records, by name, and what they hold; None where the model does not tell."""
        return self._engine.settings.reader.record_columns

    def choices(self, column: str) -> tuple[Any, ...]:
        """Return the categories that the model knows in a column of records; none where it does not tell.

        Parameters
        ----------
        column : str
            The name of the column.

        Returns
        -------
        tuple
        """
        return self._engine.settings.reader.choices(column)

    @property
    def n_features(self) -> int | None:
        """The number of columns that a row must have; None where it is unknown, and for texts."""
        return self._engine.settings.reader.n_features

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes; empty where they are unknown."""
        return self._engine.model.class_names

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where they have some; None for texts."""
        return self._engine.settings.reader.feature_names

    @property
    def unit(self) -> Unit:
        """What is removed at a time: a feature, a group of them, a word, …"""
        return self._engine.settings.reader.unit

    def settings(self) -> dict[str, Any]:
        """Return what this Explainer was told, by the names of its parameters.

        Besides the parameters there is `scored_by`, the method of the model that scores. Two Explainers of
        equal settings give equal explanations.

        Returns
        -------
        dict

        Examples
        --------
        >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=2, seed=7)
        >>> explainer.settings()["threshold"], explainer.settings()["seed"]
        (2.0, 7)
        """
        model = self._engine.model
        return {
            "model": (model.record_scorer or model.text_scorer or model.scorer).model,
            "scored_by": model.scorer.name,
            "threshold": model.scorer.threshold,
            "target": model.scorer.target,
            "class_names": list(model.class_names),
            **self._engine.settings.as_dict(),
        }

    def require_positive_class(self) -> None:
        """Raise unless the model tells two classes apart, so that one of them is positive.

        Raises
        ------
        InputError
            For a model of more than two classes.
        """
        self._engine.model.require_positive_class()

    def row_of(self, items: Mapping[str | int, float] | Collection[str | int]) -> Any:
        """Return a row with these features.

        Parameters
        ----------
        items : mapping or collection
            Values by name or column of features; or a collection of names or columns, whose values are one.

        Returns
        -------
        scipy.sparse.csr_matrix
            One row.

        Examples
        --------
        >>> explainer = Explainer(lambda X: X.sum(axis=1), feature_names=["Up", "It"], threshold=1)
        >>> explainer.row_of(["It"]).toarray()
        array([[0., 1.]])
        """
        return self._engine.settings.reader.row_of(items)

    def decide(self, rows: Any) -> tuple[FloatArray, IntArray]:
        """Return the score of every row, or text, and the class that the model decides for.

        Parameters
        ----------
        rows : matrix, data frame or texts
            The model is asked about them together.

        Returns
        -------
        scores : ndarray of float
            With more than two classes, how far the class is ahead of the best other, or of the target. Not a
            number where the model fails on the row.
        classes : ndarray of int
            The index of the class; -1 where the model fails on the row.

        Examples
        --------
        >>> import numpy as np
        >>> Explainer(lambda X: X @ np.array([2, 1]), threshold=2).decide(np.array([[0, 1], [1, 1]]))
        (array([1., 3.]), array([0, 1]))
        """
        return decide(self._engine, rows)

    def what_if(self, row: Any) -> WhatIf:
        """Return a what-if session for one row: remove units by hand and see what the model decides then.

        Parameters
        ----------
        row : row or text
            As for `explain`.

        Returns
        -------
        WhatIf

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1, 1]), threshold=2)
        >>> session = explainer.what_if([1, 0, 1])
        >>> session.items, session.without([1]).flipped, session.without(["feature 0"]).score_without
        (('feature 0', 'feature 2'), False, 1.0)
        """
        return WhatIf(self._engine, self._engine.read(row))

    def bench(self, row: Any) -> WhatIf:
        """Return a what-if session; the former name of `what_if`.

        Parameters
        ----------
        row : row or text
            As for `explain`.

        Returns
        -------
        WhatIf
        """
        return self.what_if(row)

    def local_model(self, row: Any) -> LocalModel:
        """Return the model as it is seen from this row; its `kind` says how it is evaluated.

        Parameters
        ----------
        row : row or text
            As for `explain`.

        Returns
        -------
        LocalModel
        """
        return localise(self._engine, self._engine.read(row), deadline=math.inf).local

    def explain(self, row: Any) -> Explanation:
        """Find the smallest set of this row's active features without which the decision flips.

        Parameters
        ----------
        row : row, text or record
            A SciPy sparse matrix or array of one row, a frame or series, or anything dense with one or two
            dimensions. A frame's columns are matched by name. For a model that reads texts, a string, alone
            or in a list. For one that takes records, a frame of one row, a row of a frame, a dict, or a list
            of items.

        Returns
        -------
        Explanation
            What is returned as found was confirmed by the model itself on the real row.

        Raises
        ------
        InputError
            Where the row is not what the model takes.
        ModelError
            Where the model fails on it.
        """
        began = time.monotonic()
        read = self._engine.read(row)
        seconds = time.monotonic() - began
        if isinstance(self._engine.settings.noise, Noise):
            return cast(Explanation, explain_noisy(self._engine, read, seconds, DIRECT))
        return explain_row(self._engine, read, seconds)

    def explain_block(
        self, rows: Any, *, only_positive: bool = False, progress: Progress | None = None
    ) -> Outcomes:
        """Explain a block of rows, or texts, together: the building block of every job over many rows.

        Parameters
        ----------
        rows : matrix, data frame or texts
        only_positive : bool, default False
            Leave out rows that are decided negative.
        progress : callable, optional
            Is called with the number of rows that were done since its last call.

        Returns
        -------
        Outcomes
            A sequence with an outcome for each row, in their order: the explanation, as `explain` returns it;
            or the error in its place, so that nothing else is lost; or None for a row that was left out.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2)
        >>> explainer.explain_block(np.array([[0, 1], [1, np.nan]]), only_positive=True)
        [None, InputError('row must be finite, got nan in column 1. Impute or drop it first.')]
        """
        if only_positive:
            self.require_positive_class()
        return explain_block(self._engine, rows, only_positive, progress or _no_progress)

    def explain_many(
        self,
        rows: Any,
        *,
        jobs: int = 1,
        progress: Callable[[int, int | None], None] | None = None,
        errors: Literal["raise", "keep"] = "raise",
    ) -> ExplanationIterator:
        """Explain rows of a matrix, or texts, in their order, while you iterate.

        The answers are those of `explain`, but what can be done for many rows together is: for a linear model
        everything.

        Parameters
        ----------
        rows : matrix, data frame, texts or iterable
        jobs : int, default 1
            With more than one, so many processes share the work, the model and the matrix. A row on which the
            model crashes one of them, or hangs, costs that row only.
        progress : callable, optional
            Is called with the number of rows done, and of how many (None where unknown).
        errors : {"raise", "keep"}, default "raise"
            Whether a row that fails raises its error, which ends the iteration, or the error is yielded in
            the place of the explanation, as `Explanations` takes it.

        Returns
        -------
        ExplanationIterator
            Yields an explanation for each row, or the error that was kept in its place. Its `collect()`
            returns all of them as `Explanations`, which a notebook shows at a glance.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 1]), threshold=2)
        >>> [why.columns for why in explainer.explain_many(np.array([[1, 0], [1, 1]]))]
        [(0,), (0,)]
        >>> explainer.explain_many(np.array([[1, 0], [0, 1]])).collect()
        <Explanations: 2 rows: 1 explained, 1 proven to have no answer.>
        """
        require_count("jobs", jobs)
        if isinstance(rows, str):
            raise InputError(
                f"rows must be several rows or texts, got one text of {len(rows):,} characters: use explain."
            )
        if errors not in ("raise", "keep"):
            raise InputError(f'errors must be "raise" or "keep", got {errors!r}.')
        n_rows = n_rows_of(rows)
        return ExplanationIterator(_in_order(self._blocks(rows, jobs), n_rows, progress, errors), n_rows)

    def _blocks(self, rows: Any, jobs: int) -> Iterator[Sequence[Outcome]]:
        """Explain rows block by block; rows of an iterator one by one, as they come."""
        if jobs > 1:
            return explained_by(self._engine, rows, jobs)
        rows = self._engine.settings.reader.many(rows)
        if n_rows_of(rows) is None:
            return (self.explain_block([row]) for row in rows)
        return map(self.explain_block, in_pieces(rows, rows_at_once(self._engine)))

    def alternatives(
        self,
        row: Any,
        *,
        max_size: int | None = None,
        limit: int | None = None,
        max_seconds: float | None = None,
    ) -> Alternatives:
        """Return all irreducible explanations of this row, smallest first; none contains another.

        Parameters
        ----------
        row : row or text
            As for `explain`.
        max_size, max_seconds : optional
            The limits; the budget's, if not given.
        limit : int, optional
            The largest number of explanations.

        Returns
        -------
        Alternatives
            The search runs while you iterate. Its `complete_up_to` is the size up to which none is missing.
            Costs do not change the order.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([2, 2, 1, 1]), threshold=4)
        >>> alternatives = explainer.alternatives([1, 1, 1, 1])
        >>> [why.columns for why in alternatives], alternatives.complete_up_to
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], 30)
        """
        budget = replace(
            self.budget,
            max_size=self.budget.max_size if max_size is None else max_size,
            max_seconds=self.budget.max_seconds if max_seconds is None else max_seconds,
        )
        if limit is not None:
            require_count("limit", limit)
        return Alternatives(partial(explain_all, self._engine.changed(budget=budget), row), limit)

    def rank(self, row: Any, by: str | Ranking = "removal", **parameters: Any) -> Ranked:
        """Weigh this row's active features by their evidence for the decision.

        A weight above zero is evidence for the decision that the model took, be it positive or negative.
        Protected features are never removed and have no weight. The budget's limits do not apply.

        Parameters
        ----------
        row : row or text
            As for `explain`.
        by : str or ranking, default "removal"
            "removal" (how far the score falls when the feature is removed alone), "lime", "shap", or any
            ranking. LIME and SHAP weigh in the units of the score; single removals in log-odds where butfor
            knows those of a probability, which are the contributions themselves if the model is linear.
        **parameters
            The ranking's own, such as `n_samples=1000`.

        Returns
        -------
        Ranked
            Pairs (name, weight), highest weight first.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X @ np.array([0.5, 0.25, -1.0]), threshold=0.5)
        >>> list(explainer.rank([1, 1, 0]))
        [('feature 0', 0.5), ('feature 1', 0.25)]
        """
        ranking = as_ranking(by, parameters)
        read = self._engine.read(row)
        weights = weigh(ranking, trusted(self._engine, read, deadline=math.inf).local, self.seed)
        order = np.argsort(-weights, kind="stable")
        return Ranked((read.name(i), float(weights[i])) for i in order)


def _no_progress(n_rows: int) -> None:
    pass


def _in_order(
    blocks: Iterator[Sequence[Outcome]],
    n_rows: int | None,
    progress: Callable[[int, int | None], None] | None,
    errors: str,
) -> Generator[Any, None, None]:
    """Yield outcomes one after the other."""
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
