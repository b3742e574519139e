import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from butfor import Explanation, InputError
from butfor._web.overview import SORTS, STATUSES, Overview, Query

N_ROWS = 400
CLASSES = ("ham", "spam")
WORDS = [f"word {i}" for i in range(20)]


def explanation(status, features, score, proven, decision):
    size = len(features)
    return Explanation(
        **{"status": status, "features": tuple(features), "columns": (), "weights": (), "score": score},
        **{"score_without": 0.0, "threshold": 0.5, "n_active": 9, "n_protected": 0, "max_size": 30},
        **{"n_scored": 1, "seconds": 0.1, "search": "auto", "local_model": "linear", "reason": ""},
        lower_bound=size if proven else max(0, size - 1),
        cost=size,
        decision=decision,
    )


class Numbered:
    """Rows that are called by their number."""

    def __len__(self):
        return N_ROWS

    def id(self, number):
        return f"id {number}"

    def preview(self, number):
        return f"row {number}"

    def matching(self, query):
        return np.array([query in self.preview(number) for number in range(N_ROWS)])


def test_answers_that_deletion_contradicts_are_marked():
    overview = Overview(Numbered(), CLASSES)
    why = explanation("found", ["word 1"], 0.9, True, "spam")
    overview.note_outcomes(
        [0, 1, 2], [replace(why, survives_deletion=survives) for survives in (True, False, None)]
    )
    assert [overview.state(number)["contradicted"] for number in range(4)] == [False, True, False, None]


@pytest.fixture(scope="module")
def known():
    """What is known of each row, as plain values: row by row, with many ties."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(N_ROWS):
        status = STATUSES[rng.choice(5, p=[0.2, 0.5, 0.1, 0.1, 0.1])]
        size = int(rng.integers(1, 6)) if status == "found" else 0
        features = rng.choice(WORDS, size, replace=False).tolist()
        scored = status in ("found", "none", "budget") or (status == "pending" and rng.random() < 0.9)
        score = round(float(rng.random()), 1) if scored else None
        decision = None if score is None else CLASSES[score >= 0.5]
        rows.append(
            {
                **{"number": number, "status": status, "features": features, "score": score},
                **{"decision": decision, "proven": bool(rng.random() < 0.5) if size else None},
                "size": size if status == "found" else None,
            }
        )
    return rows


@pytest.fixture(scope="module")
def overview(known):
    overview = Overview(Numbered(), CLASSES)
    scored = [row for row in known if row["score"] is not None]
    overview.note_scores(
        [row["number"] for row in scored],
        [row["score"] for row in scored],
        [CLASSES.index(row["decision"]) for row in scored],
    )
    for row in known:
        if row["status"] == "error":
            overview.note_outcomes([row["number"]], [InputError("bad")])
        elif row["status"] != "pending":
            why = explanation(row["status"], row["features"], row["score"], row["proven"], row["decision"])
            overview.note_outcomes([row["number"]], [why])
    return overview


def fits(row, query):
    return (
        query.q in f"row {row['number']}"
        and query.decision in (None, row["decision"])
        and query.status in (None, row["status"])
        and query.size in (None, row["size"])
        and query.proven in (None, row["proven"])
        and (query.feature is None or query.feature in row["features"])
    )


def sorted_by_hand(rows, sort):
    key, falling = sort.lstrip("-"), sort.startswith("-")
    known = [row for row in rows if row[key] is not None]
    if falling and key == "number":
        return known[::-1]
    in_order = sorted(known, key=lambda row: -row[key] if falling else row[key])
    return in_order + [row for row in rows if row[key] is None]


FILTERS = [
    {},
    {"q": "7"},
    {"decision": "spam"},
    {"decision": "nobody"},
    {"status": "pending"},
    {"size": 2},
    {"proven": False},
    {"feature": "word 3"},
    {"feature": "no such word"},
    {"q": "1", "decision": "ham", "proven": True, "feature": "word 4"},
    {"size": 3, "status": "found", "decision": "spam"},
]


@pytest.mark.parametrize(("sort", "filters"), list(product(SORTS, FILTERS)))
def test_pages_are_those_that_sorting_and_filtering_by_hand_give(overview, known, sort, filters):
    expected = sorted_by_hand([row for row in known if fits(row, Query(**filters))], sort)
    numbers = []
    for number in range(1, 10):
        page = overview.page(Query(page=number, per_page=60, sort=sort, **filters))
        assert (page["total"], page["matching"], page["page"]) == (N_ROWS, len(expected), number)
        numbers += [row["number"] for row in page["rows"]]
        assert len(page["rows"]) <= 60
    assert numbers == [row["number"] for row in expected]


def test_a_row_of_a_page_says_what_is_known(overview, known):
    for row, line in zip(known, overview.page(Query(per_page=N_ROWS))["rows"], strict=True):
        same = ("number", "status", "size", "score", "decision", "proven")
        assert {name: line[name] for name in same} == {name: row[name] for name in same}
        assert (line["id"], line["preview"]) == (f"id {row['number']}", f"row {row['number']}")
        assert (line["lower_bound"] is None) == (row["status"] in ("pending", "error"))
        assert overview.state(row["number"])["score"] == row["score"]
        assert overview.error(row["number"]) == ("bad" if row["status"] == "error" else None)


@pytest.mark.parametrize("decision", [None, *CLASSES, "nobody"])
def test_the_summary_counts_what_counting_by_hand_gives(overview, known, decision):
    rows = [row for row in known if decision in (None, row["decision"])]
    summary = overview.summary(decision)
    assert summary["total"] == len(rows)
    for name in CLASSES:
        assert summary["decisions"][name] == sum(row["decision"] == name for row in rows)
    for status in STATUSES:
        assert summary["statuses"][status] == sum(row["status"] == status for row in rows)
    sizes = [row["size"] for row in rows if row["size"]]
    assert summary["sizes"] == {str(size): sizes.count(size) for size in sorted(set(sizes))}
    assert (summary["n_found"], summary["n_proven"]) == (len(sizes), sum(bool(row["proven"]) for row in rows))
    words = [word for row in rows for word in row["features"]]
    counts = [(each["name"], each["count"]) for each in summary["features"]]
    assert {name: count for name, count in counts} == {word: words.count(word) for word in set(words)}
    assert [count for _, count in counts] == sorted((count for _, count in counts), reverse=True)
    explained = sum(row["status"] != "pending" for row in known)
    assert summary["progress"]["explained"] == explained


def test_what_is_done_stays_and_what_comes_is_seen_at_once():
    overview = Overview(Numbered(), CLASSES)
    first = explanation("found", ["a"], 0.7, True, "spam")
    by_size = Query(sort="-size", per_page=2)
    assert [row["number"] for row in overview.page(by_size)["rows"]] == [0, 1]
    overview.note_outcomes([5], [first])
    overview.note_outcomes([5], [InputError("late")])
    assert overview.page(by_size)["rows"][0]["number"] == 5
    assert overview.summary()["features"] == [{"name": "a", "count": 1}]
    assert overview.summary()["progress"] == {"total": N_ROWS, "scored": 1, "explained": 1}
    assert overview.page(Query(decision="spam"))["matching"] == 1


def test_classes_without_names_are_told_by_the_score():
    overview = Overview(Numbered(), ("negative", "positive"))
    overview.note_outcomes(
        [0, 1], [explanation("none", [], 0.4, False, ""), explanation("none", [], 0.5, False, "")]
    )
    assert [overview.state(number)["decision"] for number in range(3)] == ["negative", "positive", None]


def test_threads_may_ask_and_tell_at_the_same_time():
    overview, failed = Overview(Numbered(), CLASSES), []

    def ask():
        try:
            for _ in range(50):
                page = overview.page(Query(sort="-size", feature="word 1", per_page=10))
                assert all(row["status"] == "found" for row in page["rows"])
                overview.summary("spam")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(N_ROWS):
        overview.note_outcomes([number], [explanation("found", ["word 1", WORDS[2]], 0.9, True, "spam")])
    for thread in threads:
        thread.join()
    assert not failed
    assert overview.summary("spam")["features"][0] == {"name": "word 1", "count": N_ROWS}


@pytest.mark.parametrize("bad", [{"sort": "colour"}, {"status": "lost"}])
def test_what_nobody_knows_is_refused(bad):
    with pytest.raises(InputError, match="must be one of"):
        Query(**bad)
