"""docs/study.md shows what its results say."""

import runpy
from pathlib import Path

import pytest

from butfor.study.figures import pictures
from butfor.study.measures import comparisons
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


def test_random_ends_without_a_flip_as_often_as_docs_paper_says(study):
    known = {
        (each.case.dataset, each.case.model, int(row))
        for each in comparisons(study)
        for row in each.rows[each.minimum_known]
    }
    runs = [
        result
        for result in study.results
        if result.search == "random" and (result.dataset, result.model, result.row) in known
    ]
    n_without = sum(not result.found for result in runs)
    assert f"study {n_without} of {len(runs):,} runs on rows that have an answer" in words("paper.md")


def test_the_text_on_samples_says_what_its_table_has():
    benchmarks = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    section = benchmarks.partition("## Samples and iterations\n")[2].partition("\n## ")[0]
    page = " ".join(section.split())
    table = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[2].isdigit():
            table[cells[0], cells[1]] = int(cells[2]), int(cells[4]), cells[5]
    sedc, lin_sedc = table["sedc", "max_iterations=50"], table["lin-sedc", ""]
    assert f"at the minimum for {sedc[1]} rows with {sedc[2]} scorings" in page
    assert f"at the minimum for {lin_sedc[1]} rows with {lin_sedc[2]} scorings" in page
    as_good = [row for (search, _), row in table.items() if search == "lime-sedc" and row[1] == sedc[1]]
    fewest = min((row[2] for row in as_good), key=lambda text: int(text.replace(",", "")))
    assert f"`lime-sedc` for {sedc[1]} with {fewest} or more" in page
    lime = {n: table["lime-c", f"n_samples={n}"] for n in (100, 1_000, 2_000, 5_000, 10_000)}
    assert f"`lime-c` for {lime[10_000][1]} with {lime[10_000][2]}" in page
    assert f"`lime-c` needs {lime[2_000][2]} for {lime[2_000][1]}" in page
    assert f"for {lime[100][1]} of 100 rows with 100 samples, for {lime[1_000][1]} with 1,000" in page
    assert f"for {lime[5_000][1]} with 5,000, for {lime[10_000][1]} with 10,000" in page
    few, many, schedule = (table["lime-sedc", f"n_samples={n}"] for n in ("100", "5000", "(100, 1000, 5000)"))
    assert few[1] == lime[10_000][1]
    assert f"with 100 samples ({few[2]} scorings)" in page
    assert schedule[:2] == many[:2]
    assert f"for {schedule[2]} scorings instead of {many[2]}" in page
    unexplained = [100 - table["sedc", f"max_iterations={n}"][0] for n in (10, 50, 100)]
    assert f"with 10 it leaves {unexplained[0]} rows unexplained" in page
    assert unexplained[1:] == [0, 0]
    five = table["lime-sedc", "n_samples=500, max_iterations=5"]
    assert f"with 5 iterations it explains {five[0]} rows" in page
    assert table["auto", ""][:2] == (100, 100)


def words(page):
    return " ".join((DOCS / page).read_text(encoding="utf-8").split())


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
