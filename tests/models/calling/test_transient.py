import pytest

from butfor.models.calling.transient import is_transient, seconds_to_wait


class Response:
    def __init__(self, status_code, headers=None):
        self.status_code, self.headers = status_code, headers or {}


class HTTPError(Exception):
    def __init__(self, status, headers=None):
        super().__init__(f"status {status}")
        self.response = Response(status, headers)


class RateLimitError(Exception):
    pass


class APITimeoutError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (RateLimitError(), True),
        (APITimeoutError(), True),
        (HTTPError(429), True),
        (HTTPError(503), True),
        (HTTPError(401), False),
        (HTTPError(400), False),
        (ValueError("429"), False),
        (FileNotFoundError(), False),
        (RuntimeError("CUDA out of memory"), False),
    ],
)
def test_which_failures_may_pass(error, expected):
    assert is_transient(error) == expected


def test_waits_double_up_to_a_minute_and_servers_are_obeyed():
    assert [seconds_to_wait(TimeoutError(), i, 0.5, 0.0) for i in range(4)] == [0.5, 1.0, 2.0, 4.0]
    assert seconds_to_wait(TimeoutError(), 30, 0.5, 1.0) == 60.0
    assert seconds_to_wait(HTTPError(429, {"retry-after": "17"}), 0, 0.5, 0.0) == 17.0
    assert seconds_to_wait(HTTPError(429, {"retry-after": "Wed, 21 Oct"}), 0, 0.5, 0.0) == 0.5
