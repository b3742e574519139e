"""Requests that nobody thought of: the API answers all of them, and as its own description says."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from web_client import Client
from web_toys import inbox_desk

from butfor.web.app import create_app
from butfor.web.limits import Limits

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
N_EXAMPLES = 12
SETTINGS = settings(
    max_examples=N_EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@pytest.fixture(scope="module")
def client():
    app = create_app([inbox_desk()], limits=Limits(max_seconds=0.2), jobs=1)
    with Client(app) as client:
        yield client


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_every_answer_is_as_described(client, mode):
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) > 8
    for operation in operations:
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Exception:
            continue

        @SETTINGS
        @given(strategy)
        def ask(case):
            options = case.as_transport_kwargs(base_url="http://localhost:8000")
            answer = client.run(client.http.request(**options))
            case.validate_response(answer, checks=CHECKS)

        ask()
