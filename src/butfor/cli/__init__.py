"""The command line: `butfor explain`, `butfor demo`, `butfor searches`, `butfor study`."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from butfor import SEARCHES, Budget, ButforError, Explainer, Explanation, InputError, Search, __version__
from butfor.render import facts
from butfor.searches.settings import with_settings
from butfor.study.cli import app as study
from butfor.terminal import BAD_INPUT, print_error, table_console

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Find the smallest set of a row's active features without which a classifier decides otherwise.",
)
app.add_typer(study, name="study")
FOUND, NOTHING_FOUND = 0, 1


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"butfor {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def explain(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A skops file; a pickle or joblib file needs --trust-pickle."),
    ],
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A sparse matrix, as scipy.sparse.save_npz writes it (.npz)."),
    ],
    row: Annotated[
        list[int] | None, typer.Option(help="Row to explain, from 0; may be given again. Default: all rows.")
    ] = None,
    search: Annotated[str, typer.Option(help=f"One of {', '.join(SEARCHES)}.")] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the search, such as n_samples=1000 or n_samples=100,1000; may be repeated.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Score from which on a decision is positive. Default: the model's own."),
    ] = None,
    names: Annotated[
        Path | None, typer.Option(help="Feature names: text, one a line, or a JSON list (.json).")
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(help="A feature, by name or column, that may not be removed; may be given again."),
    ] = None,
    max_size: Annotated[int, typer.Option(help="The most features an answer may have.")] = Budget.max_size,
    max_seconds: Annotated[float, typer.Option(help="Time limit for a row.")] = Budget.max_seconds,
    seed: Annotated[int, typer.Option(help="Seed of whatever is random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a row.")] = False,
    trust_pickle: Annotated[
        bool,
        typer.Option(
            "--trust-pickle",
            help="Load a pickle or joblib file. It can run any code: only for files you made.",
        ),
    ] = False,
    trust: Annotated[
        list[str] | None, typer.Option(help="A type inside a skops file that you trust; may be given again.")
    ] = None,
) -> None:
    """Explain rows of DATA as MODEL decides them.

    Ends with 0 if an explanation was found, 1 if none was, 2 if the input was bad or the model failed.
    """
    from butfor.files import load_matrix, load_model, load_names

    try:
        X = load_matrix(data)
        explainer = Explainer(
            load_model(model, trust_pickle=trust_pickle, trusted_types=trust or ()),
            feature_names=None if names is None else load_names(names),
            threshold=threshold,
            search=_search(search, settings or ()),
            budget=Budget(max_size=max_size, max_seconds=max_seconds),
            protected=[int(each) if each.isdecimal() else each for each in protect or ()],
            seed=seed,
        )
        rows = _checked_rows(row, X, explainer)
    except ButforError as error:
        print_error(str(error))
        raise typer.Exit(BAD_INPUT) from error
    n_found = n_failed = 0
    for number in rows:
        try:
            why = explainer.explain(X[[number]])
        except ButforError as error:  # this row's; the others are not lost
            n_failed += 1
            _print_failure(number, error, as_json=as_json)
        else:
            n_found += bool(why)
            _print_explanation(number, why, as_json=as_json)
    raise typer.Exit(BAD_INPUT if n_failed else FOUND if n_found else NOTHING_FOUND)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("butfor-demo.html"),
) -> None:
    """Train models on the two data sets that ship with butfor and explain some of their decisions."""
    from butfor.demo import run_demo

    run_demo(Console(), out)


@app.command()
def searches() -> None:
    """List the searches, with a line on each."""
    table = Table("search", "what it does", box=None, pad_edge=False)
    for name, search in SEARCHES.items():
        table.add_row(name, (search.__doc__ or "").partition("\n")[0])
    table_console().print(table)


def _search(name: str, settings: Iterable[str]) -> str | Search:
    """Give a search with its parameters set; an unknown one is the Explainer's to refuse."""
    return with_settings(SEARCHES[name], settings, argument="--set") if name in SEARCHES else name


def _checked_rows(wanted: list[int] | None, X: Any, explainer: Explainer) -> list[int] | range:
    n_rows, n_columns = X.shape
    if not n_rows:
        raise InputError("DATA must have at least one row, got none.")
    if explainer.n_features not in (None, n_columns):
        raise InputError(f"DATA must have {explainer.n_features:,} columns, as the model, got {n_columns:,}.")
    for number in wanted or ():
        if not 0 <= number < n_rows:
            raise InputError(f"--row must be from 0 to {n_rows - 1:,}, the rows of DATA, got {number:,}.")
    return wanted or range(n_rows)


def _print_explanation(number: int, why: Explanation, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"row": number, **why.to_dict()}, ensure_ascii=False))
        return
    console, label = Console(highlight=False), f"row {number}  "
    console.print(Text.assemble((label, "dim"), (str(why), "bold" if why else "")), soft_wrap=True)
    console.print(Text(" " * len(label) + facts(why), "dim"), soft_wrap=True)


def _print_failure(number: int, error: ButforError, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"row": number, "error": str(error)}, ensure_ascii=False))
    print_error(f"row {number}: {error}")
