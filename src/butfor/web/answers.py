"""What answers look like, for the API's own description: they are written elsewhere, field by field."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from butfor.explanation import Removal, Status, Unit
from butfor.web.table import RowStatus

Span = Annotated[list[int], Field(min_length=2, max_length=2)]
"""From character to character."""


class Answer(BaseModel):
    """Any answer: all fields are there, and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ExplanationAnswer(Answer):
    """An explanation."""

    status: Status
    """none: proven that nothing of at most `max_size` features flips; budget: `reason` says what ended it."""
    features: list[str]
    """What to remove, in the order in which the search removed it."""
    places: list[int]
    """Where the features stand in `items`, from 0."""
    columns: list[int]
    """The columns that become zero; none where text is cut or masked."""
    weights: list[float]
    """Of the features, where the search ranks by weight."""
    score: float
    score_without: float
    threshold: float
    """The decision is positive where the score is at least this."""
    lower_bound: float | None
    """How many features are proven to be needed; with costs, which cost."""
    n_active: int
    """How many units the row has."""
    n_protected: int
    """How many of them may not be removed."""
    max_size: int
    n_scored: int
    """How many removal sets the model scored."""
    seconds: float
    search: str
    local_model: str
    """How the model was evaluated: by its formula, or as a black box."""
    reason: str
    cost: float
    costs: bool
    path: list[float]
    """The score after the first 1, 2, … features are gone."""
    items: list[str]
    """All units of the row."""
    decision: str
    decision_without: str
    target: str
    n_classes: int
    text: str | None
    spans: list[list[Span]]
    """For each feature where it stands in the text, in code points."""
    unit: Unit
    removal: Removal
    survives_deletion: bool | None
    """Whether the text with the words deleted flips too; null where not tried."""
    size: int
    proven: bool
    """Whether it is proven that nothing smaller (with costs: cheaper) flips the decision."""
    sentence: str
    proof: str
    """What is proven, and for a text what removing meant, in sentences."""
    facts: str
    """Size, what removing meant, and effort, in a line."""
    letter: str | None
    """Where asked for; null where none was found, or `survives_deletion` is false: it would not be true."""
    page: str | None
    """A self-contained HTML page, where asked for."""


class UnitAnswer(Answer):
    """A unit of a row: what goes at a time."""

    name: str
    spans: list[Span]
    """Where it stands in the text, in code points; none where unknown."""
    removable: bool


class ScoreAnswer(Answer):
    """The score of a row, and without some units."""

    score: float
    score_without: float
    threshold: float
    decision: str
    decision_without: str
    flipped: bool
    n_classes: int
    explanation: ExplanationAnswer | None
    """What was taken away as an explanation, where it flips the decision."""
    units: list[UnitAnswer] | None
    text: str | None


class AlternativesAnswer(Answer):
    """Explanations, smallest first."""

    explanations: list[ExplanationAnswer]
    complete_up_to: int
    """No explanation of at most so many features is missing."""
    reason: str
    """Why the search ended early; empty if it did not."""


class SearchAnswer(Answer):
    """What one search found."""

    search: str
    status: Status | Literal["error"]
    size: int
    features: list[str]
    places: list[int]
    score_without: float | None
    lower_bound: float | None
    proven: bool
    n_scored: int
    seconds: float
    reason: str
    error: str | None


class CompareAnswer(Answer):
    """What the searches found."""

    searches: list[SearchAnswer]


class RowAnswer(Answer):
    """A row of the list."""

    number: int
    id: int | str
    preview: str
    score: float | None
    decision: str | None
    status: RowStatus
    size: int | None
    lower_bound: float | None
    proven: bool | None
    contradicted: bool | None
    """Whether a text without the words is decided as before: then the answer holds for columns only."""


class Progress(Answer):
    """How many rows have been looked at."""

    total: int
    scored: int
    explained: int


class RowsAnswer(Answer):
    """A page of rows."""

    total: int
    matching: int
    page: int
    per_page: int
    rows: list[RowAnswer]
    progress: Progress


class FeatureCount(Answer):
    """In how many explanations a feature is."""

    name: str
    count: int


class SummaryAnswer(Answer):
    """All rows at a glance."""

    total: int
    progress: Progress
    decisions: dict[str, int]
    statuses: dict[str, int]
    sizes: dict[str, int]
    n_found: int
    n_proven: int
    features: list[FeatureCount]


class OneRowAnswer(Answer):
    """One row of the data."""

    number: int
    id: int | str
    text: str | None
    explanation: ExplanationAnswer | None
    """What is stored, for results of a batch; else null: ask api/explain."""
    error: str | None
    score: float | None
    decision: str | None
    status: RowStatus


class FeatureAnswer(Answer):
    """A feature by name."""

    name: str
    column: int


class FeaturesAnswer(Answer):
    """Features whose names have what was asked for."""

    features: list[FeatureAnswer]


class HealthAnswer(Answer):
    """How the server is."""

    status: Literal["ok"]
    version: str
    workers: int
    busy: int
    waiting: int


class ProblemAnswer(Answer):
    """What went wrong (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    """What was expected, what came, what to do."""
