"""What the server logs: events with fields, a line each, as text or as JSON.

Fields are numbers, names of routes and of causes. Texts, names of features and messages of exceptions, which
may hold them, are never logged.
"""

import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

LogFormat = Literal["text", "json"]
log = logging.getLogger("butfor._web")


def log_event(level: int, event: str, **fields: Any) -> None:
    """Log what happened; fields that are None are left out."""
    log.log(level, event, extra={"fields": {name: each for name, each in fields.items() if each is not None}})


@contextmanager
def logging_to(stream: TextIO, form: LogFormat = "text", *, quiet: bool = False) -> Iterator[None]:
    """Write what is logged to a stream for as long as the context lasts; if quiet, only what goes wrong."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLogFormatter() if form == "json" else TextLogFormatter())
    root, level = logging.getLogger(), log.level
    root.addHandler(handler)
    log.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        log.setLevel(level)


class JsonLogFormatter(logging.Formatter):
    """Formats a record as a JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(_described(record))


class TextLogFormatter(logging.Formatter):
    """Formats a record as time, level, event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = _described(record)
        begin = [told.pop(name) for name in ("time", "level", "event")]
        return " ".join([*begin, *(f"{name}={_quoted(value)}" for name, value in told.items())])


def _described(record: logging.LogRecord) -> dict[str, Any]:
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    told = {
        "time": time.replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "event": record.getMessage(),
        **getattr(record, "fields", {}),
    }
    error = record.exc_info[1] if record.exc_info else None
    return told if error is None else {**told, "error": type(error).__name__, "at": place_of(error)}


def _quoted(value: Any) -> str:
    r"""Return a value of a line of text, in quotes where that is needed to read it.

    >>> _quoted(3), _quoted("POST"), _quoted('a "b"')
    ('3', 'POST', '"a \\"b\\""')
    """
    text = str(value)
    return text if text and not set(text) & set(' "=\n\r\t') else json.dumps(text)


def place_of(error: BaseException) -> str:
    """Return the file and line where an error was raised; of butfor, if it went through that."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "butfor" in frame.filename] or frames
    return f"{own[-1].filename.rpartition('butfor')[2].lstrip('/')}:{own[-1].lineno}" if own else "?"
