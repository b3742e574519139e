import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batches import BAD, THRESHOLD, X, explainer, score
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from butfor import Budget, Explainer, Explanation, InputError, Outcomes
from butfor.batch.folder import Folder
from butfor.batch.outputs import schema, table
from butfor.batch.parts import FirstRows, Origin, Part, part_name, unsealed, write_part
from butfor.batch.statistics import Statistics
from butfor.errors import storable

WHYS = list(explainer().explain_many(X))
FIRST = Origin("a run", 0)


def test_a_line_holds_what_the_explanation_says():
    lines = table(range(len(WHYS)), WHYS, "int").to_pylist()
    for line, why in zip(lines, WHYS, strict=True):
        said = why.to_dict()
        for name in set(line) & set(said):
            assert line[name] == said[name], name
        assert (line["size"], line["proven"], line["error"]) == (why.size, why.proven_minimum, None)
    assert {line["status"] for line in lines} == {"found", "none"}


def test_whether_an_answer_survives_deletion_is_null_where_that_does_not_apply():
    assert schema("int").field("survives_deletion").type == pa.bool_()
    whys = [WHYS[0], *(replace(WHYS[0], unit="word", survives_deletion=each) for each in (True, False, None))]
    lines = table(range(5), [*whys, "no text"], "int").to_pylist()
    assert [line["survives_deletion"] for line in lines] == [None, True, False, None, None]


def test_errors_are_lines_and_left_out_rows_are_none():
    outcomes = [WHYS[0], InputError("row must be finite."), None, "no \ud800 text"]
    lines = table(["a", "b", "c", None], outcomes, "string").to_pylist()
    assert [line["id"] for line in lines] == ["a", "b", None]
    assert [line["error"] for line in lines] == [None, "row must be finite.", "no ? text"]
    assert lines[1]["status"] == "error"
    given = {name for name, value in lines[1].items() if value is not None}
    assert given == {"id", "status", "error"}


def test_names_with_half_a_character_are_mended():
    why = explainer(feature_names=["\ud83d"] * 12).explain(X[[0]])
    (line,) = table([0], [why], "int").to_pylist()
    assert set(line["features"]) == {"?"}


def test_all_parts_have_the_same_schema_whatever_is_in_them(tmp_path):
    folder = Folder(str(tmp_path))
    for number, outcomes in enumerate((WHYS[:2], ["wrong", "wrong"], [None, None])):
        write_part(folder, Origin("a run", number), FirstRows().followed_by([1, 2], outcomes, "int"))
    read = [pq.read_schema(tmp_path / part_name(number)) for number in range(3)]
    assert all(each.equals(schema("int")) for each in read)
    assert read[0].field("features").type == pa.list_(pa.string())


def test_the_footer_says_what_is_in_a_part(tmp_path):
    folder = Folder(str(tmp_path))
    ids = list(range(100, 100 + len(WHYS)))
    outcomes = [None if i == 3 else "wrong" if i == BAD else why for i, why in enumerate(WHYS)]
    written = write_part(folder, FIRST, FirstRows().followed_by(ids, outcomes, "int"))
    part = unsealed(folder.read(part_name(0)))
    assert part == Part(FIRST, written)
    read = part.statistics
    kept = [why for i, why in enumerate(WHYS) if i not in (3, BAD)]
    assert (read.n_rows, read.n_left_out, read.statuses["error"]) == (len(WHYS), 1, 1)
    assert read.n_found == sum(map(bool, kept))
    assert read.n_proven == sum(why.proven_minimum for why in kept)
    sizes = sorted(why.size for why in kept if why)
    assert (read.size_at(0), read.size_at(1)) == (sizes[0], sizes[-1])
    assert read.size_at(0.5) in (sizes[(len(sizes) - 1) // 2], sizes[len(sizes) // 2])
    slowest = max((why.seconds, i) for i, why in zip(ids, outcomes, strict=True) if why in kept)
    assert tuple(read.slowest[0]) == slowest
    assert sum((read, read), start=type(read)()).n_rows == 2 * len(WHYS)


def test_no_byte_of_a_part_changes_unnoticed(tmp_path):
    zeros = "0" * 32  # as long as a checksum
    write_part(
        Folder(str(tmp_path)),
        FIRST,
        FirstRows().followed_by([zeros, bytes(32).decode()], WHYS[:2], "string"),
    )
    path = tmp_path / part_name(0)
    content = path.read_bytes()
    assert unsealed(content).origin == FIRST
    for place in range(0, len(content), 5):
        flipped = content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
        with pytest.raises(ValueError, match=r"it is (torn|damaged)|it was not written by a run"):
            unsealed(flipped)
    for torn in (content[:-20], content[20:], content + b"PAR1", b""):
        with pytest.raises(ValueError, match=r"it is (torn|damaged)"):
            unsealed(torn)
    pq.write_table(pq.read_table(path), path)  # by another hand, which keeps no checksum
    with pytest.raises(ValueError, match="it was not written by a run"):
        unsealed(path.read_bytes())


def linear(n_classes=2):
    """Return a linear model of random weights."""
    model, rng = LogisticRegression(), np.random.default_rng(n_classes)
    model.classes_, model.n_features_in_ = np.arange(n_classes), X.shape[1]
    n_rows = 1 if n_classes == 2 else n_classes
    model.coef_, model.intercept_ = rng.normal(size=(n_rows, X.shape[1])), rng.normal(size=n_rows)
    return model


def network():
    """Return a network of three neurons that was hardly trained."""
    model = MLPClassifier((3,), max_iter=2, random_state=0)
    with warnings.catch_warnings(action="ignore"):
        return model.fit(X, np.arange(X.shape[0]) % 2)


def spotted():
    """Return rows of which one is empty and two cannot be explained."""
    rows = X.toarray()
    rows[3] = 0.0
    rows[[BAD, 40], 5] = np.nan
    return rows


TWO_WAYS = {
    "linear": (linear, {}, X, False),
    "linear, dense, with errors": (linear, {}, spotted(), False),
    "linear, positive rows": (linear, {}, X, True),
    "linear, names": (linear, {"feature_names": [f"é{i}\ud83d" for i in range(12)]}, X, False),
    "linear, classes": (linear, {"class_names": ["stays", "goes"]}, X, False),
    "linear, at most one": (linear, {"budget": Budget(max_size=1)}, X, False),
    "linear, protected": (linear, {"protected": [0, 1, 2]}, X, False),
    "linear, all protected": (linear, {"protected": range(12)}, X[:9], False),
    "linear, groups": (linear, {"groups": [i % 5 for i in range(12)]}, X[:20], False),
    "linear, costs": (linear, {"costs": np.linspace(0.5, 2, 12)}, X[:20], False),
    "linear, a price": (linear, {"budget": Budget(price=0.1)}, X[:20], False),
    "three classes": (lambda: linear(3), {}, X[:20], False),
    "a target": (lambda: linear(3), {"target": 1}, X[:20], False),
    "network": (network, {}, X[:40], False),
    "black box": (lambda: score, {"threshold": THRESHOLD}, X[:20], False),
    "a tolerance": (lambda: score, {"threshold": THRESHOLD, "noise": 0.3}, X[:10], False),
}


@pytest.mark.parametrize("case", TWO_WAYS)
def test_columns_are_written_as_objects_are(case):
    make, options, rows, only_positive = TWO_WAYS[case]
    explaining = Explainer(make(), **options)
    explaining.explain(rows[0])
    outcomes = explaining.explain_block(rows, only_positive=only_positive)
    ids = [f"row {i}" for i in range(len(outcomes))]
    by_columns, by_objects = table(ids, outcomes, "string"), table(ids, list(outcomes), "string")
    assert by_columns.schema == by_objects.schema
    assert by_columns.equals(by_objects)
    assert by_columns.to_pylist() == [
        line(each, outcome) for each, outcome in zip(ids, outcomes, strict=True) if outcome is not None
    ]
    assert Statistics.of(by_columns, len(ids)) == Statistics.of(by_objects, len(ids))
    kept = sum(len(numbers) for numbers, _ in outcomes.columns)
    through_blocks = case.startswith("linear") and not {"groups", "costs"} & set(options)
    assert (kept > 0) == (through_blocks and "all protected" not in case) or case == "network"


def line(each, outcome):
    """Return the line of an outcome, by the attributes of the explanation."""
    names = schema("string").names
    if not isinstance(outcome, Explanation):
        return dict.fromkeys(names) | {"id": each, "status": "error", "error": str(outcome)}
    values = {name: getattr(outcome, name, None) for name in names}
    values |= {"id": each, "proven": outcome.proven_minimum, "features": map(storable, outcome.features)}
    return {
        name: list(value) if name in ("features", "columns", "instead") else value
        for name, value in values.items()
    }


def test_all_kinds_of_outcomes_keep_their_places():
    explaining = Explainer(linear())
    explaining.explain(X[0])
    found = explaining.explain_block(X)
    mixed = found.replaced({0: None, 5: InputError("wrong"), 7: found[8], 119: None})
    for outcomes in (mixed, Outcomes.joined([mixed, Outcomes.of({0: None}), mixed])):
        lines = table(range(len(outcomes)), outcomes, "int")
        assert lines.equals(table(range(len(outcomes)), list(outcomes), "int"))
        assert lines["id"].to_pylist() == [i for i, each in enumerate(outcomes) if each is not None]
    nothing = table([1, 2], Outcomes.of({0: None, 1: None}), "int")
    assert (len(nothing), nothing.schema) == (0, schema("int"))
    assert Statistics.of(nothing, 2) == Statistics(n_rows=2, n_left_out=2)
