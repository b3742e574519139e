"""KDD Cup 2015: what students did in an online course; positive are those who stay."""

from functools import partial
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.delimited import read_columns
from butfor.study.datasets.generated import generated
from butfor.study.datasets.pair_files import binary_matrix
from butfor.study.paper import paper_datasets

_LOG, _TRUTH = "kdd2015/log_train.csv", "kdd2015/truth_train.csv"


def read(folder: Path) -> Data:
    """Read which objects of a course each enrolment used; label 1 is a student who stays.

    The paper names the target "dropout", but its class of interest is always the minority, 20.71 % here,
    and 79 % of the enrolments drop out: label 1 of the file is class 0.
    """
    log = ["enrolment", "time", "source", "event", "object"]
    enrolments, objects = read_columns(folder / _LOG, log, ["enrolment", "object"], header=True)
    known, dropouts = read_columns(folder / _TRUTH, ["enrolment", "dropout"], ["enrolment", "dropout"])
    stays = {int(enrolment): dropout == "0" for enrolment, dropout in zip(known, dropouts, strict=True)}
    numbers = enrolments.astype(np.int64)
    labelled = np.isin(numbers, list(stays))
    X, rows, features = binary_matrix(numbers[labelled], objects[labelled])
    y = np.array([stays[enrolment] for enrolment in rows], dtype=np.int64)
    return Data(X=X, y=y, feature_names=tuple(f"object {key}" for key in features))


DATASET = Dataset(
    name="kdd2015",
    kind="behaviour",
    target="does not drop out",
    citation="KDD Cup 2015: predicting dropouts in MOOC. XuetangX and ACM SIGKDD, 2015.",
    licence="not stated",
    homepage="http://moocdata.cn/challenges/kdd-cup-2015",
    share=0.20,
    read=read,
    files=(File(_LOG), File(_TRUTH)),
    steps=(
        "sign up for the competition's data (or for a copy of it on Kaggle) and put log_train.csv and"
        " truth_train.csv in kdd2015/."
    ),
    generate=partial(generated, paper_datasets()["kdd2015"]),
)
