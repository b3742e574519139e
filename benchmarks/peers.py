"""LIME-C and SHAP-C against the lime and shap packages with lin-SEDC, as the paper used them."""

import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.cases import Case
from benchmarks.common import explained, timed
from butfor import Explainer

N_SAMPLES = 5_000
MAX_SIZE = 30
Ranked = Callable[[Case, Any], list[int]]
"""Returns the columns with a positive weight, highest first."""


@dataclass(frozen=True)
class PeerComparison:
    """The cost of one method over the rows of a case, against the package of its family."""

    data: str
    model: str
    method: str
    n_rows: int
    explained: int
    mean_size: float
    """Over the rows that the package explains. A row without an answer counts as one more than the limit."""
    at_minimum: int
    """Number of rows with an answer of the size that is proven to be the smallest."""
    ms: float
    times_faster: float
    """The median over the rows of the ratio of the package's time to this one's."""


def compare_with_peers(case: Case) -> Iterator[PeerComparison]:
    """Run each package and lin-SEDC, then our searches of the same family on the same rows."""
    smallest = [size for size, _ in _answers(case, case.recognisable, "certified")]
    for family, package in (("lime", lime_package), ("shap", shap_package)):
        theirs = [timed(_lin_sedc, case, row, package) for row in case.rows]
        yield _comparison(case, f"{family} package, lin-SEDC", theirs, theirs, smallest)
        for method, model, search in (
            (f"{family}-c, black box", case.score, f"{family}-c"),
            (f"{family}-c", case.recognisable, f"{family}-c"),
            (f"{family}-sedc", case.recognisable, f"{family}-sedc"),
        ):
            yield _comparison(case, method, _answers(case, model, search), theirs, smallest)


def _answers(case: Case, model: Any, search: str) -> list[tuple[int, float]]:
    """Explain every row; return the size of each answer, 0 for none, and its seconds."""
    explainer = Explainer(model, threshold=case.threshold, search=search)
    return [(why.size, seconds) for why, seconds in explained(explainer, case.rows)]


def _comparison(
    case: Case,
    method: str,
    answers: list[tuple[int, float]],
    theirs: list[tuple[int, float]],
    smallest: list[int],
) -> PeerComparison:
    sizes = [size for size, _ in answers]
    compared = [
        ours or MAX_SIZE + 1 for ours, (of_package, _) in zip(sizes, theirs, strict=True) if of_package
    ]
    return PeerComparison(
        data=case.data,
        model=case.model_name,
        method=method,
        n_rows=len(case.rows),
        explained=sum(map(bool, sizes)),
        mean_size=mean(compared),
        at_minimum=sum(size == least for size, least in zip(sizes, smallest, strict=True)),
        ms=1000 * median(seconds for _, seconds in answers),
        times_faster=median(slow / fast for (_, slow), (_, fast) in zip(theirs, answers, strict=True)),
    )


def _lin_sedc(case: Case, row: Any, package: Ranked) -> int:
    """Remove the ranked columns from the top, one model call each; return their number, 0 if none flips."""
    changed = row.copy()
    for size, column in enumerate(package(case, row)[:MAX_SIZE], start=1):
        changed.data[changed.indices == column] = 0
        if case.score(changed)[0] < case.threshold:
            return size
    return 0


def lime_package(case: Case, row: Any) -> list[int]:
    """Rank by LIME's explainer of texts, for which the row is a text with one word for each feature."""
    from lime.lime_text import LimeTextExplainer

    words = {f"f{column}": column for column in range(row.shape[1])}
    vectorizer = CountVectorizer(vocabulary=words, token_pattern=r"\S+", lowercase=False, binary=True)
    values = sparse.diags_array(np.asarray(row.todense()).ravel())

    def scores(texts: list[str]) -> Any:
        positive = case.score(sparse.csr_matrix(vectorizer.transform(texts) @ values))
        return np.column_stack([1 - positive, positive])

    explained = LimeTextExplainer(random_state=0).explain_instance(
        " ".join(f"f{column}" for column in row.indices), scores, num_features=row.nnz, num_samples=N_SAMPLES
    )
    return [words[word] for word, weight in explained.as_list() if weight > 0]


def shap_package(case: Case, row: Any) -> list[int]:
    """Rank by the kernel explainer, against one row of zeros, with features selected by AIC."""
    logging.getLogger("shap").setLevel(logging.ERROR)
    import shap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.KernelExplainer(case.score, sparse.csr_matrix(row.shape))
        weights = explainer.shap_values(row, nsamples=N_SAMPLES, l1_reg="aic", silent=True)[0]
    return [int(column) for column in np.argsort(-weights, kind="stable") if weights[column] > 0]
