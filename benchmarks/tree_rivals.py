"""Trees against rivals: the same model as a black box, and exact libraries for tree ensembles.

treecf and PyXAI are driven for removal: inactive features are frozen, active ones keep their value or become
zero, and each change costs one. Both are optional: `pip install treecf pyxai`.
"""

import contextlib
import importlib
import importlib.util
import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import explained, timed
from butfor import Budget, Explainer, Explanation

LIBRARY_SECONDS = 30.0
Search = Callable[[Any], tuple[float, bool]]
"""From a row to the size of an answer (infinity: none), and whether it is proven."""


@dataclass(frozen=True)
class AsBlackBox:
    """Rows explained by the formula of the model, and by asking it as a black box."""

    data: str
    model: str
    n_rows: int
    ms: float
    black_box_ms: float
    times_faster: float
    """The median over the rows of the ratio of the times."""
    black_box_proven: int
    proven: int
    smaller: int
    """Rows for which the answer by the formula is smaller, or for which only the formula has one."""
    larger: int

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.data}, {self.model} | {self.n_rows} | {self.ms:,.1f} | {self.black_box_ms:,.0f} "
            f"| {self.times_faster:,.1f} | {self.proven} | {self.black_box_proven} | {self.smaller} "
            f"| {self.larger} |"
        )


@dataclass(frozen=True)
class AgainstLibrary:
    """Rows explained by butfor and by another library."""

    data: str
    model: str
    library: str
    n_rows: int
    ms: float
    library_ms: float
    times_faster: float
    """The ratio of the medians."""
    proven: int
    library_proven: int
    same_size: int
    """Rows that both proved, with answers of the same size."""
    both_proven: int

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.data}, {self.model} | {self.library} | {self.n_rows} | {self.ms:,.1f} "
            f"| {self.library_ms:,.0f} | {self.times_faster:,.1f} | {self.proven} | {self.library_proven} "
            f"| {self.same_size} of {self.both_proven} |"
        )


def is_installed(library: str) -> bool:
    """Return whether a library is installed; print how to install it if it is not."""
    found = importlib.util.find_spec(library) is not None
    if not found:
        print(f"\n{library} is not installed: pip install {library}")
    return found


def is_proven(why: Explanation) -> bool:
    """Return whether the answer is proven smallest, or proven not to exist."""
    return why.proven_minimum or why.status == "none"


def against_black_box(
    data: str, name: str, model: Any, rows: list[Any], *, max_seconds: float = 1.0
) -> AsBlackBox:
    """Explain rows by the formula of the model, and with a function of which butfor knows nothing."""

    def score(X: Any) -> Any:
        return model.predict_proba(X)[:, 1]

    budget = Budget(max_seconds=max_seconds)
    ours = explained(Explainer(model, budget=budget), rows)
    theirs = explained(Explainer(score, threshold=0.5, budget=budget), rows)
    pairs = list(zip(ours, theirs, strict=True))
    sizes = [(_size(a), _size(b)) for (a, _), (b, _) in pairs]
    return AsBlackBox(
        data=data,
        model=name,
        n_rows=len(rows),
        ms=1000 * median(seconds for _, seconds in ours),
        black_box_ms=1000 * median(seconds for _, seconds in theirs),
        times_faster=median(slow / fast for (_, fast), (_, slow) in pairs),
        black_box_proven=sum(is_proven(why) for why, _ in theirs),
        proven=sum(is_proven(why) for why, _ in ours),
        smaller=sum(a < b for a, b in sizes),
        larger=sum(a > b for a, b in sizes),
    )


def against_library(
    data: str, name: str, model: Any, rows: list[Any], library: str, search: Search
) -> AgainstLibrary:
    """Explain rows by butfor and by another library, both within its time."""
    n_active = max(int(np.count_nonzero(_dense(row))) for row in rows)
    budget = Budget(max_size=n_active, max_seconds=LIBRARY_SECONDS)
    ours = explained(Explainer(model, budget=budget), rows)
    theirs = [timed(search, row) for row in rows]
    both = [
        (_size(why), size)
        for (why, _), ((size, proven), _) in zip(ours, theirs, strict=True)
        if proven and is_proven(why)
    ]
    ms, library_ms = (1000 * median(seconds for _, seconds in each) for each in (ours, theirs))
    return AgainstLibrary(
        data=data,
        model=name,
        library=library,
        n_rows=len(rows),
        ms=ms,
        library_ms=library_ms,
        times_faster=library_ms / ms,
        proven=sum(is_proven(why) for why, _ in ours),
        library_proven=sum(proven for (_, proven), _ in theirs),
        same_size=sum(a == b for a, b in both),
        both_proven=len(both),
    )


def treecf_search(model: Any) -> Search:
    """Return the exact search of treecf on a LightGBM classifier. The model is parsed once, before."""
    treecf: Any = importlib.import_module("treecf")
    parsed = importlib.import_module("treecf.ir.parsers").parse_model(model.booster_)
    names = parsed.feature_names

    def search(row: Any) -> tuple[float, bool]:
        x = row.toarray()[0].astype(np.float64)
        limits = [
            treecf.Range(name, min(0.0, value), max(0.0, value)) if value else treecf.Freeze(name)
            for name, value in zip(names, x, strict=True)
        ]
        grids = {name: treecf.Grid(step=abs(value)) for name, value in zip(names, x, strict=True) if value}
        scale = np.where(x == 0, 1.0, np.abs(x))
        explainer = treecf.Explainer(parsed, constraints=limits, normalizers=scale, value_policy=grids)
        is_positive = model.predict(row, num_threads=1)[0] == model.classes_[1]
        above = float(np.nextafter(0.0, 1.0))
        target = (
            treecf.Target.raw(op="<=", value=0.0) if is_positive else treecf.Target.raw(op=">=", value=above)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the time was over
            answer = explainer.explain(
                x, target, backend="exact", time_budget_s=LIBRARY_SECONDS, node_budget=10**9, seed=0
            )
        if isinstance(answer, treecf.Infeasible):
            return np.inf, answer.proof == "certified"
        return answer.n_changed, answer.proof == "optimal"

    return search


def pyxai_search(model: Any) -> Search:
    """Return the search for minimal contrastive reasons of PyXAI on an XGBoost classifier of dense bits.

    PyXAI counts conditions: with one condition for each feature these are features. It writes and solves an
    integer programme.
    """
    arguments, sys.argv = sys.argv, sys.argv[:1]  # PyXAI reads them
    try:
        learning: Any = importlib.import_module("pyxai.Learning")
        explaining: Any = importlib.import_module("pyxai.Explaining")
    finally:
        sys.argv = arguments
    with contextlib.redirect_stdout(io.StringIO()):
        _, trees = learning.ModelIO.import_models(model, instances_type="tabular")
    trees = trees[0] if isinstance(trees, (list, tuple)) else trees
    trees.learner_information.feature_names = [f"column {i}" for i in range(model.n_features_in_)]
    explainer = explaining.initialize(trees)
    feature_of = trees.map_id_binaries_to_features

    def search(row: Any) -> tuple[float, bool]:
        x = row[0]
        explainer.set_instance(x)
        # What set_excluded_features does, without a search in a list of names for each condition.
        explainer._excluded_literals = [
            literal for literal in explainer.binary_representation if not x[feature_of[abs(literal)][0] - 1]
        ]
        reason = explainer.minimal_contrastive_reason(n=1, time_limit=int(LIBRARY_SECONDS))
        return (len(reason) if reason else np.inf), explainer.elapsed_time != explaining.TIMEOUT

    return search


def _dense(row: Any) -> Any:
    return row.toarray() if sparse.issparse(row) else row


def _size(why: Explanation) -> float:
    """Return the size of an answer; infinity if there is none."""
    return why.size if why.status == "found" else np.inf
