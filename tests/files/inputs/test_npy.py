import pickle

import fsspec
import numpy as np
import pytest
from input_tables import some_matrix

from butfor import InputError
from butfor._files.inputs import open_input

X = some_matrix().toarray()


def opened(*paths, n_features=None):
    return open_input([str(path) for path in paths], takes_texts=False, n_features=n_features)


def read_all(data, chunk_rows):
    chunks = [data.read(chunk) for chunk in data.chunks(chunk_rows)]
    return [id for rows in chunks for id in rows.ids], np.concatenate([rows.content for rows in chunks])


@pytest.mark.parametrize("chunk_rows", [1, 4, 23, 100])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_come_back_as_they_were_saved(tmp_path, order, chunk_rows):
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    data = pickle.loads(pickle.dumps(opened(tmp_path / "x.npy", n_features=11)))
    assert (data.kind, data.holds_texts, data.id_type) == ("dense matrix", False, "int")
    ids, content = read_all(data, chunk_rows)
    assert ids == list(range(23))
    np.testing.assert_array_equal(content, X)
    assert content.flags.writeable


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool", ">f8", "<u2"])
def test_the_dtype_stays(tmp_path, dtype):
    some = np.abs(X).astype(dtype)
    np.save(tmp_path / "x.npy", some)
    _, content = read_all(opened(tmp_path / "x.npy"), 5)
    assert content.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(content, some)


def test_several_matrices_stand_one_below_the_other(tmp_path):
    for name, rows in {"a": X[:7], "b": X[7:7], "c": np.asfortranarray(X[7:])}.items():
        np.save(tmp_path / f"{name}.npy", rows)
    ids, content = read_all(opened(tmp_path), 5)
    assert ids == list(range(23))
    np.testing.assert_array_equal(content, X)


def test_a_matrix_in_a_store(tmp_path):
    store = fsspec.filesystem("memory")
    np.save(tmp_path / "x.npy", X)
    store.pipe("/npy/x.npy", (tmp_path / "x.npy").read_bytes())
    _, content = read_all(opened("memory://npy/x.npy"), 10)
    np.testing.assert_array_equal(content, X)
    store.rm("/npy", recursive=True)


def test_the_fingerprint_follows_the_content_not_the_name(tmp_path):
    for name, some in {"a": X, "b": X, "c": X + 1}.items():
        np.save(tmp_path / f"{name}.npy", some)
    a, b, c = (opened(tmp_path / f"{name}.npy").fingerprint() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (np.ones(3), "it has the shape (3,), not rows and columns."),
        (np.ones((2, 2, 2)), "it has the shape (2, 2, 2)"),
        (np.array([["a", "b"]]), "it holds no numbers but <U1."),
        (np.array([[1j]]), "it holds no numbers but complex128."),
        (np.zeros((2, 2), dtype=[("a", int)]), "it holds no numbers but"),
        (np.array([[{}, None]], dtype=object), "it holds no numbers but object."),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(tmp_path, array, what):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=r"a matrix of numbers as numpy.save writes it .*x\.npy: ") as raised:
        opened(tmp_path / "x.npy")
    assert what in str(raised.value)


def test_a_damaged_file_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    whole = (tmp_path / "x.npy").read_bytes()
    for content in (b"", whole[:4], whole[:60], whole[:-1]):
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"as numpy.save writes it \(.npy\), got .*x\.npy: "):
            opened(tmp_path / "x.npy")


def test_another_number_of_columns_or_no_row_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(
        InputError, match=r"must have 12 columns, as the model was fitted on, got .* with 11\."
    ):
        opened(tmp_path / "x.npy", n_features=12)
    np.save(tmp_path / "x.npy", X[:0])
    with pytest.raises(InputError, match="at least one row"):
        next(opened(tmp_path / "x.npy").chunks(5))
