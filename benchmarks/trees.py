"""Tree ensembles: `python -m benchmarks.trees --rows 100 --out build/trees.json`.

It prints how fast rows are explained and proven, whether the formula decides as the library does on rows with
features removed, and how the rivals of tree_rivals.py do.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import explained, machine
from benchmarks.tree_cases import FOR_TREECF, TreeCase, case_for_pyxai, tree_cases
from benchmarks.tree_rivals import (
    AgainstLibrary,
    AsBlackBox,
    against_black_box,
    against_library,
    is_installed,
    is_proven,
    pyxai_search,
    treecf_search,
)
from butfor import Budget, Explainer
from butfor.models import kernels

MAX_SECONDS = 1.0
PYXAI_ROWS = 20


@dataclass(frozen=True)
class TreeSpeed:
    """How rows of one decision were explained."""

    data: str
    model: str
    side: str
    n_rows: int
    median_active: float
    found: int
    proven: int
    """Rows whose answer is proven smallest, or that are proven to have none, within the budget."""
    median_size: float
    median_leaves: float
    """Leaves that rows leave open; NaN where the local model does not say."""
    ms: float
    p90_ms: float
    largest_ms: float

    @property
    def table_row(self) -> str:
        """The row of the table."""
        leaves = "–" if np.isnan(self.median_leaves) else f"{self.median_leaves:,.0f}"
        return (
            f"| {self.data}, {self.model} | {self.n_rows} {self.side} | {self.median_active:g} | {leaves} "
            f"| {self.found} | {self.proven} | {self.median_size:g} | {self.ms:,.1f} | {self.p90_ms:,.1f} "
            f"| {self.largest_ms:,.0f} |"
        )


@dataclass(frozen=True)
class TreeAgreement:
    """The formula against the library's own prediction, on rows with random features removed."""

    data: str
    model: str
    kind: str
    equal: int
    compared: int
    largest_difference: float
    """Of the margins (forests: probabilities), in relation to their size, or to one if they are smaller."""

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.data}, {self.model} | {self.kind} | {self.equal:,} of {self.compared:,} "
            f"| {self.largest_difference:.1e} |"
        )


def main() -> None:
    """Print the tables and write all figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100, help="rows of each decision (default 100)")
    parser.add_argument("--black-box-rows", type=int, default=10, help="rows as a black box (default 10)")
    parser.add_argument(
        "--library-rows", type=int, default=6, help="rows for treecf (default 6; 0: no other library)"
    )
    parser.add_argument("--out", type=Path, default=Path("build/trees.json"))
    options = parser.parse_args()
    loops = "numpy" if kernels("trees") is None else "compiled"
    measured_on = {**machine(), "loops": loops}
    print(" · ".join(f"{name} {value}" for name, value in measured_on.items()))
    cases = list(tree_cases(options.rows))
    figures = {
        "machine": measured_on,
        "speed": speed_table(cases),
        "agreement": agreement_table(cases),
        "black_box": black_box_table(cases, options.black_box_rows),
        "libraries": library_table(cases, options.library_rows),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


def speed_table(cases: list[TreeCase]) -> list[dict[str, Any]]:
    """Print how fast rows are explained, and return the figures."""
    head = "model | rows | active | open leaves | found | proven | size | ms | 90 % | most"
    results = (speed(case, side, rows) for case in cases for side, rows in case.sides.items())
    return _table(head, 2, results)


def agreement_table(cases: list[TreeCase]) -> list[dict[str, Any]]:
    """Print how often the formula decides as the library does, and return the figures."""
    head = "model | local model | equal decisions | largest difference of margins"
    return _table(head, 2, (agreement(case) for case in cases))


def black_box_table(cases: list[TreeCase], n_rows: int) -> list[dict[str, Any]]:
    """Print how much faster the formula is than the same model as a black box, and return the figures."""
    if not n_rows:
        return []

    def results() -> Iterator[AsBlackBox]:
        for case in cases:
            rows = case.mixed(n_rows)
            yield against_black_box(case.data, case.name, case.model, rows, max_seconds=MAX_SECONDS)

    head = "model | rows | ms | black box, ms | times faster | proven | black box | smaller | larger"
    return _table(head, 1, results())


def library_table(cases: list[TreeCase], n_rows: int) -> list[dict[str, Any]]:
    """Print how much faster butfor is than exact libraries for trees, and return the figures."""
    if not n_rows:
        return []

    def results() -> Iterator[AgainstLibrary]:
        if is_installed("pyxai"):
            case = case_for_pyxai(PYXAI_ROWS)
            search = pyxai_search(case.model)
            yield against_library(case.data, case.name, case.model, case.mixed(PYXAI_ROWS), "PyXAI", search)
        for case in cases if is_installed("treecf") else ():
            if case.name == FOR_TREECF:
                search = treecf_search(case.model)
                yield against_library(case.data, case.name, case.model, case.mixed(n_rows), "treecf", search)

    head = "model | library | rows | ms | library, ms | times faster | proven | library | same size"
    return _table(head, 2, results())


def _table(head: str, n_words: int, results: Iterator[Any]) -> list[dict[str, Any]]:
    """Print a table, each row as soon as it is known; return its figures. The first columns are words."""
    n_numbers = head.count("|") + 1 - n_words
    print(f"\n| data, {head} |\n|{'---|' * n_words}{'---:|' * n_numbers}")
    figures = []
    for each in results:
        print(each.table_row, flush=True)
        figures.append(asdict(each))
    return figures


def speed(case: TreeCase, side: str, rows: list[Any]) -> TreeSpeed:
    """Explain rows within the budget of each."""
    explainer = Explainer(case.model, budget=Budget(max_seconds=MAX_SECONDS))
    answers = explained(explainer, rows)
    sizes = [why.size for why, _ in answers if why.status == "found"]
    leaves = [float(getattr(explainer.local_model(row), "n_leaves", np.nan)) for row in rows[:20]]
    milliseconds = 1000 * np.array([seconds for _, seconds in answers])
    return TreeSpeed(
        data=case.data,
        model=case.name,
        side=side,
        n_rows=len(rows),
        median_active=median(int(np.count_nonzero(_dense(row))) for row in rows),
        found=len(sizes),
        proven=sum(is_proven(why) for why, _ in answers),
        median_size=float(median(sizes)) if sizes else 0.0,
        median_leaves=median(leaves),
        ms=float(np.median(milliseconds)),
        p90_ms=float(np.quantile(milliseconds, 0.9)),
        largest_ms=float(milliseconds.max()),
    )


def agreement(case: TreeCase, n_rows: int = 20, n_sets: int = 50) -> TreeAgreement:
    """Compare decisions and margins of the local model with those of the model on the real changed rows."""
    explainer, rng = Explainer(case.model), np.random.default_rng(0)
    rows, equal, largest, kinds = case.mixed(n_rows), 0, 0.0, set()
    for row in rows:
        local = explainer.local_model(row)
        removed = rng.random((n_sets, local.n_features)) < rng.random((n_sets, 1))
        changed = _without(row, removed)
        scores = local.scores(removed)
        flipped = case.model.predict(changed) != case.model.predict(row)[0]
        equal += int((local.flips(scores) == flipped).sum())
        sign = 1.0 if local.positive else -1.0
        theirs = _margins(case.model, changed)
        ours = local.reported(scores) if theirs is None else sign * scores
        theirs = case.model.predict_proba(changed)[:, 1] if theirs is None else theirs
        largest = max(largest, float((np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))).max()))
        kinds.add(local.kind)
    kind = ", ".join(sorted(kinds))
    return TreeAgreement(case.data, case.name, kind, equal, len(rows) * n_sets, largest)


def _margins(model: Any, X: Any) -> Any:
    """Return the library's own log-odds; None for a forest, or another model that adds up probabilities."""
    name = type(model).__name__
    if name == "LGBMClassifier":
        return model.predict(X, raw_score=True)
    if name == "XGBClassifier":
        return model.predict(X, output_margin=True)
    return model.decision_function(X) if hasattr(model, "decision_function") else None


def _without(row: Any, removed: Any) -> Any:
    """Return a copy of the row for each removal set, in its own form; CSR without stored zeros."""
    full = _dense(row)
    copies = np.repeat(full, len(removed), axis=0)
    copies[:, np.flatnonzero(full[0])] *= ~removed
    return sparse.csr_matrix(copies) if sparse.issparse(row) else copies


def _dense(row: Any) -> Any:
    return row.toarray() if sparse.issparse(row) else row


if __name__ == "__main__":
    main()
