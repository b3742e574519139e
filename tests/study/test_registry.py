from pathlib import Path

import pytest

from butfor import SEARCHES, InputError, LimeC
from butfor.study.registry import registry

ADDED = Path(__file__).parent / "tiny.py"


def test_what_comes_with_butfor_and_what_is_added():
    plain, more = registry(), registry((ADDED,))
    assert set(more.datasets) - set(plain.datasets) == {"tiny"}
    assert set(more.models) - set(plain.models) == {"lazy", "moody", "plain"}
    assert set(more.searches) - set(plain.searches) == {"first"}


def test_searches_with_parameters():
    assert registry().search("lime-c:n_samples=20") == LimeC(n_samples=20)
    assert registry().search("lime-sedc:n_samples=20,50:max_iterations=3").n_samples == (20, 50)
    assert registry().search("sedc") is SEARCHES["sedc"]


def test_a_search_is_told_apart_from_another_of_its_name(tmp_path):
    assert registry().identity("sedc") == "SEDC(max_iterations=50)"
    assert registry().identity("sedc:max_iterations=9") == "SEDC(max_iterations=9)"
    other = tmp_path / "tiny.py"
    other.write_text(ADDED.read_text() + "\n")
    assert registry((ADDED,)).identity("first") != registry((other,)).identity("first")


def test_parameters_of_a_search_that_has_none():
    with pytest.raises(InputError, match=r"must name a parameter of first \(it has none\)"):
        registry((ADDED,)).search("first:depth=4")


def test_chance_is_repeated():
    known = registry((ADDED,))
    assert [name for name in known.searches if not known.is_repeated(name)] == [
        "auto",
        "certified",
        "sedc",
        "lin-sedc",
        "complete",
    ]
    assert known.is_repeated("lime-c:n_samples=9")
    assert known.is_repeated("first")
    assert not known.is_repeated("sedc:max_iterations=9")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--add must be a Python file"),
        ("x = 1", "must define DATASETS, MODELS or SEARCHES"),
        ("1 / 0", "does not run: ZeroDivisionError"),
        ("SEARCHES = []", "SEARCHES of --add .* must be a dict of names, got a list"),
        ("SEARCHES = {'x': int}", "must hold searches, such as SEDC.., got <class 'int'> for 'x'"),
        ("SEARCHES = {'x:y': print}", "must have names without comma and colon, got 'x:y'"),
        ("MODELS = {'x': 5}", "MODELS of --add .* must hold objects of StudyModel, got 5 for 'x'"),
        (
            "from butfor.study.models import MODELS as M\nMODELS = {'x': M['mlp']}",
            "must have 'mlp' under its own name, got 'x'",
        ),
    ],
)
def test_files_that_add_nothing(tmp_path, content, message):
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        registry((path,))
