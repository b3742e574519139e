"""Workspaces whose names and texts try to be something else."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from butfor import Explainer

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img/src=x/onerror=alert(1)>'
TURNED = "\u202eesrever\u202c"
LONG = "x" * 100_000
EMOJI = "👩‍👩‍👧🏽"
HEBREW = "פרס"
TEXT = f"{EMOJI} {SCRIPT} {TURNED} {IMAGE} {HEBREW} {LONG} ${{7*7}} {{{{7*7}}}} 𝒇𝒓𝒆𝒆\x00 end"
NAMES = [SCRIPT, IMAGE, TURNED, LONG, EMOJI, HEBREW, "a,b", "constructor", *(f"film {i}" for i in range(92))]
CLASSES = [f"<b>{SCRIPT}</b>", "\u202eevil"]


def text_workspace() -> Any:
    from butfor._web.served_rows import ServedTexts
    from butfor._web.workspace import Workspace

    vectorizer = CountVectorizer(token_pattern=r"\S+", lowercase=False, binary=True)
    model = make_pipeline(vectorizer, LogisticRegression(C=100)).fit([TEXT, "mild words"], [1, 0])
    return Workspace.of(
        "texts", SCRIPT, Explainer(model, class_names=CLASSES), ServedTexts([TEXT, "mild words", "", "?!"])
    )


def item_workspace() -> Any:
    from butfor._web.served_rows import ServedItems
    from butfor._web.workspace import Workspace

    X = np.vstack([np.ones(len(NAMES)), np.zeros(len(NAMES))])
    model = LogisticRegression().fit(X, [1, 0])
    explainer = Explainer(model, feature_names=NAMES, class_names=CLASSES)
    return Workspace.of("items", TURNED, explainer, ServedItems(csr_array(X), NAMES))
