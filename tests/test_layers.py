"""Imports point one way: a module may only use the layers below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import butfor

ROOT = Path(butfor.__file__).parent
BASICS = {"errors", "checks", "budget"}
ALLOWED = {
    "errors": set(),
    "checks": {"errors"},
    "budget": {"errors", "checks"},
    "render": {"errors"},
    "explanation": {"errors", "render"},
    "explanations": {"errors", "explanation", "render"},
    "ranked": {"errors", "render"},
    "models": BASICS | {"explanation"},
    "rankings": BASICS | {"models"},
    "searches": BASICS | {"models", "rankings"},
    "verify": BASICS | {"models"},
    "subjects": BASICS | {"explanation", "models"},
    "arguments": BASICS | {"explanation", "models", "rankings", "searches", "subjects"},
    "case": BASICS | {"models", "searches", "subjects"},
    "linear_rows": BASICS | {"explanation", "inquiry", "models", "searches", "subjects"},
    "blocks": BASICS
    | {"arguments", "case", "explanation", "inquiry", "linear_rows", "models", "searches", "subjects"},
    "sharing": set(),
    "inquiry": BASICS | {"case", "explanation", "models", "searches", "subjects"},
    "alternatives": BASICS | {"explanation", "inquiry", "models", "searches"},
    "bench": BASICS | {"case", "explanation", "inquiry", "subjects"},
    "decisions": BASICS | {"blocks", "inquiry", "models"},
    "parallel": BASICS | {"blocks", "inquiry", "models", "sharing", "workers"},
    "explainer": BASICS
    | {
        "alternatives",
        "arguments",
        "bench",
        "blocks",
        "decisions",
        "explanation",
        "inquiry",
        "models",
        "parallel",
        "ranked",
        "rankings",
        "searches",
        "subjects",
    },
    "workers": {"errors"},
    "datasets": BASICS,
    "files": {"errors"},
    "__init__": BASICS | {"explanation", "explanations", "ranked", "searches", "explainer"},
    "demo": {"", "datasets", "render"},
    "terminal": set(),
    "batch": {"", "errors", "checks", "files", "explainer", "sharing", "workers", "render", "terminal"},
    "study": {"", "errors", "checks", "datasets", "searches", "terminal"},
    "web": BASICS
    | {
        "",
        "batch",
        "bench",
        "datasets",
        "demo",
        "explanation",
        "files",
        "models",
        "render",
        "searches",
        "sharing",
        "workers",
    },
    "cli": {
        "",
        "errors",
        "batch",
        "checks",
        "files",
        "demo",
        "render",
        "searches",
        "study",
        "terminal",
        "web",
        "workers",
    },
    "__main__": {"cli"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Give every node but what is there for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from running(node)


def imports(path: Path) -> set[str]:
    """Give the layers of butfor that a module imports when it runs; the package itself is ""."""
    names = set()
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names.add(node.module)
    return {name.split(".")[1] if "." in name else "" for name in names if name.split(".")[0] == "butfor"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    here = layer(path)
    assert imports(path) <= ALLOWED[here] | {here}


def test_searches_and_rankings_do_not_know_scikit_learn():
    for path in MODULES:
        if layer(path) in ("searches", "rankings", "explainer", "explanation", "render"):
            text = path.read_text(encoding="utf-8")
            for solver in ("linear_model import lars_path_gram", "exceptions import ConvergenceWarning"):
                text = text.replace(f"from sklearn.{solver}", "")  # mathematics, not models
            assert "sklearn" not in text, path


def test_every_layer_is_there():
    assert {layer(path) for path in MODULES} == set(ALLOWED)
