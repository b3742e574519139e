"""The result: one frozen object with plain typed fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from butfor.errors import InputError

Status = Literal["found", "none", "budget"]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The features of one row without which the model would have decided otherwise.

    `status` is "found", "none" (proven: no set of at most `max_size` features flips the decision) or
    "budget" (the search stopped before it knew; `reason` says why). An explanation that found nothing
    removes nothing: no features, size 0, `score_without` equal to `score`.

    >>> why = Explanation(status="found", features=("Die Hard", "Taxi Driver"), columns=(17, 40),
    ...     weights=(), score=0.71, score_without=0.27, threshold=0.29, lower_bound=2, n_active=34,
    ...     n_protected=0, max_size=30, n_scored=67, seconds=0.002, search="sedc", local_model="black box",
    ...     reason="")
    >>> print(why)
    But for 'Die Hard' and 'Taxi Driver', the score would be 0.27 instead of 0.71 (threshold 0.29).
    >>> why.size, why.proven_minimum, bool(why), round(why.score_drop, 2)
    (2, True, True, 0.44)
    >>> Explanation.from_dict(why.to_dict()) == why
    True
    """

    status: Status
    features: tuple[str, ...]
    """Names of the features to remove, in the order in which the search removed them."""
    columns: tuple[int, ...]
    """Their columns in the data matrix, in the same order."""
    weights: tuple[float, ...]
    """Their weights, where the search ranks features by weight: higher for more evidence; else empty."""
    score: float
    score_without: float
    threshold: float
    """The decision is positive where the score is at least this."""
    lower_bound: int
    """The largest number of features that is proven to be needed."""
    n_active: int
    """How many features of the row are not zero."""
    n_protected: int
    """How many of them may not be removed."""
    max_size: int
    """The limit on the size that the search was given."""
    n_scored: int
    """How many removal sets the search had the model score."""
    seconds: float
    search: str
    local_model: str
    """How the model was evaluated: by its own formula ("linear", "neural network", "rbf kernel", …), or as a
    "black box", by asking it."""
    reason: str
    """Why the search stopped where it did; empty where it simply reached its goal."""

    @property
    def size(self) -> int:
        """How many features the answer removes (the paper's switching point)."""
        return len(self.columns)

    @property
    def score_drop(self) -> float:
        """How far the score falls; below zero where a negative decision was turned positive."""
        return self.score - self.score_without

    @property
    def proven_minimum(self) -> bool:
        """Whether it is proven that no smaller set flips the decision."""
        return bool(self) and self.size == self.lower_bound

    def __bool__(self) -> bool:
        return self.status == "found"

    def __str__(self) -> str:
        if self:
            score, without, threshold = _decimals(self.score, self.score_without, self.threshold)
            return (
                f"But for {_listed(self.features)}, the score would be {without} instead of {score} "
                f"(threshold {threshold})."
            )
        score, threshold = _decimals(self.score, self.threshold)
        return f"{self._why_nothing()} (score {score}, threshold {threshold})."

    def _why_nothing(self) -> str:
        if self.n_active == 0:
            return "The row has no active features, so there is nothing to remove"
        n_removable = self.n_active - self.n_protected
        if n_removable == 0:
            return "All active features of the row are protected, so there is nothing to remove"
        of_its = f"of its {n_removable:,} active features" + " not protected" * (self.n_protected > 0)
        if self.status == "none":
            at_most = f" (at most {self.max_size:,})" if self.max_size < n_removable else ""
            return f"Proven: whichever {of_its} are removed{at_most}, the decision stays"
        proven = f"; proven: fewer than {self.lower_bound:,} {of_its} cannot do it" * (self.lower_bound > 1)
        return f"No answer found: {self.reason}{proven}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` gives an equal explanation back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make an explanation of what `to_dict` gave."""
        expected = [field.name for field in fields(cls)]
        if set(values) != set(expected):
            raise InputError(f"values must have exactly the keys {expected}, got {list(values)}.")
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**plain)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{_printable(name)}'" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _printable(name: str) -> str:
    """Names are data: control and direction characters are shown, never obeyed by a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _decimals(*numbers: float) -> list[str]:
    """Write the numbers with the fewest digits that keep them apart, two decimals at least.

    >>> _decimals(0.71, 0.27, 0.29), _decimals(0.71, 0.2899, 0.29)
    (['0.71', '0.27', '0.29'], ['0.7100', '0.2899', '0.2900'])
    >>> _decimals(3e-9, 1e-9), _decimals(0.5, 0.5)
    (['3e-09', '1e-09'], ['0.50', '0.50'])
    """
    styles = [f".{digits}f" for digits in range(2, 7)] + [f".{digits}g" for digits in range(3, 18)]
    for style in styles:
        written = [format(number, style) for number in numbers]
        if len(set(map(float, written))) == len(set(numbers)):
            return written
    raise AssertionError("17 significant digits tell any two floats apart")
