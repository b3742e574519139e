"""What vectorisers count in cut texts is known beforehand, or not claimed."""

import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from vectorisers import TEXTS, stems

from butfor.models.text import CutText, split_text_model, without

WORDS = [
    *("free", "prize", "call", "now", "the", "a", "I", "mum's", "free-prize", "don't"),
    *("win!", "(cash)", "5pm,", "www.a.b", "ok?", "the"),
]
WINDOW = 3


def short_texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(3, 12))) for _ in range(n)]


def read(vectoriser, texts):
    labels = np.arange(len(texts)) % 2
    return split_text_model(make_pipeline(vectoriser, BernoulliNB()).fit(texts, labels))


def counts_of(leaf, text):
    """Return what the vectoriser itself counts."""
    counts = {}
    for gram in leaf.analyze(text):
        known = leaf.counted(gram)
        if known is not None:
            counts[known[0]] = counts.get(known[0], 0.0) + known[1]
    return {column: count for column, count in counts.items() if count}


def cut(model, text, unit, mask):
    spans = model.units(text, unit, active_only=False).spans
    if not all(spans):
        return spans, None
    return spans, CutText(text, spans, mask).contributions(model.leaves[0], WINDOW)


VECTORISERS = {
    "words": CountVectorizer(),
    "pairs": CountVectorizer(ngram_range=(1, 2)),
    "triples without stop words": CountVectorizer(ngram_range=(2, 3), stop_words="english"),
    "characters in words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    "hashed pairs": HashingVectorizer(n_features=8, ngram_range=(1, 2)),
    "own pattern": CountVectorizer(ngram_range=(1, 2), token_pattern=r"[^\s,]+"),
    "own tokenizer": CountVectorizer(tokenizer=stems, token_pattern=None),
}


@pytest.mark.parametrize("name", VECTORISERS)
@pytest.mark.parametrize("unit", ["word", "occurrence", "sentence"])
def test_counts_are_those_of_the_cut_text(name, unit):
    texts = [*short_texts(12), *TEXTS]
    model = read(VECTORISERS[name], texts)
    rng = np.random.default_rng(1)
    n_known = 0
    for text in texts:
        for mask in (None, "[MASK]", "free", "..."):
            spans, contributions = cut(model, text, unit, mask)
            if contributions is None:
                continue
            n_known += 1
            for _ in range(4):
                removed = set(rng.permutation(len(spans))[: rng.integers(0, WINDOW + 1)].tolist())
                changed = without(text, [span for at in removed for span in spans[at]], mask)
                assert contributions.counts(removed) == counts_of(model.leaves[0], changed)
    assert n_known > 0.9 * 4 * len(texts) or name == "own tokenizer"


def test_pairs_are_looked_for_across_the_cut():
    texts = ["win a free prize", "free cash prize now", "call now", "no prize"]
    model = read(CountVectorizer(ngram_range=(1, 2)), texts)
    _, contributions = cut(model, "free cash prize", "word", None)
    columns = model.leaves[0].vocabulary
    assert contributions.counts({1}) == {columns[each]: 1 for each in ("free", "prize", "free prize")}


def test_characters_across_blanks_are_not_claimed():
    texts = short_texts(4)
    model = read(CountVectorizer(analyzer="char", ngram_range=(2, 3)), texts)
    assert cut(model, texts[0], "word", None)[1] is None


def negations(text):
    """Mark all words after a "not": what a word becomes depends on words far away."""
    words, found = [], False
    for word in re.findall(r"\w+", text.lower()):
        words.append(f"{word}_not" if found else word)
        found = found or word == "not"
    return words


def test_a_tokenizer_that_looks_around_is_not_claimed():
    texts = ["this is not a free prize", "a free prize", "call now", "it is not now"]
    model = read(CountVectorizer(tokenizer=negations, token_pattern=None), texts)
    assert cut(model, texts[0], "word", None)[1] is None
    assert cut(model, texts[1], "word", None)[1] is not None


def test_pairs_of_an_own_tokenizer_are_judged_by_cuts_within_the_window():
    words = [f"w{i}" for i in range(12)]
    pairs_of_far_words = [f"{words[i]} {words[i + WINDOW + 2]}" for i in range(len(words) - WINDOW - 2)]
    text = " ".join(words)
    model = read(
        CountVectorizer(ngram_range=(1, 2), tokenizer=str.split, token_pattern=None),
        [text, *pairs_of_far_words],
    )
    contributions = cut(model, text, "word", None)[1]
    assert contributions is not None  # although pairs appear once more words in a row are cut
    assert contributions.counts({1, 2, 3}) == counts_of(model.leaves[0], "w0 w4 w5 w6 w7 w8 w9 w10 w11")
