"""Files that users give: models, rows and texts to explain, and what is said of their features."""

from butfor.files.features import as_features, labels_of_groups, load_costs, load_groups, load_names
from butfor.files.models import load_model
from butfor.files.sources import Item, Source, open_source

__all__ = [
    "Item",
    "Source",
    "as_features",
    "labels_of_groups",
    "load_costs",
    "load_groups",
    "load_model",
    "load_names",
    "open_source",
]
