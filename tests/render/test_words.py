import ast
from dataclasses import replace

import pytest
from examples import COSTLY, FILMS, FOUND, NO_TEXT, NOTHING, SPAM, SPORTS
from hypothesis import given
from hypothesis import strategies as st

from butfor import InputError
from butfor._render.words import amount, counted, decimals, listed, printable, quoted, shortened

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


def test_two_classes_are_named_and_the_score_says_whose_it_is():
    assert str(SPAM) == (
        "But for 'free' and 'prize', the decision would be 'ham' instead of 'spam' "
        "(score of 'spam': 0.31 instead of 0.93, threshold 0.50)."
    )
    negative = replace(SPAM, score=0.01, score_without=0.56, decision="ham", decision_without="spam")
    assert str(negative).endswith(
        "would be 'spam' instead of 'ham' (score of 'spam': 0.56 instead of 0.01, threshold 0.50)."
    )


@pytest.mark.parametrize(("other", "own"), [("0", "1"), ("False", "True"), ("-1.0", "1.0")])
def test_classes_that_are_numbers_are_called_classes(other, own):
    why = replace(FILMS, decision=own, decision_without=other)
    assert str(why).endswith(
        f"the decision would be class {other} instead of class {own} "
        f"(score of class {own}: 0.27 instead of 0.71, threshold 0.29)."
    )


def test_where_nothing_is_found_the_score_says_whose_it_is_as_far_as_that_is_known():
    none = replace(NO_TEXT, decision_without="spam")
    assert str(none).endswith("the decision stays 'spam' (score of 'spam': 0.93, threshold 0.50).")
    negative = replace(none, score=0.01, decision="ham", decision_without="ham")
    assert str(negative).endswith(
        "the decision stays 'ham' (score of the other class: 0.01, threshold 0.50)."
    )
    unnamed = replace(negative, decision="", decision_without="")
    assert str(unnamed).endswith("the decision stays (score 0.01, threshold 0.50).")


def test_what_real_deletion_contradicts_is_said_in_the_sentence():
    columns = (
        "With 'free' and 'prize' taken out of the model's columns, and the weights of all other words left "
        "as they are, "
    )
    why = replace(SPAM, survives_deletion=False)
    assert str(why) == (
        f"{columns}the decision would be 'ham' instead of 'spam' (score of 'spam': 0.31 instead of "
        "0.93, threshold 0.50). But with these words deleted from the text itself, the decision would "
        "still be 'spam'."
    )
    assert why.sentence(subject="Sam", decision="hidden") == (
        f"{columns}Sam would not be hidden. But with these words deleted from the text itself, Sam would "
        "still be hidden."
    )
    one = replace(why, features=("free",), decision="", decision_without="")
    assert str(one).endswith("But with this word deleted from the text itself, the decision would stay.")
    to_work = replace(why, n_classes=3, target="work", decision_without="work", threshold=0.0)
    assert str(to_work).endswith("deleted from the text itself, the decision would still not be 'work'.")


@pytest.mark.parametrize(
    ("change", "begin"),
    [
        ({}, "But for 'free' and 'prize', th"),
        ({"removal": "delete", "survives_deletion": None}, "But for 'free' and 'prize', th"),
        ({"removal": "mask", "survives_deletion": None}, "With 'free' and 'prize' masked, th"),
        ({"survives_deletion": None}, "With 'free' and 'prize' taken out of the model's columns, and the"),
        ({"survives_deletion": None, "text": None}, "With 'free' and 'prize' taken out of the model's"),
    ],
)
def test_the_sentence_says_which_removal_is_meant(change, begin):
    why = replace(SPAM, **change)
    assert str(why).startswith(begin)
    assert why.sentence(decision="hidden").startswith(begin)
    assert "itself" not in str(why)


def test_more_classes_are_named():
    assert str(SPORTS) == "But for 'goal' and 'match', the decision would be 'politics' instead of 'sports'."
    unnamed = replace(SPORTS, decision="", decision_without="")
    assert "the score would be -0.05 instead of 0.41 (threshold 0.00)" in str(unnamed)


def test_nothing_found_among_more_classes():
    why = replace(NO_TEXT, n_classes=3, threshold=0.0)
    assert str(why) == (
        "Proven: whichever of its 9 words are taken out of the model's columns, the decision stays 'spam' "
        "(lead 0.93)."
    )
    assert "of its 9 words are deleted from the text, the" in str(replace(why, removal="delete"))


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
        (
            SPAM,
            {"subject": "it"},
            "But for 'free' and 'prize', the decision on it would be 'ham' instead of 'spam'.",
        ),
        (SPAM, {"decision": "hidden"}, "But for 'free' and 'prize', this text would not be hidden."),
        (
            FILMS,
            {"decision": "shown", "at_most": 1},
            "But for 'Die Hard', … and 2 more, this row would not be shown.",
        ),
        (
            SPORTS,
            {"subject": "it"},
            "But for 'goal' and 'match', the decision on it would be 'politics' instead of 'sports'.",
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
            "Whichever of the 9 words were taken out of the model's columns, the decision on it would still "
            "be 'spam'.",
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
        (
            {"n_active": 1, "unit": "word", "text": "free"},
            "Proven: even with its only word taken out of the model's columns, the decision stays",
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
    assert r"instead of 's\x07'" in replace(SPAM, decision="s\x07").sentence(subject="it")


def test_numbers():
    assert (amount(3), amount(3.0), amount(0.1 + 0.2), amount(12345.0)) == ("3", "3", "0.3", "12,345")
    assert (counted(0, ("a", "b")), counted(1, ("a", "b"))) == ("0 b", "1 a")
    assert shortened("abc", 3) == "abc"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3))
def test_numbers_are_told_apart_and_short(numbers):
    written = decimals(*numbers)
    assert len(set(map(float, written))) == len({number + 0.0 for number in numbers})
    assert all(len(text) < 25 for text in written)
