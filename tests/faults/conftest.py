"""Healthy projects to be broken, each test its own copy."""

from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
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
