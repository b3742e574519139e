"""Explain the rows of a Spark data frame on its executors."""

import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from butfor import Explainer, InputError
from butfor._checks import require_count
from butfor._extras import optional
from butfor._files.inputs import InputRows
from butfor._files.inputs.base import IdType, ModelNeeds
from butfor._files.inputs.columns import ChosenColumns
from butfor._files.inputs.feature_matrix import FeatureSpace, MatrixBuilder, space_of
from butfor._files.inputs.formats import needs_of
from butfor._files.inputs.ids import ids_of, missing_id
from butfor._files.inputs.locations import Files
from butfor._files.inputs.parquet_cursor import ParquetSelection
from butfor._files.inputs.parquet_lists import add_lists
from butfor._files.inputs.parquet_table import content_of
from butfor._files.inputs.parquet_texts import texts_of
from butfor._files.inputs.record_columns import Columns, columns_of_table
from butfor.batch.chunks import explain_rows
from butfor.batch.outputs import schema, table

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
"""The names that Spark has for the Arrow types of a part's columns."""


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
    """Explain the rows of a Spark data frame.

    Like any transformation it is lazy: Spark does the work when the result is used. Executors need the same
    versions of Python and butfor as this machine. If the model hangs or kills its process, Spark has to
    deal with it; `run_batch` loses only that row.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows, one in each record.
    explainer : Explainer
        The explainer. It is sent to every executor once.
    id : str
        The column with the ids of the rows: whole numbers or strings.
    features : str, optional
        For models of numbers: the column with the list of a row's active features, as columns of the matrix
        or as names.
    values : str, optional
        The column with the list of the values of these features. By default each value is 1.
    text : str, optional
        For models of texts: the column with the text.
    only_positive : bool, default False
        Whether to leave out rows that the model decides negatively.
    batch_rows : int, default 5000
        Largest number of rows that are explained together. Spark's own setting
        `spark.sql.execution.arrow.maxRecordsPerBatch` may lower it.

    Returns
    -------
    pyspark.sql.DataFrame
        One record for each row, with the columns that `run_batch` writes. A row that cannot be explained has
        the status "error" and a message in the column `error`.

    Raises
    ------
    InputError
        If a column is missing or has the wrong type, or if pyspark is not installed.

    Examples
    --------
    If each feature has a record of its own, collect the features of a row first::

        rows = visits.groupBy("user").agg(collect_list(struct("page", "count")).alias("of"))
        why = explain_frame(
            rows.select("user", "of.page", "of.count"), explainer, id="user", features="page", values="count"
        )
    """
    optional("pyspark", extra="spark")
    require_count("batch_rows", batch_rows)
    if only_positive:
        explainer.require_positive_class()
    types = dict(df.dtypes)
    kind = _require("id", id, types, "whole numbers or strings", _is_id)
    id_type: IdType = "int" if kind in WHOLE else "string"
    source: _SparkLists | _SparkTexts | _SparkRecords
    if explainer.takes_records:
        source = _records(id, id_type, text or features or values, types, explainer)
    elif explainer.takes_texts:
        source = _texts(id, id_type, text, features, types)
    else:
        source = _lists(id, id_type, features, values, text, types, explainer)
    load = _shipped(explainer, df.sparkSession)

    def explained(batches: Iterator[Any]) -> Iterator[Any]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # Spark runs one of these on each core
            for batch in batches:
                for start in range(0, batch.num_rows, batch_rows):
                    rows = source.read(batch.slice(start, batch_rows))
                    outcomes = explain_rows(load(), rows, only_positive)
                    yield from table(rows.ids, outcomes, id_type).to_batches()

    return df.select(*source.columns).mapInArrow(explained, _spark_schema(id_type))


@dataclass(frozen=True)
class _SparkRecords:
    """Reads records from Spark's batches, by the names of their columns."""

    id: str
    id_type: IdType
    known: Columns
    form: str

    @property
    def columns(self) -> list[str]:
        return [f"`{name}`" for name in (self.id, *(name for name, _ in self.known))]

    def read(self, batch: Any) -> InputRows:
        names = (self.id, *(name for name, _ in self.known))
        batch = ParquetSelection(Files(()), names, len(batch)).plain(batch)
        ids, missing = _ids(batch, self.id, self.id_type)
        return InputRows(ids, content_of([batch], self.known, self.form), dict(missing))


def _records(
    id: str, id_type: IdType, given: str | None, types: dict[str, str], explainer: Explainer
) -> _SparkRecords:
    if given is not None:
        raise InputError(
            f"features, values and text must not be given for a model that takes records, got {given!r}: its "
            "columns are found by their names."
        )
    needs = needs_of(explainer)
    assert needs is not None
    return _SparkRecords(id, id_type, columns_of_table("df", list(types), id, needs, None), needs.form)


@dataclass(frozen=True)
class _SparkLists:
    """Reads rows from Spark's batches of lists of features."""

    chosen: ChosenColumns
    space: FeatureSpace

    @property
    def columns(self) -> list[str]:
        return [f"`{name}`" for name in self.chosen.names]

    def read(self, batch: Any) -> InputRows:
        chosen = self.chosen
        numbers = frozenset(filter(None, [chosen.value]))
        batch = ParquetSelection(Files(()), tuple(chosen.names), len(batch), numbers).plain(batch)
        ids, missing = _ids(batch, str(chosen.id), chosen.id_type)
        builder = MatrixBuilder(self.space, chosen, missing)
        values = None if chosen.value is None else batch.column(chosen.value)
        add_lists(builder, 0, batch.column(chosen.feature), values)
        return InputRows(ids, builder.matrix(len(ids)), builder.errors)


@dataclass(frozen=True)
class _SparkTexts:
    """Reads rows from Spark's batches of texts."""

    id: str
    id_type: IdType
    text: str

    @property
    def columns(self) -> list[str]:
        return [f"`{name}`" for name in (self.id, self.text)]

    def read(self, batch: Any) -> InputRows:
        ids, errors = _ids(batch, self.id, self.id_type)
        cells = texts_of(batch.column(self.text), self.text)
        for row, cell in enumerate(cells):
            if isinstance(cell, InputError):
                errors.setdefault(row, str(cell))
        return InputRows(ids, ["" if row in errors else cell for row, cell in enumerate(cells)], errors)


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
) -> _SparkLists:
    if text is not None:
        raise InputError(
            f"text must not be given for a model of rows of numbers, got {text!r}: use features."
        )
    kind = _require("features", features, types, "lists of columns (whole numbers) or of names", _is_list)
    if values is not None:
        _require("values", values, types, "lists of numbers", _is_list_of_numbers)
    known = explainer.feature_names
    by_name = kind == "array<string>"
    if known is None and (by_name or explainer.n_features is None):
        raise InputError(
            "explainer must know its feature_names where df names its features, or where the model does not "
            "say how many there are: Explainer(model, feature_names=…)."
        )
    chosen = ChosenColumns(id, str(features), values, id_type, by_name)
    return _SparkLists(chosen, space_of(chosen, ModelNeeds(False, explainer.n_features, known)))


def _texts(
    id: str, id_type: IdType, text: str | None, features: str | None, types: dict[str, str]
) -> _SparkTexts:
    if features is not None:
        raise InputError(f"features must not be given for a model of texts, got {features!r}: use text.")
    _require("text", text, types, "texts", lambda kind: kind == "string")
    return _SparkTexts(id, id_type, str(text))


def _require(
    argument: str, column: str | None, types: dict[str, str], what: str, fits: Callable[[str], bool]
) -> str:
    """Return the type of a column. Raise an InputError if it is missing or its type does not fit."""
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
    """Return the schema of a part as Spark writes it.

    >>> _spark_schema("int")[:54]
    '`id` bigint, `status` string, `features` array<string>'
    """
    return ", ".join(f"`{field.name}` {SPARK_TYPES[str(field.type)]}" for field in schema(id_type))


_loaded: dict[str, Explainer] = {}
"""The last explainer that this process used, so that it is not unpickled again for every task."""


def _shipped(explainer: Explainer, session: Any) -> Callable[[], Explainer]:
    """Broadcast an explainer to all executors; return the function that loads it there."""
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
