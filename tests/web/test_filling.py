import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from butfor import Budget, Explainer
from butfor._processes.harness import failure
from butfor._processes.sharing import share
from butfor._processes.worker import WorkerLost
from butfor._web.filling import Filling, _explained
from butfor._web.metrics import Metrics
from butfor._web.overview import Overview, Query
from butfor._web.served_rows import ServedItems, ServedTexts
from butfor._web.upkeep import Upkeep
from butfor._web.workspace import Workspace
from butfor.errors import InputError

SECONDS = 60
rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((60, 12)) < 0.4).astype(float))
WEIGHTS = rng.normal(size=12).round(2)


def scored(X):
    return X @ WEIGHTS


def opened(workspace, tmp_path):
    workspace.open(share(workspace.explainer, tmp_path / "explainer"))
    return workspace


def wait_for(done):
    until = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.02)


def is_full(workspace):
    progress = workspace.summary()["progress"]
    return progress["explained"] == progress["total"]


def test_all_rows_get_the_answers_of_the_explainer_itself(tmp_path):
    explainer = Explainer(scored, threshold=0.5, budget=Budget(max_seconds=5))
    workspace = opened(Workspace.of("a", "A", explainer, ServedItems(X)), tmp_path)
    try:
        wait_for(lambda: is_full(workspace))
        lines = workspace.rows(Query(per_page=60))["rows"]
    finally:
        workspace.close()
    for number, line in enumerate(lines):
        why = explainer.explain(X[[number]])
        assert (line["status"], line["proven"] or False) == (why.status, why.proven_minimum)
        assert (line["size"] or 0, line["lower_bound"]) == (why.size, why.lower_bound)
        assert line["score"] == pytest.approx(why.score)
        assert line["decision"] == ("positive" if why.score >= 0.5 else "negative")
    sizes = [why.size for why in map(explainer.explain, X) if why]
    assert workspace.summary()["sizes"] == {str(size): sizes.count(size) for size in sorted(set(sizes))}
    assert workspace.summary()["progress"] == {"total": 60, "scored": 60, "explained": 60}


def test_texts_that_cannot_be_read_are_errors_at_once(tmp_path):
    explainer = Explainer(
        lambda texts: [float("free" in text) for text in texts], threshold=1, removal="delete"
    )
    given = ServedTexts(["free beer", InputError("no text"), "mum"])
    workspace = opened(Workspace.of("a", "A", explainer, given), tmp_path)
    assert workspace.row(1)["error"] == "no text"
    try:
        wait_for(lambda: is_full(workspace))
    finally:
        workspace.close()
    assert [workspace.row(number)["status"] for number in range(3)] == ["found", "error", "none"]
    assert workspace.summary()["features"] == [{"name": "free", "count": 1}]


def test_rows_that_somebody_looks_at_come_first(tmp_path):
    slow = Explainer(lambda X: time.sleep(0.05) or scored(X), threshold=0.5, budget=Budget(max_seconds=0.3))
    workspace = opened(Workspace.of("a", "A", slow, ServedItems(X)), tmp_path)
    last = Query(sort="-number", per_page=2)
    try:
        wait_for(lambda: all(row["status"] != "pending" for row in workspace.rows(last)["rows"]))
        assert workspace.summary()["progress"]["explained"] < 60
    finally:
        workspace.close()  # in the middle of it
    assert not workspace._filling._thread.is_alive()
    assert workspace.summary()["progress"]["explained"] < 60


class Dying:
    """A harness whose process dies over each row, or once over the block."""

    def __init__(self, *, is_lost):
        self.pid, self.is_lost = 1, is_lost

    def results(self, block):
        self.pid += 1
        if not self.is_lost:
            return [(block, [failure(WorkerLost("no"))] * len(block.numbers))]
        return [(row, row.lost(WorkerLost("ended with exit code 3"))) for row in block.one_by_one()]

    def end(self):
        self.pid = None


@pytest.mark.parametrize(("is_lost", "causes"), [(True, ["exit"] * 3), (False, ["again"])])
def test_processes_that_die_are_logged_and_counted(caplog, is_lost, causes):
    data, metrics = ServedItems(X[:3]), Metrics()
    filling = Filling(Path(), data, Overview(data, ("a", "b")), 5, Upkeep(max_calls=1), metrics)
    filling._worker = Dying(is_lost=is_lost)
    filling._do(_explained, filling._overview.note_outcomes, np.arange(3), filling._explaining)
    assert [filling._overview.state(number)["status"] for number in range(3)] == ["error"] * 3
    lost = [record.fields for record in caplog.records if record.message == "worker lost"]
    assert lost == [{"lane": "filling", "cause": cause} for cause in causes]
    counted = metrics.registry.get_sample_value
    labels = {"lane": "filling", "cause": causes[0]}
    assert counted("butfor_worker_restarts_total", labels) == len(causes)
    assert counted("butfor_worker_restarts_total", {"lane": "filling", "cause": "calls"}) == 1
    assert filling._worker.pid is None  # it was due to be replaced


def test_a_workspace_without_rows_has_nothing_to_fill(tmp_path):
    workspace = opened(Workspace.of("a", "A", Explainer(scored, threshold=0.5)), tmp_path)
    workspace.close()
    assert (workspace.n_rows, workspace.overview, workspace.can_explain) == (0, None, True)
    with pytest.raises(IndexError):
        workspace.row(0)


def test_features_are_found_by_name_and_by_number():
    named = Workspace.of("a", "A", Explainer(scored, threshold=0.5, feature_names=["Up", "Cup"] + ["x"] * 10))
    assert named.features("UP") == [{"name": "Up", "column": 0}, {"name": "Cup", "column": 1}]
    assert len(named.features("", 5)) == 5
    model = LogisticRegression().fit(np.eye(300), np.arange(300) > 150)
    wide = Workspace.of("a", "A", Explainer(model))
    assert [each["column"] for each in wide.features("feature 7", 3)] == [7, 70, 71]
    assert wide.features("seven") == wide.features("9" * 5000) == []
    unknown = Workspace.of(
        "a", "A", Explainer(scored, threshold=0.5)
    )  # a callable says nothing of its columns
    assert unknown.features("feature 7") == []
