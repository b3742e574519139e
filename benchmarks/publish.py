"""Put tables that benchmarks printed into README and docs: `python -m benchmarks.publish build/*.txt`.

A table there is replaced by the one with the same first line, so that all its figures come from one run.
A line below it says when and on which machine that was. README's own table is then made of those in docs.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.lead import lead

TABLE = re.compile(r"^(?P<table>\|.*\|\n\|[-:| ]+\|\n(?:\|.*\|\n)*)(?:\n\*Run of [^\n]*\*\n)?", re.MULTILINE)
"""A table of Markdown: its first line, the line of dashes, its rows; and the line on its run, if any."""
MACHINE = re.compile(r"^cores \d+ · .*$", re.MULTILINE)
"""The line in which a benchmark says on what it ran."""
README, DOCS = Path("README.md"), Path("docs")


@dataclass(frozen=True)
class Printed:
    """A table as a benchmark printed it, and the line on its run."""

    table: str
    run: str


def main() -> None:
    """Replace the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outputs", type=Path, nargs="+", help="what benchmarks printed")
    publish(parser.parse_args().outputs)


def publish(outputs: Iterable[Path]) -> None:
    """Replace the tables of all pages by those in these files, say which, and which have no place yet."""
    printed = dict(pair for path in outputs for pair in printed_in(path))
    placed = set()
    for page in [README, *sorted(DOCS.rglob("*.md"))]:
        before = page.read_text(encoding="utf-8")
        after, replaced = with_tables(before, printed)
        for line in replaced:
            print(f"{page}: {line}")
        placed.update(replaced)
        if after != before:
            page.write_text(after, encoding="utf-8")
    for line in sorted(printed.keys() - placed):
        print(f"on no page: {line}")
    text = README.read_text(encoding="utf-8")
    README.write_text(with_lead(text, DOCS.rglob("*.md")), encoding="utf-8")


def printed_in(path: Path) -> Iterator[tuple[str, Printed]]:
    """Yield the tables of an output by their first lines. The time of the file is that of the run."""
    text = path.read_text(encoding="utf-8")
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    machine = MACHINE.search(text)
    run = f"*Run of {day}{': ' + machine[0] if machine else ''}*"
    for table in tables_in(text):
        yield first_line(table), Printed(table, run)


def with_tables(text: str, printed: dict[str, Printed]) -> tuple[str, list[str]]:
    """Return a page with the tables that were printed, and the first lines of those that were replaced."""
    replaced = []

    def new(found: re.Match[str]) -> str:
        line = first_line(found["table"])
        if line not in printed:
            return found[0]
        replaced.append(line)
        return f"{printed[line].table}\n{printed[line].run}\n"

    return TABLE.sub(new, text), replaced


def with_lead(readme: str, pages: Iterable[Path]) -> str:
    """Return README with its own table, which is made of the tables of other pages."""
    texts = (page.read_text(encoding="utf-8") for page in sorted(pages))
    made = lead([table for text in texts for table in tables_in(text)])
    return TABLE.sub(lambda found: made if first_line(found[0]) == first_line(made) else found[0], readme)


def tables_in(text: str) -> Iterator[str]:
    """Yield the tables of a text."""
    return (found["table"] for found in TABLE.finditer(text if text.endswith("\n") else f"{text}\n"))


def first_line(table: str) -> str:
    """Return the names of the columns."""
    return table.partition("\n")[0]


if __name__ == "__main__":
    main()
