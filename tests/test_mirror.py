"""A module's test is where one looks for it: tests/<package, without the underscore>/test_<module>.py."""

import ast
from collections import Counter
from pathlib import Path

import butfor

ROOT, TESTS = Path(butfor.__file__).parent, Path(__file__).parent
TEST_MODULES = sorted(TESTS.rglob("test_*.py"))
OTHERS = {
    "deploy": "the files of deploy/, as butfor, nginx and Kubernetes read them",
    "docs": "what the docs show is what happens",
    "explainer": "one module, in files by what an Explainer is asked for",
    "js": "the page's JavaScript, by node",
    "tools": "what maintainers run before a release, and the files of the repository itself",
    "web/browser": "the page in a real browser",
}
"""Folders of tests that mirror no package, and what they are about."""


def test_folders_are_those_of_the_packages():
    packages = {path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py")}
    mirrors = {"/".join(part.lstrip("_") for part in package.parts) for package in packages} | {""}
    folders = {path.parent.relative_to(TESTS).as_posix().removeprefix(".") for path in TEST_MODULES}
    assert folders - mirrors == set(OTHERS)


def test_names_are_unique():
    """Without packages in tests, two modules of one name would be one."""
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert [name for name, number in names.items() if number > 1] == []


def test_no_test_imports_a_test():
    """What several tests use is in a module whose name does not begin with test_."""
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("test_"), path
