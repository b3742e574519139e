"""Black boxes in few calls: `python -m benchmarks.calls` prints scorings, sizes, calls and confidence.

The black box is the model behind a plain function, or a class that butfor does not know. Its answers are held
against the minimum that the formula of the same model proves or, for a transformer, scoring all smaller sets
of short texts.
Data are MovieLens 1M, 20news and SMS spam from the folder BUTFOR_DATA, or what ships with butfor. The rows,
and but for MovieLens the models, are others than those on which the parameters of thrifty were chosen;
`--newsgroup` and `--fold` choose still others.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from benchmarks import cases, deletion, transformer
from benchmarks.black_boxes import ablation_flip, auto_of_0_1
from benchmarks.common import machine
from butfor import Auto, Budget, Explainer, Noise, Search

PROOF = Auto(max_proof_seconds=20.0)
SEEN_BEFORE, NEWSGROUP = 150, "sci.space"
"""Rows of MovieLens, and the newsgroup, that had no part in the choice of parameters come from here on."""
PROVABLE = 13
"""Of texts with so many words scoring proves nearly all minima, in a second or two each."""
SEARCHES: dict[str, str | Search] = {
    "thrifty": "thrifty",
    "auto": "auto",
    "auto of 0.1": auto_of_0_1,
    "sedc": "sedc",
    "lime-c": "lime-c",
    "shap-c": "shap-c",
    "Ablation Flip": ablation_flip,  # of LIT
}


@dataclass(frozen=True)
class BlackBoxCase:
    """A model that butfor does not know, and the rows with the sizes of their proven minima."""

    name: str
    told: dict[str, Any]
    """What else an Explainer is told."""
    model: Any
    threshold: float | None
    rows: list[Any]
    minima: list[int]

    def explainer(self, search: str | Search) -> Explainer:
        """Return an explainer that sees a black box."""
        return Explainer(self.model, threshold=self.threshold, search=search, **self.told)


@dataclass(frozen=True)
class Effort:
    """What a search found over the rows of a case, and how often it asked the model."""

    case: str
    search: str
    n_rows: int
    explained: int
    at_minimum: int
    """Rows with an answer of the size that is proven to be the smallest."""
    mean_size: float
    """Over the rows that were explained."""
    mean_scorings: float
    scorings_a_unit: float
    """Scorings divided by the number of active units plus ten."""

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.case} | {self.search} | {self.explained} of {self.n_rows} "
            f"| {100 * self.at_minimum / self.n_rows:.1f} % | {self.mean_size:.2f} "
            f"| {self.mean_scorings:,.0f} | {self.scorings_a_unit:.2f} |"
        )


def main() -> None:
    """Measure, print the tables, and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=100, help="rows with a proven minimum of each model (default 100)"
    )
    parser.add_argument("--newsgroup", default=NEWSGROUP, help="which posts of 20news the SVMs look for")
    parser.add_argument(
        "--fold", type=int, default=0, help="which messages models are trained on: 0, the default, 1, 2, …"
    )
    parser.add_argument(
        "--only", default="", help="models and searches whose names contain this, by MODEL/SEARCH"
    )
    parser.add_argument("--out", type=Path, default=Path("build/calls.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()) + "\n")
    print("| model | search | explained | at the minimum | mean size | scorings | / (active + 10) |")
    print("|---|---|---:|---:|---:|---:|---:|")
    efforts = []
    only_model, _, only_search = options.only.partition("/")
    chosen = {name: search for name, search in SEARCHES.items() if only_search in name}
    for case in black_box_cases(options.rows, options.newsgroup, options.fold, only_model):
        for name, search in chosen.items():
            effort = measure(case, name, search)
            efforts.append(effort)
            print(effort.table_row, flush=True)
    if len(chosen) == len(SEARCHES):
        print("\n" + "\n".join(side_by_side(efforts)))
    figures: dict[str, Any] = {"machine": machine(), "efforts": list(map(asdict, efforts))}
    figures["shared"] = shared = shared_calls()
    print(f"\n200 rows of a function that takes 10 ms a call: {shared['alone']:,} calls row by row,")
    print(f"{shared['together']:,} by explain_many, {shared['times_fewer']:.0f} times fewer;")
    print(f"{shared['seconds_alone']:.1f} and {shared['seconds_together']:.1f} s.")
    if transformer.is_at_hand():
        widths = transformer.WIDTH, transformer.USUAL_WIDTH
        figures["transformers"] = [transformer.share_in_model(200, width) for width in widths]
        for share in figures["transformers"]:
            percent = round(100 * share["share_in_model"])
            print(f"\nA transformer of {transformer.LAYERS} layers, {share['width']} wide,")
            print(f"{share['texts']} texts: {share['seconds_a_text']:.3f} s a text, for which")
            print(f"{share['scored_a_text']:.0f} are scored; {percent} % of the time in the model.")
    noise = simulated_noise(1_000)
    print(f"\nA model that votes at random, {noise['runs']:,} runs, confidence {noise['confidence']:g}:")
    print(f"{noise['found']:,} answers, {noise['wrong']} wrong; {noise['scorings']:,.0f} scorings a run.")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figures["noise"] = noise
    options.out.write_text(json.dumps(figures, indent=2) + "\n")


def side_by_side(efforts: list[Effort]) -> Iterator[str]:
    """Yield the lines of a table: for each model what each search has, at the minimum and in scorings."""
    yield f"| model | rows | {' | '.join(SEARCHES)} |"
    yield f"|---|---:|{'---:|' * len(SEARCHES)}"
    for case in dict.fromkeys(effort.case for effort in efforts):
        of_case = {effort.search: effort for effort in efforts if effort.case == case}
        cells = [
            f"{each.at_minimum / each.n_rows:.0%}, {each.mean_scorings:,.0f}".replace("%", " %")
            for each in map(of_case.__getitem__, SEARCHES)
        ]
        yield f"| {case} | {of_case['auto'].n_rows} | {' | '.join(cells)} |"


def black_box_cases(n_rows: int, newsgroup: str, fold: int = 0, only: str = "") -> Iterator[BlackBoxCase]:
    """Yield the models whose names contain `only`, each with rows whose minimum is proven."""
    for case, proven in _unproven_cases(n_rows, newsgroup, fold):
        if only in case.name:
            yield _with_minima(case, proven, n_rows)


def _unproven_cases(n_rows: int, newsgroup: str, fold: int) -> Iterator[tuple[BlackBoxCase, Explainer]]:
    """Yield the models with their rows, and what proves the minima."""
    for case in [*cases.behaviour_cases(n_rows, SEEN_BEFORE), *cases.text_cases(n_rows, newsgroup)]:
        proven = Explainer(case.recognisable, threshold=case.threshold, search=PROOF)
        name = f"{case.data}, {case.model_name}"
        yield BlackBoxCase(name, {}, case.score, case.threshold, case.rows, []), proven
    yield from _messages(fold)
    if transformer.is_at_hand():
        yield _transformer(fold)


def _messages(fold: int) -> Iterator[tuple[BlackBoxCase, Explainer]]:
    """Yield a text pipeline whose classifier butfor does not know, for texts of both decisions."""
    data, texts, labels = transformer.messages(fold)
    n = len(texts) // 5  # they are the test texts here; elsewhere they are trained on
    pipeline = make_pipeline(TfidfVectorizer(min_df=2), LogisticRegression(C=10, max_iter=500))
    pipeline.fit(texts[n:], labels[n:])
    test = [text for text in texts[:n] if len(text.split()) >= deletion.FEWEST_WORDS]
    scores = pipeline.predict_proba(test)[:, 1]
    threshold = float(np.quantile(scores, 1 - labels.mean()))
    order = np.random.default_rng(0).permutation(len(test))
    proven = Explainer(pipeline, threshold=threshold, search=PROOF)
    opaque = make_pipeline(pipeline[0], Opaque(pipeline[-1]))
    for side, is_positive in (("positive", True), ("negative", False)):
        some = [test[i] for i in order if (scores[i] >= threshold) == is_positive]
        name = f"{data}, logistic regression, texts decided {side}"
        yield BlackBoxCase(name, {}, opaque, threshold, some, []), proven


def _transformer(fold: int) -> tuple[BlackBoxCase, Explainer]:
    """Return a transformer with messages that it takes for spam, cut so that scoring proves minima."""
    model, tokenizer = transformer.trained(fold=fold)
    data, _, _ = transformer.messages(fold)
    proven = Explainer(model, encoder=tokenizer, search="complete", budget=Budget(max_seconds=10))
    name, texts = f"{data}, transformer, first {PROVABLE} words", transformer.spam(PROVABLE, fold)
    return BlackBoxCase(name, {"encoder": tokenizer}, model, None, texts, []), proven


class Opaque(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that butfor does not know; the vectoriser before it says what the words of a text are."""

    def __init__(self, classifier: Any = None) -> None:
        self.classifier = classifier
        self.classes_ = classifier.classes_

    def fit(self, X: Any, y: Any) -> "Opaque":
        """Do nothing: it is fitted."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the classes."""
        return self.classifier.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities."""
        return self.classifier.predict_proba(X)


def _with_minima(case: BlackBoxCase, proven: Explainer, n_rows: int) -> BlackBoxCase:
    """Return the case with its first rows of which the minimum is proven."""
    whys = ((row, proven.explain(row)) for row in case.rows)
    kept = list(islice(((row, why.size) for row, why in whys if why.proven_minimum), n_rows))
    return replace(case, rows=[row for row, _ in kept], minima=[size for _, size in kept])


def measure(case: BlackBoxCase, name: str, search: str | Search) -> Effort:
    """Explain all rows with one search."""
    whys = list(case.explainer(search).explain_many(case.rows))
    found = [why for why in whys if why]
    units = sum(why.n_active + 10 for why in whys)
    at_minimum = sum(bool(why) and why.size == size for why, size in zip(whys, case.minima, strict=True))
    return Effort(
        case=case.name,
        search=name,
        n_rows=len(whys),
        explained=len(found),
        at_minimum=at_minimum,
        mean_size=mean(why.size for why in found) if found else 0.0,
        mean_scorings=mean(why.n_scored for why in whys),
        scorings_a_unit=sum(why.n_scored for why in whys) / units,
    )


def shared_calls(n_rows: int = 200) -> dict[str, Any]:
    """Count the calls of a function that takes 10 ms however many rows it gets."""
    rng = np.random.default_rng(0)
    weights, bends = rng.normal(size=60), rng.normal(size=(60, 8))
    rows = (rng.random((n_rows, 60)) < 0.4).astype(float)
    calls = 0

    def slow(X: Any) -> Any:
        nonlocal calls
        calls += 1
        time.sleep(0.01)
        return 1 / (1 + np.exp(-X @ weights - np.tanh(X @ bends).sum(axis=1)))

    figures: dict[str, Any] = {}
    for name in ("alone", "together"):
        calls, began = 0, time.perf_counter()
        explainer = Explainer(slow, threshold=0.5)
        whys = (
            [explainer.explain(row) for row in rows]
            if name == "alone"
            else list(explainer.explain_many(rows))
        )
        assert len(whys) == n_rows
        figures |= {name: calls, f"seconds_{name}": time.perf_counter() - began}
    return figures | {"times_fewer": figures["alone"] / figures["together"]}


def simulated_noise(n_runs: int, confidence: float = 0.95) -> dict[str, Any]:
    """Explain models that vote 0 or 1 at random, and count answers that contradict the true chances."""
    rng = np.random.default_rng(0)
    found = wrong = scorings = 0
    for _ in range(n_runs):
        weights, offset = rng.normal(scale=0.15, size=10), rng.uniform(0.2, 0.8)

        def chances(X: Any, weights: Any = weights, offset: float = offset) -> Any:
            return np.clip(offset + X @ weights, 0.0, 1.0)

        def votes(X: Any, chances: Any = chances) -> Any:
            return (rng.random(X.shape[0]) < chances(X)).astype(float)

        why = Explainer(
            votes, threshold=0.5, noise=Noise(confidence=confidence), budget=Budget(max_size=5)
        ).explain(np.ones(10))
        scorings += why.n_asked
        if why:
            found += 1
            without = np.ones(10)
            without[list(why.columns)] = 0
            own, flipped = chances(np.array([np.ones(10), without])) >= 0.5
            wrong += bool(own != (why.score >= 0.5) or own == flipped)
    return {
        "runs": n_runs,
        "confidence": confidence,
        "found": found,
        "wrong": wrong,
        "scorings": scorings / n_runs,
    }


if __name__ == "__main__":
    main()
