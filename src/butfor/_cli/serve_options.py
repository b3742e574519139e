"""The options of `butfor serve` that no other command has."""

from pathlib import Path
from typing import Annotated

import typer

from butfor._cli.options import AGAIN, DATA_HELP, MODEL_HELP, SUBJECT, WORK

REACHED = "Where it is reached"

Model = Annotated[
    Path | None,
    typer.Argument(
        metavar="[MODEL]",
        help=MODEL_HELP,
        show_default=False,
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DATA]...",
        help=f"{DATA_HELP} Without any, people type or paste their own.",
        show_default=False,
    ),
]
Demo = Annotated[
    bool, typer.Option("--demo", help="Show the data sets that ship with butfor.", rich_help_panel=SUBJECT)
]
Results = Annotated[
    str | None,
    typer.Option(
        "--results",
        metavar="DIR",
        help="Show what butfor batch wrote to this folder; without a model, so nothing can be changed.",
        rich_help_panel=SUBJECT,
    ),
]
Port = Annotated[int, typer.Option(help="The port; 0 for any that is free.", rich_help_panel=REACHED)]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address to listen on. Any but this machine's own needs --token.",
        rich_help_panel=REACHED,
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        envvar="BUTFOR_TOKEN",
        help="Who does not have it is not let in. Other users of this machine may see options, but not the "
        "variable.",
        show_default=False,
        show_envvar=True,
        rich_help_panel=REACHED,
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=f"A name under which browsers reach the server, as behind a proxy. {AGAIN}",
        rich_help_panel=REACHED,
    ),
]
TrustProxy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        help="A proxy, or a network of them, whose X-Forwarded-Proto, -For and -Prefix are believed. "
        f"{AGAIN}",
        rich_help_panel=REACHED,
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.", rich_help_panel=REACHED)]
OpenHealth = Annotated[
    bool,
    typer.Option(
        "--open-health",
        help="Answer probes at health/live and health/ready without the token.",
        rich_help_panel=REACHED,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Processes that search. Default: one a core.", rich_help_panel=WORK),
]
