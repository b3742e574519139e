import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from vectorisers import CHARACTERS, TEXTS, WORDS, Stemming, fitted

from butfor.models.text.leaves import Leaf
from butfor.models.text.readings import readings_of

UNPLACED = {"facts", "tags", "sorting", "sorting bigrams", "analyzer with bigrams", "regex split"}
"""Vectorisers of whose grams some may have no place."""


def read(vectoriser, text, **options):
    return readings_of(Leaf(vectoriser, np.arange(10**6)), text, **options)


@pytest.mark.parametrize("name", [*WORDS, *CHARACTERS])
def test_every_gram_is_read_once(name):
    vectoriser = fitted({**WORDS, **CHARACTERS}[name])
    for text in TEXTS:
        readings = read(vectoriser, text)
        grams = [gram for reading in readings for gram in reading.grams]
        assert sorted(map(str, grams)) == sorted(map(str, vectoriser.build_analyzer()(text)))
        for reading in readings:
            assert len(reading.first) == len(reading.stop) == len(reading.grams)
            assert len(reading.tokens) == len(reading.places)


@pytest.mark.parametrize("name", sorted(set(WORDS) - UNPLACED))
def test_every_token_has_its_place(name):
    vectoriser = fitted(WORDS[name])
    for text in TEXTS:
        for reading in read(vectoriser, text):
            assert (reading.places[:, 0] < reading.places[:, 1]).all()


def test_stems_of_n_grams_are_told_from_each_other():
    (reading,) = read(Stemming(ngram_range=(1, 2)).fit(TEXTS), "Called calling forever")
    assert reading.grams == ["called", "callin", "foreve", "called", "callin"]
    assert reading.tokens == ["called", "callin", "foreve"]
    assert reading.places.tolist() == [[0, 6], [7, 14], [15, 22]]
    assert reading.first.tolist() == [0, 1, 2, 0, 1]


def test_grams_of_which_the_order_is_lost_are_looked_for():
    (reading,) = read(fitted(WORDS["sorting"]), "prize now free")
    assert reading.tokens == ["free", "now", "prize"]
    assert reading.places.tolist() == [[10, 14], [6, 9], [0, 5]]


def test_grams_of_an_analyzer_that_overlap_are_made_of_words():
    (over, rest) = read(fitted(WORDS["analyzer with bigrams"]), "Free prize, now")
    assert over.by_characters
    assert dict(zip(over.grams, zip(over.first, over.stop, strict=True), strict=True)) == {
        "free": (0, 4),
        "prize": (5, 10),
        "now": (12, 15),
        "free prize": (0, 10),
    }
    assert (rest.grams, rest.places.tolist()) == (["prize now"], [[0, 0]])


def numbered(text):
    """Number the words of each sentence: a token is not to be had without its sentence."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return [f"{at}~{word[:2]}" for words in map(str.split, sentences) for at, word in enumerate(words)]


def test_for_sentences_a_sentence_is_place_enough():
    text = "A free prize is yours. Call now for the free prize! Free, prize."
    vectoriser = CountVectorizer(tokenizer=numbered, token_pattern=None).fit(TEXTS)
    (by_word,) = read(vectoriser, text)
    assert (by_word.places[:, 0] >= by_word.places[:, 1]).any()
    (by_sentence,) = read(vectoriser, text, by_sentence=True)
    assert by_sentence.places.tolist() == [[0, 22]] * 5 + [[23, 51]] * 6 + [[52, 64]] * 2
