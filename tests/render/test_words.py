import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whys import COSTLY, FILMS, FOUND, NO_TEXT, NOTHING, SPAM, SPORTS

from butfor import InputError
from butfor.render.words import amount, counted, decimals, listed, printable, quoted, shortened

MANY = replace(FOUND, features=tuple(f"film {i}" for i in range(22)))


def test_lists():
    assert listed([]) == ""
    assert listed(["a"]) == "'a'"
    assert listed(["a", "b"]) == "'a' and 'b'"
    assert listed(["a", "b", "c"]) == "'a', 'b' and 'c'"
    assert listed(list("abcdefghij")).endswith("'i' and 'j'")
    assert listed(list("abcdefghijk")).endswith("'i', 'j', … and 1 more")


def test_long_lists_end_in_a_number():
    assert "'film 9', … and 12 more, the score would be" in str(MANY)
    assert MANY.sentence(subject="Sam", decision="predicted male", at_most=2) == (
        "But for 'film 0', 'film 1', … and 20 more, Sam would not be predicted male."
    )


def test_long_names_are_cut():
    assert quoted("x" * 80) == f"'{'x' * 80}'"
    assert quoted("x" * 81) == f"'{'x' * 79}…'"
    assert len(str(replace(FOUND, features=("word " * 20_000,)))) < 200


@pytest.mark.parametrize("at_most", [0, -1, 2.5, True, "3", None])
def test_at_most_is_checked(at_most):
    with pytest.raises(InputError, match="at_most must be a whole number of at least 1, got"):
        FOUND.sentence(subject="Sam", at_most=at_most)


@pytest.mark.parametrize("argument", ["subject", "decision"])
def test_words_are_checked(argument):
    with pytest.raises(InputError, match=f"{argument} must be a string, got 3"):
        FOUND.sentence(**{argument: 3})


@given(st.text(st.characters()))
def test_whatever_is_printed_is_safe_and_can_be_encoded(text):
    shown = printable(text)
    assert shown.encode().decode() == shown
    assert not any(c < " " or "\x7f" <= c < "\xa0" or "\u2028" <= c <= "\u202e" for c in shown)
    assert not any("\u2066" <= c <= "\u2069" or c in "\u200e\u200f\ufeff" for c in shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_stays_as_it_is(text):
    assert printable(text) == text


def test_what_joins_emoji_and_scripts_stays():
    assert printable("👩‍👧 می‌خواهم 20\xa0€") == "👩‍👧 می‌خواهم 20\xa0€"


@given(st.text(st.characters(codec="ascii")).filter(lambda text: "\\" not in text and '"' not in text))
def test_escapes_are_python_s(text):
    assert ast.literal_eval(f'"{printable(text)}"') == text


def test_two_classes_keep_the_numbers():
    assert (
        str(SPAM) == "But for 'free' and 'prize', the score would be 0.31 instead of 0.93 (threshold 0.50)."
    )


def test_more_classes_are_named():
    assert (
        str(SPORTS) == "But for 'goal' and 'match', the prediction would be 'politics' instead of 'sports'."
    )
    unnamed = replace(SPORTS, decision="", decision_without="")
    assert "the score would be -0.05 instead of 0.41 (threshold 0.00)" in str(unnamed)


def test_nothing_found_among_more_classes():
    why = replace(NO_TEXT, n_classes=3, threshold=0.0)
    assert str(why) == "Proven: whichever of its 9 words are removed, the decision stays (lead 0.93)."


def test_the_total_cost_is_said():
    assert "and 'Mission: Impossible' (total cost 5.5), the score would be 0.27" in str(COSTLY)
    assert "cost" not in str(FILMS)


@pytest.mark.parametrize(
    ("why", "words", "sentence"),
    [
        (
            FOUND,
            {"subject": "Sam", "decision": "predicted male"},
            "But for 'Die Hard', 'Taxi Driver' and 'Mission: Impossible', Sam would not be predicted male.",
        ),
        (SPAM, {"subject": "it"}, "But for 'free' and 'prize', it would not be predicted 'spam'."),
        (SPAM, {"decision": "hidden"}, "But for 'free' and 'prize', this text would not be hidden."),
        (
            FILMS,
            {"decision": "shown", "at_most": 1},
            "But for 'Die Hard', … and 2 more, this row would not be shown.",
        ),
        (
            SPORTS,
            {"subject": "it"},
            "But for 'goal' and 'match', it would be predicted 'politics' instead of 'sports'.",
        ),
        (SPORTS, {"decision": "on top"}, "But for 'goal' and 'match', this text would not be on top."),
        (
            FOUND,
            {"subject": "Sam", "at_most": 1},
            "But for 'Die Hard', … and 2 more, the decision on Sam would be another.",
        ),
        (
            NOTHING,
            {"subject": "Sam", "decision": "predicted male"},
            "Whichever of the 34 active features were left out (at most 30), "
            "Sam would still be predicted male.",
        ),
        (
            NO_TEXT,
            {"subject": "it"},
            "Whichever of the 9 words were left out, it would still be predicted 'spam'.",
        ),
        (
            NOTHING,
            {"subject": "Sam"},
            "Whichever of the 34 active features were left out (at most 30), the decision on Sam would stay.",
        ),
        (
            replace(NOTHING, n_active=0),
            {"subject": "Sam"},
            "The row has no active features, so nothing can be left out to change the decision.",
        ),
        (
            replace(NO_TEXT, n_active=0),
            {"subject": "it"},
            "The text has no words that the model knows, so nothing can be left out to change the decision.",
        ),
        (
            replace(NOTHING, n_protected=34),
            {"subject": "Sam"},
            "All active features of the row are protected, "
            "so nothing can be left out to change the decision.",
        ),
        (
            replace(NOTHING, status="budget", lower_bound=3, reason="max_seconds=2 reached"),
            {"subject": "Sam", "decision": "predicted male"},
            "Nothing was found without which Sam would not be predicted male: max_seconds=2 reached; proven: "
            "fewer than 3 of the 34 active features cannot do it.",
        ),
    ],
)
def test_sentences_for_people(why, words, sentence):
    assert why.sentence(**words) == sentence


def test_without_words_the_sentence_is_the_printed_one():
    assert FOUND.sentence() == str(FOUND)
    assert NOTHING.sentence() == str(NOTHING)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_active": 1}, "Proven: even without its only active feature, the decision stays"),
        (
            {"n_active": 2, "n_protected": 1},
            "even without its only active feature not protected, the decision",
        ),
        ({"n_active": 7, "unit": "group"}, "Proven: whichever of its 7 active groups are removed"),
        ({"n_active": 0, "unit": "sentence", "text": ""}, "The text has no words that the model knows, so"),
        (
            {"status": "budget", "costs": True, "lower_bound": 2.5, "reason": "stopped"},
            "No answer found: stopped; proven: nothing that costs less than 2.5 can do it",
        ),
        ({"status": "budget", "costs": True, "lower_bound": 0, "reason": "stopped"}, "found: stopped (score"),
    ],
)
def test_reasons_for_nothing(change, sentence):
    assert sentence in str(replace(NOTHING, **change))


def test_hostile_words_are_shown_not_obeyed():
    said = SPAM.sentence(subject="\x1b[2J", decision="\u202edab")
    assert said.endswith(r"\x1b[2J would not be \u202edab.")
    assert r"predicted 's\x07'" in replace(SPAM, decision="s\x07").sentence(subject="it")


def test_numbers():
    assert (amount(3), amount(3.0), amount(0.1 + 0.2), amount(12345.0)) == ("3", "3", "0.3", "12,345")
    assert (counted(0, ("a", "b")), counted(1, ("a", "b"))) == ("0 b", "1 a")
    assert shortened("abc", 3) == "abc"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3))
def test_numbers_are_told_apart_and_short(numbers):
    written = decimals(*numbers)
    assert len(set(map(float, written))) == len({number + 0.0 for number in numbers})
    assert all(len(text) < 25 for text in written)
