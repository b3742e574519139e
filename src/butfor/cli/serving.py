"""`butfor serve`: a page and a service in one process, until somebody ends it."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butfor import Budget, InputError
from butfor.checks import require_count
from butfor.cli import options, serve_options
from butfor.cli.explainers import Asked, bad_input, require_match
from butfor.files import open_source
from butfor.render.extras import optional
from butfor.render.words import printable
from butfor.workers import prepared

if TYPE_CHECKING:
    from butfor.web.desk import Desk

AT_ONCE = 2
"""Processes that are started before the model is loaded; more would get in each other's way."""
MODULES = ("sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.pipeline")
"""What most models need."""
MAX_SECONDS = 10.0
"""Nobody waits longer before a page."""


@bad_input()
def serve(
    context: typer.Context,
    model: serve_options.Model = None,
    data: serve_options.Data = None,
    demo: serve_options.Demo = False,
    results: serve_options.Results = None,
    text_column: options.TextColumn = None,
    threshold: options.Threshold = None,
    target: options.Target = None,
    label: options.Label = None,
    port: serve_options.Port = 8000,
    host: serve_options.Host = "127.0.0.1",
    token: serve_options.Token = None,
    allow_host: serve_options.AllowHost = None,
    open_browser: serve_options.Open = False,
    removal: options.Removal = None,
    unit: options.Unit = None,
    mask_token: options.MaskToken = "[MASK]",
    groups: options.Groups = None,
    costs: options.Costs = None,
    protect: options.Protect = None,
    search: options.SearchName = "auto",
    settings: options.Settings = None,
    max_size: options.MaxSize = Budget.max_size,
    max_seconds: options.MaxSeconds = MAX_SECONDS,
    seed: options.Seed = 0,
    names: options.Names = None,
    class_names: options.ClassNames = None,
    subject: options.Subject = None,
    decision: options.Decision = None,
    jobs: serve_options.Jobs = None,
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
) -> None:
    """Show MODEL's decisions on DATA in a browser, take evidence away by hand, and answer over HTTP.

    Listens on this machine alone, unless --host says otherwise. Ctrl-C ends it.
    """
    _require_one(model, demo, results)
    if model is None:
        _require_no_model_options(context, "--demo" if demo else "--results")
    if jobs is not None:
        require_count("--jobs", jobs)
    serving = optional("butfor.web.serving", extra="web")
    serving.require_token(host, token)  # before anything that takes its time
    for name in allow_host or ():
        serving.require_name(name)
    serving.listening(host, port).close()
    limits = optional("butfor.web.limits", extra="web").Limits(max_seconds=max_seconds, max_size=max_size)
    # Processes import what they need while the model is loaded; results need none.
    with _until_ended(), prepared(AT_ONCE if results is None else 0, *MODULES):
        desks = _desks(context.params)
        serving.serve(
            desks,
            host=host,
            port=port,
            token=token,
            hosts=allow_host or (),
            open_browser=open_browser,
            limits=limits,
            jobs=jobs,
            ready=_tell,
        )


def _require_one(model: Path | None, demo: bool, results: str | None) -> None:
    """Raise unless there is one thing to show."""
    given = {"MODEL": model is not None, "--demo": demo, "--results": results is not None}
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) != 1:
        raise InputError(
            "one of MODEL, --demo and --results DIR must be given, got "
            f"{' and '.join(chosen) or 'none'}: butfor serve --demo shows what there is to see."
        )


def _require_no_model_options(context: typer.Context, shown: str) -> None:
    """Raise where something is said of a model that is not shown."""
    named = {field.name for field in fields(Asked)} | {"text_column"}
    meant = {"max_size", "max_seconds"} if shown == "--demo" else set()
    for name in sorted(named - meant):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"--{name.replace('_', '-')} must be left out with {shown}: it says how a MODEL is shown."
            )


def _desks(given: dict[str, Any]) -> "list[Desk]":
    words = {"subject": given["subject"], "decision": given["decision"]}
    if given["demo"]:
        desks: list[Desk] = optional("butfor.web.demo_desks", extra="web").demo_desks(
            Budget(given["max_size"], given["max_seconds"])
        )
        return desks
    if given["results"] is not None:
        return [optional("butfor.web.results", extra="web").open_results(given["results"], **words)]
    return [_desk_of_model(Asked.of(given), given["data"] or (), given["text_column"], words)]


def _desk_of_model(
    asked: Asked, data: Sequence[Path], text_column: str | None, words: dict[str, Any]
) -> "Desk":
    desk = optional("butfor.web.desk", extra="web").Desk
    given_by = optional("butfor.web.given", extra="web").given_by
    loaded = asked.load_model()
    name, title = "model", asked.model.stem
    if not data:
        if text_column is not None:
            raise InputError("--text-column must be left out where there is no DATA.")
        explainer = asked.explainer(loaded, texts=asked.takes_texts(loaded))
        made: Desk = desk.of(name, title, explainer, **words)
        return made
    source = open_source(data, (), text_column=text_column, rows=())
    explainer = asked.explainer(loaded, texts=source.holds_texts)
    require_match(explainer, source)
    title += f" on {data[0].name}" if len(data) == 1 else f" on {len(data):,} texts"
    made = desk.of(name, title, explainer, given_by(source, explainer.feature_names), **words)
    return made


def _tell(address: str) -> None:
    typer.echo(f"{printable(address)}  (Ctrl-C ends it)")


class _Ended(BaseException):
    """Somebody asked the process to end; unlike KeyboardInterrupt, no model takes it for a word to itself."""


@contextmanager
def _until_ended() -> Iterator[None]:
    """Take an interruption for what it is here, the end; whoever asks the process to end means the same."""

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
