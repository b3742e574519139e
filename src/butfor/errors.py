"""The exceptions of butfor, and helpers for their messages.

Outcomes of a search are data (`Explanation.status`); only bad input and broken models or searches raise.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class ButforError(Exception):
    """The base of all errors that butfor raises on purpose.

    Examples
    --------
    >>> from butfor import Budget
    >>> try:
    ...     Budget(max_seconds=0)
    ... except ButforError as error:
    ...     print(error)
    max_seconds must be a positive number of seconds, got 0.
    """


class InputError(ButforError, ValueError):
    """An argument is wrong: a row, a limit, a name, or a model that cannot be explained.

    The message names the argument, what was expected, what was passed, and often what to do.

    Examples
    --------
    >>> from butfor import Budget
    >>> Budget(max_size=0)
    Traceback (most recent call last):
    butfor.errors.InputError: max_size must be a whole number of at least 1, got 0.
    """


class ModelError(ButforError, RuntimeError):
    """The user's model raised an exception, or did not return one finite score for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> def model(rows):
    ...     return np.full(rows.shape[0], np.nan)
    >>> Explainer(model, threshold=0.5).explain(np.array([[1, 1]]))
    Traceback (most recent call last):
    butfor.errors.ModelError: model must return finite scores, got nan for 1 of 1 rows. Clip or mend ...
    """


class VaryingScoresError(ModelError):
    """The user's model gave the same row two scores, or two decisions, though no noise was declared.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> calls = iter(range(100))
    >>> def model(rows):
    ...     return rows.sum(axis=1) + next(calls)
    >>> Explainer(model, threshold=0.5).explain(np.array([[1, 1]]))
    Traceback (most recent call last):
    butfor.errors.VaryingScoresError: model must give the same row the same score, got 2 and then ...
    """


class SearchError(ButforError, RuntimeError):
    """A search broke its contract: it removed a unit that does not exist, or proved too much.

    Examples
    --------
    >>> import numpy as np
    >>> from butfor import Explainer
    >>> def search(local, budget, seed):
    ...     yield "the first feature"
    >>> def model(rows):
    ...     return rows.sum(axis=1)
    >>> Explainer(model, threshold=0.5, search=search).explain(np.array([[1, 1]]))
    Traceback (most recent call last):
    butfor.errors.SearchError: a search must yield Finding objects, got 'the first feature'.
    """


class UnknownNameWarning(UserWarning):
    """A name that a user passed is unknown to the model; it may be a typing error."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the most similar known name; empty if none is similar.

    >>> nearest("refnd", ["refund", "round"]), nearest("xyz", ["refund"])
    (", perhaps 'refund' is meant", '')
    """
    alike = [each for each in known if abs(len(each) - len(name)) <= 2 and each[:1] == name[:1]]
    found = get_close_matches(name, alike, n=1, cutoff=0.75)
    return f", perhaps {found[0]!r} is meant" if found else ""


def storable(text: str) -> str:
    """Replace lone surrogates, so that the text can be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


LONG = 20
"""Characters of a user's text that a message may quote, at most."""
_QUOTED = re.compile(rf"""(?P<quote>['"])(?P<start>.{{{LONG}}})[^'"]{{{LONG},}}(?P=quote)""", re.DOTALL)


def abridged(message: str, *, texts: Iterable[str] = (), at_most: int = 300) -> str:
    """Return a message cut to `at_most` characters, in which long quotations are cut too.

    A model's own message may quote a user's text or row. Long `texts` are replaced by an ellipsis.

    >>> abridged("could not convert string to float: 'Dear Sir, my card was declined twice, and now'")
    "could not convert string to float: 'Dear Sir, my card wa…'"
    """
    for text in texts:
        if len(text) > LONG:
            message = message.replace(text, "…").replace(repr(text)[1:-1], "…")
    message = _QUOTED.sub(r"\g<quote>\g<start>…\g<quote>", message)
    return message if len(message) <= at_most else f"{message[:at_most]}…"


def error_text(error: BaseException) -> str:
    """Return the kind of an exception and its message, which may be one of a model.

    >>> error_text(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    return f"{type(error).__name__}: {abridged(str(error))}"


def row_error(error: Exception) -> ButforError:
    """Return the error of a row that could not be explained, whatever was raised.

    >>> row_error(ZeroDivisionError("division by zero"))
    ModelError('explaining the row raised ZeroDivisionError: division by zero')
    """
    if isinstance(error, ButforError):
        return error
    failed = ModelError(f"explaining the row raised {error_text(error)}")
    failed.__cause__ = error
    return failed


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is, or comes of, a MemoryError.

    >>> ran_out_of_memory(row_error(MemoryError())), ran_out_of_memory(row_error(ValueError()))
    (True, False)
    """
    return isinstance(error, MemoryError) or (
        error.__cause__ is not None and ran_out_of_memory(error.__cause__)
    )


NAMES_SHOWN = 5
"""How many names of columns a message lists."""


def listed_names(names: Sequence[str]) -> str:
    """Return the first names, quoted, for a message.

    >>> listed_names(["age", "income"])
    "'age', 'income'"
    """
    return f"{', '.join(map(repr, names[:NAMES_SHOWN]))}{', …' if len(names) > NAMES_SHOWN else ''}"


def name_differences(got: Sequence[str], expected: Sequence[str]) -> str:
    """Return how the names of a table's columns differ from those of the model's, for a message.

    >>> name_differences(["age", "town"], ["age", "income"])
    "lacks 'income' and has besides 'town'"
    """
    here, known = set(got), set(expected)
    missing = [name for name in expected if name not in here]
    unknown = [name for name in got if name not in known]
    problems = [
        f"{what} {listed_names(some)}"
        for what, some in (("lacks", missing), ("has besides", unknown))
        if some
    ]
    return " and ".join(problems or ["has some of them more than once"])
