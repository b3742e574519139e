import json
import re
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from examples import FOUND

from butfor import InputError
from butfor._extras import install_line
from butfor.results.explanations import Explanations
from butfor.results.ranked import Ranked

BY_NAME = 'pip install "butfor[plot]"'


@pytest.fixture
def installed_from(monkeypatch):
    """Return a function that says where butfor was installed from; None: from a package index."""

    class Installed:
        def __init__(self, origin):
            self.origin = origin

        def read_text(self, name):
            assert name == "direct_url.json"
            return self.origin

    def say(origin):
        written = origin if origin is None or isinstance(origin, str) else json.dumps(origin)
        monkeypatch.setattr("importlib.metadata.distribution", lambda name: Installed(written))

    return say


@pytest.mark.parametrize(
    ("module", "extra", "ask"),
    [
        ("matplotlib", "plot", FOUND.plot),
        ("matplotlib", "plot", Ranked([("a", 1.0)]).plot),
        ("matplotlib", "plot", Explanations([FOUND]).plot),
        ("pandas", "frame", Ranked([("a", 1.0)]).to_frame),
        ("pandas", "frame", Explanations([FOUND]).to_frame),
    ],
)
def test_what_is_missing_is_named_with_the_way_to_get_it(module, extra, ask, monkeypatch, installed_from):
    installed_from(None)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "butfor._render.plots", raising=False)
    with pytest.raises(InputError, match=re.escape(f'pip install "butfor[{extra}]"')):
        ask()


def test_from_an_index_the_name_is_enough(installed_from):
    installed_from(None)
    assert install_line("plot") == BY_NAME
    installed_from("no JSON")
    assert install_line("plot") == BY_NAME


def test_without_an_installation_the_name_is_all_there_is(monkeypatch):
    def nowhere(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", nowhere)
    assert install_line("plot") == BY_NAME


def test_a_clone_is_installed_again(installed_from, tmp_path, monkeypatch):
    clone = tmp_path / "my clone"
    clone.mkdir()
    installed_from({"url": clone.as_uri(), "dir_info": {"editable": True}})
    assert install_line("plot") == f'pip install -e "{clone}[plot]"'
    monkeypatch.chdir(clone)
    assert install_line("plot") == 'pip install -e ".[plot]"'
    installed_from({"url": clone.as_uri(), "dir_info": {}})
    assert install_line("plot") == 'pip install ".[plot]"'
    installed_from({"url": (tmp_path / "gone").as_uri(), "dir_info": {}})
    assert install_line("plot") == BY_NAME


def test_an_archive_and_a_repository_are_named_by_their_address(installed_from, tmp_path):
    wheel = Path(tmp_path / "butfor-1.0-py3-none-any.whl")
    origin = {"url": wheel.as_uri(), "archive_info": {}}
    installed_from(origin)
    assert install_line("plot") == BY_NAME  # the file is gone
    wheel.touch()
    assert install_line("plot") == f'pip install "butfor[plot] @ {wheel.as_uri()}"'
    installed_from({"url": "https://host.example/b.git", "vcs_info": {"vcs": "git", "commit_id": "1f"}})
    assert install_line("plot") == 'pip install "butfor[plot] @ git+https://host.example/b.git@1f"'
