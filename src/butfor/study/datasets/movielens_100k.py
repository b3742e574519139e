"""MovieLens 100K: who rated which film; positive are women."""

from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.movielens import CITATION, LICENCE, fields, movielens


def read(folder: Path) -> Data:
    """Read ml-100k/."""
    people = fields(folder / "ml-100k/u.user", "|")
    films = fields(folder / "ml-100k/u.item", "|")
    return movielens(
        folder / "ml-100k/u.data",
        "\t",
        gender_of={int(person): gender for person, _, gender, *_ in people},
        title_of={int(film): title for film, title, *_ in films},
    )


DATASET = Dataset(
    name="movielens_100k",
    kind="behaviour",
    target="female",
    citation=CITATION,
    licence=LICENCE,
    homepage="https://grouplens.org/datasets/movielens/100k/",
    share=0.25,
    read=read,
    files=(
        File("ml-100k/u.data", sha256="06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"),
        File("ml-100k/u.user", sha256="f120e114da2e8cf314fd28f99417c94ae9ddf1cb6db8ce0e4b5995d40e90e62c"),
        File("ml-100k/u.item", sha256="553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701"),
    ),
    downloads=(
        Download(
            url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
            to=".",
            sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            unpack="zip",
        ),
    ),
)
