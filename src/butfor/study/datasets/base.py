"""The description of a data set, its data, and the folders where they are."""

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
    """The rows of a data set with their labels.

    Parameters
    ----------
    X : sparse matrix
        CSR matrix, rows × features.
    y : array of int
        The label of each row; 1 is the class of interest, 0 the other.
    feature_names : tuple of str
        The name of each column.
    documents : tuple of str, optional
        The texts of the rows, for data of texts.
    cleaned : tuple of str, optional
        The texts as the vectoriser takes them: lemmas without stop words, say.
    vectoriser : transformer, optional
        What made X of the cleaned texts. With both, words can be cut out of the texts (`--removal delete`).

    Examples
    --------
    >>> from scipy import sparse
    >>> Data(sparse.csr_matrix([[1, 0], [1, 1]]), np.array([0, 1]), ("page 1", "page 2")).X.shape
    (2, 2)
    """

    X: Any
    y: IntArray
    feature_names: tuple[str, ...]
    documents: tuple[str, ...] | None = None
    cleaned: tuple[str, ...] | None = None
    vectoriser: Any = None


@dataclass(frozen=True)
class File:
    """A file of a data set.

    Parameters
    ----------
    path : str
        Its path below the data folder.
    sha256 : str, optional
        Its checksum. Left empty if the source publishes no fixed file.

    Examples
    --------
    >>> File("visits/visits.csv").path
    'visits/visits.csv'
    """

    path: str
    sha256: str = ""


@dataclass(frozen=True)
class Download:
    """A file to fetch from the original source.

    Parameters
    ----------
    url : str
        Its address.
    to : str
        The file to write, below the data folder; with `unpack`, the folder to unpack into.
    sha256 : str, optional
        The checksum of what is fetched.
    unpack : {"", "zip", "tar", "gz"}
        How to unpack it; "" leaves it as it is.

    Examples
    --------
    >>> Download("https://example.org/visits.zip", to="visits", unpack="zip").to
    'visits'
    """

    url: str
    to: str
    sha256: str = ""
    unpack: Literal["", "zip", "tar", "gz"] = ""


@dataclass(frozen=True)
class Dataset:
    """A data set of the study: where it comes from, what is predicted, how it is read.

    Parameters
    ----------
    name : str
        The name by which `butfor study run --datasets` selects it.
    kind : {"behaviour", "text"}
        The kind of data. It decides which of the paper's models are used by default.
    target : str
        What is positive, in words.
    citation, licence, homepage : str
        Where the data come from, and on which terms.
    share : float
        The share of the test rows that the threshold lets the model predict positive.
    read : callable, optional
        Reads the files below the data folder, which is its argument, and returns Data. None if only the
        paper's authors have the data.
    files : tuple of File
        The files that `read` needs.
    downloads : tuple of Download
        What `butfor study download` fetches.
    steps : str, optional
        How a person gets the files, if they cannot be downloaded without a sign-up.
    generate : callable, optional
        Returns a stand-in with the shape of the paper's table.

    Examples
    --------
    >>> visits = Dataset(
    ...     name="visits",
    ...     kind="behaviour",
    ...     target="bought something",
    ...     citation="our own",
    ...     licence="private",
    ...     homepage="https://intranet.example/visits",
    ...     share=0.1,
    ...     read=lambda folder: Data(...),
    ...     files=(File("visits/visits.csv"),),
    ... )
    >>> visits.missing(Path("nowhere"))
    ('visits/visits.csv',)
    """

    name: str
    kind: Kind
    target: str
    citation: str
    licence: str
    homepage: str
    share: float
    read: Callable[[Path], Data] | None = None
    files: tuple[File, ...] = ()
    downloads: tuple[Download, ...] = ()
    steps: str = ""
    generate: Callable[[], Data] | None = None

    def missing(self, folder: Path) -> tuple[str, ...]:
        """Return the paths of the files that are not in the folder."""
        return tuple(file.path for file in self.files if not (folder / file.path).exists())

    def is_present(self, folder: Path | None = None) -> bool:
        """Return whether the data can be read: from this folder, or from `data_folder()`."""
        return self.read is not None and not self.missing(folder or data_folder())

    def load(self, folder: Path | None = None) -> Data:
        """Return the data. Raise an InputError that says how to get the files if some are missing."""
        self.require_files(folder)
        assert self.read is not None
        return self.read(folder or data_folder())

    def require_files(self, folder: Path | None = None) -> None:
        """Raise an InputError that says how to get the files if some are missing."""
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
    """Return the folder of the data: BUTFOR_DATA, or a folder in the platform's cache folder."""
    named = os.environ.get("BUTFOR_DATA")
    return Path(named).expanduser() if named else cache_folder() / "data"


def cache_folder() -> Path:
    """Return butfor's folder among the platform's cache folders."""
    from platformdirs import user_cache_path

    return user_cache_path("butfor")


def split(n_rows: int) -> tuple[IntArray, IntArray]:
    """Return the training rows, 80 % of all, and the test rows."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(n_rows), test_size=0.2, random_state=0)
    return train, test
