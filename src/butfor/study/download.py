"""Fetch a data set from its original source, check it and unpack it."""

import gzip
import logging
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import urlsplit

from butfor.errors import InputError
from butfor.study.datasets.base import Dataset, Download


class DownloadProgress(Protocol):
    """What pooch reports a download to: first the total, then the bytes."""

    total: float

    def update(self, n_bytes: int, /) -> None:
        """Add bytes."""

    def reset(self) -> None:
        """Reset the count of bytes to zero."""

    def close(self) -> None:
        """End the display, whether or not all bytes came. It may be called twice."""


def download(
    dataset: Dataset, folder: Path, *, progress: Callable[[str], DownloadProgress] | None = None
) -> list[Path]:
    """Download the files of a data set that are missing in the folder; return the paths of all.

    `progress` returns a progress bar for the name of a file, as `bar` does.
    """
    if dataset.read is None:
        raise InputError(f"{dataset.name} is private to the paper's authors: there is nothing to download.")
    if dataset.missing(folder) and not dataset.downloads:
        raise InputError(_no_download(dataset, folder))
    for one in dataset.downloads:
        if not _is_there(one, dataset, folder):
            _fetch(one, dataset, folder, progress)
    return [folder / file.path for file in dataset.files]


def bar(name: str) -> DownloadProgress:
    """Return a progress bar on the error output of the terminal."""
    return _TerminalBar(name)


class _TerminalBar:
    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
        )
        self._progress = RichProgress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task(name, total=None)
        self._progress.start()

    @property
    def total(self) -> float:
        return self._progress.tasks[0].total or 0

    @total.setter
    def total(self, n_bytes: float) -> None:
        self._progress.update(self._task, total=n_bytes or None)

    def update(self, n_bytes: int, /) -> None:
        self._progress.advance(self._task, n_bytes)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()


def _no_download(dataset: Dataset, folder: Path) -> str:
    return (
        f"{dataset.name} cannot be downloaded without a person: {dataset.homepage}: {dataset.steps}"
        f" The files go below {folder} (BUTFOR_DATA): {', '.join(dataset.missing(folder))}."
    )


def _is_there(one: Download, dataset: Dataset, folder: Path) -> bool:
    """Return whether every file that this download contains is in the folder."""
    target = PurePosixPath(one.to)
    brought = [file.path for file in dataset.files if PurePosixPath(file.path).is_relative_to(target)]
    return not set(brought) & set(dataset.missing(folder))


def _fetch(
    one: Download, dataset: Dataset, folder: Path, progress: Callable[[str], DownloadProgress] | None
) -> None:
    """Fetch and unpack into a temporary folder; move the files to their places once all are there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
        fetched = _fetched(one, Path(temporary), folder, progress)
        unpacked = Path(temporary) / "unpacked"
        unpacked.mkdir()
        _unpack(one, fetched, unpacked)
        _require_files(one, dataset, unpacked)
        _move(unpacked, folder)


def _fetched(
    one: Download, temporary: Path, folder: Path, progress: Callable[[str], DownloadProgress] | None
) -> Path:
    import pooch
    from requests.exceptions import RequestException

    pooch.get_logger().setLevel(logging.WARNING)
    name = PurePosixPath(urlsplit(one.url).path).name or "download"
    shown = progress(name) if progress else None
    known_hash = f"sha256:{one.sha256}" if one.sha256 else None
    downloader = pooch.HTTPDownloader(progressbar=shown or False)
    by_hand = f"fetch it by hand and put it below {folder} (in {one.to}; {one.unpack or 'no'} unpacking)."
    try:
        return Path(pooch.retrieve(one.url, known_hash, name, temporary, downloader=downloader))
    except RequestException as error:
        if error.response is not None:
            error.response.close()  # pooch leaves the connection of a refused request open
        raise InputError(f"{one.url} could not be fetched: {error}. Try again later, or {by_hand}") from error
    except ValueError as error:  # pooch raises it for a wrong checksum
        raise InputError(
            f"{one.url} is not the file that was expected: {error} Look at {one.url}."
        ) from error
    finally:
        if shown:
            shown.close()


def _unpack(one: Download, fetched: Path, unpacked: Path) -> None:
    """Unpack or move the fetched file to its place below the folder `unpacked`."""
    target = unpacked / one.to
    into = target if one.unpack else target.parent
    into.mkdir(parents=True, exist_ok=True)
    try:
        if one.unpack == "zip":
            _unzip(fetched, into)
        elif one.unpack == "tar":
            with tarfile.open(fetched) as tar:
                tar.extractall(into, filter="data")
        elif one.unpack == "gz":
            with gzip.open(fetched) as packed, open(into / fetched.stem, "wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.move(fetched, target)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{one.url} must be a sound {one.unpack} archive, got: {error}") from error


def _unzip(fetched: Path, into: Path) -> None:
    with zipfile.ZipFile(fetched) as archive:
        for name in archive.namelist():
            if not (into / name).resolve().is_relative_to(into.resolve()):
                raise zipfile.BadZipFile(f"{name!r} would be outside of the folder")
        archive.extractall(into)


def _require_files(one: Download, dataset: Dataset, unpacked: Path) -> None:
    import pooch

    target = PurePosixPath(one.to)
    came = sorted(path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file())
    wanted = [file for file in dataset.files if PurePosixPath(file.path).is_relative_to(target)]
    if absent := [file.path for file in wanted if file.path not in came]:
        raise InputError(f"{one.url} must contain {', '.join(absent)}, got {', '.join(came) or 'nothing'}.")
    for file in wanted:
        if file.sha256 and pooch.file_hash(str(unpacked / file.path)) != file.sha256:
            raise InputError(f"{file.path} of {one.url} is not the file that was expected: another checksum.")


def _move(unpacked: Path, folder: Path) -> None:
    for path in unpacked.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(unpacked)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
