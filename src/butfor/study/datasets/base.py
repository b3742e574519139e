"""What a data set of the study says of itself, and what reading it gives."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from butfor.errors import InputError

Kind = Literal["behaviour", "text"]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """Rows of active features with their label; for text also the documents."""

    X: Any
    """CSR matrix, rows × features."""
    y: IntArray
    """1 is the class of interest."""
    feature_names: tuple[str, ...]
    documents: tuple[str, ...] | None = None


@dataclass(frozen=True)
class File:
    """A file that a reader needs, below the data folder."""

    path: str
    sha256: str = ""
    """Empty where the source publishes no fixed file."""


@dataclass(frozen=True)
class Download:
    """What is fetched from the original source, and where it goes below the data folder."""

    url: str
    to: str
    """The file to write; with `unpack`, the folder to unpack into."""
    sha256: str = ""
    unpack: Literal["", "zip", "tar", "gz"] = ""


@dataclass(frozen=True)
class Dataset:
    """A data set of the study: where it comes from, what is predicted, how it is read."""

    name: str
    kind: Kind
    target: str
    """What is positive, in words."""
    citation: str
    licence: str
    homepage: str
    share: float
    """The share of the test rows to be predicted positive."""
    read: Callable[[Path], Data] | None = None
    """Reads the files below a folder; None where nobody but the paper's authors has them."""
    files: tuple[File, ...] = ()
    downloads: tuple[Download, ...] = ()
    steps: str = ""
    """How a person gets the files where no download without a sign-up is possible."""
    generate: Callable[[], Data] | None = None
    """Makes a stand-in with the shape of the paper's table."""

    def missing(self, folder: Path) -> tuple[str, ...]:
        """Name the files that are not in the folder."""
        return tuple(file.path for file in self.files if not (folder / file.path).exists())

    def is_present(self, folder: Path | None = None) -> bool:
        """Tell whether the data can be read."""
        return self.read is not None and not self.missing(folder or data_folder())

    def load(self, folder: Path | None = None) -> Data:
        """Read the data, or say what is missing and how to get it."""
        self.require_files(folder)
        assert self.read is not None
        return self.read(folder or data_folder())

    def require_files(self, folder: Path | None = None) -> None:
        """Raise where the data are not there, and say how to get them."""
        if self.is_present(folder):
            return
        if self.read is None:
            problem = f"{self.name} is private to the paper's authors."
        else:
            folder = folder or data_folder()
            missing = ", ".join(self.missing(folder))
            how = (
                f"`butfor study download {self.name}`" if self.downloads else f"{self.homepage}: {self.steps}"
            )
            problem = f"{self.name} needs {missing} in {folder} (BUTFOR_DATA). Get it: {how}"
        stand_in = "" if self.generate is None else f" Or use {self.name}:generated, a stand-in of its shape."
        raise InputError(problem + stand_in)


def data_folder() -> Path:
    """Give the folder named by BUTFOR_DATA, else one in the platform's cache folder."""
    named = os.environ.get("BUTFOR_DATA")
    return Path(named).expanduser() if named else cache_folder() / "data"


def cache_folder() -> Path:
    """Give the platform's folder for what can be made or fetched again."""
    from platformdirs import user_cache_path

    return user_cache_path("butfor")


def split(n_rows: int) -> tuple[IntArray, IntArray]:
    """Give the rows to train on, 80 %, and the rows to test on."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(n_rows), test_size=0.2, random_state=0)
    return train, test
