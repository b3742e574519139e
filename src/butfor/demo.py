"""The main job on the two data sets that ship with butfor, for the eyes of a newcomer."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from butfor import SEARCHES, Budget, Explainer, Explanation
from butfor.datasets import load_inbox, load_moviegoers
from butfor.render import card, facts, page

TOKEN = re.compile(r"\b\w\w+\b")
"""What scikit-learn's vectorisers take for a word."""
N_ROWS = 20
N_SHOWN = 4
BUDGET = Budget(max_seconds=0.3)


@dataclass(frozen=True)
class Case:
    """A model and some rows that it predicts positive, with what to show of each row."""

    title: str
    model: Any
    feature_names: tuple[str, ...]
    X: Any
    texts: tuple[str, ...] | None = None

    def explain(self, search: str) -> list[Explanation]:
        """Explain every row with one search."""
        explainer = Explainer(self.model, feature_names=self.feature_names, search=search, budget=BUDGET)
        return [explainer.explain(self.X[[i]]) for i in range(self.X.shape[0])]

    def shown(self, i: int, why: Explanation) -> Explanation:
        """Give the explanation with what it is about: the text of row i, or its items."""
        if self.texts is None:
            return replace(why, items=tuple(self.feature_names[column] for column in self.X[[i]].indices))
        words = [(match[0].lower(), match.span()) for match in TOKEN.finditer(self.texts[i])]
        spans = tuple(tuple(span for word, span in words if word == name) for name in why.features)
        return replace(why, text=self.texts[i], spans=spans, unit="word")


def run_demo(console: Console, out: Path) -> None:
    """Explain rows of both data sets with every search; print tables and sentences, write a page."""
    sections = []
    for make_case in (inbox_case, moviegoers_case):
        case = make_case()
        explained = {search: case.explain(search) for search in SEARCHES}
        best = explained["auto"]
        console.print(Text(f"\n{case.title}", "bold"))
        console.print(_table(explained))
        for why in best[:N_SHOWN]:
            console.print(Text(f"• {why}"), soft_wrap=True)
            console.print(Text(f"  {facts(why)}", "dim"), soft_wrap=True)
        cards = [card(case.shown(i, why), heading=f"row {i}") for i, why in enumerate(best)]
        sections.append((case.title, cards))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page("But for this evidence, the decision would be another", sections), encoding="utf-8")
    console.print(f"\nThe same with the evidence highlighted: {out}", soft_wrap=True, highlight=False)


def inbox_case() -> Case:
    """Messages that a logistic regression takes for spam."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
    from sklearn.linear_model import LogisticRegression

    inbox = load_inbox()
    # Every web address in these messages ends in .example, which says nothing to a reader.
    vectorizer = CountVectorizer(binary=True, stop_words=[*ENGLISH_STOP_WORDS, "example"])
    X = vectorizer.fit_transform(inbox.texts)
    train, test = _split(X.shape[0])
    model = LogisticRegression().fit(X[train], inbox.y[train])
    rows = _positives(model, X, test)
    return Case(
        "inbox: why is this message taken for spam? (logistic regression)",
        model,
        tuple(vectorizer.get_feature_names_out()),
        X[rows],
        tuple(inbox.texts[row] for row in rows),
    )


def moviegoers_case() -> Case:
    """People who a neural network thinks will join the midnight club."""
    from sklearn.neural_network import MLPClassifier

    people = load_moviegoers()
    train, test = _split(people.X.shape[0])
    model = MLPClassifier((20,), alpha=1.0, tol=0.002, random_state=0).fit(people.X[train], people.y[train])
    return Case(
        "moviegoers: why should this person join the midnight club? (neural network)",
        model,
        people.feature_names,
        people.X[_positives(model, people.X, test)],
    )


def _split(n_rows: int) -> tuple[Any, Any]:
    order = np.random.default_rng(0).permutation(n_rows)
    return order[n_rows // 5 :], order[: n_rows // 5]


def _positives(model: Any, X: Any, test: Any) -> Any:
    return test[model.predict_proba(X[test])[:, 1] >= 0.5][:N_ROWS]


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
