import re
from collections import Counter

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from butfor.datasets import load_inbox


@pytest.fixture(scope="module")
def inbox():
    return load_inbox()


def test_there_are_enough_messages_of_both_kinds(inbox):
    assert len(inbox.texts) == len(inbox.y) == len(inbox.topics) >= 600
    assert 0.3 < inbox.y.mean() < 0.5
    assert min(Counter(inbox.topics).values()) >= 12


def test_no_message_is_a_template_of_another(inbox):
    assert len(set(inbox.texts)) == len(inbox.texts)
    openings = Counter(" ".join(text.lower().split()[:4]) for text in inbox.texts)
    assert max(openings.values()) <= 2
    words = [set(re.findall(r"\w+", text.lower())) for text in inbox.texts]
    for i, first in enumerate(words):
        for second in words[:i]:
            assert len(first & second) < 0.6 * len(first | second)


def test_addresses_and_numbers_are_of_the_invented_kinds(inbox):
    together = "\n".join(inbox.texts)
    assert not re.search(r"https?:|www\.|\.(com|net|org|co|io)\b", together)
    assert all(number.startswith("555-01") for number in re.findall(r"\b\d{3}-\d{4}\b", together))


def test_a_bag_of_words_learns_something_and_misjudges_some(inbox):
    X = CountVectorizer(binary=True).fit_transform(inbox.texts)
    right = cross_val_predict(LogisticRegression(), X, inbox.y) == inbox.y
    assert 0.8 < right.mean() < 0.98
