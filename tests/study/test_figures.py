import re
import struct
from dataclasses import replace
from statistics import mean, median
from xml.etree import ElementTree

import pytest
from studies import ABOUT, a_case, a_result, made_up

from butfor.study.figures import pictures
from butfor.study.results import Study

pytestmark = pytest.mark.xdist_group("figures")  # drawn once for all of them

CASE = a_case("airline", "rbf-svm", linear=False, rows=3)


def draw(results, cases=(CASE,)):
    return {each.name: each.figure for each in pictures(Study(ABOUT, tuple(cases), tuple(results)))}


def lines(axis):
    """Give the points of each named line."""
    return {
        line.get_label(): [(float(x), float(y)) for x, y in line.get_xydata()]
        for line in axis.get_lines()
        if not line.get_label().startswith("_")
    }


@pytest.fixture(scope="module")
def drawn():
    return pictures(made_up(("airline",), rows=6))


def test_all_figures_of_a_whole_study(drawn):
    assert [each.name for each in drawn] == [
        "seconds-size-linear-models",
        "seconds-size-non-linear-models",
        "seconds-active-linear-models",
        "seconds-active-non-linear-models",
        "growth",
        "tradeoff",
    ]


def test_a_figure_without_results_is_left_out():
    assert draw([]) == {}
    assert list(draw([a_result("sedc", row, case=CASE) for row in range(3)])) == [
        "seconds-size-non-linear-models",
        "seconds-active-non-linear-models",
    ]
    assert list(draw([a_result("sedc", row, 0, case=CASE) for row in range(3)])) == []
    assert list(draw([a_result("complete", case=CASE, part="growth")])) == ["growth"]
    assert list(draw([a_result("auto", case=CASE, part="tradeoff")])) == ["tradeoff"]


def test_results_without_any_time_or_work_can_be_drawn():
    nothing = {"case": CASE, "seconds": 0.0, "n_scored": 0, "status": "error"}
    results = [a_result("sedc", row, case=CASE, seconds=0.0) for row in range(3)]
    results += [a_result("sedc", 0, 0, part="growth", max_size=size, **nothing) for size in (1, 2)]
    results += [a_result("sedc", 0, 0, part="tradeoff", **nothing)]
    assert len([each.svg for each in pictures(Study(ABOUT, (CASE,), tuple(results)))]) == 4


def test_panels_show_the_rows_that_all_explain_of_each_kind_of_model():
    other = a_case("airline", "linear-svm", rows=3)
    results = [
        a_result("sedc", row, 1 + row, case=case, n_active=10 * (row + 1), seconds=0.1 * (row + 1))
        for case in (CASE, other)
        for row in range(3)
    ]
    results += [a_result("auto", row, int(row > 0), case=CASE, seconds=0.5, n_active=10) for row in range(3)]
    results += [a_result("random", row, 0, case=CASE) for row in range(3)]
    figures = draw(results, (CASE, other))
    [axis] = figures["seconds-size-non-linear-models"].axes
    points = [tuple(point) for point in axis.collections[0].get_offsets().tolist()]
    # of sedc: rows 1 and 2, which auto explains too
    assert sorted(points) == [pytest.approx(point) for point in [(2, 0.2), (3, 0.3)]]
    assert set(lines(axis)) == {"sedc", "auto"}
    [axis] = figures["seconds-active-linear-models"].axes
    assert sorted(x for x, _ in axis.collections[0].get_offsets().tolist()) == [10, 20, 30]


def test_median_lines():
    case = replace(CASE, n_explained=40)
    results = [
        a_result("sedc", row, 1 + row % 2, case=case, seconds=0.001 * (row + 1) ** 2 * (1 + row % 2))
        for row in range(40)
    ]
    [axis] = draw(results, [case])["seconds-size-non-linear-models"].axes
    by_size = {
        size: [0.001 * (row + 1) ** 2 * size for row in range(40) if 1 + row % 2 == size] for size in (1, 2)
    }
    expected = [(size, median(values)) for size, values in by_size.items()]
    assert lines(axis)["sedc"] == [pytest.approx(point) for point in expected]


def test_growth_marks_what_was_stopped():
    results = [
        a_result(
            "complete",
            0,
            0,
            case=CASE,
            part="growth",
            max_size=size,
            n_scored=10**size,
            status=status,
            seconds=size,
        )
        for size, status in ((3, "budget"), (1, "none"), (2, "none"))
    ]
    results.append(a_result("sedc", case=CASE, part="growth", n_scored=50))
    seconds, scored = draw(results)["growth"].axes
    assert lines(seconds)["complete"] == [(1, 1), (2, 2), (3, 3)]
    assert lines(scored)["complete"] == [(1, 10), (2, 100), (3, 1000)]
    faces = [line.get_markerfacecolor() for line in seconds.get_lines() if line.get_marker() == "o"]
    assert [face == "white" for face in faces] == [False, False, True]
    assert {y for _, y in lines(scored)["sedc"]} == {50}  # a level, not a point


def test_an_axis_with_one_value_has_room_around_it():
    results = [a_result("complete", case=CASE, part="growth", max_size=size, n_scored=31) for size in (1, 2)]
    low, high = draw(results)["growth"].axes[1].get_ylim()
    assert low < 31 / 2 < 31 * 2 < high


def test_tradeoff_by_hand():
    def answers(search, sizes, seconds):
        common = {"case": CASE, "part": "tradeoff"}
        pairs = zip(sizes, seconds, strict=True)
        return [a_result(search, row, size, seconds=time, **common) for row, (size, time) in enumerate(pairs)]

    results = [
        *answers("lime-c:n_samples=1000", [2, 3, 4], [0.3, 0.1, 0.2]),
        *answers("lime-c:n_samples=90", [3, 0, 6], [0.01, 0.02, 0.06]),
        *answers("auto", [1, 3, 4], [0.5, 0.5, 0.5]),
        a_result("sedc", 2, 3, case=CASE),  # the main comparison knows a smaller answer of row 2
    ]
    explained, excess = draw(results)["tradeoff"].axes
    assert lines(explained)["lime-c"] == [pytest.approx((0.03, 200 / 3)), pytest.approx((0.2, 100))]
    assert lines(excess)["lime-c"] == [
        pytest.approx((0.03, mean([3 - 1, 6 - 3]))),
        pytest.approx((0.2, mean([2 - 1, 3 - 3, 4 - 3]))),
    ]
    assert lines(excess)["auto"] == [pytest.approx((0.5, mean([0, 0, 1])))]
    assert [label.get_text() for label in explained.texts] == ["90", "1000", ""]


def test_names_are_drawn_as_they_are():
    case = a_case("airline", "rbf-svm", linear=False, rows=3)
    case = replace(case, dataset=r"a$\foo$")
    results = [a_result("_mine$", row, case=case) for row in range(3)]
    [picture, _] = pictures(Study(ABOUT, (case,), tuple(results)))
    assert picture.svg  # a formula that cannot be read would raise
    [legend] = picture.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [r" _mine\$"]


def test_one_colour_a_search_everywhere(drawn):
    colours = {}
    for each in drawn:
        for axis in each.figure.axes:
            for line in axis.get_lines():
                if not line.get_label().startswith("_"):
                    colours.setdefault(line.get_label(), set()).add(line.get_color())
    assert all(len(used) == 1 for used in colours.values())
    assert len(set.union(*colours.values())) == len(colours)


def test_svg_names_no_date_and_no_version(drawn):
    for each in drawn:
        assert not re.search(r"<dc:date>|Matplotlib v", each.svg)


def test_svg_in_a_page_has_its_own_ids(drawn):
    seen = set()
    for each in drawn:
        root = ElementTree.fromstring(each.inline_svg)
        ids = {element.get("id") for element in root.iter()} - {None}
        assert ids
        assert not ids & seen
        seen |= ids
        used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', each.inline_svg)
        assert {one or two for one, two in used} <= ids


def test_files(drawn, tmp_path):
    growth = drawn[4]
    svg, png = growth.save(tmp_path / "figures")
    assert (svg.name, png.name) == ("growth.svg", "growth.png")
    ElementTree.parse(svg)
    width, height = struct.unpack(">II", png.read_bytes()[16:24])
    inches = growth.figure.get_size_inches()
    assert (width, height) == (round(inches[0] * 150), round(inches[1] * 150))
