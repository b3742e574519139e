"""The schemas of requests: every field with its type and limits."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from butfor._web.limits import MOST_ALTERNATIVES, MOST_ROWS
from butfor._web.overview import RowStatus, Sort
from butfor.searches import SEARCHES

Number = Annotated[int, Field(ge=0, lt=2**31)]
"""The number of a row, a column or a unit, from 0."""
Key = str | Number
"""A feature, by its name or its column."""
Include = list[Literal["letter", "page"]]
Seconds = Annotated[float, Field(gt=0)]
Size = Annotated[int, Field(ge=1, lt=2**31)]
INCLUDE: Any = Field([], max_length=2, description="What else to write: a letter, a whole HTML page.")
SECONDS: Any = Field(None, description="Seconds of search at most; above the server's limit: that.")
SIZE: Any = Field(None, description="Features of an explanation at most; above the server's limit: that.")


def _checked_search(search: str) -> str:
    if search not in SEARCHES:
        raise ValueError(f"must be one of {', '.join(SEARCHES)}")
    return search


SearchName = Annotated[
    str, AfterValidator(_checked_search), Field(json_schema_extra={"enum": list(SEARCHES)})
]


Cell = str | int | float | bool | list[str] | None
"""A value in a column of a record."""
SUBJECTS = ("row", "text", "items", "record")
"""What a request may be about."""


class BaseRequest(BaseModel):
    """The base of requests about one row: it has exactly one of `row`, `text`, `items` and `record`."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        json_schema_extra={"oneOf": [{"required": [name]} for name in SUBJECTS]},
    )

    row: Number | SkipJsonSchema[None] = Field(
        None, description="The number of a row of the server's data.", examples=[0]
    )
    text: str | SkipJsonSchema[None] = Field(None, description="A text.", examples=["Claim your prize now"])
    items: dict[str, float] | list[Key] | SkipJsonSchema[None] = Field(
        None,
        description="A row: its active features by name or column, with their values, or a list of them.",
        examples=[{"Die Hard": 1}, ["Die Hard", 12]],
    )
    record: dict[str, Cell] | list[str] | SkipJsonSchema[None] = Field(
        None,
        description="A record: its values by column, or its items, for a model that takes records.",
        examples=[{"country": "US", "age": 40, "subject": "Refund, please", "visited": ["shop.example"]}],
    )
    protected: list[Key] = Field(
        [], description="Features that may not be part of an explanation.", examples=[["free"]]
    )

    @model_validator(mode="after")
    def _require_one_subject(self) -> Self:
        present = [name for name in SUBJECTS if getattr(self, name) is not None]
        if len(present) != 1:
            raise ValueError(
                "exactly one of row, text, items and record must be given, got "
                f"{' and '.join(present) or 'none'}"
            )
        return self

    def n_keys(self) -> int:
        """Return the number of items, cells and protected features."""
        cells = self.record or ()
        lists = [
            value for value in (cells.values() if isinstance(cells, dict) else ()) if isinstance(value, list)
        ]
        return len(self.items or ()) + len(self.protected) + len(cells) + sum(map(len, lists))

    def n_characters(self) -> int:
        """Return the length of the text, or of all texts of the record."""
        if self.record is None:
            return len(self.text or "")
        values = self.record.values() if isinstance(self.record, dict) else self.record
        return sum(len(value) for value in values if isinstance(value, str))


class ExplainRequest(BaseRequest):
    """A request for the smallest explanation."""

    search: SearchName | SkipJsonSchema[None] = Field(
        None, description="The search, by name; the server's own unless given."
    )
    max_size: Size | SkipJsonSchema[None] = SIZE
    max_seconds: Seconds | SkipJsonSchema[None] = SECONDS
    include: Include = INCLUDE


class ScoreRequest(BaseRequest):
    """A request for the score without some units."""

    removed: list[Key] = Field(
        [], description="The units to take away: their places among the units, or their names."
    )
    units: bool = Field(False, description="Whether to list all units of the row.")
    include: Include = INCLUDE

    def n_keys(self) -> int:
        """Return the number of items, protected features and removed units."""
        return super().n_keys() + len(self.removed)


class AlternativesRequest(BaseRequest):
    """A request for several explanations, none of which contains another, smallest first."""

    max_size: Size | SkipJsonSchema[None] = SIZE
    max_seconds: Seconds | SkipJsonSchema[None] = SECONDS
    limit: Annotated[int, Field(ge=1, le=MOST_ALTERNATIVES)] = Field(10, description="How many at most.")
    skip: Annotated[int, Field(ge=0, le=10_000)] = Field(0, description="How many to leave out first.")
    include: Include = INCLUDE


class CompareRequest(BaseRequest):
    """A request for the answers of several searches, side by side."""

    searches: list[SearchName] = Field(
        list(SEARCHES), min_length=1, max_length=len(SEARCHES), description="The searches, by name."
    )
    max_size: Size | SkipJsonSchema[None] = SIZE
    max_seconds: Seconds | SkipJsonSchema[None] = Field(
        None, description="Seconds for each search; together they take no longer than the server's limit."
    )


class RowsQuery(BaseModel):
    """Which rows to list, and in which order; all filters apply together."""

    model_config = ConfigDict(extra="forbid")

    page: int = Field(1, ge=1, lt=2**31, description="Which page, from 1.")
    per_page: int = Field(50, ge=1, le=MOST_ROWS, description="Rows on a page.")
    sort: Sort = Field("number", description="The order; - for the largest first.")
    q: str = Field(
        "", max_length=1000, description="Rows whose text, or the name of one of whose items, contains this."
    )
    decision: str | SkipJsonSchema[None] = Field(None, description="Rows with this decision.")
    status: RowStatus | SkipJsonSchema[None] = Field(
        None, description="Rows whose explanation has this status."
    )
    size: Annotated[int, Field(ge=0, lt=2**31)] | SkipJsonSchema[None] = Field(
        None, description="Rows whose explanation has this many features."
    )
    proven: bool | SkipJsonSchema[None] = Field(
        None, description="Rows whose explanation is, or is not, proven smallest."
    )
    feature: str | SkipJsonSchema[None] = Field(None, description="Rows whose explanation has this feature.")
