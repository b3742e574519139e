"""`butfor batch`: from files to files, for as many rows as there are."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from butfor._cli import options
from butfor._cli.failing import bad_input, print_failure
from butfor._cli.progress import shown
from butfor.budget import Budget
from butfor.errors import InputError

ALL_WELL, SOME_FAILED, INTERRUPTED = 0, 1, 130


@bad_input()
def _check(folder: str | None) -> None:
    """Print what is in a folder, and exit."""
    if folder is None:
        return
    from butfor._render.words import printable
    from butfor.batch import check_batch

    found = check_batch(folder)
    typer.echo(printable(str(found), keep="\n"))
    raise typer.Exit(ALL_WELL if found.is_complete else SOME_FAILED)


Check = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        callback=_check,
        is_eager=True,
        help="Check the folder of a run, and do nothing else: is every part there, whole and in its place? "
        "Needs no other argument; ends with 0 if so, else with 1.",
    ),
]


@bad_input()
def batch(
    context: typer.Context,
    model: options.Model,
    data: options.Files,
    out: options.OutFolder,
    id_column: options.IdColumn = None,
    feature_column: options.FeatureColumn = None,
    value_column: options.ValueColumn = None,
    text_column: options.TextColumn = None,
    only_positive: options.OnlyPositive = False,
    threshold: options.Threshold = None,
    target: options.Target = None,
    label: options.Label = None,
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
    max_seconds: options.MaxSeconds = Budget.max_seconds,
    max_scorings: options.MaxScorings = None,
    seed: options.Seed = 0,
    names: options.Names = None,
    class_names: options.ClassNames = None,
    jobs: options.Jobs = None,
    engine: options.Engine = "local",
    scheduler: options.Scheduler = None,
    chunk_rows: options.ChunkRows = None,
    patience: options.Patience = 30.0,
    retry: options.Retry = None,
    progress: options.ProgressShown = None,
    max_unpacked: options.MaxUnpacked = 16.0,
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
    check: Check = None,
) -> None:
    """Explain all rows of DATA as MODEL decides them, and write Parquet to a folder.

    A run that was stopped, however it was, goes on when the same command is given again. Ends with 0 if every
    row has an outcome that is on storage in the end, 1 if some rows or chunks failed or were lost, 2 if the
    input was bad or changed during the run, 130 if it was interrupted.
    """
    from butfor._cli.explainers import ExplainerOptions, columns_of  # these take their time
    from butfor._processes.template import USUAL_MODULES, begin_imports
    from butfor._render.words import printable
    from butfor.batch import run_batch
    from butfor.batch.folder import Folder

    if Folder(out).is_private:
        raise InputError(
            f"--out must be on a disk or in a store, got {out}, which is in memory and ends with the command."
        )
    retried = _retried(retry)
    about, columns = ExplainerOptions.of(context.params), columns_of(context.params)
    if engine == "local":
        begin_imports(*USUAL_MODULES, "butfor.batch.chunks")  # for the workers, while the model is loaded
    with _interruptible(), _keeping(), shown(progress) as on_event:
        summary = run_batch(
            about.explainer(about.load_model(), data, columns),
            data,
            out,
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            only_positive=only_positive,
            chunk_rows=chunk_rows,
            columns=columns,
            patience=patience,
            retry_errors=retried,
            max_unpacked=max_unpacked,
            on_event=on_event,
        )
    typer.echo(printable(str(summary), keep="\n"))
    raise typer.Exit(ALL_WELL if summary.is_clean else SOME_FAILED)


@contextmanager
def _keeping() -> Iterator[None]:
    """Print that the folder cannot be reached any more, and exit as where rows failed."""
    from butfor.batch.folder import OutLostError

    try:
        yield
    except OutLostError as error:
        print_failure(error)
        raise typer.Exit(SOME_FAILED) from error


def _retried(asked: str | None) -> bool | str:
    """Return which errors are tried again, as `run_batch` takes it."""
    what, is_some, text = (asked or "").partition("=")
    if not asked:
        return False
    if what != "errors" or (is_some and not text):
        raise InputError(
            f"--retry must be errors, or errors=TEXT with a text that errors hold, got {asked!r}."
        )
    return text or True


@contextmanager
def _interruptible() -> Iterator[None]:
    """Print after an interruption how to go on; SIGTERM is one too."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Interrupted. What was written is kept: the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)
