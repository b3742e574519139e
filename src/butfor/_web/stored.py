"""Stored explanations: read again, one row at a time, from the parts that a batch wrote."""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butfor import SEARCHES, Explanation
from butfor._extras import optional
from butfor._render.words import NOUNS
from butfor._web.problems import Problem
from butfor._web.tasks import Wording, answer
from butfor.batch.folder import Folder
from butfor.batch.outputs import arrow


@dataclass(frozen=True)
class LoadedFile:
    """A file of results with the digest of its content at the time of loading."""

    folder: Folder
    name: str
    digest: bytes

    @classmethod
    def of(cls, folder: Folder, name: str, content: bytes) -> "LoadedFile":
        """Return the file with the digest of its content."""
        return cls(folder, name, _digest(content))

    def read(self) -> bytes:
        """Read the file again; raise a problem (409) if its content has changed."""
        try:
            content = self.folder.read(self.name)
        except FileNotFoundError:
            raise results_changed(self.folder) from None
        if _digest(content) != self.digest:
            raise results_changed(self.folder)
        return content


def results_changed(folder: Folder) -> Problem:
    """Return the problem that results have changed since they were loaded."""
    return Problem(
        409,
        f"the results in {folder.path} have changed since this server loaded them, and it does not mix old "
        "with new ones: start butfor serve again, then reload the page.",
    )


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


class BatchResults:
    """Reads the explanation of one row from its part; refuses a part that has changed since loading."""

    def __init__(
        self,
        manifest: LoadedFile,
        parts: Sequence[tuple[int, LoadedFile]],
        ids: Any,
        about: Mapping[str, Any],
        classes: Sequence[str],
        wording: Wording,
    ) -> None:
        self._manifest = manifest
        self._starts = [start for start, _ in parts]
        """The number of the first row of each part."""
        self._parts = [part for _, part in parts]
        self._ids = ids
        self._about = about
        self._classes = classes
        self._wording = wording

    @property
    def unit(self) -> str:
        """What was removed at a time."""
        unit = self._about.get("unit")
        if unit == "feature" and self._about.get("groups") is not None:
            return "group"
        return unit if unit in NOUNS else "feature"

    def require_unchanged(self) -> None:
        """Raise a problem (409) if the folder is gone or holds another run."""
        self._manifest.read()

    def __call__(self, number: int) -> dict[str, Any]:
        """Return the explanation of a row, or its error."""
        place = bisect_right(self._starts, number) - 1
        row = _read_row(self._parts[place].read(), number - self._starts[place])
        if row["id"] != self._ids[number].as_py():
            raise results_changed(self._manifest.folder)
        if row["status"] == "error":
            return {"explanation": None, "error": row["error"]}
        return {"explanation": answer(self._explanation(row), self._wording), "error": None}

    def _explanation(self, row: dict[str, Any]) -> Explanation:
        """Return the explanation as far as it was stored; its features are the only items that are known."""
        target = self._about.get("target")
        fields = {name: row[name] for name in row if name not in ("id", "size", "proven", "error")}
        return Explanation.from_dict(
            {
                **fields,
                "weights": [],
                "search": _search_name(str(self._about.get("search"))),
                "local_model": "",
                "costs": self._about.get("costs") is not None,
                "items": row["features"],
                "places": list(range(row["size"])),
                "target": self._classes[target] if isinstance(target, int) else "",
                "n_classes": len(self._classes),
                "unit": self.unit,
                "removal": self._about.get("removal", "zero"),
            }
        )


def _read_row(content: bytes, place: int) -> dict[str, Any]:
    """Read one row of a part."""
    parquet = optional("pyarrow.parquet", extra="batch")
    row: dict[str, Any] = parquet.read_table(arrow().BufferReader(content)).slice(place, 1).to_pylist()[0]
    return row


def _search_name(described: str) -> str:
    """Return the name of a search that a manifest describes.

    >>> _search_name("SEDC(max_iterations=9)")
    'sedc'
    """
    kind = described.partition("(")[0]
    alike = {name: search for name, search in SEARCHES.items() if type(search).__name__ == kind}
    exact = [name for name, search in alike.items() if repr(search) == described]
    return next(iter([*exact, *alike]), described if len(described) < 40 else "")
