from dataclasses import replace

import pytest
from examples import FILMS, NOTHING, SPAM
from hypothesis import given
from hypothesis import strategies as st

from butfor._render.evidence import items, not_in_text, pieces


def test_every_place_is_cut_out():
    evidence = [piece for piece, gone in pieces(SPAM.text, SPAM.spans) if gone]
    assert evidence == ["FREE", "prize", "free"]


@given(st.text(max_size=40), st.lists(st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)))))
def test_pieces_are_the_text_and_evidence_is_what_a_span_covers(text, spans):
    cut = list(pieces(text, spans))
    assert "".join(piece for piece, _ in cut) == text
    assert all(piece for piece, _ in cut)
    covered = [any(start <= i < end for places in spans for start, end in places) for i in range(len(text))]
    assert [gone for piece, gone in cut for _ in piece] == covered


def test_touching_places_are_kept_apart():
    assert list(pieces("abcd", (((0, 2),), ((2, 4),)))) == [("ab", True), ("cd", True)]


def test_removed_items_come_first():
    assert list(items(FILMS)) == [
        ("Die Hard", True),
        ("Taxi Driver", True),
        ("Mission: Impossible", True),
        ("Alien", False),
    ]
    assert list(items(NOTHING)) == []


def test_of_two_items_with_one_name_one_may_be_gone():
    twins = replace(FILMS, features=("Alien",), items=("Alien", "Alien"))
    assert list(items(twins)) == [("Alien", True), ("Alien", False)]


@pytest.mark.parametrize(
    ("spans", "names"),
    [((), ("free", "prize")), (((), ((18, 23),)), ("free",)), ((((0, 4),),), ("prize",)), (SPAM.spans, ())],
)
def test_features_without_a_known_place(spans, names):
    assert not_in_text(replace(SPAM, spans=spans)) == names
