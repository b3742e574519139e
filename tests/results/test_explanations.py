import json
import pickle
from dataclasses import replace

import pytest
from examples import FOUND, NOTHING

from butfor import Explainer, Explanation, InputError
from butfor.results.explanations import Explanations

ONE = replace(FOUND, features=("Die Hard",), columns=(17,), weights=(0.2,), lower_bound=1)
STOPPED = replace(NOTHING, status="budget", lower_bound=1, reason="max_seconds=2 reached")
WHYS = Explanations([FOUND, NOTHING, ONE, STOPPED], errors={1: "the model raised", 4: "NaN"})


def test_it_is_a_sequence():
    assert len(WHYS) == 4
    assert WHYS[0] is FOUND
    assert WHYS[-1] is STOPPED
    assert list(WHYS) == [FOUND, NOTHING, ONE, STOPPED]
    assert ONE in WHYS
    assert bool(WHYS)
    assert not Explanations([])


def test_rows_go_around_those_that_failed():
    assert WHYS.rows == (0, 2, 3, 5)
    assert Explanations([FOUND, ONE]).rows == (0, 1)
    assert Explanations([FOUND, ONE], rows=[7, 3], errors={5: "x"}).rows == (7, 3)
    assert Explanations([FOUND], errors={9: "x"}).rows == (0,)


def test_a_part_keeps_its_rows():
    part = WHYS[1:3]
    assert isinstance(part, Explanations)
    assert (list(part), part.rows, part.errors) == ([NOTHING, ONE], (2, 3), {})
    assert (list(WHYS.found), WHYS.found.rows) == ([FOUND, ONE], (0, 3))


def test_equality():
    again = Explanations(list(WHYS), errors=WHYS.errors)
    assert again == WHYS
    assert WHYS[:2] != WHYS[:3]
    assert Explanations([FOUND]) != Explanations([FOUND], rows=[1])
    assert Explanations([FOUND]) != [FOUND]


def test_counts():
    assert list(WHYS.features().items()) == [("Die Hard", 2), ("Taxi Driver", 1), ("Mission: Impossible", 1)]
    assert list(WHYS.sizes().items()) == [(1, 1), (3, 1)]
    assert WHYS.statuses() == {"found": 2, "none": 1, "budget": 1, "error": 2}
    assert WHYS.share_proven == 0.5
    assert Explanations([NOTHING]).share_proven == 0.0


def test_a_feature_counts_once_an_answer():
    twins = replace(FOUND, features=("Alien", "Alien"))
    assert Explanations([twins, ONE]).features() == {"Alien": 1, "Die Hard": 1}


def test_the_summary_is_plain_and_said_in_words():
    summary = WHYS.summary(at_most=1)
    assert json.loads(json.dumps(summary)) == summary
    assert (summary["n_features"], summary["features"]) == (3, [["Die Hard", 2]])
    assert str(WHYS) == (
        "6 rows: 2 explained, 1 proven to have no answer, 1 stopped before an answer was known, 2 failed.\n"
        "Answers have 1 to 3 features, 2 in the median; 1 of 2 are proven smallest.\n"
        "Most often part of an answer: 'Die Hard' (2), 'Taxi Driver' (1), 'Mission: Impossible' (1)."
    )
    assert repr(WHYS).startswith("<Explanations: 6 rows: 2 explained")


@pytest.mark.parametrize(
    ("whys", "said"),
    [
        ([], "0 rows."),
        ([NOTHING], "1 row: 1 proven to have no answer."),
        ([ONE], "Answers have 1 feature; 1 of 1 are proven smallest."),
        ([replace(ONE, unit="word", text="x")], "Answers have 1 word;"),
        ([replace(ONE, unit="word"), FOUND], "1 to 3 features"),
        (
            [replace(ONE, unit="word", survives_deletion=each) for each in (True, False, None)],
            "smallest. 1 of 3 do not hold when the words are deleted from the text.\nMost often",
        ),
        ([replace(ONE, costs=True, cost=1)], "1 of 1 are proven cheapest"),
        ([replace(ONE, features=("\x1b[31m",))], r"'\x1b[31m' (1)"),
    ],
)
def test_summaries_in_words(whys, said):
    assert said in str(Explanations(whys))


def test_html_has_the_features_the_sizes_and_the_errors():
    html = WHYS._repr_html_()
    assert html.count('<table class="butfor-bars">') == 2
    assert html.count('<th scope="row"><bdi>') == 3 + 2
    assert "2 rows failed" in html
    assert "row 1: the model raised" in html
    many = Explanations([replace(FOUND, features=(f"film {i}",)) for i in range(50)])._repr_html_()
    assert "(30 rarer ones not shown)" in many
    assert '<table class="butfor-bars">' not in Explanations([NOTHING])._repr_html_()
    assert "<table" not in Explanations([])._repr_html_()


def test_html_shows_the_first_rows_at_a_glance():
    html = WHYS._repr_html_()
    assert '<th scope="row">3</th>' in html
    assert "Die Hard&#x27;</bdi> <small>proven smallest</small>" in html
    assert "<small>stopped before an answer was known</small>" in html
    many = Explanations([ONE] * 104, rows=range(2000, 2104))._repr_html_()
    shown, folded = many.split("and 99 more")
    assert '<th scope="row">2,004</th>' in shown
    assert "2,005" not in shown
    assert '<th scope="row">2,099</th>' in folded
    assert "2,100" not in folded
    assert "and 4 that are not listed here" in folded


def test_names_and_classes_are_escaped_at_a_glance():
    evil = replace(ONE, features=("<script>", "\x1b[31m"), decision="<b>", decision_without="a & b")
    html = Explanations([evil])._repr_html_()
    assert "<script>" not in html
    assert "<bdi>&lt;b&gt;</bdi> → <bdi>a &amp; b</bdi>" in html
    assert "\\x1b[31m" in html
    assert "\x1b" not in html
    assert '<th scope="col">Decision</th>' in html
    nameless = Explanations([replace(ONE, decision="", decision_without="")])._repr_html_()
    assert '<th scope="col">Decision</th>' not in nameless


def test_an_answer_that_does_not_survive_says_so_at_a_glance():
    contradicted = replace(ONE, unit="word", text="x", survives_deletion=False)
    assert "does not hold when they are deleted" in Explanations([contradicted])._repr_html_()


def test_they_can_be_pickled():
    assert pickle.loads(pickle.dumps(WHYS)) == WHYS


def test_plain_values_know_their_row():
    row, *others = WHYS.to_dicts()
    assert row.pop("row") == 0
    assert Explanation.from_dict(row) == FOUND
    assert [each["row"] for each in others] == [2, 3, 5]


def test_the_frame_has_a_line_for_each_and_numbers_that_are_numbers():
    frame = WHYS.to_frame()
    assert list(frame.index) == [0, 2, 3, 5]
    assert list(frame["size"]) == [3, 0, 1, 0]
    assert frame["size"].dtype.kind == "i"
    assert list(frame["status"]) == ["found", "none", "found", "budget"]
    assert list(frame["proven"]) == [False, False, True, False]
    assert frame.loc[3, "features"] == ["Die Hard"]
    assert list(Explanations([]).to_frame().columns) == list(frame.columns)


def test_the_frame_has_what_people_read_first_and_all_on_request():
    few, many = WHYS.to_frame(), WHYS.to_frame(all_columns=True)
    assert len(few.columns) == 8
    assert list(many.columns[:8]) == list(few.columns)
    assert set(many.columns) == {*Explanation.__dataclass_fields__, "size", "proven", "score_drop"}
    assert many.loc[0, "score_drop"] == FOUND.score_drop
    assert many.loc[0, "columns"] == list(FOUND.columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([FOUND, None],),
            r"explanations must hold Explanation objects, got None at 1: rows that failed go into",
        ),
        (([FOUND], [1, 2]), "rows must have a number for each of the 1 explanations, got 2"),
        (([FOUND], [1], {1: "x"}), r"rows must not hold rows that failed, got \[1\] in errors too"),
    ],
)
def test_what_is_refused(arguments, message):
    explanations, rows, errors = (*arguments, None, None)[:3]
    with pytest.raises(InputError, match=message):
        Explanations(explanations, rows=rows, errors=errors)


def test_real_rows(moviegoers, club_model):
    explainer = Explainer(club_model, feature_names=moviegoers.feature_names)
    whys = Explanations(explainer.explain(moviegoers.X[[row]]) for row in range(12))
    for name, n in whys.features().items():
        assert n == sum(name in why.features for why in whys)
    assert sum(whys.statuses().values()) == 12
    assert sum(whys.sizes().values()) == whys.statuses()["found"] == len(whys.found)
