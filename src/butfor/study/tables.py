"""All tables of a study; in this file those of the data (the paper's Table 1) and of the models."""

from collections.abc import Sequence
from math import isnan

from butfor.study.cells import MISSING, Cell, ReportTable, cells, shown_dataset, trimmed
from butfor.study.claims import claim_tables
from butfor.study.comparing import comparison_tables
from butfor.study.measures import comparisons, of_paper
from butfor.study.paper import PaperData, paper_datasets
from butfor.study.results import GENERATED, Case, Study


def tables(study: Study) -> tuple[ReportTable, ...]:
    """Return every table of the report, in the order of the report."""
    compared = comparisons(study)
    return (
        _data(study.cases),
        _models(study.cases),
        *comparison_tables(compared),
        *claim_tables(study, compared),
    )


def _data(cases: Sequence[Case]) -> ReportTable:
    datasets = list(dict.fromkeys(case.dataset for case in cases))
    return ReportTable(
        name="data",
        title="Data",
        caption="The share of positive rows, the sparsity, the test rows with the share that is predicted "
        "positive, and the active features of these, on average, for the paper's linear and non-linear "
        "model.",
        columns=(
            *("Data set", "Type", "Target", "Rows", "Features", "Positive %", "Sparsity %"),
            *("Test rows (predicted %)", "Active, linear", "Active, non-linear"),
        ),
        rows=tuple(_data_row([case for case in cases if case.dataset == name]) for name in datasets),
        n_labels=3,
    )


def _data_row(cases: Sequence[Case]) -> tuple[Cell, ...]:
    case = cases[0]
    ours = _figures(
        case.n_rows,
        case.n_features,
        case.positive_percent,
        case.sparsity_percent,
        case.n_test,
        100 * case.n_positive / case.n_test,
        *(_mean_active(cases, linear=linear) for linear in (True, False)),
    )
    known = paper_datasets().get(case.dataset.removesuffix(GENERATED))
    paper = [None] * len(ours) if known is None else [Cell(text) for text in _paper_figures(known)]
    labels = cells(shown_dataset(case.dataset), case.kind, case.target)
    return (*labels, *(Cell(text, paper=theirs) for text, theirs in zip(ours, paper, strict=True)))


def _mean_active(cases: Sequence[Case], *, linear: bool) -> float | None:
    return next((case.mean_active for case in cases if case.linear == linear and of_paper(case)), None)


def _paper_figures(paper: PaperData) -> list[str]:
    return _figures(
        paper.rows,
        paper.features,
        paper.positive_percent,
        paper.sparsity_percent,
        paper.test_rows,
        paper.predicted_positive_percent,
        paper.mean_active_linear,
        paper.mean_active_nonlinear,
    )


def _figures(
    rows: int,
    features: int,
    positive: float,
    sparsity: float,
    test_rows: int,
    predicted: float,
    active_linear: float | None,
    active_other: float | None,
) -> list[str]:
    active = [MISSING if each is None else f"{each:.2f}" for each in (active_linear, active_other)]
    share = f"{positive:.2g}" if positive < 0.01 else f"{positive:.2f}"
    tested = f"{test_rows:,} ({trimmed(predicted, 1)})"
    return [f"{rows:,}", f"{features:,}", share, f"{sparsity:.2f}", tested, *active]


def _models(cases: Sequence[Case]) -> ReportTable:
    return ReportTable(
        name="models",
        title="Models",
        caption="What was tuned, the area under the ROC curve on the test rows, the threshold, how many test "
        "rows are predicted positive, and how many of these are explained.",
        columns=("Data set", "Model", "Tuned", "AUC", "Threshold", "Positive", "Explained"),
        rows=tuple(
            cells(
                shown_dataset(case.dataset),
                case.model,
                case.parameters,
                MISSING if isnan(case.auc) else f"{case.auc:.3f}",
                f"{case.threshold:.3g}",
                f"{case.n_positive:,}",
                f"{case.n_explained:,}",
            )
            for case in cases
        ),
        n_labels=3,
    )
