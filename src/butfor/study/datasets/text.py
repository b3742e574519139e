"""The text recipe of the study: lemmas without stop words, weighted by TF-IDF."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.study.datasets.base import Data, split


def text_data(documents: Sequence[str], positive: Sequence[bool], folder: Path) -> Data:
    """Return the TF-IDF of the lemmas of documents. nltk's data may be in nltk_data below the folder."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    lemmas = _lemmatiser(folder)
    prepared = [lemmas(document) for document in documents]
    X, feature_names = tfidf(prepared, TfidfVectorizer(min_df=2))
    return Data(X, np.array(positive, dtype=np.int64), feature_names, tuple(documents))


def tfidf(texts: Sequence[str], vectorizer: Any) -> tuple[Any, tuple[str, ...]]:
    """Fit a vectorizer on the training rows; return the weights of all texts and the vocabulary."""
    train, _ = split(len(texts))
    vectorizer.fit([texts[row] for row in train])
    return vectorizer.transform(texts), tuple(vectorizer.get_feature_names_out().tolist())


def _lemmatiser(folder: Path) -> Callable[[str], str]:
    """Return a function that lower-cases a text, splits it into words, drops stop words and lemmatises."""
    try:
        import nltk
    except ImportError as error:
        raise InputError('Text data need nltk. Install it: pip install "butfor[study]"') from error
    if str(folder / "nltk_data") not in nltk.data.path:
        nltk.data.path.append(str(folder / "nltk_data"))
    try:
        stop_words = frozenset(nltk.corpus.stopwords.words("english"))
        lemma = cache(nltk.stem.WordNetLemmatizer().lemmatize)  # words recur, and a look-up is slow
        lemma(nltk.word_tokenize("words")[0])  # raises here if data are missing
    except LookupError as error:
        raise InputError(
            "Text data need nltk's punkt_tab, stopwords and wordnet, in the folder named by NLTK_DATA or in"
            f" {folder / 'nltk_data'}. Get them: python -m nltk.downloader punkt_tab stopwords wordnet."
            " If they are there, nltk refuses them because others may write to them: chmod -R go-w."
        ) from error
    return lambda text: " ".join(
        lemma(word) for word in nltk.word_tokenize(text.lower()) if word not in stop_words
    )
