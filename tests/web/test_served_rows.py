import numpy as np
import pytest
from scipy import sparse

from butfor._files import open_input
from butfor._web.loading_rows import load_rows
from butfor._web.served_rows import LONGEST_PREVIEW, ServedItems, ServedTexts
from butfor.errors import InputError

TEXTS = [
    "Free PRIZE",
    "straße",
    InputError("no text"),
    "",
    "İstanbul \ud800",
    "a\nb   c",
    "x" * 500,
    "😀 prize",
]


def test_texts_are_searched_as_a_loop_would():
    given = ServedTexts(TEXTS)
    for query in ("prize", "STRASSE", "a", "x" * 400, "😀", "\ud800", "b", " ", "nowhere", "e p"):
        expected = [isinstance(text, str) and query.casefold() in text.casefold() for text in TEXTS]
        assert given.matching(query).tolist() == expected, query


def test_a_query_does_not_reach_over_the_end_of_a_text():
    assert not ServedTexts(["ab", "cd"]).matching("bc").any()
    assert ServedTexts([]).matching("a").tolist() == []


def test_texts_that_cannot_be_read_are_rows_with_an_error():
    given = ServedTexts(TEXTS)
    assert list(given.errors()) == [2]
    assert (given.text(2), given.preview(2)) == (None, "")
    with pytest.raises(InputError, match="no text"):
        given.at(2)
    assert given.some([0, 3]) == ["Free PRIZE", ""]
    assert given.preview(5) == "a b c"
    assert len(given.preview(6)) == LONGEST_PREVIEW


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return sparse.random(300, 40, 0.1, format="csr", random_state=rng)


@pytest.mark.parametrize("names", [None, [f"Film {i % 7}{'é' * (i % 3)}" for i in range(40)]])
def test_items_are_searched_as_a_loop_would(matrix, names, monkeypatch):
    monkeypatch.setattr("butfor._web.served_rows.ROWS_SEARCHED", 64)  # several pieces, the last one shorter
    X = matrix.copy()
    X.data[::5] = 0  # explicit zeros are not there
    given = ServedItems(X, names)
    called = names or [f"feature {i}" for i in range(40)]
    for query in ("FILM 3", "é", "feature 1", "nowhere"):
        expected = [
            any(value and query.casefold() in called[i].casefold() for i, value in enumerate(row))
            for row in X.toarray()
        ]
        assert given.matching(query).tolist() == expected, query


def test_rows_of_a_matrix(matrix):
    given = ServedItems(matrix)
    assert (given.at(3) != matrix[[3]]).nnz == 0
    assert (given.some([5, 2]) != matrix[[5, 2]]).nnz == 0
    assert ServedItems(sparse.csr_matrix((1, 3))).preview(0) == ""
    full = ServedItems(sparse.csr_matrix(np.ones((1, 100))), ["n" * 30] * 100)
    assert len(full.preview(0)) == LONGEST_PREVIEW
    assert ServedItems(sparse.csr_matrix([[0, 1, 1]]), ["a", "b", "c"]).preview(0) == "b, c"


def test_what_files_hold(tmp_path, matrix):
    sparse.save_npz(tmp_path / "X.npz", matrix)
    (tmp_path / "mails.csv").write_text("number,text\n1,free\n2\n3,mum\n")
    (tmp_path / "a.txt").write_text("free")

    def opened(name):
        return load_rows(open_input([str(tmp_path / name)], takes_texts=name != "X.npz"))

    assert (opened("X.npz").kind, len(opened("X.npz"))) == ("items", 300)
    mails = opened("mails.csv")
    assert (mails.kind, mails.text(2), list(mails.errors()), mails.id(2)) == ("texts", "mum", [1], 2)
    assert opened("a.txt").id(0) == str(tmp_path / "a.txt")
