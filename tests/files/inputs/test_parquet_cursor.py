import threading

import numpy as np
import pyarrow as pa
import pytest
from input_tables import save

from butfor import InputError
from butfor._files.inputs import Chunk, open_input, parquet_cursor
from butfor._files.inputs.locations import find_files
from butfor._files.inputs.parquet_cursor import ParquetSelection


def selection(*paths, batch=4):
    return ParquetSelection(find_files([str(path) for path in paths]), ("n",), batch)


def taken(rows, file, record, n_records):
    return [n for batch in rows.take(file, record, n_records) for n in batch.column(0).to_pylist()]


@pytest.fixture
def three_files(tmp_path):
    """Files of 10, 0 and 7 records, numbered throughout, in row groups of 3."""
    for name, numbers in {"a": range(10), "b": range(0), "c": range(10, 17)}.items():
        save(tmp_path / f"{name}.parquet", {"n": pa.array(numbers, pa.int64())}, row_group_size=3)
    return selection(tmp_path)


def test_any_place_is_reached_from_any_other(three_files):
    assert list(three_files.counts()) == [10, 0, 7]
    places = [(0, 0), (0, 1), (0, 3), (0, 8), (2, 0), (2, 5)]
    for before in places:
        for file, record in places:
            for n_records in (1, 2):
                taken(three_files, *before, 2)
                first = record + (10 if file else 0)
                assert taken(three_files, file, record, n_records) == [*range(first, first + n_records)]


def test_reading_goes_on_across_row_groups_and_files(three_files):
    for first in range(10):
        assert taken(three_files, 0, first, 17 - first) == list(range(first, 17))
    with pytest.raises(InputError, match="DATA must stay as it is until the run ends, got files that have"):
        taken(three_files, 2, 0, 8)


def test_each_thread_has_its_own_place(three_files):
    found = []
    ahead = three_files.take(0, 0, 9)
    next(ahead)
    other = threading.Thread(target=lambda: found.extend(taken(three_files, 0, 2, 3)))
    other.start()
    other.join()
    assert found == [2, 3, 4]
    assert next(ahead).column(0).to_pylist() == [4, 5, 6, 7]


def test_a_file_that_was_written_anew_is_opened_anew(tmp_path):
    for numbers in ([1, 2, 3], [4, 5, 6, 7]):
        save(tmp_path / "x.parquet", {"n": numbers})
        assert taken(selection(tmp_path / "x.parquet"), 0, 1, 2) == numbers[1:3]


def test_files_must_agree(tmp_path):
    save(tmp_path / "a.parquet", {"n": [1]})
    save(tmp_path / "b.parquet", {"n": ["x"]})
    with pytest.raises(InputError, match=r"same types, got .*b\.parquet with 'n' of large_string, not int64"):
        list(selection(tmp_path).counts())
    save(tmp_path / "b.parquet", {"m": [1]})
    with pytest.raises(InputError, match=r"one column 'n' in each file, got .*b\.parquet without"):
        list(selection(tmp_path).counts())


def test_a_damaged_row_group_costs_its_chunks_only(tmp_path):
    path = tmp_path / "x.parquet"
    numbers = np.random.default_rng(0).integers(0, 2**62, 3000)
    save(path, {"n": numbers}, row_group_size=1000, use_dictionary=False, compression="gzip")
    content = bytearray(path.read_bytes())
    middle = content[: len(content) // 2]
    content[len(middle) - 200 : len(middle) + 200] = bytes(400)
    path.write_bytes(content)
    rows = selection(path)
    assert taken(rows, 0, 0, 1000) == numbers[:1000].tolist()
    with pytest.raises(InputError, match=r"DATA must be Parquet files that can be read, got .*x\.parquet: "):
        taken(rows, 0, 1000, 1000)
    assert taken(rows, 0, 2000, 1000) == numbers[2000:].tolist()


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("no Parquet")
    with pytest.raises(InputError, match=r"DATA must be Parquet files that can be read, got .*x\.parquet"):
        open_input([str(tmp_path / "x.parquet")], takes_texts=False)


@pytest.mark.parametrize("form", ["long", "lists"])
def test_one_giant_row_group_is_not_held_in_memory(tmp_path, monkeypatch, form):
    n_rows, n_each = 150_000, 20
    features = np.tile(np.arange(n_each), n_rows)
    values = np.random.default_rng(0).random(len(features))
    if form == "long":
        table = {"id": np.repeat(np.arange(n_rows), n_each), "feature": features, "value": values}
    else:
        ends = pa.array(np.arange(0, len(features) + 1, n_each), pa.int32())
        lists = [pa.ListArray.from_arrays(ends, pa.array(each)) for each in (features, values)]
        table = dict(zip(("features", "values"), lists, strict=True))
    path = save(tmp_path / "x.parquet", table, row_group_size=2**30)
    del table
    data = open_input([path], takes_texts=False, n_features=n_each)
    place = (0, 70_000 * n_each, 1000 * n_each) if form == "long" else (0, 70_000, 70_000)
    monkeypatch.setattr(parquet_cursor._here, "cursor", None, raising=False)  # else it is freed meanwhile
    held, plain, before = [], ParquetSelection.plain, pa.total_allocated_bytes()

    def measured(self, batch):
        held.append(pa.total_allocated_bytes() - before)
        return plain(self, batch)

    monkeypatch.setattr(ParquetSelection, "plain", measured)
    rows = data.read(Chunk(70, 1000, place))
    assert rows.ids == list(range(70_000, 71_000))
    assert rows.content.data.tolist() == values[70_000 * n_each : 71_000 * n_each].tolist()
    assert 0 < max(held) < 0.7 * values.nbytes
