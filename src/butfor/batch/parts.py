"""Parts of the output: a Parquet file for each chunk, with what it is and its checksum in its footer."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from butfor.batch.folder import Folder
from butfor.batch.inputs.base import IdType
from butfor.batch.outputs import Outcome, arrow, table
from butfor.batch.statistics import Statistics
from butfor.render.extras import optional

_PART, _CHECKSUM = b"butfor", b"butfor checksum"


def part_name(number: int) -> str:
    """Give the name of a part.

    >>> part_name(12)
    'part-00012.parquet'
    """
    return f"part-{number:05d}.parquet"


@dataclass(frozen=True)
class Origin:
    """Where a part comes from."""

    run: str
    """The id of the run, as its manifest has it."""
    chunk: int


@dataclass(frozen=True)
class Part:
    """What a part says of itself."""

    origin: Origin
    statistics: Statistics


def write_part(
    folder: Folder, origin: Origin, ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType
) -> Statistics:
    """Write the outcomes of a chunk; give what there is to say of them."""
    statistics = Statistics.of(ids, outcomes)
    part = Part(origin, statistics)
    folder.write(part_name(origin.chunk), sealed(table(ids, outcomes, id_type), part))
    return statistics


def sealed(lines: Any, part: Part) -> bytes:
    """Make the Parquet file of a part, with what it says of itself and its own checksum in the footer.

    The checksum is that of the whole file with zeros in the place of the checksum.
    """
    parquet = optional("pyarrow.parquet", extra="batch")
    stand_in = uuid4().hex.encode()  # as long as the checksum, and nowhere else in the file
    content = io.BytesIO()
    with parquet.ParquetWriter(content, lines.schema, compression="zstd") as writer:
        writer.write_table(lines)
        writer.add_key_value_metadata({_PART: json.dumps(asdict(part)), _CHECKSUM: stand_in})
    return content.getvalue().replace(stand_in, _checksum(content.getvalue(), stand_in))


def unsealed(content: bytes) -> Part:
    """Read what the content of a part says of itself; a ValueError says why it is no part, or not whole."""
    pa, parquet = arrow(), optional("pyarrow.parquet", extra="batch")
    try:
        said = parquet.read_metadata(pa.BufferReader(content)).metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError("it is torn, or no Parquet at all") from error
    if not {_PART, _CHECKSUM} <= said.keys():
        raise ValueError("it was not written by a run")
    if _checksum(content, said[_CHECKSUM]) != said[_CHECKSUM]:
        raise ValueError("it is damaged: its checksum does not hold")
    values = json.loads(said[_PART])
    return Part(Origin(**values["origin"]), Statistics.from_dict(values["statistics"]))


def _checksum(content: bytes, stands_there: bytes) -> bytes:
    blank = content.replace(stands_there, bytes(len(stands_there)))
    return hashlib.blake2b(blank, digest_size=16).hexdigest().encode()
