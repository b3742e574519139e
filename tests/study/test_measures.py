from dataclasses import replace
from statistics import mean, quantiles

import numpy as np
import pytest
from studies import a_case, a_result, made_up

from butfor.study.measures import (
    blocks,
    comparisons,
    explained_percent,
    in_order,
    optimality,
    seconds,
    size,
)
from butfor.study.results import Study

CASE = a_case(rows=4)


def compared(results, case=CASE):
    [only] = comparisons(Study({}, (case,), tuple(results)))
    return only


def repeated(search, sizes_by_row, **other):
    """Make the results of a search: for each row the sizes of its repeats, 0 where nothing was found."""
    return [
        a_result(search, row, size, case=CASE, repeat=repeat, **other)
        for row, sizes in enumerate(sizes_by_row)
        for repeat, size in enumerate(sizes)
    ]


def test_percentage_is_the_average_over_repeats_and_a_row_counts_from_half_of_them():
    each = compared(repeated("lime-c", [(1, 1), (1, 0), (0, 0), (2, 2)]))
    measured = explained_percent(each)["lime-c"]
    assert measured.value == pytest.approx(mean([100 * 3 / 4, 100 * 2 / 4]))
    assert measured.by_row.tolist() == [0, 0, 1, 0]


def test_sizes_are_of_the_rows_that_every_search_explained_in_every_repeat():
    results = [
        *repeated("sedc", [(1,), (2,), (0,), (9,)]),
        *repeated("lime-c", [(1, 2), (2, 5), (1, 1), (9, 9)]),
        *repeated("random", [(3, 3), (4, 6), (2, 2), (40, 0)]),
    ]
    measured = size(compared(results))
    for search, by_repeat in {
        "sedc": [(1, 2)],
        "lime-c": [(1, 2), (2, 5)],
        "random": [(3, 4), (3, 6)],
    }.items():
        quartiles = [quantiles(values, n=4, method="inclusive") for values in by_repeat]
        expected = [mean(each) for each in zip(*quartiles, strict=True)]
        ours = measured[search]
        assert [ours.q1, ours.value, ours.q3] == pytest.approx(expected)
    assert measured["lime-c"].by_row.tolist() == [1.5, 3.5]


def test_random_is_measured_by_its_size_alone():
    each = compared(repeated("sedc", [(1,)] * 4) + repeated("random", [(1,), (1,), (1,), (0,)]))
    assert list(size(each)) == ["sedc", "random"]
    assert list(explained_percent(each)) == list(seconds(each)) == ["sedc"]
    assert len(size(each)["sedc"].by_row) == 3
    assert len(seconds(each)["sedc"].by_row) == 4


def test_no_row_in_common_gives_no_figure():
    each = compared(repeated("sedc", [(1,), (1,), (0,), (0,)]) + repeated("auto", [(0,), (0,), (1,), (1,)]))
    assert size(each) == seconds(each) == {}
    assert explained_percent(each)["auto"].value == 50


def test_of_an_unfinished_case_only_the_rows_that_are_done_count():
    results = repeated("sedc", [(1,), (1,), (0,), (1,)]) + repeated("lime-c", [(1, 1), (1, 0), (1, 1)])
    each = compared(results[:-1])  # row 2 lacks a repeat, row 3 a search
    assert each.rows.tolist() == [0, 1]
    assert explained_percent(each)["sedc"].value == 100
    assert explained_percent(each)["lime-c"].value == 75


def test_a_case_without_results_compares_nothing():
    each = compared([])
    assert each.answers == size(each) == explained_percent(each) == optimality(each) == {}
    assert not each.common(with_random=True).any()


def test_errors_are_rows_that_are_not_explained():
    each = compared([a_result("sedc", row, 0, case=CASE, status="error") for row in range(4)])
    assert explained_percent(each)["sedc"].value == 0


def test_optimality_by_hand():
    bounds = {"sedc": [1, 2, 1, 2], "certified": [2, 2, 3, 31]}  # row 3: proven to have no answer
    sizes = {"sedc": [3, 2, 4, 0], "certified": [2, 0, 4, 0], "auto": [2, 2, 0, 0]}
    results = []
    for search, found in sizes.items():
        for row, size_of_it in enumerate(found):
            bound = bounds.get(search, [1] * 4)[row]
            result = a_result(search, row, size_of_it, case=CASE, lower_bound=bound)
            results.append(replace(result, status="none") if bound == 31 else result)
    each = compared(results)
    # row 0: certified proves 2; row 1: sedc finds 2, certified proves 2 needed; row 2: 4 found, 3 needed
    assert each.minimum_known.tolist() == [True, True, False, False]
    sedc, certified, auto = (optimality(each)[search] for search in ("sedc", "certified", "auto"))
    assert (sedc.proven_percent, sedc.minimum_percent, sedc.gap) == (pytest.approx(100 / 3), 50, 0.5)
    assert (certified.proven_percent, certified.minimum_percent, certified.gap) == (50, 50, 0)
    assert (auto.proven_percent, auto.minimum_percent, auto.gap) == (0, 100, 0)
    assert [each.n_none for each in (sedc, certified, auto)] == [0, 1, 0]


def test_optimality_of_a_search_without_answers():
    only = optimality(compared(repeated("sedc", [(0,)] * 4)))["sedc"]
    assert (only.proven_percent, only.minimum_percent, only.gap) == (None, None, None)


def test_other_parts_do_not_count():
    stray = [a_result("sedc", row, 0, case=CASE, part="tradeoff") for row in range(4)]
    assert explained_percent(compared(repeated("sedc", [(1,)] * 4) + stray))["sedc"].value == 100


def test_order_of_searches():
    assert in_order(["zeta", "auto", "sedc:max_iterations=9", "sedc", "random", "alpha"]) == [
        "sedc",
        "sedc:max_iterations=9",
        "random",
        "auto",
        "alpha",
        "zeta",
    ]


def test_blocks_are_the_papers_two_kinds_and_then_every_other_model():
    cases = (
        a_case("airline", "random-forest", linear=False),
        a_case("airline", "rbf-svm", linear=False),
        a_case("airline", "linear-svm"),
        a_case("ecommerce", "logistic"),
        a_case("airline", "logistic"),  # the paper has it for behaviour only
    )
    grouped = blocks(comparisons(Study({}, cases, ())))
    assert {block: [each.case for each in inside] for block, inside in grouped.items()} == {
        "linear models": [cases[2], cases[3]],
        "non-linear models": [cases[1]],
        "random-forest": [cases[0]],
        "logistic": [cases[4]],
    }
    assert list(grouped)[:2] == ["linear models", "non-linear models"]


def test_the_order_of_the_results_does_not_matter():
    study = made_up(("airline",), rows=5, extra_parts=False)
    mixed = np.random.default_rng(1).permutation(len(study.results))
    shuffled = replace(study, results=tuple(study.results[at] for at in mixed))
    for each, other in zip(comparisons(study), comparisons(shuffled), strict=True):
        assert list(each.answers) == list(other.answers)
        assert each.n_active.tolist() == other.n_active.tolist()
        for search in each.answers:
            assert np.array_equal(each.answers[search].seconds, other.answers[search].seconds)


def test_an_answer_beyond_the_size_limit_is_no_smallest_one():
    results = [
        a_result("random", 0, 31, case=CASE),
        a_result("certified", 0, 0, case=CASE, status="none", lower_bound=31),
    ]
    each = compared(results)
    assert not each.minimum_known.any()
    assert optimality(each)["certified"].n_none == 1
    assert optimality(each)["certified"].minimum_percent is None
