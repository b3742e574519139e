"""Errors and warnings of commands. Nothing here takes long to import."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from butfor._terminal import BAD_INPUT, print_error, print_warning
from butfor.errors import ButforError, error_text


@contextmanager
def bad_input() -> Iterator[None]:
    """Print what is wrong with the input, without a traceback, and exit."""
    try:
        yield
    except ButforError as error:
        print_failure(error)
        raise typer.Exit(BAD_INPUT) from error
    except Exception as error:
        from butfor._files.inputs.storage import is_of_client

        if not is_of_client(error):
            raise
        print_failure(ButforError(f"storage: {error_text(error)}"))
        raise typer.Exit(BAD_INPUT) from error


def print_failure(error: ButforError, label: str = "") -> None:
    """Print an error, with the label of its row; control characters in it are escaped."""
    from butfor._render.words import printable

    print_error(printable(f"{label}: {error}" if label else str(error)))


def print_unknown(warning: str) -> None:
    """Print a warning; control characters in it are escaped."""
    from butfor._render.words import printable

    print_warning(printable(warning))
