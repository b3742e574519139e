"""Check the figures in the text of docs/study.md against its results: `python docs/study_claims.py`.

A claim is a piece of the text with figures that are computed from the results. Claims that are not in the
text are marked, and the exit code is 1.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from butfor.study.cells import trimmed, two_digits
from butfor.study.measures import Comparison, comparisons, explained_percent, optimality, seconds, size
from butfor.study.paper import paper_datasets, paper_results
from butfor.study.results import Study
from butfor.study.store import FILE, read_study

PAGE = Path(__file__).with_name("study.md")
RESULTS = Path(__file__).with_name("study") / FILE
PAPERS = ("sedc", "lime-c", "shap-c")

Compared = dict[tuple[str, str], Comparison]
"""The comparisons, by data set and model."""


def main() -> int:
    """Print every claim, and mark those that are not in the text."""
    text = prose()
    found = {claim: claim in text for claim in claims(read_study(RESULTS))}
    for claim, there in found.items():
        print(claim if there else f"NOT IN THE TEXT: {claim}")
    return 0 if all(found.values()) else 1


def prose() -> str:
    """Return the text above the report, on one line."""
    return " ".join(PAGE.read_text(encoding="utf-8").split("## The report")[0].split())


def claims(study: Study) -> Iterator[str]:
    """Yield every piece of the text that rests on results, with their figures."""
    compared = {(each.case.dataset, each.case.model): each for each in comparisons(study)}
    yield from _main_conclusion(study, compared)
    yield from _data(study)
    yield from _percentage_explained(compared)
    yield from _sizes(compared)
    yield from _times(compared)
    yield from _slopes(compared)
    yield from _auto(compared)
    yield from _complete_search(study)


def _if(holds: bool, claim: str) -> str:
    return claim if holds else f"it does not hold that: {claim}"


def _main_conclusion(study: Study, compared: Compared) -> Iterator[str]:
    n_rows = sum(len(each.rows) for each in compared.values())
    sedc = [each for each in study.results if (each.part, each.search) == ("main", "sedc")]
    at_limit = {(each.dataset, each.model, each.row) for each in sedc if "max_iterations" in each.reason}
    without = {
        (*case, int(row)) for case, each in compared.items() for row in each.rows[_has_no_answer(each)]
    }
    n = len(at_limit)
    yield _if(
        at_limit <= without,
        f"`sedc` reached its limit on {n} of {n_rows:,} rows, and for all {n} it is proven",
    )
    known = sum(each.minimum_known.sum() for each in compared.values())
    yield _if(
        all(optimality(each)["sedc"].minimum_percent == 100 for each in compared.values()),
        f"On the {known:,} other rows it found an answer, always of the smallest size",
    )
    lime, shap = (
        np.concatenate([_found(each, search) for each in compared.values()])
        for search in ("lime-c", "shap-c")
    )
    yield (
        f"`lime-c` left {(~lime).sum()} of {lime.size:,} runs on these rows without an answer "
        f"({(~lime).any(axis=1).sum()} rows), `shap-c` {(~shap).sum()} ({(~shap).any(axis=1).sum()} rows)"
    )
    n_slower = sum((_by_row(each, "sedc") > _by_row(each, "lime-c")).sum() for each in compared.values())
    yield f"`sedc` was slower than `lime-c` on {n_slower} rows"


def _has_no_answer(compared: Comparison) -> np.ndarray:
    none: np.ndarray = np.all(compared.answers["certified"].none, axis=1)
    return none


def _found(compared: Comparison, search: str) -> np.ndarray:
    """Return which runs found an answer, for the rows that have one."""
    return compared.answers[search].found[compared.minimum_known]


def _by_row(compared: Comparison, search: str) -> np.ndarray:
    """Return the mean seconds of each row that every search explained."""
    means: np.ndarray = compared.answers[search].seconds.mean(axis=1)
    return means[compared.common(with_random=False)]


def _data(study: Study) -> Iterator[str]:
    cases = [(case, paper_datasets()[case.dataset]) for case in study.cases]
    same = all(
        (case.n_rows, round(case.positive_percent, 2)) == (paper.rows, paper.positive_percent)
        and (case.kind == "text" or case.n_features == paper.features)
        for case, paper in cases
    )
    sparsity = max(abs(round(case.sparsity_percent, 2) - paper.sparsity_percent) for case, paper in cases)
    features = max(abs(case.n_features / paper.features - 1) for case, paper in cases)
    active = max(
        abs(case.mean_active / (paper.mean_active_linear if case.linear else paper.mean_active_nonlinear) - 1)
        for case, paper in cases
    )
    yield _if(same, f"Rows, behaviour features and positive shares agree, sparsities to {sparsity:.2f} %")
    yield f"differ by at most {100 * features:.2f} % of the features"
    yield f"positively predicted rows by at most {100 * active:.1f} %"


def _percentage_explained(compared: Compared) -> Iterator[str]:
    ours, theirs, rows = {}, {}, {}
    for (dataset, model), each in compared.items():
        for search in PAPERS:
            key = dataset, model, search
            ours[key] = round(explained_percent(each)[search].value, 2)
            theirs[key] = _of_paper(each, search, "explained_percent")
            rows[key] = (ours[key] - theirs[key]) * len(each.rows) / 100
    higher, lower = (sum(sign * difference > 0 for difference in rows.values()) for sign in (1, -1))
    same = len(rows) - higher - lower
    yield (
        f"Of the {len(rows)} figures of the paper's three searches {same} are the paper's, {higher} are "
        f"higher here and {lower} lower"
    )
    yield f"{sum(abs(difference) > 2.5 for difference in rows.values())} differ by more than two rows"

    def figures(dataset: str, model: str, *searches: str) -> str:
        keys = [(dataset, model, search) for search in searches]
        return ", ".join(
            f"`{key[2]}` {trimmed(ours[key])} % instead of {trimmed(theirs[key])} %" for key in keys
        )

    yield f"ecommerce ({figures('ecommerce', 'mlp', 'sedc')})"
    yield f"movielens_1m ({figures('movielens_1m', 'mlp', *PAPERS)})"
    yield f"movielens_1m ({figures('movielens_1m', 'logistic', *PAPERS)})"
    yield f"airline ({figures('airline', 'rbf-svm', 'lime-c')})"
    n_none = _has_no_answer(compared["movielens_1m", "logistic"]).sum()
    yield f"where {n_none} of our rows have no answer of at most 30 films"
    keys = [("ecommerce", model, "lime-c") for model in ("logistic", "mlp")]
    here, there = (" and ".join(f"{trimmed(100 - of[key])} %" for key in keys) for of in (ours, theirs))
    shop = [compared["ecommerce", model] for model in ("logistic", "mlp")]
    missed = [each.minimum_known & ~each.answers["lime-c"].always_found for each in shop]
    two = all(
        (each.n_active[rows] == 2).all() and (each.smallest[rows] == 2).all()
        for each, rows in zip(shop, missed, strict=True)
    )
    yield _if(
        two,
        f"misses on ecommerce ({here}, in the paper {there}) are rows of two active features that need both",
    )
    yield _if(
        all(
            _found(each, search).all() for each in compared.values() for search in ("lime-sedc", "shap-sedc")
        ),
        "`lime-sedc` and `shap-sedc` explain every row that can be explained",
    )


def _of_paper(compared: Comparison, search: str, measure: str) -> float:
    return paper_results()[compared.case.dataset, compared.case.linear, search, measure].value


def _sizes(compared: Compared) -> Iterator[str]:
    medians = {
        case: {search: size(each)[search].value for search in (*PAPERS, "random")}
        for case, each in compared.items()
    }
    close = all(
        medians[case][search] == medians[case]["sedc"]
        and abs(medians[case][search] - _of_paper(each, search, "size")) <= 1
        for case, each in compared.items()
        for search in PAPERS
    )
    yield _if(close, "are the same on every model, and those of the paper or one feature beside them")
    level = {dataset for (dataset, _), each in medians.items() if each["random"] <= each["sedc"]}
    yield f"`random` is behind everywhere but on {', '.join(sorted(level))}"
    decided = all((each.minimum_known | _has_no_answer(each)).all() for each in compared.values())
    yield _if(decided, "Every row of the study is decided here")
    for search in ("lime-c", "shap-c"):
        percent = [optimality(each)[search].minimum_percent or 0.0 for each in compared.values()]
        yield f"`{search}` on {trimmed(min(percent), 1)} to {trimmed(max(percent), 1)} %"
    one, two, more, most = _excess(compared, "lime-c")
    yield f"larger, it is by one feature ({one} answers), two ({two}) or more ({more}, at most {most})"
    one, two, more, most = _excess(compared, "shap-c")
    yield f"those of `shap-c` by one ({one}), two ({two}) or more ({more}, at most {most})"


def _excess(compared: Compared, search: str) -> tuple[int, int, int, int]:
    """Count the answers one, two and more features above the smallest; return the largest excess, too."""
    excess = np.concatenate(
        [
            (each.answers[search].size - each.smallest[:, None])[each.minimum_known][_found(each, search)]
            for each in compared.values()
        ]
    )
    return (excess == 1).sum(), (excess == 2).sum(), (excess > 2).sum(), excess.max()


def _times(compared: Compared) -> Iterator[str]:
    ours = {
        case: {search: seconds(each)[search].value for search in (*PAPERS, "auto")}
        for case, each in compared.items()
    }
    theirs = {
        case: {search: _of_paper(each, search, "seconds") for search in PAPERS}
        for case, each in compared.items()
    }
    same_order = all(
        theirs[case][first] <= theirs[case][second]
        for case in compared
        for first, second in pairwise(sorted(PAPERS, key=ours[case].__getitem__))
    )
    yield _if(
        same_order, f"The order of the paper's three searches is the same on all {len(compared)} models"
    )
    times = {
        (*case, search): theirs[case][search] / ours[case][search] for case in compared for search in PAPERS
    }
    yield f"The times are {min(times.values()):.1f} to {max(times.values()):.0f} times below the paper's"
    rbf = [ratio for (_, model, _), ratio in times.items() if model == "rbf-svm"]
    others = [ratio for (_, model, _), ratio in times.items() if model != "rbf-svm"]
    yield _if(max(rbf) < min(others), f"least ({min(rbf):.1f} to {max(rbf):.0f} times) on rbf SVMs")
    films = compared["movielens_1m", "logistic"]
    (sedc_large, sedc_one), (lime_large, lime_one) = (
        [
            two_digits(1000 * float(np.median(films.answers[search].seconds[rows])))
            for rows in (films.minimum_known & (films.smallest > 20), films.smallest == 1)
        ]
        for search in ("sedc", "lime-c")
    )
    yield (
        f"`sedc` takes {sedc_large} ms in the median for answers of more than 20 features and {sedc_one} ms "
        "for those of one"
    )
    yield f"`lime-c` takes {lime_large} ms and {lime_one} ms"


def _slopes(compared: Compared) -> Iterator[str]:
    """Compare the slopes of log seconds on log active features, over the rows that every search explained."""
    slopes = {
        (case, search): np.polyfit(
            np.log(each.n_active[each.common(with_random=False)]), np.log(_by_row(each, search)), 1
        )[0]
        for case, each in compared.items()
        for search in PAPERS
    }
    yield _if(
        all(slopes[case, "lime-c"] < slopes[case, "shap-c"] for case in compared),
        f"less sensitive to the active features than `shap-c` on all {len(compared)} models",
    )
    flatter = {case for case in compared if slopes[case, "lime-c"] < slopes[case, "sedc"]}
    rbf = {case for case in compared if case[1] == "rbf-svm"}
    yield _if(
        flatter == rbf | {("ecommerce", "mlp")},
        f"but less than `sedc` on {len(flatter)} only: the rbf SVMs and the network of ecommerce",
    )
    lime, sedc = (
        " and ".join(f"{slopes[('movielens_1m', model), search]:.2f}" for model in ("logistic", "mlp"))
        for search in ("lime-c", "sedc")
    )
    yield f"is {lime} (logistic regression and network), that of `sedc` {sedc}"


def _auto(compared: Compared) -> Iterator[str]:
    linear = [seconds(each) for each in compared.values() if each.case.linear]
    other = [seconds(each) for each in compared.values() if not each.case.linear]
    more = [1000 * (each["auto"].value - each["sedc"].value) for each in linear]
    yield f"between {-min(more):.2f} ms below `sedc`'s and {max(more):.2f} ms above"
    times = [each[search].value / each["auto"].value for each in other for search in ("lime-c", "shap-c")]
    yield f"it is {min(times):.1f} to {max(times):.0f} times as fast as `lime-c` and `shap-c`"
    medians = [each["auto"].value / each["sedc"].value for each in other]
    means = [each["auto"].mean / each["sedc"].mean for each in other]
    longest = max(each.answers["auto"].seconds.max() for each in compared.values())
    yield f"faster than `sedc` on {sum(each >= 1 for each in medians)} of the {len(other)} non-linear models"
    yield f"its median is up to {max(medians):.1f} times `sedc`'s, its mean up to {max(means):.1f} times"
    yield f"(at most {longest:.2f} s)"
    small, large = (_auto_over_sedc(compared, up_to_two=up_to_two) for up_to_two in (True, False))
    yield f"one and two features both take about as long ({small:.2f} times in the median)"
    yield f"that `sedc` needs ({large:.1f} times)"
    films = [optimality(compared["movielens_1m", model])["sedc"] for model in ("logistic", "mlp")]
    proven = " and ".join(f"{each.proven_percent:.1f} %" for each in films)
    yield f"on {proven} of the rows of movielens_1m that have one"
    every = all(optimality(each)["auto"].proven_percent == 100 for each in compared.values())
    yield _if(every, "`auto` proves every one")


def _auto_over_sedc(compared: Compared, *, up_to_two: bool) -> float:
    """Return the median ratio of times on non-linear models, for answers of up to two or more features."""
    ratios = []
    for each in compared.values():
        if not each.case.linear:
            smallest = each.smallest[each.common(with_random=False)]
            ratio = _by_row(each, "auto") / _by_row(each, "sedc")
            ratios.append(ratio[(smallest <= 2) == up_to_two])
    return float(np.median(np.concatenate(ratios)))


def _complete_search(study: Study) -> Iterator[str]:
    growth = [each for each in study.results if each.part == "growth"]
    last = max((each for each in growth if each.search == "complete"), key=lambda each: each.max_size)
    certified = next(each for each in growth if each.search == "certified")
    yield f"({last.n_active} active features, {last.size} in the answer;"
    yield (
        f"{last.n_scored:,} sets in {last.seconds:.0f} s, for the answer that `certified` proves in "
        f"{certified.seconds:.3f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
