"""How long pages take with very many rows: `python -m benchmarks.table --rows 1_000_000`."""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import machine, timed
from benchmarks.processes import kib
from butfor._web.overview import FOUND, STATUSES, Overview, Query
from butfor._web.results import open_results
from butfor._web.served_rows import ServedTexts
from butfor._web.workspace import Workspace
from butfor.batch.folder import Folder
from butfor.batch.manifest import Manifest
from butfor.batch.outputs import arrow, schema
from butfor.batch.parts import Origin, Part, part_name, sealed
from butfor.batch.statistics import Statistics

WORDS = 20_000
PART = 5_000
QUERIES = {
    "first page": Query(),
    "last page": Query(page=10**9),
    "sorted by score": Query(sort="-score"),
    "sorted by score, page 2": Query(sort="-score", page=2),
    "sorted by size": Query(sort="-size"),
    "filtered by decision and size": Query(decision="spam", size=2),
    "rows with a feature in their explanation": Query(feature="word 17", sort="score"),
    "first search": Query(q="word 17 "),
    "another search": Query(q="word 4242 "),
    "another search, page 2": Query(q="word 4242 ", page=2),
}


def main() -> None:
    """Write a workspace and the results of a batch with this number of rows, and time their pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    of_texts = measured(lambda: live(texts(n_rows)))
    with tempfile.TemporaryDirectory() as folder:
        write_results(folder, n_rows)
        of_results = measured(lambda: open_results(folder))
    print(f"\n{n_rows:,} rows\n\n| what | texts of ten words | results of a batch |\n|---|---:|---:|")
    for name in of_texts:
        print(f"| {name} | {of_texts[name]} | {of_results[name]} |")


def measured(make: Callable[[], Workspace]) -> dict[str, str]:
    """Return the milliseconds for the pages of a workspace and for its summaries, and its memory."""
    before = memory()
    workspace = make()
    calls: dict[str, Callable[[], Any]] = {
        name: partial(workspace.rows, query) for name, query in QUERIES.items()
    }
    calls |= {
        "what all rows have in common": workspace.summary,
        "those of a decision": partial(workspace.summary, "spam"),
    }
    times = {name: f"{1000 * timed(call)[1]:,.1f}" for name, call in calls.items()}
    return times | {"memory": f"{memory() - before:,} MiB"}


def texts(n_rows: int) -> ServedTexts:
    """Return random texts of ten words."""
    rng = np.random.default_rng(0)
    return ServedTexts(["".join(f"word {word} " for word in some) for some in draw(rng, n_rows, 10).tolist()])


def draw(rng: np.random.Generator, n_rows: int, n: int) -> Any:
    """Return random words; a few of them are frequent."""
    return (WORDS * rng.random((n_rows, n)) ** 3).astype(np.int32)


def live(data: ServedTexts) -> Workspace:
    """Return a workspace whose rows are all explained."""
    rng, n_rows = np.random.default_rng(1), len(data)
    classes = ("ham", "spam")
    overview = Overview(data, classes)
    overview.fill(0, columns(rng, n_rows))
    rows = np.repeat(np.arange(n_rows), 2)
    overview._row_features.add_coded(rows, draw(rng, n_rows, 2).ravel(), [f"word {i}" for i in range(WORDS)])
    return Workspace(
        name="a",
        title="A",
        kind="texts",
        classes=classes,
        threshold=0.5,
        unit=("word", "words"),
        data=data,
        overview=overview,
    )


def columns(rng: np.random.Generator, n_rows: int) -> dict[str, Any]:
    """Return random values for the columns of the table."""
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


def write_results(folder: str, n_rows: int) -> None:
    """Write a folder as a batch does, without explaining anything."""
    rng = np.random.default_rng(0)
    starts = range(0, n_rows, PART)
    about = {"class names": ["ham", "spam"], "unit": "word", "search": "Auto()", "chunk_rows": PART}
    Manifest(about, {}, len(starts), n_rows, run="a run").write(Folder(folder))
    for number, start in enumerate(starts):
        ids = range(start, min(start + PART, n_rows))
        footer = Part(Origin("a run", number), Statistics(n_rows=len(ids)))
        Folder(folder).write(part_name(number), sealed(part(rng, ids), footer))


def part(rng: np.random.Generator, ids: Sequence[int]) -> Any:
    """Return a random part as an Arrow table."""
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
    blank: dict[str, Any] = {
        "string": "",
        "bool": None,
        "double": 0.0,
        "int32": 0,
        "int64": 0,
        "list<element: int32>": [],
    }
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
    """Return the memory of this process, in MiB."""
    return kib(os.getpid(), "status", "VmRSS") // 1024


if __name__ == "__main__":
    main()
