import json

import pytest

from butfor import InputError
from butfor.results.ranked import Ranked

PAIRS = [("free", 0.5), ("prize", 0.25), ("free", 0.125), ("mum", -1.0)]


def test_it_is_the_list_it_was():
    ranked = Ranked(PAIRS)
    assert ranked == PAIRS
    assert list.__eq__(PAIRS, ranked)
    assert repr(ranked) == repr(PAIRS)
    assert Ranked() == []
    assert [name for name, _ in ranked] == ["free", "prize", "free", "mum"]
    assert ranked[-1] == ("mum", -1.0)


def test_a_part_of_it_can_show_itself_too():
    part = Ranked(PAIRS)[1:3]
    assert type(part) is Ranked
    assert part == PAIRS[1:3]


@pytest.mark.parametrize(
    ("at_most", "kept"), [(1, PAIRS[3:]), (2, [PAIRS[0], PAIRS[3]]), (4, PAIRS), (99, PAIRS)]
)
def test_the_strongest_for_and_against(at_most, kept):
    assert Ranked(PAIRS).strongest(at_most) == kept


def test_at_most_is_checked():
    with pytest.raises(InputError, match="at_most must be a whole number of at least 1, got 0"):
        Ranked(PAIRS).plot(at_most=0)


def test_plain_values_keep_two_features_of_one_name():
    plain = {"feature": ["free", "prize", "free", "mum"], "weight": [0.5, 0.25, 0.125, -1.0]}
    assert json.loads(json.dumps(Ranked(PAIRS).to_dict())) == plain


def test_the_frame():
    frame = Ranked(PAIRS).to_frame()
    assert list(frame.itertuples(index=False, name=None)) == PAIRS
    assert list(Ranked().to_frame().columns) == ["feature", "weight"]


def test_html_has_a_bar_for_each_of_the_strongest():
    html = Ranked([(f"word {i}", 30.0 - i) for i in range(30)])._repr_html_()
    assert html.count("<tr>") == 20
    assert "(10 weaker not shown)" in html
    assert "word 19" in html
    assert "word 20" not in html
    assert "No active features to rank" in Ranked()._repr_html_()
