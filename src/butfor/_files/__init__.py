"""Files that users have: models, rows and texts to explain, and names, groups and costs of features."""

from butfor._files.features import as_features, labels_of_groups, load_costs, load_groups, load_names
from butfor._files.inputs import ColumnNames, Input, open_input, open_rows
from butfor._files.models import load_model
from butfor._files.numbered_rows import NumberedRow, rows_of, texts_of_options

__all__ = [
    "ColumnNames",
    "Input",
    "NumberedRow",
    "as_features",
    "labels_of_groups",
    "load_costs",
    "load_groups",
    "load_model",
    "load_names",
    "open_input",
    "open_rows",
    "rows_of",
    "texts_of_options",
]
