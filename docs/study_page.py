"""Put the tables and figures of a study into docs/study.md: `python docs/study_page.py build/study`."""

import re
import shutil
import sys
from pathlib import Path

from butfor.study.drawing import Picture
from butfor.study.figures import pictures
from butfor.study.report.markdown import body
from butfor.study.results import Study
from butfor.study.store import FILE, read_study
from butfor.study.tables import tables

PAGE = Path(__file__).with_name("study.md")
FOLDER = Path(__file__).with_name("study")
MARKED = re.compile(r"(<!-- study -->\n).*(<!-- end of study -->)", re.DOTALL)


def main() -> None:
    """Copy the results of a study, and update the tables and figures of the page."""
    if len(sys.argv) > 1:
        FOLDER.mkdir(exist_ok=True)
        shutil.copyfile(Path(sys.argv[1]) / FILE, FOLDER / FILE)
    study = read_study(FOLDER / FILE)
    drawn = pictures(study)
    for each in drawn:
        each.figure.savefig(FOLDER / f"{each.name}.png", dpi=110)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_report(text, study, drawn), encoding="utf-8")


def with_report(text: str, study: Study, drawn: list[Picture]) -> str:
    """Return the text of a page with the report of a study between its marks."""
    report = body(study, tables(study), drawn, level=3, figures=FOLDER.name)
    return MARKED.sub(lambda match: match[1] + report + match[2], text)


if __name__ == "__main__":
    main()
