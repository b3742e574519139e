"""MovieLens 1M: who rated which film; positive are women."""

from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.movielens import CITATION, LICENCE, fields, movielens


def read(folder: Path) -> Data:
    """Read ml-1m/."""
    people = fields(folder / "ml-1m/users.dat", "::")
    films = fields(folder / "ml-1m/movies.dat", "::")
    return movielens(
        folder / "ml-1m/ratings.dat",
        "::",
        gender_of={int(person): gender for person, gender, *_ in people},
        title_of={int(film): title for film, title, *_ in films},
    )


DATASET = Dataset(
    name="movielens_1m",
    kind="behaviour",
    target="female",
    citation=CITATION,
    licence=LICENCE,
    homepage="https://grouplens.org/datasets/movielens/1m/",
    share=0.25,
    read=read,
    files=(
        File("ml-1m/ratings.dat", sha256="506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f"),
        File("ml-1m/users.dat", sha256="1dc3a95300cb19f7c10e027daf29b8cdf1d908dab65b5edfb45950aa389a10a3"),
        File("ml-1m/movies.dat", sha256="0140fc2356357c1a851d0f52e893a1e4d3696df632c4141cea8d5bc3d621f0b9"),
    ),
    downloads=(
        Download(
            url="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
            to=".",
            sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
            unpack="zip",
        ),
    ),
)
