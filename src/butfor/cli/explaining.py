"""`butfor explain`: from files and texts to explanations, one after the other."""

import typer

from butfor import Budget, ButforError, Explainer, Explanation
from butfor.cli import options
from butfor.cli.explainers import Asked, bad_input, require_match
from butfor.cli.page import Page
from butfor.cli.printing import Printer, Words
from butfor.files import Item, Source, open_source
from butfor.terminal import BAD_INPUT

FOUND, NOTHING_FOUND = 0, 1


@bad_input()
def explain(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    text: options.Texts = None,
    text_column: options.TextColumn = None,
    row: options.Row = None,
    threshold: options.Threshold = None,
    target: options.Target = None,
    label: options.Label = None,
    removal: options.Removal = None,
    unit: options.Unit = None,
    mask_token: options.MaskToken = "[MASK]",
    groups: options.Groups = None,
    costs: options.Costs = None,
    protect: options.Protect = None,
    search: options.SearchName = "auto",
    settings: options.Settings = None,
    max_size: options.MaxSize = Budget.max_size,
    max_seconds: options.MaxSeconds = Budget.max_seconds,
    seed: options.Seed = 0,
    names: options.Names = None,
    class_names: options.ClassNames = None,
    subject: options.Subject = None,
    decision: options.Decision = None,
    as_json: options.AsJson = False,
    html: options.Html = None,
    trust_pickle: options.TrustPickle = False,
    trust: options.Trust = None,
) -> None:
    """Explain rows or texts as MODEL decides them.

    Ends with 0 if an explanation was found, 1 if none was, 2 if the input was bad or the model failed.
    """
    words = Words(subject=subject, decision=decision)
    source = open_source(data or (), text or (), text_column=text_column, rows=row or ())
    asked = Asked.of(context.params)
    explainer = asked.explainer(asked.load_model(), texts=source.holds_texts)
    require_match(explainer, source)
    page = None if html is None else Page(html, words, not_over=(model, *(data or ())))
    outcomes = _explain_all(explainer, source, Printer(words, as_json=as_json), page)
    raise typer.Exit(BAD_INPUT if "error" in outcomes else FOUND if "found" in outcomes else NOTHING_FOUND)


def _explain_all(explainer: Explainer, source: Source, printer: Printer, page: Page | None) -> set[str]:
    """Explain, print and put on the page what comes; give the outcomes there were."""
    outcomes = set()
    try:
        for item in source.items:
            try:
                why = _explain_one(explainer, item)
            except ButforError as error:  # this row's; the others are not lost
                outcomes.add("error")
                printer.failure(item, error)
                if page is not None:
                    page.add_failure(item, error)
            else:
                outcomes.add(why.status)
                printer.explanation(item, why)
                if page is not None:
                    page.add(item, why)
    finally:  # where reading ends halfway, what was explained is not lost
        if page is not None and outcomes:
            page.write()
    return outcomes


def _explain_one(explainer: Explainer, item: Item) -> Explanation:
    if isinstance(item.given, ButforError):
        raise item.given
    return explainer.explain(item.given)
