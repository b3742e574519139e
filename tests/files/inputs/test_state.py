"""A file that changes after it was found is noticed by whoever reads it, whatever kind of file it is."""

import json
import os

import fsspec
import numpy as np
import pytest
from input_tables import as_lists, records, save, some_matrix
from scipy import sparse

from butfor._files.inputs import open_input
from butfor._files.inputs.locations import DataChangedError, find_files

X, OTHER = some_matrix(seed=1), some_matrix(seed=2)
TEXTS = [f"text {i}" for i in range(23)]


def write_matrix(path, X):
    sparse.save_npz(path, X)


def write_long(path, X):
    rows, columns, values = records(X)
    save(path, {"id": rows, "feature": columns, "value": values})


def write_lists(path, X):
    save(path, {"features": as_lists(X, X.indices), "values": as_lists(X, X.data)}, row_group_size=5)


def write_texts(path, X):
    save(path, {"text": [f"{text} {X.sum()}" for text in TEXTS]}, row_group_size=5)


def write_csv(path, X):
    path.write_text("".join(f"{line}\n" for line in ["text", *(f"{text} {X.sum()}" for text in TEXTS)]))


def write_dense(path, X):
    np.save(path, X.toarray())


def write_wide_csv(path, X):
    lines = [",".join("abcdefghijk"), *(",".join(map(str, row)) for row in X.toarray())]
    path.write_text("".join(f"{line}\n" for line in lines))


def write_wide_parquet(path, X):
    save(path, dict(zip("abcdefghijk", X.toarray().T, strict=True)), row_group_size=5)


def write_json(path, X):
    path.write_text("".join(f"{json.dumps(dict(enumerate(row)))}\n" for row in X.toarray()))


KINDS = {
    "dense": ("x.npy", write_dense),
    "wide csv": ("x.csv", write_wide_csv),
    "wide parquet": ("x.parquet", write_wide_parquet),
    "json": ("x.jsonl", write_json),
    "matrix": ("x.npz", write_matrix),
    "long": ("x.parquet", write_long),
    "lists": ("x.parquet", write_lists),
    "texts": ("x.parquet", write_texts),
    "csv": ("x.csv", write_csv),
}


def replaced(path, write):
    """Have another file take the name, as mv does: of the same time and, where that is possible, size."""
    new = path.with_name(f"new{path.suffix}")
    write(new, OTHER)
    time = path.stat().st_mtime_ns
    os.utime(new, ns=(time, time))
    new.replace(path)


def written_to(path, write):
    write(path, OTHER)


def removed(path, write):
    path.unlink()


@pytest.mark.parametrize("change", [replaced, written_to, removed])
@pytest.mark.parametrize("kind", KINDS)
def test_no_chunk_is_read_of_a_file_that_has_changed(tmp_path, kind, change):
    name, write = KINDS[kind]
    path = tmp_path / name
    write(path, X)
    data = open_input([str(path)], takes_texts=kind in ("texts", "csv"), n_features=11)
    data = data.prepared(str(tmp_path / "scratch"))
    first, second, *_ = data.chunks(5)
    data.read(first)  # the file may stay open from here on
    change(path, write)
    for chunk in (second, first):
        with pytest.raises(DataChangedError, match=rf"DATA must stay as it is .* got .*{name}, which was"):
            data.read(chunk)
    with pytest.raises(DataChangedError):
        data.files.require_all_unchanged()


def test_rows_of_several_files(tmp_path):
    for name in "abc":
        write_csv(tmp_path / f"{name}.csv", X)
    data = open_input([str(tmp_path)], takes_texts=True)
    *_, last = data.chunks(23)
    written_to(tmp_path / "b.csv", write_csv)
    assert len(data.read(last).ids) == 23  # which is of another file
    with pytest.raises(DataChangedError, match=r"b\.csv"):
        data.files.require_all_unchanged()


def test_what_changes_nothing(tmp_path):
    write_csv(tmp_path / "x.csv", X)
    data = open_input([str(tmp_path / "x.csv")], takes_texts=True)
    os.chmod(tmp_path / "x.csv", 0o400)
    os.link(tmp_path / "x.csv", tmp_path / "y")
    data.files.require_all_unchanged()


def test_files_in_a_store(tmp_path):
    store = fsspec.filesystem("memory")
    store.pipe("/state/x.csv", b"text\none\ntwo\n")
    data = open_input(["memory://state/x.csv"], takes_texts=True)
    (chunk,) = data.chunks(5)
    assert data.read(chunk).content == ["one", "two"]
    store.pipe("/state/x.csv", b"text\none\nTwo\n")
    with pytest.raises(DataChangedError, match=r"memory:///state/x\.csv, which was replaced"):
        data.read(chunk)
    store.rm("/state", recursive=True)


class Store(fsspec.AbstractFileSystem):
    """Describes one file as its kind of store does, and remembers what it said until it is told to forget."""

    protocol = "state-test"
    cachable = False
    now, remembered = {}, {}

    def info(self, path, **options):
        return self.remembered.setdefault(path, {"name": path, "type": "file", **self.now})

    def invalidate_cache(self, path=None):
        self.remembered.clear()


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ({"ETag": '"a"', "LastModified": 1}, {"ETag": "a", "LastModified": 2}, True),
        ({"ETag": '"a"', "LastModified": 1}, {"ETag": '"b"', "LastModified": 1}, False),
        ({"etag": "a"}, {"etag": "a", "content_settings": "new"}, True),
        ({"md5Hash": "a", "size": 3}, {"md5Hash": "a", "size": 4}, False),
        ({"last_modified": 1}, {"last_modified": 2}, False),
        ({"mtime": 1}, {"mtime": 1}, True),
    ],
)
def test_what_stores_say_of_a_file(monkeypatch, before, after, is_same):
    fsspec.register_implementation("state-test", Store, clobber=True)
    monkeypatch.setattr(Store, "now", before)
    files = find_files(["state-test://bucket/x.csv"])
    monkeypatch.setattr(Store, "now", after)
    if is_same:
        files.require_unchanged(0)
    else:
        with pytest.raises(DataChangedError):
            files.require_unchanged(0)
