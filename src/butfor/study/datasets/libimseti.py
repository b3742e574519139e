"""LibimSeTi: who rated which profile of a dating site; positive are women."""

from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.delimited import read_columns
from butfor.study.datasets.generated import generated
from butfor.study.datasets.pair_files import binary_matrix
from butfor.study.paper import paper_datasets

_RATINGS, _GENDERS = "libimseti/ratings.dat", "libimseti/gender.dat"


def read(folder: Path) -> Data:
    """Read the users of known gender. Those who rated nobody have empty rows, which come last.

    The paper has 137,806 rows, but only 135,359 users rated somebody, so it must count the others as well.
    """
    known, genders = read_columns(folder / _GENDERS, ["user", "gender"], ["user", "gender"])
    gender_of = {int(user): gender for user, gender in zip(known, genders, strict=True) if gender != "U"}
    users, profiles = (
        column.astype(np.int64)
        for column in read_columns(folder / _RATINGS, ["user", "profile", "rating"], ["user", "profile"])
    )
    known_gender = np.isin(users, list(gender_of))
    X, rows, features = binary_matrix(users[known_gender], profiles[known_gender])
    silent = sorted(set(gender_of) - set(rows))
    return Data(
        X=sparse.vstack([X, sparse.csr_matrix((len(silent), len(features)))], format="csr"),
        y=np.array([gender_of[user] == "F" for user in [*rows, *silent]], dtype=np.int64),
        feature_names=tuple(f"profile {profile}" for profile in features),
    )


DATASET = Dataset(
    name="libimseti",
    kind="behaviour",
    target="female",
    citation=(
        "L. Brožovský, V. Petříček (2007). Recommender system for online dating service. Proceedings of"
        " Znalosti 2007, arXiv cs/0703042."
    ),
    licence="not stated",
    homepage="http://www.occamslab.com/petricek/data/",
    share=0.30,
    read=read,
    files=(File(_RATINGS), File(_GENDERS)),
    downloads=(
        Download(url="http://www.occamslab.com/petricek/data/libimseti-complete.zip", to=".", unpack="zip"),
    ),
    generate=partial(generated, paper_datasets()["libimseti"]),
)
