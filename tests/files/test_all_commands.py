"""Whatever one command reads, all commands read: the same rows in every format have the same answers."""

import csv
import json
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import skops.io
from input_tables import as_lists, records, save
from pyarrow import parquet
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from butfor import Explainer
from butfor._cli import app
from butfor._files.inputs import FORMATS

rng = np.random.default_rng(0)
DENSE = np.round(rng.random((12, 6)) * 4) * (rng.random((12, 6)) < 0.7)
DENSE[:, 5] += 1  # no row is empty, which a long table cannot hold
X = sparse.csr_matrix(DENSE)
NAMES = ["age", "income", "visits", "7", "naïve, café", "x"]
IDS = [f"u{row}" for row in range(12)]
WEIGHTS = DENSE @ np.array([2.0, -1, 1, 0, -2, 0.5])
MODEL = LogisticRegression(C=10).fit(DENSE, np.median(WEIGHTS) < WEIGHTS)
TEXTS = ["free prize, now", "call mum", 'a "free" call', "mum\nand dad", "a prize for dad", "naïve café"]
TEXT_MODEL = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0, 1, 0])

TABLE = {
    "country": ["US", "AT", None, "DE", "US", "US", "AT", "DE", "US", "AT", "US", "DE"],
    "zip": [1010, 1020, 1010, 1030, 1010, 1020, 1030, 1010, 1020, 1010, 1010, 1020],
    "age": [30, 40, 50, 20, 33, 61, 18, 44, 52, 70, 29, 38],
    "subject": [f"{text} {number}" for number, text in enumerate([*TEXTS, *TEXTS])],
}
RECORDS = [dict(zip(TABLE, values, strict=True)) for values in zip(*TABLE.values(), strict=True)]
RECORD_MODEL = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["country", "zip"]),
        (TfidfVectorizer(), "subject"),
        (StandardScaler(), ["age"]),
    ),
    LogisticRegression(C=10),
).fit(pd.DataFrame(RECORDS), [1, 0] * 6)


def write_table(path, header, rows, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def write_wide_csv(path):
    """Columns in another order than the model's, which is found by their names."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    rows = [[id, *row[::-1]] for id, row in zip(IDS, DENSE, strict=True)]
    write_table(path, ["id", *NAMES[::-1]], rows, delimiter)


def write_wide_parquet(path):
    save(path, {"id": IDS, **{name: DENSE[:, NAMES.index(name)] for name in NAMES[::-1]}}, row_group_size=5)


def write_long(path):
    rows, columns, values = records(X)
    names = pa.array(NAMES).take(pa.array(columns))
    save(path, {"id": [IDS[row] for row in rows], "feature": names, "value": values}, row_group_size=7)


def write_lists(path):
    values = as_lists(X, X.data)
    save(path, {"id": IDS, "features": as_lists(X, X.indices), "values": values}, row_group_size=5)


def write_json(path, lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def write_json_features(path):
    by_name = [{name: value for name, value in zip(NAMES, row, strict=True) if value} for row in DENSE]
    write_json(path, [{"id": id, **row} for id, row in zip(IDS, by_name, strict=True)])


def write_texts(path):
    delimiter = "\t" if path.suffix == ".tsv" else ","
    write_table(path, ["id", "text"], zip(IDS, TEXTS, strict=False), delimiter)


def write_records_csv(path):
    """Columns in another order, and one that the model does not read; an empty cell is missing."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    names = [*TABLE][::-1]
    rows = [
        [id, *("" if record[name] is None else record[name] for name in names), "x"]
        for id, record in zip(IDS, RECORDS, strict=True)
    ]
    write_table(path, ["id", *names, "more"], rows, delimiter)


WRITERS = {
    "sparse matrix": lambda path: sparse.save_npz(path, X),
    "dense matrix": lambda path: np.save(path, DENSE),
    "wide table, CSV": write_wide_csv,
    "wide table, Parquet": write_wide_parquet,
    "long table, Parquet": write_long,
    "lists, Parquet": write_lists,
    "features, JSON lines": write_json_features,
    "texts, CSV": write_texts,
    "texts, Parquet": lambda path: save(path, {"id": IDS[:6], "text": TEXTS}, row_group_size=2),
    "texts, JSON lines": lambda path: write_json(
        path, [{"id": id, "text": text} for id, text in zip(IDS, TEXTS, strict=False)]
    ),
    "text files": None,
    "records, CSV": write_records_csv,
    "records, Parquet": lambda path: save(
        path, {"id": IDS, **{name: own for name, own in TABLE.items()}, "more": IDS}, row_group_size=5
    ),
    "records, JSON lines": lambda path: write_json(
        path, [{"id": id, **record} for id, record in zip(IDS, RECORDS, strict=True)]
    ),
}
CASES = [(each, suffix) for each in FORMATS for suffix in each.suffixes]


def test_every_format_is_tested():
    assert list(WRITERS) == [each.name for each in FORMATS]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    skops.io.dump(MODEL, folder / "numbers.skops")
    skops.io.dump(TEXT_MODEL, folder / "texts.skops")
    skops.io.dump(RECORD_MODEL, folder / "records.skops")
    (folder / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    return folder


def answers(whys):
    """What is found; sparse and dense rows, alone or in blocks, add up to scores that differ by roundings."""
    fields = ("columns", "features", "status")
    return [(*(why[field] for field in fields), round(why["score"], 9)) for why in map(plain, whys)]


def plain(why):
    return {**why, "columns": list(why["columns"]), "features": list(why["features"])}


def of_explain(*arguments):
    result = CliRunner().invoke(app, ["explain", *map(str, arguments), "--json"])
    assert result.exit_code in (0, 1), result.output  # 1: of none of the rows was an answer found
    return answers(json.loads(line) for line in result.stdout.splitlines())


def of_batch(out, *arguments):
    command = ["batch", *map(str, arguments), "--out", str(out), "--engine", "here", "--chunk-rows", "5"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    lines = [line for file in sorted(out.glob("*.parquet")) for line in parquet.read_table(file).to_pylist()]
    return [line["id"] for line in lines], answers(lines)


def of_serve(monkeypatch, *arguments):
    """Have the command open DATA, and look at what it would serve."""
    served = []
    monkeypatch.setattr("butfor._web.serving.serve", lambda workspaces, **_: served.extend(workspaces))
    result = CliRunner().invoke(app, ["serve", *map(str, arguments), "--port", "0"])
    assert result.exit_code == 0, result.output
    (workspace,) = served
    rows = workspace.data
    whys = [workspace.explainer.explain(rows.at(number)).to_dict() for number in range(len(rows))]
    return [rows.id(number) for number in range(len(rows))], answers(whys)


@pytest.mark.parametrize(("format", "suffix"), CASES, ids=lambda each: getattr(each, "name", each))
def test_the_same_rows_have_the_same_answers_in_all_commands(models, tmp_path, monkeypatch, format, suffix):
    if format.holds == "texts":
        explainer, expected_rows, about = Explainer(TEXT_MODEL), TEXTS, ["texts.skops"]
    elif format.holds == "records":
        explainer, expected_rows, about = Explainer(RECORD_MODEL), RECORDS, ["records.skops"]
    else:
        explainer, expected_rows = Explainer(MODEL, feature_names=NAMES), DENSE
        about = ["numbers.skops", "--names", models / "names.txt"]
    about[0] = models / about[0]
    data = tmp_path / "data" / f"rows{suffix}"
    data.parent.mkdir()
    if format.name == "text files":
        for number, text in enumerate(TEXTS):
            (data.parent / f"{number}{suffix}").write_text(text, encoding="utf-8")
        data = data.parent
    else:
        WRITERS[format.name](data)

    expected = answers(explainer.explain(row).to_dict() for row in expected_rows)
    assert of_explain(about[0], data, *about[1:]) == expected
    assert of_explain(about[0], data, *about[1:], "--row", 3, "--row", 1) == [expected[3], expected[1]]
    assert of_explain(about[0], f"file://{data}", *about[1:]) == expected
    batch_ids, in_batch = of_batch(tmp_path / "out", about[0], data, *about[1:])
    served_ids, served = of_serve(monkeypatch, about[0], data, *about[1:])
    assert in_batch == served == expected
    assert batch_ids == served_ids
    if "id" in format.columns:
        assert batch_ids == IDS[: len(expected)]
        assert of_explain(about[0], data, *about[1:], "--row", "id=u4", "--row", 0) == [
            expected[4],
            expected[0],
        ]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_features_without_names_are_called_as_in_the_table(models, tmp_path, monkeypatch, suffix):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".parquet":
        save(path, {"id": IDS, **{name: DENSE[:, column] for column, name in enumerate(NAMES)}})
    elif suffix == ".csv":
        write_table(path, ["id", *NAMES], [[id, *row] for id, row in zip(IDS, DENSE, strict=True)])
    else:  # names that nobody knows mean no columns: here features are numbers
        write_json(path, [{"id": id, **dict(enumerate(row))} for id, row in zip(IDS, DENSE, strict=True)])
    names = None if suffix == ".jsonl" else NAMES
    expected = answers(Explainer(MODEL, feature_names=names).explain(row).to_dict() for row in DENSE)
    model = models / "numbers.skops"
    assert of_explain(model, path) == expected
    assert of_batch(tmp_path / "out", model, path)[1] == expected
    assert of_serve(monkeypatch, model, path)[1] == expected


def test_addresses_and_several_files(models, tmp_path, monkeypatch):
    store = fsspec.filesystem("memory")
    write_wide_csv(tmp_path / "a.csv")
    for name in ("a", "b"):
        store.pipe(f"/commands/{name}.csv", (tmp_path / "a.csv").read_bytes())
    arguments = [models / "numbers.skops", "memory://commands/*.csv", "--names", models / "names.txt"]
    expected = answers(Explainer(MODEL, feature_names=NAMES).explain(row).to_dict() for row in DENSE) * 2
    assert of_explain(*arguments) == expected
    assert of_explain(*arguments, "--row", 14) == [expected[2]]
    assert of_serve(monkeypatch, *arguments) == (IDS * 2, expected)
    assert of_batch(tmp_path / "out", *arguments) == (IDS * 2, expected)
    store.rm("/commands", recursive=True)


def test_columns_are_named_by_the_same_options(models, tmp_path, monkeypatch):
    rows, columns, values = records(X)
    long = {"who": rows, "when": rows, "what": columns, "n": values}
    path = save(tmp_path / "x.parquet", long)
    options = ["--id-column", "who", "--feature-column", "what", "--value-column", "n"]
    arguments = [models / "numbers.skops", path, *options]
    expected = answers(Explainer(MODEL).explain(row).to_dict() for row in X)
    assert of_explain(*arguments) == expected
    assert of_explain(*arguments, "--row", "id=7") == [expected[7]]
    assert of_serve(monkeypatch, *arguments) == (list(range(12)), expected)
    assert of_batch(tmp_path / "out", *arguments) == (list(range(12)), expected)


BAD = {
    "x.joblib": (b"", "DATA must end in one of .npz, .npy, "),
    "x.npy": (b"no array", "DATA must be a matrix of numbers as numpy.save writes it (.npy), got "),
    "x.npz": (b"no zip", "DATA must be a sparse matrix as scipy.sparse.save_npz writes it (.npz), got "),
    "x.parquet": (b"no table", "DATA must be Parquet files that can be read, got "),
    "a.csv": (b"text\nfree prize\n", "MODEL must read texts to explain texts, got one that takes rows of"),
    "b.csv": (b"1,2,3\n4,5,6\n", "DATA must start with a line of names, got "),
    "c.csv": (b"", "DATA must start with a line of names, one for each column of numbers, got "),
    "d.csv": (b"a,b\n1,2\n", "DATA must have 6 columns, as the model was fitted on, got "),
    "x.jsonl": (b'"a text"\n', "DATA must hold a JSON list of features a line, or an object, as the model"),
    "x.txt": (b"a text", "MODEL must read texts to explain texts, got one that takes rows of numbers"),
    "folder": (None, "DATA must hold files that end in one of "),
    "nowhere.csv": (None, "DATA must be a file, got "),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_none_of_the_formats_is_refused_by_all_commands(models, tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    elif name == "folder":
        path.mkdir()
    for command, *options in (["explain"], ["serve", "--port", "0"], ["batch", "--out", tmp_path / "out"]):
        arguments = [command, models / "numbers.skops", path, *options]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
        assert Path(name).name in result.stderr  # it says which file
