"""Tables with a column for each feature: their columns are matched with the model's, as a frame's are."""

from collections.abc import Sequence

from butfor._files.inputs.base import ModelNeeds
from butfor.errors import InputError, listed_names, name_differences


def besides_ids(header: Sequence[str], needs: ModelNeeds) -> Sequence[str | None]:
    """Return the columns that hold no ids whatever their names are: the features, if they are known."""
    if needs.names is not None:
        return needs.names
    return header if len(header) == needs.n_features else ()


def features_of_header(
    path: str, header: Sequence[str], id: str | None, needs: ModelNeeds
) -> tuple[str, ...]:
    """Return the columns of features of a table, in the order of the model's.

    Where the model or the user names the features, the columns must have these names, in any order. Without
    names, the columns are taken in their order.

    >>> needs = ModelNeeds(takes_texts=False, n_features=2, names=("age", "income"))
    >>> features_of_header("x.csv", ["id", "income", "age"], "id", needs)
    ('age', 'income')
    """
    own = tuple(name for name in header if name != id)
    is_made_up = own == tuple(str(place) for place in range(len(own)))
    if needs.names is None or (is_made_up and set(own) != set(needs.names)):
        _require_count(path, own, needs)
        return own
    if len(own) == len(set(own)) == len(needs.names) and set(own) == set(needs.names):
        return needs.names
    raise _other_names(path, own, needs.names)


def _require_count(path: str, own: Sequence[str], needs: ModelNeeds) -> None:
    if needs.n_columns not in (None, len(own)):
        raise InputError(
            f"DATA must have {needs.n_columns:,} columns, as the model was fitted on, got {path} with "
            f"{len(own):,}: {listed_names(own)}. A column of ids is named with --id-column."
        )


def _other_names(path: str, own: Sequence[str], names: Sequence[str]) -> InputError:
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        return InputError(f"--names must differ where DATA has a column for each, got {twice!r} twice.")
    return InputError(
        f"DATA must have a column for each feature of the model, {len(names):,} by name, got {path}, which "
        f"{name_differences(own, names)}. Rename or remove columns; a column of ids is named with "
        "--id-column."
    )
