"""The story memory as a LangChain retriever, over a story in stores of its own."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever, document_of
from novelgen.errors import DatabaseError
from novelgen.models.memory import AttachedTo, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from tests.support.stored_story import StoredStory
from tests.support.stories import PROJECT, lighthouse_memory
from tests.support.tracing import RecordingHandler

BEFORE_CHAPTER_3 = StoryPosition(3)
ABOUT_M1 = "Ada hid the brass key under the third stair"


@pytest.mark.anyio
class TestStandardSuite(RetrieversIntegrationTests):
    """LangChain's own suite for retrievers."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Run the suite's coroutines on asyncio."""
        return "asyncio"

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """The class under test."""
        return StoryMemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """A retriever over the lighthouse story."""
        return {"memory": lighthouse_memory(), "project_id": PROJECT}

    @property
    def retriever_query_example(self) -> str:
        """A query that every memory shares a word with."""
        return "the brass key of Ada in this story"


def retriever(**fields: Any) -> StoryMemoryRetriever:
    """Return a retriever over the lighthouse story."""
    return StoryMemoryRetriever(**{"memory": lighthouse_memory(), "project_id": PROJECT, **fields})


def sources(documents: list[Document]) -> list[str]:
    """Return the source ids of documents in their order."""
    return [document.metadata["source_id"] for document in documents]


def test_a_document_carries_what_is_known_of_its_memory() -> None:
    """Id, place, weight, entities and kind are at hand without another look-up."""
    document = retriever(as_of=BEFORE_CHAPTER_3).invoke("hid the brass key under the stair")[0]
    assert document.id == "k-M1"
    assert document.page_content.startswith("Ada hid the brass key")
    assert document.metadata == {
        "chunk_id": "k-M1",
        "source_id": "M1",
        "project_id": PROJECT,
        "chapter_index": 1,
        "scene_index": 1,
        "importance": 5,
        "entities": ["C0", "I0", "L0"],
        "tags": [],
        "content_type": "memory",
        "superseded_by": None,
        "attached_to": [
            {"type": "character", "id": "C0"},
            {"type": "item", "id": "I0"},
            {"type": "location", "id": "L0"},
        ],
    }


def test_nothing_of_the_position_or_later_is_retrieved() -> None:
    """The sale of chapter 3 is found at the end of the story and not on entering that chapter."""
    query = "Ben sold the brass key to the harbour master"
    assert "M4" in sources(retriever().invoke(query))
    assert "M4" not in sources(retriever(as_of=BEFORE_CHAPTER_3).invoke(query))
    assert "M4" not in sources(retriever().invoke(query, as_of=BEFORE_CHAPTER_3))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"entities": ["I1"]}, ["M3"]),
        ({"content_type": "note"}, []),
        ({"memory_tags": ["sea"]}, []),
        ({"k": 1}, ["M1"]),
    ],
)
def test_filters_hold(filters: dict[str, Any], expected: list[str]) -> None:
    """Entities, kind, tags and number bound what is retrieved."""
    query = "Ada hid the brass key under the third stair of the keeper's lighthouse"
    assert sources(retriever(as_of=BEFORE_CHAPTER_3, **filters).invoke(query)) == expected


def test_async_calls_give_the_same_and_a_blank_query_nothing() -> None:
    """ainvoke takes the same arguments; a chain may hand over an empty question."""
    asked = retriever()
    assert asyncio.run(asked.ainvoke("the brass key")) == asked.invoke("the brass key")
    assert len(asyncio.run(asked.ainvoke("the brass key", k=1))) == 1
    assert retriever().invoke("  ") == []


@pytest.mark.parametrize("fields", [{"k": 0}, {"project_id": ""}, {"content_type": "poem"}])
def test_fields_out_of_bounds_are_refused(fields: dict[str, Any]) -> None:
    """A wrong field is refused when the retriever is built, by its name."""
    with pytest.raises(ValidationError, match=next(iter(fields))):
        retriever(**fields)


class BrokenSearch(StoredStory):
    """A memory whose search fails a given number of times."""

    failures = 1

    def search_story_memory(self, *arguments: Any, **keywords: Any) -> list[StoryMemoryChunk]:
        """Fail, then answer nothing."""
        self.failures -= 1
        if self.failures >= 0:
            raise DatabaseError("the database is down")
        return []


def test_an_outage_raises_so_that_fallbacks_and_retries_see_it() -> None:
    """with_retry asks again, with_fallbacks asks elsewhere."""
    broken = StoryMemoryRetriever(memory=BrokenSearch(PROJECT), project_id=PROJECT)
    with pytest.raises(DatabaseError, match="down"):
        broken.invoke("the key")
    retried = StoryMemoryRetriever(memory=BrokenSearch(PROJECT), project_id=PROJECT).with_retry(
        retry_if_exception_type=(DatabaseError,), wait_exponential_jitter=False, stop_after_attempt=2
    )
    assert retried.invoke("the key") == []
    other = StoryMemoryRetriever(memory=BrokenSearch(PROJECT), project_id=PROJECT)
    assert sources(other.with_fallbacks([retriever(k=1)]).invoke(ABOUT_M1)) == ["M1"]


def test_a_callback_handler_sees_the_retrieval() -> None:
    """Name, tags, query and documents; seed 003.2: a document says what its memory is attached to."""
    handler = RecordingHandler()
    retriever(k=1, tags=["canon"]).invoke(ABOUT_M1, {"callbacks": [handler]})
    (run,) = handler.runs
    assert (run.name, run.tags, run.inputs) == ("StoryMemoryRetriever", ["canon"], ABOUT_M1)
    assert sources(run.outputs) == ["M1"]
    chunk = StoryMemoryChunk(
        chunk_id="k1",
        project_id="lamp",
        content="Told in the past tense.",
        attached_to=[AttachedTo(type="chapter", id="chapter:3")],
    )
    assert document_of(chunk).metadata["attached_to"] == [{"type": "chapter", "id": "chapter:3"}]
