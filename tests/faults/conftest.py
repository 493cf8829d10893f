"""Healthy projects to be broken, each test its own copy."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.stores import MemoryStores
from tests.faults.expectations import context_of, stages
from tests.faults.large_story import EMBEDDINGS, build_large_story, large_request
from tests.support.demo_project import demo_request, settings_for


@pytest.fixture(scope="session")
def pristine_large_story(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A projects folder with the large story; not to be changed."""
    return made_once("large-story", build_large_story)


@pytest.fixture(scope="session")
def healthy_large(pristine_large_story: Path) -> SceneMemoryContext:
    """The context of the large story's next scene while all is well."""
    return _healthy(pristine_large_story, large_request(), embedding_model=EMBEDDINGS)


@pytest.fixture
def large_folder(pristine_large_story: Path, tmp_path: Path) -> Path:
    """A projects folder with the large story, of the test's own."""
    return Path(shutil.copytree(pristine_large_story, tmp_path / "projects"))


@pytest.fixture(scope="session")
def request_in_demo() -> MemoryContextRequest:
    """The demo's densest scene."""
    return demo_request("demo", 5, 4)


@pytest.fixture(scope="session")
def healthy_demo(ingested_demos: Path, request_in_demo: MemoryContextRequest) -> SceneMemoryContext:
    """The context of that scene while all is well."""
    return _healthy(ingested_demos, request_in_demo)


def _healthy(folder: Path, request: MemoryContextRequest, **memory: str) -> SceneMemoryContext:
    with MemoryStores(settings_for(folder, **memory)) as stores:
        context = context_of(stores, request)
    assert stages(context) == set()
    assert context.relevant_memories
    assert context.entity_states
    return context
