"""Tables in README and docs come from what benchmarks print."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import publish as publishing
from benchmarks.lead import lead, rows_of
from benchmarks.publish import Printed, printed_in, tables_in, with_lead, with_tables

ROOT = Path(__file__).parents[2]
OLD = "| model | ms |\n|---|---:|\n| linear | 5 |\n"
NEW = "| model | ms |\n|---|---:|\n| linear | 4 |\n| kernel | 9 |\n"


def test_readmes_table_is_made_of_those_in_docs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_lead(readme, (ROOT / "docs").rglob("*.md")) == readme, "python -m benchmarks.publish"
    (table,) = [each for each in tables_in(readme) if each.startswith("| today |")]
    assert len(list(rows_of(table))) == 4


def test_a_table_is_replaced_with_the_line_on_its_run():
    printed = {"| model | ms |": Printed(NEW, "*Run of 2026-11-18: cores 2 · python 3.11*")}
    page = f"# Title\n\n{OLD}\nText.\n\n| other | s |\n|---|---|\n| a | b |\n"
    once, replaced = with_tables(page, printed)
    assert replaced == ["| model | ms |"]
    assert once == page.replace(OLD, f"{NEW}\n*Run of 2026-11-18: cores 2 · python 3.11*\n")
    later = {"| model | ms |": Printed(OLD, "*Run of 2026-11-19*")}
    assert with_tables(once, later)[0] == page.replace(OLD, f"{OLD}\n*Run of 2026-11-19*\n")


def test_the_run_is_what_the_output_says(tmp_path):
    path = tmp_path / "bench.txt"
    path.write_text(f"cores 2 · python 3.11.7\nsome words\n\n{NEW}", encoding="utf-8")
    when = datetime(2026, 11, 18, 12, tzinfo=UTC).timestamp()
    os.utime(path, (when, when))
    assert dict(printed_in(path)) == {
        "| model | ms |": Printed(NEW, "*Run of 2026-11-18: cores 2 · python 3.11.7*")
    }


def test_a_row_that_is_missing_is_named():
    with pytest.raises(SystemExit, match=r"needs one row with .*lime package.* got 0"):
        lead([OLD])


def test_a_table_without_a_place_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(f"# Page\n\n{OLD}", encoding="utf-8")
    (tmp_path / "bench.txt").write_text(f"{NEW}\n| rows | s |\n|---|---:|\n| 5 | 1 |\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Title\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(publishing, "lead", lambda tables: OLD)
    publishing.publish([tmp_path / "bench.txt"])
    assert capsys.readouterr().out == "docs/page.md: | model | ms |\non no page: | rows | s |\n"
    assert NEW in (tmp_path / "docs" / "page.md").read_text(encoding="utf-8")


def test_all_tables_of_benchmarks_are_on_one_page():
    pages = [
        page for page in (ROOT / "docs").rglob("*.md") if "\n*Run of " in page.read_text(encoding="utf-8")
    ]
    assert pages == [ROOT / "docs" / "benchmarks.md"]
