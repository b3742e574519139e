"""The files of deploy/, read as the tools that use them do; and commands in them, read as butfor does."""

import re
import shlex
from pathlib import Path

import typer
import yaml

from butfor._cli import app

DEPLOY = Path(__file__).parents[2] / "deploy"


def documents(name):
    """The documents of a YAML file."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text("utf-8")))


def instructions():
    """The instructions of the Dockerfile: (name, rest)."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def variables_of_the_image():
    """What ENV of the Dockerfile sets."""
    return dict(
        each.split("=", 1) for name, rest in instructions() if name == "ENV" for each in shlex.split(rest)
    )


def read_by_butfor(monkeypatch, arguments, variables):
    """Return the options of a command in the image, by name; raise if butfor would refuse them.

    Each variable of butfor must be one that the command reads, except for those that the image sets for all.
    """
    name, *rest = arguments
    command = typer.main.get_command(app).commands[name]
    known = {option.envvar for option in command.params if option.param_type_name == "option"}
    assert {each for each in variables if each.startswith("BUTFOR_")} <= known
    for variable, value in (variables_of_the_image() | variables).items():
        if variable.startswith("BUTFOR_"):
            monkeypatch.setenv(variable, value)
    return command.make_context(name, list(rest)).params
