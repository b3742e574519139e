from dataclasses import replace

from test_explanation import FOUND, NOTHING

from butfor.render import facts


def test_facts():
    assert facts(FOUND) == "3 of 34 active features · at least 2 needed · sedc · 67 scorings · 2.0 ms"
    assert "proven smallest" in facts(replace(FOUND, lower_bound=3))
    assert facts(NOTHING) == "34 active features · sedc · 67 scorings · 2.0 ms"
