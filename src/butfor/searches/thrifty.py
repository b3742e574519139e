"""Thrifty: a small answer in few scorings, for models that are slow or cost money."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, isqrt
from typing import ClassVar

import numpy as np

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
PATIENCE, LEAST_PATIENCE = 0.6, 20
"""How many scorings may fail in a row to improve an answer: for each unit, and at least."""
GROWN_BY = 3
"""How many units are tried at each step where a set is grown."""
AGAINST = 5
"""How many units that speak against the decision are removed beside an answer."""
AROUND = 0.5
"""Of the sets around an answer, the share that is scored."""
FAR = 2
"""In how many groups of units that do little alone each unit is removed beside an answer."""
SAMPLES = 2
"""Random sets for each unit, where nothing else led to a flip."""


@dataclass(frozen=True)
class Thrifty:
    """Find a small set with about as many scorings as the row has units: for models that are dear.

    Every unit is removed once by itself. That ranks them, and the shortest prefix of the ranking that flips
    is found by bisection. Then a model of the scores seen so far, in log-odds where they are probabilities,
    proposes smaller sets, a few at a time, until none is likely to flip: first from what is known and from
    units that speak against the decision, then after a look around the answer, then after one at units that
    do little alone.

    A row of more than `max_singles` units, or with too few scorings left for all, is read part by part first:
    the sentences of a text, else neighbouring units. Then only units of the parts that matter are removed
    alone.

    Parameters
    ----------
    n_proposals : int, default=4
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
    (5, 124)
    """

    name: ClassVar[str] = "thrifty"
    n_proposals: int = 4
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
        near = _Near(local, EvidenceModel(local, units, singles))
        largest = budget.largest(local.n_features)
        for first in near.first_answers(largest, rng):
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
            for seen in near.looks(best):
                if smaller := seen or self._proposed(near, best, rng):
                    return smaller
        return ()

    def _proposed(self, near: "_Near", best: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Return a smaller answer that the model of the scores proposes, or an empty one."""
        while near.patience > 0:
            n_sets = min(self.n_proposals, near.patience)
            sets = near.evidence.proposals(best, near.evidence.next_size(best), n_sets, rng)
            if not sets:
                return ()
            if found := near.strongest(sets):
                return found
        return ()


@dataclass(frozen=True, eq=False)
class _Near:
    """Sets of several units, scored as they are needed; every score goes into the evidence model."""

    local: LocalModel
    evidence: EvidenceModel
    _strongest: dict[int, tuple[float, tuple[int, ...]]] = field(default_factory=dict)
    """For each size, the lowest score of a set that flips, and the set."""
    _scored_at: dict[int, int] = field(default_factory=dict)
    """For each size, how many sets had been scored when the first one that flips was found."""

    def scores(self, sets: list[tuple[int, ...]]) -> FloatArray:
        """Score sets, and learn from them."""
        scores = self.local.scores(removal_sets(sets, self.local.n_features))
        self.evidence.learn(sets, scores)
        for i in np.flatnonzero(self.local.flips(scores)):
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

    @property
    def patience(self) -> int:
        """How many more scorings may fail to improve the smallest answer."""
        most = max(LEAST_PATIENCE, int(PATIENCE * (len(self.evidence.units) + 10)))
        return most + self._scored_at[min(self._scored_at)] - self.local.n_scored

    def strongest(self, sets: list[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the set with the lowest score, if it flips; else an empty one."""
        scores = self.scores(sets)
        lowest = int(np.argmin(scores))
        return sets[lowest] if self.local.flips(scores)[lowest] else ()

    def ranked(self) -> list[int]:
        """Return the units that lower the score by themselves, the largest drop first."""
        order = self.evidence.order
        return [int(unit) for unit in self.evidence.units[order[self.evidence.drops[order] > 0]]]

    def first_answers(self, max_size: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
        """Yield smaller and smaller sets that flip, by the first way that leads to one."""
        best: tuple[int, ...] = ()
        for best in self.prefixes(self.ranked()[:max_size]):
            yield best
        if not best and (best := self.grown(max_size)):
            yield best
        if not best:
            yield from self.prefixes(_sampled(self.local, self.evidence.units, rng)[:max_size])

    def prefixes(self, ranking: list[int]) -> Iterator[tuple[int, ...]]:
        """Yield shorter and shorter prefixes of a ranking that flip, by galloping and bisection."""
        too_short, size = 1, 2
        while too_short < len(ranking):
            size = min(size, len(ranking))
            if prefix := self.strongest([tuple(ranking[:size])]):
                yield prefix
                break
            too_short, size = size, 2 * size
        else:
            return
        while size - too_short > 1:
            middle = (size + too_short) // 2
            if prefix := self.strongest([tuple(ranking[:middle])]):
                yield prefix
                size = middle
            else:
                too_short = middle

    def grown(self, max_size: int) -> tuple[int, ...]:
        """Add the best of a few units, again and again, until the decision flips."""
        removed: tuple[int, ...] = ()
        while len(removed) < max_size:
            sets = [(*removed, unit) for unit in self.evidence.next_best(removed, GROWN_BY)]
            if not sets:
                break
            if not removed:  # all single removals are known
                removed = sets[0]
                continue
            scores = self.scores(sets)
            removed = sets[int(np.argmin(scores))]
            if self.local.flips(scores).any():
                return removed
        return ()

    def looks(self, best: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Look for what makes an answer smaller, each look farther than the one before, until it is hopeless.

        Yields after each look: a smaller answer where one was seen, else an empty one.
        """
        if not self._is_hopeless(best):
            self._look_against(best)
        yield ()
        if self._is_hopeless(best):
            return
        yield self._look_around(best)
        if self._is_hopeless(best):
            return
        for _ in self._look_far(best):
            yield ()

    def _is_hopeless(self, best: tuple[int, ...]) -> bool:
        return self.patience < len(best) or self.evidence.is_hopeless(best, len(best) - 1)

    def _look_against(self, best: tuple[int, ...]) -> None:
        """Remove units that speak most against the decision in the place of the last two of an answer.

        Without such a unit alone the decision is firmer. In company it may be the one that matters most.
        """
        against = [unit for unit in self.evidence.against(AGAINST) if unit not in best]
        sets = [(*best[:-2], unit) for unit in against]
        if new := [each for each in sets if not self.evidence.is_known(each)]:
            self.scores(new)

    def _look_around(self, best: tuple[int, ...]) -> tuple[int, ...]:
        """Score what is one unit smaller than an answer: without one unit, and two swapped for another.

        Returns a smaller set that flips, if there is one among them.
        """
        subsets = self.evidence.likeliest(best, [best[:i] + best[i + 1 :] for i in range(len(best))])
        subsets = subsets[: max(2, ceil(AROUND * len(subsets)))]
        scores = self.scores(subsets)
        order: list[int] = np.argsort(scores, kind="stable").tolist()
        if self.local.flips(scores)[order[0]]:
            return subsets[order[0]]
        rest = tuple(unit for unit in subsets[order[0]] if unit in subsets[order[1]])
        others = self.evidence.next_best(best, max(2, ceil(AROUND * (len(best) + 2))))
        return self.strongest([(*rest, unit) for unit in others]) if others else ()

    def _look_far(self, best: tuple[int, ...]) -> Iterator[None]:
        """Look for units that do little alone and much beside an answer.

        Units outside of the answer are removed group by group besides it, all but its weakest unit. Of the
        groups whose drops are the largest surprise, the units are removed one by one.
        """
        rest, rest_score = self._without_weakest(best)
        ranked = self.evidence.units[self.evidence.order]
        others = ranked[~np.isin(ranked, best)]
        if len(others) < 2:
            return
        groups = np.array_split(others, max(1, isqrt(len(others))))
        sets = [(*rest, *map(int, group)) for group in groups]
        drops = rest_score - self.local.scores(removal_sets(sets, self.local.n_features))
        expected = np.array([self.evidence.drop_of(group).sum() for group in groups])
        for i in np.argsort(expected - drops, kind="stable")[:FAR]:
            self.scores([(*rest, int(unit)) for unit in groups[i]])
            yield

    def _without_weakest(self, best: tuple[int, ...]) -> tuple[tuple[int, ...], float]:
        """Return an answer without the unit that it needs least, and the score of that set."""
        smaller = [best[:i] + best[i + 1 :] for i in range(len(best))]
        scores = self.scores(smaller)
        lowest = int(np.argmin(scores))
        return smaller[lowest], float(scores[lowest])


def _sampled(local: LocalModel, units: IntArray, rng: np.random.Generator) -> list[int]:
    """Return units with evidence for the decision by LIME's weights, from a few random sets."""
    n_samples = int(min(SAMPLES * len(units) + 10, local.scorings_left // 2))
    if n_samples < 2:
        return []
    gone = random_sets(rng.integers(1, len(units) + 1, size=n_samples), len(units), rng)
    removed = np.zeros((n_samples, local.n_features), dtype=bool)
    removed[:, units] = gone
    weights = surrogate(~gone, local.scores(removed))
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
