from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from butfor.rankings.sampling import random_sets


@given(st.lists(st.integers(0, 12), min_size=1, max_size=50), st.integers(0, 100))
def test_every_set_has_its_size(sizes, seed):
    sets = random_sets(np.array(sizes), 12, np.random.default_rng(seed))
    assert sets.sum(axis=1).tolist() == sizes


def test_all_sets_of_a_size_are_equally_likely():
    n = 20_000
    sets = random_sets(np.full(n, 2), 5, np.random.default_rng(0))
    counts = Counter(tuple(map(int, np.flatnonzero(each))) for each in sets)
    assert set(counts) == set(combinations(range(5), 2))
    expected = n / len(counts)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 27.9  # 9 degrees of freedom, 0.1 %
