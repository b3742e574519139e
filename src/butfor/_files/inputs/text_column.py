"""Which column holds texts, not numbers, and what is wrong with a row that has none."""

from collections.abc import Iterator, Sequence

from butfor.errors import InputError

Cell = str | InputError
"""A text, or what is wrong with it; the other rows are not lost."""


def chosen_text_column(column: str | None, names: Sequence[str], with_texts: Sequence[str]) -> str:
    """Choose the column: the one that the user named, or the only one that holds texts."""
    known = ", ".join(map(repr, names)) or "none"
    if column is None:
        if len(with_texts) != 1:
            raise InputError(
                f"--text-column must name the column of DATA that holds the texts, got no name where "
                f"{len(with_texts)} do. Its columns are {known}."
            )
        (column,) = with_texts
    if names.count(column) != 1:
        raise InputError(f"--text-column must name one column of DATA ({known}), got {column!r}.")
    return column


def columns_with_texts(
    names: Sequence[str], rows: Sequence[Sequence[str]], besides: str | None = None
) -> list[str]:
    """Return the columns of a CSV file that hold texts in its first rows, besides the column of ids."""
    return [name for i, name in enumerate(names) if name != besides and any(map(_is_text, _cells(rows, i)))]


def reads_as_number(cell: str) -> bool:
    """Return whether a cell can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def missing_text(name: str) -> InputError:
    """Return the error of a row that has no text."""
    return InputError(f"the row must have a text in the column {name!r}, got none.")


def _cells(rows: Sequence[Sequence[str]], place: int) -> Iterator[str]:
    return (cells[place] for cells in rows if place < len(cells))


def _is_text(cell: str) -> bool:
    """Return whether a cell is a text, not a number or nothing."""
    return bool(cell) and not reads_as_number(cell)
