import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from web_client import Client
from web_toys import loans

from butfor import Budget, Explainer, InputError
from butfor._web.app import create_app
from butfor._web.overview import Query
from butfor._web.problems import Problem
from butfor._web.results import open_results
from butfor.batch import run_batch

pytestmark = pytest.mark.xdist_group("results")  # one run for all of them

rng = np.random.default_rng(0)
X = sparse.csr_matrix((rng.random((120, 10)) < 0.5).astype(float))
WEIGHTS = np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.3, 0.2])
MODEL = LogisticRegression(C=10).fit(X, X @ WEIGHTS > 3)
NAMES = [f"film {i}" for i in range(10)]
MAILS = ["free prize now", "call mum", "free call", "mum and dad", "a prize for dad"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a linear model over a matrix with one row that cannot be read."""
    folder = tmp_path_factory.mktemp("run")
    bad = X.copy()
    bad.data[bad.indptr[7]] = np.nan
    sparse.save_npz(folder / "X.npz", bad)
    explainer = Explainer(
        MODEL, feature_names=NAMES, class_names=["stays", "joins"], budget=Budget(max_size=4)
    )
    run_batch(explainer, folder / "X.npz", folder / "why", engine="here", chunk_rows=50)
    return explainer, folder / "why"


def test_every_row_is_as_the_explainer_explains_it(run):
    explainer, folder = run
    workspace = open_results(str(folder))
    assert (workspace.can_explain, workspace.n_rows, workspace.classes, workspace.kind) == (
        False,
        120,
        ("stays", "joins"),
        "items",
    )
    assert workspace.title == "Results of a batch: 120 rows"
    assert workspace.threshold == pytest.approx(0.5)
    for number, line in enumerate(workspace.rows(Query(per_page=120))["rows"]):
        if number == 7:
            assert line["status"] == "error"
            continue
        why = explainer.explain(X[[number]])
        row = workspace.row(number)
        said = row["explanation"]
        assert (line["status"], line["size"] or 0) == (why.status, why.size) == (said["status"], said["size"])
        assert (line["id"], line["decision"], said["decision"]) == (number, why.decision, why.decision)
        assert line["score"] == pytest.approx(why.score)
        assert line["preview"] == ", ".join(why.features)
        assert said["sentence"] == str(why)
        assert said["features"] == said["items"] == list(why.features)
        assert (said["places"], said["search"]) == (list(range(why.size)), "auto")
        assert said["proven"] == why.proven_minimum
    assert "finite" in workspace.row(7)["error"]
    assert workspace.row(7)["explanation"] is None


def test_counts_and_filters(run):
    explainer, folder = run
    workspace = open_results(str(folder), subject="Sam", decision="let in")
    whys = [explainer.explain(X[[number]]) for number in range(120) if number != 7]
    summary = workspace.summary()
    features = [feature for why in whys for feature in why.features]
    assert {each["name"]: each["count"] for each in summary["features"]} == {
        name: features.count(name) for name in set(features)
    }
    assert summary["progress"] == {"total": 120, "scored": 120, "explained": 120}
    assert workspace.rows(Query(feature="film 0"))["matching"] == features.count("film 0")
    assert workspace.rows(Query(q="FILM 0"))["matching"] == features.count("film 0")
    assert [row["number"] for row in workspace.rows(Query(q="17"))["rows"]] == [17]
    found = next(number for number in range(8, 120) if workspace.row(number)["status"] == "found")
    assert "Sam would not be let in" in workspace.row(found)["explanation"]["sentence"]


def test_texts_and_string_ids(tmp_path):
    lines = "".join(f"mail-{number},{text}\n" for number, text in enumerate(MAILS))
    (tmp_path / "mails.csv").write_text(f"id,text\n{lines}")
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(MAILS, [1, 0, 1, 0, 1])
    explainer = Explainer(model)
    run_batch(explainer, tmp_path / "mails.csv", tmp_path / "why", engine="here")
    workspace = open_results(str(tmp_path / "why"))
    assert (workspace.kind, workspace.unit) == ("texts", ("word", "words"))
    assert workspace.rows(Query(q="MAIL-3"))["rows"][0]["id"] == "mail-3"
    assert workspace.row(0)["explanation"]["features"] == list(explainer.explain(MAILS[0]).features)


def test_stored_answers_say_what_deletion_contradicts(tmp_path):
    (tmp_path / "mails.csv").write_text("id,text\n" + "".join(f"{text},{text}\n" for text in MAILS))
    labels = ["spam", "ham", "spam", "ham", "spam"]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(MAILS, labels)
    explainer = Explainer(model, threshold=0.65, removal="zero")
    summary = run_batch(explainer, tmp_path / "mails.csv", tmp_path / "why", engine="here")
    stored = [open_results(str(tmp_path / "why")).row(number)["explanation"] for number in range(len(MAILS))]
    whys = [explainer.explain(text) for text in MAILS]
    assert [each["survives_deletion"] for each in stored] == [why.survives_deletion for why in whys]
    assert {why.survives_deletion for why in whys} == {True, False, None}
    lines = open_results(str(tmp_path / "why")).rows(Query())["rows"]
    assert [line["contradicted"] for line in lines] == [
        why.survives_deletion is False if why else None for why in whys
    ]
    assert [each["sentence"] for each in stored] == list(map(str, whys))
    assert "the words are deleted from the text, the decision stays" in stored[0]["proof"]
    assert "columns, does not hold when deleted from the text · auto" in stored[0]["facts"]
    assert "survives_deletion: 1 of 3 answers do not hold when the words are deleted" in str(summary)
    assert summary.to_dict()["n_contradicted"] == 1


def test_a_model_without_names_of_classes(tmp_path):
    sparse.save_npz(tmp_path / "X.npz", X[:20])
    explainer = Explainer(lambda X: X @ WEIGHTS, threshold=3)
    run_batch(explainer, tmp_path / "X.npz", tmp_path / "why", engine="here")
    workspace = open_results(str(tmp_path / "why"))
    said = [row["decision"] for row in workspace.rows(Query(per_page=20))["rows"]]
    assert said == ["positive" if score >= 3 else "negative" for score in X[:20] @ WEIGHTS]


def test_parts_of_which_all_rows_are_left_out(tmp_path):
    sparse.save_npz(tmp_path / "X.npz", X)
    explainer = Explainer(lambda X: X @ WEIGHTS, threshold=6.5)
    run_batch(
        explainer, tmp_path / "X.npz", tmp_path / "why", engine="here", chunk_rows=5, only_positive=True
    )
    n_positive = np.count_nonzero(X @ WEIGHTS >= 6.5)
    assert 0 < n_positive < 24  # of so many parts
    assert open_results(str(tmp_path / "why")).title == f"Results of a batch: {n_positive} rows"


def copied(folder, target):
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())


def test_a_run_that_is_not_complete_shows_what_there_is(run, tmp_path):
    _, folder = run
    copied(folder, tmp_path)
    (tmp_path / "part-00000.parquet").unlink()
    (tmp_path / "part-00001.parquet").write_bytes(b"damaged")
    workspace = open_results(str(tmp_path))
    assert workspace.title == "Results of a batch that is not complete: 1 of 3 parts, 20 rows"
    assert workspace.row(0)["id"] == 100
    (tmp_path / "part-00002.parquet").unlink()
    with pytest.raises(InputError, match="--results must hold parts"):
        open_results(str(tmp_path))


def test_a_part_that_belongs_elsewhere_is_left_out(run, tmp_path):
    explainer, folder = run
    copied(folder, tmp_path)
    run_batch(explainer, folder.parent / "X.npz", tmp_path / "other", engine="here", chunk_rows=50)
    (tmp_path / "part-00000.parquet").write_bytes((tmp_path / "other/part-00000.parquet").read_bytes())
    (tmp_path / "part-00001.parquet").write_bytes((folder / "part-00000.parquet").read_bytes())
    assert open_results(str(tmp_path)).title.endswith("1 of 3 parts, 20 rows")


def test_what_an_earlier_version_wrote_is_shown_too(run, tmp_path):
    _, folder = run
    manifest = json.loads((folder / "_manifest.json").read_text())
    del manifest["run"]
    (tmp_path / "_manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    for path in folder.glob("part-*"):
        lines = pq.read_table(path).drop_columns("survives_deletion")  # and what a part says of itself
        pq.write_table(lines, tmp_path / path.name, row_group_size=7)
    workspace, whole = open_results(str(tmp_path)), open_results(str(folder))
    assert [workspace.row(number) for number in range(120)] == [whole.row(number) for number in range(120)]
    lines = pq.read_table(tmp_path / "part-00000.parquet")
    pq.write_table(lines.slice(1), tmp_path / "part-00000.parquet")
    assert workspace.row(50) == whole.row(50)
    with pytest.raises(Problem, match="have changed since this server loaded them"):
        workspace.row(1)


def test_results_that_change_are_refused_and_never_mixed(run, tmp_path):
    explainer, folder = run
    copied(folder, tmp_path)
    with Client(create_app([open_results(str(tmp_path))], jobs=1)) as client:
        before = {path: client.get(path).json() for path in ("/api/rows/1", "/api/rows", "/api/rows/summary")}
        assert before["/api/rows/1"]["id"] == 1
        sparse.save_npz(tmp_path / "tuesday.npz", X[1:])
        for path in folder.iterdir():
            (tmp_path / path.name).unlink()
        refused = [client.get(path) for path in before]
        run_batch(explainer, tmp_path / "tuesday.npz", tmp_path / "why", engine="here", chunk_rows=50)
        copied(tmp_path / "why", tmp_path)
        refused += [client.get(path) for path in before]
        for answer in refused:
            assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
            assert "start butfor serve again, then reload the page" in answer.json()["detail"]
        assert client.get("/health").status_code == 200
        for path in folder.iterdir():  # Monday's again
            (tmp_path / path.name).write_bytes(path.read_bytes())
        assert {path: client.get(path).json() for path in before} == before


def test_a_run_that_goes_on_disturbs_nobody(run, tmp_path):
    explainer, folder = run
    copied(folder, tmp_path)
    (tmp_path / "part-00001.parquet").unlink()
    workspace = open_results(str(tmp_path))
    before = workspace.row(50), workspace.summary()
    assert before[0]["id"] == 100
    run_batch(explainer, folder.parent / "X.npz", tmp_path, engine="here", chunk_rows=50)
    assert (tmp_path / "part-00001.parquet").exists()
    assert (workspace.row(50), workspace.summary()) == before


@pytest.mark.parametrize("content", [None, "{}", "no JSON", json.dumps({"format": 99})])
def test_what_is_no_batch_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "_manifest.json").write_text(content)
    with pytest.raises(InputError, match="--results must be a folder that butfor batch wrote to"):
        open_results(str(tmp_path))
    with pytest.raises(InputError, match="--results must be"):
        open_results(str(tmp_path / "nowhere"))


def test_records_are_shown_as_their_parts(tmp_path):
    explainer, records = loans()
    path = tmp_path / "loans.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    run_batch(explainer, path, tmp_path / "why", engine="here")
    workspace = open_results(str(tmp_path / "why"))
    assert workspace.unit == ("part", "parts")
    for number, record in enumerate(records):
        why = explainer.explain(record)
        stored = workspace.row(number)["explanation"]
        assert stored["sentence"] == str(why)
        assert stored["instead"] == list(why.instead)
