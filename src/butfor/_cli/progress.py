"""How far a batch is: a bar in a terminal, else a line from time to time, or JSON lines."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer

from butfor.errors import InputError

if TYPE_CHECKING:
    from butfor.batch.events import BatchEvent

WAYS = ("bar", "lines", "json", "none")
FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Seconds until the first line, and between lines: a log of a night has some thousand at most."""

Show = Callable[["BatchEvent"], None]


@contextmanager
def shown(way: str | None) -> Iterator[Show]:
    """Show progress on stderr in one of the ways; by default a bar in a terminal, and lines elsewhere."""
    if way is not None and way not in WAYS:
        raise InputError(f"--progress must be one of {', '.join(WAYS)}, got {way!r}.")
    from rich.console import Console

    if way is None:
        way = "bar" if Console(stderr=True).is_terminal else "lines"
    if way == "bar":
        with _bar() as show:
            yield show
    else:
        yield {"lines": Lines().show, "json": Lines(as_json=True).show, "none": lambda event: None}[way]


def _print(line: str) -> None:
    typer.echo(line, err=True)


@dataclass
class Lines:
    """Prints lines at a pace that a log can take."""

    as_json: bool = False
    """Whether every line is a JSON object; then events other than explained rows are printed at once."""
    clock: Callable[[], float] = time.monotonic
    write: Callable[[str], None] = _print

    def __post_init__(self) -> None:
        self._due = self.clock() + FIRST_LINE
        self._has_printed = False
        self._n_before: int | None = None

    def show(self, event: "BatchEvent") -> None:
        """Print an event, if it is time."""
        if self._n_before is None:
            self._n_before = event.n_done  # what earlier runs have done says nothing of the pace
        if self.as_json:
            if event.kind != "rows" or self._is_due():
                self.write(json.dumps(asdict(event)))
        elif self._is_due() or (event.kind == "ended" and self._has_printed):
            self._has_printed = True
            self.write(_in_words(event, self._n_before))

    def _is_due(self) -> bool:
        now = self.clock()
        if now < self._due:
            return False
        self._due = now + NEXT_LINE
        return True


def _in_words(event: "BatchEvent", n_before: int) -> str:
    """Return a line: what is done, how fast it goes, and how long it will still take."""
    n_new, n_left = event.n_done - n_before, event.n_rows - event.n_done
    line = f"{event.n_done:,} of {event.n_rows:,} rows after {event.seconds:,.0f} s"
    if n_new > 0 and event.seconds > 0:
        line += f", {n_new / event.seconds:,.0f} a second"
        line += f", {n_left * event.seconds / n_new:,.0f} s left" * (n_left > 0)
    return line + f", {event.n_errors:,} errors" * (event.n_errors > 0)


@contextmanager
def _bar() -> Iterator[Show]:
    """Show in a terminal how many rows are done, how fast it goes and how long it will still take."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, {task.fields[pace]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=120) as bars:
        task = bars.add_task("", total=None, pace="")

        def show(event: "BatchEvent") -> None:
            speed = bars.tasks[0].speed
            pace = "" if speed is None else f"{speed:,.0f} a second"
            bars.update(task, completed=event.n_done, total=event.n_rows, pace=pace)

        yield show
