import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from studies import ABOUT, UNFINISHED, a_case, a_result, made_up

from butfor.study.cells import Cell, ReportTable
from butfor.study.report import latex, markdown, write_report
from butfor.study.results import Study
from butfor.study.tables import tables

pytestmark = pytest.mark.xdist_group("report")  # one report for all of them

NASTY = '<script>alert("1")</script> & |*_$#[x](y)\\ \n50%'


class Page(HTMLParser):
    """Collects what a page consists of, and complains about tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.text, self.open = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "xlink:href"):
                self.links.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def study():
    return made_up(("airline",), rows=6)


@pytest.fixture(scope="module")
def report(study, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "of study"
    return out, write_report(study, out)


def test_what_is_written_is_told(report, study):
    out, written = report
    assert sorted(written) == sorted(path for path in out.rglob("*") if path.is_file())
    names = {str(path.relative_to(out)) for path in written}
    assert {"report.md", "report.html", "figures/growth.svg", "figures/tradeoff.png"} <= names
    assert sum(name.startswith("tables/") for name in names) == len(tables(study))


def test_the_page_stands_alone(report):
    page = Page((report[0] / "report.html").read_text(encoding="utf-8"))
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.links)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_every_table_and_figure_is_in_every_form(report, study):
    out, _ = report
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    text = (out / "report.md").read_text(encoding="utf-8")
    for each in tables(study):
        assert each.title in page.text
        assert f"## {each.title}\n" in text
    assert page.tags.count("table") == len(tables(study))
    assert page.tags.count("svg") == 6
    for link in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (out / link).is_file()
    assert text.count("](figures/") == 6


def test_the_head_says_what_was_run_and_how_to_read_it(report):
    for name in ("report.md", "report.html"):
        text = (report[0] / name).read_text(encoding="utf-8")
        for said in (
            ABOUT["runs"][0]["command"],
            "python 3.11.9",
            "2 cores, 23.4 GB",
            "McNemar",
            "repeats 5",
            "generated",
        ):
            assert said in text, (name, said)
        assert "Finished" in text
        assert "not done yet" not in text


def test_an_unfinished_study_says_so(tmp_path):
    case = a_case(rows=3)
    write_report(Study(UNFINISHED, (case,), (a_result(case=case),)), tmp_path)
    for name in ("report.md", "report.html"):
        assert "no: what is not done yet is shown as –" in (tmp_path / name).read_text(encoding="utf-8")


def test_a_study_of_nothing_can_be_reported(tmp_path):
    assert tmp_path / "report.html" in write_report(Study(ABOUT, (), ()), tmp_path)


def test_markdown_tables_have_a_cell_for_every_column(study):
    blocks = re.findall(r"(?:^\|.*\|\n)+", markdown.document(study, tables(study), []), flags=re.M)
    assert len(blocks) == len(tables(study))
    for block, made in zip(blocks, tables(study), strict=True):
        lines = block.splitlines()
        assert {len(re.split(r"(?<!\\)\|", line)) - 2 for line in lines} == {len(made.columns)}
        assert len(lines) == len(made.rows) + 2


def test_marks_in_every_form():
    row = (Cell("a_b"), Cell("1", bold=True, paper=Cell("2", underlined=True)))
    made = ReportTable("name", "Title", "100 % said", ("x", "y"), (row,))
    assert "| a\\_b | **1**<br><sub>\\[<u>2</u>\\]</sub> |" in markdown.table_text(made, level=3)
    assert r"a\_b & \textbf{1} {\scriptsize [\underline{2}]} \\" in latex.table_text(made)
    assert r"100 \% said" in latex.table_text(made)


def test_users_text_is_shown_as_it_is(tmp_path):
    case = replace(a_case(rows=1), dataset=NASTY, model=NASTY, parameters=NASTY, target=NASTY)
    results = [a_result(NASTY, case=case), a_result("auto", size=0, case=case, status="error", reason=NASTY)]
    results += [a_result(NASTY, case=case, part=part) for part in ("growth", "tradeoff")]
    study = Study(ABOUT | {"command": NASTY}, (case,), tuple(results))
    written = write_report(study, tmp_path)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert sum(NASTY in text for text in page.text) >= 5
    assert "<script" not in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[a-z0-9_.-]+", path.name) for path in written)
    blocks = re.findall(r"(?:^\|.*\|\n)+", markdown.document(study, tables(study), []), flags=re.M)
    assert len(blocks) == len(tables(study))  # no text breaks out of its line


@pytest.mark.parametrize("letter", list("&%$#_{}~^\\<>[]"))
def test_latex_has_no_bare_special_letters(letter):
    text = latex.escaped(f"a{letter}b")
    plain = re.sub(r"\\text[a-z]+\{\}|\\[&%$#_{}]|\{[\[\]]\}", "", text)
    assert plain == "ab"


def test_latex_tables_are_balanced(study):
    for each in tables(study):
        text = latex.table_text(each)
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert re.findall(r"\\begin\{(\w+\*?)\}", text) == re.findall(r"\\end\{(\w+\*?)\}", text)[::-1]
        rows = [line for line in text.splitlines() if line.endswith(r" \\")]
        assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {len(each.columns)}
        assert len(rows) == len(each.rows) + 1


def test_the_same_study_gives_the_same_files(report, study, tmp_path):
    out, written = report
    write_report(study, tmp_path)
    for path in written:
        if path.suffix != ".png":
            assert (tmp_path / path.relative_to(out)).read_bytes() == path.read_bytes()
