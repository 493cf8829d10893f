"""The LangChain retriever over real SQLite and real Chroma."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever
from runtime.memory_tools import StoryMemoryTools
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

QUERIES = {"demo": "what was promised in the house", "demo-zh": "谁许下了什么承诺"}


@pytest.fixture(scope="module")
def stores(ingested_demos: Path) -> Iterator[MemoryStores]:
    """Stores over the ingested demo projects, which are only read."""
    with MemoryStores(settings_for(ingested_demos)) as opened:
        yield opened


@pytest.mark.anyio
class TestStandardSuite(RetrieversIntegrationTests):
    """LangChain's own suite for retrievers, in both languages."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Run the suite's coroutines on asyncio."""
        return "asyncio"

    @pytest.fixture(autouse=True, params=sorted(QUERIES))
    def project(self, request: pytest.FixtureRequest, stores: MemoryStores) -> None:
        """Lend each test the stores and one of the projects."""
        self.stores, self.project_id = stores, request.param

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """The class under test."""
        return StoryMemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """A retriever over the stores."""
        return {"memory": StoryMemoryTools(self.stores), "project_id": self.project_id}

    @property
    def retriever_query_example(self) -> str:
        """A question in the story's language."""
        return QUERIES[self.project_id]


def test_a_name_filters_like_an_id(stores: MemoryStores) -> None:
    """Entities may be named as people write them."""
    with stores.database("demo").read() as unit:
        entity = unit.entities.list_all(entity_types=["character"])[0].entity
    found = {
        key: StoryMemoryRetriever(
            memory=StoryMemoryTools(stores), project_id="demo", entities=[key], content_type="memory", k=50
        ).invoke("what happened")
        for key in (entity.entity_id, entity.name)
    }
    assert found[entity.name] == found[entity.entity_id]
    assert all(entity.entity_id in each.metadata["entities"] for each in found[entity.entity_id])
    assert found[entity.entity_id]
