"""The command line: `butfor explain`, `batch`, `serve`, `demo`, `searches` and `study`."""

from pathlib import Path
from typing import Annotated

import typer

from butfor import __version__
from butfor._cli.batching import batch
from butfor._cli.environment import FromEnvironment
from butfor._cli.explaining import explain
from butfor._cli.serving import serve
from butfor.study.cli import app as study

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Find the smallest set of a row's active features without which a classifier decides otherwise.",
)
app.add_typer(study, name="study")


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


app.command()(explain)
app.command(cls=FromEnvironment)(batch)
app.command(cls=FromEnvironment)(serve)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("butfor-demo.html"),
) -> None:
    """Train models on the two data sets that ship with butfor and explain some of their decisions."""
    from rich.console import Console

    from butfor._demo import run_demo

    run_demo(Console(), out)


@app.command()
def searches() -> None:
    """List the searches, with a line on each."""
    from rich.table import Table

    from butfor import SEARCHES
    from butfor._terminal import table_console

    table = Table("search", "what it does", box=None, pad_edge=False)
    for name, search in SEARCHES.items():
        table.add_row(name, (search.__doc__ or "").partition("\n")[0])
    table_console().print(table)
