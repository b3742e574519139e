"""Deezer: which artists a listener likes; the target is the gender. Public data similar to facebook."""

import csv
import json
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.pair_files import binary_matrix

_LIKES, _TARGETS = "deezer_europe/deezer_europe_features.json", "deezer_europe/deezer_europe_target.csv"


def read(folder: Path) -> Data:
    """Read the listeners who like at least one artist."""
    likes = json.loads((folder / _LIKES).read_text(encoding="utf-8"))
    pairs = [(int(listener), artist) for listener, artists in likes.items() for artist in artists]
    X, listeners, artists = binary_matrix(*zip(*pairs, strict=True))
    with (folder / _TARGETS).open(encoding="utf-8", newline="") as file:
        target_of = {int(record["id"]): int(record["target"]) for record in csv.DictReader(file)}
    y = np.array([target_of[listener] for listener in listeners], dtype=np.int64)
    return Data(X=X, y=y, feature_names=tuple(f"artist {artist}" for artist in artists))


DATASET = Dataset(
    name="deezer",
    kind="behaviour",
    target="gender 1, as derived from the name; the source does not say which",
    citation=(
        "B. Rozemberczki, R. Sarkar (2020). Characteristic functions on graphs: birds of a feather, from"
        " statistical descriptors to parametric models. Proceedings of the 29th ACM International Conference"
        " on Information and Knowledge Management."
    ),
    licence="not stated",
    homepage="https://snap.stanford.edu/data/feather-deezer-social.html",
    share=0.45,  # 44.48 % are positive
    read=read,
    files=(File(_LIKES), File(_TARGETS)),
    downloads=(
        Download(
            url="https://snap.stanford.edu/data/deezer_europe.zip",
            to=".",
            sha256="dd66a73f8d8690b5bc300ba378883fb2c2f6316aec8917b6a2428e352fc9e498",
            unpack="zip",
        ),
    ),
)
