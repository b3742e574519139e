"""Requests that nobody thought of: the API answers all of them, and as its own description says."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from profiles import n_examples
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from web_client import Client
from web_toys import inbox_workspace

from butfor._web.app import create_app
from butfor._web.limits import Limits

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SETTINGS = n_examples(12, suppress_health_check=list(HealthCheck), database=None)


@pytest.fixture(scope="module")
def client():
    app = create_app(
        [inbox_workspace()], limits=Limits(max_seconds=0.2, waiting_seconds=600, refused_seconds=0), jobs=1
    )
    with Client(app) as client:
        yield client


def sent(client, case):
    """Send what was thought up."""
    options = case.as_transport_kwargs(base_url="http://localhost:8000")
    body = json.dumps(options["json"]) if "json" in options else options.get("data")
    return client.ask(
        options["method"], options["url"], params=options["params"], headers=options["headers"], content=body
    )


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_every_answer_is_as_described(client, mode):
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) > 8
    for operation in operations:
        if mode is schemathesis.GenerationMode.NEGATIVE and operation.path.startswith("/health"):
            continue  # it takes nothing that could be wrong

        @SETTINGS
        @given(operation.as_strategy(generation_mode=mode))
        def ask(case):
            case.validate_response(sent(client, case), checks=CHECKS)

        ask()
