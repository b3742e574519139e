import itertools
import sys
import tracemalloc
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.tree import DecisionTreeClassifier
from vectorisers import CHARACTERS, LABELS, TEXTS, WORDS, TextLength, lower_split, stems

from butfor import InputError
from butfor.models.text import split_text_model, units_of_text, without

GRAMS_OF_TOKENS = sorted(
    set(WORDS)
    - {"stemming bigrams", "analyzer with bigrams", "sorting bigrams", "regex split", "phrases", "facts"}
)
"""Vectorisers whose grams, split at blanks, are their tokens."""
CONTEXT = {
    "facts",
    "group",
    "phrases",
    "compounds",
    "tags",
    "regex split",
    "analyzer with bigrams",
    "sorting bigrams",
}
"""Vectorisers that read a word alone not as they read it in its text."""
COUNTING = [
    "plain",
    "cased",
    "unicode",
    "short words",
    "split",
    "stems",
    "lemmas",
    "few",
    "analyzer",
    "pairs",
]
"""Vectorisers that count single tokens, so that a column is what its tokens make it."""


@cache
def text_model(name):
    return split(clone({**WORDS, **CHARACTERS}[name]))


def split(*vectorisers):
    return split_text_model(make_pipeline(*vectorisers, DecisionTreeClassifier()).fit(TEXTS, LABELS))


def active(model, text):
    row = model.rows([text])
    return set(row.indices[row.data != 0].tolist())


def columns_of_units(units):
    columns = [set() for _ in units.names]
    for column, touched in units.grams:
        for unit in touched:
            columns[unit].add(column)
    return columns


def columns_of_gram(model, gram):
    """Find the column of a gram by the vectoriser itself."""
    vectoriser = model.steps[0]
    if isinstance(vectoriser, HashingVectorizer):
        return hashed(gram, vectoriser.n_features, vectoriser.alternate_sign)
    return {vectoriser.vocabulary_[gram]} if gram in vectoriser.vocabulary_ else set()


@cache
def hashed(gram, n_features, sign):
    alone = HashingVectorizer(n_features=n_features, analyzer=lambda text: [text], alternate_sign=sign)
    return set(alone.transform([gram]).indices.tolist())


def columns_by_token(model, text):
    """Find, by brute force, the active columns of all grams that contain a token."""
    columns, now = defaultdict(set), active(model, text)
    for gram in model.steps[0].build_analyzer()(text):
        for token in gram.split(" ") if isinstance(gram, str) else [str(gram)]:
            columns[token] |= columns_of_gram(model, gram) & now
    return {token: own for token, own in columns.items() if own}


@pytest.mark.parametrize("name", GRAMS_OF_TOKENS)
def test_a_word_touches_the_columns_of_all_grams_that_contain_it(name):
    model = text_model(name)
    for text in TEXTS:
        units = model.units(text)
        assert dict(zip(units.names, columns_of_units(units), strict=True)) == columns_by_token(model, text)
        assert len(set(units.names)) == len(units.names)


@pytest.mark.parametrize("unit", ["word", "occurrence"])
@pytest.mark.parametrize("name", WORDS)
def test_all_columns_of_a_text_are_touched(name, unit):
    model = text_model(name)
    for text in TEXTS:
        assert {column for column, _ in model.units(text, unit).grams} == active(model, text)


@pytest.mark.parametrize("name", sorted(set(WORDS) - CONTEXT))
def test_the_characters_of_a_word_are_read_as_the_word(name):
    model = text_model(name)
    analyze = clone(model.steps[0]).set_params(ngram_range=(1, 1), stop_words=None).build_analyzer()
    for text in TEXTS:
        units = model.units(text)
        for word, spans in zip(units.names, units.spans, strict=True):
            for start, end in spans:
                assert list(map(str, analyze(text[start:end]))) == [word]


@pytest.mark.parametrize("name", GRAMS_OF_TOKENS)
def test_a_text_without_a_word_has_no_gram_with_it(name):
    model = text_model(name)
    for text in TEXTS:
        units, known = model.units(text), columns_by_token(model, text)
        for word, spans in zip(units.names, units.spans, strict=True):
            if spans and word in known:
                left = model.steps[0].build_analyzer()(without(text, spans))
                assert word not in {token for gram in left for token in str(gram).split(" ")}


@pytest.mark.parametrize("name", COUNTING)
def test_cutting_a_word_out_of_the_text_is_zeroing_its_columns(name):
    model = text_model(name)
    for text in TEXTS:
        row = model.rows([text]).toarray()[0]
        units = model.units(text)
        for spans, columns in zip(units.spans, columns_of_units(units), strict=True):
            zeroed = row.copy()
            zeroed[list(columns)] = 0
            np.testing.assert_array_equal(model.rows([without(text, spans)]).toarray()[0], zeroed)


@pytest.mark.parametrize("name", COUNTING)
def test_cutting_one_occurrence_counts_its_grams_down(name):
    model = text_model(name)
    for text in TEXTS:
        row = model.rows([text]).toarray()[0]
        units = model.units(text, "occurrence")
        for unit, spans in enumerate(units.spans):
            less = row.copy()
            for column, touched in units.grams:
                less[column] -= unit in touched
            np.testing.assert_array_equal(model.rows([without(text, spans)]).toarray()[0], less)


@pytest.mark.parametrize("name", [*WORDS, *CHARACTERS])
def test_occurrences_are_the_places_of_words(name):
    model = text_model(name)
    for text in TEXTS:
        words, occurrences = model.units(text), model.units(text, "occurrence")
        places = sorted(span for spans in words.spans for span in spans)
        single = [spans for spans in occurrences.spans if spans]
        assert all(len(spans) == 1 for spans in single)
        # A word that touches a column may have occurrences that do not: a stem cut off at n-grams, say.
        assert {span for (span,) in single} <= set(places)
        assert [text[slice(*span)] for (span,) in single] == [
            name for name, spans in zip(occurrences.names, occurrences.spans, strict=True) if spans
        ]
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(places))
        if name in COUNTING:
            assert sorted(span for (span,) in single) == places


def marked(text, span):
    """Write the characters of a span as characters that stand nowhere else, and tell which is which."""
    letters = dict.fromkeys(text[slice(*span)])
    private = {letter: chr(0xE000 + at) for at, letter in enumerate(letters)}
    written = text[: span[0]] + "".join(private[c] for c in text[slice(*span)]) + text[span[1] :]
    return written, {mark: letter for letter, mark in private.items()}


@pytest.mark.parametrize("name", CHARACTERS)
def test_an_occurrence_touches_all_grams_with_one_of_its_characters(name):
    model = text_model(name)
    for text in (text for text in TEXTS if "İ" not in text):
        units = model.units(text, "occurrence")
        vectoriser = model.steps[0]
        now = active(model, text)
        for columns, (span,) in zip(columns_of_units(units), units.spans, strict=True):
            written, letters = marked(text, span)
            expected = set()
            for gram in vectoriser.build_analyzer()(written):
                if any(c in letters for c in gram):
                    plain = "".join(letters.get(c, c) for c in gram)
                    expected |= columns_of_gram(model, plain.lower() if vectoriser.lowercase else plain) & now
            assert columns == expected


@pytest.mark.parametrize("unit", ["word", "occurrence", "sentence"])
@pytest.mark.parametrize("name", sorted({*WORDS, *CHARACTERS} - {"regex split"}))
def test_texts_without_words_have_no_units(name, unit):
    for text in ("", "  \n", "~~ ~"):
        assert text_model(name).units(text, unit).names == ()


@pytest.mark.parametrize("name", [*COUNTING, "stemming"])
def test_a_sentence_is_all_its_words(name):
    model = text_model(name)
    for text in TEXTS:
        row = model.rows([text]).toarray()[0]
        units = model.units(text, "sentence")
        assert {column for column, _ in units.grams} == active(model, text)
        for unit, (span,) in enumerate(units.spans):
            assert units.names[unit] == text[slice(*span)]
            less = row.copy()
            for column, touched in units.grams:
                less[column] -= unit in touched
            np.testing.assert_array_equal(model.rows([without(text, [span])]).toarray()[0], less)


def test_a_gram_across_two_sentences_touches_both():
    units = split(CountVectorizer(ngram_range=(2, 2))).units("free prize! call now", "sentence")
    touched = [touched for _, touched in units.grams]
    assert units.names == ("free prize!", "call now")
    assert touched == [(0,), (0, 1), (1,)]


def test_members_of_a_union_share_words_and_stand_side_by_side():
    union = make_union(
        CountVectorizer(), make_pipeline(CountVectorizer(ngram_range=(2, 2)), TfidfTransformer())
    )
    model = split(union)
    units = model.units("Free prize, free")
    names = model.feature_names
    assert units.names == ("free", "prize")
    assert units.spans == (((0, 4), (12, 16)), ((5, 10),))
    assert [{names[column] for column in own} for own in columns_of_units(units)] == [
        {"countvectorizer__free", "pipeline__free prize", "pipeline__prize free"} & set(names),
        {"countvectorizer__prize", "pipeline__free prize", "pipeline__prize free"} & set(names),
    ]


def test_words_and_characters_in_one_model_are_one_unit():
    model = split(make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3))))
    text = "Free prize: a co-op, FREE"
    units = model.units(text)
    assert units.names == ("free", "prize", "a", "co", "op")
    assert units.spans[0] == ((0, 4), (21, 25))
    by_name = dict(zip(units.names, columns_of_units(units), strict=True))
    names = {model.feature_names[column].split("__")[1] for column in by_name["free"]}
    assert {"free", " f", "fr", "ree", "ee "} <= names
    punctuation = {
        model.feature_names[column] for column in active(model, text) - set().union(*by_name.values())
    }
    assert all(not any(c.isalnum() for c in name.split("__")[1]) for name in punctuation)


def test_tokens_of_characters_give_way_to_those_of_words():
    model = split(make_union(CountVectorizer(token_pattern=r"[\w']+"), CountVectorizer(analyzer="char")))
    units = model.units("don't can't t")
    assert units.names == ("don't", "can't", "t")


def test_tokens_that_overlap_are_one_unit():
    union = make_union(
        CountVectorizer(tokenizer=stems, token_pattern=None),
        CountVectorizer(tokenizer=lower_split, token_pattern=None),
    )
    units = split(union).units("prize! well-known prize")
    assert units.names == ("priz", "well-known")
    assert units.spans == (((0, 6), (18, 23)), ((7, 17),))


def test_cased_and_uncased_words_are_one_unit():
    units = split(make_union(CountVectorizer(), CountVectorizer(lowercase=False))).units("Free FREE free")
    assert units.names == ("free",)
    assert units.spans == (((0, 4), (5, 9), (10, 14)),)


def test_columns_that_do_not_come_from_words_are_touched_by_none():
    union = FeatureUnion(
        [("length", TextLength()), ("words", CountVectorizer())],
        transformer_weights={"words": 2.0, "length": 0.5},
    )
    model = split(union)
    units = model.units(TEXTS[0])
    assert {column for column, _ in units.grams} == active(model, TEXTS[0]) - {0, 1}
    assert min(column for column, _ in units.grams) >= 2
    plain = text_model("plain").units(TEXTS[0])
    assert units.grams == tuple((column + 2, touched) for column, touched in plain.grams)


def test_words_of_which_the_place_is_not_known_still_touch_their_columns():
    model = text_model("facts")
    for unit in ("word", "occurrence"):
        units = model.units("Last of these is ok", unit)
        assert units.names == ("words=5",)
        assert units.spans == ((),)
        assert columns_of_units(units) == [columns_by_token(model, "Last of these is ok")["words=5"]]
    assert model.units("Last of. These is ok", "sentence").names == ()


def test_tokens_of_several_words_stand_where_the_words_stand():
    units = text_model("phrases").units("It's a FREE  prize and a prize")
    assert units.names == ("it", "s", "a", "free_prize", "and", "prize")
    assert units.spans[3] == ((7, 18),)


HASHING = [
    split(HashingVectorizer(n_features=2**12, alternate_sign=False, **options))
    for options in (
        {"ngram_range": (1, 2)},
        {"strip_accents": "unicode", "token_pattern": r"\w+"},
        {"tokenizer": stems, "token_pattern": None},
    )
]
CHARACTER = st.sampled_from("aeFRé\u0301ßİΣ東😀1_'-.! \n")


@given(
    st.lists(st.text(CHARACTER, max_size=6), max_size=10).map(" ".join),
    st.sampled_from(["word", "occurrence"]),
)
def test_units_of_any_text_are_apart_and_complete(text, unit):
    for model in HASHING:
        units = model.units(text, unit)
        assert {column for column, _ in units.grams} == active(model, text)
        places = sorted(span for spans in units.spans for span in spans)
        assert all(units.spans)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(places))
        assert not active(model, without(text, places))


def test_units_without_a_vectoriser_are_words_whatever_their_case():
    text = "Free PRIZE free, Straße STRASSE"
    units = units_of_text(text)
    assert units.names == ("free", "prize", "straße")
    assert [len(spans) for spans in units.spans] == [2, 1, 2]
    assert units_of_text(text, "occurrence").names == ("Free", "PRIZE", "free", "Straße", "STRASSE")
    assert units_of_text("", "sentence") == units_of_text("")


@pytest.mark.parametrize("ask", [units_of_text, text_model("plain").units])
def test_what_is_asked_for_is_checked(ask):
    with pytest.raises(InputError, match="unit must be one of word, occurrence, sentence, got 'letter'"):
        ask("free", "letter")
    with pytest.raises(InputError, match="text must be a string, got bytes"):
        ask(b"free")


@pytest.mark.parametrize(
    "name", ["bigrams", "unicode", "split", "stems", "lemmas", "hashing", "within words"]
)
def test_work_grows_with_the_text_and_no_faster(name):
    model = text_model(name)
    model.units("wörd")  # what is imported late is imported now
    calls, n_bytes = [], []
    for n_words in (1_000, 10_000):
        rng = np.random.default_rng(0)
        text = " ".join(f"wörd{at}" for at in rng.zipf(1.3, size=n_words) % 3000)
        for counts, count in zip((calls, n_bytes), work_of(model, text), strict=True):
            counts.append(count)
    assert calls[1] < 15 * calls[0]
    assert n_bytes[1] < 15 * n_bytes[0]


def work_of(model, text):
    """Count the calls of functions and the bytes in use at most."""
    n_calls = 0

    def count(frame, event, arg):
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        model.units(text)
    finally:
        sys.setprofile(before)
        n_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return n_calls, n_bytes
