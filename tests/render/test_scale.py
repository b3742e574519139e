import re
from dataclasses import replace
from html import unescape
from itertools import pairwise

import pytest
from examples import ALL, FOUND, NOTHING, SPAM, SPORTS
from hypothesis import given
from hypothesis import strategies as st

from butfor._render.scale import scale

CASES = [
    *ALL,
    replace(FOUND, score=0.29, score_without=0.2899),
    replace(FOUND, score=1200.0, score_without=-3.5, threshold=0.0),
    replace(FOUND, score=-2.0, score_without=1.0, threshold=0.0),
    replace(FOUND, score=1.0, score_without=0.0, threshold=1.0),
    replace(FOUND, score=3e200, score_without=-3e200, threshold=0.0),
    replace(NOTHING, score=0.29, threshold=0.29),
    replace(NOTHING, score=5.0, threshold=5.0, score_without=5.0),
]


@pytest.mark.parametrize("why", CASES)
def test_every_score_is_inside_the_frame(why):
    svg = scale(why)
    places = [float(x) for x in re.findall(r' (?:cx|x|x1|x2)="([\d.e-]+)%"', svg)]
    assert len(places) >= 6
    assert all(0 <= x <= 100 for x in places)
    assert svg.count("<circle") == (2 if why else 1)
    assert "nan" not in svg


@given(
    st.sampled_from([FOUND, NOTHING, SPAM, SPORTS, replace(SPAM, decision="a long name of a class")]),
    st.tuples(*[st.floats(-1, 1) | st.floats(0, 1)] * 3),
    st.sampled_from([1, 1e-4, 1e3]),
)
def test_labels_stay_inside_and_clear_of_each_other_on_a_narrow_screen(kind, scores, unit):
    score, score_without, threshold = (round(score, 4) * unit for score in scores)
    why = replace(kind, score=score, score_without=score_without, threshold=threshold)
    labels = re.findall(r'<text x="([\d.]+)%" y="(\d+)" text-anchor="(\w+)">([^<]*)<', scale(why))
    assert len(labels) == (3 if why else 2)
    shares = {"start": 0, "middle": 0.5, "end": 1}
    width = 300  # of a narrow screen, where a character takes up to seven of these points
    frames = {}
    for x, y, anchor, written in labels:
        label = unescape(written)
        start = float(x) / 100 * width - shares[anchor] * 7 * len(label)
        frames.setdefault(y, []).append((start, start + 7 * len(label)))
    for beside in map(sorted, frames.values()):
        assert all(start >= 0 and end <= width for start, end in beside)
        assert all(first[1] < second[0] for first, second in pairwise(beside))


@pytest.mark.parametrize("why", [why for why in CASES if why])
def test_places_are_in_the_order_of_the_scores(why):
    at = {kind: float(x) for kind, x in re.findall(r'class="butfor-(\w+)" c?x1?="([\d.]+)%"', scale(why))}
    by_score = sorted([(why.score, "before"), (why.score_without, "after"), (why.threshold, "threshold")])
    places = [at[kind] for _, kind in by_score]
    assert places == sorted(places)


def test_what_is_said_to_those_who_do_not_see_it():
    assert 'aria-label="now 0.71, without 0.27, threshold 0.29"' in scale(FOUND)
    assert 'aria-label="now 0.71, threshold 0.29"' in scale(NOTHING)
    assert 'aria-label="now 0.93, without 0.31, &#x27;spam&#x27; from 0.50 on"' in scale(SPAM)
    assert 'aria-label="lead now 0.41, lead without -0.05, 0: no lead"' in scale(SPORTS)


def test_scores_like_probabilities_have_their_ends_named():
    assert scale(FOUND).count("butfor-end") == 2
    assert scale(SPORTS).count("butfor-end") == 0
    assert scale(replace(FOUND, score=7.0)).count("butfor-end") == 0
