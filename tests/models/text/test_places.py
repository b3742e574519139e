import re

from hypothesis import given
from hypothesis import strategies as st

from butfor.models.text.alignment import lowered, unchanged
from butfor.models.text.places import by_pieces, counted, places_of, tiled
from butfor.models.text.spans import runs_of_nonblanks, words_of

WORDS = st.lists(st.sampled_from(["free", "prize", "now", "don't", "a", "co-op", "new york"]), max_size=12)


def find(tokens, text, read=lambda piece: None):
    places = places_of(tokens, [unchanged(text), lowered(text)], [words_of, runs_of_nonblanks], read)
    return [(start, end) if start < end else None for start, end in places.tolist()]


@given(WORDS, st.sampled_from([" ", ", ", "\n"]))
def test_tokens_that_tile_the_text_are_found(words, between):
    text = between.join(words)
    spans = tiled(words, text)
    assert [text[start:end] for start, end in spans] == words


def test_tokens_are_not_taken_for_parts_of_other_words():
    assert tiled(["on"], "money on") is None
    assert tiled(["money"], "money on") is None
    assert counted(["on"], "money on") == [(6, 8)]


def test_empty_tokens_stand_nowhere():
    assert find(["free", "", "prize", ""], "free prize!") == [(0, 4), None, (5, 10), None]


def test_pieces_must_give_all_tokens_in_order():
    def stem(piece):
        return [word[:3].lower() for word in re.findall(r"\w+", piece)]

    text = "Running, don't RUN"
    assert by_pieces(["run", "don", "t", "run"], text, words_of, stem) == [
        (0, 7),
        (9, 12),
        (13, 14),
        (15, 18),
    ]
    assert by_pieces(["don", "run", "t", "run"], text, words_of, stem) is None
    assert by_pieces(["run"], text, words_of, stem) is None


def test_tokens_of_one_piece_that_cannot_be_told_apart_share_it():
    places = by_pieces(
        ["do", "not", "go"], "don't go", runs_of_nonblanks, {"don't": ["do", "not"], "go": ["go"]}.get
    )
    assert places == [(0, 5), (0, 5), (6, 8)]


def test_signs_do_not_share_a_piece():
    assert find(["priz", ","], "prizes,", {"prizes,": ["priz", ","]}.get) == [(0, 7), None]
    read = {"prizes,": ["priz", ","], "prizes": ["priz"], ",": [","]}.get
    assert find(["priz", ","], "prizes,", read) == [(0, 6), (6, 7)]


def test_tokens_that_are_counted_differently_are_left_open():
    assert find(["free_prize", "win", "be"], "Win a free prize, be free and be glad") == [None, (0, 3), None]


def test_tokens_are_found_between_those_that_pieces_give():
    def stem(piece):
        return [word[:4].lower() for word in re.findall(r"[\w']+|[.,!]", piece)]

    text = "Winner! Free prizes, calling you. Free"
    places = find(["winn", "!", "free_priz", ",", "call", "you.", "free"], text, stem)
    words = ["Winner", "!", "Free prizes", ",", "calling", "you.", "Free"]
    assert [text[start:end] for start, end in places] == words
    assert places[-1] == (34, 38)


def test_tokens_in_another_order_are_not_guessed():
    def stem(piece):
        return [word[:4] for word in piece.split()]

    text = "winner prizes calling friends"
    assert None in find(["frie", "call", "priz", "winn"], text, stem)


def test_tokens_of_several_words_are_found():
    assert counted(["new york", "#new"], "new york, #new") == [(0, 8), (10, 14)]
    assert counted(["new york"], "new yorker") == [(0, 0)]


def test_tokens_in_lower_case_are_found_in_the_text_as_it_is():
    assert find(["i̇zmir", "free"], "İzmir FREE") == [(0, 5), (6, 10)]


def test_many_words_are_no_trouble():
    words = [f"word{i % 3000}" for i in range(30_000)]
    text = " ".join(words)
    assert all(find(words[::-1], text))
