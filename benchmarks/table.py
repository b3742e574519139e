"""How long pages of very many rows take: `python -m benchmarks.table --rows 1_000_000`."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, timed
from butfor.batch.folder import Folder
from butfor.batch.manifest import Manifest
from butfor.batch.outputs import arrow, schema
from butfor.batch.parts import Origin, Part, part_name, sealed
from butfor.batch.statistics import Statistics
from butfor.web.desk import Desk
from butfor.web.given import Texts
from butfor.web.results import open_results
from butfor.web.table import FOUND, STATUSES, Query, Table

WORDS = 20_000
PART = 5_000
QUERIES = {
    "first page": Query(),
    "last page": Query(page=10**9),
    "by score": Query(sort="-score"),
    "by score, page 2": Query(sort="-score", page=2),
    "by size": Query(sort="-size"),
    "decision and size": Query(decision="spam", size=2),
    "a feature": Query(feature="word 17", sort="score"),
    "search (first)": Query(q="word 17 "),
    "search (another)": Query(q="word 4242 "),
    "search, page 2": Query(q="word 4242 ", page=2),
}


def main() -> None:
    """Make a table and the results of a batch of so many rows, and time what a page asks of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    before = memory()
    given, seconds = timed(texts, n_rows)
    print(f"\n{n_rows:,} texts\n\n| what | ms |\n|---|---:|")
    print(f"| make them up | {1000 * seconds:,.1f} |\n| (their memory, MiB) | {memory() - before:,} |")
    desk = live(given)
    times(desk)
    print(f"| (memory of all, MiB) | {memory() - before:,} |")
    del desk, given
    with tempfile.TemporaryDirectory() as folder:
        write_results(folder, n_rows)
        before = memory()
        results, seconds = timed(open_results, folder)
        print(f"\nresults of a batch, {n_rows:,} rows\n\n| what | ms |\n|---|---:|")
        print(f"| open | {1000 * seconds:,.1f} |\n| (memory, MiB) | {memory() - before:,} |")
        times(results)
        print(f"| one row | {1000 * timed(results.row, n_rows // 2)[1]:,.1f} |")


def texts(n_rows: int) -> Texts:
    """Make up texts of ten words."""
    rng = np.random.default_rng(0)
    return Texts(["".join(f"word {word} " for word in some) for some in draw(rng, n_rows, 10).tolist()])


def draw(rng: np.random.Generator, n_rows: int, n: int) -> Any:
    """Draw words, few of them often."""
    return (WORDS * rng.random((n_rows, n)) ** 3).astype(np.int32)


def live(given: Texts) -> Desk:
    """Make a desk of which all rows are explained."""
    rng, n_rows = np.random.default_rng(1), len(given)
    classes = ("ham", "spam")
    table = Table(given, classes)
    table.fill(0, columns(rng, n_rows))
    rows = np.repeat(np.arange(n_rows), 2)
    table._evidence.add_coded(rows, draw(rng, n_rows, 2).ravel(), [f"word {i}" for i in range(WORDS)])
    return Desk(
        name="a",
        title="A",
        kind="texts",
        classes=classes,
        threshold=0.5,
        unit=("word", "words"),
        given=given,
        table=table,
    )


def columns(rng: np.random.Generator, n_rows: int) -> dict[str, Any]:
    """Make up what is known of rows."""
    score = rng.random(n_rows)
    size = rng.integers(1, 8, n_rows)
    return {
        "score": score,
        "decision": (score >= 0.5).astype(np.int16),
        "status": np.where(rng.random(n_rows) < 0.9, FOUND, STATUSES.index("none")),
        "size": size,
        "lower_bound": size,
        "proven": rng.random(n_rows) < 0.9,
    }


def times(desk: Desk) -> None:
    """Print how long each page takes, and the summaries."""
    for name, query in QUERIES.items():
        print(f"| {name} | {1000 * timed(desk.rows, query)[1]:,.1f} |", flush=True)
    print(f"| summary | {1000 * timed(desk.summary)[1]:,.1f} |")
    print(f"| summary of a decision | {1000 * timed(desk.summary, 'spam')[1]:,.1f} |")


def write_results(folder: str, n_rows: int) -> None:
    """Write a folder as a batch does, without explaining anything."""
    rng = np.random.default_rng(0)
    starts = range(0, n_rows, PART)
    about = {"class names": ["ham", "spam"], "unit": "word", "search": "Auto()", "chunk_rows": PART}
    Manifest(about, {}, len(starts), n_rows, run="a run").write(Folder(folder))
    for number, start in enumerate(starts):
        ids = range(start, min(start + PART, n_rows))
        said = Part(Origin("a run", number), Statistics(n_rows=len(ids)))
        Folder(folder).write(part_name(number), sealed(part(rng, ids), said))


def part(rng: np.random.Generator, ids: Sequence[int]) -> Any:
    """Make up a part."""
    known = columns(rng, len(ids))
    values: dict[str, Any] = {
        **known,
        "id": list(ids),
        "status": [STATUSES[status] for status in known["status"]],
        "features": [[f"word {word}" for word in some] for some in draw(rng, len(ids), 3).tolist()],
        "decision": np.where(known["decision"], "spam", "ham"),
        "threshold": np.full(len(ids), 0.5),
    }
    shape = schema("int")
    blank = {"string": "", "double": 0.0, "int32": 0, "int64": 0, "list<element: int32>": []}
    return arrow().table(
        {
            field.name: arrow().array(
                values.get(field.name, [blank.get(str(field.type), [])] * len(ids)), field.type
            )
            for field in shape
        },
        schema=shape,
    )


def memory() -> int:
    """Give the memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


if __name__ == "__main__":
    main()
