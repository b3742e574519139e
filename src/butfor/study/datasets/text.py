"""The text recipe of the study: lemmas without stop words, weighted by TF-IDF."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from butfor._extras import install_line
from butfor.errors import InputError
from butfor.study.datasets.base import Data, split


def text_data(documents: Sequence[str], positive: Sequence[bool], folder: Path) -> Data:
    """Return the TF-IDF of the lemmas of documents. nltk's data may be in nltk_data below the folder."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    lemmas = _lemmatiser(folder)
    prepared = [lemmas(document) for document in documents]
    return vectorised(documents, prepared, positive, TfidfVectorizer(min_df=2))


def vectorised(documents: Sequence[str], cleaned: Sequence[str], positive: Any, vectoriser: Any) -> Data:
    """Fit a vectoriser on the cleaned texts of the training rows; return the data of all texts."""
    train, _ = split(len(cleaned))
    vectoriser.fit([cleaned[row] for row in train])
    return Data(
        X=vectoriser.transform(cleaned),
        y=np.array(positive, dtype=np.int64),
        feature_names=tuple(vectoriser.get_feature_names_out().tolist()),
        documents=tuple(documents),
        cleaned=tuple(cleaned),
        vectoriser=vectoriser,
    )


def _lemmatiser(folder: Path) -> Callable[[str], str]:
    """Return a function that lower-cases a text, splits it into words, drops stop words and lemmatises."""
    try:
        import nltk
    except ImportError as error:
        raise InputError(f"Text data need nltk. Install it: {install_line('study')}") from error
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
