"""What can go wrong, in four classes, and how it is said.

Outcomes are data (`Explanation.status`); only bad input and broken models or searches raise.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches


class ButforError(Exception):
    """Anything that butfor raises on purpose."""


class InputError(ButforError, ValueError):
    """An argument is not what it must be: a row, a limit, a name, a model that cannot be explained."""


class ModelError(ButforError, RuntimeError):
    """The user's model raised, or returned something that is not one finite score a row."""


class SearchError(ButforError, RuntimeError):
    """A search broke its contract: it named a feature that is not there, or proved too much."""


class UnknownNameWarning(UserWarning):
    """A name that users give means nothing to the model: perhaps a typing error."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known name that is most like this one; empty where none is.

    >>> nearest("refnd", ["refund", "round"]), nearest("xyz", ["refund"])
    (", perhaps 'refund' is meant", '')
    """
    alike = [each for each in known if abs(len(each) - len(name)) <= 2 and each[:1] == name[:1]]
    found = get_close_matches(name, alike, n=1, cutoff=0.75)
    return f", perhaps {found[0]!r} is meant" if found else ""


def storable(text: str) -> str:
    """Replace what no encoding has: any file can hold what is said then."""
    return text.encode("utf-8", "replace").decode("utf-8")


LONG = 20
"""Characters of a user's text that a message may quote."""
_QUOTED = re.compile(rf"""(?P<quote>['"])(?P<start>.{{{LONG}}})[^'"]{{{LONG},}}(?P=quote)""", re.DOTALL)


def abridged(message: str, *, texts: Iterable[str] = (), at_most: int = 300) -> str:
    """Return a message in which long quotations, and all of it, are cut: it may quote a user's text or row.

    Of the `texts` that were asked about, none is quoted.

    >>> abridged("could not convert string to float: 'Dear Sir, my card was declined twice, and now'")
    "could not convert string to float: 'Dear Sir, my card wa…'"
    """
    for text in texts:
        if len(text) > LONG:
            message = message.replace(text, "…").replace(repr(text)[1:-1], "…")
    message = _QUOTED.sub(r"\g<quote>\g<start>…\g<quote>", message)
    return message if len(message) <= at_most else f"{message[:at_most]}…"
