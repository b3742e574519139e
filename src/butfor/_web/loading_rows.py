"""All rows of an input, loaded for the server."""

from collections.abc import Sequence
from tempfile import TemporaryDirectory

from butfor._files import Input
from butfor._files.inputs.base import joined_matrices
from butfor._web.served_records import ServedRecords, plain_records
from butfor._web.served_rows import ServedItems, ServedRows, ServedTexts
from butfor.errors import ButforError, InputError


def load_rows(data: Input, names: Sequence[str] | None = None) -> ServedRows:
    """Load all rows of an input; `names` are those of the columns of a matrix."""
    with TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True) as folder:
        blocks = list(data.prepared(folder).blocks())
    errors: dict[int, ButforError] = {
        first + position: InputError(error)
        for first, rows in blocks
        for position, error in rows.errors.items()
    }
    ids = [id for _, rows in blocks for id in rows.ids]
    called = None if ids == list(range(len(ids))) else ids
    content = [rows.content for _, rows in blocks]
    if data.kind == "table":
        records = [record for some in content for record in plain_records(some)]
        return ServedRecords(records, called, errors)
    if data.holds_texts:
        texts = [text for some in content for text in some]
        return ServedTexts([errors.get(number, text) for number, text in enumerate(texts)], called)
    return ServedItems(joined_matrices(content), names, called, errors)
