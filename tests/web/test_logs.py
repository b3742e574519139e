"""Lines of the log: what they hold, and what they never hold."""

import io
import json
import logging

import pytest

from butfor._web.logs import log, log_event, logging_to


def written(form, do, **options):
    stream = io.StringIO()
    with logging_to(stream, form, **options):
        do()
    return stream.getvalue().splitlines()


def tell():
    log_event(logging.INFO, "request", route="/api/rows/{number}", status=200, worker=None)
    log_event(logging.WARNING, "worker lost", reason='it said "no more"\nthen nothing')


def test_json_lines_have_fields():
    first, second = (json.loads(line) for line in written("json", tell))
    assert first.pop("time").endswith("Z")
    assert first == {"level": "info", "event": "request", "route": "/api/rows/{number}", "status": 200}
    assert (second["level"], second["event"]) == ("warning", "worker lost")
    assert second["reason"] == 'it said "no more"\nthen nothing'


def test_text_lines_can_be_read_and_hold_no_ends_of_lines():
    first, second = written("text", tell)
    assert first.split(" ", 1)[1] == "info request route=/api/rows/{number} status=200"
    assert second.split(" ", 1)[1] == r'warning worker lost reason="it said \"no more\"\nthen nothing"'


def test_quiet_logs_only_what_goes_wrong():
    (line,) = written("text", tell, quiet=True)
    assert "worker lost" in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_messages_of_exceptions_are_not_logged(form):
    def fail():
        try:
            raise ValueError("a secret text")
        except ValueError:
            logging.getLogger("asyncio").exception("it failed")

    (line,) = written(form, fail)
    assert "secret" not in line
    assert "ValueError" in line
    assert "test_logs.py:" in line


def test_logging_is_as_before_afterwards():
    before = logging.getLogger().handlers[:], log.level
    written("json", tell)
    assert (logging.getLogger().handlers, log.level) == before
