import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vectorisers import TEXTS

from butfor.models.text.spans import as_array, disjoint, sentences_of, with_marks, without, words_of

CHARACTERS = st.text(st.sampled_from("abcXY01_ \n\t.,!-'é\u0301ßİ😀東"), max_size=60)


@st.composite
def texts_with_cuts(draw):
    text = draw(CHARACTERS)
    bounds = st.integers(0, len(text))
    return text, draw(st.lists(st.tuples(bounds, bounds).map(sorted).map(tuple), max_size=6))


def apart(spans):
    return [(start, end) for start, end in disjoint(as_array(spans)).tolist()]


def kept(text, spans):
    return "".join(c for at, c in enumerate(text) if not any(start <= at < end for start, end in spans))


@given(texts_with_cuts())
def test_a_cut_changes_nothing_but_blanks(case):
    text, spans = case
    assert "".join(without(text, spans).split()) == "".join(kept(text, spans).split())


@given(texts_with_cuts())
def test_blanks_only_go_or_keep_letters_apart(case):
    text, spans = case
    spans = [span for span in spans if span[0] < span[1]]
    pattern, at = [], 0
    for start, end in apart(spans):
        pattern.append(text[at:start])
        at = end
    pattern.append(text[at:])
    cut = without(text, spans)
    # Inside what is kept every character stays, blanks included.
    at = 0
    for piece in pattern:
        found = cut.find(piece.strip(), at)
        assert found >= 0
        assert not cut[at:found].strip()
        at = found + len(piece.strip())


@given(texts_with_cuts())
def test_cutting_words_leaves_the_other_words(case):
    text, _ = case
    words = [match.span() for match in re.finditer(r"\w+", text)]
    cut = words[::2]
    assert re.findall(r"\w+", without(text, cut)) == [text[start:end] for start, end in words[1::2]]


@given(texts_with_cuts(), st.sampled_from(["", "[MASK]", "x"]))
def test_a_mask_stands_for_each_cut(case, mask):
    text, spans = case
    expected = [*list(text), ""]
    for start, end in apart(spans):
        expected[start:end] = [""] * (end - start)
    for start, _ in reversed(apart(spans)):
        expected[start] = mask + expected[start] if start < len(expected) else mask
    assert without(text, spans, mask) == "".join(expected)


@pytest.mark.parametrize(
    ("text", "word", "left"),
    [
        ("A free prize", "free", "A prize"),
        ("free prize", "free", "prize"),
        ("A prize", "prize", "A"),
        ("free", "free", ""),
        ("  free  prize", "free", "  prize"),
        ("win\nfree prize", "free", "win\nprize"),
        ("win free\nprize", "free", "win\nprize"),
        ("win, free, prize", "free", "win, , prize"),
        ("(free)", "free", "()"),
        ("a\n\nfree\n\nb", "free", "a\n\nb"),
        ("winfreeprize", "free", "win prize"),
        ("free free\tfree a", "free", "a"),
    ],
)
def test_what_a_cut_leaves(text, word, left):
    assert without(text, [match.span() for match in re.finditer(word, text)]) == left


def test_a_mask_is_no_pattern():
    assert without("a b", [(0, 1)], r"\1\g<0>") == r"\1\g<0> b"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=12))
def test_disjoint_spans_cover_the_same_characters(pairs):
    spans = [(start, start + length) for start, length in pairs]
    parts = apart(spans)
    assert {at for span in parts for at in range(*span)} == {at for span in spans for at in range(*span)}
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(parts))
    assert all(any(part[0] <= s and e <= part[1] for part in parts) for s, e in spans)


@pytest.mark.parametrize("text", TEXTS)
def test_words_hold_all_letters_and_start_with_one(text):
    words = words_of(text)
    inside = {at for span in words for at in range(*span)}
    assert {match.start() for match in re.finditer(r"\w", text)} <= inside
    assert all(re.match(r"\w", text[start]) for start, _ in words)


def test_words_keep_their_accents():
    text = "cafe\u0301s हिन्दी ❤️"
    assert [text[start:end] for start, end in words_of(text)] == ["cafe\u0301s", "हिन्दी"]


def test_a_span_takes_the_accent_behind_it_unless_another_span_has_it():
    assert with_marks("cafe\u0301s", as_array([(0, 4)])).tolist() == [[0, 5]]
    assert with_marks("cafe\u0301s", as_array([(0, 4), (4, 5)])).tolist() == [[0, 4], [4, 5]]


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_hold_everything_but_blanks(text):
    sentences = [text[start:end] for start, end in sentences_of(text)]
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four… five", ["One.", "Two!", "Three?", "Four…", "five"]),
        ('He said "no." Then left', ['He said "no."', "Then left"]),
        ("1.5 is a.b", ["1.5 is a.b"]),
        ("a\n\n  b\r\nc", ["a", "b", "c"]),
        ("東京。大阪！", ["東京。", "大阪！"]),
        (" ", []),
    ],
)
def test_where_sentences_end(text, sentences):
    assert [text[start:end] for start, end in sentences_of(text)] == sentences


def test_rows_of_dots_are_no_trouble():
    text = "." * 200_000 + "x"
    assert sentences_of(text) == [(0, len(text))]
