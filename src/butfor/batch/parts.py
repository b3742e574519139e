"""Parts of the output: one Parquet file for each chunk, with its origin and its checksum in the footer."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from butfor._extras import optional
from butfor._files.inputs.base import IdType
from butfor.batch.folder import Folder
from butfor.batch.outputs import Outcome, arrow, table
from butfor.batch.statistics import Statistics

_PART, _CHECKSUM = b"butfor", b"butfor checksum"


def part_name(number: int) -> str:
    """Return the file name of the part of a chunk.

    >>> part_name(12)
    'part-00012.parquet'
    """
    return f"part-{number:05d}.parquet"


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


def write_part(
    folder: Folder, origin: Origin, ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType
) -> Statistics:
    """Write the outcomes of a chunk as its part; return their statistics."""
    statistics = Statistics.of(ids, outcomes)
    part = Part(origin, statistics)
    folder.write(part_name(origin.chunk), sealed(table(ids, outcomes, id_type), part))
    return statistics


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
