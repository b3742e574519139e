"""One row of what a batch has written, with its explanation."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from butfor import SEARCHES, Explanation
from butfor.batch.folder import Folder
from butfor.render.extras import optional
from butfor.render.words import NOUNS
from butfor.web.tasks import Words, answer


class Stored:
    """Reads the explanation of one row out of its part."""

    def __init__(
        self,
        folder: Folder,
        parts: Sequence[tuple[int, str]],
        about: Mapping[str, Any],
        classes: Sequence[str],
        words: Words,
    ) -> None:
        self._folder = folder
        self._starts = [start for start, _ in parts]
        """The number of the first row of each part."""
        self._names = [name for _, name in parts]
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

    def __call__(self, number: int) -> dict[str, Any]:
        """Give the explanation of a row, or its error."""
        part = bisect_right(self._starts, number) - 1
        line = self._line(self._names[part], number - self._starts[part])
        if line["status"] == "error":
            return {"explanation": None, "error": line["error"]}
        return {"explanation": answer(self._explanation(line), self._words), "error": None}

    def _line(self, name: str, place: int) -> dict[str, Any]:
        """Read one line of a part, and no more of it than one group of rows."""
        parquet = optional("pyarrow.parquet", extra="batch")
        with self._folder.opened(name) as file:
            part = parquet.ParquetFile(file)
            sizes = [part.metadata.row_group(i).num_rows for i in range(part.metadata.num_row_groups)]
            ends = list(accumulate(sizes))
            group = bisect_right(ends, place)
            lines = part.read_row_group(group).slice(place - (ends[group] - sizes[group]), 1)
        line: dict[str, Any] = lines.to_pylist()[0]
        return line

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


def _search_name(described: str) -> str:
    """Give the name of a search that a manifest describes.

    >>> _search_name("SEDC(max_iterations=9)")
    'sedc'
    """
    kind = described.partition("(")[0]
    alike = {name: search for name, search in SEARCHES.items() if type(search).__name__ == kind}
    exact = [name for name, search in alike.items() if repr(search) == described]
    return next(iter([*exact, *alike]), described if len(described) < 40 else "")
