"""Records: one row of a frame, and a batch of many: `python -m benchmarks.records --rows 100000`.

The frame has 50 columns: 20 categories, 29 numbers and a text of 300 words; the model is a ColumnTransformer
with logistic regression. It measures how long an explanation takes beside one call of the model's own
`predict_proba`, how many answers are proven, and how many rows a second a batch explains from Parquet.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.common import machine, timed
from butfor import Explainer
from butfor.batch import run_batch

N_CATEGORIES, N_NUMBERS, N_WORDS, N_KNOWN_WORDS = 20, 29, 300, 20_000
N_TRAINED = 3_000
VECTORISERS = {"counts": CountVectorizer, "tf-idf, l2 norm": TfidfVectorizer}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the batch")
    parser.add_argument("--single", type=int, default=40, help="rows that are explained one by one")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    told = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()))
    print("| vectoriser | explain, ms | predict, ms | ratio | proven | batch, rows/s | predict, rows/s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    lines = [measured(name, told.single, told.rows) for name in VECTORISERS]
    if told.out is not None:
        told.out.parent.mkdir(parents=True, exist_ok=True)
        told.out.write_text(json.dumps({"machine": machine(), "lines": lines}, indent=2))


def measured(name: str, n_single: int, n_rows: int) -> dict[str, Any]:
    """Measure one model, and print its line."""
    rng = np.random.default_rng(0)
    frame = records(rng, N_TRAINED)
    model = fitted(VECTORISERS[name](), frame, rng)
    explainer = Explainer(model)
    list(explainer.explain_many(frame.iloc[:10]))
    singles = [frame.iloc[[i]] for i in range(100, 100 + n_single)]
    explained = [timed(explainer.explain, row) for row in singles]
    own = [seconds for _, seconds in explained]
    theirs = [timed(model.predict_proba, row)[1] for row in singles]
    predicted = 1_000 / timed(model.predict_proba, frame.iloc[:1_000])[1]
    n_batch = n_rows if name == "counts" else min(n_rows, 1_000)
    line = {
        "vectoriser": name,
        "explain_ms": 1000 * median(own),
        "predict_ms": 1000 * median(theirs),
        "ratio": median(own) / median(theirs),
        "proven": sum(why.proven_minimum or why.status == "none" for why, _ in explained) / n_single,
        "rows_a_second": batched(explainer, frame, n_batch),
        "predicted_a_second": predicted,
    }
    print(
        f"| {name} | {line['explain_ms']:.1f} | {line['predict_ms']:.1f} | {line['ratio']:.1f} | "
        f"{line['proven']:.0%} | {line['rows_a_second']:,.0f} | {line['predicted_a_second']:,.0f} |"
    )
    return line


def records(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Return a frame of 50 columns; words come by their rank, as in real texts."""
    ranks = 1 / (10 + np.arange(N_KNOWN_WORDS))
    letters = rng.choice(list("abcdefghiklmnoprstuvw"), size=(2 * N_KNOWN_WORDS, 9))
    lengths = rng.integers(3, 10, size=2 * N_KNOWN_WORDS)
    made = dict.fromkeys("".join(word[:n]) for word, n in zip(letters, lengths, strict=True))
    words = np.array(list(made)[:N_KNOWN_WORDS])
    drawn = rng.choice(words, size=(n_rows, N_WORDS), p=ranks / ranks.sum())
    columns: dict[str, Any] = {
        f"category{i}": rng.choice([f"value{j}" for j in range(2 + i)], n_rows) for i in range(N_CATEGORIES)
    }
    columns |= {f"number{i}": rng.normal(size=n_rows) for i in range(N_NUMBERS)}
    return pd.DataFrame(columns | {"text": [" ".join(line) for line in drawn]})


def fitted(vectoriser: Any, frame: pd.DataFrame, rng: np.random.Generator) -> Any:
    """Return a pipeline that has learned something of every kind of column."""
    hidden = frame["text"].str.count("a[mn]") / 10 + (frame["category5"] == "value1") + frame["number0"]
    labels = (hidden + rng.normal(size=len(frame)) > hidden.median()).astype(int)
    encode = make_column_transformer(
        (vectoriser, "text"),
        (OneHotEncoder(handle_unknown="ignore"), [f"category{i}" for i in range(N_CATEGORIES)]),
        (StandardScaler(), [f"number{i}" for i in range(N_NUMBERS)]),
    )
    return make_pipeline(encode, LogisticRegression(C=0.1, max_iter=300)).fit(frame, labels)


def batched(explainer: Explainer, frame: pd.DataFrame, n_rows: int) -> float:
    """Return how many rows a second a batch explains, from Parquet to Parquet, on all cores."""
    with tempfile.TemporaryDirectory() as folder:
        repeated = frame.iloc[np.arange(n_rows) % len(frame)]
        repeated.to_parquet(f"{folder}/rows.parquet", index=False)
        summary, seconds = timed(
            run_batch, explainer, [f"{folder}/rows.parquet"], f"{folder}/why", jobs=os.cpu_count()
        )
        assert summary.is_clean
    return n_rows / seconds


if __name__ == "__main__":
    main()
