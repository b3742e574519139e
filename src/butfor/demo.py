"""The main job on the two data sets that ship with butfor, for the eyes of a newcomer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from butfor import SEARCHES, Budget, Explainer, Explanation, Explanations
from butfor.datasets import Moviegoers, load_inbox, load_moviegoers
from butfor.render import TITLE, bracketed, card, facts, page
from butfor.render.summary import summary_card

N_ROWS = 20
N_SHOWN = 4
BUDGET = Budget(max_seconds=0.3)


@dataclass(frozen=True)
class Case:
    """A model and some rows or texts that it predicts positive."""

    title: str
    model: Any
    rows: Any
    searches: Sequence[str] = tuple(SEARCHES)
    options: dict[str, Any] = field(default_factory=dict)
    """What the Explainer is told besides."""

    def explain(self, search: str) -> list[Explanation]:
        """Explain every row with one search."""
        explainer = Explainer(self.model, search=search, budget=BUDGET, **self.options)
        return list(explainer.explain_many(self.rows))


def run_demo(console: Console, out: Path) -> None:
    """Explain rows of both data sets with every search; print tables and sentences, write a page."""
    moviegoers, by_genre = moviegoers_cases(load_moviegoers())
    sections = []
    for case in (inbox_case(), moviegoers, by_genre):
        explained = {search: case.explain(search) for search in case.searches}
        best = explained["auto"]
        console.print(Text(f"\n{case.title}", "bold"))
        if len(explained) > 1:
            console.print(_table(explained))
        for why in best[:N_SHOWN]:
            console.print(Text(f"• {why}"), soft_wrap=True)
            if why.text is not None:
                console.print(Text(f"  {bracketed(why)}"), soft_wrap=True)
            console.print(Text(f"  {facts(why)}", "dim"), soft_wrap=True)
        cards = [card(why, heading=f"row {i}") for i, why in enumerate(best)]
        sections.append((case.title, [summary_card(Explanations(best).summary(at_most=10), {}), *cards]))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(TITLE, sections), encoding="utf-8")
    console.print(f"\nThe same with the evidence highlighted: {out}", soft_wrap=True, highlight=False)


def inbox_case() -> Case:
    """Messages that a logistic regression takes for spam."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    inbox = load_inbox()
    texts = np.array(inbox.texts, dtype=object)
    train, test = split(len(texts))
    # Every web address in these messages ends in .example, which says nothing to a reader.
    vectorizer = CountVectorizer(binary=True, stop_words=[*ENGLISH_STOP_WORDS, "example"])
    model = make_pipeline(vectorizer, LogisticRegression()).fit(texts[train], inbox.y[train])
    return Case(
        "inbox: why is this message taken for spam? (logistic regression)",
        model,
        list(_positives(model, texts[test])),
        options={"class_names": inbox.target_names},
    )


def moviegoers_cases(people: Moviegoers) -> tuple[Case, Case]:
    """People who a neural network thinks will join the midnight club: by their films, some by genres."""
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    train, test = split(people.X.shape[0])
    model = MLPClassifier((20,), alpha=1.0, tol=0.002, random_state=0)
    with threadpool_limits(1):  # of so small a network, threads take longer than one does
        model.fit(people.X[train], people.y[train])
    rows = _positives(model, people.X[test])
    options = {"feature_names": people.feature_names, "class_names": people.target_names}
    return (
        Case(
            "moviegoers: why should this person join the midnight club? (neural network)",
            model,
            rows,
            options=options,
        ),
        Case(
            "the same people: which kinds of films are the reason?",
            model,
            rows[:N_SHOWN],
            searches=["auto"],
            options={**options, "groups": people.genres},
        ),
    )


def split(n_rows: int) -> tuple[Any, Any]:
    """Give the numbers of the rows to train on, and of those that are held out."""
    order = np.random.default_rng(0).permutation(n_rows)
    return order[n_rows // 5 :], order[: n_rows // 5]


def _positives(model: Any, rows: Any) -> Any:
    return rows[np.flatnonzero(model.predict_proba(rows)[:, 1] >= 0.5)[:N_ROWS]]


def _table(explained: dict[str, list[Explanation]]) -> Table:
    table = Table("search")
    for heading in ("explained", "median size", "proven smallest", "median scorings", "median ms"):
        table.add_column(heading, justify="right")
    for search, explanations in explained.items():
        found = [why for why in explanations if why]
        table.add_row(
            search,
            f"{len(found)} of {len(explanations)}",
            f"{median(why.size for why in found):g}" if found else "–",
            f"{sum(why.proven_minimum for why in found)} of {len(explanations)}",
            f"{median(why.n_scored for why in explanations):,.0f}",
            f"{median(why.seconds for why in explanations) * 1000:,.1f}",
        )
    return table
