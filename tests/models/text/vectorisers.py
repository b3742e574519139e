"""Vectorisers with all their options, and texts to try them on."""

import itertools
import re
import unicodedata

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

TEXTS = [
    "Free prize! Call now: free, FREE; the prize is yours, and the prize is free.",
    "See you at 5pm.\nBring the book, don't forget...   it's   mum's!\n\nThe end",
    "İstanbul'a ÇOK güzel: naïve café, cafe\u0301s, Straße STRASSE, ΟΔΟΣ σας, ﬁne ﬁsh",
    "emoji 😀free😀 prize👍🏽 ❤️ love, co-op co-pilot well-known #free @prize http://free.prize.example/now",
    "the the the and",
    "",
    "   \n ",
    "free",
    "東京は日本の首都です。東京タワー free prize、無料！",
    "<b>Free</b> <a href='now'>prize</a> &amp; more\tprize\xa0free",
    "freePrizeNow call_now 123 4567 1.5 ok?!...yes a b c I",
    "हिन्दी में मुफ़्त free ไทย ฟรี العربية مجانا prize",
]

LABELS = [1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0]


def no_vowels(text):
    return re.sub("[aeiou]", "", text)


def without_tags(text):
    return re.sub(r"<[^>]+>", " ", text.lower())


def stems(text):
    """Cut words to four letters: a stem is no longer in the text."""
    return [word[:4] for word in re.findall(r"\w+", text)]


def lemmas(text):
    """Return words that stand nowhere in the text, and none for short words."""
    return [f"{word[:3]}~" for word in re.findall(r"\w+", text.lower()) if len(word) > 2]


def lower_split(text):
    return text.lower().split()


def compounds(text):
    """Split long words in two."""
    return [part for word in re.findall(r"\w+", text.lower()) for part in (word[:3], word[3:]) if part]


def phrases(text):
    """Make one token of two words, so that no piece of the text alone gives it."""
    return re.sub(r"free prize", "free_prize", " ".join(re.findall(r"\w+", text.lower()))).split()


def facts(text):
    """Return tokens that stand for the whole text, and one for a word."""
    words = re.findall(r"\w+", text)
    return [f"words={len(words)}", f"last={words[-1]}"] if words else []


def own_analyzer(text):
    return [word for word in text.lower().split() if word.isalpha()]


def own_bigrams(text):
    words = re.findall(r"\w+", text.lower())
    return words + [f"{one} {two}" for one, two in itertools.pairwise(words)]


def pairs_of_letters(text):
    """Return grams that are no strings."""
    return [(word[0], word[-1]) for word in re.findall(r"\w+", text)]


class Stemming(CountVectorizer):
    """The recipe of scikit-learn's own documentation: a generator around the analyzer."""

    def build_analyzer(self):
        analyze = super().build_analyzer()
        return lambda text: (gram[:6] for gram in analyze(text))


class Sorting(CountVectorizer):
    """An analyzer that loses the order."""

    def build_analyzer(self):
        analyze = super().build_analyzer()
        return lambda text: sorted(analyze(text))


class TextLength(TransformerMixin, BaseEstimator):
    """Columns that do not come from words."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.array([[len(text), text.count("!")] for text in X], dtype=float)


WORDS = {
    "plain": CountVectorizer(),
    "bigrams": CountVectorizer(ngram_range=(1, 2)),
    "only bigrams": CountVectorizer(ngram_range=(2, 2)),
    "trigrams without stop words": TfidfVectorizer(ngram_range=(1, 3), stop_words="english"),
    "own stop words": CountVectorizer(stop_words=["the", "is", "free"], ngram_range=(1, 2)),
    "sublinear": TfidfVectorizer(sublinear_tf=True, binary=True, norm="l1"),
    "cased": CountVectorizer(lowercase=False),
    "ascii": CountVectorizer(strip_accents="ascii", ngram_range=(1, 2)),
    "unicode": CountVectorizer(strip_accents="unicode"),
    "own accents": CountVectorizer(strip_accents=no_vowels),
    "composed": CountVectorizer(preprocessor=lambda text: unicodedata.normalize("NFKC", text).lower()),
    "short words": CountVectorizer(token_pattern=r"\w+"),
    "apostrophes": CountVectorizer(token_pattern=r"[\w']+|[!?.]+", ngram_range=(1, 2)),
    "group": CountVectorizer(token_pattern=r"(\w+)(?:'\w+)?"),
    "split": CountVectorizer(tokenizer=str.split, token_pattern=None),
    "lower split": TfidfVectorizer(tokenizer=lower_split, token_pattern=None, lowercase=False),
    "findall": CountVectorizer(tokenizer=re.compile(r"\w+").findall, token_pattern=None),
    "regex split": CountVectorizer(tokenizer=re.compile(r"\W+").split, token_pattern=None),
    "stems": CountVectorizer(tokenizer=stems, token_pattern=None),
    "bigrams of stems": CountVectorizer(tokenizer=stems, token_pattern=None, ngram_range=(1, 2)),
    "lemmas": CountVectorizer(tokenizer=lemmas, token_pattern=None),
    "compounds": CountVectorizer(tokenizer=compounds, token_pattern=None),
    "phrases": CountVectorizer(tokenizer=phrases, token_pattern=None, ngram_range=(1, 2)),
    "facts": CountVectorizer(tokenizer=facts, token_pattern=None),
    "tags": CountVectorizer(preprocessor=without_tags),
    "few": CountVectorizer(max_features=5),
    "frequent": CountVectorizer(min_df=3, ngram_range=(1, 2)),
    "fixed": CountVectorizer(vocabulary=["free", "prize", "the prize"], ngram_range=(1, 2)),
    "analyzer": CountVectorizer(analyzer=own_analyzer),
    "pairs": CountVectorizer(analyzer=pairs_of_letters),
    "analyzer with bigrams": CountVectorizer(analyzer=own_bigrams),
    "stemming": Stemming(),
    "stemming bigrams": Stemming(ngram_range=(1, 2)),
    "sorting": Sorting(),
    "sorting bigrams": Sorting(ngram_range=(1, 2)),
    "hashing": HashingVectorizer(n_features=2**16, norm=None),
    "colliding": HashingVectorizer(n_features=8, ngram_range=(1, 2), norm=None, alternate_sign=False),
    "cancelling": HashingVectorizer(n_features=8, norm="l2"),
}
"""Vectorisers whose grams are tokens, joined by blanks."""

CHARACTERS = {
    "characters": CountVectorizer(analyzer="char", ngram_range=(1, 3)),
    "long": CountVectorizer(analyzer="char", ngram_range=(5, 7)),
    "within words": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    "single": CountVectorizer(analyzer="char_wb"),
    "cased characters": CountVectorizer(analyzer="char", ngram_range=(2, 2), lowercase=False),
    "characters without tags": CountVectorizer(
        analyzer="char_wb", ngram_range=(2, 3), preprocessor=without_tags
    ),
    "hashed": HashingVectorizer(
        analyzer="char_wb", ngram_range=(2, 3), n_features=2**16, alternate_sign=False
    ),
}
"""Vectorisers whose grams are made of characters."""


def fitted(vectoriser):
    """Fit on all texts; what is fixed stays."""
    return clone(vectoriser).fit(TEXTS)
