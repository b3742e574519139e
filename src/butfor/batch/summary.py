"""The summary of a run: as an object, as JSON, and as a short text."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from butfor._render.words import printable
from butfor.batch.chunks import Failed
from butfor.batch.folder import Folder
from butfor.batch.statistics import Statistics

SUMMARY = "_summary.json"
SHOWN = 5
"""Number of slow rows, lost files and failed chunks that are listed one by one."""


@dataclass(frozen=True)
class Summary:
    """The result of `run_batch`, including the rows of earlier runs into the same folder.

    `print` it to see a short report. `is_complete` and `is_clean` say whether all rows are done.

    Attributes
    ----------
    out : str
        The folder that was written to.
    n_rows : int
        Number of rows of the data.
    n_chunks : int
        Number of chunks that the rows were cut into.
    statistics : Statistics
        Counts of all rows whose outcome is on storage by now.
    n_earlier : int
        Number of rows that earlier runs had done, and that were not tried again.
    n_retried : int
        Number of rows that had an error and were tried again.
    seconds : float
        Duration of this run.
    failed : tuple
        The chunks that have no part, each with the stage and the reason. The next run tries them again.
    cannot_write : bool
        Whether the run stopped because several chunks in a row could not be written.
    lost : tuple of str
        A message for each file that was written and is missing or damaged now, or does not belong there.
    """

    out: str
    n_rows: int
    n_chunks: int
    statistics: Statistics
    n_earlier: int
    seconds: float = 0.0
    failed: tuple[Failed, ...] = ()
    cannot_write: bool = False
    lost: tuple[str, ...] = ()
    n_retried: int = 0

    @property
    def n_errors(self) -> int:
        """Number of rows whose outcome is an error."""
        return self.statistics.statuses.get("error", 0)

    @property
    def is_complete(self) -> bool:
        """Whether every row has an outcome (an explanation or an error) or was left out."""
        return self.statistics.n_rows == self.n_rows and not self.lost

    @property
    def is_clean(self) -> bool:
        """Whether every row has an outcome and none is an error."""
        return self.is_complete and not self.n_errors

    @property
    def rows_per_second(self) -> float:
        """Number of rows that this run explained per second."""
        return (self.statistics.n_rows - self.n_earlier) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: value for name, value in vars(self).items() if name not in ("failed", "statistics")}
        slowest = [{"id": each, "seconds": seconds} for seconds, each in self.statistics.slowest]
        failed = [
            {
                "chunk": each.chunk.number,
                "rows": each.chunk.n_rows,
                "stage": each.stage,
                "reason": each.reason,
            }
            for each in self.failed
        ]
        return {
            **asdict(self.statistics),
            **values,
            "n_done": self.statistics.n_rows,
            "seconds_of_rows": self.statistics.seconds,
            "sizes": dict(sorted(self.statistics.sizes.items())),
            "slowest": slowest,
            "rows_per_second": self.rows_per_second,
            "failed": failed,
        }

    def write(self, folder: Folder) -> None:
        """Write the summary into the folder as JSON."""
        folder.write(
            SUMMARY,
            (json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n").encode(
                errors="backslashreplace"
            ),
        )

    def __str__(self) -> str:
        # What ids and messages hold, such as ends of lines, must not look like a line of its own.
        return "\n".join(map(printable, self._lines()))

    def _lines(self) -> Iterator[str]:
        of = self.statistics
        yield f"{of.n_rows:,} of {self.n_rows:,} rows done: {self._outcomes()}"
        if of.n_found:
            quartiles = f"{of.size_at(0.25)} to {of.size_at(0.75)}"
            yield (
                f"size of the answers: median {of.size_at(0.5)}, half of them {quartiles}, largest "
                f"{of.size_at(1)}; {of.n_proven / of.n_found:.1%} proven smallest"
            )
        if of.n_contradicted:
            yield (
                f"survives_deletion: {of.n_contradicted:,} of {of.n_found:,} answers do not hold when the "
                "words are deleted from the text; --removal delete searches for such that do"
            )
        yield self._pace()
        if self.n_retried:
            yield f"tried again: {self.n_retried:,} rows that had an error"
        if self.n_errors:
            yield (
                f"errors: {self.n_errors:,} rows, with the reasons in the column error; --retry errors tries "
                "them again"
            )
        if of.slowest:
            slow = ", ".join(f"{each} ({seconds:.3g} s)" for seconds, each in of.slowest[:SHOWN])
            yield f"slowest rows: {slow}"
        yield from self._failures()
        yield f"output: {self.out}"

    def _outcomes(self) -> str:
        counted = [f"{count:,} {status}" for status, count in sorted(self.statistics.statuses.items())]
        if self.statistics.n_left_out:
            counted.append(f"{self.statistics.n_left_out:,} negative and left out")
        return ", ".join(counted) or "none"

    def _pace(self) -> str:
        n_new = self.statistics.n_rows - self.n_earlier
        if not n_new:
            return (
                "nothing was left to do: all of it is from earlier runs"
                if self.is_complete
                else "nothing new"
            )
        earlier = f"; {self.n_earlier:,} are from earlier runs" if self.n_earlier else ""
        return f"{n_new:,} rows in {self.seconds:,.1f} s, {self.rows_per_second:,.0f} a second{earlier}"

    def _failures(self) -> Iterator[str]:
        for lost in self.lost[:SHOWN]:
            yield f"lost: {lost}"
        if len(self.lost) > SHOWN:
            yield f"lost: {len(self.lost) - SHOWN:,} more files; butfor batch --check {self.out} names them"
        for failed in self.failed[:SHOWN]:
            yield (
                f"failed: chunk {failed.chunk.number} of {failed.chunk.n_rows:,} rows could not be "
                f"{_PAST[failed.stage]}: {failed.reason}"
            )
        if len(self.failed) > SHOWN:
            yield f"failed: {len(self.failed) - SHOWN:,} more chunks; all are in {SUMMARY}"
        if self.cannot_write:
            yield "stopped: one chunk after the other could not be written"
        if not self.is_complete:
            yield "The same command does what is missing, and nothing twice."


_PAST = {"read": "read", "explain": "explained", "write": "written"}
