import pytest

from butfor import InputError
from tools.dist import project
from tools.smoke import EXTRAS, CommandError, core, frame, parquet, require_install_line, run


def test_every_extra_is_tried():
    assert set(EXTRAS) == {"core", *project()["optional-dependencies"]}


@pytest.mark.parametrize("smoke", [core, frame, parquet], ids=lambda smoke: smoke.__name__)
def test_it_works_here(smoke):
    smoke()


def test_a_command_that_fails_raises_with_what_it_says():
    with pytest.raises(CommandError, match="butfor explain nothing ended with 2: error: DATA must be given"):
        run("explain", "nothing")


def fail():
    raise InputError('this needs x, which is not installed: pip install "butfor[plot]"')


def test_a_missing_extra_must_be_named():
    require_install_line("plot", fail)
    with pytest.raises(AssertionError, match="web is not named: this needs x"):
        require_install_line("web", fail)
    with pytest.raises(AssertionError, match="nothing failed"):
        require_install_line("web", list)
