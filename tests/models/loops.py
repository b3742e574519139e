"""Which loops are used: compiled ones, or those of numpy."""

from contextlib import contextmanager

import pytest

from butfor.models import kernels


@contextmanager
def loops(which):
    """Have loops "compiled" or "plain" until the end of the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUTFOR_COMPILED", "1" if which == "compiled" else "0")
        kernels.cache_clear()
        assert (kernels("trees") is None) == (which == "plain")
        try:
            yield
        finally:
            kernels.cache_clear()
