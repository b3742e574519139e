"""What a batch prints while it runs, where stderr is no terminal."""

import json

import pytest

from butfor import InputError
from butfor._cli.progress import Lines, shown
from butfor.batch import BatchEvent


def printed(events, **options):
    """Return the lines that are printed, if these events come at their seconds."""
    now, lines = [0.0], []
    show = Lines(clock=lambda: now[0], write=lines.append, **options).show
    for event in events:
        now[0] = event.seconds
        show(event)
    return lines


def rows(*at, n_rows=1_000):
    return [BatchEvent("rows", int(10 * second), n_rows, seconds=second) for second in at]


def test_lines_at_a_pace():
    lines = printed(rows(0, 1, 9, 11, 12, 40, 42, 71, 73))
    assert lines == [
        "110 of 1,000 rows after 11 s, 10 a second, 89 s left",
        "420 of 1,000 rows after 42 s, 10 a second, 58 s left",
        "730 of 1,000 rows after 73 s, 10 a second, 27 s left",
    ]


def test_a_line_at_the_end_of_a_long_run_only():
    end = BatchEvent("ended", 1_000, 1_000, n_errors=3, seconds=20)
    assert printed([*rows(0, 11), end])[-1] == "1,000 of 1,000 rows after 20 s, 50 a second, 3 errors"
    assert printed([*rows(0, 2), BatchEvent("ended", 1_000, 1_000, seconds=3)]) == []


def test_what_earlier_runs_did_is_not_counted_in_the_pace():
    begun = BatchEvent("begun", 500, 1_000)
    assert printed([begun, BatchEvent("rows", 600, 1_000, seconds=20)]) == [
        "600 of 1,000 rows after 20 s, 5 a second, 80 s left"
    ]


def test_json_lines():
    events = [
        BatchEvent("begun", 0, 1_000),
        *rows(1, 2, 11, 12),
        BatchEvent("failed", 120, 1_000, seconds=13, chunk=4, reason='two\nlines "quoted"'),
        BatchEvent("ended", 1_000, 1_000, seconds=20),
    ]
    found = [json.loads(line) for line in printed(events, as_json=True)]
    assert [each["kind"] for each in found] == ["begun", "rows", "failed", "ended"]
    assert (found[1]["n_done"], found[2]["chunk"], found[2]["reason"]) == (110, 4, 'two\nlines "quoted"')


def test_no_such_way():
    with (
        pytest.raises(InputError, match="--progress must be one of bar, lines, json, none, got 'loud'"),
        shown("loud"),
    ):
        pass
