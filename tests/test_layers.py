"""Imports point one way: a module may only use the layers below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import butfor

ROOT = Path(butfor.__file__).parent
BASICS = {"errors", "_blas", "_checks", "budget", "noise"}
MODELS = BASICS | {"models", "rankings", "results", "searches"}
ALLOWED = {
    "errors": set(),
    "_blas": set(),
    "_checks": {"errors"},
    "budget": {"errors", "_checks"},
    "noise": {"errors", "_checks"},
    "_extras": {"errors"},
    "_ubjson": set(),
    "_render": {"_extras", "errors"},
    "results": {"_extras", "_render", "errors"},
    "models": BASICS | {"_extras", "_ubjson"},
    "rankings": BASICS | {"models"},
    "searches": BASICS | {"models", "rankings"},
    "verify": BASICS | {"models"},
    "_readers": BASICS | {"models", "results"},
    "_processes": {"errors"},
    "_engine": MODELS | {"_processes", "_readers"},
    "explainer": MODELS | {"_engine"},
    "datasets": BASICS | {"_extras"},
    "_files": {"_checks", "_extras", "_ubjson", "errors"},
    "_lazy": set(),
    "__init__": {"_lazy"},
    "_demo": {"", "_render", "datasets"},
    "_terminal": set(),
    "batch": {"", "_checks", "_extras", "_files", "_processes", "_render", "_terminal", "errors", "results"},
    "study": {"", "_checks", "_extras", "_lazy", "_terminal", "datasets", "errors", "searches"},
    "_web": BASICS
    | {"", "_demo", "_extras", "_files", "_processes", "_render", "batch", "datasets", "results", "searches"},
    "_cli": {
        "",
        "_checks",
        "_demo",
        "_extras",
        "_files",
        "_processes",
        "_render",
        "_terminal",
        "_web",
        "batch",
        "budget",
        "errors",
        "searches",
        "study",
    },
    "__main__": {"_cli", "_extras"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but what is there for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from running(node)


def imported(path: Path) -> set[str]:
    """Return the modules that a module imports when it runs, with the names that it takes from them."""
    names = set()
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {f"{node.module} {alias.name}" for alias in node.names}
    return names


def imports(path: Path) -> set[str]:
    """Return the layers of butfor that a module imports when it runs; the package itself is ""."""
    modules = {name.split()[0] for name in imported(path)}
    return {name.split(".")[1] if "." in name else "" for name in modules if name.split(".")[0] == "butfor"}


def test_imports_point_down():
    upward = {
        str(path.relative_to(ROOT)): extra
        for path in MODULES
        if (extra := imports(path) - ALLOWED[layer(path)] - {layer(path)})
    }
    assert upward == {}


def test_searches_and_rankings_do_not_know_scikit_learn():
    solvers = {"sklearn.linear_model lars_path_gram", "sklearn.exceptions ConvergenceWarning"}  # mathematics
    for path in MODULES:
        if layer(path) in ("searches", "rankings", "explainer", "results", "_render"):
            assert not {name for name in imported(path) - solvers if name.startswith("sklearn")}, path


def test_every_layer_is_there():
    assert {layer(path) for path in MODULES} == set(ALLOWED)


def test_no_two_classes_share_a_name():
    names = [
        (node.name.lstrip("_"), str(path.relative_to(ROOT)))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    count = {}
    for name, path in names:
        count.setdefault(name, []).append(path)
    assert {name: paths for name, paths in count.items() if len(paths) > 1} == {}
