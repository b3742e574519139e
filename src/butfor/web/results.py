"""What `butfor batch` has written, to look at: without a model, and read as far as somebody looks."""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor import InputError
from butfor.batch.folder import Folder
from butfor.batch.inventory import require_in_place
from butfor.batch.manifest import MANIFEST, Manifest
from butfor.batch.outputs import arrow
from butfor.batch.parts import part_name, unsealed
from butfor.render.extras import optional
from butfor.render.words import NOUNS
from butfor.web.desk import UNNAMED, Desk
from butfor.web.given import ITEMS_SHOWN, BoolArray, previewed
from butfor.web.pairs import Pairs
from butfor.web.stored import Loaded, Stored
from butfor.web.table import STATUSES, Table
from butfor.web.tasks import Words

COLUMNS = ["id", "status", "features", "size", "lower_bound", "proven", "score", "threshold", "decision"]
ADDED = "survives_deletion"
"""A column that earlier versions did not write."""


def open_results(path: str, *, subject: str | None = None, decision: str | None = None) -> Desk:
    """Open the folder that `butfor batch --out` wrote to; of a run that is not complete, what there is."""
    folder = Folder(path)
    manifest, file = _manifest(folder)
    reading = _Reading(folder, manifest)
    reading.read_all()
    if not reading.parts:
        raise InputError(f"--results must hold parts that can be read, got none in {path}.")
    ids = arrow().chunked_array(reading.ids)
    kept = KeptRows(ids, reading.evidence)
    table = Table(kept, reading.classes, reading.evidence)
    for part in reading.parts:
        table.fill(part.start, part.columns)
    parts = [(part.start, part.file) for part in reading.parts]
    stored = Stored(file, parts, ids, manifest.about, reading.classes, Words(subject, decision))
    unit = stored.unit
    return Desk(
        name="results",
        title=_title(manifest, len(kept), reading.n_parts),
        kind="items" if unit in ("feature", "group") else "texts",
        classes=tuple(reading.classes),
        threshold=reading.threshold,
        unit=NOUNS[unit],
        table=table,
        stored=stored,
        subject=subject,
        decision=decision,
    )


def _manifest(folder: Folder) -> tuple[Manifest, Loaded]:
    try:
        if MANIFEST not in folder.names():
            raise InputError(f"there is no {MANIFEST} in it")
        content = folder.read(MANIFEST)
        return Manifest.of(content, folder), Loaded.of(folder, MANIFEST, content)
    except (InputError, OSError) as error:
        raise InputError(
            f"--results must be a folder that butfor batch wrote to (its --out), got {folder.path}: {error}"
        ) from error


def _classes(manifest: Manifest) -> list[str]:
    """Give the names of the classes, where they were few enough to be kept in words."""
    named = manifest.about.get("class names")
    return list(named) if isinstance(named, list) else []


def _title(manifest: Manifest, n_rows: int, n_parts: int) -> str:
    if n_parts == manifest.n_chunks:
        return f"Results of a batch: {n_rows:,} rows"
    parts = f"{n_parts:,} of {manifest.n_chunks:,} parts"
    return f"Results of a batch that is not complete: {parts}, {n_rows:,} rows"


@dataclass(frozen=True, eq=False)
class _Part:
    """A part as a table needs it."""

    file: Loaded
    start: int
    columns: dict[str, Any]


class _Reading:
    """All parts of a folder, read one after the other.

    One that is damaged, of another run or a copy of another part is left out.
    """

    def __init__(self, folder: Folder, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.classes = _classes(manifest)
        self.n_parts = 0
        """Those included that have no rows, as all were left out."""
        self.parts: list[_Part] = []
        self.ids: list[Any] = []
        self.evidence = Pairs()
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
            if self.manifest.run:  # else an earlier version wrote it, of which nothing more is known
                require_in_place(unsealed(content), self.manifest, number)
            known = parquet.read_schema(pa.BufferReader(content)).names
            wanted = [*COLUMNS, ADDED] if ADDED in known else COLUMNS
            lines = parquet.read_table(pa.BufferReader(content), columns=wanted).combine_chunks()
            if ADDED not in known:
                lines = lines.append_column(ADDED, pa.nulls(lines.num_rows, pa.bool_()))
        except (pa.ArrowException, OSError, KeyError, ValueError):
            return
        self.n_parts += 1
        if lines.num_rows:
            self._take(Loaded.of(self.folder, name, content), lines)

    def _take(self, file: Loaded, lines: Any) -> None:
        pc = optional("pyarrow.compute", extra="batch")
        ours = {column: lines[column].combine_chunks() for column in (*COLUMNS, ADDED)}
        thresholds = ours["threshold"].drop_null()
        if self.threshold is None and len(thresholds):
            self.threshold = thresholds[0].as_py()
        features = ours["features"]
        coded = pc.list_flatten(features).dictionary_encode()
        parents = pc.list_parent_indices(features).to_numpy()
        self.evidence.add_coded(self.n_rows + parents, coded.indices.to_numpy(), coded.dictionary.to_pylist())
        self.ids.append(ours["id"])
        self.parts.append(_Part(file, self.n_rows, self._columns(ours)))
        self.n_rows += lines.num_rows

    def _columns(self, ours: dict[str, Any]) -> dict[str, Any]:
        score = ours["score"].fill_null(math.nan).to_numpy(zero_copy_only=False)
        return {
            "score": score,
            "decision": self._decided(ours["decision"], score),
            "status": _codes(ours["status"], list(STATUSES), unknown="error"),
            "size": ours["size"].fill_null(0).to_numpy(zero_copy_only=False),
            "lower_bound": ours["lower_bound"].fill_null(0).to_numpy(zero_copy_only=False),
            "proven": ours["proven"].fill_null(False).to_numpy(zero_copy_only=False),
            "contradicted": ~ours["survives_deletion"].fill_null(True).to_numpy(zero_copy_only=False),
        }

    def _decided(self, decisions: Any, score: Any) -> Any:
        """Give the class of each row; of classes without names it is the score that tells."""
        found = [name for name in decisions.unique().to_pylist() if name]
        if not found and not self.classes:
            with np.errstate(invalid="ignore"):
                is_positive = score >= (math.inf if self.threshold is None else self.threshold)
            return np.where(np.isnan(score), -1, is_positive).astype(np.int16)
        self.classes += [name for name in found if name not in self.classes]
        return _codes(decisions, self.classes, unknown=None)


def _codes(column: Any, names: list[str], *, unknown: str | None) -> Any:
    """Give for each value of a column of strings its place among names; -1 where there is none."""
    places = {name: place for place, name in enumerate(names)}
    otherwise = -1 if unknown is None else places[unknown]
    coded = column.dictionary_encode()
    ours = np.array([*(places.get(name, otherwise) for name in coded.dictionary.to_pylist()), otherwise])
    return ours[coded.indices.fill_null(len(ours) - 1).to_numpy(zero_copy_only=False)]


class KeptRows:
    """What a batch has kept of its rows: their ids, and the features of their explanations."""

    def __init__(self, ids: Any, evidence: Pairs) -> None:
        self._ids = ids
        self._evidence = evidence

    def __len__(self) -> int:
        return len(self._ids)

    def id(self, number: int) -> int | str:
        """Say what a row is called; a row may have had no id."""
        id: int | str | None = self._ids[number].as_py()
        return "" if id is None else id

    def preview(self, number: int) -> str:
        """Name the features of the explanation."""
        return previewed(self._evidence.names_of(number, ITEMS_SHOWN + 1))

    def matching(self, query: str) -> BoolArray:
        """Tell for each row whether its id is this, or contains it, or a feature's name does."""
        pc = optional("pyarrow.compute", extra="batch")
        found = self._evidence.containing(query, len(self))
        if arrow().types.is_string(self._ids.type):
            meant = pc.match_substring(self._ids, query, ignore_case=True)
        elif re.fullmatch("[0-9]{1,18}", query):
            meant = pc.equal(self._ids, int(query))
        else:
            return found
        found |= meant.fill_null(False).to_numpy().astype(bool)
        return found
