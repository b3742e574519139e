"""Fraud: private to the paper's authors, who do not describe it, so there is only a stand-in."""

from dataclasses import replace
from functools import partial

from butfor.study.datasets.base import Dataset
from butfor.study.datasets.generated import generated
from butfor.study.paper import paper_datasets

# The table's 6.4e-5 % of 858,131 rows would be half a row; as a share, not a percentage, it is 55 rows.
_PAPER = replace(paper_datasets()["fraud"], positive_percent=100 * paper_datasets()["fraud"].positive_percent)

DATASET = Dataset(
    name="fraud",
    kind="behaviour",
    target="fraudulent",
    citation=(
        "Y. Ramon, D. Martens, F. Provost, T. Evgeniou (2019). Counterfactual explanation algorithms for"
        " behavioral and textual data. arXiv 1912.01819."
    ),
    licence="private",
    homepage="https://arxiv.org/abs/1912.01819",
    share=0.01,
    generate=partial(generated, _PAPER),
)
