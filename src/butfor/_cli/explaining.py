"""`butfor explain`: from files and texts to explanations, one after the other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from butfor import Budget, ButforError, Explainer, Explanation, InputError
from butfor._cli import options
from butfor._cli.explainers import ExplainerOptions, bad_input, columns_of, require_no_columns
from butfor._cli.page import Page
from butfor._cli.printing import Printer, SentenceOptions
from butfor._files import NumberedRow, open_rows, rows_of, texts_of_options
from butfor._terminal import BAD_INPUT

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
    words = SentenceOptions(subject=subject, decision=decision)
    explainer, rows = _explainer_and_rows(context.params)
    page = None if html is None else Page(html, words, not_over=(model, *map(Path, data or ())))
    outcomes = _explain_all(explainer, rows, Printer(words, as_json=as_json), page)
    raise typer.Exit(BAD_INPUT if "error" in outcomes else FOUND if "found" in outcomes else NOTHING_FOUND)


def _explainer_and_rows(params: dict[str, Any]) -> tuple[Explainer, Iterator[NumberedRow]]:
    """Return the Explainer, and the rows of DATA or the texts of --text."""
    data, texts, picks, columns = params["data"], params["text"], params["row"], columns_of(params)
    if bool(data) == bool(texts):
        both = "both" if data else "neither"
        raise InputError(f"DATA must be given, or texts with --text, and not both: got {both}.")
    if texts and picks:
        raise InputError("--row must be left out where DATA has no rows: each text is one of its own.")
    if texts:
        require_no_columns(columns)
    about = ExplainerOptions.of(params)
    explainer = about.explainer(about.load_model(), data or (), columns)
    if not texts:
        return explainer, rows_of(open_rows(explainer, data, columns), picks or ())
    if not explainer.takes_texts:
        raise InputError(
            "MODEL must read texts to explain texts, got one that takes rows of numbers: save it as a "
            "pipeline with its vectoriser; or, if it reads texts in its own way, add --removal delete."
        )
    return explainer, texts_of_options(texts)


def _explain_all(
    explainer: Explainer, rows: Iterator[NumberedRow], printer: Printer, page: Page | None
) -> set[str]:
    """Explain rows, print the results and put them on the page; return the outcomes that there were."""
    outcomes = set()
    try:
        for each in rows:
            try:
                why = _explain_one(explainer, each)
            except ButforError as error:  # this row's; the others are not lost
                outcomes.add("error")
                printer.failure(each, error)
                if page is not None:
                    page.add_failure(each, error)
            else:
                outcomes.add(why.status)
                printer.explanation(each, why)
                if page is not None:
                    page.add(each, why)
    finally:  # where reading ends halfway, what was explained is not lost
        if page is not None and outcomes:
            page.write()
    return outcomes


def _explain_one(explainer: Explainer, each: NumberedRow) -> Explanation:
    if isinstance(each.row, ButforError):
        raise each.row
    return explainer.explain(each.row)
