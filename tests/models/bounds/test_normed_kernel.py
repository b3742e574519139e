"""No minorant of kernels behind a norm lies above their sum anywhere, and no flipping set is ever lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from normed_problems import KERNELS, follow_norms, problem
from profiles import n_examples

from butfor.models.bounds.normed_kernel import NormedKernelRegion


@pytest.mark.parametrize("name", KERNELS)
@n_examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_parabolas_below_kernels_of_ratios(name, seed):
    each = problem(name, seed)
    if each is not None:
        assert isinstance(each.region, NormedKernelRegion)
        follow_norms(each, seed)
