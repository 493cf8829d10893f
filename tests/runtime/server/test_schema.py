"""Requests made up from the OpenAPI document: whatever comes in, the server answers as it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from runtime.server.app import build_app
from tests.runtime.server.serving import project_stores, village_model

schemathesis = pytest.importorskip("schemathesis")

OWN_NAME = {"Host": "localhost"}

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]


@pytest.fixture
def made_up(demo_folder: Path) -> Iterator[Any]:
    """The routes of a server over the demos, for which schemathesis makes requests up."""
    stores = project_stores(demo_folder)
    app = build_app(stores, chat_model=village_model())
    yield schemathesis.openapi.from_asgi("/openapi.json", app, headers=OWN_NAME)
    stores.close()


schema = schemathesis.pytest.from_fixture("made_up")


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_made_up_requests_are_answered_as_told(case: Any) -> None:
    """No request ends in a bug; every answer has a status, a type and a shape that the document names."""
    case.call_and_validate(
        headers=OWN_NAME,
        checks=[
            schemathesis.checks.not_a_server_error,
            schemathesis.checks.status_code_conformance,
            schemathesis.checks.content_type_conformance,
            schemathesis.checks.response_schema_conformance,
        ],
    )
