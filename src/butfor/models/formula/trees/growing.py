"""What a row leaves open of trees: the leaves that it can reach, and which removals lead to each of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from butfor.models.arrays import BoolArray, FloatArray, IntArray, stretches
from butfor.models.compiled import tree_kernels
from butfor.models.counted import NoFormula
from butfor.models.formula.trees.spines import Spines

Words = npt.NDArray[np.uint64]
"""Sets of units as bits: one set in each row, 64 units a word."""
INACTIVE, STAYS = -1, -2
"""In place of a unit: the feature is inactive; it is active and never removed."""
MAX_WORDS = 4_000_000
"""How many words the conditions of all leaves of a row may have: some 100 MB in all."""


class TooManyLeaves(NoFormula):
    """The row leaves more of the trees open than memory and time allow."""


@dataclass(frozen=True, eq=False)
class Reached:
    """The leaves that a row can reach, whichever of its units are removed."""

    node: IntArray
    """The node of each leaf."""
    tree: IntArray
    """The tree of each leaf."""
    must: Words
    """The units that must be removed to reach it."""
    keep: Words
    """The units that must not be removed."""


@dataclass(frozen=True, eq=False)
class _Front:
    """Spines to follow, each with the conditions under which a row gets there."""

    start: IntArray
    tree: IntArray
    must: Words
    keep: Words


@dataclass(frozen=True, eq=False)
class _Exits:
    """Nodes at which rows leave spines, in the order of the spines."""

    node: IntArray
    spine: IntArray
    """The number of the spine in the front."""
    unit: IntArray
    """The unit, or `STAYS` where the row leaves the spine in any case."""
    word: IntArray
    """The number of the word that holds the unit."""
    bit: Words
    """The bit of the unit in its word; zero where the row leaves the spine in any case."""

    def only(self, which: BoolArray) -> "_Exits":
        """Return some of the exits."""
        if which.all():
            return self
        return _Exits(
            self.node[which], self.spine[which], self.unit[which], self.word[which], self.bit[which]
        )


@dataclass(frozen=True, eq=False)
class _TreeGrowth:
    """What is the same for all spines of a row."""

    spines: Spines
    unit_of: IntArray
    """Features: the unit, `INACTIVE` or `STAYS`."""
    present: FloatArray
    """Features: the value in the row."""
    word_of: IntArray
    """Units: the number of the word that holds the unit; one more for `STAYS`, and one for `INACTIVE`."""
    bit_of: Words
    """Units: the bit in that word; zero for `STAYS`."""
    may_repeat: bool
    """Whether a spine may have several nodes of one unit."""

    @staticmethod
    def of(
        spines: Spines, unit_of: IntArray, present: FloatArray, n_units: int, has_bundles: bool
    ) -> "_TreeGrowth":
        """Return it for a row of so many units."""
        units = np.arange(n_units + 2)
        bit_of = np.uint64(1) << (units & 63).astype(np.uint64)
        bit_of[n_units:] = 0
        word_of = np.where(units < n_units, units >> 6, 0)
        return _TreeGrowth(spines, unit_of, present, word_of, bit_of, has_bundles or spines.repeats_features)


def words_for(n_units: int) -> int:
    """Return how many words hold so many units; at least one."""
    return max(1, -(-n_units // 64))


def reach(
    spines: Spines, unit_of: IntArray, present: FloatArray, n_units: int, *, has_bundles: bool = True
) -> Reached:
    """Return the leaves that a row can reach.

    `unit_of` and `present` hold, for each feature, its unit, `INACTIVE` or `STAYS`, and its value in the row.
    Without bundles each unit is one feature.
    """
    n_words = words_for(n_units)
    kernels = None if spines.flat is None else tree_kernels()
    if kernels is not None:
        max_leaves = MAX_WORDS // n_words
        reached = kernels.reach(spines.flat, spines.trees.single, unit_of, present, n_words, max_leaves)
        if len(reached[0]) > max_leaves:
            raise TooManyLeaves
        return Reached(*reached)
    growth = _TreeGrowth.of(spines, unit_of, present, n_units, has_bundles)
    roots = spines.trees.roots.astype(np.int64)
    none = np.zeros((len(roots), n_words), dtype=np.uint64)
    front = _Front(roots, np.arange(len(roots)), none, none)
    found, n_found = [], 0
    while len(front.start):
        leaves, front = _follow(growth, front)
        found.append(leaves)
        n_found += leaves.must.size
        if n_found + front.must.size > MAX_WORDS:
            raise TooManyLeaves
    every = [
        np.concatenate([getattr(some, name) for some in found]) for name in ("node", "tree", "must", "keep")
    ]
    order = np.argsort(every[1], kind="stable")
    return Reached(*(each[order] for each in every))


def _follow(growth: _TreeGrowth, front: _Front) -> tuple[Reached, _Front]:
    """Follow spines to their ends; return the leaves there, and the spines on which rows go on from exits."""
    spines, exits = growth.spines, _exits(growth, front)
    certain = (exits.bit == 0) | (front.keep[exits.spine, exits.word] & exits.bit != 0)
    whole = np.ones(len(front.start), dtype=bool)
    bit = exits.bit
    if certain.any():  # the row leaves there, and sees nothing of the spine below
        places = np.flatnonzero(certain)
        last = np.full(len(front.start), len(certain))
        np.minimum.at(last, exits.spine[places], places)
        whole[exits.spine[places]] = False
        reached = np.arange(len(certain)) <= last[exits.spine]
        exits, certain = exits.only(reached), certain[reached]
        bit = np.where(certain, np.uint64(0), exits.bit)
    bits = np.zeros((len(bit), front.must.shape[1]), dtype=np.uint64)
    bits[np.arange(len(bit)), exits.word] = bit
    before, in_all = _sums_along(bits, exits.spine, len(front.start))
    leaves = Reached(
        spines.end[front.start[whole]].astype(np.int64),
        front.tree[whole],
        front.must[whole] | in_all[whole],
        front.keep[whole],
    )
    return leaves, _Front(
        spines.off_spine[exits.node].astype(np.int64),
        front.tree[exits.spine],
        front.must[exits.spine] | before,
        front.keep[exits.spine] | bits,
    )


def _exits(growth: _TreeGrowth, front: _Front) -> _Exits:
    """Return the nodes at which the row may leave spines, each unit once on a spine."""
    spines = growth.spines
    lengths = spines.end[front.start] - front.start
    node, spine = stretches(front.start, lengths), np.repeat(np.arange(len(lengths)), lengths)
    feature = spines.trees.feature[node]
    active = np.flatnonzero(growth.unit_of[feature] != INACTIVE)
    node, feature = node[active], feature[active]
    leaves = spines.trees.goes_left(node, growth.present[feature]) != spines.absent_left[node]
    unit = growth.unit_of[feature[leaves]]
    exits = _Exits(node[leaves], spine[active[leaves]], unit, growth.word_of[unit], growth.bit_of[unit])
    exits = exits.only(front.must[exits.spine, exits.word] & exits.bit == 0)
    if not growth.may_repeat:
        return exits
    # At its first node of a spine a unit is removed, or the row has left: later nodes see it removed.
    _, first = np.unique(exits.spine * len(growth.word_of) + exits.unit, return_index=True)
    if len(first) == len(exits.unit):
        return exits
    is_first = np.zeros(len(exits.unit), dtype=bool)
    is_first[first] = True
    return exits.only(is_first)


def _sums_along(bits: Words, spine: IntArray, n_spines: int) -> tuple[Words, Words]:
    """Return the bits of all exits before each exit of a spine, and those of all exits of each spine.

    The units of a spine's exits differ, so that adding up their bits joins them.
    """
    so_far = np.cumsum(bits, axis=0, dtype=np.uint64)
    counts = np.bincount(spine, minlength=n_spines)
    first = np.cumsum(counts) - counts
    padded = np.concatenate([np.zeros((1, bits.shape[1]), dtype=np.uint64), so_far])
    return so_far - bits - padded[first[spine]], padded[first + counts] - padded[first]
