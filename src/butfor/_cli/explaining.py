"""`butfor explain`: from files and texts to explanations, one after the other."""

import typer

from butfor._cli import options
from butfor._cli.failing import bad_input
from butfor._terminal import BAD_INPUT
from butfor.budget import Budget
from butfor.errors import InputError

FOUND, NOTHING_FOUND = 0, 1


@bad_input()
def explain(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    text: options.Texts = None,
    row: options.Row = None,
    id_column: options.IdColumn = None,
    feature_column: options.FeatureColumn = None,
    value_column: options.ValueColumn = None,
    text_column: options.TextColumn = None,
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
    subject: options.SubjectWords = None,
    decision: options.Decision = None,
    as_json: options.AsJson = False,
    html: options.Html = None,
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
) -> None:
    """Explain rows or texts as MODEL decides them.

    Ends with 0 if an explanation was found, 1 if none was, 2 if the input was bad or the model failed.
    """
    if bool(data) == bool(text):
        both = "both" if data else "neither"
        raise InputError(f"DATA must be given, or texts with --text, and not both: got {both}.")
    if text and row:
        raise InputError("--row must be left out where DATA has no rows: each text is one of its own.")
    from butfor._cli.explaining_rows import explain_all  # takes its time

    outcomes = explain_all(context.params)
    raise typer.Exit(BAD_INPUT if "error" in outcomes else FOUND if "found" in outcomes else NOTHING_FOUND)
