"""Files with a record for each row: chunks follow from the counts of records alone."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from butfor._checks import require_count
from butfor._files.inputs.base import Chunk, IdType, require_rows
from butfor._files.inputs.ids import ids_of, missing_id
from butfor._files.inputs.parquet_cursor import ParquetSelection


def chunks_of_rows(counts: Iterable[int], chunk_rows: int) -> Iterator[Chunk]:
    """Cut the rows of several files into chunks; the place is (file, row of it, row of all).

    >>> [chunk.place for chunk in chunks_of_rows([3, 0, 4], chunk_rows=2)]
    [(0, 0, 0), (0, 2, 2), (2, 1, 4), (2, 3, 6)]
    """
    require_count("chunk_rows", chunk_rows)
    number, begin, end = 0, (0, 0), 0  # `begin` and `end`: of the chunk that is not full yet
    for file, count in enumerate(list(counts)):  # all files are looked at before any is read
        begin = (file, 0) if end == number * chunk_rows else begin
        end += count
        while end >= (number + 1) * chunk_rows:
            yield Chunk(number, chunk_rows, (*begin, number * chunk_rows))
            number += 1
            begin = (file, count - (end - number * chunk_rows))
    if left := end - number * chunk_rows:
        yield Chunk(number, left, (*begin, number * chunk_rows))
    require_rows(end)


def pieces_of(chunk: Chunk, counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield where the rows of a chunk are: a file, the first row of it, and the row behind the last.

    >>> list(pieces_of(Chunk(1, 5, (0, 2, 2)), [3, 0, 9]))
    [(0, 2, 3), (1, 0, 0), (2, 0, 4)]
    """
    file, begin, _ = chunk.place
    n_left = chunk.n_rows
    while n_left:
        end = min(begin + n_left, counts[file])
        yield file, begin, end
        file, begin, n_left = file + 1, 0, n_left - (end - begin)


def read_ids(
    selection: ParquetSelection, chunk: Chunk, id: str | None, id_type: IdType
) -> Iterator[tuple[int, list[Any], dict[int, str], Any]]:
    """Read batches of rows: the position of the first, the ids, which lack one, and the batch itself."""
    file, record, number = chunk.place
    position = 0
    for batch in selection.take(file, record, chunk.n_rows):
        begin = number + position
        if id is None:
            ids: list[Any] = list(range(begin, begin + len(batch)))
        else:
            ids = ids_of(batch.column(id), id_type)
        missing = {position + i: missing_id(id or "") for i, each in enumerate(ids) if each is None}
        yield position, ids, missing, batch
        position += len(batch)
