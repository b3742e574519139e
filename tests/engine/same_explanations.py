"""Compare explanations of the same rows that were computed in two ways."""

from dataclasses import replace

import numpy as np

from butfor import Explanation

ROUNDED = ("score", "score_without", "path", "weights")


def assert_same(together, alone):
    """Compare all but the time; what is a sum of many terms may be rounded differently.

    A score at the very threshold is asked for once more where other rows were beside it.
    """
    assert len(together) == len(alone)
    for ours, theirs in zip(together, alone, strict=True):
        assert isinstance(ours, Explanation)
        for name in ROUNDED:
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12)
        same = {name: getattr(theirs, name) for name in (*ROUNDED, "seconds", "n_asked")}
        assert replace(ours, **same) == theirs
