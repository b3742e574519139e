"""Parts of the output: a Parquet file for each chunk, with what there is to say of it in its footer."""

import io
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from butfor.batch.folder import Folder
from butfor.batch.inputs.base import IdType
from butfor.batch.outputs import Outcome, arrow, table
from butfor.batch.statistics import Statistics
from butfor.render.extras import optional

_KEY = b"butfor"


def part_name(number: int) -> str:
    """Give the name of a part.

    >>> part_name(12)
    'part-00012.parquet'
    """
    return f"part-{number:05d}.parquet"


def part_number(name: str) -> int | None:
    """Give the number of a part, if it is one.

    >>> part_number("part-00012.parquet"), part_number("_manifest.json")
    (12, None)
    """
    match = re.fullmatch(r"part-(\d{5,})\.parquet", name)
    return None if match is None else int(match[1])


def write_part(
    folder: Folder, number: int, ids: Sequence[Any], outcomes: Sequence[Outcome], id_type: IdType
) -> Statistics:
    """Write the outcomes of a chunk; give what there is to say of them."""
    parquet = optional("pyarrow.parquet", extra="batch")
    statistics = Statistics.of(ids, outcomes)
    lines = table(ids, outcomes, id_type).replace_schema_metadata({_KEY: json.dumps(statistics.to_dict())})
    content = io.BytesIO()
    parquet.write_table(lines, content, compression="zstd")
    folder.write(part_name(number), content.getbuffer())
    return statistics


def read_statistics(folder: Folder, name: str) -> Statistics | None:
    """Read what there is to say of a part from its footer; None where it is no part that can be read."""
    parquet = optional("pyarrow.parquet", extra="batch")
    with (
        suppress(arrow().ArrowException, OSError, KeyError, TypeError, ValueError),
        folder.opened(name) as file,
    ):
        return Statistics.from_dict(json.loads(parquet.read_metadata(file).metadata[_KEY]))
    return None
