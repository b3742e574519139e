"""Parts of the output: one Parquet file for each chunk, with its origin and its checksum in the footer."""

import hashlib
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from uuid import uuid4

from butfor._extras import optional
from butfor._files.inputs.base import IdType
from butfor.batch.folder import Folder
from butfor.batch.outputs import Outcome, arrow, table
from butfor.batch.statistics import Statistics

BEGUN = "_begun-"
"""Prefix of files with the first rows of a chunk, kept until its part is written."""
_PART, _CHECKSUM = b"butfor", b"butfor checksum"


def part_name(number: int) -> str:
    """Return the file name of the part of a chunk.

    >>> part_name(12)
    'part-00012.parquet'
    """
    return f"part-{number:05d}.parquet"


def begun_name(number: int) -> str:
    """Return the name of the file that keeps the first rows of a chunk; readers of Parquet skip it.

    >>> begun_name(12)
    '_begun-00012.parquet'
    """
    return f"{BEGUN}{number:05d}.parquet"


@dataclass(frozen=True)
class Origin:
    """The run and the chunk that a part comes from."""

    run: str
    """The id of the run, as its manifest has it."""
    chunk: int


@dataclass(frozen=True)
class Part:
    """What the footer of a part holds."""

    origin: Origin
    statistics: Statistics


@dataclass(frozen=True, eq=False)
class FirstRows:
    """What came of the first rows of a chunk, or of all of them."""

    tables: tuple[Any, ...] = ()
    """Arrow tables, one below the other."""
    statistics: Statistics = Statistics()  # noqa: RUF009 - frozen

    @property
    def n_rows(self) -> int:
        """How many they are, those included that were left out."""
        return self.statistics.n_rows

    def followed_by(self, ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType) -> "FirstRows":
        """Return these rows with the outcomes of the next ones."""
        records = table(ids, outcomes, id_type)
        return FirstRows((*self.tables, records), self.statistics + Statistics.of(records, len(ids)))

    def left(self, n_of_chunk: int) -> Sequence[int]:
        """Return the positions of the rows that follow, of a chunk with so many."""
        return range(self.n_rows, n_of_chunk)

    def sealed(self, origin: Origin) -> bytes:
        """Return the content of the Parquet file that holds them."""
        return sealed(arrow().concat_tables(self.tables), Part(origin, self.statistics))

    def keep(self, folder: Folder, origin: Origin) -> None:
        """Keep them, so that nobody explains them again; where that fails, somebody will."""
        with suppress(OSError):
            folder.write(begun_name(origin.chunk), self.sealed(origin))


class PartRows(Protocol):
    """All rows of a chunk."""

    @property
    def statistics(self) -> Statistics:
        """Their counts."""
        ...

    def sealed(self, origin: Origin) -> bytes:
        """Return the content of the Parquet file that holds them."""
        ...


def write_part(folder: Folder, origin: Origin, rows: PartRows) -> Statistics:
    """Write the rows of a chunk as its part; return their statistics."""
    folder.write(part_name(origin.chunk), rows.sealed(origin))
    with suppress(OSError):  # nobody misses it, and the part is written
        folder.remove(begun_name(origin.chunk))
    return rows.statistics


def read_begun(folder: Folder, origin: Origin) -> FirstRows:
    """Return the first rows of a chunk that were kept; none if their file is missing, torn or not its own."""
    found = _read(folder, begun_name(origin.chunk), origin)
    return FirstRows() if found is None else FirstRows((found[0],), found[1].statistics)


def read_part(folder: Folder, origin: Origin) -> Any:
    """Return the records of a chunk's part; None if its file is missing, torn or not its own."""
    found = _read(folder, part_name(origin.chunk), origin)
    return None if found is None else found[0]


def _read(folder: Folder, name: str, origin: Origin) -> tuple[Any, Part] | None:
    try:
        content = folder.read(name)
        part = unsealed(content)
    except (OSError, ValueError):
        return None
    if part.origin != origin:
        return None
    records = optional("pyarrow.parquet", extra="batch").read_table(arrow().BufferReader(content))
    return records, part


def sealed(records: Any, part: Part) -> bytes:
    """Return the content of the Parquet file of a part, with its description and checksum in the footer.

    The checksum is that of the whole file with zeros in the place of the checksum.
    """
    parquet = optional("pyarrow.parquet", extra="batch")
    stand_in = uuid4().hex.encode()  # as long as the checksum, and nowhere else in the file
    content = io.BytesIO()
    with parquet.ParquetWriter(content, records.schema, compression="zstd") as writer:
        writer.write_table(records)
        writer.add_key_value_metadata({_PART: json.dumps(asdict(part)), _CHECKSUM: stand_in})
    return content.getvalue().replace(stand_in, _checksum(content.getvalue(), stand_in))


def unsealed(content: bytes) -> Part:
    """Return what the footer of a part holds. Raise a ValueError if the content is no part, or not whole."""
    pa, parquet = arrow(), optional("pyarrow.parquet", extra="batch")
    try:
        footer = parquet.read_metadata(pa.BufferReader(content)).metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError("it is torn, or no Parquet at all") from error
    if not {_PART, _CHECKSUM} <= footer.keys():
        raise ValueError("it was not written by a run")
    if _checksum(content, footer[_CHECKSUM]) != footer[_CHECKSUM]:
        raise ValueError("it is damaged: its checksum does not hold")
    values = json.loads(footer[_PART])
    return Part(Origin(**values["origin"]), Statistics.from_dict(values["statistics"]))


def _checksum(content: bytes, in_its_place: bytes) -> bytes:
    """Return the checksum of a file with zeros where `in_its_place` stands."""
    blank = content.replace(in_its_place, bytes(len(in_its_place)))
    return hashlib.blake2b(blank, digest_size=16).hexdigest().encode()
