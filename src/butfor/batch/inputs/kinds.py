"""Which kind of input it is: by the names of the files, by what the model takes, and by types of columns."""

from collections.abc import Sequence

from butfor.batch.inputs.base import Columns, Input
from butfor.batch.inputs.columns import choose_columns, choose_id, id_type, require_distinct
from butfor.batch.inputs.csv_texts import open_csv_texts
from butfor.batch.inputs.cursor import opened_parquet
from butfor.batch.inputs.features import space_of
from butfor.batch.inputs.lists import Lists
from butfor.batch.inputs.locations import Files, find_files
from butfor.batch.inputs.long_table import LongTable
from butfor.batch.inputs.matrix import open_matrix
from butfor.batch.inputs.texts import ParquetTexts
from butfor.batch.inputs.types import is_list
from butfor.errors import InputError
from butfor.files.tables import DELIMITERS, text_column_of_schema


def open_input(
    data: Sequence[str],
    columns: Columns | None = None,
    *,
    takes_texts: bool,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
) -> Input:
    """Find out what files hold, and how to read them; paths are local, or whatever fsspec knows.

    A model that takes texts is given those of a column of CSV, TSV or Parquet files. Any other is given rows
    of matrices (.npz) or of Parquet files: in list form if a column holds lists, otherwise in long form.
    `n_features` is how many columns the model has, `names` what they are called, as far as that is known.
    """
    files, columns = find_files(data), columns or Columns()
    _require_fitting_options(files, columns, takes_texts)
    if files.suffix == ".npz":
        return open_matrix(files, len(names) if n_features is None and names is not None else n_features)
    if files.suffix in DELIMITERS:
        return open_csv_texts(files, columns)
    return _open_parquet(files, columns, takes_texts, n_features, names)


def _open_parquet(
    files: Files, columns: Columns, takes_texts: bool, n_features: int | None, names: Sequence[str] | None
) -> Input:
    with opened_parquet(files, 0) as file:
        schema = file.schema_arrow
    if takes_texts:
        id = choose_id(columns, schema)
        text = text_column_of_schema(columns.text, schema, besides=id)
        require_distinct({"id": id, "text": text})
        return ParquetTexts(files, id, text, id_type(schema, id))
    chosen = choose_columns(columns, schema)
    table = Lists if any(is_list(field.type) for field in schema) else LongTable
    return table(files, chosen, space_of(chosen, n_features, names))


def _require_fitting_options(files: Files, columns: Columns, takes_texts: bool) -> None:
    """Raise where the model cannot take what the files hold, or a column is named that would not be read."""
    is_matrix, is_csv = files.suffix == ".npz", files.suffix in DELIMITERS
    if is_matrix and takes_texts:
        raise InputError(f"DATA must hold texts, as the model takes them, got the matrix {files.paths[0]}.")
    if is_csv and not takes_texts:
        raise InputError(
            "DATA must be a matrix (.npz) or Parquet, as the model takes rows and no texts, got "
            f"{files.paths[0]}."
        )
    unused = {"text": not takes_texts, "feature": takes_texts, "value": takes_texts, "id": False}
    for role, is_unused in unused.items():
        if getattr(columns, role) is not None and (is_unused or is_matrix):
            what = "is a matrix" if is_matrix else f"holds {'texts' if takes_texts else 'no texts'}"
            raise InputError(f"--{role}-column must be left out where DATA {what}.")
