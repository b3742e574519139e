import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import FunctionTransformer
from vectorisers import CHARACTERS, TEXTS, WORDS, fitted, lower_split

from butfor import InputError
from butfor.models.text.leaves import Leaf


def shout(texts):
    return [text.upper() for text in texts]


@pytest.mark.parametrize("name", [*WORDS, *CHARACTERS])
def test_grams_have_the_columns_that_the_vectoriser_gives_them(name):
    vectoriser = fitted({**WORDS, **CHARACTERS}[name])
    n_features = vectoriser.transform([""]).shape[1]
    leaf = Leaf(vectoriser, np.arange(n_features))
    for text in TEXTS:
        row = vectoriser.transform([text])
        active = set(row.indices[row.data != 0].tolist())
        columns = set(leaf.columns_of(leaf.analyze(text)).tolist()) - {-1}
        assert active <= columns
        if "alternate_sign" not in vectoriser.get_params() or not vectoriser.alternate_sign:
            assert columns == active


@pytest.mark.parametrize("sign", [True, False])
def test_a_gram_is_hashed_as_the_vectoriser_hashes_it(sign):
    alone = HashingVectorizer(n_features=50, analyzer=lambda gram: [gram], alternate_sign=sign)
    leaf = Leaf(HashingVectorizer(n_features=50, alternate_sign=sign), np.arange(100, 150))
    grams = ["free", "the prize", "İ", "", "free"]
    assert leaf.columns_of(grams).tolist() == [
        100 + int(alone.transform([gram]).indices[0]) for gram in grams
    ]
    assert leaf.columns_of([]).tolist() == []


def test_dropped_columns_are_nobodys():
    leaf = Leaf(CountVectorizer().fit(["a free prize"]), np.array([-1, 7]))
    assert leaf.columns_of(["free", "prize", "now"]).tolist() == [-1, 7, -1]


def test_texts_are_cleaned_before_they_are_read():
    leaf = Leaf(CountVectorizer(lowercase=False).fit(["FREE"]), np.arange(1), (FunctionTransformer(shout),))
    assert leaf.analyze("free prize") == ["FREE", "PRIZE"]
    assert leaf.read("free prize") == ["FREE", "PRIZE"]


def test_a_tokenizer_that_chokes_on_a_piece_gives_none():
    leaf = Leaf(CountVectorizer(tokenizer=lambda text: [text[20]], token_pattern=None), np.arange(1))
    assert leaf.tokenize_piece("free") is None


def test_a_leaf_can_be_pickled_after_use():
    leaf = Leaf(CountVectorizer(tokenizer=lower_split, token_pattern=None).fit(TEXTS), np.arange(9))
    assert leaf.tokenize_piece("Free") == ["free"]
    again = pickle.loads(pickle.dumps(leaf))
    assert again.analyze("Free prize") == leaf.analyze("Free prize")


@pytest.mark.parametrize("source", ["file", "filename"])
def test_files_are_refused(source):
    with pytest.raises(InputError, match=f"model must take texts as strings.*input='{source}'"):
        Leaf(CountVectorizer(input=source), np.arange(1))
