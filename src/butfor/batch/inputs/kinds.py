"""Which kind of input it is."""

from collections.abc import Sequence

from butfor.batch.inputs.base import Columns, Input


def open_input(
    data: Sequence[str],
    columns: Columns | None = None,
    *,
    takes_texts: bool,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
) -> Input:
    """Find out what the files hold."""
    raise NotImplementedError
