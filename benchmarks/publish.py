"""Put tables that benchmarks printed into README and docs: `python -m benchmarks.publish build/*.txt`.

A table there is replaced by the one with the same first line, so that all its figures come from one run.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

TABLE = re.compile(r"^\|.*\|\n\|[-:| ]+\|\n(?:\|.*\|\n)*", re.MULTILINE)
"""A table of Markdown: its first line, the line of dashes, and its rows."""
PAGES = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]


def main() -> None:
    """Replace the tables, and say which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outputs", type=Path, nargs="+", help="what benchmarks printed")
    options = parser.parse_args()
    tables = {first_line(table): table for path in options.outputs for table in tables_in(path.read_text())}
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = TABLE.sub(lambda found: tables.get(first_line(found[0]), found[0]), before)
        replaced = [first_line(table) for table in tables_in(before) if first_line(table) in tables]
        for line in replaced:
            print(f"{page}: {line}")
        if after != before:
            page.write_text(after, encoding="utf-8")


def tables_in(text: str) -> Iterator[str]:
    """Yield the tables of a text."""
    return (found[0] for found in TABLE.finditer(text if text.endswith("\n") else f"{text}\n"))


def first_line(table: str) -> str:
    """Return the names of the columns."""
    return table.partition("\n")[0]


if __name__ == "__main__":
    main()
