"""Compare the parts in the folder of a run with its plan: which are there, whole and in their places."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from butfor import InputError
from butfor.batch.folder import Folder
from butfor.batch.manifest import MANIFEST, Manifest, require_checksums
from butfor.batch.parts import Part, part_name, unsealed
from butfor.batch.statistics import Statistics

AT_ONCE = 8
"""Number of parts that are read at the same time."""
SHOWN = 20
"""Number of problems that are listed one by one."""


@dataclass(frozen=True)
class Inventory:
    """The parts of a folder that are whole, and what is wrong with the others.

    `check_batch` returns one. `print` it to see the problems.

    Attributes
    ----------
    out : str
        The folder that was checked.
    manifest : Manifest
        The plan of the run.
    parts : dict of int to Part
        The whole parts, by the number of their chunk.
    wrong : dict of int to str
        Why the file of a chunk does not count as its part, by the number of the chunk.
    strangers : tuple of str
        Names of other Parquet files, which readers of the folder would mistake for parts.
    names : frozenset of str
        Names of all files.
    """

    out: str
    manifest: Manifest
    parts: dict[int, Part]
    wrong: dict[int, str] = field(default_factory=dict)
    strangers: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        """Number of rows that the parts cover, including rows that were left out."""
        return self.statistics.n_rows

    @property
    def statistics(self) -> Statistics:
        """The statistics of all parts together."""
        return total(self.parts.values())

    @property
    def is_complete(self) -> bool:
        """Whether every chunk has its part, and no other Parquet file is in the folder."""
        return len(self.parts) == self.manifest.n_chunks and not self.strangers

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        problems = [*map(self.problem, self._chunks_without()), *map(stranger_problem, self.strangers)]
        yield from problems[:SHOWN]
        if len(problems) > SHOWN:
            yield f"… and {len(problems) - SHOWN:,} more"
        manifest = self.manifest
        yield (
            f"{self.out}: {len(self.parts):,} of {manifest.n_chunks:,} parts are there and whole, "
            f"with {self.n_rows:,} of {manifest.n_rows:,} rows; run {manifest.run}"
        )
        if len(self.parts) < manifest.n_chunks:
            yield "The command that wrote it does what is missing, and nothing twice."

    def _chunks_without(self) -> Iterator[int]:
        return (number for number in range(self.manifest.n_chunks) if number not in self.parts)

    def problem(self, number: int) -> str:
        """Return why a chunk has no part that counts, with the name of the file."""
        return f"{part_name(number)}: {self.wrong.get(number, 'it is not there')}"


def total(parts: Iterable[Part]) -> Statistics:
    """Return the sum of the statistics of parts."""
    return sum((part.statistics for part in parts), start=Statistics())


def stranger_problem(name: str) -> str:
    """Return the message about a file that does not belong to the folder."""
    return f"{name}: it is no part of this run: remove it"


def check_batch(out: str) -> Inventory:
    """Check the folder that a batch wrote. Neither the model nor the data is needed.

    Every part is read and compared with its own checksum and with the plan of the run.

    Parameters
    ----------
    out : str
        The folder, or an address that fsspec knows, that was the `out` of `run_batch`.

    Returns
    -------
    Inventory
        The parts that are whole and the problems of the others. `is_complete` says whether all parts are
        there; `print` shows the problems.

    Raises
    ------
    InputError
        If no batch wrote to the folder, or an early version of butfor did, without checksums.

    Examples
    --------
    >>> check_batch("nowhere")
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: out must be a folder that butfor batch wrote to, got nowhere, ...
    """
    folder = Folder(str(out))
    with folder.readable():
        return _checked(folder)


def _checked(folder: Folder) -> Inventory:
    if MANIFEST not in folder.names():
        raise InputError(
            f"out must be a folder that butfor batch wrote to, got {folder.path}, in which there is no "
            f"{MANIFEST}."
        )
    manifest = Manifest.read(folder)
    require_checksums(manifest, folder)
    return inventory_of(folder, manifest)


def inventory_of(folder: Folder, manifest: Manifest) -> Inventory:
    """Read every part of a folder and compare it with the plan."""
    planned = {part_name(number): number for number in range(manifest.n_chunks)}
    names = folder.names()
    there = [planned[name] for name in names if name in planned]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(there, pool.map(lambda number: _read(folder, manifest, number), there), strict=True))
    return Inventory(
        out=folder.path,
        manifest=manifest,
        parts={number: part for number, part in found.items() if isinstance(part, Part)},
        wrong={number: part for number, part in found.items() if isinstance(part, str)},
        strangers=tuple(name for name in names if _is_read_by_others(name) and name not in planned),
        names=frozenset(names),
    )


def _is_read_by_others(name: str) -> bool:
    """Return whether readers of a folder of Parquet would read this file."""
    return name.endswith(".parquet") and not name.startswith(("_", "."))


def _read(folder: Folder, manifest: Manifest, number: int) -> Part | str:
    """Read a part; return a string that says why if it does not count."""
    try:
        part = unsealed(folder.read(part_name(number)))
        require_in_place(part, manifest, number)
        return part
    except OSError as error:
        return f"it cannot be read: {error}"
    except ValueError as error:
        return str(error)


def require_in_place(part: Part, manifest: Manifest, number: int) -> None:
    """Raise a ValueError unless a part is the one that the plan of the run has for this chunk."""
    run, chunk, n_rows = part.origin.run, part.origin.chunk, part.statistics.n_rows
    if run != manifest.run:
        raise ValueError(f"it is of another run, {run}")
    if chunk != number:
        raise ValueError(f"it is a copy of {part_name(chunk)}")
    if n_rows != manifest.rows_of(number):
        raise ValueError(f"it has {n_rows:,} rows and not {manifest.rows_of(number):,}")
