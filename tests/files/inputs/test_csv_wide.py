import pickle

import numpy as np
import pytest

from butfor import InputError
from butfor._files.inputs import ColumnNames, open_input

NAMES = ("age", "income", "visits")


def opened(*paths, names=NAMES, n_features=3, **columns):
    return open_input(
        [str(path) for path in paths],
        ColumnNames(**columns),
        takes_texts=False,
        n_features=n_features,
        names=names,
    )


def written(path, content):
    path.write_text(content, encoding="utf-8")
    return path


def read_all(data, chunk_rows=2):
    chunks = [data.read(chunk) for chunk in data.chunks(chunk_rows)]
    starts = np.cumsum([0, *(len(rows.ids) for rows in chunks)])
    errors = {
        int(start) + row: error
        for start, rows in zip(starts, chunks, strict=False)
        for row, error in rows.errors.items()
    }
    ids = [id for rows in chunks for id in rows.ids]
    return ids, np.concatenate([rows.content for rows in chunks]).tolist(), errors


@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
@pytest.mark.parametrize(("suffix", "between"), [("csv", ","), ("tsv", "\t")])
def test_columns_are_put_into_the_order_of_the_model(tmp_path, suffix, between, chunk_rows):
    lines = ["visits,user,age,income", "1,a,30,2.5", "0,b,40,-1e3", "7,c,0,.5"]
    path = written(tmp_path / f"x.{suffix}", "\n".join(lines).replace(",", between))
    data = pickle.loads(pickle.dumps(opened(path)))
    assert (data.kind, data.holds_texts, data.id_type) == ("wide table", False, "string")
    assert data.feature_names == NAMES
    ids, rows, errors = read_all(data, chunk_rows)
    assert ids == ["a", "b", "c"]
    assert rows == [[30, 2.5, 1], [40, -1000, 0], [0, 0.5, 7]]
    assert not errors


def test_a_model_without_names_takes_columns_in_their_order(tmp_path):
    path = written(tmp_path / "x.csv", "b,a,id\n1,2,3\n")
    data = opened(path, names=None)
    assert (data.feature_names, data.id) == (("b", "a", "id"), None)  # it has as many columns as the model
    data = opened(path, names=None, n_features=2)
    assert (data.feature_names, data.id) == (("b", "a"), "id")
    data = opened(path, names=None, n_features=2, id="a")
    assert (data.feature_names, data.id) == (("b", "id"), "a")
    assert read_all(data) == (["2"], [[1, 3]], {})


def test_columns_that_have_numbers_for_names_are_taken_in_their_order(tmp_path):
    path = written(tmp_path / "x.csv", "0,1,2\n5,6,7\n")
    assert read_all(opened(path)) == ([0], [[5, 6, 7]], {})


def test_files_may_order_their_columns(tmp_path):
    written(tmp_path / "a.csv", "age,income,visits\n1,2,3\n")
    written(tmp_path / "b.csv", "visits,age,income\n6,4,5\n")
    assert read_all(opened(tmp_path)) == ([0, 1], [[1, 2, 3], [4, 5, 6]], {})
    written(tmp_path / "c.csv", "visits,age\n6,4\n")
    with pytest.raises(InputError, match=r"one column 'income' in each file, got .*c\.csv without"):
        next(opened(tmp_path).chunks(1))


def test_a_bad_row_costs_no_other(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(
        b"id,age,income,visits\na,1,2,3\nb,1,,3\nc,1,many,3\nd,1,2\ne,1,2,3,4\n\xff,1,2,3\n"
        b"g,True, false ,1_0\nh,nan,inf,0x1\n\ni,nan,2,3\n"
    )
    ids, rows, errors = read_all(opened(path))
    assert ids == ["a", "b", "c", "d", "e", None, "g", "h", "i"]
    assert errors == {
        1: "the row must have a number in the column 'income', got none.",
        2: "the row must have a number in the column 'income', got 'many'.",
        3: "the row must have a number in the column 'visits', got none.",
        4: "the row must have 4 cells, as the first line of DATA, got 5: quote a cell that holds the "
        "delimiter.",
        5: "the row must have an id in the column 'id', got none.",
        7: "the row must have a number in the column 'visits', got '0x1'.",
    }
    assert rows[0] == [1, 2, 3]
    assert rows[6] == [1, 0, 10]
    assert all(rows[row] == [0, 0, 0] for row in errors)
    assert np.isnan(rows[8][0])  # which the model, or else the explainer, refuses


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,income\n1,2\n", "3 by name, got {}, which lacks 'visits'. Rename or remove columns"),
        ("age,income,visits,y\n1,2,3,4\n", "which has besides 'y'."),
        ("age,incme,visits\n1,2,3\n", "which lacks 'income' and has besides 'incme'."),
        ("age,age,income,visits\n1,1,2,3\n", "which has some of them more than once."),
        ("1,2,3\n4,5,6\n", "DATA must start with a line of names, got {}, whose first line holds numbers."),
        ("", "DATA must start with a line of names, one for each column of numbers, got {}, which is empty"),
        ("id,text\n1,free prize\n", "and {} with texts in the column 'text': save it as a pipeline"),
        (
            "age,income,visits\n1,high,3\n2,low,3\n",
            "DATA must hold numbers, as the model takes rows of numbers, got {} with 'high' in the column "
            "'income'. Encode it",
        ),
        ("id,user,age,income,visits\n1,2,3,4,5\n", "--id-column must name the column of ids, got no name"),
        ('age,income,visits\n"1,2,3\n', "DATA must be CSV, got {}: line 2: unexpected end of data"),
    ],
)
def test_what_is_no_table_of_the_models_columns_is_refused(tmp_path, content, message):
    path = written(tmp_path / "x.csv", content)
    with pytest.raises(InputError) as raised:
        opened(path)
    assert message.format(path) in str(raised.value)


def test_names_must_be_known_once(tmp_path):
    path = written(tmp_path / "x.csv", "a,b,c\n1,2,3\n")
    with pytest.raises(InputError, match="--names must differ where DATA has a column for each, got"):
        opened(path, names=("a", "b", "a"))
    with pytest.raises(InputError, match=r"must have 2 columns, .* got .*x\.csv with 3: 'a', 'b', 'c'"):
        opened(path, names=None, n_features=2)
    assert opened(path, names=None, n_features=None).feature_names == ("a", "b", "c")
    with pytest.raises(InputError, match="--id-column must name one column of DATA"):
        opened(path, id="nobody")


def test_the_fingerprint_follows_content_and_columns(tmp_path):
    path = written(tmp_path / "x.csv", "a,b,c\n1,2,3\n")
    one = opened(path, names=("a", "b"), n_features=2, id="c").fingerprint()
    assert one != opened(path, names=("b", "a"), n_features=2, id="c").fingerprint()
    written(path, "a,b,c\n1,2,4\n")
    assert one != opened(path, names=("a", "b"), n_features=2, id="c").fingerprint()
