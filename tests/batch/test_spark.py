"""Spark gives, row for row, what `explain` gives; needs Java."""

import shutil
import sys

import numpy as np
import pytest
from scipy import sparse

from butfor import Explainer, InputError
from butfor.batch.spark import explain_frame

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.xdist_group("spark"),  # one session for all of them
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
LISTS = "user bigint, pages array<int>, counts array<double>"
WEIGHTS = np.linspace(-1, 1.2, 8)
NAMES = [f"page {column}" for column in range(8)]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        for variable in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            patch.setenv(variable, sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        for end in ("bindAddress", "host"):
            builder = builder.config(f"spark.driver.{end}", "127.0.0.1")
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def explainer():
    def model(X):
        assert not (X.data == 13).any(), "thirteen"
        return X @ WEIGHTS

    return Explainer(model, threshold=0.3, feature_names=NAMES)


@pytest.fixture(scope="module")
def matrix():
    return sparse.random(40, 8, density=0.5, format="csr", rng=np.random.default_rng(0))


def lists(X):
    return [(i, row.indices.tolist(), row.data.tolist()) for i, row in enumerate(X[[i]] for i in range(40))]


def by_id(frame):
    return {line.id: line.asDict() for line in frame.collect()}


def as_explained(line, why):
    """Hold a line against an explanation, but for the time that it took."""
    assert line["status"] == why.status
    assert (tuple(line["features"]), tuple(line["columns"])) == (why.features, why.columns)
    for name in ("score", "score_without", "lower_bound", "n_scored", "n_active", "reason", "cost"):
        assert line[name] == getattr(why, name), name
    assert (line["size"], line["proven"], line["error"]) == (why.size, why.proven_minimum, None)


def test_rows_as_lists_are_explained_as_they_are_one_by_one(spark, explainer, matrix):
    df = spark.createDataFrame(lists(matrix), LISTS)
    lines = by_id(explain_frame(df, explainer, id="user", features="pages", values="counts", batch_rows=7))
    assert len(lines) == 40
    for i, line in lines.items():
        as_explained(line, explainer.explain(matrix[[i]]))


def test_a_row_with_an_error_is_a_row(spark, explainer):
    rows = [
        (1, [7], [1.0]),
        (2, [7], [13.0]),
        (3, [7, 8], [1.0, 1.0]),
        (4, None, None),
        (5, [7], [1.0, 2.0]),
        (None, [7], [1.0]),
    ]
    df = spark.createDataFrame(rows, LISTS)
    lines = by_id(explain_frame(df, explainer, id="user", features="pages", values="counts"))
    assert lines[1]["status"] == "found"
    assert all(lines[i]["status"] == "error" and lines[i]["size"] is None for i in (2, 3, 4, 5, None))
    said = {i: lines[i]["error"] for i in lines}
    assert "thirteen" in said[2]
    assert "features from 0 to 7, got 8" in said[3]
    assert "a list in the column 'pages', got none" in said[4]
    assert "as many values as features, got 2 and 1" in said[5]
    assert "an id in the column 'user'" in said[None]


def test_names_strings_as_ids_and_positive_rows_alone(spark, explainer):
    df = spark.createDataFrame(
        [("ann", ["page 7"]), ("bob", ["page 0"])], "`the user` string, pages array<string>"
    )
    lines = by_id(explain_frame(df, explainer, id="the user", features="pages", only_positive=True))
    assert list(lines) == ["ann"]
    as_explained(lines["ann"], explainer.explain([0, 0, 0, 0, 0, 0, 0, 1]))


def test_texts(spark):
    def free(texts):
        return np.array([text.count("free") for text in texts], dtype=float)

    explainer = Explainer(free, threshold=1, removal="delete")
    df = spark.createDataFrame([(1, "get it free"), (2, None)], "id int, text string")
    lines = by_id(explain_frame(df, explainer, id="id", text="text"))
    as_explained(lines[1], explainer.explain("get it free"))
    assert "a text in the column 'text', got none" in lines[2]["error"]


def test_records(spark):
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from butfor.datasets import load_applications

    loans = load_applications(n_applications=60)
    front = make_column_transformer(
        (CountVectorizer(), "purpose"),
        (OneHotEncoder(handle_unknown="ignore"), ["sector"]),
        ("passthrough", ["years"]),
    )
    explainer = Explainer(make_pipeline(front, LogisticRegression()).fit(loans.frame(), loans.y))
    rows = [(i, each["years"], each["sector"], each["purpose"], "x") for i, each in enumerate(loans.records)]
    df = spark.createDataFrame(rows, "id bigint, years bigint, sector string, purpose string, more string")
    found = by_id(explain_frame(df, explainer, id="id", batch_rows=25))
    for i, record in enumerate(loans.records):
        assert tuple(found[i]["features"]) == explainer.explain(record).features
    with pytest.raises(InputError, match="must not be given for a model that takes records, got 'purpose'"):
        explain_frame(df, explainer, id="id", text="purpose")
    with pytest.raises(InputError, match="lacks 'years'"):
        explain_frame(df.drop("years"), explainer, id="id")


def test_records_in_long_form_are_collected_first(spark, explainer, matrix):
    from pyspark.sql.functions import collect_list, struct

    records = [
        (i, int(page), float(count))
        for i, pages, counts in lists(matrix)[:9]
        for page, count in zip(pages, counts, strict=True)
    ]
    visits = spark.createDataFrame(records, "user int, page int, count double")
    rows = visits.groupBy("user").agg(collect_list(struct("page", "count")).alias("of"))
    df = rows.select("user", "of.page", "of.count")
    for i, line in by_id(explain_frame(df, explainer, id="user", features="page", values="count")).items():
        as_explained(line, explainer.explain(matrix[[i]]))


def test_nothing_runs_before_it_is_asked_for(spark, explainer):
    def jobs():
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))

    df = spark.createDataFrame([(1, [7])], "id int, pages array<int>").coalesce(1)
    before = jobs()
    frame = explain_frame(df, explainer, id="id", features="pages")
    assert frame.columns[:4] == ["id", "status", "features", "columns"]
    assert jobs() == before
    assert frame.count() == 1
    assert jobs() > before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"id": "nobody"}, r"id must name a column of df \('user' \(bigint\), .*got 'nobody'"),
        ({"id": "pages"}, r"id must hold whole numbers or strings, got 'pages' of array<int>: cast it"),
        ({"features": None}, "features must name a column of df"),
        ({"features": "counts"}, "features must hold lists of columns"),
        ({"values": "user"}, "values must hold lists of numbers, got 'user' of bigint"),
        ({"text": "user"}, "text must not be given for a model of rows of numbers"),
        ({"batch_rows": 0}, "batch_rows must be"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(spark, explainer, arguments, said):
    df = spark.createDataFrame([], LISTS)
    with pytest.raises(InputError, match=said):
        explain_frame(df, explainer, **{"id": "user", "features": "pages", "values": "counts"} | arguments)


def test_names_must_be_known(spark):
    df = spark.createDataFrame([], "id int, pages array<string>")
    with pytest.raises(InputError, match="explainer must know its feature_names"):
        explain_frame(df, Explainer(lambda X: X @ WEIGHTS, threshold=0), id="id", features="pages")
