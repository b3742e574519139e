"""Workspaces whose names and texts try to be something else."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

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


RECORDS = [
    {IMAGE: SCRIPT, "age": 40, "text": f"{EMOJI} mild {SCRIPT} words {TURNED}", "items": [IMAGE, HEBREW]},
    {IMAGE: "plain", "age": 40, "text": "mild and kind", "items": []},
]


def _same(items: Any) -> Any:
    return items


def record_workspace() -> Any:
    from butfor._web.served_records import ServedRecords
    from butfor._web.workspace import Workspace

    front = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [IMAGE]),
        (CountVectorizer(), "text"),
        (CountVectorizer(analyzer=_same), "items"),
        ("passthrough", ["age"]),
    )
    model = make_pipeline(front, LogisticRegression(C=100)).fit(pd.DataFrame(RECORDS * 5), [1, 0] * 5)
    explainer = Explainer(model, class_names=CLASSES)
    return Workspace.of("records", SCRIPT, explainer, ServedRecords(RECORDS))
