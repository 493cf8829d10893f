"""Healthy projects to be broken, each test its own copy."""

from functools import partial
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.storage.database import DatabaseManager
from runtime.stores import MemoryStores
from tests.faults.expectations import context_of, stages
from tests.support.demo_project import demo_request, settings_for


@pytest.fixture(scope="session")
def request_in_demo() -> MemoryContextRequest:
    """The demo's densest scene."""
    return demo_request("demo", 5, 4)


@pytest.fixture(scope="session")
def healthy_demo(ingested_demos: Path, request_in_demo: MemoryContextRequest) -> SceneMemoryContext:
    """The context of that scene while all is well."""
    with MemoryStores(settings_for(ingested_demos)) as stores:
        context = context_of(stores, request_in_demo)
    assert stages(context) == set()
    assert context.relevant_memories
    assert context.entity_states
    return context


@pytest.fixture
def impatient_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases wait for others for a second, where they ship with five: the rest of a tool's time is the index's."""
    monkeypatch.setattr(DatabaseManager, "open", partial(DatabaseManager.open, busy_timeout_s=1.0))
