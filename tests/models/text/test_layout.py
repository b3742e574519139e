import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer
from vectorisers import LABELS, TEXTS, TextLength

from butfor.models.text.layout import holds_vectoriser, leaves_of


def swapped(texts):
    return [text.swapcase() for text in texts]


WORDS = CountVectorizer()
CHARACTERS = CountVectorizer(analyzer="char")
UNIONS = [
    make_union(WORDS, CHARACTERS),
    make_union(TextLength(), make_union(CHARACTERS, make_pipeline(WORDS, TfidfTransformer()))),
    make_union(make_pipeline(WORDS, SelectKBest(chi2, k=7)), CHARACTERS),
    make_union(
        make_pipeline(WORDS, VarianceThreshold(0.1), MaxAbsScaler(), SelectKBest(chi2, k=3)), TextLength()
    ),
    make_union(make_pipeline(WORDS, TruncatedSVD(2)), CHARACTERS),
    FeatureUnion([("gone", "drop"), ("length", TextLength()), ("words", WORDS)]),
    make_union(make_pipeline(FunctionTransformer(swapped), CountVectorizer(lowercase=False)), WORDS),
    make_pipeline(make_union(WORDS, TextLength()), Normalizer()),
    make_pipeline("passthrough", WORDS),
]


@pytest.mark.parametrize("step", UNIONS)
def test_columns_of_vectorisers_are_where_their_values_are(step):
    step.fit(TEXTS, LABELS)
    leaves, n_features = leaves_of([step])
    rows = np.asarray(step.transform(TEXTS).todense())
    assert n_features == rows.shape[1]
    taken = [column for leaf in leaves for column in leaf.columns if column >= 0]
    assert len(set(taken)) == len(taken)
    for leaf in leaves:
        counts = leaf.vectoriser.transform([leaf.clean(text) for text in TEXTS]).toarray()
        for own, column in enumerate(leaf.columns):
            if column >= 0:
                np.testing.assert_array_equal(rows[:, column] != 0, counts[:, own] != 0)


@pytest.mark.parametrize(("step", "n_leaves"), list(zip(UNIONS, [2, 2, 2, 1, 1, 1, 2, 1, 1], strict=True)))
def test_every_vectoriser_that_can_be_followed_is_found(step, n_leaves):
    assert len(leaves_of([step.fit(TEXTS, LABELS)])[0]) == n_leaves


def test_steps_that_mix_columns_end_the_way():
    steps = [CountVectorizer().fit(TEXTS)]
    steps.append(TruncatedSVD(3).fit(steps[0].transform(TEXTS)))
    assert leaves_of(steps) == ([], 3)


def test_vectorisers_are_found_within_unions_and_pipelines():
    assert holds_vectoriser(make_union(TextLength(), make_pipeline("passthrough", TfidfVectorizer())))
    assert not holds_vectoriser(make_union(TextLength(), make_pipeline(TextLength())))
