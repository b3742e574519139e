import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from vectorisers import TEXTS

from butfor.models.text.grams import bounded_char_grams, char_grams, overlapped, word_grams

SIZES = [(1, 1), (1, 2), (2, 2), (1, 4), (3, 5), (7, 9)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("text", TEXTS)
def test_grams_are_those_of_scikit_learn_and_made_of_what_is_said(text, sizes):
    own = CountVectorizer(ngram_range=sizes)
    tokens = text.split()
    grams, first, stop = word_grams(tokens, *sizes)
    assert grams == own._word_ngrams(tokens)
    assert grams == [" ".join(tokens[at:end]) for at, end in zip(first, stop, strict=True)]
    flat = " ".join(text.split())
    grams, first, stop = char_grams(flat, *sizes)
    assert grams == own._char_ngrams(flat)
    assert grams == [flat[at:end] for at, end in zip(first, stop, strict=True)]
    grams, first, stop = bounded_char_grams(flat, *sizes)
    assert grams == own._char_wb_ngrams(flat)
    assert [gram.strip() for gram in grams] == [flat[at:end] for at, end in zip(first, stop, strict=True)]


def test_what_overlaps_is_what_shares_a_character():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.choice(100, size=20, replace=False)).reshape(-1, 2)
    first = rng.integers(0, 100, size=300)
    stop = first + rng.integers(0, 20, size=300)
    spans = [(int(start), int(end)) for start, end in bounds]
    for at, end, low, high in zip(first, stop, *overlapped(bounds, first, stop), strict=True):
        shared = [i for i, span in enumerate(spans) if set(range(*span)) & set(range(at, end))]
        assert list(range(low, high)) == shared


def test_nothing_overlaps_where_there_is_nothing():
    first, stop = overlapped(np.zeros((0, 2), dtype=int), np.array([0, 3]), np.array([2, 4]))
    assert (first >= stop).all()
