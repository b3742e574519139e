"""Names, groups and costs of features, from files."""

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from butfor._files.opening import opened
from butfor.errors import InputError


def load_names(path: Path, argument: str = "--names") -> list[str]:
    """Load names: one a line, or a JSON list in a .json file."""
    names = _json(argument, path) if _is_json(path) else _text(argument, path).splitlines()
    if not isinstance(names, list):
        raise InputError(f"{argument} must hold a list of names, got {path} with a {type(names).__name__}.")
    return [str(name) for name in names]


def load_groups(path: Path) -> Any:
    """Load groups of features: a CSV file with the columns feature and group, or JSON.

    JSON is an object from features to a group or a list of groups, or a list with a group for each column.
    In CSV a feature that comes again is in several groups.
    """
    if _is_json(path):
        return _mapping_or_list("--groups", path)
    groups: dict[str, list[str]] = {}
    for _, feature, group in _pairs("--groups", path, ["feature", "group"]):
        groups.setdefault(feature, []).append(group)
    return groups


def load_costs(path: Path) -> Any:
    """Load costs: a CSV file with the columns feature and cost, or JSON.

    JSON is an object from features to costs, or a list with a number for each column.
    """
    if _is_json(path):
        return _mapping_or_list("--costs", path)
    costs: dict[str, float] = {}
    for line, feature, cost in _pairs("--costs", path, ["feature", "cost"]):
        if feature in costs:
            raise InputError(f"--costs must name a feature once, got {feature!r} again in line {line:,}.")
        try:
            costs[feature] = float(cost)
        except ValueError:
            raise InputError(
                f"--costs must hold a number for each feature, got {cost!r} in line {line:,}."
            ) from None
    return costs


def labels_of_groups(groups: Any) -> set[str]:
    """Return the names of all groups in what `load_groups` returned.

    >>> sorted(labels_of_groups({"It": "horror", "Up": ["animation", "1995"]}))
    ['1995', 'animation', 'horror']
    """
    held = groups.values() if isinstance(groups, Mapping) else groups or ()
    return {str(label) for labels in held for label in (labels if isinstance(labels, list) else [labels])}


def as_features(by_key: Any, names: Collection[str]) -> Any:
    """Read the keys of a mapping as features: a whole number that is nobody's name is a column.

    >>> as_features({"7": 2.0, "1984": 3.0}, names=["1984"])
    {7: 2.0, '1984': 3.0}
    """
    if not isinstance(by_key, Mapping):
        return by_key
    known = frozenset(names)
    return {int(key) if key.isdecimal() and key not in known else key: by_key[key] for key in by_key}


def _pairs(argument: str, path: Path, header: list[str]) -> Iterator[tuple[int, str, str]]:
    """Read a CSV file of two columns: the number of each line, and its cells."""
    with opened(argument, path, newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            first = next(lines, [])
            if first != header:
                raise InputError(
                    f"{argument} must start with {','.join(header)}, got {','.join(first)!r:.80}."
                )
            for cells in lines:
                if len(cells) not in (0, 2):
                    raise InputError(
                        f"{argument} must have two cells a line, got {len(cells)} in line "
                        f"{lines.line_num:,}: quote a cell that holds a comma."
                    )
                if cells:
                    yield lines.line_num, cells[0], cells[1]
        except csv.Error as error:
            raise InputError(
                f"{argument} must be CSV, got {path}: line {lines.line_num:,}: {error}"
            ) from error


def _mapping_or_list(argument: str, path: Path) -> Any:
    content = _json(argument, path)
    if not isinstance(content, dict | list):
        raise InputError(
            f"{argument} must hold a JSON object from features, or a list with an entry for each column, "
            f"got {path} with a {type(content).__name__}."
        )
    return content


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _json(argument: str, path: Path) -> Any:
    try:
        return json.loads(_text(argument, path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{argument} must be JSON, got {path}: {error}") from error


def _text(argument: str, path: Path) -> str:
    with opened(argument, path) as file:
        return file.read()
