"""No minorant of a model behind a norm lies above it anywhere, and no flipping set is ever lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from normed_problems import ROW_MODELS, TEXT_MODELS, follow_norms, problem
from profiles import n_examples

from butfor.models.bounds.ratios import root_line

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", TEXT_MODELS | ROW_MODELS)
@n_examples(40)
@given(seed=SEEDS)
def test_lines_below_ratios(name, seed):
    each = problem(name, seed)
    if each is not None:
        follow_norms(each, seed)


@n_examples(100)
@given(factor=st.floats(-5, 5), ends=st.tuples(st.floats(0, 50), st.floats(0, 50)), at=st.floats(0, 50))
def test_a_line_lies_below_the_root(factor, ends, at):
    low, high = sorted(ends)
    offset, slope = root_line(factor, at, low, high)
    q = np.linspace(low, high, 40)
    assert (offset + slope * q <= factor * np.sqrt(q) + 1e-9 * (1 + abs(factor) * (1 + high))).all()
