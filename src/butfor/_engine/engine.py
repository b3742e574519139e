"""The engine: a model and the settings by which its decisions are explained."""

from dataclasses import dataclass, replace
from typing import Any

from butfor._engine.model import EngineModel
from butfor._engine.settings import Settings
from butfor._readers import ReadRow


@dataclass(frozen=True, eq=False)
class Engine:
    """A model and settings: all that the functions of this package need to explain rows."""

    model: EngineModel
    settings: Settings

    def changed(self, **settings: Any) -> "Engine":
        """Return an engine of the same model with some settings changed."""
        return replace(self, settings=replace(self.settings, **settings))

    def read(self, row: Any) -> ReadRow:
        """Read one row, or text, in the form in which the model decides on the user's own."""
        return self.model.admit(self.settings.reader.fitting(row).read(row))
