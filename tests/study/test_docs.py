"""docs/study.md shows what its results say."""

import runpy
from pathlib import Path

import pytest

from butfor.study.figures import pictures
from butfor.study.store import read_study

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def study():
    return read_study(DOCS / "study" / "results.parquet")


def test_the_page_is_made_of_the_results(study):
    page = (DOCS / "study.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(DOCS / "study_page.py"))
    drawn = pictures(study)
    assert script["with_report"](page, study, drawn) == page
    for each in drawn:
        assert (DOCS / "study" / f"{each.name}.png").exists()


def test_the_text_states_the_figures_of_the_results(study):
    script = runpy.run_path(str(DOCS / "study_claims.py"))
    claims = list(script["claims"](study))
    text = script["prose"]()
    assert len(claims) > 30
    assert [claim for claim in claims if claim not in text] == []


def test_it_is_a_whole_run_of_the_papers_protocol(study):
    assert study.finished
    settings = study.about["runs"][0]["settings"]
    assert (settings["rows"], settings["repeats"], settings["max_size"]) == (300, 5, 30)
    assert settings["max_seconds"] == 120
    assert len(study.cases) == 12
    assert not any(case.generated for case in study.cases)
    assert not any(result.status == "error" for result in study.results)


def test_it_is_small_enough_to_keep():
    assert (DOCS / "study" / "results.parquet").stat().st_size < 3_000_000
