"""Names and docstrings follow the glossary: plain words, imperatives, and numpydoc sections."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import butfor

ROOT = Path(butfor.__file__).parent
TREES = {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}
FORBIDDEN = {"inquiry", "inquest", "crew", "desk", "holders", "bench"}
ALIASES = {"Explainer.bench"}
"""Names that stay for users' sake."""
NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield classes and functions with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        name = f"{prefix}{node.name}" if isinstance(node, NAMED) else prefix.removesuffix(".")
        if isinstance(node, NAMED):
            yield name, node
        yield from definitions(node, f"{name}." if name else "")


def words(name: str) -> set[str]:
    """Return the words of a name, in lower case, and without the s of a plural too."""
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return found | {word.removesuffix("s") for word in found}


def test_docstrings_are_imperatives_of_the_ecosystem():
    riddles = [
        f"{path}: {name or 'module'}: {text.splitlines()[0]}"
        for path, tree in TREES.items()
        for name, node in [("", tree), *definitions(tree)]
        if (text := ast.get_docstring(node)) and re.match(r"(Give|Tell|Say)s?\b", text)
    ]
    assert riddles == []


def test_no_name_needs_an_explanation():
    names = [(path, name) for path, tree in TREES.items() for name, _ in definitions(tree)]
    modules = [(path, part.removesuffix(".py")) for path in TREES for part in path.parts]
    strange = {
        f"{path}: {name}"
        for path, name in names + modules
        if words(name.split(".")[-1]) & FORBIDDEN and name not in ALIASES
    }
    assert strange == set()


def methods(cls: type) -> dict[str, object]:
    """Return the public methods that a class itself defines."""
    own = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
    own = {name: getattr(value, "__func__", value) for name, value in own.items()}
    return {f"{cls.__name__}.{name}": value for name, value in own.items() if inspect.isfunction(value)}


def missing_sections(thing: object) -> list[str]:
    """Return the numpydoc sections that a class or a function should have and has not."""
    text, signature = inspect.getdoc(thing) or "", inspect.signature(thing)
    takes = set(signature.parameters) - {"self", "cls"}
    gives = not isinstance(thing, type) and signature.return_annotation not in (None, "None")
    asked = [("Parameters", "Attributes")] if takes else []
    asked += [("Returns", "Yields")] if gives else []
    return [each[0] for each in asked if not any(f"\n{name}\n{'-' * len(name)}\n" in text for name in each)]


def test_public_names_have_numpydoc_sections():
    public = {name: getattr(butfor, name) for name in butfor.__all__}
    classes = {name: value for name, value in public.items() if isinstance(value, type)}
    for cls in classes.values():
        public |= methods(cls)
    without_sections = {
        name: missing
        for name, value in public.items()
        if (isinstance(value, type) or inspect.isfunction(value))
        and not (isinstance(value, type) and (issubclass(value, Exception) or Protocol in value.__bases__))
        and (missing := missing_sections(value))
    }
    assert without_sections == {}
