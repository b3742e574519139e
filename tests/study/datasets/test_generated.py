from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from butfor.study.datasets import DATASETS, split
from butfor.study.datasets.generated import generated, mean_active
from butfor.study.paper import paper_datasets

pytestmark = pytest.mark.xdist_group("generated")  # generated once for all of them

STAND_INS = ("flickr", "fraud", "yahoomovies", "tafeng", "kdd2015", "facebook", "libimseti")


def reduced(name, rows):
    """The table's line with fewer rows and features, so that a feature has as many rows as before."""
    paper = DATASETS[name].generate.args[0]
    factor = rows / paper.rows
    features = round(paper.features * factor)
    mean = mean_active(paper)
    return replace(
        paper,
        rows=rows,
        features=features,
        sparsity_percent=round(100 - 100 * mean / features, 2),
        positive_percent=max(paper.positive_percent, 3.0),
    )


@pytest.fixture(scope="module")
def full():
    return DATASETS["yahoomovies"].generate()


def test_full_size_is_the_tables(full):
    paper = paper_datasets()["yahoomovies"]
    sparsity = 100 * (1 - full.X.nnz / (paper.rows * paper.features))

    assert full.X.shape == (paper.rows, paper.features)
    assert round(100 * full.y.mean(), 2) == paper.positive_percent
    assert abs(sparsity - paper.sparsity_percent) <= 0.0125
    assert len(full.feature_names) == paper.features


def test_cells_are_distinct_ones_and_no_row_or_column_is_empty(full):
    cells = set(zip(*full.X.nonzero(), strict=True))

    assert len(cells) == full.X.nnz
    assert set(full.X.data) == {1.0}
    assert full.X.sum(axis=0).min() >= 1
    assert full.X.sum(axis=1).min() >= 1


def test_both_tails_are_long(full):
    for counts in (np.asarray(full.X.sum(axis=0)).ravel(), np.asarray(full.X.sum(axis=1)).ravel()):
        assert counts.max() > 10 * counts.mean()
        assert np.median(counts) < 0.7 * counts.mean()


@pytest.mark.parametrize("name", [name for name in STAND_INS if name not in ("flickr", "fraud")])
def test_a_linear_model_learns_it_and_its_positives_are_as_active_as_the_papers(name):
    paper = reduced(name, 4_000)
    data = generated(paper)
    train, test = split(paper.rows)
    model = LogisticRegression(C=0.3, solver="liblinear").fit(data.X[train], data.y[train])
    scores = model.decision_function(data.X[test])
    n_active = np.diff(data.X.indptr)[test]
    first = np.argsort(-scores)[: round(len(test) * paper.predicted_positive_percent / 100)]
    of_the_paper = (paper.mean_active_linear + paper.mean_active_nonlinear) / 2

    assert roc_auc_score(data.y[test], scores) >= 0.75
    assert of_the_paper / 1.6 <= n_active[first].mean() <= of_the_paper * 1.6


def test_flickr_is_learnt_at_its_own_size():
    data = DATASETS["flickr"].generate()
    train, test = split(data.X.shape[0])
    model = LogisticRegression(C=0.1, solver="liblinear").fit(data.X[train], data.y[train])

    assert data.X.shape == (100_000, 190_991)
    assert data.y.sum() == 36_910
    assert np.diff(data.X.tocsc().indptr).min() >= 1
    assert roc_auc_score(data.y[test], model.decision_function(data.X[test])) >= 0.75


@pytest.mark.parametrize("name", STAND_INS)
def test_mean_active_agrees_with_the_printed_sparsity(name):
    paper = paper_datasets()[name]
    sparsity = 100 - 100 * mean_active(paper) / paper.features

    assert paper.sparsity_percent - 0.0051 <= sparsity <= paper.sparsity_percent + 0.0101


def test_fraud_reads_the_tables_percentage_as_a_share():
    paper = DATASETS["fraud"].generate.args[0]

    assert round(paper.rows * paper.positive_percent / 100) == 55


def test_the_seed_decides():
    paper = reduced("tafeng", 1_000)
    first, same, other = generated(paper), generated(paper), generated(paper, seed=1)

    assert (first.X != same.X).nnz == 0
    assert (first.y == same.y).all()
    assert (first.X != other.X).nnz > 0


def test_fewer_cells_than_features_leave_columns_empty_instead_of_failing():
    paper = replace(reduced("flickr", 500), features=5_000)

    assert generated(paper).X.shape == (500, 5_000)
