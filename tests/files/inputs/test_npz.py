import errno
import pickle
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from input_tables import read_all, same, some_matrix
from scipy import sparse

from butfor import InputError
from butfor._files.inputs import open_input


def opened(*paths, n_features=None):
    return open_input([str(path) for path in paths], takes_texts=False, n_features=n_features)


@pytest.mark.parametrize("chunk_rows", [1, 4, 23, 100])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_rows_come_back_as_they_were_saved(tmp_path, kind, chunk_rows):
    X = some_matrix()
    sparse.save_npz(tmp_path / "x.npz", X.asformat(kind))
    data = opened(tmp_path / "x.npz", n_features=11)
    assert (data.kind, data.holds_texts, data.id_type) == ("matrix", False, "int")
    ids, given, errors = read_all(data, chunk_rows)
    assert ids == list(range(23))
    assert same(given, X)
    assert not errors


def test_several_matrices_stand_one_below_the_other(tmp_path):
    X = some_matrix()
    for name, rows in {"a": X[:7], "b": X[7:7], "c": X[7:]}.items():
        sparse.save_npz(tmp_path / f"{name}.npz", rows)
    ids, given, _ = read_all(opened(tmp_path), chunk_rows=5)
    assert ids == list(range(23))
    assert same(given, X)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", ">f8"])
def test_dtype_duplicates_and_zeros_are_left_as_they_are(tmp_path, dtype):
    X = sparse.csr_matrix((2, 5), dtype=np.dtype(dtype).newbyteorder("="))
    X.data, X.indices, X.indptr = np.array([1, 0, 1, 1], dtype), np.array([4, 2, 2, 0]), np.array([0, 3, 4])
    np.savez(tmp_path / "x.npz", **vars_of(X))
    data = opened(tmp_path / "x.npz")
    rows = data.read(next(data.chunks(2)))
    assert rows.content.dtype == np.dtype(dtype).newbyteorder("=")
    assert rows.content.indices.tolist() == [4, 2, 2, 0]
    assert rows.content.data.tolist() == [1, 0, 1, 1]
    assert not rows.content.has_sorted_indices


def vars_of(X, **other):
    return {
        "format": np.array(b"csr"),
        "shape": np.array(X.shape),
        "indptr": X.indptr,
        "indices": X.indices,
        "data": X.data,
        **other,
    }


def test_an_unpacked_matrix_is_unpacked_once_and_has_the_same_fingerprint(tmp_path):
    X = some_matrix()
    sparse.save_npz(tmp_path / "x.npz", X)
    data = opened(tmp_path / "x.npz")
    prepared = data.prepared(str(tmp_path / "scratch"))
    (unpacked,) = (tmp_path / "scratch").iterdir()
    before = (unpacked / "data.npy").stat().st_mtime_ns
    again = pickle.loads(pickle.dumps(data)).prepared(str(tmp_path / "scratch"))
    assert (unpacked / "data.npy").stat().st_mtime_ns == before
    assert prepared.fingerprint() == again.fingerprint() == data.fingerprint()
    assert same(read_all(pickle.loads(pickle.dumps(prepared)))[1], X)


def test_the_fingerprint_follows_the_content_not_the_name(tmp_path):
    X = some_matrix()
    sparse.save_npz(tmp_path / "x.npz", X)
    (tmp_path / "y.npz").write_bytes((tmp_path / "x.npz").read_bytes())
    X.data[0] += 1
    sparse.save_npz(tmp_path / "z.npz", X)
    x, y, z = (opened(tmp_path / name).fingerprint() for name in ("x.npz", "y.npz", "z.npz"))
    assert x == y != z


def test_a_column_that_is_not_there_is_the_error_of_its_row(tmp_path):
    X = some_matrix()
    X.indices[[0, X.indptr[9], X.indptr[9] + 1]] = [99, -1, 50]
    sparse.save_npz(tmp_path / "x.npz", X)
    _, given, errors = read_all(opened(tmp_path / "x.npz"))
    assert errors == {
        0: "the row must have features from 0 to 10, got 99: the file is damaged.",
        9: "the row must have features from 0 to 10, got -1: the file is damaged.",
    }
    good = [row for row in range(23) if row not in errors]
    assert same(given[good], X[good])
    assert given[[0, 9]].nnz == 0


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"indptr": np.array([0, 5, 2])}, "a row of it ends before it begins"),
        ({"indptr": np.array([0, 1, 99])}, "from 0 to 99 of 4 values"),
        ({"indptr": np.array([0, 4])}, "places for 1 rows, and 2 rows"),
        ({"data": np.ones(3)}, "(4,) indices for (3,) values"),
        ({"data": np.array(list("abcd"))}, "whole numbers and numbers, got int32, int32, <U1"),
        ({"data": np.array([{}, 1, 2, 3], dtype=object)}, "."),
        ({"shape": np.array([4])}, "its shape is [4]"),
        ({"shape": np.array([[4, 5]])}, "its shape is [[4, 5]]"),
    ],
)
def test_a_damaged_matrix_is_refused(tmp_path, other, what):
    X = sparse.csr_matrix([[1.0, 0, 2], [3, 4, 0]])
    np.savez(tmp_path / "x.npz", **vars_of(X, **other))
    with pytest.raises(InputError, match=r"DATA must be a sparse matrix as scipy.sparse.save_npz") as raised:
        opened(tmp_path / "x.npz").prepared(str(tmp_path / "scratch"))
    assert what in str(raised.value)
    assert not list(tmp_path.glob("scratch/*"))


def test_what_is_no_matrix_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"no zip file")
    with pytest.raises(InputError, match="zip"):
        opened(path)
    np.savez(path, some=np.ones(3))
    with pytest.raises(InputError, match=r"no item named 'shape\.npy'"):
        opened(path)
    sparse.save_npz(path, some_matrix(), compressed=False)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        content[archive.getinfo("data.npy").header_offset + 200] ^= 255
    path.write_bytes(content)
    with pytest.raises(InputError, match="CRC"):
        read_all(opened(path))


def test_another_number_of_columns_is_refused(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", some_matrix())
    with pytest.raises(
        InputError, match=r"must have 12 columns, as the model was fitted on, got .* with 11\."
    ):
        opened(tmp_path / "x.npz", n_features=12)
    sparse.save_npz(tmp_path / "y.npz", some_matrix(n_columns=9))
    with pytest.raises(InputError, match=r"must have 11 columns, as the first file, got .* with 9\."):
        opened(tmp_path)


def test_a_matrix_without_rows_is_refused(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", some_matrix()[:0])
    with pytest.raises(InputError, match="at least one row"):
        next(opened(tmp_path / "x.npz").chunks(5))


def test_a_full_disk_is_said_and_nothing_half_unpacked_stays(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    sparse.save_npz(tmp_path / "x.npz", some_matrix())
    data = opened(tmp_path / "x.npz")
    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfileobj", full)
        with pytest.raises(
            InputError, match=r"DATA must fit into .*scratch when unpacked, got: .*No space left"
        ):
            data.prepared(str(tmp_path / "scratch"))
    assert not list((tmp_path / "scratch").iterdir())
    assert same(read_all(data.prepared(str(tmp_path / "scratch")))[1], some_matrix())


def test_several_may_unpack_into_one_folder_at_once(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", some_matrix())
    data = opened(tmp_path / "x.npz")
    with ThreadPoolExecutor(4) as threads:
        prepared = list(threads.map(lambda _: data.prepared(str(tmp_path / "scratch")), range(8)))
    assert len(list((tmp_path / "scratch").iterdir())) == 1
    assert all(same(read_all(each)[1], some_matrix()) for each in prepared)


def test_an_unpacked_folder_that_is_gone_is_made_again(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", some_matrix())
    data = opened(tmp_path / "x.npz").prepared(str(tmp_path / "scratch"))
    shutil.rmtree(tmp_path / "scratch")
    assert same(read_all(data)[1], some_matrix())


def test_a_file_that_unpacks_to_more_than_anybody_wants(tmp_path):
    X = sparse.csr_matrix(np.ones((1_000, 1_000)))
    sparse.save_npz(tmp_path / "bomb.npz", X)
    size = X.data.nbytes + X.indices.nbytes
    assert (tmp_path / "bomb.npz").stat().st_size < size / 100
    with pytest.raises(
        InputError, match=r"DATA must unpack to at most 0\.001 GiB, got .*bomb\.npz, which unpacks to 0\.01"
    ) as refused:
        open_input([str(tmp_path / "bomb.npz")], takes_texts=False, max_unpacked=0.001)
    assert "butfor batch --max-unpacked 1." in str(refused.value)
    assert list(open_input([str(tmp_path / "bomb.npz")], takes_texts=False, max_unpacked=1).chunks(1000))
