"""From the options that commands share to the Explainer that they ask for."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import typer

from butfor import SEARCHES, Budget, ButforError, Explainer, InputError, Search
from butfor.cli.printing import print_failure, print_unknown
from butfor.errors import UnknownNameWarning
from butfor.files import (
    Source,
    as_features,
    labels_of_groups,
    load_costs,
    load_groups,
    load_model,
    load_names,
)
from butfor.searches.settings import with_settings
from butfor.terminal import BAD_INPUT


@contextmanager
def bad_input() -> Iterator[None]:
    """Say what is wrong with the input, without a traceback, and end."""
    try:
        yield
    except ButforError as error:
        print_failure(error)
        raise typer.Exit(BAD_INPUT) from error


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a command was told about the model and how to explain it; the names are those of the options."""

    model: Path
    threshold: float | None
    target: str | None
    label: str | None
    removal: str | None
    unit: str | None
    mask_token: str
    groups: Path | None
    costs: Path | None
    protect: Sequence[str] | None
    search: str
    settings: Sequence[str] | None
    max_size: int
    max_seconds: float
    seed: int
    names: Path | None
    class_names: str | None
    trust_pickle: bool
    trust: Sequence[str] | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Take them out of all options of a command."""
        return cls(**{field.name: options[field.name] for field in fields(cls)})

    def load_model(self) -> Any:
        """Load the model, if it can be trusted."""
        return load_model(self.model, trust_pickle=self.trust_pickle, trusted_types=self.trust or ())

    def takes_texts(self, loaded: Any) -> bool:
        """Tell whether the model is asked about texts."""
        return Explainer(loaded, **self._deciding(), removal=self.removal).takes_texts

    def explainer(self, loaded: Any, *, texts: bool) -> Explainer:
        """Make the Explainer; whether there are texts to explain says how features are named."""
        with warnings.catch_warnings(record=True, category=UnknownNameWarning, action="always") as unknown:
            explainer = Explainer(
                loaded,
                **self._deciding(),
                **self._about_features(texts=texts),
                target=self.target,
                search=_search(self.search, self.settings or ()),
                budget=Budget(self.max_size, self.max_seconds),
                removal=self.removal,
                unit=self.unit,
                mask_token=self.mask_token,
                seed=self.seed,
            )
        for warning in unknown:
            print_unknown(str(warning.message))
        return explainer

    def _deciding(self) -> dict[str, Any]:
        return {
            "class_names": _class_names(self.class_names),
            "threshold": self.threshold,
            "label": self.label,
        }

    def _about_features(self, *, texts: bool) -> dict[str, Any]:
        """Read what is said of features; a number is a column, but in a text it is a word."""
        names = None if self.names is None else load_names(self.names)
        grouped = None if self.groups is None else load_groups(self.groups)
        costs = None if self.costs is None else load_costs(self.costs)
        about: dict[str, Any] = {"costs": costs, "protected": dict.fromkeys(self.protect or ())}
        if not texts:
            known = set(names or ())
            about = {
                key: as_features(given, known | labels_of_groups(grouped)) for key, given in about.items()
            }
            grouped = as_features(grouped, known)
        return {**about, "groups": grouped, "feature_names": names}


def require_match(explainer: Explainer, source: Source) -> None:
    """Raise unless the model takes what there is to explain."""
    if explainer.takes_texts and not source.holds_texts:
        raise InputError(
            "DATA must hold texts, as the model reads texts, got a matrix: give --text, .txt, .csv, .tsv or "
            ".parquet; or, to explain rows of a matrix, save the classifier without its vectoriser."
        )
    if source.holds_texts and not explainer.takes_texts:
        raise InputError(
            "MODEL must read texts to explain texts, got one that takes rows of numbers: save it as a "
            "pipeline with its vectoriser; or, if it reads texts in its own way, add --removal delete."
        )
    if source.n_columns is not None and explainer.n_features not in (None, source.n_columns):
        raise InputError(
            f"DATA must have {explainer.n_features:,} columns, as the model, got {source.n_columns:,}."
        )


def _class_names(given: str | None) -> list[str] | None:
    if given is None:
        return None
    return load_names(Path(given), "--class-names") if Path(given).is_file() else given.split(",")


def _search(name: str, settings: Iterable[str]) -> str | Search:
    """Give a search with its parameters set; an unknown one is the Explainer's to refuse."""
    return with_settings(SEARCHES[name], settings, argument="--set") if name in SEARCHES else name
