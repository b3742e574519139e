"""JSON lines with the features of a row in each: a list of them, or their values by feature."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from butfor._files.inputs.base import ColumnNames, ModelNeeds
from butfor._files.inputs.columns import WELL_KNOWN, require_distinct
from butfor._files.inputs.feature_matrix import FeatureSpace, distinct_names, n_columns_of
from butfor._files.inputs.json_records import (
    JsonLines,
    first_lines,
    json_id,
    json_lines,
    keys_of_lines,
    parsed_row,
    require_key,
    shown,
)
from butfor._files.inputs.locations import Files
from butfor._files.inputs.sequential import Parse, SequentialInput
from butfor.errors import InputError

LARGEST = sys.float_info.max


def open_json_features(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "JsonFeatures":
    """Choose the keys of ids, features and values by their names and what the first lines hold."""
    lines = first_lines(files)
    if lines and not any(isinstance(line, dict | list) for line in lines):
        raise InputError(
            "DATA must hold a JSON list of features a line, or an object, as the model takes rows of "
            f"numbers, got {files.paths[0]} with {shown(lines[0])}."
        )
    keys = keys_of_lines(lines)
    feature = _chosen("feature", columns.feature, lines, keys, list | dict)
    value = None if feature is None else _chosen("value", columns.value, lines, keys, list)
    known = (needs.names or ()) if feature is None else ()
    id, id_type = json_id(columns, lines, keys, besides=[*known, *filter(None, (feature, value))])
    require_distinct({"id": id, "feature": feature, "value": value})
    n_columns = n_columns_of(needs)
    names = None if needs.names is None else distinct_names(needs.names, n_columns)
    return JsonFeatures(files, id, id_type, feature, value, FeatureSpace(n_columns, names))


def _chosen(role: str, column: str | None, lines: list[Any], keys: list[str], kinds: Any) -> str | None:
    """Choose the key of features or values: the one that the user named, or the only well-known one."""
    if column is not None:
        if column:
            require_key(role, column, keys)
        return column or None
    found = [
        key
        for key in keys
        if key.lower() in WELL_KNOWN[role]
        and any(isinstance(line, dict) and isinstance(line.get(key), kinds) for line in lines)
    ]
    if len(found) > 1:
        raise InputError(
            f"--{role}-column must name the key of {role}s, got no name where "
            f"{' and '.join(map(repr, found))} may be it."
        )
    return found[0] if found else None


@dataclass(frozen=True)
class JsonFeatures(SequentialInput):
    """Lines in one of these forms; a feature that is not listed is 0.

    - `{"id": 1, "features": ["It", "Up"]}`, with or without a list of "values"; or `["It", "Up"]` alone;
    - `{"id": 1, "features": {"It": 2, "Up": 1}}`;
    - `{"id": 1, "It": 2, "Up": 1}`.
    """

    feature: str | None
    """The key of the features; None where the object itself, or the list, holds them."""
    value: str | None
    space: FeatureSpace
    holds_texts = False
    kind = "JSON lines"
    feature_names = None

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.id, self.feature, self.value)

    @contextmanager
    def _opened(self, file: int, byte: int = 0, line: int = 0) -> Iterator[tuple[JsonLines, Parse]]:
        columns = {name: column for column, name in enumerate(self.space.names or ())}
        values_of = partial(self._values, columns)
        with json_lines(self.files, file, byte, line) as lines:
            yield lines, partial(parsed_row, id=self.id, id_type=self.id_type, content_of=values_of)

    def _values(self, columns: Mapping[str, int], content: Any) -> dict[int, float]:
        """Return the value of each column that is listed."""
        values: dict[int, float] = {}
        for feature, value in self._pairs(content):
            column = self._column(feature, columns)
            if not isinstance(value, int | float):
                raise InputError(
                    f"the row must have numbers as values, got {shown(value)} for the feature {feature!r}."
                )
            if not -LARGEST <= value <= LARGEST:  # nan is not either
                raise InputError(
                    f"the row must have finite values, got {shown(value)} for the feature {feature!r}."
                )
            values[column] = values.get(column, 0.0) + value if self.value else float(value)
        return values

    def _pairs(self, content: Any) -> list[tuple[Any, Any]]:
        """Return the features of a line with their values."""
        held = content
        if self.feature is not None:
            if not isinstance(content, dict) or content.get(self.feature) is None:
                raise InputError(f"the row must be an object with {self.feature!r}, got {shown(content)}.")
            held = content[self.feature]
        if isinstance(held, dict):
            return [(key, value) for key, value in held.items() if self.feature or key != self.id]
        if not isinstance(held, list):
            raise InputError(f"the row must have a list or an object of features, got {shown(held)}.")
        if self.value is None:
            return [(feature, 1.0) for feature in held]
        values = content.get(self.value)
        if not isinstance(values, list):
            raise InputError(f"the row must have a list in {self.value!r}, got {shown(values)}.")
        if len(values) != len(held):
            raise InputError(
                f"the row must have as many values as features, got {len(values)} and {len(held)}."
            )
        return list(zip(held, values, strict=True))

    def _column(self, feature: Any, columns: Mapping[str, int]) -> int:
        """Return the column of a feature: a name, or a number that is nobody's name."""
        if isinstance(feature, str) and feature in columns:
            return columns[feature]
        if isinstance(feature, str) and feature.isdecimal():
            feature = int(feature)
        if isinstance(feature, int) and not isinstance(feature, bool):
            last = self.space.n_columns - 1
            if not 0 <= feature <= last:
                raise InputError(f"the row must have features from 0 to {last:,}, got {feature}.")
            return feature
        if isinstance(feature, str) and self.space.names is None:
            raise InputError(
                "the row must have features by their columns, as neither the model nor --names names them, "
                f"got {shown(feature)}."
            )
        raise InputError(f"the row must have features that --names holds, got {shown(feature)}.")

    def _stacked(self, content: list[Any]) -> Any:
        from scipy import sparse

        rows = [row or {} for row in content]
        starts = np.cumsum([0, *map(len, rows)])
        columns = np.array([column for row in rows for column in row], dtype=np.int64)
        values = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        X = sparse.csr_matrix((values, columns, starts), shape=(len(rows), self.space.n_columns))
        X.sort_indices()
        return X
