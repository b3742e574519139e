"""Everything in README runs: its Python as doctests, its console sessions as commands."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from butfor._cli import app

README = Path(__file__).parents[2] / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the Python of README, which saves a model, a matrix and names for the command line."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        outcome = doctest.testfile(str(README), module_relative=False, optionflags=FLAGS)
    assert outcome.attempted > 15
    assert outcome.failed == 0
    return folder


def sessions():
    """Give every `$ butfor …` of README with the output that it promises."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
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
    assert len(sessions()) >= 3


def test_the_table_of_searches_is_complete():
    from butfor import SEARCHES

    table = re.search(
        r"## The searches\n(.*?)\n\n[A-Z]", README.read_text(encoding="utf-8"), flags=re.DOTALL
    )[1]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, flags=re.MULTILINE) == list(SEARCHES)


def test_the_targets_in_readme_exist():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`?make ([a-z]+)[`\n ]", README.read_text(encoding="utf-8")))
    assert {"demo", "test", "bench"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
