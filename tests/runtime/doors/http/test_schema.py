"""Requests made up from the OpenAPI document: whatever comes in, the server answers as it says."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from runtime.doors.http.app import build_app
from tests.runtime.doors.http.serving import project_stores, village_model

OWN_NAME = {"Host": "localhost"}

MAX_EXAMPLES = int(os.environ.get("NOVELGEN_TEST_SCHEMA_EXAMPLES", "1"))
"""Requests per operation, besides those with its examples; the ordinary run draws the same ones each time."""

pytestmark = pytest.mark.timeout(max(900, 300 * MAX_EXAMPLES))


def answered_or_refused_clearly(context: Any, response: Any, case: Any) -> None:
    """Fail for a bug, and for a refusal that says neither what it is nor when to come again."""
    if response.status_code < 500:
        return
    told = response.content[:300]
    assert response.status_code in (502, 503, 504, 507), told
    assert b'"type": "urn:novelgen:' in response.content, told
    assert response.status_code != 503 or "retry-after" in response.headers, told


@pytest.mark.slow
def test_made_up_requests_are_answered_as_told(demo_folder: Path) -> None:
    """No request ends in a bug; every answer has a status, a type and a shape that the document names."""
    # Imported here, since it costs every worker seconds and one of them runs this.
    schemathesis = pytest.importorskip("schemathesis")
    stores = project_stores(demo_folder)
    app = build_app(stores, chat_model=village_model())
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=OWN_NAME)
    checks = [
        answered_or_refused_clearly,
        schemathesis.checks.status_code_conformance,
        schemathesis.checks.content_type_conformance,
        schemathesis.checks.response_schema_conformance,
    ]
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=MAX_EXAMPLES,
            deadline=None,
            derandomize=MAX_EXAMPLES == 1,
            database=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def answers_as_told(case: Any) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(headers=OWN_NAME, checks=checks)

        answers_as_told()
    stores.close()
    assert tried >= 80
