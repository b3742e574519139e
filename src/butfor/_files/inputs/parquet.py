"""Parquet files for models of numbers: which of three forms they have."""

from butfor._files.inputs.arrow_types import is_list
from butfor._files.inputs.base import ColumnNames, Input, ModelNeeds
from butfor._files.inputs.columns import choose_columns
from butfor._files.inputs.feature_matrix import space_of
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import opened_parquet
from butfor._files.inputs.parquet_lists import ParquetLists
from butfor._files.inputs.parquet_long import ParquetLong
from butfor._files.inputs.parquet_wide import is_wide, open_parquet_wide


def open_parquet_rows(files: Files, columns: ColumnNames, needs: ModelNeeds) -> Input:
    """Open Parquet in list form if a column holds lists, else in wide or in long form."""
    with opened_parquet(files, 0) as file:
        schema = file.schema_arrow
    has_lists = any(is_list(field.type) for field in schema)
    if not has_lists and is_wide(columns, needs, schema):
        return open_parquet_wide(files, columns, needs, schema)
    chosen = choose_columns(columns, schema)
    table = ParquetLists if has_lists else ParquetLong
    return table(files, chosen, space_of(chosen, needs))
