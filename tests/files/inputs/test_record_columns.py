"""Cells of records in files: what they become, and what is said where they are not what the model reads."""

import json

import pandas as pd
import pytest
from input_tables import save
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from butfor import Explainer, InputError
from butfor._files.inputs import ColumnNames, open_rows


def same(items):
    return items


FRAME = pd.DataFrame(
    {
        "plan": ["free", "pro", None, "pro"],
        "zip": [1010, 1020, 1010, 1020],
        "age": [30, 40, 50, 60],
        "note": ["a refund", "my card", "", "hello"],
        "visited": [["shop"], [], ["bank", "shop"], ["bank"]],
    }
)
FRONT = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["plan", "zip"]),
    (StandardScaler(), ["age"]),
    (CountVectorizer(), "note"),
    (CountVectorizer(analyzer=same), "visited"),
)
EXPLAINER = Explainer(make_pipeline(FRONT, LogisticRegression()).fit(FRAME, [0, 1, 0, 1]))


def opened(path, explainer=EXPLAINER, **columns):
    return open_rows(explainer, [str(path)], ColumnNames(**columns))


def rows_of(source):
    (chunk,) = source.chunks(100)
    return source.read(chunk)


def test_cells_become_what_the_model_reads(tmp_path):
    csv, parquet, lines = tmp_path / "x.csv", tmp_path / "x.parquet", tmp_path / "x.jsonl"
    FRAME.assign(visited=FRAME["visited"].map(json.dumps)).to_csv(csv, index=False)
    save(parquet, FRAME.astype(object).where(FRAME.notna(), None).to_dict("list"))
    lines.write_text(
        "".join(
            f"{json.dumps(each)}\n"
            for each in FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")
        )
    )
    for path in (csv, parquet, lines):
        rows = rows_of(opened(path))
        assert rows.errors == {}
        assert EXPLAINER.decide(rows.content)[0] == pytest.approx(EXPLAINER.decide(FRAME)[0])
        assert rows.content["visited"].to_list() == FRAME["visited"].to_list()


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"age": "old"}, "the row must have a number in the column 'age', got 'old'."),
        (
            {"zip": "x" * 100},
            "a category, which is a number in the column 'zip', got 'xxxxxxxxxxxxxxxxxxxx…'.",
        ),
        ({"visited": "shop, bank"}, "the row must have a list of items, as JSON"),
    ],
)
def test_a_cell_that_does_not_fit_is_the_error_of_its_row(tmp_path, cell, said):
    path = tmp_path / "x.csv"
    frame = FRAME.assign(visited=FRAME["visited"].map(json.dumps)).astype(object)
    for name, value in cell.items():
        frame.loc[1, name] = value
    frame.to_csv(path, index=False)
    rows = rows_of(opened(path))
    assert list(rows.errors) == [1]
    assert said in rows.errors[1]
    assert len(rows.content) == 4


def test_types_of_parquet_are_checked_before_anything_is_read(tmp_path):
    plain = FRAME.astype(object).where(FRAME.notna(), None).to_dict("list")
    save(tmp_path / "x.parquet", {**plain, "age": ["30"] * 4})
    with pytest.raises(InputError, match=r"DATA must hold a number in the column 'age', .* with .*string"):
        opened(tmp_path / "x.parquet")
    FRAME.drop(columns=["age", "plan"]).to_csv(tmp_path / "x.csv")
    with pytest.raises(InputError, match="lacks 'plan', 'age'"):
        opened(tmp_path / "x.csv")


def test_a_matrix_is_no_table_of_records(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"")
    with pytest.raises(InputError, match=r"DATA must hold records, .* ends in \.csv, \.tsv, \.parquet"):
        opened(tmp_path / "x.npz")
    FRAME.to_csv(tmp_path / "x.csv")
    with pytest.raises(InputError, match="--text-column must be left out where DATA holds records"):
        opened(tmp_path / "x.csv", text="note")


def test_dicts_have_keys_of_their_own_and_lists_a_column(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": 1, "a": "x"}\n{"id": 2, "b": ["y", "z"], "a": null}\n')
    dicts = Explainer(
        make_pipeline(DictVectorizer(), LogisticRegression()).fit([{"a": "x"}, {"b": "y"}], [0, 1])
    )
    assert rows_of(opened(path, dicts)).content == [{"a": "x"}, {"b": ["y", "z"]}]
    visits = make_pipeline(CountVectorizer(analyzer=same), LogisticRegression()).fit([["a"], ["b"]], [0, 1])
    path.write_text('["a", "b"]\n["b"]\n')
    assert rows_of(opened(path, Explainer(visits))).content == [["a", "b"], ["b"]]
    save(tmp_path / "x.parquet", {"user": [7, 8], "pages": [["a"], []], "seen": [["b"], ["c"]]})
    with pytest.raises(InputError, match="--feature-column must name the column that holds the lists"):
        opened(tmp_path / "x.parquet", Explainer(visits))
    assert rows_of(opened(tmp_path / "x.parquet", Explainer(visits), feature="seen")).content == [
        ["b"],
        ["c"],
    ]
