import os
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Explainer
from butfor.errors import InputError
from butfor.sharing import share
from butfor.web import filling
from butfor.web.desk import Desk
from butfor.web.given import Items, Texts
from butfor.web.table import Query

SECONDS = 60
rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((60, 12)) < 0.4).astype(float))
WEIGHTS = rng.normal(size=12).round(2)
CRASHES, HANGS = 17.0, 23.0


def scored(X):
    return X @ WEIGHTS


def moody(X):
    """Score rows; one value ends the process, another one is never answered."""
    if CRASHES in X.data:
        os._exit(3)
    if HANGS in X.data:
        time.sleep(SECONDS)
    return scored(X)


def opened(desk, tmp_path):
    desk.open(share(desk.explainer, tmp_path / "explainer"))
    return desk


def wait_for(done):
    until = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.02)


def is_full(desk):
    progress = desk.summary()["progress"]
    return progress["explained"] == progress["total"]


def test_all_rows_get_the_answers_of_the_explainer_itself(tmp_path):
    explainer = Explainer(scored, threshold=0.5, budget=Budget(max_seconds=5))
    desk = opened(Desk.of("a", "A", explainer, Items(X)), tmp_path)
    try:
        wait_for(lambda: is_full(desk))
        lines = desk.rows(Query(per_page=60))["rows"]
    finally:
        desk.close()
    for number, line in enumerate(lines):
        why = explainer.explain(X[[number]])
        assert (line["status"], line["proven"] or False) == (why.status, why.proven_minimum)
        assert (line["size"] or 0, line["lower_bound"]) == (why.size, why.lower_bound)
        assert line["score"] == pytest.approx(why.score)
        assert line["decision"] == ("positive" if why.score >= 0.5 else "negative")
    sizes = [why.size for why in map(explainer.explain, X) if why]
    assert desk.summary()["sizes"] == {str(size): sizes.count(size) for size in sorted(set(sizes))}
    assert desk.summary()["progress"] == {"total": 60, "scored": 60, "explained": 60}


def test_a_model_that_dies_or_hangs_costs_its_rows_only(tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "PATIENCE", 1.0)
    bad, rows = {1: "ended with exit code 3", 3: "said nothing"}, X[:5].toarray()
    rows[1, 0], rows[3, 0] = CRASHES, HANGS
    explainer = Explainer(moody, threshold=0.5, budget=Budget(max_seconds=0.5))
    desk = opened(Desk.of("a", "A", explainer, Items(sparse.csr_matrix(rows))), tmp_path)
    try:
        wait_for(lambda: is_full(desk))
    finally:
        desk.close()
    for number in range(5):
        row = desk.row(number)
        assert (row["status"] == "error") == (number in bad)
        assert bad.get(number, "") in (row["error"] or "")


def test_texts_that_cannot_be_read_are_errors_at_once(tmp_path):
    explainer = Explainer(
        lambda texts: [float("free" in text) for text in texts], threshold=1, removal="delete"
    )
    given = Texts(["free beer", InputError("no text"), "mum"])
    desk = opened(Desk.of("a", "A", explainer, given), tmp_path)
    assert desk.row(1)["error"] == "no text"
    try:
        wait_for(lambda: is_full(desk))
    finally:
        desk.close()
    assert [desk.row(number)["status"] for number in range(3)] == ["found", "error", "none"]
    assert desk.summary()["features"] == [{"name": "free", "count": 1}]


def test_rows_that_somebody_looks_at_come_first(tmp_path):
    slow = Explainer(lambda X: time.sleep(0.05) or scored(X), threshold=0.5, budget=Budget(max_seconds=0.3))
    desk = opened(Desk.of("a", "A", slow, Items(X)), tmp_path)
    last = Query(sort="-number", per_page=2)
    try:
        wait_for(lambda: all(row["status"] != "pending" for row in desk.rows(last)["rows"]))
        assert desk.summary()["progress"]["explained"] < 60
        began = time.monotonic()
    finally:
        desk.close()  # in the middle of it
    assert time.monotonic() - began < 5


def test_a_desk_without_rows_has_nothing_to_fill(tmp_path):
    desk = opened(Desk.of("a", "A", Explainer(scored, threshold=0.5)), tmp_path)
    desk.close()
    assert (desk.n_rows, desk.table, desk.can_explain) == (0, None, True)
    with pytest.raises(IndexError):
        desk.row(0)


def test_features_are_found_by_name_and_by_number():
    named = Desk.of("a", "A", Explainer(scored, threshold=0.5, feature_names=["Up", "Cup"] + ["x"] * 10))
    assert named.features("UP") == [{"name": "Up", "column": 0}, {"name": "Cup", "column": 1}]
    assert len(named.features("", 5)) == 5
    model = LogisticRegression().fit(np.eye(300), np.arange(300) > 150)
    wide = Desk.of("a", "A", Explainer(model))
    assert [each["column"] for each in wide.features("feature 7", 3)] == [7, 70, 71]
    assert wide.features("seven") == wide.features("9" * 5000) == []
    unknown = Desk.of("a", "A", Explainer(scored, threshold=0.5))  # a callable says nothing of its columns
    assert unknown.features("feature 7") == []
