"""One row of what a batch has written, with its explanation."""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butfor import SEARCHES, Explanation
from butfor.batch.folder import Folder
from butfor.batch.outputs import arrow
from butfor.render.extras import optional
from butfor.render.words import NOUNS
from butfor.web.problems import Problem
from butfor.web.tasks import Words, answer


@dataclass(frozen=True)
class Loaded:
    """A file of results as it was when it was loaded."""

    folder: Folder
    name: str
    digest: bytes

    @classmethod
    def of(cls, folder: Folder, name: str, content: bytes) -> "Loaded":
        """Note what a file holds."""
        return cls(folder, name, _digest(content))

    def read(self) -> bytes:
        """Read the file again; raise a problem (409) where it holds anything else by now."""
        try:
            content = self.folder.read(self.name)
        except FileNotFoundError:
            raise changed(self.folder) from None
        if _digest(content) != self.digest:
            raise changed(self.folder)
        return content


def changed(folder: Folder) -> Problem:
    """Say that results are not those that were loaded."""
    return Problem(
        409,
        f"the results in {folder.path} have changed since this server loaded them, and it does not mix old "
        "with new ones: start butfor serve again, then reload the page.",
    )


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


class Stored:
    """Reads the explanation of one row out of its part, if the part is the one that was loaded."""

    def __init__(
        self,
        manifest: Loaded,
        parts: Sequence[tuple[int, Loaded]],
        ids: Any,
        about: Mapping[str, Any],
        classes: Sequence[str],
        words: Words,
    ) -> None:
        self._manifest = manifest
        self._starts = [start for start, _ in parts]
        """The number of the first row of each part."""
        self._parts = [part for _, part in parts]
        self._ids = ids
        self._about = about
        self._classes = classes
        self._words = words

    @property
    def unit(self) -> str:
        """What was removed at a time."""
        unit = self._about.get("unit")
        if unit == "feature" and self._about.get("groups") is not None:
            return "group"
        return unit if unit in NOUNS else "feature"

    def require_unchanged(self) -> None:
        """Raise a problem (409) where the folder is that of another run by now, or gone."""
        self._manifest.read()

    def __call__(self, number: int) -> dict[str, Any]:
        """Give the explanation of a row, or its error."""
        place = bisect_right(self._starts, number) - 1
        line = _line(self._parts[place].read(), number - self._starts[place])
        if line["id"] != self._ids[number].as_py():
            raise changed(self._manifest.folder)
        if line["status"] == "error":
            return {"explanation": None, "error": line["error"]}
        return {"explanation": answer(self._explanation(line), self._words), "error": None}

    def _explanation(self, line: dict[str, Any]) -> Explanation:
        """Make the explanation as far as it was written; of the row's items only the features are known."""
        target = self._about.get("target")
        said = {name: line[name] for name in line if name not in ("id", "size", "proven", "error")}
        return Explanation.from_dict(
            {
                **said,
                "weights": [],
                "search": _search_name(str(self._about.get("search"))),
                "local_model": "",
                "costs": self._about.get("costs") is not None,
                "items": line["features"],
                "places": list(range(line["size"])),
                "target": self._classes[target] if isinstance(target, int) else "",
                "n_classes": len(self._classes),
                "unit": self.unit,
                "removal": self._about.get("removal", "zero"),
            }
        )


def _line(content: bytes, place: int) -> dict[str, Any]:
    """Read one line of a part."""
    parquet = optional("pyarrow.parquet", extra="batch")
    line: dict[str, Any] = parquet.read_table(arrow().BufferReader(content)).slice(place, 1).to_pylist()[0]
    return line


def _search_name(described: str) -> str:
    """Give the name of a search that a manifest describes.

    >>> _search_name("SEDC(max_iterations=9)")
    'sedc'
    """
    kind = described.partition("(")[0]
    alike = {name: search for name, search in SEARCHES.items() if type(search).__name__ == kind}
    exact = [name for name, search in alike.items() if repr(search) == described]
    return next(iter([*exact, *alike]), described if len(described) < 40 else "")
