import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from toys import set_function

from butfor import Explainer
from butfor.searches.shared.shrink import shrink
from butfor.verify import is_irreducible


@given(m=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_what_is_left_is_irreducible(m, seed):
    table = np.random.default_rng(seed).normal(size=2**m)
    table[0], table[-1] = -1.0, 1.0  # removing everything flips
    score = set_function(table)
    local = Explainer(score, threshold=0.0).local_model(np.ones(m))
    left = shrink(local, tuple(range(m)))
    assert is_irreducible(score, np.ones(m), left, threshold=0.0)


def test_a_large_set_is_cut_feature_by_feature():
    local = Explainer(lambda X: X[:, :3].sum(axis=1), threshold=2.5).local_model(np.ones(25))
    assert shrink(local, tuple(range(25))) == (0,)
    assert local.n_scored < 1_500
