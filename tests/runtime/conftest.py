"""Stores and a stored story for tests of any room, in a project of its own for every test."""

import itertools
from collections.abc import Iterator

import pytest

from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.agents.guild_story import ENTITIES, scene

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores without any project."""
    folder = tmp_path_factory.mktemp("projects")
    with MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"})) as opened:
        yield opened


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """The guild's story, whose vector index was not made yet."""
    project_id = f"guild-{next(_numbers)}"
    stores.create_project(project_id, language="en")
    store_entities(stores, project_id, ENTITIES, origin="author")
    ingest_scenes(stores, project_id, [scene(*place) for place in ((1, 1), (1, 2), (2, 1))], index=False)
    return project_id
