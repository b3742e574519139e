"""For data that lives in Spark: the rows of a data frame, explained where they are."""

import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from butfor import Explainer, InputError
from butfor.batch.chunks import explain_rows
from butfor.batch.inputs import Rows
from butfor.batch.inputs.base import IdType
from butfor.batch.inputs.columns import Chosen
from butfor.batch.inputs.cursor import Selection
from butfor.batch.inputs.features import Builder, Space, space_of
from butfor.batch.inputs.ids import ids_of, missing_id
from butfor.batch.inputs.lists import add_lists
from butfor.batch.inputs.locations import Files
from butfor.batch.inputs.texts import texts_of
from butfor.batch.outputs import schema, table
from butfor.checks import require_count
from butfor.render.extras import optional

WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBER = re.compile(r"tinyint|smallint|int|bigint|float|double|boolean|decimal\(.*\)")
SPARK_TYPES = {
    "int32": "int",
    "int64": "bigint",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "list<item: string>": "array<string>",
    "list<item: int32>": "array<int>",
}
"""What Spark calls the types of a part's columns."""


def explain_frame(
    df: Any,
    explainer: Explainer,
    *,
    id: str,
    features: str | None = None,
    values: str | None = None,
    text: str | None = None,
    only_positive: bool = False,
    batch_rows: int = 5_000,
) -> Any:
    """Explain the rows of a Spark data frame; gives one with the columns that `butfor batch` writes.

    A row has an `id` (a whole number or a string) and either a list of its `features` (columns of the matrix,
    or names), with a list of their `values` unless each is 1, or a `text`. As with any transformation nothing
    is done before the result is asked for. A row that cannot be explained has the status "error" and says
    why; `only_positive` leaves negative rows out. At most `batch_rows` rows are explained together, or what
    `spark.sql.execution.arrow.maxRecordsPerBatch` says if that is less.

    Where each feature has a record of its own, collect them first:

        rows = visits.groupBy("user").agg(collect_list(struct("page", "count")).alias("of"))
        explain_frame(rows.select("user", "of.page", "of.count"), explainer,
                      id="user", features="page", values="count")

    Executors need what this machine has: the same Python, the same butfor. A model that hangs or brings its
    process down is left to Spark; in `butfor batch` it costs one row.
    """
    optional("pyspark", extra="spark")
    require_count("batch_rows", batch_rows)
    if only_positive:
        explainer._inquiry.require_positive_class()
    types = dict(df.dtypes)
    kind = _require("id", id, types, "whole numbers or strings", _is_id)
    id_type: IdType = "int" if kind in WHOLE else "string"
    source: _Lists | _Texts = (
        _texts(id, id_type, text, features, types)
        if explainer.takes_texts
        else _lists(id, id_type, features, values, text, types, explainer)
    )
    load = _shipped(explainer, df.sparkSession)

    def explained(batches: Iterator[Any]) -> Iterator[Any]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # Spark runs as many of these as there are cores
            for batch in batches:
                for start in range(0, batch.num_rows, batch_rows):
                    rows = source.read(batch.slice(start, batch_rows))
                    outcomes = explain_rows(load(), rows, only_positive)
                    yield from table(rows.ids, outcomes, id_type).to_batches()

    return df.select(*source.columns).mapInArrow(explained, _spark_schema(id_type))


@dataclass(frozen=True)
class _Lists:
    """Rows as lists of features, in batches of Spark's."""

    chosen: Chosen
    space: Space

    @property
    def columns(self) -> list[str]:
        return [f"`{name}`" for name in self.chosen.names]

    def read(self, batch: Any) -> Rows:
        chosen = self.chosen
        batch = Selection(Files(()), tuple(chosen.names), len(batch), chosen.value).plain(batch)
        ids, missing = _ids(batch, str(chosen.id), chosen.id_type)
        builder = Builder(self.space, chosen, missing)
        values = None if chosen.value is None else batch.column(chosen.value)
        add_lists(builder, 0, batch.column(chosen.feature), values)
        return Rows(ids, builder.matrix(len(ids)), builder.errors)


@dataclass(frozen=True)
class _Texts:
    """Rows as texts, in batches of Spark's."""

    id: str
    id_type: IdType
    text: str

    @property
    def columns(self) -> list[str]:
        return [f"`{name}`" for name in (self.id, self.text)]

    def read(self, batch: Any) -> Rows:
        ids, errors = _ids(batch, self.id, self.id_type)
        cells = texts_of(batch.column(self.text), self.text)
        for row, cell in enumerate(cells):
            if isinstance(cell, InputError):
                errors.setdefault(row, str(cell))
        return Rows(ids, ["" if row in errors else cell for row, cell in enumerate(cells)], errors)


def _ids(batch: Any, id: str, id_type: IdType) -> tuple[list[Any], dict[int, str]]:
    ids = ids_of(batch.column(id), id_type)
    return ids, {row: missing_id(id) for row, each in enumerate(ids) if each is None}


def _lists(
    id: str,
    id_type: IdType,
    features: str | None,
    values: str | None,
    text: str | None,
    types: dict[str, str],
    explainer: Explainer,
) -> _Lists:
    if text is not None:
        raise InputError(
            f"text must not be given for a model of rows of numbers, got {text!r}: use features."
        )
    kind = _require("features", features, types, "lists of columns (whole numbers) or of names", _is_list)
    if values is not None:
        _require("values", values, types, "lists of numbers", _is_list_of_numbers)
    names = getattr(explainer._inquiry.reader, "names", None)
    known = None if names is None else names.given
    by_name = kind == "array<string>"
    if known is None and (by_name or explainer.n_features is None):
        raise InputError(
            "explainer must know its feature_names where df names its features, or where the model does not "
            "say how many there are: Explainer(model, feature_names=…)."
        )
    chosen = Chosen(id, str(features), values, id_type, by_name)
    return _Lists(chosen, space_of(chosen, explainer.n_features, known))


def _texts(id: str, id_type: IdType, text: str | None, features: str | None, types: dict[str, str]) -> _Texts:
    if features is not None:
        raise InputError(f"features must not be given for a model of texts, got {features!r}: use text.")
    _require("text", text, types, "texts", lambda kind: kind == "string")
    return _Texts(id, id_type, str(text))


def _require(
    argument: str, column: str | None, types: dict[str, str], what: str, fits: Callable[[str], bool]
) -> str:
    """Give the type of a column, if it is there and holds what it must."""
    known = ", ".join(f"{name!r} ({kind})" for name, kind in types.items())
    if column not in types:
        raise InputError(f"{argument} must name a column of df ({known}), got {column!r}.")
    if not fits(types[column]):
        raise InputError(f"{argument} must hold {what}, got {column!r} of {types[column]}: cast it.")
    return types[column]


def _is_id(kind: str) -> bool:
    return kind in (*WHOLE, "string")


def _is_list(kind: str) -> bool:
    return kind in [f"array<{each}>" for each in (*WHOLE, "string")]


def _is_list_of_numbers(kind: str) -> bool:
    return kind.startswith("array<") and NUMBER.fullmatch(kind[6:-1]) is not None


def _spark_schema(id_type: IdType) -> str:
    """Give the columns of a part as Spark writes them.

    >>> _spark_schema("int")[:54]
    '`id` bigint, `status` string, `features` array<string>'
    """
    return ", ".join(f"`{field.name}` {SPARK_TYPES[str(field.type)]}" for field in schema(id_type))


_loaded: dict[str, Explainer] = {}
"""The explainer that this process was asked for last, so that it is unpacked once and not for every task."""


def _shipped(explainer: Explainer, session: Any) -> Callable[[], Explainer]:
    """Send an explainer to all executors once; give what fetches it there."""
    content = optional("pyspark.cloudpickle", extra="spark").dumps(explainer)
    sent, key = session.sparkContext.broadcast(content), uuid4().hex

    def load() -> Explainer:
        return _unpacked(key, sent)

    return load


def _unpacked(key: str, sent: Any) -> Explainer:
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = pickle.loads(sent.value)
    return _loaded[key]
