"""The table of formats in the docs is that of the code."""

import re
from pathlib import Path

from butfor._files.inputs import FORMATS
from butfor._files.inputs.suffixes import FILE_KINDS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "formats.md"


def rows_of_table():
    section = PAGE.read_text(encoding="utf-8").partition("\n## Data files\n")[2]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_docs_list_all_formats_as_they_are():
    documented = [
        (
            name,
            re.findall(r"`(\.\w+)`", files),
            model,
            re.findall(r"--(\w+)-column", options),
            re.findall(r"butfor\[(\w+)\]", needs),
        )
        for name, files, model, _, options, needs in rows_of_table()
    ]
    assert documented == [
        (
            each.name,
            list(each.suffixes),
            each.holds,
            list(each.columns),
            [each.extra] if each.extra else [],
        )
        for each in FORMATS
    ]


def test_every_ending_has_a_format():
    assert set(FILE_KINDS) == {suffix for each in FORMATS for suffix in each.suffixes}


def test_the_docs_name_all_columns_of_ids_that_are_found():
    from butfor._files.inputs.columns import WELL_KNOWN

    text = PAGE.read_text(encoding="utf-8")
    assert {name for name in WELL_KNOWN["id"] if f"`{name}`" not in text} == set()
