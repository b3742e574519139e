import json
from dataclasses import FrozenInstanceError, replace

import pytest
from examples import FOUND, NOTHING

from butfor import Explanation, InputError


def test_the_sentence():
    assert str(FOUND) == (
        "But for 'Die Hard', 'Taxi Driver' and 'Mission: Impossible', "
        "the score would be 0.27 instead of 0.71 (threshold 0.29)."
    )


def test_one_feature():
    why = replace(FOUND, features=("Die Hard",), columns=(17,))
    assert str(why) == "But for 'Die Hard', the score would be 0.27 instead of 0.71 (threshold 0.29)."


def test_scores_close_to_the_threshold_are_told_apart():
    why = replace(FOUND, features=("x",), columns=(0,), score_without=0.28996)
    assert "would be 0.28996 instead of 0.71000 (threshold 0.29000)" in str(why)


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (
            NOTHING,
            "Proven: whichever of its 34 active features are removed (at most 30), the decision stays",
        ),
        (
            replace(NOTHING, n_active=3),
            "Proven: whichever of its 3 active features are removed, the decision stays",
        ),
        (
            replace(NOTHING, n_active=3, n_protected=1),
            "Proven: whichever of its 2 active features not protected are removed, the decision stays",
        ),
        (
            replace(NOTHING, n_active=3, n_protected=3),
            "All active features of the row are protected, so there is nothing to remove",
        ),
        (replace(NOTHING, n_active=0), "The row has no active features, so there is nothing to remove"),
        (
            replace(NOTHING, status="budget", lower_bound=1, reason="max_seconds=2 reached"),
            "No answer found: max_seconds=2 reached",
        ),
        (
            replace(NOTHING, status="budget", lower_bound=3, reason="stopped"),
            "No answer found: stopped; proven: fewer than 3 of its 34 active features cannot do it",
        ),
    ],
)
def test_sentences_of_nothing_found(why, sentence):
    assert str(why) == f"{sentence} (score 0.71, threshold 0.29)."


def test_control_characters_in_names_are_shown_not_obeyed():
    why = replace(FOUND, features=("\x1b[31mred\u202e",), columns=(0,))
    assert r"'\x1b[31mred\u202e'" in str(why)


def test_derived_values():
    assert (FOUND.size, FOUND.proven_minimum, bool(FOUND)) == (3, False, True)
    assert FOUND.score_drop == pytest.approx(0.44)
    assert replace(FOUND, lower_bound=3).proven_minimum
    assert (NOTHING.size, NOTHING.proven_minimum, bool(NOTHING), NOTHING.score_drop) == (0, False, False, 0)


@pytest.mark.parametrize("why", [FOUND, NOTHING], ids=["found", "none"])
def test_through_json_and_back(why):
    assert Explanation.from_dict(json.loads(json.dumps(why.to_dict()))) == why


def test_from_dict_wants_its_keys_and_no_others():
    values = FOUND.to_dict()
    with pytest.raises(InputError, match=r"values must have the keys \['status', .* got .*'colour'\]"):
        Explanation.from_dict({**values, "colour": "red"})
    assert Explanation.from_dict({key: value for key, value in values.items() if key != "target"}) == FOUND
    del values["score"]
    with pytest.raises(InputError, match="values must have the keys"):
        Explanation.from_dict(values)


def test_it_is_frozen():
    with pytest.raises(FrozenInstanceError):
        FOUND.score = 1.0
