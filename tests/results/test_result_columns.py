"""Explanations as columns, and back."""

import pickle

import numpy as np
import pytest

from butfor import Explanation
from butfor.results.columns import Coded, Columns, Listed, Lists, Same, objects

NAMES = Listed(("free", "prize", "call", "mum"))


def columns():
    """Return four explanations: of two features, of none, of one, and of two again."""
    starts, ends = np.array([0, 2, 2, 3]), np.array([2, 2, 3, 5])
    removed = np.array([3, 0, 2, 1, 0], dtype=np.int32)
    shared = {
        "weights": (),
        "threshold": 0.5,
        "max_size": 30,
        "seconds": 0.25,
        "search": "auto",
        "local_model": "linear",
        "reason": "",
        "confidence": None,
        "costs": False,
    }
    own = {
        "status": Coded(np.array([0, 1, 0, 0]), Listed(("found", "none"))),
        "features": Lists(Coded(removed, NAMES), starts, ends),
        "columns": Lists(removed, starts, ends),
        "score": np.array([0.7, 0.2, 0.6, 0.9], dtype=np.float32),
        "score_without": np.array([0.1, 0.2, 0.3, 0.4]),
        "lower_bound": np.array([2, 5, 1, 1]),
        "n_active": np.array([4, 4, 3, 2]),
        "n_protected": np.array([0, 0, 1, 0]),
        "n_scored": np.array([9, 8, 7, 6]),
        "cost": np.array([2, 0, 1, 2]),
    }
    return Columns(4, shared, own)


def explanation(**of_row):
    shared = columns().shared
    return Explanation(**{name: value for name, value in shared.items() if name != "costs"}, **of_row)


def test_objects_have_plain_values():
    first, second, *_ = columns().explanations()
    assert first == explanation(
        status="found",
        features=("mum", "free"),
        columns=(3, 0),
        score=float(np.float32(0.7)),
        score_without=0.1,
        lower_bound=2,
        n_active=4,
        n_protected=0,
        n_scored=9,
        cost=2,
    )
    assert (second.status, second.features, second.columns) == ("none", (), ())
    assert {type(each) for each in (*first.columns, first.n_scored, first.cost)} == {int}
    assert type(first.score) is float


def test_what_is_not_in_a_field_follows_from_the_fields():
    for some in (columns(), Columns.of(columns().explanations())):
        whys = some.explanations()
        assert some.sizes.tolist() == [why.size for why in whys] == [2, 0, 1, 2]
        assert some.proven.tolist() == [why.proven_minimum for why in whys] == [True, False, True, False]


@pytest.mark.parametrize(
    ("field", "values", "proven"),
    [
        ("confidence", [None, None, 0.95, None], [True, False, False, False]),
        ("costs", [False, False, True, True], [True, False, True, True]),
    ],
)
def test_proof_of_columns_is_that_of_objects(field, values, proven):
    own = columns().own | {field: objects(values), "cost": np.array([7.0, 0.0, 0.5, 1.0])}
    some = Columns(4, columns().shared, own)
    assert some.proven.tolist() == [why.proven_minimum for why in some.explanations()] == proven


def test_of_objects_and_back():
    whys = columns().explanations()
    assert Columns.of(whys).explanations() == whys
    assert Columns.of([]).explanations() == []
    assert Columns.of([]).proven.tolist() == Columns.of([]).sizes.tolist() == []


def test_some_of_the_rows():
    whys = columns().explanations()
    for rows in ([3, 0], [1], [], [0, 1, 2, 3]):
        some = columns().take(np.array(rows, dtype=np.intp))
        assert len(some) == len(rows)
        assert some.explanations() == [whys[row] for row in rows]
        assert some["threshold"].tolist() == [0.5] * len(rows)
        packed = some["features"].packed()
        assert packed.tolist() == some["features"].tolist()
        assert len(packed.values) == packed.lengths.sum()


def test_another_process_gets_only_the_names_that_occur():
    names = Listed(tuple(f"word {i}" for i in range(100_000)))
    column = Coded(np.array([70_000, 5, 70_000]), names)
    sent = pickle.dumps(column)
    assert len(sent) < 1_000
    assert pickle.loads(sent).tolist() == ["word 70000", "word 5", "word 70000"]
    assert pickle.loads(pickle.dumps(columns())).explanations() == columns().explanations()


def test_the_same_value_in_every_row():
    assert Same((), 2).tolist() == [(), ()]
    assert len(Same(None, 3).take(np.array([0]))) == 1
