import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from butfor import InputError
from butfor.study import datasets
from butfor.study.datasets import DATASETS, Data
from butfor.study.loading import checked, known_shape, load, shape_of
from butfor.study.registry import registry


@pytest.fixture
def sessions(tmp_path, monkeypatch):
    """A small ecommerce file, in the folder that BUTFOR_DATA names."""
    monkeypatch.setenv("BUTFOR_DATA", str(tmp_path))
    views, labels = (tmp_path / file.path for file in DATASETS["ecommerce"].files)
    views.parent.mkdir()
    views.write_text("u1,a,b,A1/B1/C1/D1/;A1/B1/C1/D2/\nu2,a,b,A1/B1/C1/D1/\nu3,a,b,A1/B1/C1/D3/\n")
    labels.write_text("male\nfemale\nfemale\n")
    return views


def test_read_once_as_long_as_the_files_stay_the_same(sessions, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    data = load(registry(), "ecommerce", cache)
    assert data.X.shape == (3, 3)
    with monkeypatch.context() as patch:
        patch.setattr(type(DATASETS["ecommerce"]), "load", None)  # would raise if it were called
        again = load(registry(), "ecommerce", cache)
    assert (again.X != data.X).nnz == 0
    sessions.write_text(sessions.read_text().replace("D3", "D2"))
    assert load(registry(), "ecommerce", cache).X.shape == (3, 2)
    assert len(list(cache.glob("*.joblib"))) == 1  # what nobody can use any more is gone


def test_a_touched_file_is_read_again(sessions, tmp_path):
    cache = tmp_path / "cache"
    load(registry(), "ecommerce", cache)
    kept = set(cache.iterdir())
    os.utime(sessions, ns=(1, 1))
    assert known_shape(DATASETS["ecommerce"], cache) is None
    load(registry(), "ecommerce", cache)
    assert set(cache.iterdir()).isdisjoint(kept)


def test_the_shape_is_known_once_the_data_were_read(sessions, tmp_path):
    cache = tmp_path / "cache"
    assert known_shape(DATASETS["ecommerce"], cache) is None
    data = load(registry(), "ecommerce", cache)
    shape = shape_of(data)
    assert (shape.rows, shape.features) == (3, 3)
    assert shape.positive_percent == pytest.approx(100 / 3)
    assert shape.sparsity_percent == pytest.approx(100 * 5 / 9)
    assert known_shape(DATASETS["ecommerce"], cache) == shape


def test_what_ships_is_measured_at_once(tmp_path):
    assert known_shape(DATASETS["moviegoers"], tmp_path).features == 1_000
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_here_has_no_shape(tmp_path, monkeypatch):
    monkeypatch.setenv("BUTFOR_DATA", str(tmp_path))
    assert known_shape(DATASETS["movielens_1m"], tmp_path) is None


GOOD = Data(sparse.csr_matrix(np.eye(4)), np.array([0, 1, 0, 1]), tuple("abcd"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array([0, 1, 0])}, "y of mine must have a label for each of 4 rows"),
        ({"y": np.array([1, 2, 1, 2])}, "y of mine must hold 0 and 1, both of them, got .1, 2."),
        ({"y": np.array([-1, 1, 1, 1])}, "must hold 0 and 1"),
        ({"y": np.zeros(4)}, "must hold 0 and 1, both of them"),
        ({"y": np.array(["yes", "no", "no", "no"])}, "must hold 0 and 1"),
        ({"feature_names": ("a",)}, "feature_names of mine must have 4 names, one a column, got 1"),
        ({"X": np.full((4, 4), np.nan)}, "X of mine must hold finite numbers"),
    ],
)
def test_what_is_no_data_set_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        checked("mine", replace(GOOD, **changes))


def test_a_reader_that_gives_nothing():
    with pytest.raises(InputError, match="Reading mine must give Data"):
        checked("mine", None)


@pytest.mark.parametrize(
    "X",
    [
        np.eye(4),
        sparse.csc_matrix(np.eye(4)),
        sparse.csr_array(np.eye(4)),
        sparse.coo_matrix(([0.5, 0.5, 1, 1, 1], ([0, 0, 1, 2, 3], [0, 0, 1, 2, 3]))),
        sparse.csr_matrix(np.eye(4, dtype=bool)),
        sparse.csr_matrix(([1, 1, 0, 1, 1], [0, 1, 3, 2, 3], [0, 1, 3, 4, 5])),
    ],
)
def test_any_matrix_becomes_csr_without_zeros(X):
    data = checked("mine", replace(GOOD, X=X, y=[False, True, False, True]))
    assert isinstance(data.X, sparse.csr_matrix)
    assert (data.X.nnz, data.X.dtype, data.y.tolist()) == (4, np.float64, [0, 1, 0, 1])
    assert np.array_equal(data.X.toarray(), np.eye(4))


def test_stand_ins_and_data_of_a_researcher_are_made_anew(tmp_path, sessions, monkeypatch):
    made = []

    def generate():
        made.append(1)
        return shipped

    shipped = DATASETS["moviegoers"].load()
    stand_in = replace(DATASETS["ecommerce"], generate=generate)
    known = replace(registry(), datasets={"ecommerce": stand_in})
    assert load(known, "ecommerce:generated", tmp_path).feature_names is shipped.feature_names
    assert made == [1]
    load(known, "ecommerce", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()  # not the data set of that name that butfor knows
    assert datasets.DATASETS["ecommerce"] is not stand_in
