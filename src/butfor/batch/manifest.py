"""The manifest of a run. It is written first, so that a later run can check whether it may continue."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from butfor import InputError
from butfor.batch.folder import LOCK, UNFINISHED, Folder
from butfor.batch.lease import LEASE

MANIFEST = "_manifest.json"
FORMAT = 2
WITHOUT_CHECKSUMS = 1
"""The format of folders whose parts hold neither the id of their run nor a checksum."""


@dataclass(frozen=True)
class Manifest:
    """The data, the model, the settings and the versions that the output of a run depends on."""

    about: dict[str, Any]
    """Settings by name; a value is the setting itself or its fingerprint."""
    versions: dict[str, str]
    n_chunks: int
    n_rows: int
    run: str = ""
    """The id of the run, which every part holds."""
    format: int = FORMAT

    def rows_of(self, chunk: int) -> int:
        """Return the number of rows that a chunk has by the plan."""
        chunk_rows: int = self.about["chunk_rows"]
        return min(chunk_rows, self.n_rows - chunk * chunk_rows)

    def write(self, folder: Folder) -> None:
        """Write the manifest, replacing an earlier one."""
        folder.write(
            MANIFEST,
            (json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace"),
        )

    @classmethod
    def read(cls, folder: Folder) -> Self:
        """Read the manifest of a folder."""
        return cls.of(folder.read(MANIFEST), folder)

    @classmethod
    def of(cls, content: bytes, folder: Folder) -> Self:
        """Parse the content of a manifest file. The folder is named in errors."""
        try:
            values = json.loads(content)
            if values["format"] not in (FORMAT, WITHOUT_CHECKSUMS):
                raise ValueError(f"it has the format {values['format']}, and this is {FORMAT}")
            return cls(**values)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"out must have a {MANIFEST} that can be read, got {folder.path}: {error}. Give another out, "
                "or delete the folder."
            ) from error


def earlier_run(folder: Folder, about: dict[str, Any], versions: dict[str, str]) -> Manifest | None:
    """Return the manifest of the run that this one continues; None if the folder is empty.

    Raise an InputError if the folder holds other files, or a run with other settings.
    """
    names = [name for name in folder.names() if name != LOCK and not name.startswith((UNFINISHED, LEASE))]
    if MANIFEST in names:
        earlier = Manifest.read(folder)
        require_checksums(earlier, folder)
        if about["chunk_rows"] is None:
            about = {**about, "chunk_rows": earlier.about.get("chunk_rows")}
        _require_same({**earlier.about, **earlier.versions}, {**about, **versions}, folder)
        return earlier
    if names:
        raise InputError(
            f"out must be a new or an empty folder, or that of an earlier run, got {folder.path} with "
            f"{names[0]!r} in it and no {MANIFEST}: give another out."
        )
    return None


def holds_run(folder: Folder, manifest: Manifest) -> bool:
    """Return whether the manifest in a folder is that of this run."""
    try:
        return Manifest.read(folder).run == manifest.run
    except (InputError, OSError):
        return False


def require_checksums(manifest: Manifest, folder: Folder) -> None:
    """Raise an InputError if an early version of butfor wrote the parts without checksums."""
    if manifest.format == WITHOUT_CHECKSUMS:
        raise InputError(
            f"out must be a folder whose parts can be checked, got {folder.path}, which an earlier version "
            "of butfor wrote without checksums: give another out, or delete the folder to begin anew."
        )


def _require_same(before: dict[str, Any], current: dict[str, Any], folder: Folder) -> None:
    now = json.loads(json.dumps(current))  # the earlier values went through JSON too
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if changed:
        changes = "; ".join(f"{name} was {_shown(before, name)}, is {_shown(now, name)}" for name in changed)
        raise InputError(
            f"out must be a folder of the same run, got {folder.path}, where {changes}. Give another out, or "
            "delete the folder to begin anew."
        )


def _shown(values: dict[str, Any], name: str) -> str:
    if name not in values:
        return "not given"
    return str(values[name]) if isinstance(values[name], str) else json.dumps(values[name])
