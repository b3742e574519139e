"""What the commands of the command line share: an error in red, and a console for tables."""

import sys

from rich.console import Console
from rich.text import Text

BAD_INPUT = 2
"""How a command ends whose input was bad."""


def print_error(message: str) -> None:
    """Print an error where errors belong, whatever is in its text."""
    _print_beside(("error: ", "bold red"), message)


def print_warning(message: str) -> None:
    """Print a warning there, too."""
    _print_beside(("warning: ", "bold yellow"), message)


def _print_beside(head: tuple[str, str], message: str) -> None:
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(head, message), soft_wrap=True)


def table_console() -> Console:
    """Make a console for tables: as wide as the terminal, or wide enough for any in a file."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False)
