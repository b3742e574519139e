"""Book-Crossing: who read which book; positive are readers under 30. Public data similar to tafeng."""

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.pair_files import binary_matrix, distinct_names

_ARCHIVE = "BX-CSV-Dump.zip"
_MIN_READERS = 5


def read(folder: Path) -> Data:
    """Read the readers of a credible age (10 to 90) and the books that at least five of them read."""
    with zipfile.ZipFile(folder / _ARCHIVE) as archive:
        people = _records(archive, "BX-Users.csv")
        age_of = {int(reader): int(age) for reader, _, age in people if age != "NULL"}
        title_of = {isbn: title for isbn, title, *_ in _records(archive, "BX-Books.csv")}
        rated = {(int(reader), isbn) for reader, isbn, _ in _records(archive, "BX-Book-Ratings.csv")}
    credible = [(reader, isbn) for reader, isbn in rated if 10 <= age_of.get(reader, 0) <= 90]
    readers_of = Counter(isbn for _, isbn in credible)
    pairs = [(reader, isbn) for reader, isbn in credible if readers_of[isbn] >= _MIN_READERS]
    X, readers, isbns = binary_matrix(*zip(*pairs, strict=True))
    y = np.array([age_of[reader] < 30 for reader in readers], dtype=np.int64)
    return Data(X=X, y=y, feature_names=distinct_names(isbns, title_of))


def _records(archive: zipfile.ZipFile, name: str) -> Iterator[list[str]]:
    with archive.open(name) as content:
        text = io.TextIOWrapper(content, encoding="latin-1", newline="")
        records = csv.reader(text, delimiter=";", escapechar="\\")
        next(records)
        yield from records


DATASET = Dataset(
    name="bookcrossing",
    kind="behaviour",
    target="under 30",
    citation=(
        "C.-N. Ziegler, S. M. McNee, J. A. Konstan, G. Lausen (2005). Improving recommendation lists through"
        " topic diversification. Proceedings of the 14th International World Wide Web Conference."
    ),
    licence="not stated; its authors made it freely available for research that acknowledges them",
    homepage="https://grouplens.org/datasets/book-crossing/",
    share=0.38,  # 37.94 % are positive
    read=read,
    files=(File(_ARCHIVE),),
    steps=(
        "the original page (www2.informatik.uni-freiburg.de/~cziegler/BX) is gone; find a copy of"
        " BX-CSV-Dump.zip, with BX-Users.csv, BX-Books.csv and BX-Book-Ratings.csv, and leave it zipped."
    ),
)
