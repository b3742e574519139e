"""What can go wrong, in four classes.

Outcomes are data (`Explanation.status`); only bad input and broken models or searches raise.
"""


class ButforError(Exception):
    """Anything that butfor raises on purpose."""


class InputError(ButforError, ValueError):
    """An argument is not what it must be: a row, a limit, a name, a model that cannot be explained."""


class ModelError(ButforError, RuntimeError):
    """The user's model raised, or returned something that is not one finite score a row."""


class SearchError(ButforError, RuntimeError):
    """A search broke its contract: it named a feature that is not there, or proved too much."""


def storable(text: str) -> str:
    """Replace what no encoding has: any file can hold what is said then."""
    return text.encode("utf-8", "replace").decode("utf-8")
