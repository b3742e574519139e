"""Commands start fast: what takes long to import waits until the options are known to be right."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from butfor import SEARCHES
from butfor._cli import app, options

LOADED = """
import sys
from butfor.__main__ import main
sys.argv = ["butfor", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    code = end.code
print(code, sorted({"numpy", "scipy", "sklearn", "pyarrow", "matplotlib"} & set(sys.modules)))
"""


def loaded(*arguments):
    """Return the exit code of a command, and which of the large libraries it imported."""
    command = [sys.executable, "-c", LOADED, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


@pytest.mark.parametrize("command", [(), ("explain",), ("batch",), ("serve",), ("study",)])
def test_help_imports_nothing_large(command):
    assert loaded(*command, "--help") == "0 []"


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain",),
        ("explain", "model.skops"),
        ("explain", "model.skops", "rows.npz", "--text", "free"),
        ("explain", "model.skops", "--text", "free", "--row", "0"),
        ("batch", "model.skops", "rows.npz"),
        ("serve", "model.skops", "--demo"),
        ("explain", "model.skops", "rows.npz", "--max-size", "many"),
    ],
)
def test_a_missing_or_wrong_option_is_reported_before_anything_is_imported(arguments):
    assert loaded(*arguments) == "2 []"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--max-size", "0", "max_size must be a whole number"),
        ("--search", "best", "--search must be one of auto, certified"),
        ("--set", "depth=3", "--set"),
        ("--kind", "age", "--kind must be of the form"),
        ("--names", "no_such_file.txt", "no_such_file.txt"),
    ],
)
def test_options_are_checked_before_the_model_is_loaded(option, value, message):
    result = CliRunner().invoke(app, ["explain", "no_such_model.skops", "no_such_rows.npz", option, value])
    assert result.exit_code == 2
    assert message in result.output
    assert "no_such_model" not in result.output


def test_the_help_names_all_searches():
    assert tuple(SEARCHES) == options.SEARCH_NAMES
