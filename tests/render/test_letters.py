from dataclasses import replace

import pytest
from examples import COSTLY, FILMS, FOUND, NOTHING, SPAM

from butfor import InputError
from butfor._render import TEMPLATES
from butfor._render.letters import PLACEHOLDERS

ONE = replace(FOUND, features=("Die Hard",))


def test_the_default():
    assert FOUND.letter(noun=("film", "films")) == (
        "You were shown this because of 3 films: 'Die Hard', 'Taxi Driver' and 'Mission: Impossible'. "
        "Without them, you would not have been shown it."
    )


def test_one_feature():
    assert ONE.letter("declined", noun=("entry", "entries")) == (
        "Your application was declined because of 1 entry: 'Die Hard'. "
        "Without it, it would not have been declined."
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_named_letter_has_the_features_and_no_placeholder_left(template):
    said = FOUND.letter(template, subject="Sam", decision="predicted male")
    assert "'Die Hard', 'Taxi Driver' and 'Mission: Impossible'" in said
    assert "{" not in said


def test_long_lists():
    many = replace(FOUND, features=tuple("abcdefgh"))
    assert many.letter("{features}") == "'a', 'b', 'c', 'd', 'e', … and 3 more"
    assert many.letter("{features}", at_most=1) == "'a', … and 7 more"


def test_every_placeholder():
    template = "|".join(f"{{{name}}}" for name in PLACEHOLDERS)
    assert SPAM.letter(template, subject="Sam").split("|") == [
        "'free' and 'prize'",
        "2",
        "words",
        "them",
        "Sam",
        "predicted 'spam'",
        "ham",
        "0.93",
        "0.31",
        "0.50",
        "2",
    ]
    assert COSTLY.letter("{cost}") == "5.5"
    assert SPAM.letter("{decision}", decision="hidden") == "hidden"


def test_doubled_braces_and_lines_stay():
    assert ONE.letter("Dear {{you}},\n{n}\n") == "Dear {you},\n1\n"


@pytest.mark.parametrize(
    "template",
    [
        "{features.__class__}",
        "{features[0]}",
        "{n:>99999999}",
        "{features!r}",
        "{0}",
        "{}",
        "{why}",
        "{n:{n}}",
        "{features}{seconds}",
    ],
)
def test_other_placeholders_are_refused(template):
    with pytest.raises(
        InputError, match=r"no other placeholders than \{features\}, \{n\}, .*\{cost\}, got \{"
    ):
        FOUND.letter(template)


@pytest.mark.parametrize("template", ["shwon", "", "{features", "features}", None, 3, b"shown"])
def test_templates_without_placeholders_are_refused(template):
    with pytest.raises(
        InputError, match="template must be one of shown, declined, flagged, decided, or a text"
    ):
        FOUND.letter(template)


def test_what_a_name_says_is_not_a_template():
    assert replace(ONE, features=("{subject}",)).letter("{features}") == "'{subject}'"


def test_what_is_not_known_must_be_given():
    with pytest.raises(InputError, match=r"subject must be given, as the template says \{subject\}"):
        FOUND.letter("{subject}")
    with pytest.raises(InputError, match=r"decision must be given, as the template says \{decision\}"):
        FOUND.letter("decided", subject="Sam")
    with pytest.raises(InputError, match=r"decision_without is not known, as the template says"):
        FOUND.letter("{decision_without}")
    with pytest.raises(InputError, match="subject must be a string, got 3"):
        FOUND.letter(subject=3)


@pytest.mark.parametrize("noun", ["film", ("film",), ("a", "b", "c"), (1, 2), 3])
def test_nouns_are_checked(noun):
    with pytest.raises(InputError, match="noun must be two words, for one and for several"):
        FOUND.letter(noun=noun)


@pytest.mark.parametrize("status", ["none", "budget"])
def test_without_reasons_there_is_no_letter(status):
    with pytest.raises(InputError, match=rf"must have reasons to give, got .* \(status '{status}'\)"):
        replace(NOTHING, status=status).letter()


def test_no_letter_says_what_deletion_contradicts_unless_one_insists():
    why = replace(SPAM, survives_deletion=False)
    with pytest.raises(InputError, match=r'text with these words deleted .* as before .* removal="delete"'):
        why.letter("flagged")
    assert why.letter("flagged", even_if_contradicted=True) == SPAM.letter("flagged")
    assert replace(SPAM, survives_deletion=None).letter("flagged") == SPAM.letter("flagged")


def test_control_characters_are_shown():
    assert replace(ONE, features=("a\x1bb",)).letter("{features}") == r"'a\x1bb'"
    assert FILMS.letter("{subject}", subject="\x07") == r"\x07"
