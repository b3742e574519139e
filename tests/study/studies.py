"""Made-up studies: results drawn at random, with the shape of real ones, for tests of the report."""

from dataclasses import replace

import numpy as np

from butfor.study.paper import paper_datasets
from butfor.study.results import Case, Result, Study

SIX = ("ecommerce", "airline", "twitter", "20news", "movielens_100k", "movielens_1m")
SEARCHES = ("sedc", "lime-c", "shap-c", "random", "lime-sedc", "shap-sedc", "certified", "auto")
REPEATED = ("lime-c", "shap-c", "random", "lime-sedc", "shap-sedc")
SPEED = {"sedc": 1, "auto": 2, "certified": 3, "lime-c": 30, "lime-sedc": 20, "shap-c": 80, "shap-sedc": 60}
MODELS = {"behaviour": ("logistic", "mlp"), "text": ("linear-svm", "rbf-svm")}
ABOUT = {
    "runs": [
        {
            "command": "butfor study run --seed 0",
            "settings": {"seed": 0, "rows": 300, "repeats": 5, "searches": list(SEARCHES)},
            "finished": True,
        }
    ],
    "searches": {},
    "versions": {"python": "3.11.9", "butfor": "0.3", "numpy": "2.1"},
    "machines": [{"cores": 2, "memory_gb": 23.4}],
    "failures": [],
}
UNFINISHED = ABOUT | {"runs": [ABOUT["runs"][0] | {"finished": False}]}


def made_up(datasets=SIX, *, rows=12, repeats=5, searches=SEARCHES, extra_parts=True):
    """Make a whole study; the same arguments give the same study."""
    rng = np.random.default_rng(0)
    cases = tuple(
        a_case(name, model, linear=at == 0, rows=rows)
        for name in datasets
        for at, model in enumerate(MODELS[paper_datasets()[name.split(":")[0]].kind])
    )
    results = [
        result for case in cases for row in range(rows) for result in _main(case, row, searches, repeats, rng)
    ]
    if extra_parts:
        results += [result for case in cases for result in _tradeoff(case, rng)] + _growth(cases[-1], rng)
    return Study(ABOUT, cases, tuple(results))


def a_case(dataset="airline", model="linear-svm", *, linear=True, rows=3, **other):
    paper = paper_datasets()[dataset.split(":")[0]]
    case = Case(
        dataset=dataset,
        kind=paper.kind,
        target=paper.target,
        model=model,
        linear=linear,
        n_rows=paper.rows,
        n_features=paper.features,
        positive_percent=paper.positive_percent,
        sparsity_percent=paper.sparsity_percent,
        n_test=paper.test_rows,
        n_positive=round(paper.test_rows * paper.predicted_positive_percent / 100),
        n_explained=rows,
        mean_active=paper.mean_active_linear if linear else paper.mean_active_nonlinear,
        auc=0.83,
        threshold=0.29,
        parameters="C=0.1" if linear else "alpha=0.01",
        fingerprint="0" * 32,
    )
    return replace(case, **other)


def a_result(search="sedc", row=0, size=1, *, case=None, **other):
    """Make one result: found, unless the size is 0."""
    case = case or a_case()
    result = Result(
        part="main",
        dataset=case.dataset,
        model=case.model,
        search=search,
        row=row,
        repeat=0,
        max_size=30,
        status="found" if size else "budget",
        size=size,
        lower_bound=1,
        n_active=10,
        n_scored=10,
        seconds=0.01,
        columns=tuple(range(size)),
        reason="",
    )
    return replace(result, **other)


def _main(case, row, searches, repeats, rng):
    active, smallest = _row(case, row)
    for search in searches:
        for repeat in range(repeats if search in REPEATED else 1):
            yield _answer(case, search, row, repeat, smallest, active, rng)


def _row(case, row):
    """Give the active features of a row and the size of its smallest answer."""
    rng = np.random.default_rng([row, case.linear])
    active = 1 + int(rng.exponential(case.mean_active))
    return active, min(active, 1 + int(rng.exponential(2 if case.linear else 2.5)))


def _answer(case, search, row, repeat, smallest, active, rng, part="main", quality=1.0):
    exact = search in ("certified", "auto") or (search == "sedc" and case.linear)
    excess = 0 if exact else int(rng.poisson((2.5 if search == "random" else 0.25) * smallest * quality))
    size = min(active, smallest + excess)
    found = exact or search == "random" or (rng.random() > 0.04 * quality and size <= 30)
    bound = smallest if search in ("certified", "auto") else min(smallest, 2)
    work = SPEED.get(search.split(":")[0], 1) * (1 + active / 50) * (1 + size * (search == "sedc"))
    return a_result(
        search,
        row,
        size if found else 0,
        case=case,
        part=part,
        repeat=repeat,
        lower_bound=bound,
        n_active=active,
        seconds=float(work * rng.lognormal(0, 0.3) / 2000),
        reason="" if found else "max_iterations=50 reached",
    )


def _tradeoff(case, rng):
    settings = [f"sedc:max_iterations={n}" for n in (1, 5, 50, 500)]
    for name in ("lime-c", "shap-c"):
        settings += [f"{name}:n_samples={n}" for n in (100, 500, 1000, 5000, 10_000)]
    for search in (*settings, "auto"):
        n = int(search.partition("=")[2] or 1)
        scale = 50 if search.startswith("sedc") else 5000
        for row in range(6):
            quality = 0 if search == "auto" else (scale / n) ** 0.5
            active, smallest = _row(case, row)
            answer = _answer(case, search, row, 0, smallest, active, rng, "tradeoff", quality)
            yield replace(answer, seconds=answer.seconds * (1 if search == "auto" else (n / scale) ** 0.8))


def _growth(case, rng):
    results = []
    for max_size in range(1, 7):
        asked = {"complete": 34**max_size // 2, "sedc": 34 * max_size, "certified": 150}
        for search, n_scored in asked.items():
            status = "budget" if n_scored > 10**8 else "none" if max_size < 6 else "found"
            result = a_result(search, 5, 6 if status == "found" else 0, case=case, status=status)
            result = replace(result, part="growth", max_size=max_size, n_active=34)
            result = replace(result, n_scored=min(n_scored, 10**8))
            seconds = float(1e-3 + result.n_scored / 1e6 * rng.lognormal(0, 0.1))
            results.append(replace(result, seconds=seconds))
    return results
