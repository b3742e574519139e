"""Options from the environment: all of them, as the table in the docs has them."""

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from butfor._cli import app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "environment.md"
COMMANDS = ("batch", "serve")


def options():
    """The options of the commands: variable, option, values, command."""
    commands = typer.main.get_command(app).commands
    for command in COMMANDS:
        for option in commands[command].params:
            if option.param_type_name == "option":
                values = "several" if option.multiple else "yes or no" if option.is_flag else "one"
                yield option.envvar, max(option.opts, key=len), values, command


def test_the_table_is_what_the_program_reads():
    table = re.findall(
        r"\| `(BUTFOR_\w+)` \| `(--[\w-]+)` \| ([\w ]+) \| ([\w, ]+) \|", PAGE.read_text("utf-8")
    )
    told = [
        (variable, option, values, each) for variable, option, values, of in table for each in of.split(", ")
    ]
    assert sorted(told) == sorted(options())
    assert len(told) > 60


def test_variables_are_named_as_their_options():
    for variable, option, _, _ in options():
        assert variable == "BUTFOR_" + option.removeprefix("--").replace("-", "_").upper()


@pytest.fixture
def served(monkeypatch):
    """Return a function that runs `butfor serve`, and what it would have served with."""
    seen = {}
    monkeypatch.setattr("butfor._web.serving.serve", lambda _, **options: seen.update(options))
    monkeypatch.setattr("butfor._cli.serving_workspaces.workspaces_of", lambda params: seen.update(params))

    def run(*arguments, **variables):
        seen.clear()
        variables = {"BUTFOR_TOKEN": None, "BUTFOR_RESULTS": "why", "BUTFOR_PORT": "0", **variables}
        done = CliRunner().invoke(app, ["serve", *arguments], env=variables)
        return done, dict(seen)

    return run


def test_options_go_before_variables_and_these_before_defaults(served):
    assert served()[1]["max_seconds"] == 10.0
    assert served(BUTFOR_MAX_SECONDS="3")[1]["max_seconds"] == 3.0
    assert served(BUTFOR_MAX_SECONDS="")[1]["max_seconds"] == 10.0
    done, seen = served(
        "--jobs", "2", BUTFOR_JOBS="1", BUTFOR_OPEN_HEALTH="yes", BUTFOR_ALLOW_HOST="a.org b.org"
    )
    assert done.exit_code == 0, done.output
    assert (seen["jobs"], seen["open_health"], seen["hosts"]) == (2, True, ["a.org", "b.org"])
    assert not served(BUTFOR_OPEN_HEALTH="0")[1]["open_health"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"BUTFOR_PORT": "70000"}, "--port must be from 0 to 65535, got 70000"),
        ({"BUTFOR_PORT": "many"}, "BUTFOR_PORT"),
        ({"BUTFOR_DEMO": "true"}, "got --demo and --results"),
    ],
)
def test_what_is_wrong_with_a_variable_is_said(served, variables, said):
    done, seen = served(**variables)
    assert (done.exit_code, seen) == (2, {})
    assert said in done.stderr


def test_batch_reads_them_too():
    done = CliRunner().invoke(app, ["batch"], env={"BUTFOR_CHECK": "/nowhere"})
    assert done.exit_code == 2
    assert "nowhere" in done.stderr
