"""What `butfor explain` does once its options are read: from files and texts to explanations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from butfor import ButforError, Explainer, Explanation, InputError
from butfor._cli.explainers import ExplainerOptions, columns_of, require_no_columns
from butfor._cli.page import Page
from butfor._cli.printing import Printer, SentenceOptions
from butfor._files import NumberedRow, open_rows, rows_of, texts_of_options


def explain_all(params: dict[str, Any]) -> set[str]:
    """Explain rows or texts as the options say; return the outcomes that there were."""
    words = SentenceOptions(subject=params["subject"], decision=params["decision"])
    explainer, rows = _explainer_and_rows(params)
    page = None
    if params["html"] is not None:
        page = Page(params["html"], words, not_over=(params["model"], *map(Path, params["data"] or ())))
    return _explain_each(explainer, rows, Printer(words, as_json=params["as_json"]), page)


def _explainer_and_rows(params: dict[str, Any]) -> tuple[Explainer, Iterator[NumberedRow]]:
    """Return the Explainer, and the rows of DATA or the texts of --text."""
    data, texts, picks, columns = params["data"], params["text"], params["row"], columns_of(params)
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


def _explain_each(
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
