"""Parts of the site that programs write: commands, the HTTP API, files beside docs."""

import re
import runpy
from pathlib import Path

import pytest
import typer

from butfor._cli import app

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "site_pages.py"))


def filled(name):
    source = [(DOCS / f"{name}.md").read_text(encoding="utf-8")]
    SCRIPT["fill"](None, name, source)
    return source[0]


def all_commands(command, name="butfor"):
    yield name, command
    for below, each in getattr(command, "commands", {}).items():
        yield from all_commands(each, f"{name} {below}")


def test_every_command_and_option_is_listed():
    page = filled("reference/commands")
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL))
    commands = dict(all_commands(typer.main.get_command(app)))
    assert list(sections) == list(commands)
    for name, command in commands.items():
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]:
                assert option == "--help" or f"`{option}`" in sections[name], f"{name}: {option}"
    assert "BUTFOR_MAX_SECONDS" in sections["butfor batch"]
    assert "| `--removal` zero \\| delete \\| mask | " in sections["butfor explain"]
    assert re.search(r"\| `--max-size` int \| .* Default: `30`\. \|", sections["butfor explain"])
    assert len(commands) >= 10


def test_every_request_is_listed():
    pytest.importorskip("fastapi")
    page = filled("reference/http")
    paths = re.findall(r"^## (GET|POST) (\S+)$", page, flags=re.MULTILINE)
    assert {"/api/explain", "/api/score", "/api/rows", "/health/ready"} <= {path for _, path in paths}
    assert "| `max_seconds` | number |" in page
    assert "The site lists them here" not in page
    assert len(set(re.findall(r"^#+ .*$", page, flags=re.MULTILINE))) == len(
        re.findall(r"^#+ ", page, flags=re.MULTILINE)
    )


def test_no_block_of_code_ends_with_a_blank_line():
    page = filled("start")
    assert "('found', 101)\n```" in page
    assert "\n\n```\n" not in re.sub(r"\n\n```(python|console|\{)", "", page)


@pytest.mark.parametrize("name", ["index", "development/contributing", "development/changes"])
def test_files_beside_docs_have_links_that_lead_somewhere(name):
    page = filled(name)
    links = re.findall(r"\]\((?![a-z]+:|#)([^)\s#]+)", page)
    assert links
    for link in links:
        assert ((DOCS / name).parent / link).exists(), link
        assert DOCS in ((DOCS / name).parent / link).resolve().parents, f"{link} is no page of the site"


def test_long_signatures_become_lines_of_a_term():
    parameters = "".join(f'<dd><em class="sig-param">{name}</em>,</dd>\n' for name in "ab")
    body = f"<dt>f(\n<dl>\n{parameters}</dl>\n)</dt>"
    context = {"body": body}
    SCRIPT["mend_body"](None, "", "", context, None)
    assert "<dl>" not in context["body"]
    assert context["body"].count('<span class="parameter"><em') == 2


def test_the_dashes_of_docstrings_become_one():
    context = {"body": "<li><p><strong>seed</strong> (<em>int</em>) -- The seed.</p></li><code>a -- b</code>"}
    SCRIPT["mend_body"](None, "", "", context, None)
    assert (
        context["body"]
        == "<li><p><strong>seed</strong> (<em>int</em>) – The seed.</p></li><code>a -- b</code>"
    )
