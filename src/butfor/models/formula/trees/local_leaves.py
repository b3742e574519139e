"""Sums of trees seen from one row: numbers of the leaves, and the removals that lead to each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray, firsts
from butfor.models.compiled import tree_kernels
from butfor.models.formula.trees.growing import Words, words_for

MAX_CELLS = 4_000_000
"""How many pairs of a leaf and a removal set are looked at at once."""


class Literals(NamedTuple):
    """The conditions of leaves, one after the other: a unit must be removed, or must not be."""

    leaf: IntArray
    """Ascending."""
    unit: IntArray
    must: BoolArray


@dataclass(frozen=True, eq=False)
class LocalLeaves:
    """Functions of the removal set: the sum of the values of the leaves that are reached, one in each tree.

    The leaf that the row itself reaches has the value zero in each tree.
    """

    must: Words
    """leaves × words: the units that must be removed to reach a leaf."""
    care: Words
    """leaves × words: these, and the units that must not be removed."""
    values: FloatArray
    """leaves × functions."""
    tree: IntArray
    """The tree of each leaf, ascending from zero."""
    n_units: int

    def __len__(self) -> int:
        return len(self.values)

    def without(self, removed: BoolArray) -> FloatArray:
        """Return the values of the functions for removal sets (sets × functions)."""
        kernels = tree_kernels()
        if kernels is not None:
            return np.asarray(kernels.without(self.flat, as_words(removed)))
        step = max(1, MAX_CELLS // max(1, len(self)))
        sums = [
            self.reached(removed[start : start + step]).T.astype(np.float64) @ self.values
            for start in range(0, len(removed), step)
        ]
        return np.concatenate([np.zeros((0, self.values.shape[1])), *sums])

    def reached(self, removed: BoolArray) -> BoolArray:
        """Return which leaves are reached without some units (leaves × sets)."""
        words = as_words(removed)
        reached = np.ones((len(self), len(removed)), dtype=bool)
        for word, leaves in enumerate(self._leaves_by_word):
            seen = words[:, word] & self.care[leaves, word, np.newaxis]
            fits = seen == self.must[leaves, word, np.newaxis]
            if len(leaves) == len(self):
                reached &= fits
            else:
                reached[leaves] &= fits
        return reached

    def with_each(self, removed: BoolArray) -> FloatArray:
        """Return the values for one removal set together with each single unit (units × functions).

        A further unit leads away from leaves that forbid its removal, and to those that wait for it alone.
        """
        kernels = tree_kernels()
        if kernels is not None:
            return np.asarray(kernels.with_each(self.flat, as_words(removed[np.newaxis])[0], self.n_units))
        leaf, unit, must = self.literals
        broken = must != removed[unit]
        n_broken = np.bincount(leaf, broken, minlength=len(self))
        left = (n_broken[leaf] == 0) & ~must
        gained = (n_broken[leaf] == 1) & broken & must
        now = self.values[n_broken == 0].sum(axis=0)
        changes = np.empty((self.n_units, self.values.shape[1]))
        for column, values in enumerate(self.values.T):
            away = np.bincount(unit[left], values[leaf[left]], minlength=self.n_units)
            there = np.bincount(unit[gained], values[leaf[gained]], minlength=self.n_units)
            changes[:, column] = there - away
        return np.asarray(now + changes)

    def has_conditions_of(self, other: "LocalLeaves") -> bool:
        """Return whether these are leaves of the same trees, but for their values."""
        own, others = (self.must, self.care, self.tree), (other.must, other.care, other.tree)
        return all(np.array_equal(*each) for each in zip(own, others, strict=True))

    def steps_with_each(self, removed: BoolArray) -> Any:
        """Return which leaves each further unit leads to (1) and away from (−1), as CSR (units × leaves)."""
        leaf, unit, must = self.literals
        broken = must != removed[unit]
        n_broken = np.bincount(leaf, broken, minlength=len(self))
        left = (n_broken[leaf] == 0) & ~must
        gained = (n_broken[leaf] == 1) & broken & must
        steps = np.concatenate([np.full(left.sum(), -1.0), np.ones(gained.sum())])
        places = np.concatenate([unit[left], unit[gained]]), np.concatenate([leaf[left], leaf[gained]])
        return sparse.csr_array((steps, places), shape=(self.n_units, len(self)))

    @cached_property
    def first_leaf(self) -> IntArray:
        """The first leaf of each tree, and the end."""
        return firsts(self.tree, int(self.tree.max(initial=-1)) + 1)

    @cached_property
    def flat(self) -> tuple[Any, ...]:
        """The arrays as compiled loops take them."""
        arrays = self.must, self.care, self.values
        return (*(np.ascontiguousarray(each) for each in arrays), self.first_leaf)

    @cached_property
    def literals(self) -> Literals:
        """The conditions of all leaves."""
        care, must = (_as_bytes(words).ravel() for words in (self.care, self.must))
        place = np.flatnonzero(care != 0)  # of the bytes with a literal
        bits = np.unpackbits(care[place, np.newaxis], axis=1, bitorder="little")
        byte, bit = np.divmod(np.flatnonzero(bits.view(bool)), 8)
        leaf, byte_of_leaf = np.divmod(place[byte], 8 * self.care.shape[1])
        return Literals(leaf, 8 * byte_of_leaf + bit, (must[place[byte]] >> bit & 1).astype(bool))

    @cached_property
    def _leaves_by_word(self) -> list[IntArray]:
        """The leaves with a condition in each word."""
        return [np.flatnonzero(self.care[:, word]) for word in range(self.care.shape[1])]

    def transformed(self, weights: FloatArray) -> "LocalLeaves":
        """Return the leaves of weighted sums of the functions (functions × sums)."""
        return replace(self, values=self.values @ weights)

    @staticmethod
    def side_by_side(members: "Sequence[LocalLeaves | None]", widths: Sequence[int]) -> "LocalLeaves | None":
        """Join the leaves of several models at the same row; None where none of them has any."""
        known = [member for member in members if member is not None]
        if not known:
            return None
        if len(known) == len(members) and all(each.has_conditions_of(known[0]) for each in known):
            return replace(known[0], values=np.concatenate([each.values for each in known], axis=1))
        n_functions, before, n_trees, values, trees = sum(widths), 0, 0, [], []
        for member, width in zip(members, widths, strict=True):
            if member is not None:
                own = np.zeros((len(member), n_functions))
                own[:, before : before + width] = member.values
                values.append(own)
                trees.append(member.tree + n_trees)
                n_trees += int(member.tree.max(initial=-1)) + 1
            before += width
        must, care = (np.concatenate([getattr(each, name) for each in known]) for name in ("must", "care"))
        return LocalLeaves(must, care, np.concatenate(values), np.concatenate(trees), known[0].n_units)


def as_words(sets: BoolArray) -> Words:
    """Return sets of units (sets × units) as bits."""
    n_words = words_for(sets.shape[1])
    padded = np.zeros((len(sets), 64 * n_words), dtype=bool)
    padded[:, : sets.shape[1]] = sets
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def as_bits(words: Words, n_units: int) -> BoolArray:
    """Return sets of units, given as bits, as a boolean matrix (sets × units)."""
    return np.unpackbits(_as_bytes(words), axis=1, bitorder="little", count=n_units).astype(bool)


def _as_bytes(words: Words) -> npt.NDArray[np.uint8]:
    """Return sets of units with eight units a byte."""
    little = np.ascontiguousarray(words).astype("<u8", copy=False)
    return little.view(np.uint8).reshape(len(words), 8 * words.shape[1])
