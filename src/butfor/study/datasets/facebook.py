"""Facebook likes and gender: private to the paper's authors, so there is only a stand-in."""

from functools import partial

from butfor.study.datasets.base import Dataset
from butfor.study.datasets.generated import generated
from butfor.study.paper import paper_datasets

DATASET = Dataset(
    name="facebook",
    kind="behaviour",
    target="gender",
    citation=(
        "D. Chen, S. P. Fraiberger, R. Moakler, F. Provost (2017). Enhancing transparency and control when"
        " drawing data-driven inferences about individuals. Big Data 5(3)."
    ),
    licence="private",
    homepage="https://arxiv.org/abs/1912.01819",
    share=0.30,
    generate=partial(generated, paper_datasets()["facebook"]),
)
