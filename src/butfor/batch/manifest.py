"""What the output in a folder is about: written first, so that a later run can tell whether it may go on."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from butfor import InputError
from butfor.batch.folder import LOCK, UNFINISHED, Folder

MANIFEST = "_manifest.json"
FORMAT = 1


@dataclass(frozen=True)
class Manifest:
    """The data, the model, the settings and the versions that the output of a run depends on."""

    about: dict[str, Any]
    """By name; a value is what was given, or its fingerprint."""
    versions: dict[str, str]
    n_chunks: int
    n_rows: int
    format: int = FORMAT

    def write(self, folder: Folder) -> None:
        """Write it, in the place of whatever was there."""
        folder.write(
            MANIFEST,
            (json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace"),
        )

    @classmethod
    def read(cls, folder: Folder) -> Self:
        """Read the manifest of a folder."""
        try:
            values = json.loads(folder.read(MANIFEST))
            if values["format"] != FORMAT:
                raise ValueError(f"it has the format {values['format']}, and this is {FORMAT}")
            return cls(**values)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"out must have a {MANIFEST} that can be read, got {folder.path}: {error}. Give another out, "
                "or delete the folder."
            ) from error


def earlier_run(folder: Folder, about: dict[str, Any], versions: dict[str, str]) -> Manifest | None:
    """Give the manifest of the run that this one continues; None in an empty folder, any other is refused."""
    names = [name for name in folder.names() if name != LOCK and not name.startswith(UNFINISHED)]
    if MANIFEST in names:
        earlier = Manifest.read(folder)
        _require_same({**earlier.about, **earlier.versions}, {**about, **versions}, folder)
        return earlier
    if names:
        raise InputError(
            f"out must be a new or an empty folder, or that of an earlier run, got {folder.path} with "
            f"{names[0]!r} in it and no {MANIFEST}: give another out."
        )
    return None


def _require_same(before: dict[str, Any], given: dict[str, Any], folder: Folder) -> None:
    now = json.loads(json.dumps(given))  # as JSON has it: that is what was kept of the earlier run
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if changed:
        said = "; ".join(f"{name} was {_shown(before, name)}, is {_shown(now, name)}" for name in changed)
        raise InputError(
            f"out must be a folder of the same run, got {folder.path}, where {said}. Give another out, or "
            "delete the folder to begin anew."
        )


def _shown(values: dict[str, Any], name: str) -> str:
    if name not in values:
        return "not given"
    return str(values[name]) if isinstance(values[name], str) else json.dumps(values[name])
