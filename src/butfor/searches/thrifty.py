"""Thrifty: a small answer in few scorings, for models that are slow or cost money."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, isqrt
from typing import ClassVar

import numpy as np

from butfor._blas import one_thread
from butfor._checks import require_count
from butfor.budget import Budget
from butfor.models.arrays import FloatArray, IntArray, removal_sets
from butfor.models.local.base import LocalModel
from butfor.rankings.lime import surrogate
from butfor.rankings.sampling import random_sets
from butfor.searches.base import Finding
from butfor.searches.shared.evidence_model import EvidenceModel

SPARE = 1.3
"""With fewer scorings than this for each unit, not every unit is removed alone."""
PATIENCE, LEAST_PATIENCE = 0.6, 40
"""How many scorings may fail in a row to improve an answer: for each unit, and at least."""
GROWN_BY = 3
"""How many units are tried at each step where a set is grown."""
ALONE, GROWTH = 5, 1.2
"""How many units are removed one by one beside an answer, and how fast the groups of the others grow."""
MOST_BESIDE = 400
"""How many units at most are removed beside an answer: the model of the scores slows down with each."""
ENOUGH = 1.0
"""A group that does more than expected is halved: how much more, times what an answer's last unit adds."""
SAME = 0.75
"""Two answers of which this share of all units is in both are looked beside once."""
AROUND = 0.25
"""Of the sets around an answer, the share that is scored."""
MOST = 0.8
"""Around an answer of more than this share of the units, as many sets are scored as patience allows."""
UNTIL_FIRST = 3.0
"""How many scorings for each unit looks may take as long as there is no answer."""
SAMPLES = 2
"""Random sets for each unit, where nothing else led to a flip."""


@dataclass(frozen=True)
class Thrifty:
    """Find a small set with about as many scorings as the row has units: for models that are dear.

    Every unit is removed once by itself. That ranks them, and the shortest prefix of the ranking that flips
    is found by bisection; units that make the decision firmer alone are at its end. Then a model of the
    scores seen so far, in log-odds where they are probabilities, proposes smaller sets, a few at a time,
    until none is likely to flip: first after a look at what other units do beside the answer, one by one and
    in groups, then after one at sets around the answer. Looks are left out where a flip is out of question.

    A row of more than `max_singles` units, or with too few scorings left for all, is read part by part first:
    the sentences of a text, else neighbouring units. Then only units of the parts that matter are removed
    alone.

    Parameters
    ----------
    n_proposals : int, default=3
        How many sets a round proposes.
    max_singles : int, default=2000
        Up to how many units each is removed alone.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> model = lambda X: X @ np.linspace(1, 2, 100)
    >>> why = Explainer(model, threshold=141, search=Thrifty()).explain(np.ones(100))
    >>> why.size, why.n_scored
    (5, 123)
    """

    name: ClassVar[str] = "thrifty"
    n_proposals: int = 3
    max_singles: int = 2_000

    def __post_init__(self) -> None:
        require_count("n_proposals", self.n_proposals)
        require_count("max_singles", self.max_singles)

    def __call__(self, local: LocalModel, budget: Budget, seed: int) -> Iterator[Finding]:
        """Yield a first answer, then smaller ones."""
        rng = np.random.default_rng(seed)
        units = np.arange(local.n_features)
        best: tuple[int, ...] = ()
        if len(units) > self.max_singles or SPARE * len(units) > local.scorings_left:
            units, do_flip = _units_that_matter(local)
            if do_flip and len(units) <= budget.max_size:
                best = tuple(map(int, units))
                yield Finding(best)
        singles = local.scores_with_each((), units)
        flipping = np.flatnonzero(local.flips(singles))
        bound = 2 if len(units) == local.n_features else 1
        if flipping.size:
            yield Finding((int(units[flipping[np.argmin(singles[flipping])]]),))
            return
        yield Finding(best, lower_bound=bound, reason="no unit flips the decision alone")
        max_size = budget.largest(local.n_features)
        if max_size == 1:
            return
        near = _Near(local, EvidenceModel(local, units, singles), max_size)
        if best:
            near.scores([best])
        for first in near.first_answers(rng, self.n_proposals):
            if not best or len(first) < len(best):
                best = first
                yield Finding(best, lower_bound=bound)
        if not near.has_answers:
            yield Finding(best, lower_bound=bound, reason="neither rankings nor growing sets led to a flip")
            return
        while smaller := self._smaller(near, best, rng):
            best = smaller
            yield Finding(best, lower_bound=bound)
        best = near.strongest_of(len(best))
        n_left = local.n_features - len(units)
        reason = f"{n_left:,} units of other parts were not removed alone" if n_left else ""
        yield Finding(best, lower_bound=bound, reason=reason)

    def _smaller(self, near: "_Near", best: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Return a smaller answer, of what is known or after a look at more; else an empty one."""
        if len(best) > 2:
            for _ in near.looks(best):
                self._propose(near, best, rng)
                if smaller := near.smaller_than(best):
                    return smaller
        return ()

    def _propose(self, near: "_Near", best: tuple[int, ...], rng: np.random.Generator) -> None:
        """Score smaller sets that the model of the scores proposes, until one flips or none is likely to."""
        while near.patience > 0:
            n_sets = min(self.n_proposals, near.patience)
            sets = near.evidence.proposals(best, near.evidence.next_size(best), n_sets, rng)
            if not sets or near.strongest(sets):
                return


@dataclass(frozen=True, eq=False)
class _Near:
    """Sets of several units, scored as they are needed; every score goes into the evidence model."""

    local: LocalModel
    evidence: EvidenceModel
    max_size: int
    """Larger sets are scored to learn from them. They are no answers."""
    _strongest: dict[int, tuple[float, tuple[int, ...]]] = field(default_factory=dict)
    """For each size, the lowest score of a set that flips, and the set."""
    _scored_at: dict[int, int] = field(default_factory=dict)
    """For each size, how many sets had been scored when the first one that flips was found."""
    _looked_beside: list[frozenset[int]] = field(default_factory=list)
    """The answers beside which other units were removed."""

    def scores(self, sets: list[tuple[int, ...]]) -> FloatArray:
        """Score sets, and learn from them."""
        scores = self.local.scores(removal_sets(sets, self.local.n_features))
        self.evidence.learn(sets, scores)
        for i in np.flatnonzero(self.local.flips(scores)):
            if len(sets[i]) > self.max_size:
                continue
            self._scored_at.setdefault(len(sets[i]), self.local.n_scored)
            known = self._strongest.get(len(sets[i]), (np.inf, ()))
            self._strongest[len(sets[i])] = min(known, (float(scores[i]), sets[i]))
        return scores

    @property
    def has_answers(self) -> bool:
        """Whether a set that flips was scored."""
        return bool(self._strongest)

    def strongest_of(self, size: int) -> tuple[int, ...]:
        """Return the set of a size with the lowest score, of those that were scored and flip."""
        return self._strongest[size][1]

    def smaller_than(self, best: tuple[int, ...]) -> tuple[int, ...]:
        """Return the smallest set that was scored and flips, if it is smaller than an answer."""
        size = min(self._strongest)
        return self.strongest_of(size) if size < len(best) else ()

    @property
    def patience(self) -> int:
        """How many more scorings may fail to improve the smallest answer, or to find a first one."""
        units = len(self.evidence.units) + 10
        if not self.has_answers:
            return int(UNTIL_FIRST * units) - self.local.n_scored
        most = max(LEAST_PATIENCE, int(PATIENCE * units))
        return most + self._scored_at[min(self._scored_at)] - self.local.n_scored

    def strongest(self, sets: list[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the set with the lowest score, if it flips; else an empty one."""
        scores = self.scores(sets)
        lowest = int(np.argmin(scores))
        return sets[lowest] if self.local.flips(scores)[lowest] else ()

    def first_answers(self, rng: np.random.Generator, n_proposals: int) -> Iterator[tuple[int, ...]]:
        """Yield smaller and smaller sets that flip, by the first way that leads to one."""
        yield from self.prefixes(self.evidence.ranked(), self.evidence.n_helpful)
        if not self.has_answers:
            yield from self.in_company(rng, n_proposals)
        if not self.has_answers:
            yield from self.grown()
        if not self.has_answers:
            sampled = _sampled(self.local, self.evidence.units, rng)
            yield from self.prefixes(sampled, len(sampled))

    def prefixes(self, ranking: list[int], n_helpful: int) -> Iterator[tuple[int, ...]]:
        """Yield shorter and shorter prefixes of a ranking that flip, by galloping and bisection.

        The first `n_helpful` units lower the score by themselves. Those behind them may do so in company.
        """
        tried = [1]
        for size in _sizes(min(n_helpful, self.max_size), min(len(ranking), self.max_size)):
            if prefix := self.strongest([tuple(ranking[:size])]):
                yield prefix
                break
            tried.append(size)
        else:
            return
        too_short = max(each for each in tried if each < size)
        while size - too_short > 1:
            middle = (size + too_short) // 2
            if prefix := self.strongest([tuple(ranking[:middle])]):
                yield prefix
                size = middle
            else:
                too_short = middle

    def in_company(self, rng: np.random.Generator, n_proposals: int) -> Iterator[tuple[int, ...]]:
        """Yield a set that flips, if a look beside the set that is closest to a flip leads to one."""
        near = self.evidence.closest(self.max_size)
        while near and self.patience > 0 and frozenset(near) not in self._looked_beside:
            self._look_beside(near)
            while not self.has_answers and self.patience > 0:
                size = self.evidence.likeliest_size(near, self.max_size)
                sets = self.evidence.attempts(near, size, n_proposals, rng)
                if not sets:
                    break
                self.scores(sets)
                near = self.evidence.closest(self.max_size)
            if self.has_answers:
                yield self.strongest_of(min(self._strongest))
                return
            near = self.evidence.closest(self.max_size)

    def grown(self) -> Iterator[tuple[int, ...]]:
        """Yield a set that flips, if adding the best of a few units, again and again, leads to one."""
        removed: tuple[int, ...] = ()
        while len(removed) < self.max_size:
            sets = [(*removed, unit) for unit in self.evidence.next_best(removed, GROWN_BY)]
            if not sets:
                break
            if not removed:  # all single removals are known
                removed = sets[0]
                continue
            scores = self.scores(sets)
            removed = sets[int(np.argmin(scores))]
            if self.local.flips(scores).any():
                yield removed
                return

    def looks(self, best: tuple[int, ...]) -> Iterator[None]:
        """Look for what makes an answer smaller, and yield after each look, until it is hopeless.

        What was seen beside an answer with much in common serves for this one, too. Where nearly all units
        were needed, what they do alone says little, and so do all beliefs: then it is never hopeless.
        """
        if self._looked_beside and not self._is_hopeless(best):
            yield
        if not self._is_hopeless(best) and not self._has_looked_near(best):
            self._look_beside(best)
        yield
        if self._has_most_units(best) or not self._is_hopeless(best):
            self._look_around(best)
            yield

    def _is_hopeless(self, best: tuple[int, ...]) -> bool:
        return self.patience < len(best) or self.evidence.is_hopeless(best, len(best) - 1)

    def _has_most_units(self, best: tuple[int, ...]) -> bool:
        return len(best) > MOST * len(self.evidence.units)

    def _has_looked_near(self, best: tuple[int, ...]) -> bool:
        """Return whether an answer has much in common with one beside which units were removed."""
        new = set(best)
        return any(len(new & old) >= SAME * len(new | old) for old in self._looked_beside)

    def _look_beside(self, best: tuple[int, ...]) -> None:
        """Remove other units in the place of the last two of an answer: one by one, then group by group.

        Alone such a unit may do little, or make the decision firmer. In company it may be the one that
        matters most. Units that do much alone, either way, come first. Groups that do more than expected are
        halved.
        """
        self._looked_beside.append(frozenset(best))
        rest, others = best[:-2], self.evidence.by_strength(best)[:MOST_BESIDE]
        enough = ENOUGH * self.evidence.added(best, best[-1])
        groups = _growing(others)
        while groups and self.patience > 0:
            sets = [(*rest, *group) for group in groups]
            self.scores(sets)
            surprises = self.evidence.surprises(sets)
            groups = [half for i in np.flatnonzero(surprises > enough) for half in _halves(groups[i])]

    def _look_around(self, best: tuple[int, ...]) -> None:
        """Score what is one unit smaller than an answer: without one unit, and two swapped for another."""
        subsets = [best[:i] + best[i + 1 :] for i in range(len(best))]
        new = [each for each in self.evidence.likeliest(best, subsets) if not self.evidence.is_known(each)]
        n_sets = self.patience if self._has_most_units(best) else ceil(AROUND * len(best))
        if new and self.strongest(new[: max(2, n_sets)]):
            return
        first, second = self.evidence.likeliest(best, subsets)[:2]
        rest = tuple(unit for unit in first if unit in second)
        others = self.evidence.next_best(best, max(2, ceil(AROUND * (len(best) + 2))))
        if others:
            self.scores([(*rest, unit) for unit in others])


def _sampled(local: LocalModel, units: IntArray, rng: np.random.Generator) -> list[int]:
    """Return units with evidence for the decision by LIME's weights, from a few random sets."""
    n_samples = int(min(SAMPLES * len(units) + 10, local.scorings_left // 2))
    if n_samples < 2:
        return []
    gone = random_sets(rng.integers(1, len(units) + 1, size=n_samples), len(units), rng)
    removed = np.zeros((n_samples, local.n_features), dtype=bool)
    removed[:, units] = gone
    scores = local.scores(removed)
    with one_thread():
        weights = surrogate(~gone, scores)
    order = np.argsort(-weights, kind="stable")
    return [int(unit) for unit in units[order[weights[order] > 0]]]


def _units_that_matter(local: LocalModel) -> tuple[IntArray, bool]:
    """Return the units of a few parts of the row whose removal flips the decision, and whether it does.

    If no parts do, all units are returned.
    """
    parts = _parts(local)
    scores = local.scores(removal_sets([tuple(part) for part in parts], local.n_features))
    order = np.argsort(scores, kind="stable")
    n_parts = 1
    while n_parts < 2 * len(order):
        units = np.sort(np.concatenate([parts[i] for i in order[:n_parts]]))
        if local.flips(local.scores(removal_sets([tuple(units)], local.n_features)))[0]:
            return units, True
        n_parts *= 2
    return np.arange(local.n_features), False


def _parts(local: LocalModel) -> list[IntArray]:
    """Return the parts of a row, or neighbouring units, put together to about as many as a part has units."""
    m = local.n_features
    parts = list(local.parts) if len(local.parts) > 1 else np.array_split(np.arange(m), isqrt(m))
    joined: list[IntArray] = []
    waiting: list[IntArray] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= isqrt(m):
            joined.append(np.concatenate(waiting))
            waiting = []
    return [*joined, np.concatenate(waiting)] if waiting else joined


def _sizes(n_helpful: int, most: int) -> list[int]:
    """Return sizes of prefixes to try: up to the units that help alone, a few more, and nearly all.

    >>> _sizes(5, 20)
    [2, 4, 5, 6, 7, 9, 13, 19, 18, 16, 12, 20]
    """
    steps = [2**i for i in range(most.bit_length())]
    beyond = [n_helpful, *(n_helpful + step for step in steps), *(most - step for step in steps), most]
    sizes = [step for step in steps if step < n_helpful] + [size for size in beyond if size >= n_helpful]
    return [size for size in dict.fromkeys(sizes) if 2 <= size <= most]


def _growing(units: list[int]) -> list[list[int]]:
    """Return units in groups: the first alone, then larger and larger groups."""
    groups = [[unit] for unit in units[:ALONE]]
    first, size = ALONE, 2.0
    while first < len(units):
        groups.append(units[first : first + int(size)])
        first, size = first + int(size), size * GROWTH
    return groups


def _halves(units: list[int]) -> list[list[int]]:
    """Return two groups of the units of one, or none if it has one unit only."""
    middle = len(units) // 2
    return [units[:middle], units[middle:]] if middle else []
