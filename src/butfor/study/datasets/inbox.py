"""Inbox: short messages that ship with butfor; positive are those that are spam."""

from pathlib import Path

from butfor.datasets import load_inbox
from butfor.study.datasets.base import Data, Dataset
from butfor.study.datasets.text import vectorised


def read(folder: Path) -> Data:
    """Weight the words without lemmas, so that nothing has to be downloaded."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

    inbox = load_inbox()
    # All made-up addresses are in the domain "example".
    vectoriser = TfidfVectorizer(min_df=2, stop_words=[*ENGLISH_STOP_WORDS, "example"])
    return vectorised(inbox.texts, inbox.texts, inbox.y, vectoriser)


DATASET = Dataset(
    name="inbox",
    kind="text",
    target="spam",
    citation="Written for butfor.",
    licence="CC0",
    homepage="butfor.datasets.load_inbox",
    share=0.40,  # 42.48 % are positive
    read=read,
)
