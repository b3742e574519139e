"""The walk of one row through the code: `python -m benchmarks.walk [--steps]`.

It prints which files of butfor one `explain` crosses, in the order in which they are entered, and how often
execution moves from one file to another. Fewer moves are easier to follow for whoever reads the code.

How it is measured: `sys.setprofile` reports every call and return of a Python function. Functions outside of
src/butfor (numpy, scikit-learn, the model) are passed over. Two numbers follow:

- *changes by calls*: of two calls that follow each other, the second is to a function of another file.
- *changes by calls and returns*: a call or a return moves execution from one file to another. So a call into
  another file counts twice, on the way in and on the way back. A generator is entered anew for each value.

The first `explain` of an Explainer also recognises the model; the second is the walk of every later row.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import butfor
from butfor import Explainer
from butfor.datasets import load_inbox, load_moviegoers

ROOT = Path(butfor.__file__).parent
ROWS = {1: "one film", 17: "two films"}
"""Rows of the moviegoers, and what their explanations name: larger ones take a longer walk."""
TEXT = "Rate our biscuit, get a FREE tablet! biscuitpanel.example"
N_ALTERNATIVES = 5
ENGINE = "_engine"
"""The private attribute in which an Explainer holds its engine."""


@dataclass
class Walk:
    """The calls and returns of functions in src/butfor while something runs."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    """File and name of every function that is called, in their order."""
    positions: list[str] = field(default_factory=list)
    """The file in which execution is after every call and return."""
    _stack: list[str] = field(default_factory=list)

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        """Take down one event of `sys.setprofile`."""
        name = frame.f_code.co_filename
        if event not in ("call", "return") or not name.startswith(f"{ROOT}/"):
            return
        if event == "call":
            self._stack.append(name.removeprefix(f"{ROOT}/"))
            self.calls.append((self._stack[-1], frame.f_code.co_name))
        elif self._stack:
            self._stack.pop()
        self.positions += self._stack[-1:]

    @property
    def files(self) -> list[str]:
        """The files that were entered, in the order of their first call."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    @property
    def changes_by_calls(self) -> int:
        """How many calls are to another file than the call before."""
        return changes([file for file, _ in self.calls])

    @property
    def changes_by_calls_and_returns(self) -> int:
        """How many calls and returns move execution to another file."""
        return changes(self.positions)


def changes(files: list[str]) -> int:
    """Count how often a file differs from the one before.

    >>> changes(["explainer.py", "explainer.py", "budget.py", "explainer.py"])
    2
    """
    return sum(here != before for before, here in pairwise(files))


def walk(work: Callable[..., object], *arguments: Any) -> Walk:
    """Run something and return the walk that it took."""
    walked = Walk()
    sys.setprofile(walked.profile)
    try:
        work(*arguments)
    finally:
        sys.setprofile(None)
    return walked


def main() -> None:
    """Print the walks and what else tells how far the engine is spread."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", action="store_true", help="print every call of the second explain")
    options = parser.parse_args()
    for title, explainer, row in subjects():
        first, second = walk(explainer.explain, row), walk(explainer.explain, row)
        print(f"{title}\n")
        print("\n".join(table({"first explain": first, "second explain": second})))
        print(f"\nThe second explain{':' if options.steps else ', file by file with the calls into each:'}\n")
        print("\n".join(steps(second) if options.steps else visits(second)), end="\n\n")
    print("\n".join(structure()))


def subjects() -> Iterator[tuple[str, Explainer, Any]]:
    """Yield a title, an Explainer that has explained nothing yet, and a row."""
    people = load_moviegoers()
    linear = LogisticRegression().fit(people.X, people.y)
    for row, answer in ROWS.items():
        yield f"LogisticRegression on moviegoers, an answer of {answer}", Explainer(linear), people.X[[row]]
    inbox = load_inbox()
    network = MLPClassifier((20,), max_iter=500, random_state=0)
    texts = make_pipeline(TfidfVectorizer(), network).fit(inbox.texts, inbox.y)
    yield "TfidfVectorizer and MLPClassifier on a text of the inbox", Explainer(texts), TEXT


def table(walks: dict[str, Walk]) -> Iterator[str]:
    """Write a Markdown table of walks."""
    yield "| walk | files | calls | changes by calls | changes by calls and returns |"
    yield "|---|---:|---:|---:|---:|"
    for title, walked in walks.items():
        numbers = (
            len(walked.files),
            len(walked.calls),
            walked.changes_by_calls,
            walked.changes_by_calls_and_returns,
        )
        yield f"| {title} | {' | '.join(f'{number:,}' for number in numbers)} |"


def visits(walked: Walk) -> Iterator[str]:
    """Write the files in the order in which they were entered."""
    counts = Counter(file for file, _ in walked.calls)
    for file in walked.files:
        yield f"  {counts[file]:5,}  {file}"


def steps(walked: Walk) -> Iterator[str]:
    """Write every call, with its file where that is not the file of the call before."""
    before = ""
    for file, function in walked.calls:
        yield f"  {file if file != before else '':40} {function}"
        before = file


def structure() -> Iterator[str]:
    """Write what should be one, none and one: counted in the source, and in a run."""
    constructed = list(constructions_of("Explanation"))
    yield f"places that construct an Explanation: {len(constructed)} {listed(constructed)}"
    used = list(uses_of_engine())
    yield f"uses of the engine's private attributes outside of it: {len(used)} {listed(used)}"
    yield (
        f"calls of recognise by {N_ALTERNATIVES} alternatives() and one explain of one Explainer: "
        f"{recognitions()}"
    )


def listed(places: list[str]) -> str:
    """Write places in brackets, each with how often it occurs.

    >>> listed(["a.py", "b.py", "a.py"]), listed([])
    ('(a.py × 2, b.py)', '')
    """
    counts = Counter(places)
    names = [file if count == 1 else f"{file} × {count}" for file, count in counts.items()]
    return f"({', '.join(names)})" if names else ""


def constructions_of(name: str) -> Iterator[str]:
    """Yield the file of every call of a class, or of `object.__new__` for it."""
    for file, node in nodes():
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func).split(".")[-1]
        if called == name or (called == "__new__" and ast.unparse(node.args[0]) == name):
            yield file


def uses_of_engine() -> Iterator[str]:
    """Yield the file of every use of another object's engine, but for the engine's own files."""
    for file, node in nodes():
        is_used = isinstance(node, ast.Attribute) and node.attr == ENGINE
        if is_used and not file.startswith(("_engine/", "explainer.py")) and not _is_own(node):
            yield file


def _is_own(node: ast.AST) -> bool:
    """Return whether an attribute is the object's own, or a package."""
    owner, _, _ = ast.unparse(node).rpartition(".")
    return owner in ("self", "butfor")


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of every module, with the module's file."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path.relative_to(ROOT).as_posix(), node


def recognitions() -> int:
    """Count how often one Explainer reads its model's formula."""
    people = load_moviegoers()
    explainer, row = Explainer(LogisticRegression().fit(people.X, people.y)), people.X[[17]]

    def work() -> None:
        for _ in range(N_ALTERNATIVES):
            list(explainer.alternatives(row, limit=1))
        explainer.explain(row)

    return sum(function == "recognise" for _, function in walk(work).calls)


if __name__ == "__main__":
    main()
