"""What Parquet in long form and in list form share: columns of ids, features and values."""

from dataclasses import dataclass
from typing import ClassVar

from butfor._files.inputs.base import ChunkedInput, IdType
from butfor._files.inputs.columns import ChosenColumns
from butfor._files.inputs.feature_matrix import FeatureSpace
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import ParquetSelection


@dataclass(frozen=True)
class FeatureTable(ChunkedInput):
    """Files, the columns of theirs that are read, and the columns of the matrix that features stand for."""

    files: Files
    chosen: ChosenColumns
    space: FeatureSpace
    holds_texts: ClassVar[bool] = False
    kind: ClassVar[str]
    feature_names: ClassVar[None] = None
    batch: ClassVar[int]
    """Records that are read at a time."""

    @property
    def id_type(self) -> IdType:
        """The type of the ids."""
        return self.chosen.id_type

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.chosen)

    @property
    def _selection(self) -> ParquetSelection:
        numbers = frozenset(filter(None, [self.chosen.value]))
        return ParquetSelection(self.files, tuple(self.chosen.names), self.batch, numbers)
