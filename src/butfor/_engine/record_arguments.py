"""The arguments of an Explainer that are about records: kinds of columns, and what stands for absence."""

from collections.abc import Collection, Mapping
from typing import Any, get_args

from butfor._readers import RecordReader
from butfor._readers.costs import checked_costs
from butfor.errors import InputError
from butfor.models import RecordModel
from butfor.models.records import Absence, Kind, as_absence, is_missing
from butfor.models.row_kind import holds_numbers, is_frame

KINDS = get_args(Kind)
AVERAGES = ("median", "mean")


def record_reader(
    model: RecordModel,
    *,
    removal: str | None,
    unit: str | None,
    mask_token: str,
    kinds: Any,
    absent: Any,
    reference: Any,
    protected: Collection[Any],
    groups: Any,
    costs: Any,
    feature_names: Any,
) -> RecordReader:
    """Return the reader of the records that a model takes."""
    if removal == "zero":
        raise InputError(
            'removal must be "delete" or "mask" for a model that takes records, got "zero": what is removed '
            "is removed from the record itself."
        )
    by_column, of_numbers = _absences(absent, reference)
    reader = RecordReader(
        model,
        removal="mask" if removal == "mask" else "delete",
        words="word" if unit in (None, "column") else str(unit),
        mask=mask_token,
        kinds=_kinds(kinds),
        absent=by_column,
        absent_numbers=of_numbers,
        groups=named_groups(groups, unit, model),
        costs=named_costs(costs),
        column_names=_column_names(feature_names, model),
    )
    for argument, names in (("kinds", kinds), ("absent", absent), ("costs", costs), ("groups", groups)):
        for name in names if isinstance(names, Mapping) else ():
            reader.checked(argument, name)
    return reader.protecting(protected)


def _column_names(names: Any, model: RecordModel) -> tuple[str, ...] | None:
    if names is None:
        return None
    if model.form != "array":
        raise InputError(
            "feature_names must not be given for a model that takes records: their columns have names."
        )
    n_columns = len(model.columns or ())
    if isinstance(names, str) or len(names) < n_columns:
        raise InputError(
            f"feature_names must be a sequence of names, one for each column, got {names!r:.60}."
        )
    return tuple(map(str, names))


def _kinds(kinds: Any) -> dict[Any, Kind]:
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping) or not set(kinds.values()) <= set(KINDS):
        raise InputError(f"kinds must be a mapping from columns to {', '.join(KINDS)}, got {kinds!r:.80}.")
    return dict(kinds)


def _absences(absent: Any, reference: Any) -> tuple[dict[Any, Absence], Absence | None]:
    """Return what stands for absence in columns, and in all other columns of numbers."""
    if isinstance(absent, Mapping):
        return {column: _absence(column, value, reference) for column, value in absent.items()}, None
    if absent is None or isinstance(absent, str):
        if absent in AVERAGES:
            return {
                column: _average(column, absent, reference) for column in _numbers_in(reference, absent)
            }, None
        if absent is None:
            return {}, None
    elif isinstance(absent, int | float) and not isinstance(absent, bool) and not is_missing(absent):
        return {}, as_absence(absent)
    raise InputError(
        "absent must be a mapping from columns to what stands for absence in them, such as {'age': 40}, or a "
        f'number for all columns of numbers, or "median" or "mean" with reference data, got {absent!r:.60}.'
    )


def _absence(column: Any, value: Any, reference: Any) -> Absence:
    if (
        isinstance(value, str)
        and value in AVERAGES
        and column in _numbers_in(reference, value, required=False)
    ):
        return _average(column, value, reference)
    return as_absence(value)


def _numbers_in(reference: Any, average: str, *, required: bool = True) -> list[Any]:
    """Return the columns of numbers in the reference data."""
    if reference is None and not required:
        return []
    if not is_frame(reference):
        raise InputError(
            f'reference must be a frame, of which absent="{average}" is taken, got '
            f"{type(reference).__name__}."
        )
    return [
        column
        for column, dtype in zip(reference.columns, reference.dtypes, strict=True)
        if holds_numbers(dtype) and "bool" not in str(dtype).lower()
    ]


def _average(column: Any, average: str, reference: Any) -> Absence:
    value = float(getattr(reference[column], average)())
    return as_absence(int(value) if value.is_integer() else value)


def named_groups(groups: Any, unit: str | None, model: RecordModel) -> Any:
    """Return groups of columns and parts by name, or a function of parts."""
    if unit == "column":
        if groups is not None:
            raise InputError('groups must not be given with unit="column", which makes each column a unit.')
        return {str(column): str(column) for column in model.columns} if model.columns else _column_of
    if groups is None or callable(groups):
        return groups
    if not isinstance(groups, Mapping):
        raise InputError(
            "groups must be a mapping from columns or parts to groups, or a function of parts, for a model "
            f"that takes records, got {type(groups).__name__}."
        )
    return {str(name): str(group) for name, group in groups.items() if not is_missing(group)}


def _column_of(part: str) -> str:
    """Return the column in the name of a part."""
    for sign in (" = ", ": "):
        if sign in part and not part.startswith("'"):
            return part.split(sign)[0]
    return part.rsplit(" in ", 1)[-1]


def named_costs(costs: Any) -> dict[str, float] | None:
    """Return costs by name, whatever its case."""
    if costs is None:
        return None
    return {str(key).casefold(): cost for key, cost in checked_costs(costs).items()}
