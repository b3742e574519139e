"""The paper's Tables 2 to 4: percentage explained, size and seconds, with marks for best and worse."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from butfor.study import measures
from butfor.study.cells import MISSING, Cell, ReportTable, file_name, shown_dataset, trimmed, two_digits
from butfor.study.measures import Comparison, Measured, blocks, in_order, of_paper
from butfor.study.paper import PaperResult, paper_results
from butfor.study.results import GENERATED
from butfor.study.significance import is_significantly_worse

MILLISECONDS_BELOW = 0.01
"""If a median is below this, tables are in milliseconds instead of the paper's seconds."""


@dataclass(frozen=True)
class MeasureDisplay:
    """How a table shows one measure."""

    name: str
    """The name of the measure in `paper_results`."""
    title: str
    caption: str
    measure: Callable[[Comparison], dict[str, Measured]]
    n_rows: Callable[[Comparison], int]
    """Returns the number of rows that the figures are computed from."""
    high_is_best: bool = False
    factor: float = 1.0
    """Factor from the unit of the measure to the unit of the table."""
    write: Callable[[float], str] = trimmed
    write_paper: Callable[[float], str] = trimmed


@dataclass(frozen=True)
class CaseFigures:
    """Our figures for one case, and the paper's, by search."""

    ours: dict[str, Measured]
    paper: dict[str, PaperResult]


EXPLAINED = MeasureDisplay(
    "explained_percent",
    "Percentage explained",
    "The share of the rows for which an answer within the size limit was found, on average over the repeats.",
    measures.explained_percent,
    n_rows=lambda each: len(each.rows),
    high_is_best=True,
)
SIZE = MeasureDisplay(
    "size",
    "Size",
    "Features in the answer: median (quartiles) over the rows that every search explained in every repeat, "
    "on average over the repeats. The size of random's answers is not limited.",
    measures.size,
    n_rows=lambda each: int(each.common(with_random=True).sum()),
)


def comparison_tables(compared: Sequence[Comparison]) -> list[ReportTable]:
    """Return the three tables for each kind of model."""
    kinds = (EXPLAINED, SIZE, _time(compared))
    return [_table(display, block, inside) for display in kinds for block, inside in blocks(compared).items()]


def _time(compared: Iterable[Comparison]) -> MeasureDisplay:
    """Return the display of times: in seconds as in the paper, or in milliseconds if some median is small."""
    medians = [each.value for one in compared for each in measures.seconds(one).values()]
    small = bool(medians) and min(medians) < MILLISECONDS_BELOW
    unit = "milliseconds" if small else "seconds"
    return MeasureDisplay(
        "seconds",
        unit.capitalize(),
        f"Time for an answer in {unit}: median (quartiles) over the rows that every search explained in "
        f"every repeat, on average over the repeats; the paper's figures are in {unit} too.",
        measures.seconds,
        n_rows=lambda each: int(each.common(with_random=False).sum()),
        factor=1000.0 if small else 1.0,
        write=two_digits if small else _two_decimals,
        write_paper=_whole if small else _two_decimals,
    )


def _two_decimals(value: float) -> str:
    return f"{value:,.2f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _table(display: MeasureDisplay, block: str, compared: Sequence[Comparison]) -> ReportTable:
    figures_of = [CaseFigures(display.measure(each), _paper(each, display.name)) for each in compared]
    searches = in_order(search for figures in figures_of for search in figures.ours)
    rows = [
        (
            Cell(shown_dataset(each.case.dataset)),
            Cell(_rows(each, display)),
            *_cells(figures, searches, display),
        )
        for each, figures in zip(compared, figures_of, strict=True)
    ]
    average = (Cell("Average"), Cell(""), *_averages(figures_of, searches, display))
    wins = (Cell("Wins"), Cell(""), *_wins([row[2:] for row in rows]))
    return ReportTable(
        name=file_name(f"{display.name.replace('_', ' ')} {block}"),
        title=f"{display.title}, {block}",
        caption=display.caption,
        columns=("Data set", "Rows", *searches),
        rows=(*rows, average, wins),
        n_summary=2,
    )


def _paper(compared: Comparison, measure: str) -> dict[str, PaperResult]:
    case = compared.case
    dataset = case.dataset.removesuffix(GENERATED)
    return {
        search: figure
        for (name, linear, search, what), figure in paper_results().items()
        if of_paper(case)
        and case.removal == "zero"
        and (name, linear, what) == (dataset, case.linear, measure)
    }


def _rows(compared: Comparison, display: MeasureDisplay) -> str:
    used, planned = display.n_rows(compared), compared.case.n_explained
    return f"{used:,}" if used == planned else f"{used:,} of {planned:,}"


def _cells(figures: CaseFigures, searches: Sequence[str], display: MeasureDisplay) -> list[Cell]:
    best = _best(figures.ours, display, display.write)
    opponent = min((figures.ours[search] for search in best), key=lambda each: each.mean, default=None)
    marked = []
    for search in searches:
        paper = _paper_cell(figures.paper, search, display)
        ours = figures.ours.get(search)
        if ours is None or opponent is None:
            marked.append(Cell(MISSING, paper=paper))
            continue
        worse = search not in best and is_significantly_worse(ours.by_row, opponent.by_row)
        text = _text(ours, display.factor, display.write)
        marked.append(Cell(text, bold=search in best, underlined=worse, paper=paper))
    return marked


def _paper_cell(paper: Mapping[str, PaperResult], search: str, display: MeasureDisplay) -> Cell | None:
    if search not in paper:
        return None
    text = _text(paper[search], display.factor, display.write_paper)
    bold = search in _best(paper, display, display.write_paper)
    return Cell(text, bold=bold, underlined=paper[search].significantly_worse)


def _best(
    figures: Mapping[str, Measured | PaperResult], display: MeasureDisplay, write: Callable[[float], str]
) -> set[str]:
    """Return the searches whose figure reads the same as the best one."""
    texts = {search: write(display.factor * each.value) for search, each in figures.items()}
    ranked = sorted(figures, key=lambda search: figures[search].value, reverse=display.high_is_best)
    return {search for search in figures if texts[search] == texts[ranked[0]]}


def _text(figure: Measured | PaperResult, factor: float, write: Callable[[float], str]) -> str:
    if figure.q1 is None or figure.q3 is None:
        return write(factor * figure.value)
    value, q1, q3 = (write(factor * each) for each in (figure.value, figure.q1, figure.q3))
    return f"{value} ({q1}–{q3})"


def _averages(
    figures_of: Sequence[CaseFigures], searches: Sequence[str], display: MeasureDisplay
) -> list[Cell]:
    """Average over the data sets on which every search has a figure, so that averages can be compared."""
    full = [each for each in figures_of if all(search in each.ours for search in searches)]
    ours = [_average([each.ours.get(search) for each in full], display) for search in searches]
    paper = [_average([each.paper.get(search) for each in full], display) for search in searches]
    return _summary(ours, paper, display.write, max if display.high_is_best else min)


def _average(figures: Sequence[Measured | PaperResult | None], display: MeasureDisplay) -> float | None:
    values = [display.factor * each.value for each in figures if each is not None]
    return sum(values) / len(values) if values and len(values) == len(figures) else None


def _wins(rows: Sequence[Sequence[Cell]]) -> list[Cell]:
    """Count the best figures of each column; the paper's only if it has figures for all the data sets."""
    ours: list[float | None] = []
    paper: list[float | None] = []
    for column in zip(*rows, strict=True):
        theirs = [cell.paper for cell in column if cell.paper is not None]
        ours.append(sum(cell.bold for cell in column))
        paper.append(sum(cell.bold for cell in theirs) if len(theirs) == len(column) else None)
    return _summary(ours, paper, _whole, max)


def _summary(
    ours: Sequence[float | None],
    paper: Sequence[float | None],
    write: Callable[[float], str],
    best_of: Callable[[Iterable[float]], float],
) -> list[Cell]:
    """Return a table row of our figures and the paper's, with the best of each in bold."""

    def marked(figures: Sequence[float | None]) -> list[Cell | None]:
        known = [each for each in figures if each is not None]
        best = write(best_of(known)) if known else MISSING
        return [None if each is None else Cell(write(each), bold=write(each) == best) for each in figures]

    return [
        replace(mine or Cell(MISSING), paper=theirs)
        for mine, theirs in zip(marked(ours), marked(paper), strict=True)
    ]
