import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode
from vectorisers import TEXTS, without_tags

from butfor.models.text.alignment import aligned, lowered, unchanged

CHANGES = [
    str.lower,
    str.upper,
    str.casefold,
    strip_accents_ascii,
    strip_accents_unicode,
    lambda text: strip_accents_unicode(text.lower()),
    lambda text: unicodedata.normalize("NFKD", text),
    lambda text: text.replace("e", ""),
]
"""Changes that work character by character."""


def places(view, spans):
    return list(map(tuple, view.places(np.array(spans)).tolist()))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("change", CHANGES)
def test_each_character_comes_from_where_it_is_said_to(text, change):
    view = aligned(text, change)
    assert view.text == change(text)
    for character, start, end in zip(view.text, view.starts, view.ends, strict=True):
        assert character.casefold() in change(text[start:end]).casefold()
    assert (np.diff(view.starts) >= 0).all()


@given(st.text(max_size=40))
def test_lower_case_is_always_aligned(text):
    view = lowered(text)
    assert view.text == text.lower()
    parts = [text[start:end].lower() for start, end in zip(view.starts, view.ends, strict=True)]
    assert all(c.casefold() in part.casefold() for c, part in zip(view.text, parts, strict=True))


def test_letters_that_vanish_belong_to_those_beside_them():
    text = "Łódź ß, cafe\u0301 naß ß"
    view = aligned(text, strip_accents_ascii)
    assert view.text == "odz , cafe na "
    words = places(view, [(0, 3), (6, 10), (11, 13)])
    assert [text[start:end] for start, end in words] == ["Łódź", "cafe\u0301", "naß"]


def test_words_are_aligned_as_a_whole_where_letters_are_not():
    def composed(text):
        return unicodedata.normalize("NFC", text)

    view = aligned("my cafe\u0301, yes", composed)
    start = view.text.index("café")
    assert places(view, [(start, start + 4)]) == [(3, 8)]
    assert places(view, [(view.text.index("yes"), len(view.text))]) == [(10, 13)]


def test_chunks_are_aligned_as_a_whole_where_words_are_not():
    def addresses(text):
        return " ".join("url" if "://" in chunk else chunk for chunk in text.split(" "))

    view = aligned("see http://a.b/c now", addresses)
    assert view.text == "see url now"
    assert places(view, [(4, 7), (8, 11)]) == [(4, 16), (17, 20)]


def test_what_cannot_be_aligned_is_not():
    assert aligned("<a href='now'>x</a>", without_tags) is None
    assert aligned("free prize", lambda text: text.split()) is None


def test_a_change_that_chokes_on_pieces_is_not_aligned():
    assert aligned("free Prize", lambda text: text[5].lower() + text) is None


def test_runs_of_blanks_become_one():
    flat = unchanged("a \n b  c").collapsed()
    assert flat.text == "a b c"
    assert places(flat, [(2, 3), (4, 5)]) == [(4, 5), (7, 8)]
