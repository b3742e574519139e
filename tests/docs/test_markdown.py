"""The pages: all are in the site's order, links lead somewhere, code runs or is marked as output."""

import doctest
import importlib
import json
import re
import shlex
import tomllib
import urllib.request
from io import BytesIO
from pathlib import Path

import pytest
import typer

from butfor._cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
BESIDE = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NOT_RUN = {"text", "nginx", "bash"}
"""What is no Python: outputs and drawings, and settings of other programs."""
RUN_ELSEWHERE = {"how-to/other-libraries.md", "how-to/serve.md", "how-to/extending.md"}
"""Pages with a whole file of Python, which a test runs: in test_other_libraries.py, and below."""


def read(path):
    return path.read_text(encoding="utf-8")


def blocks(path):
    """Return the kinds and texts of a page's code blocks."""
    return BLOCK.findall(read(path))


def prose(path):
    """Return a page without its code blocks."""
    return BLOCK.sub("", read(path))


def anchors(path):
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path):
    """Yield where the links of a page lead: files and anchors."""
    for link in LINK.findall(prose(path)):
        if "://" not in link:
            target, _, anchor = link.partition("#")
            yield ((path.parent / target).resolve() if target else path), anchor


def test_readme_is_short():
    assert len(read(README).splitlines()) <= 150
    before, _, after = read(README).partition("pip install")
    assert "make demo" not in before
    assert "make demo" in after


@pytest.mark.parametrize("path", [*BESIDE, *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target, anchor in links(path):
        assert target.exists(), f"{target} is not there"
        assert not anchor or anchor in anchors(target), f"{target.name} has no heading #{anchor}"


def below(page):
    """Yield the pages that the tables of contents of a page name."""
    for kind, text in blocks(page):
        if kind == "{toctree}":
            for line in text.splitlines():
                if line and not line.startswith(":"):  # a path, or a title and a path
                    name = re.sub(r".*<(.*)>", r"\1", line)
                    yield page.parent / f"{name}.md"


def test_every_page_is_in_one_table_of_contents():
    named = [each for page in PAGES for each in below(page)]
    assert sorted(named) == sorted(set(PAGES) - {DOCS / "index.md"})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_page_has_one_title(path):
    assert len(re.findall(r"^# ", prose(path), flags=re.MULTILINE)) == 1


@pytest.mark.parametrize("path", [README, *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_runs_or_is_marked_as_output(path):
    name = path.relative_to(ROOT).as_posix().removeprefix("docs/")
    for kind, text in blocks(path):
        if kind == "python":
            runs = doctest.DocTestParser().get_examples(text)
            assert runs or name.startswith("tutorials/") or name in RUN_ELSEWHERE, text
        else:
            assert kind == "console" or kind in NOT_RUN or kind.startswith("{"), f"{kind}: {text}"


def commands():
    """Yield the commands of all console blocks, with the pages that they are on."""
    for path in [*BESIDE, *PAGES]:
        for kind, text in blocks(path):
            if kind == "console":
                for line in text.replace("\\\n", " ").splitlines():
                    words = shlex.split(line.removeprefix("$ "), comments=True)
                    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                        words.pop(0)
                    if words:
                        yield path, words


def test_commands_exist_with_their_options():
    program = typer.main.get_command(app)
    n_seen = 0
    for path, (name, *words) in commands():
        if name == "butfor":
            command = program
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            known = {option for each in command.params for option in each.opts} | {"--help"}
            given = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert given <= known, f"{path.name}: {name} {words}"
            n_seen += 1
        elif name == "make":
            assert re.search(rf"^{words[0]}:", read(ROOT / "Makefile"), flags=re.MULTILINE), words
        elif words[:1] == ["-m"] and words[1].startswith("benchmarks."):
            assert (ROOT / f"{words[1].replace('.', '/')}.py").exists(), words
        elif name == "python" and words[0].endswith(".py"):
            assert (ROOT / words[0]).exists(), words
    assert n_seen > 20


def test_every_extra_is_named_where_people_install():
    table = read(DOCS / "start.md").partition("### Extras\n")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE)[1:]))
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    assert sorted(named) == sorted(project["optional-dependencies"])


WHAT_IT_IS = "concepts/evidence-counterfactuals.md"
QUESTIONS = {
    "how do I explain a DataFrame row": "how-to/dataframes.md",
    "my XGBoost": "how-to/trees.md",
    "a Hugging Face pipeline": "how-to/other-libraries.md#hugging-face",
    "why none": "concepts/negatives.md#why-is-the-answer-none",
    "is it causal": f"{WHAT_IT_IS}#is-it-causal",
    "can it run in Spark": "how-to/scale.md#spark",
    "may I forbid a feature": "how-to/protect.md#how-do-i-protect-features-from-being-used",
    "how sure is proven": "concepts/proofs.md",
    "how is it different from SHAP": f"{WHAT_IT_IS}#weights-such-as-those-of-shap-and-lime",
    "how fast": "benchmarks.md#how-fast-is-it-on-my-model",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_newcomer_finds_the_answer_from_readme_in_two_clicks(question):
    target, _, anchor = QUESTIONS[question].partition("#")
    answer = DOCS / target, anchor
    assert not anchor or anchor in anchors(answer[0])
    first = set(links(README))
    second = {link for page, _ in first if page.suffix == ".md" for link in links(page)}
    assert answer in first | second
    assert answer[0] in {page for page, _ in first}, "one click leads to the page"


def test_the_client_of_the_page_on_serving_runs(monkeypatch, capsys):
    from butfor._web.schemas import ExplainRequest

    (code,) = [text for kind, text in blocks(DOCS / "how-to" / "serve.md") if kind == "python"]
    asked = []

    def urlopen(request):
        asked.append(request)
        return BytesIO(json.dumps({"sentence": "But for …", "proof": "Proven."}).encode())

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    exec(compile(code, "serve.md", "exec"), {})
    assert capsys.readouterr().out == "But for … Proven.\n"
    assert asked[0].full_url == "http://127.0.0.1:8000/inbox/api/explain"
    assert ExplainRequest.model_validate_json(asked[0].data).row == 3


def test_the_file_for_a_study_is_one_that_a_study_takes(tmp_path):
    from butfor.study.registry import registry

    (code,) = [text for _, text in blocks(DOCS / "how-to" / "extending.md") if "StudyModel(" in text]
    path = tmp_path / "visits.py"
    path.write_text(code, encoding="utf-8")
    known = registry((path,))
    assert known.dataset("visits").share == 0.1
    assert "naive-bayes" in known.models
    assert known.searches["sedc-200"].max_iterations == 200


def test_the_columns_of_parquet_are_those_that_a_batch_writes():
    pytest.importorskip("pyarrow")
    from butfor.batch.outputs import schema

    told = re.findall(
        r"^\| `(\w+)` \| `?([^`|]+?)`? \|", read(DOCS / "reference" / "parquet.md"), flags=re.MULTILINE
    )
    by_number, by_name = schema("int"), schema("str")
    assert told[0] == ("id", f"{by_number.field('id').type} or {by_name.field('id').type}")
    types = [
        (field.name, str(field.type).replace("element: ", "").replace("item: ", "")) for field in by_name
    ]
    assert told[1:] == types[1:]


@pytest.mark.parametrize("module", ["butfor", "butfor.batch", "butfor.datasets", "butfor.study"])
def test_the_api_has_every_public_name(module):
    pages = "".join(read(path) for path in (DOCS / "reference" / "api").glob("*.md"))
    named = set(re.findall(rf"^\.\. [\w:]+:: {re.escape(module)}\.(\w+)$", pages, flags=re.MULTILINE))
    assert set(importlib.import_module(module).__all__) <= named
