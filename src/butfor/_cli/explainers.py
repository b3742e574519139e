"""From the options that commands share to an Explainer, and to the rows that it explains."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from butfor import SEARCHES, Budget, Explainer, InputError, Search
from butfor._cli.failing import print_unknown
from butfor._files import (
    ColumnNames,
    as_features,
    labels_of_groups,
    load_costs,
    load_groups,
    load_model,
    load_names,
    open_rows,
)
from butfor._files.zips import MAX_UNPACKED
from butfor.errors import UnknownNameWarning
from butfor.searches.shared.settings import with_settings


@dataclass(frozen=True, kw_only=True)
class ExplainerOptions:
    """The options of a command on the model and how to explain it; fields have the names of the options."""

    model: Path
    threshold: float | None
    target: str | None
    label: str | None
    removal: str | None
    unit: str | None
    mask_token: str
    absent: Sequence[str] | None
    kinds: Sequence[str] | None
    groups: Path | None
    costs: Path | None
    protect: Sequence[str] | None
    search: str
    settings: Sequence[str] | None
    max_size: int
    max_seconds: float
    max_scorings: int | None
    seed: int
    names: Path | None
    class_names: str | None
    trust_pickle: bool
    trust: Sequence[str] | None
    max_unpacked: float = MAX_UNPACKED

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Pick them out of all options of a command."""
        return cls(**{field.name: options[field.name] for field in fields(cls) if field.name in options})

    def load_model(self) -> Any:
        """Load the model, if it can be trusted; whatever can be checked before that is."""
        _ = self._budget, self._search, self._deciding, self._about_records, self._files
        return load_model(
            self.model,
            trust_pickle=self.trust_pickle,
            trusted_types=self.trust or (),
            max_unpacked=self.max_unpacked,
        )

    def explainer(
        self, loaded: Any, data: Sequence[str] = (), columns: ColumnNames | None = None
    ) -> Explainer:
        """Return the Explainer; features that neither the model nor the user names are called as in DATA."""
        alone = self._model_alone(loaded)
        is_named = self.names is not None or alone.feature_names is not None
        by_word = alone.takes_texts or alone.takes_records
        if not data or by_word or is_named:
            return self._explainer(loaded, by_word)
        opened = open_rows(alone, data[:1], columns, self.max_unpacked)
        return self._explainer(loaded, False, opened.feature_names)

    def _model_alone(self, loaded: Any) -> Explainer:
        """Return an Explainer that knows what the model reads, and nothing about features."""
        return Explainer(loaded, **self._deciding, removal=self.removal, **self._about_records)

    def _explainer(self, loaded: Any, by_word: bool, names_in_data: Sequence[str] | None = None) -> Explainer:
        with warnings.catch_warnings(record=True, category=UnknownNameWarning, action="always") as unknown:
            explainer = Explainer(
                loaded,
                **self._deciding,
                **self._about_features(by_word, names_in_data),
                **self._about_records,
                target=self.target,
                search=self._search,
                budget=self._budget,
                removal=self.removal,
                unit=self.unit,
                mask_token=self.mask_token,
                seed=self.seed,
            )
        for warning in unknown:
            print_unknown(str(warning.message))
        return explainer

    @cached_property
    def _budget(self) -> Budget:
        return Budget(self.max_size, self.max_seconds, self.max_scorings)

    @cached_property
    def _search(self) -> Search:
        """The search with its parameters set."""
        if self.search not in SEARCHES:
            raise InputError(f"--search must be one of {', '.join(SEARCHES)}, got {self.search!r}.")
        return with_settings(SEARCHES[self.search], self.settings or (), argument="--set")

    @cached_property
    def _deciding(self) -> dict[str, Any]:
        return {
            "class_names": _class_names(self.class_names),
            "threshold": self.threshold,
            "label": self.label,
        }

    @cached_property
    def _about_records(self) -> dict[str, Any]:
        """What is said of the columns of records."""
        return {"absent": _absent(self.absent or ()), "kinds": _pairs("--kind", self.kinds or ()) or None}

    @cached_property
    def _files(self) -> tuple[Any, Any, Any]:
        """Names, groups and costs of features, where files have them."""
        return (
            None if self.names is None else load_names(self.names),
            None if self.groups is None else load_groups(self.groups),
            None if self.costs is None else load_costs(self.costs),
        )

    def _about_features(self, by_word: bool, names_in_data: Sequence[str] | None) -> dict[str, Any]:
        """Return names, groups and costs; a number is a column, but in a text or a record it is a name."""
        names, grouped, costs = self._files
        names = names_in_data if names is None else names
        about: dict[str, Any] = {"costs": costs, "protected": dict.fromkeys(self.protect or ())}
        if not by_word:
            known = set(names or ())
            about = {
                key: as_features(by_feature, known | labels_of_groups(grouped))
                for key, by_feature in about.items()
            }
            grouped = as_features(grouped, known)
        return {**about, "groups": grouped, "feature_names": names}


def _absent(values: Sequence[str]) -> Any:
    """Return what stands for absence: one number for all columns of numbers, or values by column."""
    if len(values) == 1 and "=" not in values[0]:
        number = _value(values[0])
        if isinstance(number, str):
            raise InputError(f"--absent must be COLUMN=VALUE, or a number, got {values[0]!r}.")
        return number
    return {column: _value(value) for column, value in _pairs("--absent", values).items()} or None


def _value(written: str) -> Any:
    """Return a value as it is written on a command line: nothing, a number, or a string."""
    if not written:
        return None
    for number in (int, float):
        try:
            return number(written)
        except ValueError:
            continue
    return written


def _pairs(option: str, values: Sequence[str]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise InputError(f"{option} must be of the form COLUMN=…, got {value!r}.")
    return dict(value.split("=", 1) for value in values)


def columns_of(options: Mapping[str, Any]) -> ColumnNames:
    """Return the columns that options of a command name."""
    return ColumnNames(*(options[f"{role}_column"] for role in ("id", "feature", "value", "text")))


def require_no_columns(columns: ColumnNames) -> None:
    """Raise where an option names a column, and there is no DATA."""
    for role, name in vars(columns).items():
        if name is not None:
            raise InputError(f"--{role}-column must be left out where there is no DATA.")


def _class_names(option: str | None) -> list[str] | None:
    if option is None:
        return None
    return load_names(Path(option), "--class-names") if Path(option).is_file() else option.split(",")
