"""Which loops over trees are used: compiled ones, or those of numpy."""

from contextlib import contextmanager

import pytest

from butfor.models import tree_kernels


@contextmanager
def loops(which):
    """Have loops "compiled" or "plain" until the end of the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUTFOR_COMPILED", "1" if which == "compiled" else "0")
        tree_kernels.cache_clear()
        assert (tree_kernels() is None) == (which == "plain")
        try:
            yield
        finally:
            tree_kernels.cache_clear()
