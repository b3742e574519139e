"""Words that are zeroed, and words that are really cut: `python -m benchmarks.deletion --rows 40`.

It explains texts of 20news, airline and SMS spam from the folder BUTFOR_DATA, or of the inbox that ships with
butfor, with both removals: how fast, how many are proven within a second, how large the answers are, and how
many answers of zeroing hold when the words are cut. With `--agreement` it compares scores of random sets with
those of the pipeline on the really cut text; with `--brute-force` certified answers with all sets of words of
short texts; with `--long` it takes texts of 10,000 and 50,000 words.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from statistics import median
from typing import Any

import joblib
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.common import explained, machine, timed
from butfor import Budget, Explainer
from butfor.datasets import load_inbox
from butfor.study.datasets import airline, data_folder, news20, sms_spam

MEMORY = joblib.Memory("build/models", verbose=0)
MAX_SECONDS = 1.0
MOST_FOR_KERNELS = 4_000
"""So many texts of the larger class are enough for an SVC."""
MOST_FOR_NETWORKS = 20_000
"""So many n-grams, the most frequent ones, are enough for a network; more take half an hour to fit."""
FEWEST_WORDS = 3
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: LogisticRegression(C=10, max_iter=500),
    "linear SVM": LinearSVC,
    "naive Bayes": lambda: MultinomialNB(alpha=0.1),
    "MLP, 100 neurons": lambda: MLPClassifier((100,), alpha=0.01, tol=0.002, max_iter=15, random_state=0),
    "rbf SVM": lambda: SVC(C=10.0, cache_size=1000),
    "SVD of 100 + logistic regression": lambda: make_pipeline(
        TruncatedSVD(100, random_state=0), LogisticRegression(C=10, max_iter=500)
    ),
}


SOURCES = {"SMS spam": sms_spam, "airline": airline, "20news": news20}


def texts_at_hand() -> dict[str, Callable[[], tuple[list[str], Any]]]:
    """Return how to read the data sets that are there; the inbox if there is none."""
    folder = data_folder()
    there = {name: source for name, source in SOURCES.items() if source.DATASET.is_present(folder)}
    return {name: partial(source.documents, folder) for name, source in there.items()} or {"inbox": _inbox}


def _inbox() -> tuple[list[str], Any]:
    """Return the messages that ship with butfor."""
    data = load_inbox()
    return list(data.texts), data.y


@MEMORY.cache  # type: ignore[untyped-decorator]
def fitted(data: str, classifier: str, largest: int) -> Any:
    """Fit a pipeline on the first 80 % of the texts."""
    texts, labels = texts_at_hand()[data]()
    train, y = texts[: len(texts) * 4 // 5], np.array(labels[: len(texts) * 4 // 5]).astype(int)
    if classifier == "rbf SVM":
        rest = np.flatnonzero(y == 0)[:MOST_FOR_KERNELS]
        chosen = np.sort(np.concatenate([np.flatnonzero(y == 1), rest]))
        train, y = [train[i] for i in chosen], y[chosen]
    most = MOST_FOR_NETWORKS if classifier.startswith("MLP") else None
    vectoriser = TfidfVectorizer(min_df=2, ngram_range=(1, largest), max_features=most)
    pipeline = make_pipeline(vectoriser, CLASSIFIERS[classifier]())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the network has not converged
        return pipeline.fit(train, y)


@dataclass(frozen=True)
class TextCase:
    """A pipeline, its threshold, and test texts on both sides of it."""

    data: str
    classifier: str
    ngrams: str
    score: Callable[[list[str]], Any]
    threshold: float
    texts: dict[str, list[str]]


def text_cases(n_rows: int, classifiers: list[str], ngrams: list[int]) -> Iterator[TextCase]:
    """Yield all cases; as many texts are positive as are in the data."""
    for data, load in texts_at_hand().items():
        texts, labels = load()
        test = [text for text in texts[len(texts) * 4 // 5 :] if len(text.split()) >= FEWEST_WORDS]
        for largest, classifier in product(ngrams, classifiers):
            pipeline = fitted(data, classifier, largest)
            by_decision = classifier in ("rbf SVM", "linear SVM")
            score = pipeline.decision_function if by_decision else pipeline.predict_proba
            scores = score(test)
            scores = scores if by_decision else scores[:, 1]
            threshold = float(np.quantile(scores, 1 - np.mean(labels)))
            order = np.random.default_rng(0).permutation(len(test))
            sides = {
                "positive": [test[i] for i in order if scores[i] >= threshold][:n_rows],
                "negative": [test[i] for i in order if scores[i] < threshold][:n_rows],
            }
            yield TextCase(data, classifier, f"1 to {largest}", score, threshold, sides)


@dataclass(frozen=True)
class Removals:
    """How texts of one decision were explained by zeroing and by cutting."""

    data: str
    classifier: str
    ngrams: str
    side: str
    n_texts: int
    zero_ms: float
    delete_ms: float
    delete_p90_ms: float
    zero_proven: int
    delete_proven: int
    zero_size: float
    delete_size: float
    zero_found: int
    delete_found: int
    survive: int
    """Answers of zeroing that hold when the words are cut."""
    same: int
    """Texts for which both removals gave the same words, or none."""

    @property
    def table_row(self) -> str:
        """The row of the table."""
        return (
            f"| {self.data}, {self.classifier} | {self.ngrams} | {self.n_texts} {self.side} "
            f"| {self.zero_ms:.1f} | {self.delete_ms:.1f} | {self.delete_ms / self.zero_ms:.1f} "
            f"| {self.delete_p90_ms:,.0f} | {self.zero_proven} | {self.delete_proven} "
            f"| {self.zero_size:.1f} | {self.delete_size:.1f} | {self.survive} of {self.zero_found} "
            f"| {self.same} |"
        )


def compare(case: TextCase, side: str) -> Removals:
    """Explain the texts of one side with both removals."""
    texts, budget = case.texts[side], Budget(max_seconds=MAX_SECONDS)
    by: dict[str, list[tuple[Any, float]]] = {}
    for removal in ("zero", "delete"):
        explainer = Explainer(case.score, threshold=case.threshold, removal=removal, budget=budget)
        for text in texts[:3]:  # on which the formula is held against the model
            explainer.explain(text)
        by[removal] = explained(explainer, texts)
    zero, delete = ([why for why, _ in by[removal]] for removal in ("zero", "delete"))
    ms = {removal: [1000 * seconds for _, seconds in by[removal]] for removal in by}
    found = [why for why in zero if why.status == "found"]

    def proven(whys: list[Any]) -> int:
        return sum(why.proven_minimum or why.status == "none" for why in whys)

    def mean_size(whys: list[Any]) -> float:
        return float(np.mean([why.size for why in whys if why.status == "found"] or [0.0]))

    return Removals(
        data=case.data,
        classifier=case.classifier,
        ngrams=case.ngrams,
        side=side,
        n_texts=len(texts),
        zero_ms=median(ms["zero"]),
        delete_ms=median(ms["delete"]),
        delete_p90_ms=float(np.quantile(ms["delete"], 0.9)),
        zero_proven=proven(zero),
        delete_proven=proven(delete),
        zero_size=mean_size(zero),
        delete_size=mean_size(delete),
        zero_found=len(found),
        delete_found=sum(why.status == "found" for why in delete),
        survive=sum(why.survives_deletion is True for why in found),
        same=sum(set(a.features) == set(b.features) for a, b in zip(zero, delete, strict=True)),
    )


def summary(figures: list[Removals], *names: str) -> Iterator[str]:
    """Yield a table of the figures together, for each combination of some of their names."""
    yield (
        f"| {' | '.join(names)} | texts | delete / zero, ms: median (range) | zero proven | delete proven "
        "| zero found | delete found | hold when cut | same words |"
    )
    yield "|---" * len(names) + "|---:" * 8 + "|"
    groups: dict[tuple[str, ...], list[Removals]] = {}
    for each in figures:
        groups.setdefault(tuple(getattr(each, name) for name in names), []).append(each)
    for of_group, group in groups.items():
        ratios = [each.delete_ms / each.zero_ms for each in group]
        n, n_found = (sum(getattr(each, name) for each in group) for name in ("n_texts", "zero_found"))

        def percent(name: str, of: int, group: list[Removals] = group) -> str:
            return f"{100 * sum(getattr(each, name) for each in group) / max(1, of):.0f} %"

        shares = ("zero_proven", "delete_proven", "zero_found", "delete_found")
        yield (
            f"| {' | '.join(of_group)} | {n} "
            f"| {median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}) "
            f"| {' | '.join(percent(name, n) for name in shares)} "
            f"| {percent('survive', n_found)} of {n_found} | {percent('same', n)} |"
        )


def agreement(case: TextCase, n_sets: int = 20) -> tuple[int, float]:
    """Compare scores of random sets with those of the pipeline; return their number and the largest error."""
    rng = np.random.default_rng(0)
    explainer = Explainer(case.score, threshold=case.threshold, removal="delete")
    n, largest = 0, 0.0
    for text in (*case.texts["positive"][:10], *case.texts["negative"][:10]):
        local = explainer.local_model(text)
        if local.kind == "black box" or not local.n_features:
            continue
        shares = rng.random((n_sets, 1)) ** 2
        removed = rng.random((n_sets, local.n_features)) < shares
        theirs = np.asarray(case.score(local._row.without(removed)))  # type: ignore[attr-defined]
        theirs = theirs if theirs.ndim == 1 else theirs[:, 1]
        ours = local.reported(local.scores(removed))
        largest = max(largest, float(np.abs(ours - theirs).max()))
        n += n_sets
    return n, largest


def brute_force(n_texts: int) -> Iterator[tuple[str, int, int]]:
    """Yield, for each way to vectorise and remove, how many answers were judged, and how many are wrong."""
    words = ["free", "prize", "call", "now", "the", "mum", "win", "cash", "today", "love"]
    rng = np.random.default_rng(0)
    weight = dict(zip(words, rng.normal(size=len(words)), strict=True))
    texts = [" ".join(rng.choice(words, rng.integers(3, 8))) for _ in range(200)]
    y = [int(sum(weight[w] for w in t.split()) + 2 * ("free prize" in t) > 0) for t in texts]
    vectorisers = {
        f"{kind.__name__}, 1 to {largest}, {options}": kind(ngram_range=(1, largest), **options)
        for kind, largest in product((TfidfVectorizer, HashingVectorizer), (1, 2, 3))
        for options in _options(kind)
    }
    vectorisers["CountVectorizer, 1 to 2, binary"] = CountVectorizer(ngram_range=(1, 2), binary=True)
    vectorisers["char_wb"] = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3))
    classifiers = (LogisticRegression(C=5), LinearSVC(C=2), MLPClassifier((6,), max_iter=100, random_state=0))
    for name, vectoriser in vectorisers.items():
        n, wrong = 0, 0
        for classifier in classifiers:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make_pipeline(vectoriser, classifier).fit(texts, y)
            for removal, unit in product(("delete", "mask"), ("word", "occurrence", "sentence")):
                explainer = Explainer(model, removal=removal, unit=unit, mask_token="now", search="certified")
                for text in texts[:n_texts]:
                    n += 1
                    wrong += _is_wrong(model, explainer, text)
        yield name, n, wrong


def _options(kind: Any) -> list[dict[str, Any]]:
    norms = [{"norm": norm} for norm in ("l2", "l1", None)]
    if kind is HashingVectorizer:
        return [{**each, "n_features": 32} for each in norms]
    return [*norms, {"sublinear_tf": True}, {"binary": True}, {"stop_words": "english"}]


def _is_wrong(model: Any, explainer: Explainer, text: str) -> bool:
    """Compare an answer with all sets of units, decided by the model's own predict on the cut texts."""
    why, local = explainer.explain(text), explainer.local_model(text)
    row, n = local._row, local.n_features  # type: ignore[attr-defined]
    own = model.predict([text])[0]
    sets = [each for size in range(1, n + 1) for each in combinations(range(n), size)]
    matrix = np.array([np.isin(np.arange(n), each) for each in sets]).reshape(len(sets), n)
    flips = model.predict(row.without(matrix)) != own if sets else np.zeros(0, dtype=bool)
    smallest = min((len(each) for each, flip in zip(sets, flips, strict=True) if flip), default=0)
    if why.status == "found":
        return bool(why.size != smallest or not why.proven_minimum)
    return bool(why.status == "budget" or smallest)


def long_texts(sizes: tuple[int, ...], ngrams: list[int]) -> Iterator[str]:
    """Yield, for texts of so many words, how long they took and what was proven."""
    for data, load in texts_at_hand().items():
        texts, _ = load()
        words = " ".join(texts).split()
        for case in text_cases(3, ["logistic regression", "linear SVM", "naive Bayes"], ngrams):
            if case.data != data:
                continue
            explainer = Explainer(case.score, threshold=case.threshold, removal="delete")
            explainer.explain(case.texts["positive"][0])
            for size in sizes:
                if len(words) < size:
                    continue
                why, seconds = timed(explainer.explain, " ".join(words[:size]))
                is_proven = why.proven_minimum or why.status == "none"
                proven = "yes" if is_proven else f"at least {why.lower_bound}"
                yield (
                    f"| {data}, {case.classifier} | {case.ngrams} | {size:,} | {why.n_active:,} "
                    f"| {why.status} | {why.size} | {proven} | {seconds:.2f} |"
                )


def main() -> None:
    """Print the tables and write the figures to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=40, help="texts on each side, for each model (default 40)"
    )
    parser.add_argument("--models", nargs="+", default=list(CLASSIFIERS), choices=list(CLASSIFIERS))
    parser.add_argument("--ngrams", nargs="+", type=int, default=[1, 2], help="the largest n-grams (1 2)")
    parser.add_argument("--agreement", action="store_true", help="only hold the formula against the pipeline")
    parser.add_argument("--brute-force", type=int, default=0, help="only judge so many texts of each kind")
    parser.add_argument("--long", action="store_true", help="only long texts")
    parser.add_argument("--out", type=Path, default=Path("build/deletion.json"))
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    if options.brute_force:
        print("| vectoriser | answers | wrong |\n|---|---:|---:|")
        total = np.zeros(2, dtype=int)
        for name, n, wrong in brute_force(options.brute_force):
            total += n, wrong
            print(f"| {name} | {n:,} | {wrong} |", flush=True)
        print(f"| all | {total[0]:,} | {total[1]} |")
        return
    if options.long:
        print("| data, model | n-grams | words | distinct | status | size | proven | s |")
        print("|---|---|---:|---:|---|---:|---|---:|")
        for line in long_texts((10_000, 50_000), options.ngrams):
            print(line, flush=True)
        return
    cases = text_cases(options.rows, options.models, options.ngrams)
    if options.agreement:
        print("| data, model | n-grams | sets | largest error |\n|---|---|---:|---:|")
        for case in cases:
            n, largest = agreement(case)
            print(f"| {case.data}, {case.classifier} | {case.ngrams} | {n:,} | {largest:.1e} |", flush=True)
        return
    print(
        "| data, model | n-grams | texts | zero, ms | delete, ms | ratio | delete, 90 % | zero proven "
        "| delete proven | zero size | delete size | hold when cut | same words |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    figures = []
    for case in cases:
        for side in case.texts:
            figures.append(compare(case, side))
            print(figures[-1].table_row, flush=True)
    for names in (("data", "ngrams", "side"), ("classifier", "ngrams"), ("ngrams",)):
        print("", *summary(figures, *names), sep="\n")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table = {"machine": machine(), "removals": [asdict(each) for each in figures]}
    options.out.write_text(json.dumps(table, indent=2) + "\n")
    print(f"\nwritten to {options.out}")


if __name__ == "__main__":
    main()
