"""The local model: a model seen from one row, a function of which units are removed."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from butfor.models.arrays import BoolArray, FloatArray, IntArray, prefixes
from butfor.models.local.asking import Asker
from butfor.models.local.deadline import Deadline

if TYPE_CHECKING:
    from butfor.models.bounds.region import Region

MAX_CELLS = 2_000_000
"""How many cells the boolean matrix of one block of removal sets may have."""


class LocalModel(ABC):
    """A model seen from one row, as a function of which of its m units are removed.

    A search sees nothing else of a model. Units are numbered 0 … m−1, and `scores` takes whole batches of
    removal sets. Scores are *turned* to the row's side of the decision: **lower is always closer to the
    flip**, whether the row was predicted positive or negative. `flips` returns which scores are across the
    threshold. Scores may be on a wider scale than the user's, such as log-odds for probabilities; `reported`
    converts them.

    A subclass implements `_scores`: the scores of a batch of removal sets, not turned.

    Parameters
    ----------
    n_features : int
        The number of units that may be removed.
    score : float
        The score of the row, not turned.
    threshold : float
        The threshold of the decision, on the same scale.
    positive : bool
        Whether the row was predicted positive.
    deadline : Deadline, optional
        When scoring begins to raise `OutOfTime`. If it is not given, there is no deadline.
    costs : array of shape (n_features,), optional
        What the removal of each unit costs. If it is not given, each costs one.

    Attributes
    ----------
    n_features : int
        The number of units that may be removed.
    n_scored : int
        How many removal sets have been scored for searches and rankings.
    kind : str
        How the model is evaluated: "black box", "linear", "neural network", …
    has_bounds : bool
        Whether `regions` is available, so that a search can prove what it finds.
    positive : bool
        Whether the row was predicted positive.
    score : float
        The score of the row, turned.
    threshold : float
        The threshold, turned.
    costs : array of shape (n_features,) or None
        What the removal of each unit costs. None: each costs one.
    deadline : Deadline
        When scoring begins to raise `OutOfTime`.
    scorings_left : float
        How many more removal sets a search may have scored before `OutOfScorings` is raised.
    seconds_a_scoring : float
        How long the model takes to score a removal set, as far as that is known; 0 for a formula.
    parts : tuple of arrays
        Units that belong together, such as the words of a sentence: each unit is in one part. Empty: none are
        known.

    Examples
    --------
    >>> from butfor import Explainer
    >>> from butfor.models import removal_sets
    >>> local = Explainer(lambda X: X @ np.array([3, 2, 1]), threshold=4).local_model([1, 1, 1])
    >>> local.score, local.threshold
    (6.0, 4.0)
    >>> scores = local.scores(removal_sets([(0,), (1,)], local.n_features))
    >>> scores, local.flips(scores)
    (array([3., 4.]), array([ True, False]))
    """

    kind: str
    """How the model is evaluated, in words: "black box", "linear", …"""
    has_bounds = False
    """Whether `regions` is available."""
    tolerance = 0.0
    """How far a score must be across the threshold to flip, where scores vary."""

    def __init__(
        self,
        *,
        n_features: int,
        score: float,
        threshold: float,
        positive: bool,
        deadline: Deadline | None = None,
        costs: FloatArray | None = None,
    ) -> None:
        self.n_features = n_features
        self._n_scored = 0
        self.deadline = Deadline() if deadline is None else deadline
        self.costs = costs
        self.positive = positive
        self._sign = 1.0 if positive else -1.0
        self.score = self._sign * score
        self.threshold = self._sign * threshold

    @property
    def n_scored(self) -> int:
        """How many removal sets have been scored for searches and rankings."""
        return self._n_scored

    @property
    def n_asked(self) -> int:
        """How many rows a black box was asked to score in all; 0 for a formula."""
        return 0

    def note_asked(self, n_rows: int) -> None:
        """Count rows that a black box was asked about elsewhere, as to confirm an answer.

        Parameters
        ----------
        n_rows : int
            How many rows there were.
        """
        return None

    def ask_by(self, asker: Asker) -> None:
        """Have a black box ask the model in another way, as together with other rows.

        Parameters
        ----------
        asker : Asker
            Who asks the model.
        """
        return None

    def rule_out(self, removed: tuple[int, ...]) -> None:
        """Have a black box remember that a removal set does not flip, whatever its score was.

        Parameters
        ----------
        removed : tuple of int
            The removal set.
        """
        return None

    def remembered(self, removed: BoolArray) -> list[float | None]:
        """Return the reported scores of removal sets, as far as they were scored and are remembered.

        Parameters
        ----------
        removed : array of bool, shape (n_sets, n_features)
            One removal set in each row.

        Returns
        -------
        list of float or None
            None where a set must be scored.
        """
        return [None] * len(removed)

    @property
    def scorings_left(self) -> float:
        """How many more removal sets may be scored."""
        return math.inf

    @property
    def seconds_a_scoring(self) -> float:
        """How long the model takes to score a removal set."""
        return 0.0

    @property
    def parts(self) -> tuple[IntArray, ...]:
        """Units that belong together; empty where none are known."""
        return ()

    def scores(self, removed: BoolArray) -> FloatArray:
        """Score removal sets.

        Parameters
        ----------
        removed : array of bool, shape (n_sets, n_features)
            One removal set in each row, as `removal_sets` returns them.

        Returns
        -------
        array of float, shape (n_sets,)
            Turned scores: lower is closer to the flip.

        Raises
        ------
        OutOfTime
            If the deadline has passed.
        ValueError
            If `removed` has another shape.
        """
        return self._counted(removed, self._decided_scores)

    def scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Score one removal set together with each single candidate.

        Parameters
        ----------
        removed : tuple of int
            Units that are removed in any case.
        candidates : array of int
            Units, each of which is removed in turn.

        Returns
        -------
        array of float, shape (n_candidates,)
            Turned scores: lower is closer to the flip.

        Raises
        ------
        OutOfTime
            If the deadline has passed.
        """
        self.check_deadline()
        scores = self._sign * self._scores_with_each(removed, candidates)
        self._count(len(candidates))
        return self._decide_near_threshold(
            scores, lambda which: self._sets_with_each(removed, candidates[which])
        )

    def scores_of_prefixes(self, units: IntArray) -> FloatArray:
        """Score the removal of the first of some units, of the first two, …, of all of them.

        Parameters
        ----------
        units : array of int
            Units in the order of their removal.

        Returns
        -------
        array of float, shape (n_units,)
            Turned scores: lower is closer to the flip.

        Raises
        ------
        OutOfTime
            If the deadline has passed.
        """
        self.check_deadline()
        scores = self._decided_scores_of_prefixes(units)
        self._count(len(units))
        return scores

    def flips(self, scores: FloatArray) -> BoolArray:
        """Return which turned scores are across the threshold.

        A row is positive if its score is at least the threshold. So a positive row flips below the threshold,
        and a negative one, whose scores are turned, at or below it.

        Parameters
        ----------
        scores : array of float
            Turned scores.

        Returns
        -------
        array of bool
            True where the decision has flipped.
        """
        across = self.threshold - self.tolerance
        return scores < across if self.positive else scores <= across

    def reported(self, scores: FloatArray) -> FloatArray:
        """Return turned scores on the user's scale, not turned.

        Parameters
        ----------
        scores : array of float
            Turned scores.

        Returns
        -------
        array of float
            Scores as the user's model gives them.
        """
        return self._sign * scores

    def agrees(self, row_score: float) -> bool:
        """Return whether this local model agrees with the model's own score of the row.

        Parameters
        ----------
        row_score : float
            The model's own score of the row, on the user's scale.

        Returns
        -------
        bool
            False if the model does not act on the formula by which it is evaluated here.
        """
        return True

    def regions(self, max_size: int) -> "list[Region]":
        """Return regions that together hold all removal sets of at most `max_size` units.

        A set flips exactly if it flips in one of the regions.

        Parameters
        ----------
        max_size : int
            The largest size of a removal set.

        Returns
        -------
        list of Region
            Families of removal sets that can be bounded.

        Raises
        ------
        NotImplementedError
            If the local model has no bounds.
        """
        raise NotImplementedError(f"a {self.kind} has no bounds")

    def is_out_of_reach(self, max_size: int) -> bool:
        """Return whether no set of at most `max_size` units flips, where that is certain without a search.

        Parameters
        ----------
        max_size : int
            The largest size of a removal set.

        Returns
        -------
        bool
            False if it is not known.
        """
        return False

    def evidence(self, removed: BoolArray) -> FloatArray:
        """Score removal sets on the user's scale; lower is closer to the flip.

        Parameters
        ----------
        removed : array of bool, shape (n_sets, n_features)
            One removal set in each row.

        Returns
        -------
        array of float, shape (n_sets,)
            Scores on the user's scale, turned.

        Raises
        ------
        OutOfTime
            If the deadline has passed.
        """
        return self._counted(removed, self._evidence)

    def evidence_of_row(self) -> float:
        """Return the score of the row itself on the user's scale, turned as `evidence` turns it.

        Returns
        -------
        float
        """
        return float(self._sign * self.reported(np.array([self.score]))[0])

    def path(self, removed: tuple[int, ...]) -> FloatArray:
        """Return the reported score without the first of some units, the first two, …, all of them.

        It does not belong to a search: nothing is counted in `n_scored`, and the deadline is ignored.

        Parameters
        ----------
        removed : tuple of int
            Units in the order of their removal.

        Returns
        -------
        array of float, shape (len(removed),)
            Scores on the user's scale, not turned.

        Examples
        --------
        >>> from butfor import Explainer
        >>> local = Explainer(lambda X: X @ np.array([3, 2, 1]), threshold=4).local_model([1, 1, 1])
        >>> local.path((0, 2)), local.n_scored
        (array([3., 2.]), 0)
        """
        if not removed:
            return np.zeros(0)
        with self.deadline.suspended(), self._counting_nothing():
            return self._path(np.array(removed))

    def limited_to(self, seconds: float) -> AbstractContextManager[None]:
        """Bring the deadline forward within a `with` block.

        Parameters
        ----------
        seconds : float
            How many seconds are left at most, from now on.

        Returns
        -------
        context manager
            It restores the deadline at the end of the block.
        """
        return self.deadline.limited_to(seconds)

    def check_deadline(self) -> None:
        """Raise `OutOfTime` if the deadline has passed."""
        self.deadline.check()

    @abstractmethod
    def _scores(self, removed: BoolArray) -> FloatArray: ...

    def _counted(self, removed: BoolArray, score: Callable[[BoolArray], FloatArray]) -> FloatArray:
        """Score removal sets if they are well formed and time is left, and count them."""
        removed = np.asarray(removed, dtype=bool)
        if removed.ndim != 2 or removed.shape[1] != self.n_features:
            raise ValueError(f"removed must have shape (sets, {self.n_features}), got {removed.shape}.")
        self.check_deadline()
        scores = score(removed)
        self._count(len(removed))
        return scores

    def _count(self, n_sets: int) -> None:
        """Count removal sets that were scored."""
        self._n_scored += n_sets

    def _counting_nothing(self) -> AbstractContextManager[None]:
        """Count no removal sets within a `with` block."""
        return _restoring(self)

    def _decided_scores(self, removed: BoolArray) -> FloatArray:
        """Return turned scores, those near the threshold decided by the model; count nothing."""
        return self._decide_near_threshold(self._sign * self._scores(removed), removed.__getitem__)

    def _evidence(self, removed: BoolArray) -> FloatArray:
        """Return what `evidence` returns; count nothing."""
        return self._sign * self.reported(self._decided_scores(removed))

    def _decided_scores_of_prefixes(self, units: IntArray) -> FloatArray:
        """Return what `scores_of_prefixes` returns; count nothing."""
        return self._decided_scores(prefixes(units, self.n_features))

    def _path(self, units: IntArray) -> FloatArray:
        """Return what `path` returns; count nothing."""
        return self._sign * self._evidence(prefixes(units, self.n_features))

    def _scores_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> FloatArray:
        # In blocks, since the matrix of all sets of a row of very many units would not fit into memory.
        step = max(1, MAX_CELLS // max(1, self.n_features))
        blocks = [candidates[start : start + step] for start in range(0, len(candidates), step)]
        scores = [self._scores(self._sets_with_each(removed, some)) for some in blocks]
        return scores[0] if len(scores) == 1 else np.concatenate([np.zeros(0), *scores])

    def _sets_with_each(self, removed: tuple[int, ...], candidates: IntArray) -> BoolArray:
        sets = np.zeros((len(candidates), self.n_features), dtype=bool)
        sets[:, list(removed)] = True
        sets[np.arange(len(candidates)), candidates] = True
        return sets

    def _decide_near_threshold(self, scores: FloatArray, sets: Callable[[IntArray], BoolArray]) -> FloatArray:
        """Have the model decide where scores are too close to the threshold to be sure.

        Returns the scores, moved where necessary to the side on which the model decides. `sets` returns the
        removal sets of some of the scores.
        """
        return scores


@contextmanager
def _restoring(local: LocalModel) -> Iterator[None]:
    """Put the count of a local model back at the end."""
    before = local._n_scored
    yield
    local._n_scored = before
