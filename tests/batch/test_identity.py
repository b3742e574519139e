import json
import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
import skops.io
from batches import WEIGHTS, X, explainer, score
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from butfor import SEDC, Budget, Explainer, InputError
from butfor._files import load_model
from butfor.batch.identity import fingerprint, settings_of

Y = np.asarray(score(X) > 2).astype(int)
TEXTS = ["free prize now", "call mum", "free call", "mum and dad"]
CODE = """
import json, sys
from pathlib import Path
from butfor import Explainer
from butfor.batch.identity import settings_of
from butfor._files import load_model
found = []
for path, row in zip(sys.argv[1::2], sys.argv[2::2]):
    explainer = Explainer(load_model(Path(path), trust_pickle=True))
    if row:
        explainer.explain(row)
    found.append(settings_of(explainer)["model"])
print(json.dumps(found))
"""


def test_a_model_has_the_same_fingerprint_in_every_process(tmp_path):
    stop_words = frozenset({"and", "now", "the", "of"})
    models = {
        "linear": LogisticRegression().fit(X, Y),
        "mlp": MLPClassifier((4,), n_iter_no_change=1, early_stopping=True, random_state=0).fit(
            X.toarray(), Y
        ),
        "svc": SVC().fit(X, Y),
        "text": make_pipeline(TfidfVectorizer(stop_words=list(stop_words)), LogisticRegression()),
    }
    models["text"].fit(TEXTS, [1, 0, 1, 0])
    models["text"].steps[0][1].kept = stop_words
    arguments = []
    for name, model in models.items():
        (joblib.dump if name == "text" else skops.io.dump)(model, tmp_path / name)
        # A vectoriser that was used remembers the address of its stop words.
        arguments += [str(tmp_path / name), "free call" if name == "text" else ""]
    elsewhere = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
    )
    loaded = [
        settings_of(Explainer(load_model(tmp_path / name, trust_pickle=True)))["model"] for name in models
    ]
    assert loaded == json.loads(elsewhere.stdout)
    assert len(set(loaded)) == len(models)


def test_whatever_changes_the_answers_changes_the_settings():
    model = LogisticRegression().fit(X, Y)
    names = [f"f{i}" for i in range(12)]
    base = settings_of(Explainer(model))
    changes = {
        "model": Explainer(LogisticRegression(C=2).fit(X, Y)),
        "threshold": Explainer(model, threshold=0.3),
        "target": Explainer(model, target=1),
        "class names": Explainer(model, class_names=["no", "yes"]),
        "search": Explainer(model, search=SEDC(max_iterations=7)),
        "max_size": Explainer(model, budget=Budget(max_size=3)),
        "max_seconds": Explainer(model, budget=Budget(max_seconds=float("inf"))),
        "protected": Explainer(model, protected=[3]),
        "groups": Explainer(model, groups={0: "a", 1: "a"}),
        "costs": Explainer(model, costs={0: 2.0}),
        "feature names": Explainer(model, feature_names=names),
        "seed": Explainer(model, seed=1),
    }
    for name, changed in changes.items():
        now = settings_of(changed)
        different = {each for each in base if base[each] != now[each]}
        assert name in different <= {name, "unit"}, name
        json.dumps(now, allow_nan=False)
    text = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0])
    base = settings_of(Explainer(text))
    for name, options in {
        "removal": {"removal": "zero"},
        "unit": {"unit": "sentence"},
        "mask token": {"mask_token": "?"},
    }.items():
        now = settings_of(Explainer(text, **options))
        assert name in {each for each in base if base[each] != now[each]} <= {name, "scored by"}


def test_functions_are_told_apart_by_what_they_do():
    def weighted(weights):
        return lambda X: X @ weights

    same = [settings_of(explainer(weighted(WEIGHTS)))["model"] for _ in range(2)]
    other = settings_of(explainer(weighted(2 * WEIGHTS)))["model"]
    assert same[0] == same[1] != other
    assert fingerprint(lambda X: X + 1) != fingerprint(lambda X: X + 2)
    assert fingerprint(score) != fingerprint(np.sum)


def test_a_function_is_known_by_the_functions_that_it_calls():
    def of(code):
        names = {"__name__": "models"}
        exec(code, names)
        return fingerprint(names["score"])

    def code(factor, default):
        return (
            f"def scaled(X, *, by={default}): return {factor} * by * X if by else score(X)\n"
            "def score(X): return [scaled(row) for row in X]"
        )

    assert of(code(2, 3)) == of(code(2, 3))
    assert len({of(code(2, 3)), of(code(5, 3)), of(code(2, 7))}) == 3


def test_what_cannot_be_pickled_is_refused():
    with pytest.raises(InputError, match="must be such as can be pickled, got generator"):
        fingerprint(i for i in range(3))
