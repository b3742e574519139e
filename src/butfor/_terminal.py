"""Errors, warnings and tables in a terminal, as all commands print them."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

BAD_INPUT = 2
"""The exit code of a command whose input was bad."""


def print_error(message: str) -> None:
    """Print an error to standard error; its text is printed as it is, without markup."""
    _print_to_stderr(("error: ", "bold red"), message)


def print_warning(message: str) -> None:
    """Print a warning to standard error; its text is printed as it is, without markup."""
    _print_to_stderr(("warning: ", "bold yellow"), message)


def _print_to_stderr(head: tuple[str, str], message: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(head, message), soft_wrap=True)


def table_console() -> "Console":
    """Return a console for tables: as wide as the terminal, or 200 columns if output goes to a file."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False)
