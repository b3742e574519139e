from dataclasses import replace

import pytest
from studies import ABOUT, UNFINISHED, a_case, a_result, made_up

from butfor.study.paper import paper_results
from butfor.study.results import Study
from butfor.study.tables import tables

N = 20


def table(study, name):
    [found] = [each for each in tables(study) if each.name == name]
    return found


def column(made, name):
    at = made.columns.index(name)
    return [row[at] for row in made.rows]


def texts(cells):
    return [cell.text for cell in cells]


def one_case(figures, *, case=None, about=ABOUT):
    """Make a study of one case: by search, the fields of the result of each row."""
    case = case or a_case(rows=N)
    results = [
        a_result(search, row, **({"case": case} | fields(row)))
        for search, fields in figures.items()
        for row in range(N)
    ]
    return Study(about, (case,), tuple(results))


def sized(size_of):
    return lambda row: {"size": size_of(row)}


def timed(seconds_of):
    return lambda row: {"seconds": seconds_of(row)}


def test_percentages_with_their_marks():
    study = one_case(
        {
            "sedc": sized(lambda row: int(row >= 10)),  # 10 rows fewer: p = 2^-11
            "lime-c": sized(lambda row: int(row >= 2)),  # 2 rows fewer: p = 1/8
            "certified": sized(lambda row: 1),
            "auto": sized(lambda row: 1),
        }
    )
    made = table(study, "explained-percent-linear-models")
    row = dict(zip(made.columns, made.rows[0], strict=True))
    assert [row[search].text for search in ("sedc", "lime-c", "certified", "auto")] == [
        "50",
        "90",
        "100",
        "100",
    ]
    assert [cell.bold for cell in made.rows[0][2:]] == [False, False, True, True]
    assert [cell.underlined for cell in made.rows[0][2:]] == [True, False, False, False]


def test_sizes_with_their_marks_and_the_opponent_of_the_lowest_mean():
    study = one_case(
        {
            "sedc": sized(lambda row: 2 if row < 15 else 1),  # median 2, mean 1.75
            "certified": sized(lambda row: 2 if row < 12 else 1),  # median 2, mean 1.6: the opponent
            "auto": sized(lambda row: 2 if row < 17 else 5),  # median 2: as good, whatever the rest
            "lime-c": sized(lambda row: 3 if row < 12 else 1),  # worse on 12 rows, never better
        }
    )
    made = table(study, "size-linear-models")
    row = dict(zip(made.columns, made.rows[0], strict=True))
    assert row["sedc"].text == "2 (1.75–2)"
    assert {name: row[name].bold for name in ("sedc", "certified", "auto", "lime-c")} == {
        "sedc": True,
        "certified": True,
        "auto": True,
        "lime-c": False,
    }
    assert row["lime-c"].underlined
    assert not any(row[name].underlined for name in ("sedc", "certified", "auto"))


def test_a_better_median_is_not_enough_to_be_significant():
    study = one_case({"sedc": sized(lambda row: 1), "auto": sized(lambda row: 2 if row < 11 else 1)})
    halves = one_case(
        {"sedc": sized(lambda row: 1 if row < 11 else 3), "auto": sized(lambda row: 2 if row < 11 else 1)}
    )
    assert table(study, "size-linear-models").rows[0][3].underlined  # 11 against 0
    assert not table(halves, "size-linear-models").rows[0][3].underlined  # 11 against 9


def test_seconds_are_in_one_unit_with_the_papers():
    paper = paper_results()["airline", True, "lime-c", "seconds"]
    slow = table(
        one_case({"sedc": timed(lambda row: 0.25), "lime-c": timed(lambda row: 3)}), "seconds-linear-models"
    )
    assert slow.title == "Seconds, linear models"
    assert texts(slow.rows[0][2:]) == ["0.25 (0.25–0.25)", "3.00 (3.00–3.00)"]
    assert slow.rows[0][3].paper.text == f"{paper.value:.2f} ({paper.q1:.2f}–{paper.q3:.2f})"
    quick = table(
        one_case({"sedc": timed(lambda row: 0.004), "lime-c": timed(lambda row: 3)}), "seconds-linear-models"
    )
    assert quick.title == "Milliseconds, linear models"
    assert texts(quick.rows[0][2:]) == ["4.0 (4.0–4.0)", "3,000 (3,000–3,000)"]
    assert quick.rows[0][3].paper.text == "940 (810–1,080)"  # 0.94 (0.81–1.08) in the paper
    assert quick.rows[0][3].underlined
    assert quick.rows[0][3].paper.underlined


def test_what_reads_the_same_is_as_good():
    study = one_case({"sedc": timed(lambda row: 0.00101), "auto": timed(lambda row: 0.00103)})
    made = table(study, "seconds-linear-models")
    assert [cell.bold for cell in made.rows[0][2:]] == [True, True]
    assert not any(cell.underlined for cell in made.rows[0])


def test_average_and_wins_by_hand():
    cases = (a_case("airline", rows=4), a_case("twitter", rows=4))
    found = {
        ("airline", "sedc"): 4,
        ("airline", "lime-c"): 3,
        ("twitter", "sedc"): 2,
        ("twitter", "lime-c"): 2,
    }
    results = tuple(
        a_result(search, row, int(row < found[case.dataset, search]), case=case)
        for case in cases
        for search in ("sedc", "lime-c")
        for row in range(4)
    )
    made = table(Study(ABOUT, cases, results), "explained-percent-linear-models")
    average, wins = made.rows[-2:]
    assert made.n_summary == 2
    assert texts(average) == ["Average", "", "75", "62.5"]
    assert texts(wins) == ["Wins", "", "2", "1"]
    assert [cell.bold for cell in (*average[2:], *wins[2:])] == [True, False, True, False]
    assert [cell.paper.text for cell in (*average[2:], *wins[2:])] == ["100", "100", "2", "2"]


def test_average_and_wins_of_sizes():
    cases = (a_case("airline", rows=1), a_case("twitter", rows=1))
    sizes = {("airline", "sedc"): 1, ("airline", "auto"): 2, ("twitter", "sedc"): 3, ("twitter", "auto"): 3}
    results = tuple(
        a_result(search, 0, sizes[case.dataset, search], case=case)
        for case in cases
        for search in ("sedc", "auto")
    )
    average, wins = table(Study(ABOUT, cases, results), "size-linear-models").rows[-2:]
    assert [(cell.text, cell.bold) for cell in average[2:]] == [("2", True), ("2.5", False)]
    assert [(cell.text, cell.bold) for cell in wins[2:]] == [("2", True), ("1", False)]


def test_the_papers_average_and_wins_need_all_its_data_sets():
    cases = (a_case("airline", rows=1), replace(a_case(rows=1), dataset="sms_spam"))
    made = table(Study(ABOUT, cases, tuple(a_result(case=case) for case in cases)), "size-linear-models")
    assert [row[2].paper is not None for row in made.rows] == [True, False, False, False]


def test_the_papers_figures_stand_beside_ours():
    study = made_up(extra_parts=False, rows=6)
    for kind, linear in (("linear", True), ("non-linear", False)):
        for measure in ("explained_percent", "size"):
            made = table(study, f"{measure.replace('_', '-')}-{kind}-models")
            for row in made.rows[:-2]:
                for search, cell in zip(made.columns[2:], row[2:], strict=True):
                    known = paper_results().get((row[0].text, linear, search, measure))
                    assert (cell.paper is None) == (known is None)
                    if known:
                        assert float(cell.paper.text.split(" ")[0]) == known.value
                        assert cell.paper.underlined == known.significantly_worse


def test_random_stands_in_the_table_of_sizes_alone():
    made = {each.name: each for each in tables(made_up(("airline",), rows=4))}
    with_random = {name for name, each in made.items() if "random" in each.columns}
    kinds = ("linear-models", "non-linear-models")
    assert with_random == {
        f"{what}-{kind}" for what in ("size", "smallest-answers", "proofs") for kind in kinds
    }


def test_a_missing_search_or_case_is_a_dash():
    study = made_up(("airline", "twitter", "20news"), rows=4, extra_parts=False)
    kept = tuple(
        each
        for each in study.results
        if each.dataset != "20news" and not (each.dataset == "twitter" and each.search == "shap-c")
    )
    unfinished = replace(study, results=kept, about=UNFINISHED)
    made = table(unfinished, "explained-percent-linear-models")
    assert [text == "–" for text in texts(column(made, "shap-c"))] == [False, True, True, False, False]
    assert [text == "–" for text in texts(column(made, "sedc"))] == [False, False, True, False, False]
    assert texts(column(made, "Rows"))[:3] == ["4", "4", "0 of 4"]
    assert column(made, "sedc")[3].text == column(made, "sedc")[0].text  # the average is of airline alone


@pytest.mark.parametrize(
    "study", [Study({}, (), ()), Study({}, (a_case(),), ())], ids=["nothing", "no results"]
)
def test_an_empty_study_has_tables_all_the_same(study):
    assert {"data", "models", "claims-smallest"} <= {each.name for each in tables(study)}


def test_every_row_has_a_cell_for_every_column():
    study = made_up(rows=4)
    case = a_case("airline", "random-forest", linear=False, rows=1)
    more = (a_result("auto", case=case), a_result("mine", case=case, status="error", reason="no"))
    for each in tables(replace(study, cases=(*study.cases, case), results=(*study.results, *more))):
        assert {len(row) for row in each.rows} == {len(each.columns)}, each.name


def test_data_beside_the_papers():
    case = a_case("fraud:generated", "logistic", rows=4, mean_active=11.5, n_positive=1716, n_test=171_626)
    made = table(Study(ABOUT, (case,), ()), "data")
    [row] = made.rows
    assert texts(row) == [
        *("fraud (generated)", "behaviour", case.target, "858,131", "107,345"),
        *(row[5].text, "99.99", "171,626 (1)", "11.50", "–"),
    ]
    assert float(row[5].text) == pytest.approx(case.positive_percent)
    assert [cell.paper.text for cell in row[7:]] == ["171,627 (1)", "11.83", "14.09"]


def test_data_that_the_paper_does_not_have():
    case = a_case("airline", "linear-svm", rows=4)
    [row] = table(Study(ABOUT, (replace(case, dataset="sms_spam"),), ()), "data").rows
    assert row[0].text == "sms_spam"
    assert not any(cell.paper for cell in row)


def test_other_models_have_their_own_block_without_the_papers_figures():
    case = a_case("airline", "random-forest", linear=False, rows=N)
    study = one_case({"sedc": sized(lambda row: 1), "auto": sized(lambda row: 1)}, case=case)
    made = table(study, "size-random-forest")
    assert made.title == "Size, random-forest"
    assert not any(cell.paper for row in made.rows for cell in row)


def test_claims_on_linear_models():
    def smallest(row):
        return {"size": 2, "lower_bound": 2}

    def mostly(row):
        return {"size": 2 if row else 3}

    made = table(one_case({"certified": smallest, "sedc": mostly, "lime-c": mostly}), "claims-smallest")
    assert [texts(row)[1:] for row in made.rows] == [
        ["airline, linear-svm: 1", "20", "1", "no"],  # sedc
        ["", "20", "0", "yes"],  # certified
        ["", "20", "1", "–"],  # lime-c
        ["", "20", "0", "yes"],  # contradictions
    ]


def test_a_row_is_an_exception_where_any_repeat_is():
    case = a_case(rows=1)
    results = [a_result("certified", case=case), a_result("lime-c", case=case)]
    results.append(a_result("lime-c", size=2, case=case, repeat=1))
    made = table(Study(ABOUT, (case,), tuple(results)), "claims-smallest")
    assert texts(made.rows[1])[2:] == ["1", "1", "–"]


def test_a_proof_that_is_contradicted_is_told():
    figures = {"certified": lambda row: {"size": 3, "lower_bound": 3}, "sedc": sized(lambda row: 2)}
    made = table(one_case(figures), "claims-smallest")
    assert texts(made.rows[-1])[1:] == ["airline, linear-svm: 20", "20", "20", "no"]


def test_claims_of_auto():
    case = a_case("airline", "rbf-svm", linear=False, rows=N)
    figures = {
        "auto": lambda row: {"size": 0 if row == 0 else 3, "seconds": 0.002},
        "sedc": lambda row: {"size": 2 if row < 5 else 3, "seconds": 0.003},
        "lime-c": lambda row: {"size": 0 if row < 9 else 4, "seconds": 0.001},
    }
    made = table(one_case(figures, case=case), "claims-auto")
    assert texts(made.rows[0]) == [
        *("airline", "rbf-svm", "95", "100", "no"),
        *("4", "0", "–", "no"),
        *("2.0", "3.0", "1.0", "–", "no"),
    ]
    assert texts(made.rows[1])[4] == "0 of 1"
    better = {
        "auto": lambda row: {"size": 2, "seconds": 0.0005},
        **{key: figures[key] for key in ("sedc", "lime-c")},
    }
    held = texts(table(one_case(better, case=case), "claims-auto").rows[0])
    assert [held[at] for at in (4, 8, 13)] == ["yes", "yes", "yes"]


def test_errors_are_counted_with_their_reason():
    def broken(row):
        return {"size": 0, "status": "error", "reason": "ModelError: <nan>"} if row < 3 else {}

    study = one_case({"sedc": broken})
    assert texts(table(study, "errors").rows[0]) == [
        "airline",
        "linear-svm",
        "sedc",
        "ModelError: <nan>",
        "3",
    ]
    assert "errors" not in {each.name for each in tables(one_case({"sedc": sized(lambda row: 1)}))}
