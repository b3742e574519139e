"""How many cores a batch needs: `python -m benchmarks.sizing`, by the speeds in build/rows.json."""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

ROWS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
CORES = (2, 16, 64, 1_000)
UNITS = (("s", 60), ("min", 60), ("h", 48))
"""Units of time, and the amount from which on the next larger unit is easier to read."""


@dataclass(frozen=True)
class Rate:
    """Rows per second of one core, measured while all processes work."""

    data: str
    model: str
    processes: int
    rows_per_second: float

    @property
    def title(self) -> str:
        """The model and the data, as a cell of the table."""
        return f"{self.model}, {self.data}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=Path, default=Path("build/rows.json"))
    options = parser.parse_args()
    print("\n".join(sizing_table(rates_of(json.loads(options.rates.read_text())["lines"]))))


def rates_of(speeds: Sequence[dict[str, Any]]) -> list[Rate]:
    """Return the rate of each model, from its run with the most processes.

    >>> speed = {"data": "visits", "model": "linear", "processes": 1, "rows_per_second": 900.0}
    >>> rates_of([speed, {**speed, "processes": 2, "rows_per_second": 1600.0}])
    [Rate(data='visits', model='linear', processes=2, rows_per_second=800.0)]
    """
    rates: dict[tuple[str, str], Rate] = {}
    for speed in sorted(speeds, key=lambda speed: int(speed["processes"])):
        n, of_all = int(speed["processes"]), float(speed["rows_per_second"])
        rates[speed["data"], speed["model"]] = Rate(speed["data"], speed["model"], n, of_all / n)
    return list(rates.values())


def sizing_table(rates: Sequence[Rate]) -> Iterator[str]:
    """Yield the lines of a Markdown table: the cores for an hour, and the time on some numbers of cores.

    >>> print("\\n".join(sizing_table([Rate("visits", "linear", 2, 10_000)])))
    | model and data | rows/s a core | rows | cores for one hour | on 2 cores | on 16 | on 64 | on 1,000 |
    |---|---:|---:|---:|---:|---:|---:|---:|
    | linear, visits | 10,000 | 1,000,000 | 1 | 50 s | 6.2 s | 1.6 s | 0.1 s |
    | linear, visits | 10,000 | 10,000,000 | 1 | 8.3 min | 1.0 min | 16 s | 1.0 s |
    | linear, visits | 10,000 | 100,000,000 | 3 | 1.4 h | 10 min | 2.6 min | 10 s |
    | linear, visits | 10,000 | 1,000,000,000 | 28 | 14 h | 1.7 h | 26 min | 1.7 min |
    """
    yield (
        "| model and data | rows/s a core | rows | cores for one hour "
        f"| on {CORES[0]} cores | " + " | ".join(f"on {cores:,}" for cores in CORES[1:]) + " |"
    )
    yield "|---|" + "---:|" * (3 + len(CORES))
    for rate in rates:
        for n_rows in ROWS:
            seconds = n_rows / rate.rows_per_second
            times = " | ".join(duration(seconds / cores) for cores in CORES)
            cells = f"{rate.title} | {rate.rows_per_second:,.0f} | {n_rows:,} | {ceil(seconds / 3600):,}"
            yield f"| {cells} | {times} |"


def duration(seconds: float) -> str:
    """Return a time as text, in the unit that is easiest to read.

    >>> [duration(seconds) for seconds in (0.04, 59, 59.96, 600, 7_200, 200_000)]
    ['under 0.1 s', '59 s', '1.0 min', '10 min', '2.0 h', '2.3 days']
    """
    if seconds < 0.05:
        return "under 0.1 s"
    amount = seconds
    for unit, enough in UNITS:
        if round(amount, 1) < enough:
            return _short(amount, unit)
        amount /= 24 if unit == "h" else enough
    return _short(amount, "days")


def _short(amount: float, unit: str) -> str:
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"


if __name__ == "__main__":
    main()
