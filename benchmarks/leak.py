"""How explanations reveal a leak in the twitter data: `BUTFOR_DATA=… python -m benchmarks.leak`."""

from collections import Counter

from butfor import Explainer
from butfor.study.datasets import cache_folder
from butfor.study.loading import load
from butfor.study.models import scored_by
from butfor.study.prepare import prepare
from butfor.study.registry import registry

FIRST_BATCH = 1_088
"""Number of rows with the spelling `Yes`; all later rows have `Y`."""
N_WORDS, MAX_ROWS = 3, 300


def main() -> None:
    """Print how often the most frequent words of explanations occur in the two batches of the data."""
    known, cache = registry(), cache_folder()
    print("| target | AUC | explained | word | in explanations | in the first batch | in the second |")
    print("|---|---:|---:|---|---:|---:|---:|")
    for name in ("twitter", "twitter_corrected"):
        data = load(known, name, cache / "loaded")
        prepared = prepare(name, known, data, "linear-svm", seed=0, cache=cache / "models")
        explainer = Explainer(
            scored_by(prepared.classifier),
            threshold=prepared.case.threshold,
            feature_names=data.feature_names,
        )
        n_rows = min(MAX_ROWS, prepared.X.shape[0])
        words = Counter(
            word for row in range(n_rows) for word in explainer.explain(prepared.X[[row]]).features
        ).most_common(N_WORDS)
        for word, count in words:
            has = data.X[:, [data.feature_names.index(word)]].toarray().ravel() > 0
            early, late = has[:FIRST_BATCH].mean(), has[FIRST_BATCH:].mean()
            auc = f"{prepared.case.auc:.3f}"
            print(f"| {name} | {auc} | {n_rows} | {word} | {count} | {early:.1%} | {late:.1%} |")


if __name__ == "__main__":
    main()
