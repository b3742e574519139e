import subprocess
import sys
from dataclasses import replace

import pytest
from examples import ALL, FILMS, FOUND, NOTHING, SPAM, SPORTS
from matplotlib import rc_context
from matplotlib.figure import Figure

from butfor._render.plots import label_of
from butfor.results.explanations import Explanations
from butfor.results.ranked import Ranked

NAMES = [
    "$x^2$",
    "$",
    r"\$5",
    "_hidden",
    "two\nlines",
    "👩‍👧 😀",
    "映画",
    "שלום",
    "e\u0301",
    "x" * 500,
    "",
    "{a}",
    "%s",
]


def png(figure):
    """Draw the figure, with warnings for errors."""
    data = figure._repr_png_()
    assert data.startswith(b"\x89PNG")
    return data


def labels(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def points(axis):
    """Give the way of the score, as the first line has it."""
    return [(float(x), float(y)) for x, y in axis.get_lines()[0].get_xydata()]


@pytest.mark.parametrize("why", ALL)
def test_every_explanation_can_be_drawn(why):
    png(why.plot())


def test_the_score_falls_from_step_to_step():
    (axis,) = FILMS.plot().axes
    assert points(axis) == [(0.71, 0), (0.6, 1), (0.4, 2), (0.27, 3)]
    assert labels(axis) == ["all 34 active features", "− Die Hard", "− Taxi Driver", "− Mission: Impossible"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # time runs downwards


def test_the_threshold_is_dashed_and_the_flip_has_a_mark_of_its_own():
    (axis,) = FILMS.plot().axes
    _, before, after, threshold = axis.get_lines()
    assert list(before.get_xdata()) == [0.71, 0.6, 0.4]
    assert list(after.get_xdata()) == [0.27]
    assert before.get_markerfacecolor() != after.get_markerfacecolor() == "white"
    assert set(threshold.get_xdata()) == {0.29}
    assert threshold.get_linestyle() == "--"
    assert [text.get_text() for text in axis.texts] == ["threshold 0.29"]


@pytest.mark.parametrize(("score", "without"), [(0.9, 0.1), (0.1, 0.9), (0.5, 0.4)])
def test_the_side_of_the_other_decision_is_shaded(score, without):
    own, other = ("spam", "ham") if score >= 0.5 else ("ham", "spam")
    why = replace(SPAM, score=score, score_without=without, path=(score, without), threshold=0.5)
    (axis,) = replace(why, decision=own, decision_without=other).plot().axes
    (span,) = axis.patches
    left, right = span.get_extents().transformed(axis.transData.inverted()).intervalx
    assert left < without < right
    assert not left + 1e-9 < score < right - 1e-9
    assert axis.get_xlabel() == f"score of 'spam' (shaded: '{other}' instead of '{own}')"


def test_a_plot_says_what_real_deletion_contradicts():
    (axis,) = replace(SPAM, survives_deletion=False).plot().axes
    assert "\nin the model's columns alone: deleted from the text, the decision stays" in axis.get_xlabel()


def test_long_names_of_classes_go_on_two_lines():
    why = replace(FILMS, decision="joins the midnight club", decision_without="stays away")
    (axis,) = why.plot().axes
    assert axis.get_xlabel().splitlines() == [
        "score of 'joins the midnight club'",
        "(shaded: 'stays away' instead of 'joins the midnight club')",
    ]


def test_without_a_path_only_both_ends_are_drawn():
    (axis,) = FOUND.plot().axes
    assert points(axis) == [(0.71, 0), (0.27, 1)]
    assert labels(axis) == ["all 34 active features", "without 3 of them"]


def test_nothing_found_is_one_point():
    (axis,) = NOTHING.plot().axes
    assert points(axis) == [(0.71, 0)]
    assert labels(axis) == ["all 34 active features"]


def test_many_steps_are_counted():
    n = 400
    why = replace(FILMS, features=tuple(map(str, range(n))), path=tuple(0.7 - i / 500 for i in range(n)))
    figure = why.plot()
    png(figure)
    assert len(figure.axes[0].get_yticks()) < 20
    assert figure.axes[0].get_ylabel() == "removed"


def test_leads_are_called_leads():
    (axis,) = SPORTS.plot().axes
    assert axis.get_xlabel() == "lead over the other class (shaded: 'politics' instead of 'sports')"
    assert [text.get_text() for text in axis.texts] == ["no lead"]


@pytest.mark.parametrize("usetex", [False, True])
def test_names_are_drawn_as_they_are(usetex):
    why = replace(FILMS, features=tuple(NAMES), path=tuple(0.7 - i / 20 for i in range(len(NAMES))))
    named = replace(why, decision="$a$", decision_without="_b_映")
    with rc_context({"text.usetex": usetex}):
        figure = named.plot()
        texts = [label for label in figure.axes[0].get_yticklabels()][1:]
        assert [text.get_text() for text in texts][:5] == [
            "− $x^2$",
            "− $",
            "− \\$5",
            "− _hidden",
            r"− two\nlines",
        ]
        assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    if not usetex:  # its numbers would be set by TeX, which few machines have
        png(figure)


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_short_and_on_one_line(name):
    label = label_of(name)
    assert len(label) <= 80
    assert "\n" not in label
    assert bool(label) == bool(name)


def test_a_letter_that_no_font_has_is_a_box():
    assert label_of("a\U000f0000b") == r"a\U000f0000b"  # for private use: shown as an escape
    assert label_of("a𓀀b") in ("a□b", "a𓀀b")
    assert label_of("e\u0301x") == "e\u0301x"


def test_the_axes_of_the_user_are_used_and_given_back():
    figure = Figure()
    axis = figure.subplots()
    assert FILMS.plot(axis) is axis
    assert len(points(axis)) == 4
    other = Figure().subplots()
    assert Ranked([("a", 1.0)]).plot(other) is other


def test_bars_of_a_ranking():
    ranked = Ranked([(name, 5.0 - i) for i, name in enumerate(NAMES)])
    figure = ranked.plot(at_most=4)
    png(figure)
    (axis,) = figure.axes
    assert [bar.get_width() for bar in axis.patches] == [5.0, -5.0, -6.0, -7.0]
    assert axis.get_xlabel() == "evidence for the decision (9 weaker not shown)"
    png(ranked.plot())
    png(Ranked().plot())


def test_a_summary_of_many():
    figure = Explanations([SPAM, SPAM, replace(SPAM, features=("free",))]).plot()
    png(figure)
    left, right = figure.axes
    assert labels(left) == ["free", "prize"]
    assert [bar.get_width() for bar in left.patches] == [3, 2]
    assert [(round(bar.get_x() + bar.get_width() / 2), bar.get_height()) for bar in right.patches] == [
        (1, 1),
        (2, 2),
    ]
    assert left.get_xlabel() == "answers with this word"


@pytest.mark.parametrize("whys", [[], [NOTHING]])
def test_a_summary_of_nothing(whys):
    png(Explanations(whys).plot())


def test_pyplot_is_left_alone():
    code = (
        "import sys\nimport butfor\nassert 'matplotlib' not in sys.modules\n"
        "from butfor.results.ranked import Ranked\nRanked([('a', 1.0)]).plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
