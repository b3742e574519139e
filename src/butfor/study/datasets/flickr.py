"""Flickr: who marked which picture as a favourite; positive are pictures with comments."""

from functools import partial
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.delimited import read_columns
from butfor.study.datasets.generated import generated
from butfor.study.datasets.pair_files import binary_matrix
from butfor.study.paper import paper_datasets

_PHOTOS = "flickr/flickr-all-photos.txt.gz"
_MARKINGS = "flickr/flickr-all-photo-favorite-markings.txt.gz"
_SAMPLE = 100_000


def read(folder: Path) -> Data:
    """Read 100,000 random pictures that somebody marked and whose number of comments is known.

    The paper also took 100,000 of the 11 million, but does not publish which ones, nor whether its positive
    36.91 % are those with comments or those without. So these are other pictures, and "with" is assumed.
    """
    photo = ["photo", "time", "owner", "views", "comments", "favourites"]
    known, comments = read_columns(folder / _PHOTOS, photo, ["photo", "comments"], delimiter="\t")
    users, photos = (
        column.astype(np.int64)
        for column in read_columns(
            folder / _MARKINGS, ["user", "photo", "time"], ["user", "photo"], delimiter="\t"
        )
    )
    numbers = known.astype(np.int64)
    eligible = numbers[(comments != "") & np.isin(numbers, photos)]
    sample = np.random.default_rng(0).permutation(eligible)[:_SAMPLE]
    marked, sampled = np.isin(photos, sample), np.isin(numbers, sample)
    commented = dict(zip(numbers[sampled].tolist(), comments[sampled] != "0", strict=True))
    X, rows, features = binary_matrix(photos[marked], users[marked])
    y = np.array([commented[photo] for photo in rows], dtype=np.int64)
    return Data(X=X, y=y, feature_names=tuple(f"user {user}" for user in features))


DATASET = Dataset(
    name="flickr",
    kind="behaviour",
    target="has comments",
    citation=(
        "M. Cha, A. Mislove, K. P. Gummadi (2009). A measurement-driven analysis of information propagation"
        " in the Flickr social network. WWW 2009."
    ),
    licence="not stated",
    homepage="http://socialnetworks.mpi-sws.org/data-www2009.html",
    share=0.20,
    read=read,
    files=(File(_PHOTOS), File(_MARKINGS)),
    steps=(
        "download flickr-all-photos.txt.gz and flickr-all-photo-favorite-markings.txt.gz of the complete data"
        " set, and put them in flickr/ as they are. The paper's own sample of 100,000 pictures is not"
        " published: another one is drawn."
    ),
    generate=partial(generated, paper_datasets()["flickr"]),
)
