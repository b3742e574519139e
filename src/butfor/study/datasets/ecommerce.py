"""E-commerce: which products were viewed in a session of a web shop; positive are sessions of men."""

from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.pair_files import binary_matrix

_VIEWS, _LABELS = "pakdd2015/trainingData.csv", "pakdd2015/trainingLabels.csv"


def read(folder: Path) -> Data:
    """Read the sessions: a line has session, start, end and the views `A/B/C/product/`, joined by `;`."""
    sessions = (folder / _VIEWS).read_text(encoding="ascii").splitlines()
    labels = (folder / _LABELS).read_text(encoding="ascii").splitlines()
    pairs = [
        (row, view.strip("/").rpartition("/")[2])
        for row, session in enumerate(sessions)
        for view in session.split(",")[3].split(";")
    ]
    X, _, products = binary_matrix(*zip(*pairs, strict=True))
    y = np.array([label == "male" for label in labels], dtype=np.int64)
    return Data(X=X, y=y, feature_names=tuple(products))


DATASET = Dataset(
    name="ecommerce",
    kind="behaviour",
    target="male",
    citation="PAKDD 2015 data mining competition: gender prediction based on e-commerce data, by FPT.",
    licence="not stated",
    homepage="https://knowledgepit.ai",
    share=0.15,
    read=read,
    files=(File(_VIEWS), File(_LABELS)),
    steps=(
        "sign up, find the PAKDD 2015 competition among the finished ones, and put its trainingData.csv and"
        " trainingLabels.csv in pakdd2015/."
    ),
)
