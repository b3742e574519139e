"""The schemas of the API's answers, for its OpenAPI document; `tasks` and `overview` write the answers."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from butfor._web.overview import RowStatus
from butfor.results.explanation import Removal, Status, Unit

Span = Annotated[list[int], Field(min_length=2, max_length=2)]
"""Start and end of a stretch of characters."""


Mark = Annotated[list[int], Field(min_length=3, max_length=3)]
"""A column of a table, and start and end of a stretch of characters in its cell."""
Cell = Annotated[list[str], Field(min_length=2, max_length=2)]
"""The name of a column, and its cell."""


class Answer(BaseModel):
    """The base of all answers: every field is present, and there are no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ExplanationAnswer(Answer):
    """An explanation."""

    status: Status
    """none: proven that nothing of at most `max_size` features flips; budget: `reason` says what ended it."""
    features: list[str]
    """The features to remove, in the order in which the search removed them."""
    places: list[int]
    """The positions of the features in `items`, from 0."""
    columns: list[int]
    """The columns that become zero; empty if text is deleted or masked."""
    weights: list[float]
    """The weights of the features, if the search ranks by weight; otherwise empty."""
    score: float
    score_without: float
    threshold: float
    """The decision is positive where the score is at least this."""
    lower_bound: float | None
    """The number of features that is proven to be needed; with costs, the cost."""
    n_active: int
    """How many units the row has."""
    n_protected: int
    """How many units may not be removed."""
    n_unread: int
    """How many more units the text has that the model does not read: they are no evidence."""
    max_size: int
    n_scored: int
    """How many removal sets the model scored."""
    n_asked: int
    """How many rows a black box was asked to score in all; 0 if the model was evaluated by its formula."""
    spent: float | None
    """What that cost, if there is a price."""
    confidence: float | None
    """How sure the answer is, if the scores of the model vary."""
    seconds: float
    search: str
    local_model: str
    """How the model was evaluated: by its formula, or as a black box."""
    reason: str
    cost: float
    costs: bool
    path: list[float]
    """The score without the first 1, 2, … features."""
    items: list[str]
    """All units of the row."""
    decision: str
    decision_without: str
    target: str
    n_classes: int
    text: str | None
    spans: list[list[Span]]
    """For each feature its spans in the text, in code points."""
    unit: Unit
    removal: Removal
    survives_deletion: bool | None
    """Whether the decision flips too when the words are deleted from the text; null if not tried."""
    table: list[Cell]
    """Of a record: its columns by name, and its cells as they are shown."""
    marks: list[list[Mark]]
    """Of a record: for each feature its places in the table: the column, and a span in code points."""
    instead: list[str]
    """Of a record: for each feature what stands in its place; an empty string where nothing does."""
    size: int
    proven: bool
    """Whether it is proven that no smaller (with costs: no cheaper) set flips the decision."""
    sentence: str
    proof: str
    """What is proven and, for a text, what removing means, in sentences."""
    facts: str
    """Size, what removing means, and effort, in short."""
    letter: str | None
    """The letter, if requested; null if nothing was found, or if `survives_deletion` is false."""
    page: str | None
    """A self-contained HTML page, if requested."""


class UnitAnswer(Answer):
    """A unit of a row: what is removed at a time."""

    name: str
    spans: list[Span]
    """Its spans in the text, in code points; empty if unknown."""
    marks: list[Mark]
    """Of a record: its places in the table."""
    removable: bool


class ScoreAnswer(Answer):
    """The score of a row, and its score without some units."""

    score: float
    score_without: float
    threshold: float
    decision: str
    decision_without: str
    flipped: bool
    n_classes: int
    explanation: ExplanationAnswer | None
    """The removed units as an explanation, if they flip the decision."""
    units: list[UnitAnswer] | None
    text: str | None
    table: list[Cell] | None
    """Of a record: its columns by name, and its cells as they are shown."""


class AlternativesAnswer(Answer):
    """Explanations, smallest first."""

    explanations: list[ExplanationAnswer]
    complete_up_to: int
    """No explanation of at most this many features is missing."""
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
    """Whether the decision stays when the words are deleted: the answer then holds for the columns only."""


class ProgressAnswer(Answer):
    """How many rows have been scored and explained so far."""

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
    progress: ProgressAnswer


class FeatureCount(Answer):
    """The number of explanations that hold a feature."""

    name: str
    count: int


class SummaryAnswer(Answer):
    """Counts over all rows."""

    total: int
    progress: ProgressAnswer
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
    record: dict[str, Any] | list[Any] | None
    """Of a record: its values by column, or its items."""
    explanation: ExplanationAnswer | None
    """The stored explanation, for results of a batch; otherwise null: use api/explain."""
    error: str | None
    score: float | None
    decision: str | None
    status: RowStatus


class FeatureAnswer(Answer):
    """A feature by name."""

    name: str
    column: int


class FeaturesAnswer(Answer):
    """The features whose names match the query."""

    features: list[FeatureAnswer]


class HealthAnswer(Answer):
    """The state of the server."""

    status: Literal["ok"]
    version: str
    """The version of butfor."""
    model: str
    """The model's version, a fingerprint of its content, as in the header Butfor-Model of every answer."""
    reload_error: str | None
    """Why the model could not be reloaded, if that failed the last time."""
    workers: int
    busy: int
    waiting: int


class LiveAnswer(Answer):
    """The server runs."""

    status: Literal["live"]


class ReadyAnswer(Answer):
    """Requests would be answered now."""

    status: Literal["ready"]
    detail: str | None
    """That the model could not be reloaded, so that an earlier one answers."""


class ProblemAnswer(Answer):
    """What went wrong (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    """What was expected, what was received, what to do."""
