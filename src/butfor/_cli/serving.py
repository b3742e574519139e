"""`butfor serve`: a page and a service in one process, until somebody ends it."""

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from butfor._checks import require_count, require_seconds
from butfor._cli import options, serve_options
from butfor._cli.failing import bad_input
from butfor._extras import optional
from butfor.budget import Budget
from butfor.errors import InputError

MAX_SECONDS = 10.0
"""Nobody waits longer before a page."""
LOG_FORMATS = ("text", "json")


@bad_input()
def serve(
    context: typer.Context,
    model: serve_options.Model = None,
    data: serve_options.Data = None,
    demo: serve_options.Demo = False,
    results: serve_options.Results = None,
    id_column: options.IdColumn = None,
    feature_column: options.FeatureColumn = None,
    value_column: options.ValueColumn = None,
    text_column: options.TextColumn = None,
    threshold: options.Threshold = None,
    target: options.Target = None,
    label: options.Label = None,
    port: serve_options.Port = 8000,
    host: serve_options.Host = "127.0.0.1",
    token: serve_options.Token = None,
    allow_host: serve_options.AllowHost = None,
    trust_proxy: serve_options.TrustProxy = None,
    open_browser: serve_options.Open = False,
    open_health: serve_options.OpenHealth = False,
    removal: options.Removal = None,
    unit: options.Unit = None,
    mask_token: options.MaskToken = "[MASK]",
    absent: options.Absent = None,
    kinds: options.Kinds = None,
    groups: options.Groups = None,
    costs: options.Costs = None,
    protect: options.Protect = None,
    search: options.SearchName = "auto",
    settings: options.Settings = None,
    max_size: options.MaxSize = Budget.max_size,
    max_seconds: options.MaxSeconds = MAX_SECONDS,
    max_scorings: options.MaxScorings = None,
    seed: options.Seed = 0,
    names: options.Names = None,
    class_names: options.ClassNames = None,
    subject: options.SubjectWords = None,
    decision: options.Decision = None,
    jobs: serve_options.Jobs = None,
    reserve: serve_options.Reserve = None,
    max_wait: serve_options.MaxWait = 30.0,
    refuse_seconds: serve_options.RefuseSeconds = 300.0,
    worker_memory: serve_options.WorkerMemory = None,
    worker_calls: serve_options.WorkerCalls = None,
    drain_seconds: serve_options.DrainSeconds = 20.0,
    log_format: serve_options.LogFormat = "text",
    quiet: serve_options.Quiet = False,
    metrics_port: serve_options.MetricsPort = None,
    metrics_host: serve_options.MetricsHost = "127.0.0.1",
    reload_seconds: serve_options.ReloadSeconds = None,
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
) -> None:
    """Show MODEL's decisions on DATA in a browser, take evidence away by hand, and answer over HTTP.

    Listens on this machine alone, unless --host says otherwise. Ctrl-C ends it.
    """
    _require_one(model, demo, results)
    from butfor._cli import serving_workspaces as shown  # takes its time
    from butfor._processes.template import USUAL_MODULES, begin_imports

    if model is None:
        shown.require_no_model_options(context, "--demo" if demo else "--results")
    limits = _limits(context.params)
    serving, logs = (optional(f"butfor._web.{name}", extra="web") for name in ("serving", "logs"))
    serving.require_token(host, token)  # before anything that takes its time
    for name in allow_host or ():
        serving.require_name(name)
    for address in trust_proxy or ():
        optional("butfor._web.proxies", extra="web").require_proxy(address)
    serving.listening(host, port).close()
    metrics_at = None if metrics_port is None else (metrics_host, metrics_port)
    if metrics_at is not None:
        serving.listening(*metrics_at, option="--metrics").close()
    if results is None:  # results need no workers
        begin_imports(*USUAL_MODULES)  # while the model is loaded
    with logs.logging_to(sys.stderr, log_format, quiet=quiet), _until_ended():
        reloader = shown.reloader_of(context.params)  # knows the files as they are before they are read
        serving.serve(
            shown.workspaces_of(context.params),
            host=host,
            port=port,
            token=token,
            hosts=allow_host or (),
            open_browser=open_browser,
            limits=limits,
            jobs=jobs,
            reserve=reserve,
            open_health=open_health,
            proxies=trust_proxy or (),
            metrics_at=metrics_at,
            reloader=reloader,
            shows_token=not _is_from_environment(context, "token"),
            ready=partial(_print_address, token=token),
        )


def _require_one(model: Path | None, demo: bool, results: str | None) -> None:
    """Raise unless there is one thing to show."""
    choices = {"MODEL": model is not None, "--demo": demo, "--results": results is not None}
    chosen = [name for name, is_chosen in choices.items() if is_chosen]
    if len(chosen) != 1:
        raise InputError(
            "one of MODEL, --demo and --results DIR must be given, got "
            f"{' and '.join(chosen) or 'none'}: butfor serve --demo shows what there is to see."
        )


def _limits(params: dict[str, Any]) -> Any:
    """Return the limits that the options say; raise if one of them is wrong."""
    for name, at_least in (("jobs", 1), ("reserve", 0)):
        if params[name] is not None:
            require_count(f"--{name}", params[name], at_least=at_least)
    for name in ("max_wait", "reload_seconds"):
        if params[name] is not None:
            require_seconds(f"--{name.replace('_', '-')}", params[name])
    for name in ("refuse_seconds", "drain_seconds"):
        if params[name] != 0:
            require_seconds(f"--{name.replace('_', '-')}", params[name])
    if params["log_format"] not in LOG_FORMATS:
        raise InputError(
            f"--log-format must be one of {', '.join(LOG_FORMATS)}, got {params['log_format']!r}."
        )
    upkeep = optional("butfor._web.upkeep", extra="web").Upkeep
    return optional("butfor._web.limits", extra="web").Limits(
        max_seconds=params["max_seconds"],
        max_size=params["max_size"],
        waiting_seconds=params["max_wait"],
        refused_seconds=params["refuse_seconds"],
        drain_seconds=params["drain_seconds"],
        upkeep=upkeep(max_calls=params["worker_calls"], max_memory=params["worker_memory"]),
    )


def _is_from_environment(context: typer.Context, name: str) -> bool:
    """Return whether an option was given by its environment variable."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "ENVIRONMENT"


def _print_address(address: str, *, token: str | None) -> None:
    from butfor._render.words import printable

    hidden = token is not None and "?" not in address  # logs keep what is printed
    typer.echo(f"{printable(address)}  ({'open it with ?token=$BUTFOR_TOKEN; ' * hidden}Ctrl-C ends it)")


class _Ended(BaseException):
    """The process was asked to end; unlike KeyboardInterrupt, no library catches it during a call."""


@contextmanager
def _until_ended() -> Iterator[None]:
    """Exit in order on Ctrl-C and on SIGTERM."""

    def end(*_: object) -> None:
        raise _Ended

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except _Ended:
        optional("butfor._web.logs", extra="web").log_event(logging.INFO, "ended")
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
