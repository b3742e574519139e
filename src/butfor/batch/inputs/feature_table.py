"""What Parquet in long form and in list form share: columns of ids, features and values."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from butfor.batch.inputs.base import IdType
from butfor.batch.inputs.columns import Chosen
from butfor.batch.inputs.cursor import Selection
from butfor.batch.inputs.features import Space
from butfor.batch.inputs.locations import Files


@dataclass(frozen=True)
class FeatureTable:
    """Files, the columns of theirs that are read, and the columns of the matrix that features stand for."""

    files: Files
    chosen: Chosen
    space: Space
    holds_texts: ClassVar[bool] = False
    kind: ClassVar[Literal["long table", "lists"]]
    batch: ClassVar[int]
    """Records that are read at a time."""

    @property
    def id_type(self) -> IdType:
        """Say what ids are."""
        return self.chosen.id_type

    def fingerprint(self) -> str:
        """Give a name to the content."""
        return self.files.fingerprint(self.kind, self.chosen)

    def prepared(self, folder: str) -> Self:
        """Give itself: tables are read in place."""
        return self

    @property
    def _selection(self) -> Selection:
        return Selection(self.files, tuple(self.chosen.names), self.batch, self.chosen.value)
