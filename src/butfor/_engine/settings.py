"""What an Explainer was told, frozen."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from butfor._checks import require_count
from butfor._readers import Reader
from butfor.budget import Budget
from butfor.errors import InputError
from butfor.searches import Search


@dataclass(frozen=True, eq=False)
class Settings:
    """How rows are read, searched and limited; a change makes another object, checked again."""

    reader: Reader
    search: Search
    budget: Budget
    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise InputError(f"budget must be a Budget, such as Budget(max_size=30), got {self.budget!r}.")
        require_count("seed", self.seed, at_least=0)
        object.__setattr__(self, "seed", int(self.seed))

    @cached_property
    def search_name(self) -> str:
        """The name of the search, as explanations show it."""
        return name_of(self.search)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by the names of Explainer's parameters; None where one does not apply."""
        own = {"search": self.search, "budget": self.budget, "seed": self.seed}
        return own | self.reader.as_dict()


def name_of(search: Search) -> str:
    """Return the name of a search."""
    return str(getattr(search, "name", None) or getattr(search, "__name__", type(search).__name__))
