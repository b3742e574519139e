import numpy as np
import pytest

from butfor import Explainer, ExplanationIterator, InputError

ROWS = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, np.nan]])


@pytest.fixture
def explainer():
    return Explainer(lambda X: X @ np.array([2, 1]), threshold=2)


def test_the_rest_is_collected_with_its_row_numbers(explainer):
    iterator = explainer.explain_many(ROWS, errors="keep")
    assert isinstance(iterator, ExplanationIterator)
    first = next(iterator)
    whys = iterator.collect()
    assert first.columns == (0,)
    assert whys.rows == (1, 2)
    assert list(whys.errors) == [3]
    assert len(iterator.collect()) == 0


def test_collecting_raises_what_was_to_be_raised(explainer):
    with pytest.raises(InputError, match="finite"):
        explainer.explain_many(ROWS).collect()


def test_it_says_how_far_it_is(explainer):
    iterator = explainer.explain_many(ROWS[:3])
    assert repr(iterator) == (
        "<ExplanationIterator: 0 of 3 rows explained so far; iterate, or call collect()>"
    )
    list(iterator)
    assert (iterator.n_done, iterator.n_rows) == (3, 3)
    endless = explainer.explain_many(iter(ROWS))
    next(endless)
    assert repr(endless) == "<ExplanationIterator: 1 row explained so far; iterate, or call collect()>"


def test_it_can_be_closed(explainer):
    iterator = explainer.explain_many(ROWS[:3])
    next(iterator)
    iterator.close()
    assert list(iterator) == []
