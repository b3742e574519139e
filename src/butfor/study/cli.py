"""The command line of the study: `butfor study datasets`, `download`, `run`, `report`."""

import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from butfor._extras import install_line
from butfor._terminal import BAD_INPUT, print_error, table_console
from butfor.errors import ButforError

if TYPE_CHECKING:
    from rich.text import Text

app = typer.Typer(
    no_args_is_help=True,
    help="Compare searches as the paper does: on its data sets and models, with its tables and figures.",
)
OF_EXTRA = ("filelock", "matplotlib", "nltk", "platformdirs", "pooch", "pyarrow")
Additions = Annotated[
    list[Path] | None,
    typer.Option(
        "--add",
        help="A Python file of yours with DATASETS, MODELS or SEARCHES to add; it is run. May be repeated.",
    ),
]


@app.command()
def datasets(
    read: Annotated[
        bool, typer.Option("--read", help="Read all that are here, to compare; takes minutes the first time.")
    ] = False,
    add: Additions = None,
) -> None:
    """List the data sets: which are here, and their shape beside that of the paper's table."""
    from rich.console import Console
    from rich.table import Table

    from butfor.study.datasets import cache_folder, data_folder
    from butfor.study.loading import known_shape, load
    from butfor.study.registry import registry

    console = table_console()
    table = Table("data set", "kind", "here", box=None, pad_edge=False)
    for column in ("rows × features", "in the paper", "positive", "in the paper", "sparsity", "in the paper"):
        table.add_column(column, justify="right")
    with _bad_input():
        cache, known = cache_folder() / "loaded", registry(tuple(add or ()))
        for name, dataset in known.datasets.items():
            try:
                if read and dataset.is_present():
                    with Console(stderr=True, markup=False).status(f"reading {name}"):
                        load(known, name, cache)
                shapes = list(_shapes(dataset, known_shape(dataset, cache)))
            except Exception as error:  # the others are still listed
                shapes = [f"{type(error).__name__}: {error}"]
            table.add_row(name, dataset.kind, _presence(dataset), *shapes)
        folder = data_folder()
    console.print(table)
    console.print(f"\nData folder: {folder} (set BUTFOR_DATA to use another)", soft_wrap=True)
    console.print(
        "NAME:generated is a made-up stand-in with the shape of the paper's table, for those that are private"
        " or need a sign-up.",
        soft_wrap=True,
    )


def _shapes(dataset: Any, here: Any) -> Iterator[str]:
    """Yield shape, positive share and sparsity as text, each here and in the paper."""
    from butfor.study.paper import paper_datasets

    in_paper = paper_datasets().get(dataset.name)
    yield f"{here.rows:,} × {here.features:,}" if here else "not read yet" * dataset.is_present()
    yield f"{in_paper.rows:,} × {in_paper.features:,}" if in_paper else ""
    yield f"{here.positive_percent:.4g} %" if here else ""
    yield f"{in_paper.positive_percent:.4g} %" if in_paper else ""
    yield f"{here.sparsity_percent:.2f} %" if here else ""
    yield f"{in_paper.sparsity_percent:.2f} %" if in_paper else ""


@app.command()
def download(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Data sets, as `butfor study datasets` lists them.")
    ],
    add: Additions = None,
) -> None:
    """Fetch data sets from their original sources into the data folder."""
    from butfor.study.datasets import data_folder
    from butfor.study.download import bar
    from butfor.study.download import download as fetch
    from butfor.study.registry import registry

    with _bad_input():
        wanted = [registry(tuple(add or ())).dataset(name) for name in names]
        for dataset in wanted:
            typer.echo(
                f"{dataset.name}: {dataset.citation}\nLicence: {dataset.licence}\nFrom: {dataset.homepage}"
            )
            for path in fetch(dataset, data_folder(), progress=bar):
                typer.echo(f"here: {path}")


@app.command()
def run(
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="Data sets, with commas or repeated. Default: the six of the paper in docs/study.md."
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(help="Models. Default: the paper's two for the kind of data."),
    ] = None,
    searches: Annotated[
        list[str] | None,
        typer.Option(help="Searches, perhaps with parameters as in lime-c:n_samples=500. Default: eight."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows to explain of each case at most. Default: 300.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Runs of searches with chance. Default: 5.")] = None,
    tradeoff_rows: Annotated[
        int | None, typer.Option(help="Rows for the trade-off of work and effect; 0 for none. Default: 30.")
    ] = None,
    max_size: Annotated[int | None, typer.Option(help="The most features of an answer. Default: 30.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Time limit of a row. Default: 120.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the choice of rows and of the searches. Default: 0.")
    ] = None,
    removal: Annotated[
        str | None,
        typer.Option(
            help="zero: features are set to zero; delete: words are cut out of texts. Default: zero."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rows of the two data sets that ship with butfor.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Worker processes. Default: one a core.")] = None,
    out: Annotated[Path, typer.Option(help="Where results are kept; an earlier run is continued.")] = Path(
        "butfor-study"
    ),
    add: Additions = None,
) -> None:
    """Run the comparison, or what is still missing of it."""
    from dataclasses import replace

    from joblib import cpu_count

    from butfor.study.plan import QUICK, StudySettings
    from butfor.study.run import run_study
    from butfor.study.store import FILE

    options: dict[str, Any] = {
        "datasets": _listed(datasets),
        "models": _listed(models),
        "searches": _listed(searches),
        "rows": rows,
        "repeats": repeats,
        "tradeoff_rows": tradeoff_rows,
        "max_size": max_size,
        "max_seconds": max_seconds,
        "seed": seed,
        "removal": removal,
        "additions": tuple(add) if add else None,
    }
    with _bad_input(), _progress() as progress:
        settings = replace(
            QUICK if quick else StudySettings(),
            **{name: each for name, each in options.items() if each is not None},
        )
        command = shlex.join(["butfor", *sys.argv[1:]])
        study = run_study(
            settings, out, jobs=cpu_count() if jobs is None else jobs, command=command, progress=progress
        )
    for failure in study.about["failures"]:
        print_error(failure)
    n_errors = sum(result.status == "error" for result in study.results)
    typer.echo(
        f"{len(study.results):,} results in {out / FILE}" + f", {n_errors:,} of them errors" * bool(n_errors)
    )
    typer.echo(f"Tables and figures: butfor study report {shlex.quote(str(out))}")
    if study.about["failures"]:
        raise typer.Exit(BAD_INPUT)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of `butfor study run`.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the report. Default: DIR/report.")] = None,
) -> None:
    """Write the paper's tables and figures from results: Markdown, one HTML page, LaTeX, SVG and PNG."""
    from butfor.study.report import write_report
    from butfor.study.store import read_study

    with _bad_input():
        study = read_study(folder)
        for path in write_report(study, out or folder / "report"):
            typer.echo(f"written: {path}")


def _presence(dataset: Any) -> "Text":
    from rich.text import Text

    if dataset.is_present():
        return Text("yes", "green")
    if dataset.read is None:
        return Text("private", "dim")
    return Text("download" if dataset.downloads else "by hand", "yellow")


def _listed(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """Split at commas, but not before a plain number, which is a further value of a parameter."""
    if values is None:
        return None
    return tuple(each.strip() for value in values for each in re.split(r",(?!\d+(?:,|:|$))", value))


@contextmanager
def _bad_input() -> Iterator[None]:
    """Print what is wrong with the input or which package is missing, and exit."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in OF_EXTRA:
            raise
        print_error(f"This needs {error.name}: {install_line('study')}")
    except (ButforError, OSError) as error:
        print_error(str(error))
    else:
        return
    raise typer.Exit(BAD_INPUT)


@contextmanager
def _progress() -> Iterator[Any]:
    """Show progress bars with the time left; yield the function that updates them."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=600) as bars:
        tasks: dict[str, Any] = {}

        def update(what: str, n_done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=n_done, total=total)

        yield update
