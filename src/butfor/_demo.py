"""`butfor demo`: explanations on the two data sets that ship with butfor."""

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
from butfor._render import TITLE, bracketed, card, facts, page
from butfor._render.summary import summary_card
from butfor.datasets import Moviegoers, load_inbox, load_moviegoers

N_ROWS = 20
N_SHOWN = 4
BUDGET = Budget(max_seconds=0.3)


@dataclass(frozen=True)
class Demo:
    """A model and some rows or texts that it classifies as positive."""

    title: str
    model: Any
    rows: Any
    searches: Sequence[str] = tuple(SEARCHES)
    options: dict[str, Any] = field(default_factory=dict)
    """Other options of the Explainer."""

    def explain(self, search: str) -> list[Explanation]:
        """Explain every row with one search."""
        explainer = Explainer(self.model, search=search, budget=BUDGET, **self.options)
        return list(explainer.explain_many(self.rows))


def run_demo(console: Console, out: Path) -> None:
    """Explain rows of both data sets with every search; print tables and sentences, and write a page."""
    moviegoers, by_genre = moviegoers_demos(load_moviegoers())
    sections = []
    for demo in (inbox_demo(), moviegoers, by_genre):
        explained = {search: demo.explain(search) for search in demo.searches}
        best = explained["auto"]
        console.print(Text(f"\n{demo.title}", "bold"))
        if len(explained) > 1:
            console.print(_table(explained))
        for why in best[:N_SHOWN]:
            console.print(Text(f"• {why}"), soft_wrap=True)
            if why.text is not None:
                console.print(Text(f"  {bracketed(why)}"), soft_wrap=True)
            console.print(Text(f"  {facts(why)}", "dim"), soft_wrap=True)
        cards = [card(why, heading=f"row {i}") for i, why in enumerate(best)]
        sections.append((demo.title, [summary_card(Explanations(best).summary(at_most=10), {}), *cards]))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(TITLE, sections), encoding="utf-8")
    console.print(f"\nThe same with the evidence highlighted: {out}", soft_wrap=True, highlight=False)


def inbox_demo() -> Demo:
    """Return messages that a logistic regression takes for spam, with that model."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    inbox = load_inbox()
    texts = np.array(inbox.texts, dtype=object)
    train, test = split(len(texts))
    # Every web address in these messages ends in .example, which says nothing to a reader.
    vectorizer = CountVectorizer(binary=True, stop_words=[*ENGLISH_STOP_WORDS, "example"])
    model = make_pipeline(vectorizer, LogisticRegression()).fit(texts[train], inbox.y[train])
    return Demo(
        "inbox: why is this message taken for spam? (logistic regression)",
        model,
        list(_positives(model, texts[test])),
        options={"class_names": inbox.target_names},
    )


def moviegoers_demos(people: Moviegoers) -> tuple[Demo, Demo]:
    """Return people who a neural network thinks will join the midnight club: all by films, some by genres."""
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    train, test = split(people.X.shape[0])
    model = MLPClassifier((20,), alpha=1.0, tol=0.002, random_state=0)
    with threadpool_limits(1):  # several threads would be slower for so small a network
        model.fit(people.X[train], people.y[train])
    rows = _positives(model, people.X[test])
    options = {"feature_names": people.feature_names, "class_names": people.target_names}
    return (
        Demo(
            "moviegoers: why should this person join the midnight club? (neural network)",
            model,
            rows,
            options=options,
        ),
        Demo(
            "the same people: which kinds of films are the reason?",
            model,
            rows[:N_SHOWN],
            searches=["auto"],
            options={**options, "groups": people.genres},
        ),
    )


def split(n_rows: int) -> tuple[Any, Any]:
    """Return the numbers of the rows to train on, and of those that are held out."""
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
