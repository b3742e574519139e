"""The options of `butfor serve` that no other command has."""

from pathlib import Path
from typing import Annotated

import typer

from butfor._cli.options import AGAIN, DATA_HELP, MODEL_HELP, SUBJECT, WORK

REACHED = "Where it is reached"
RUN = "How it runs"

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
    typer.Option(
        help="Processes that search. Default: one for each core that this process may use.",
        rich_help_panel=WORK,
    ),
]
Reserve = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Further processes, for other clients once one keeps all --jobs busy. Default: 1; 0 where all "
        "clients are on this machine.",
        rich_help_panel=WORK,
    ),
]
MaxWait = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="How long a request may wait for a free process before it is answered 503.",
        rich_help_panel=WORK,
    ),
]
RefuseSeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="How long a row is refused after it has killed or hung a process; 0: not at all.",
        rich_help_panel=WORK,
    ),
]
WorkerMemory = Annotated[
    int | None,
    typer.Option(
        metavar="MIB",
        help="MiB that each process may take; a request that needs more fails. Default: no limit.",
        rich_help_panel=WORK,
    ),
]
WorkerCalls = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Replace each process after so many requests. Default: never.",
        rich_help_panel=WORK,
    ),
]
DrainSeconds = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="How long running requests may take after SIGTERM.",
        rich_help_panel=RUN,
    ),
]
LogFormat = Annotated[
    str,
    typer.Option(
        metavar="text|json",
        help="How requests and events are logged to the standard error, a line each.",
        rich_help_panel=RUN,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Log only what goes wrong, and no requests.", rich_help_panel=RUN)
]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        help="Publish metrics for Prometheus at this port. Default: not at all.",
        rich_help_panel=RUN,
    ),
]
MetricsHost = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address at which metrics are published, to all who can reach it.",
        rich_help_panel=RUN,
    ),
]
ReloadSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Look so often whether MODEL, DATA or --results have changed, and load them again. Default: "
        "never; SIGHUP and POST /reload load them at any time.",
        rich_help_panel=RUN,
    ),
]
