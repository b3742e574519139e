"""The workspace of `butfor serve --results`: the results of a batch, without its model."""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor import InputError
from butfor._extras import optional
from butfor._render.words import NOUNS
from butfor._web.overview import STATUSES, Overview
from butfor._web.row_features import RowFeatures
from butfor._web.served_rows import ITEMS_SHOWN, BoolArray, previewed
from butfor._web.stored import BatchResults, LoadedFile
from butfor._web.tasks import Wording
from butfor._web.workspace import UNNAMED, Workspace
from butfor.batch.folder import Folder
from butfor.batch.inventory import require_in_place
from butfor.batch.manifest import MANIFEST, Manifest
from butfor.batch.outputs import arrow
from butfor.batch.parts import part_name, unsealed

COLUMNS = ["id", "status", "features", "size", "lower_bound", "proven", "score", "threshold", "decision"]
ADDED = "survives_deletion"
"""A column that earlier versions of butfor did not write."""


def open_results(path: str, *, subject: str | None = None, decision: str | None = None) -> Workspace:
    """Return the workspace of a folder that `butfor batch --out` wrote; the run may be incomplete."""
    folder = Folder(path)
    manifest, file = _manifest(folder)
    results = _ResultsReader(folder, manifest)
    results.read_all()
    if not results.parts:
        raise InputError(f"--results must hold parts that can be read, got none in {path}.")
    ids = arrow().chunked_array(results.ids)
    rows = BatchRows(ids, results.row_features)
    overview = Overview(rows, results.classes, results.row_features)
    for part in results.parts:
        overview.fill(part.start, part.columns)
    parts = [(part.start, part.file) for part in results.parts]
    stored = BatchResults(file, parts, ids, manifest.about, results.classes, Wording(subject, decision))
    unit = stored.unit
    return Workspace(
        name="results",
        title=_title(manifest, len(rows), results.n_parts),
        kind="items" if unit in ("feature", "group") else "texts",
        classes=tuple(results.classes),
        threshold=results.threshold,
        unit=NOUNS[unit],
        overview=overview,
        stored=stored,
        model_version=_version(manifest),
        subject=subject,
        decision=decision,
    )


def _manifest(folder: Folder) -> tuple[Manifest, LoadedFile]:
    try:
        if MANIFEST not in folder.names():
            raise InputError(f"there is no {MANIFEST} in it")
        content = folder.read(MANIFEST)
        return Manifest.of(content, folder), LoadedFile.of(folder, MANIFEST, content)
    except (InputError, OSError) as error:
        raise InputError(
            f"--results must be a folder that butfor batch wrote to (its --out), got {folder.path}: {error}"
        ) from error


def _version(manifest: Manifest) -> str:
    """Return the fingerprint of the model; empty if what the manifest holds can be none."""
    version = str(manifest.about.get("model", ""))
    return version if re.fullmatch("[0-9a-f]{8,128}", version) else ""


def _classes(manifest: Manifest) -> list[str]:
    """Return the names of the classes; empty if the manifest holds only a digest of them."""
    named = manifest.about.get("class names")
    return list(named) if isinstance(named, list) else []


def _title(manifest: Manifest, n_rows: int, n_parts: int) -> str:
    if n_parts == manifest.n_chunks:
        return f"Results of a batch: {n_rows:,} rows"
    parts = f"{n_parts:,} of {manifest.n_chunks:,} parts"
    return f"Results of a batch that is not complete: {parts}, {n_rows:,} rows"


@dataclass(frozen=True, eq=False)
class _LoadedPart:
    """What an overview needs of a part."""

    file: LoadedFile
    start: int
    columns: dict[str, Any]


class _ResultsReader:
    """Reads all parts of a folder, one after the other.

    Parts that are damaged, belong to another run or are a copy of another part are skipped.
    """

    def __init__(self, folder: Folder, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.classes = _classes(manifest)
        self.n_parts = 0
        """All parts that could be read, including those without rows."""
        self.parts: list[_LoadedPart] = []
        self.ids: list[Any] = []
        self.row_features = RowFeatures()
        self.threshold: float | None = None
        self.n_rows = 0

    def read_all(self) -> None:
        """Read every part that can be read."""
        there = set(self.folder.names())
        for number in range(self.manifest.n_chunks):
            if part_name(number) in there:
                self._read(number)
        if not self.classes:
            self.classes = list(UNNAMED)

    def _read(self, number: int) -> None:
        pa, parquet = arrow(), optional("pyarrow.parquet", extra="batch")
        name = part_name(number)
        try:
            content = self.folder.read(name)
            if self.manifest.run:  # earlier versions wrote no run to compare with
                require_in_place(unsealed(content), self.manifest, number)
            known = parquet.read_schema(pa.BufferReader(content)).names
            wanted = [*COLUMNS, ADDED] if ADDED in known else COLUMNS
            table = parquet.read_table(pa.BufferReader(content), columns=wanted).combine_chunks()
            if ADDED not in known:
                table = table.append_column(ADDED, pa.nulls(table.num_rows, pa.bool_()))
        except (pa.ArrowException, OSError, KeyError, ValueError):
            return
        self.n_parts += 1
        if table.num_rows:
            self._add(LoadedFile.of(self.folder, name, content), table)

    def _add(self, file: LoadedFile, table: Any) -> None:
        pc = optional("pyarrow.compute", extra="batch")
        columns = {column: table[column].combine_chunks() for column in (*COLUMNS, ADDED)}
        thresholds = columns["threshold"].drop_null()
        if self.threshold is None and len(thresholds):
            self.threshold = thresholds[0].as_py()
        features = columns["features"]
        coded = pc.list_flatten(features).dictionary_encode()
        parents = pc.list_parent_indices(features).to_numpy()
        self.row_features.add_coded(
            self.n_rows + parents, coded.indices.to_numpy(), coded.dictionary.to_pylist()
        )
        self.ids.append(columns["id"])
        self.parts.append(_LoadedPart(file, self.n_rows, self._columns(columns)))
        self.n_rows += table.num_rows

    def _columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        score = columns["score"].fill_null(math.nan).to_numpy(zero_copy_only=False)
        return {
            "score": score,
            "decision": self._decided(columns["decision"], score),
            "status": _codes(columns["status"], list(STATUSES), unknown="error"),
            "size": columns["size"].fill_null(0).to_numpy(zero_copy_only=False),
            "lower_bound": columns["lower_bound"].fill_null(0).to_numpy(zero_copy_only=False),
            "proven": columns["proven"].fill_null(False).to_numpy(zero_copy_only=False),
            "contradicted": ~columns["survives_deletion"].fill_null(True).to_numpy(zero_copy_only=False),
        }

    def _decided(self, decisions: Any, score: Any) -> Any:
        """Return the class index of each row; the score decides if the classes have no names."""
        found = [name for name in decisions.unique().to_pylist() if name]
        if not found and not self.classes:
            with np.errstate(invalid="ignore"):
                is_positive = score >= (math.inf if self.threshold is None else self.threshold)
            return np.where(np.isnan(score), -1, is_positive).astype(np.int16)
        self.classes += [name for name in found if name not in self.classes]
        return _codes(decisions, self.classes, unknown=None)


def _codes(column: Any, names: list[str], *, unknown: str | None) -> Any:
    """Return for each value of a column its index in `names`; that of `unknown`, or -1, if it has none."""
    places = {name: place for place, name in enumerate(names)}
    otherwise = -1 if unknown is None else places[unknown]
    coded = column.dictionary_encode()
    codes = np.array([*(places.get(name, otherwise) for name in coded.dictionary.to_pylist()), otherwise])
    return codes[coded.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]


class BatchRows:
    """The rows of a batch as far as its results hold them: ids, and features of explanations."""

    def __init__(self, ids: Any, row_features: RowFeatures) -> None:
        self._ids = ids
        self._row_features = row_features

    def __len__(self) -> int:
        return len(self._ids)

    def id(self, number: int) -> int | str:
        """Return the id of a row; empty if the row has none."""
        id: int | str | None = self._ids[number].as_py()
        return "" if id is None else id

    def preview(self, number: int) -> str:
        """Return the first features of a row's explanation."""
        return previewed(self._row_features.names_of(number, ITEMS_SHOWN + 1))

    def matching(self, query: str) -> BoolArray:
        """Return for each row whether its id or a feature's name matches; numeric ids must be equal."""
        pc = optional("pyarrow.compute", extra="batch")
        found = self._row_features.containing(query, len(self))
        if arrow().types.is_string(self._ids.type):
            matching = pc.match_substring(self._ids, query, ignore_case=True)
        elif re.fullmatch("[0-9]{1,18}", query):
            matching = pc.equal(self._ids, int(query))
        else:
            return found
        found |= matching.fill_null(False).to_numpy().astype(bool)
        return found
