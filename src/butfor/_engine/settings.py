"""What an Explainer was told, frozen."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from butfor._checks import is_number, require_count
from butfor._readers import Reader
from butfor.budget import Budget
from butfor.errors import InputError
from butfor.noise import Noise
from butfor.searches import Search


@dataclass(frozen=True, eq=False)
class Settings:
    """How rows are read, searched and limited; a change makes another object, checked again."""

    reader: Reader
    search: Search
    budget: Budget
    seed: int
    noise: Noise | float | None = None
    """What is known of a model whose scores vary: how to test them, or how far they differ at most."""

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise InputError(f"budget must be a Budget, such as Budget(max_size=30), got {self.budget!r}.")
        require_count("seed", self.seed, at_least=0)
        if self.noise is not None and not isinstance(self.noise, Noise):
            require_noise(self.noise)
        object.__setattr__(self, "seed", int(self.seed))

    @cached_property
    def search_name(self) -> str:
        """The name of the search, as explanations show it."""
        return name_of(self.search)

    @property
    def tolerance(self) -> float:
        """How far scores of the same row differ at most, where that was said; else 0."""
        return 0.0 if self.noise is None or isinstance(self.noise, Noise) else float(self.noise)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by the names of Explainer's parameters; None where one does not apply."""
        own = {"search": self.search, "budget": self.budget, "seed": self.seed, "noise": self.noise}
        return own | self.reader.as_dict()


def require_noise(noise: Any) -> None:
    """Raise unless a tolerance is a positive number."""
    if not is_number(noise) or not 0 < noise < math.inf:
        raise InputError(
            "noise must be a Noise, such as Noise(confidence=0.95), or a positive number by which scores of "
            f"the same row differ at most, got {noise!r}."
        )


def name_of(search: Search) -> str:
    """Return the name of a search."""
    return str(getattr(search, "name", None) or getattr(search, "__name__", type(search).__name__))
