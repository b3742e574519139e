"""The leaves that a row can reach: each removal set reaches exactly one in each tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import n_examples
from random_trees import all_sets, random_trees

from butfor.models.formula.trees import growing
from butfor.models.formula.trees.growing import INACTIVE, STAYS, TooManyLeaves, reach
from butfor.models.formula.trees.local_leaves import as_bits
from butfor.models.formula.trees.spines import Spines

pytestmark = pytest.mark.usefixtures("both_loops")


def random_question(rng, n_units=6):
    """Return spines, and units, values and the sort of each feature: a unit may be several features."""
    n_features = int(rng.integers(2, 9))
    trees = random_trees(rng, n_features)
    absent = np.array([rng.choice([0.0, np.nan])])
    unit_of = rng.choice([INACTIVE, STAYS, *range(n_units)], n_features)
    present = np.where(unit_of == INACTIVE, 0.0, rng.choice([1.0, -1.0, 2.7, 0.1], n_features))
    return Spines.of(trees, absent), unit_of, present, absent[0]


def walk(trees, root, values):
    node = int(root)
    while trees.feature[node] >= 0:
        goes_left = trees.goes_left(np.array([node]), values[[trees.feature[node]]])[0]
        node = int((trees.left if goes_left else trees.right)[node])
    return node


@n_examples(200)
@given(seed=st.integers(0, 2**32 - 1))
def test_each_removal_set_reaches_one_leaf_of_each_tree(seed):
    spines, unit_of, present, absent = random_question(np.random.default_rng(seed))
    reached = reach(spines, unit_of, present, 6)
    must, keep = as_bits(reached.must, 6), as_bits(reached.keep, 6)
    assert not (must & keep).any()
    assert (np.diff(reached.tree) >= 0).all()
    sets = all_sets(6)
    fits = ~(must[np.newaxis] & ~sets[:, np.newaxis]).any(axis=2)
    fits &= ~(keep[np.newaxis] & sets[:, np.newaxis]).any(axis=2)
    assert fits.any(axis=0).all()  # no leaf that nothing reaches
    for removed, leaves in zip(sets[::3], fits[::3], strict=True):
        is_gone = (unit_of == INACTIVE) | ((unit_of >= 0) & removed[unit_of])
        values = np.where(is_gone, absent, present)
        expected = [walk(spines.trees, root, values) for root in spines.trees.roots]
        assert list(reached.node[leaves]) == expected
        assert list(reached.tree[leaves]) == list(range(len(expected)))


def test_a_row_without_active_features_reaches_the_ends_of_its_spines():
    spines, unit_of, present, _ = random_question(np.random.default_rng(0))
    reached = reach(spines, np.full_like(unit_of, INACTIVE), present, 0)
    np.testing.assert_array_equal(reached.node, spines.end[spines.trees.roots])
    assert reached.must.shape == (len(reached.node), 1)
    assert not (reached.must | reached.keep).any()


def test_there_may_be_more_units_than_features():
    """A selection drops features, whose units are counted all the same."""
    spines, _, present, absent = random_question(np.random.default_rng(5))
    n_features = len(present)
    for last in (7, 63, 64, 500):
        unit_of = last - np.arange(n_features)
        reached = reach(spines, unit_of, present, last + 1)
        must, keep = as_bits(reached.must, last + 1), as_bits(reached.keep, last + 1)
        for kept in all_sets(n_features)[:40]:
            gone = np.zeros(last + 1, dtype=bool)
            gone[unit_of] = ~kept
            fits = ~(must & ~gone).any(axis=1) & ~(keep & gone).any(axis=1)
            values = np.where(kept, present, absent)
            assert list(reached.node[fits]) == [
                walk(spines.trees, root, values) for root in spines.trees.roots
            ]


def test_the_number_of_leaves_is_limited(monkeypatch):
    rng = np.random.default_rng(0)
    trees = random_trees(rng, 40, n_trees=30, depth=8, plain=True)
    spines = Spines.of(trees, np.zeros(1))
    units, present = np.arange(40), np.full(40, 7.0)
    n_leaves = len(reach(spines, units, present, 40).node)
    assert n_leaves > 300
    monkeypatch.setattr(growing, "MAX_WORDS", n_leaves)
    reach(spines, units, present, 40)
    monkeypatch.setattr(growing, "MAX_WORDS", n_leaves - 1)
    with pytest.raises(TooManyLeaves):
        reach(spines, units, present, 40)
