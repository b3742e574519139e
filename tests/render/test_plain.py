from dataclasses import replace

import pytest
from examples import ALL, COSTLY, FILMS, FOUND, LOAN, NOTHING, SPAM, SPORTS

from butfor._render import bracketed, facts, highlighted
from butfor._render.plain import how_removed, removal


def test_facts():
    assert facts(FOUND) == "3 of 34 active features · at least 2 needed · sedc · 67 scorings · 2.0 ms"
    assert "proven smallest" in facts(replace(FOUND, lower_bound=3))
    assert facts(NOTHING) == "34 active features · sedc · 67 scorings · 2.0 ms"
    assert facts(SPAM).startswith("2 of 9 words · proven smallest · ")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "taken out of the model's columns, holds too when deleted from the text"),
        (
            {"survives_deletion": False},
            "taken out of the model's columns, does not hold when deleted from the text",
        ),
        ({"survives_deletion": None}, "taken out of the model's columns"),
        ({"removal": "delete", "survives_deletion": None}, "deleted from the text"),
        ({"removal": "mask", "survives_deletion": None}, "masked"),
    ],
)
def test_facts_of_a_text_say_what_removing_meant(change, said):
    assert f" · {said} · sedc" in facts(replace(SPAM, **change))


def test_facts_of_costs():
    assert facts(COSTLY).startswith(
        "3 of 34 active features, total cost 5.5 · at least a cost of 4.25 needed"
    )
    assert "proven cheapest" in facts(replace(COSTLY, lower_bound=5.5))


def test_text_with_the_evidence_in_brackets():
    assert bracketed(SPAM) == "[FREE] entry! Win a [prize] now, it is [free]. Call 0800."


def test_items_with_the_removed_ones_first_and_in_brackets():
    assert bracketed(FILMS) == "[Die Hard], [Taxi Driver], [Mission: Impossible], Alien"
    assert bracketed(replace(FILMS, items=())) == "[Die Hard], [Taxi Driver], [Mission: Impossible]"
    assert bracketed(NOTHING) == ""


def test_long_lists_of_items():
    many = replace(FILMS, items=tuple(f"film {i}" for i in range(97)) + FILMS.features)
    assert bracketed(many, at_most=4) == (
        "[Die Hard], [Taxi Driver], [Mission: Impossible], film 0, … and 96 more"
    )
    assert bracketed(many, at_most=1).endswith("[Mission: Impossible], … and 97 more")
    assert len(highlighted(many)) == 60 * 2


@pytest.mark.parametrize("why", ALL)
def test_pieces_say_what_is_evidence(why):
    evidence = [piece for piece, gone in highlighted(why) if gone]
    if why.table:
        assert evidence == ["pro", "40", "gambling", "debt-advice"]
    elif why.text is None:
        assert evidence == list(why.features)
    else:
        assert {piece.lower() for piece in evidence} == set(why.features)


def test_nothing_moves_the_cursor_but_lines_stay():
    why = replace(SPAM, text="free\x1b[2J\nprize\r\u202e\t!", spans=(((0, 4),), ((9, 14),)))
    assert bracketed(why) == "[free]\\x1b[2J\n[prize]\\r\\u202e\t!"
    assert bracketed(replace(FILMS, items=("a\nb",), features=())) == r"a\nb"


def test_what_removing_a_word_meant():
    assert removal(SPAM).endswith("The decision flips too when the words are deleted from the text.")
    assert "But when the words are deleted from the text, the decision stays" in removal(
        replace(SPAM, survives_deletion=False)
    )
    assert removal(replace(SPAM, survives_deletion=None)).endswith("was not tried.")
    assert "are deleted from the text, and the model reads the rest" in removal(SPORTS)
    assert "a mask stands in the place of the sentences" in removal(
        replace(SPORTS, removal="mask", unit="sentence")
    )
    assert removal(FILMS) == removal(NOTHING) == ""


def test_a_record_is_shown_as_its_table():
    assert (
        bracketed(LOAN)
        == "plan: [pro]\nage: [40]\npurpose: some [gambling] debts\nvisited: faq, [debt-advice]\n"
    )
    wide = replace(LOAN, table=(*LOAN.table, *((f"column {i}", "x") for i in range(20))))
    assert bracketed(wide).endswith("visited: faq, [debt-advice]\n… and 20 more columns\n")


def test_what_removing_means_is_said_for_each_kind_of_part():
    said = 'items are left out; words are cut out of their text; plan is "free"; age is missing'
    assert how_removed(LOAN) == said
    assert removal(LOAN) == f"Removed means: {said}; the model reads the changed row."
    grouped = replace(LOAN, features=("the profile",), instead=("",))
    assert how_removed(grouped) == "all parts of the profile are removed"
    assert how_removed(replace(LOAN, instead=())) == ""  # results of a batch do not tell


def test_a_value_that_takes_the_place_of_a_part_is_named():
    named = 'But for visited: debt-advice, \'gambling\' in purpose, plan = "pro" (then "free") and age = 40,'
    assert LOAN.sentence().startswith(named)
    assert 'plan = "pro" (then "free")' in LOAN.letter("declined")
