"""What README and the page on the command line show is what happens: doctests, and sessions as commands."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from butfor import SEARCHES
from butfor._cli import app

ROOT = Path(__file__).parents[2]
README, COMMANDS, TABLE = (
    ROOT / name for name in ("README.md", "docs/how-to/command-line.md", "docs/reference/searches.md")
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the Python of the page, which saves models, a matrix and names for the command line."""
    folder = tmp_path_factory.mktemp("commands")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        outcome = doctest.testfile(str(COMMANDS), module_relative=False, optionflags=FLAGS)
    assert outcome.attempted > 10
    assert outcome.failed == 0
    return folder


def test_readme_runs():
    outcome = doctest.testfile(str(README), module_relative=False, optionflags=FLAGS)
    assert outcome.attempted > 15
    assert outcome.failed == 0


def sessions():
    """Return every `$ butfor …` of the page with the output that it promises."""
    blocks = re.findall(r"```console\n(.*?)```", COMMANDS.read_text(encoding="utf-8"), flags=re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [part.split("\n", 1) for part in parts]


@pytest.mark.parametrize(("command", "promised"), sessions())
def test_console_sessions(command, promised, folder, monkeypatch):
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(command)
    assert program == "butfor"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert doctest.OutputChecker().check_output(promised, result.stdout, FLAGS), result.stdout


def test_there_are_sessions():
    assert len(sessions()) >= 5


def test_the_example_on_text_is_the_text_without_the_words():
    text, cut = re.findall(r'^>>> (?:text|cut) = "(.*)"$', README.read_text("utf-8"), flags=re.MULTILINE)
    features = re.search(
        r"^But for (.*), the decision would be 'ham'", README.read_text("utf-8"), re.MULTILINE
    )
    removed = {word.lower() for word in re.findall(r"'(\w+)'", features[1])}
    left = [word for word in text.split() if word.lower() not in removed]
    assert cut.split() == left


def test_the_table_of_searches_is_complete():
    table = TABLE.read_text(encoding="utf-8").partition("## The searches\n")[2].partition("## Rankings")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, flags=re.MULTILINE) == list(SEARCHES)
