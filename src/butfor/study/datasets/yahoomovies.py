"""Yahoo! Movies: who rated which film; positive are women."""

from functools import partial
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.delimited import read_columns
from butfor.study.datasets.generated import generated
from butfor.study.datasets.pair_files import binary_matrix
from butfor.study.paper import paper_datasets

_RATINGS = "yahoomovies/ydata-ymovies-user-movie-ratings-train-v1_0.txt"
_PEOPLE = "yahoomovies/ydata-ymovies-user-demographics-v1_0.txt"


def read(folder: Path) -> Data:
    """Read the training ratings. By the source's readme they have the paper's 7,642 users and 11,915 films.

    The test ratings are left out: they would add films that the paper's table does not have.
    """
    rating = ["user", "film", "rating", "converted"]
    users, films = read_columns(folder / _RATINGS, rating, ["user", "film"], delimiter="\t")
    known, genders = read_columns(
        folder / _PEOPLE, ["user", "born", "gender"], ["user", "gender"], delimiter="\t"
    )
    gender_of = {user: gender.upper() for user, gender in zip(known, genders, strict=True) if gender}
    known_gender = np.array([user in gender_of for user in users], dtype=bool)
    X, rows, features = binary_matrix(users[known_gender], films[known_gender])
    y = np.array([gender_of[user] == "F" for user in rows], dtype=np.int64)
    return Data(X=X, y=y, feature_names=tuple(f"film {film}" for film in features))


DATASET = Dataset(
    name="yahoomovies",
    kind="behaviour",
    target="female",
    citation="Yahoo! Webscope data set R4: Yahoo! Movies user ratings and descriptive content, version 1.0.",
    licence="Yahoo! data sharing agreement: approved non-commercial research only, no redistribution",
    homepage="https://webscope.sandbox.yahoo.com/catalog.php?datatype=r",
    share=0.20,
    read=read,
    files=(File(_RATINGS), File(_PEOPLE)),
    steps=(
        "sign up, ask for data set R4, sign the data sharing agreement, and unpack the archive so that"
        " yahoomovies/ holds its ydata-ymovies-*.txt files."
    ),
    generate=partial(generated, paper_datasets()["yahoomovies"]),
)
