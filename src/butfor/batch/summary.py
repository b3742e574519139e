"""How a run went: as an object, as JSON, and in a few lines for people."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from butfor.batch.chunks import Failed
from butfor.batch.folder import Folder
from butfor.batch.statistics import Statistics

SUMMARY = "_summary.json"
SHOWN = 5
"""Slow rows and failed chunks that are told of one by one."""


@dataclass(frozen=True)
class Summary:
    """How a run went, with what earlier runs into the same folder had done."""

    out: str
    n_rows: int
    """Rows of the data."""
    n_chunks: int
    statistics: Statistics
    """Of all rows that have an outcome on storage by now."""
    n_earlier: int
    """Rows that were done by earlier runs."""
    seconds: float = 0.0
    """How long this run took."""
    failed: tuple[Failed, ...] = ()
    cannot_write: bool = False
    """Whether the run stopped as one chunk after the other could not be written."""
    lost: tuple[str, ...] = ()
    """What was written and is not on storage as it was written, and what else is there; file by file."""

    @property
    def n_errors(self) -> int:
        """How many rows have an error for an outcome."""
        return self.statistics.statuses.get("error", 0)

    @property
    def is_complete(self) -> bool:
        """Whether every row has an outcome, be it an error, or was left out."""
        return self.statistics.n_rows == self.n_rows and not self.lost

    @property
    def is_clean(self) -> bool:
        """Whether every row has an outcome that is no error."""
        return self.is_complete and not self.n_errors

    @property
    def rows_per_second(self) -> float:
        """How fast this run was."""
        return (self.statistics.n_rows - self.n_earlier) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
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
        """Write it into the folder."""
        folder.write(
            SUMMARY,
            (json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n").encode(
                errors="backslashreplace"
            ),
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

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
            yield "stopped: one chunk after the other could not be written; is the disk full?"
        if not self.is_complete:
            yield "The same command does what is missing, and nothing twice."


_PAST = {"read": "read", "explain": "explained", "write": "written"}
