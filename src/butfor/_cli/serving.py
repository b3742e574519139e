"""`butfor serve`: a page and a service in one process, until somebody ends it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import typer

from butfor._checks import require_count
from butfor._cli import options, serve_options
from butfor._cli.failing import bad_input
from butfor._extras import optional
from butfor.budget import Budget
from butfor.errors import InputError

MAX_SECONDS = 10.0
"""Nobody waits longer before a page."""


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
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
) -> None:
    """Show MODEL's decisions on DATA in a browser, take evidence away by hand, and answer over HTTP.

    Listens on this machine alone, unless --host says otherwise. Ctrl-C ends it.
    """
    _require_one(model, demo, results)
    from butfor._cli.serving_workspaces import require_no_model_options, workspaces_of  # takes its time
    from butfor._processes.template import USUAL_MODULES, begin_imports

    if model is None:
        require_no_model_options(context, "--demo" if demo else "--results")
    if jobs is not None:
        require_count("--jobs", jobs)
    serving = optional("butfor._web.serving", extra="web")
    serving.require_token(host, token)  # before anything that takes its time
    for name in allow_host or ():
        serving.require_name(name)
    for address in trust_proxy or ():
        optional("butfor._web.proxies", extra="web").require_proxy(address)
    serving.listening(host, port).close()
    limits = optional("butfor._web.limits", extra="web").Limits(max_seconds=max_seconds, max_size=max_size)
    if results is None:  # results need no workers
        begin_imports(*USUAL_MODULES)  # while the model is loaded
    with _until_ended():
        workspaces = workspaces_of(context.params)
        serving.serve(
            workspaces,
            host=host,
            port=port,
            token=token,
            hosts=allow_host or (),
            open_browser=open_browser,
            limits=limits,
            jobs=jobs,
            open_health=open_health,
            proxies=trust_proxy or (),
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
        typer.echo("Ended.", err=True)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
