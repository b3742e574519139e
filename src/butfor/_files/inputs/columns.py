"""Which column of a table is what: as the user says, by well-known names, or by what is left."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butfor._files.inputs.arrow_types import (
    holds_texts,
    is_feature,
    is_fraction,
    is_id,
    is_int64,
    is_list,
    is_number,
)
from butfor._files.inputs.base import ColumnNames, IdType
from butfor.errors import InputError

Kinds = Mapping[str, Any]
"""Columns that may play a role, and the types of what they hold."""

WELL_KNOWN = {
    "id": {"id", "row", "row_id", "user", "user_id", "customer", "customer_id", "document_id"},
    "feature": {"feature", "features", "column", "columns", "item", "items", "item_id", "word", "words"},
    "value": {"value", "values", "count", "counts", "weight", "weights", "rating", "ratings"},
}
FITS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (is_id, "whole numbers or strings"),
    "feature": (is_feature, "columns of the matrix (whole numbers) or names (strings)"),
    "value": (is_number, "numbers"),
}


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read. No id means row numbers; no value means that each feature is 1."""

    id: str | None
    feature: str
    value: str | None
    id_type: IdType
    by_name: bool
    """Whether features are names, not columns of a matrix."""

    @property
    def names(self) -> list[str]:
        """The columns that must be read."""
        return [name for name in (self.id, self.feature, self.value) if name is not None]


def choose_columns(columns: ColumnNames, schema: Any) -> ChosenColumns:
    """Choose the columns of a table, of records in long form or of lists.

    A column that no option names is the only one of a well-known name: "id", "user_id", …; "feature",
    "item", …; "value", "count", …. If there is none such, it is the only one left whose type fits: whole
    numbers or strings for features and, in long form, for ids; fractions for values. A table of lists need
    have no ids; then row numbers are. Where several columns may be meant, the user must name one.
    """
    lists = {field.name: field.type.value_type for field in schema if is_list(field.type)}
    single = {field.name: field.type for field in schema if not is_list(field.type)}
    among: dict[str, Kinds] = {"id": single, "feature": lists or single, "value": lists or single}
    claimed = {role: name for role in among if (name := getattr(columns, role)) is not None}
    _require_fit(claimed, among, schema)
    for role, kinds in among.items():
        if role not in claimed and (known := _known(role, kinds, claimed)):
            claimed[role] = _only(role, known, schema)
    if "id" not in claimed and not lists:
        claimed["id"] = _only("id", _left(is_feature, single, claimed), schema)
    if "feature" not in claimed:
        claimed["feature"] = _only("feature", _left(is_feature, among["feature"], claimed), schema)
    if "value" not in claimed:
        claimed["value"] = _value_left(_left(is_number, among["value"], claimed))
    _require_fit(claimed, among, schema)
    return ChosenColumns(
        id=claimed.get("id"),
        feature=claimed["feature"],
        value=claimed["value"] or None,
        id_type=id_type(schema, claimed.get("id")),
        by_name=holds_texts(among["feature"][claimed["feature"]]),
    )


def choose_id(columns: ColumnNames, schema: Any, besides: Sequence[str | None] = ()) -> str | None:
    """Choose the column of ids of a table with a record for each row: by name alone, or none."""
    single = {field.name: field.type for field in schema}
    known = _known("id", single, {name: name for name in (columns.text, *besides) if name})
    name = _only("id", known, schema) if columns.id is None and known else columns.id
    if name is not None:
        _require_fit({"id": name}, {"id": single}, schema)
    return name


def known_id(names: Sequence[str], besides: Sequence[str | None] = ()) -> str | None:
    """Return the only column whose name is a well-known one for ids, if there is any."""
    known = [name for name in names if name.lower() in WELL_KNOWN["id"] and name not in besides]
    if len(known) > 1:
        raise InputError(
            "--id-column must name the column of ids, got no name where "
            f"{' and '.join(map(repr, known))} may be it."
        )
    return known[0] if known else None


def require_distinct(claimed: Mapping[str, str | None]) -> None:
    """Raise where one column is to be two things."""
    for role, name in claimed.items():
        for other in claimed:
            if other != role and name and claimed[other] == name:
                raise InputError(f"--{role}-column and --{other}-column must differ, got {name!r} for both.")


def require_columns(path: str, names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise unless a file has each of these columns once."""
    counts = Counter(names)
    for name in columns:
        if counts[name] != 1:
            raise InputError(f"DATA must have one column {name!r} in each file, got {path} without.")


def id_type(schema: Any, id: str | None) -> IdType:
    """Return the type of the ids: whole numbers of 64 bits at most, or strings."""
    return "int" if id is None or is_int64(schema.field(id).type) else "string"


def _known(role: str, kinds: Kinds, claimed: Mapping[str, str]) -> Kinds:
    return {
        name: kind
        for name, kind in kinds.items()
        if name.lower() in WELL_KNOWN[role] and name not in claimed.values()
    }


def _left(fits: Callable[[Any], bool], kinds: Kinds, claimed: Mapping[str, str]) -> Kinds:
    return {name: kind for name, kind in kinds.items() if fits(kind) and name not in claimed.values()}


def _only(role: str, kinds: Kinds, schema: Any) -> str:
    if len(kinds) != 1:
        which = " and ".join(map(repr, kinds)) or "none"
        raise InputError(
            f"--{role}-column must name the column of {role}s, got no name where {which} may be it. "
            f"The columns of DATA are {_listed(schema)}."
        )
    return next(iter(kinds))


def _value_left(kinds: Kinds) -> str:
    """Choose the column of values by its type; whole numbers may be anything, so the user must name them."""
    if not kinds:
        return ""
    if len(kinds) == 1 and is_fraction(*kinds.values()):
        return next(iter(kinds))
    raise InputError(
        '--value-column must name the column of values, or be "" where every feature counts as 1: got no '
        f"name where {' and '.join(map(repr, kinds))} may be it."
    )


def _require_fit(claimed: Mapping[str, str], among: Mapping[str, Kinds], schema: Any) -> None:
    require_distinct(claimed)
    for role, name in claimed.items():
        if name or role != "value":
            _require(role, name, among[role], schema)


def _require(role: str, name: str, kinds: Kinds, schema: Any) -> None:
    if schema.names.count(name) != 1:
        raise InputError(f"--{role}-column must name one column of DATA ({_listed(schema)}), got {name!r}.")
    fits, what = FITS[role]
    kind = schema.field(name).type
    if name not in kinds:
        form = "no lists" if is_list(kind) else "lists, as another column does"
        raise InputError(f"--{role}-column must hold {form}, got {name!r} of {kind}.")
    if not fits(kinds[name]):
        raise InputError(f"--{role}-column must hold {what}, got {name!r} of {kind}. Cast it.")


def _listed(schema: Any) -> str:
    return ", ".join(f"{field.name!r} ({field.type})" for field in schema)
