"""Results on disk: a journal while a study runs, one Parquet file when it is done."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from butfor._extras import install_line
from butfor.errors import InputError
from butfor.study.results import Case, Result, Study

FILE = "results.parquet"
JOURNAL = "journal"
ABOUT = "about.json"
CASES = "cases.json"
STARTED = time.time_ns()


def append(journal: Path, result: Result) -> None:
    """Append one result to the journal of this process, as one line of JSON."""
    journal.mkdir(parents=True, exist_ok=True)
    with (journal / f"{STARTED}-{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def write_about(out: Path, about: dict[str, Any], cases: Iterable[Case]) -> None:
    """Write the description of the running study beside its journal."""
    folder = out / JOURNAL
    folder.mkdir(parents=True, exist_ok=True)
    _write_whole(folder / CASES, json.dumps([asdict(case) for case in cases]))
    _write_whole(folder / ABOUT, json.dumps(about))  # written last: without it the journal does not count


def write_study(out: Path, study: Study) -> Path:
    """Write a study as one Parquet file, and remove the journal that it replaces."""
    pa, parquet = parquet_library()
    records = [asdict(result) for result in study.results]
    table = pa.Table.from_pylist(records, schema=_schema(pa))
    about = {"about": study.about, "cases": [asdict(case) for case in study.cases]}
    table = table.replace_schema_metadata({"butfor": json.dumps(about)})
    unfinished = out / f"{FILE}.part"
    parquet.write_table(table, unfinished, compression="zstd", compression_level=19)
    unfinished.replace(out / FILE)
    remove_journal(out)
    return out / FILE


def remove_journal(out: Path) -> None:
    """Remove what `append` and `write_about` wrote, and nothing else."""
    folder = out / JOURNAL
    for path in [folder / ABOUT, folder / CASES, *_journals(folder)]:
        path.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it, or it was never there
        folder.rmdir()


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Create the folder of a study if needed, and hold a lock that keeps other runs out."""
    from filelock import FileLock, Timeout

    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out / ".lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"--out {out} is in use by another run: wait for it, or give another --out."
        ) from None
    except OSError as error:
        raise InputError(f"--out must be a folder that can be written to, got {out}: {error}") from error
    try:
        yield
    finally:
        lock.release()


def is_study(out: Path) -> bool:
    """Return whether a folder holds a study, finished or not."""
    return (out / FILE).is_file() or (out / JOURNAL / ABOUT).is_file()


def read_study(out: Path) -> Study:
    """Read a study, finished or not.

    Parameters
    ----------
    out : Path
        The folder of the study, or its Parquet file.

    Returns
    -------
    Study
        All results that are there.

    Raises
    ------
    InputError
        If there is no study, or its file cannot be read.

    Examples
    --------
    >>> study = read_study(Path("butfor-study"))  # doctest: +SKIP
    """
    path = out / FILE if out.is_dir() else out
    about: dict[str, Any] = {}
    cases: dict[tuple[str, str], Case] = {}
    results: dict[Any, Result] = {}
    if path.is_file():
        about, of_file, found = _read_file(path)
        cases |= {(case.dataset, case.model): case for case in of_file}
        results |= {result.key: result for result in found}
    journal = out / JOURNAL
    if (journal / ABOUT).is_file():
        about = json.loads((journal / ABOUT).read_text(encoding="utf-8"))
        of_journal = [Case(**each) for each in json.loads((journal / CASES).read_text(encoding="utf-8"))]
        cases |= {(case.dataset, case.model): case for case in of_journal}
        results |= {result.key: result for result in _read_journal(journal)}
    if not about:
        raise InputError(
            f"DIR must be the folder of a study, as `butfor study run --out` makes it, got {out}."
        )
    return Study(about, tuple(cases.values()), tuple(sorted(results.values(), key=lambda each: each.key)))


def _read_file(path: Path) -> tuple[dict[str, Any], list[Case], list[Result]]:
    _, parquet = parquet_library()
    try:
        table = parquet.read_table(path)
        about = json.loads(table.schema.metadata[b"butfor"])
        cases = [Case(**each) for each in about["cases"]]
        results = [Result(**each | {"columns": tuple(each["columns"])}) for each in table.to_pylist()]
    except Exception as error:
        raise InputError(
            f"DIR must hold results of `butfor study run`, got {path}: {type(error).__name__}: {error}"
        ) from error
    return about["about"], cases, results


def _read_journal(folder: Path) -> Iterator[Result]:
    """Yield the results of every whole line. The last line of a killed process may be incomplete."""
    for path in _journals(folder):
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            values = json.loads(line)
            yield Result(**values | {"columns": tuple(values["columns"])})


def _journals(folder: Path) -> list[Path]:
    """Return the files that `append` wrote, the oldest first."""
    return sorted(path for path in folder.glob("*.jsonl") if re.fullmatch(r"\d+-\d+", path.stem))


def _schema(pa: Any) -> Any:
    types = {
        "row": pa.int32(),
        "repeat": pa.int16(),
        "max_size": pa.int64(),
        "size": pa.int32(),
        "lower_bound": pa.int32(),
        "n_active": pa.int32(),
        "n_scored": pa.int64(),
        "seconds": pa.float64(),
        "columns": pa.list_(pa.int32()),
    }
    words = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(field.name, types.get(field.name, words)) for field in fields(Result)])


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def parquet_library() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or raise an InputError that says how to install them."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            f"A study is kept in a Parquet file, which needs: {install_line('study')}"
        ) from error
    return pa, parquet
