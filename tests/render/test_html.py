from dataclasses import replace

import pytest
from test_explanation import FOUND, NOTHING

from butfor.render import card, marked_items, marked_text, page

HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


def test_words_are_marked_whatever_their_case():
    marked = marked_text("Free gift, FREE call: freedom", ["free", "call"])
    assert marked.count("<mark>") == 3
    assert "freedom</p>" in marked


def test_removed_items_come_first():
    marked = marked_items(["a", "b", "c"], ["b"])
    assert marked == '<ul class="body"><li class=gone>b</li><li>a</li><li>c</li></ul>'


def test_nothing_from_the_user_is_html():
    why = replace(FOUND, features=(HOSTILE,), columns=(0,))
    whole = page(HOSTILE, [(HOSTILE, [card(why, marked_text(HOSTILE, ["script"]), heading=HOSTILE)])])
    whole += card(why, marked_items([HOSTILE], [HOSTILE]), heading=HOSTILE)
    assert "<script" not in whole
    assert "<img" not in whole
    assert "onerror=alert(1)&gt;" in whole


@pytest.mark.parametrize(
    "why",
    [
        FOUND,
        NOTHING,
        replace(FOUND, score=0.29, score_without=0.2899),
        replace(FOUND, score=1200.0, score_without=-3.5, threshold=0.0),
        replace(NOTHING, score=0.29, threshold=0.29),
        replace(NOTHING, score=5.0, threshold=5.0, score_without=5.0),
    ],
)
def test_the_scale_shows_every_score_inside_its_frame(why):
    import re

    svg = card(why, "", heading="row 1")
    places = [float(x) for x in re.findall(r'(?:cx|x|x1)="([\d.-]+)"', svg)]
    assert places
    assert all(0 <= x <= 600 for x in places)
    assert svg.count("<circle") == (2 if why else 1)
    assert "before" in svg
