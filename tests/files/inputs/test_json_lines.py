"""JSON lines, of texts and of features."""

import json
import pickle

import pytest
from input_tables import open_texts, read_all, same, some_matrix

from butfor import InputError
from butfor._files.inputs import ColumnNames, open_input

NAMES = tuple(f"word {i}" for i in range(11))
TEXTS = ["plain", "", "two\nlines", 'a "quoted" word', "żółć 🙂", " "]


def features(path, names=NAMES, n_features=11, **columns):
    return open_input(
        [str(path)], ColumnNames(**columns), takes_texts=False, n_features=n_features, names=names
    )


def written(path, *lines):
    content = (
        line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines
    )
    path.write_bytes(b"\n".join(content))
    return path


@pytest.mark.parametrize("chunk_rows", [1, 3, 100])
@pytest.mark.parametrize("name", ["x.jsonl", "x.NDJSON"])
def test_texts_come_back_as_they_were_saved(tmp_path, name, chunk_rows):
    objects = [{"id": id, "label": 1, "text": text} for id, text in enumerate(TEXTS, start=7)]
    data = pickle.loads(pickle.dumps(open_texts(written(tmp_path / name, *objects))))
    assert (data.kind, data.holds_texts, data.id_type) == ("texts", True, "int")
    assert read_all(data, chunk_rows) == (list(range(7, 13)), TEXTS, {})
    alone = open_texts(written(tmp_path / name, b"\xef\xbb\xbf" + json.dumps(TEXTS[0]).encode(), *TEXTS[1:]))
    assert read_all(alone, chunk_rows) == (list(range(6)), TEXTS, {})


def test_several_files_are_counted_on_and_blank_lines_are_no_rows(tmp_path):
    written(tmp_path / "a.jsonl", b"", "one", b"  ", "two", b"")
    written(tmp_path / "b.ndjson", "three")
    for chunk_rows in (1, 2, 9):
        assert read_all(open_texts(tmp_path), chunk_rows) == ([0, 1, 2], ["one", "two", "three"], {})


def test_a_bad_text_costs_no_other(tmp_path):
    lines = [{"id": "a", "text": "one"}, b"{", {"id": "c"}, {"id": "d", "text": 3}, [1], {"text": "six"}]
    path = written(
        tmp_path / "x.jsonl", *lines, b'{"id": "g", "text": "caf\xe9"}', {"id": 8, "text": "eight"}
    )
    ids, read, errors = read_all(open_texts(path))
    assert ids == ["a", None, "c", "d", None, None, None, "8"]
    assert read == ["one", *[""] * 6, "eight"]
    assert errors[1].startswith("the row must be a line of JSON, got one that is not: ")
    assert errors[2] == "the row must have a text in the column 'text', got none."
    assert errors[3] == "the row must be a text, got 3."
    assert errors[4] == "the row must be an object with 'text', got [1]."
    assert errors[5] == "the row must have an id in the column 'id', got none."
    assert "UTF-8, got a line which holds the byte 0xe9" in errors[6]


@pytest.mark.parametrize(
    ("lines", "columns", "message"),
    [
        ([{"a": "x", "b": "y"}], {}, "--text-column must name the column of DATA that holds the texts"),
        ([{"a": "x"}], {"text": "b"}, "--text-column must name one column of DATA ('a'), got 'b'."),
        ([{"a": "x"}], {"id": "b"}, "--id-column must name a key of the objects in DATA ('a'), got 'b'."),
        ([{"a": "x"}], {"id": "a", "text": "a"}, "--id-column and --text-column must differ"),
        (
            [[1, 2]],
            {},
            'DATA must hold a JSON object a line, such as {"text": "…"}, or a string',
        ),
        ([b"no JSON"], {}, "DATA must hold a JSON object a line"),
    ],
)
def test_what_holds_no_texts_is_refused(tmp_path, lines, columns, message):
    with pytest.raises(InputError) as raised:
        open_texts(written(tmp_path / "x.jsonl", *lines), **columns)
    assert message in str(raised.value)


def test_no_rows_are_refused(tmp_path):
    written(tmp_path / "x.jsonl", b"", b" ")
    with pytest.raises(InputError, match=r"got .*x\.jsonl with none"):
        open_texts(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="at least one row"):
        next(features(tmp_path / "x.jsonl").chunks(1))


X = some_matrix()


def by_name(row):
    return {NAMES[column]: value for column, value in zip(row.indices, row.data, strict=True)}


FORMS = {
    "the object itself": lambda row: by_name(row),
    "by column": lambda row: dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)),
    "an object": lambda row: {"features": by_name(row), "other": "x"},
    "two lists": lambda row: {"items": row.indices.tolist(), "values": row.data.tolist()},
    "two lists by name": lambda row: {"words": list(by_name(row)), "counts": list(by_name(row).values())},
}


@pytest.mark.parametrize("form", FORMS)
def test_features_become_the_matrix_they_were_made_from(tmp_path, form):
    path = written(tmp_path / "x.jsonl", *({"user": f"u{n}", **FORMS[form](row)} for n, row in enumerate(X)))
    data = pickle.loads(pickle.dumps(features(path)))
    assert (data.kind, data.holds_texts, data.id_type) == ("JSON lines", False, "string")
    for chunk_rows in (1, 5, 100):
        ids, read, errors = read_all(data, chunk_rows)
        assert ids == [f"u{number}" for number in range(23)]
        assert same(read, X)
        assert not errors


def test_lists_without_values_are_ones(tmp_path):
    expected = (X != 0).astype(float)
    for line in (lambda row: row.indices.tolist(), lambda row: {"clicks": list(by_name(row))}):
        path = written(tmp_path / "x.jsonl", *map(line, X))
        columns = {} if isinstance(line(X[0]), list) else {"feature": "clicks"}
        ids, read, _ = read_all(features(path, **columns))
        assert ids == list(range(23))
        assert same(read, expected)


def test_a_bad_row_of_features_costs_no_other(tmp_path):
    good = {"id": 1, "features": [1, "word 2", 1], "values": [1, 2, 0.5]}
    bad = {
        "the row must have features that --names holds, got 'wrod'.": {"features": ["wrod"], "values": [1]},
        "the row must have features from 0 to 10, got 11.": {"features": [11], "values": [1]},
        "the row must have as many values as features, got 1 and 2.": {"features": [1, 2], "values": [1]},
        "the row must have a list in 'values', got None.": {"features": [1]},
        "the row must have numbers as values, got 'x' for the feature 1.": {"features": [1], "values": ["x"]},
        "the row must have finite values, got nan for the feature 1.": {
            "features": [1],
            "values": [float("nan")],
        },
        "the row must be an object with 'features', got {'id': 2}.": {},
        "the row must have a list or an object of features, got 'x'.": {"features": "x"},
    }
    path = written(
        tmp_path / "x.jsonl", good, *({"id": 2, **line} for line in bad.values()), {**good, "id": "x"}
    )
    ids, read, errors = read_all(features(path))
    assert ids == ["1", *["2"] * len(bad), "x"]
    assert list(errors.values()) == list(bad)
    assert read[[0]].toarray().tolist() == [[0, 1.5, 2, *[0] * 8]]
    assert read[list(errors)].nnz == 0


def test_what_no_float_or_utf8_can_hold_is_the_error_of_its_row(tmp_path):
    huge = b'{"word 1": 1' + b"0" * 400 + b"}"
    _, _, errors = read_all(
        features(written(tmp_path / "x.jsonl", huge, b'{"word 1": 1e999}', {"word 1": 1}))
    )
    assert list(errors) == [0, 1]
    assert all(error.startswith("the row must have finite values, got ") for error in errors.values())
    assert max(map(len, errors.values())) < 200
    lines = [{"id": "a", "text": "\ud800"}, {"id": "\ud800", "text": "x"}, {"id": "c", "text": "\U0001f600"}]
    ids, read, errors = read_all(
        open_texts(written(tmp_path / "y.jsonl", *(json.dumps(line).encode() for line in lines)))
    )
    assert (ids, read, list(errors)) == (["a", None, "c"], ["", "", "\U0001f600"], [0, 1])


def test_names_must_be_known(tmp_path):
    path = written(tmp_path / "x.jsonl", {"word 1": 1}, {"2": 1})
    _, read, errors = read_all(features(path, names=None))
    assert errors == {
        0: "the row must have features by their columns, as neither the model nor --names names them, got "
        "'word 1'."
    }
    assert read.toarray()[1].nonzero()[0].tolist() == [2]
    with pytest.raises(InputError, match="--names must be given where the model does not say how many"):
        features(path, names=None, n_features=None)
    with pytest.raises(InputError, match="--feature-column must name a key of the objects in DATA"):
        features(path, feature="nobody")
    path = written(tmp_path / "y.jsonl", {"items": [1], "words": [2]})
    with pytest.raises(InputError, match="--feature-column must name the key of features, got no name where"):
        features(path)
