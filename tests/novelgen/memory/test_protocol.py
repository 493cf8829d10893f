"""The adapter over some of the three memory tools, and the answers that it refuses."""

from types import SimpleNamespace
from typing import Any

import pytest

from novelgen.errors import MemoryAnswerError, MemoryToolError, UserInputError
from novelgen.memory.protocol import PartialStoryMemory, as_story_memory, states_by_name
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import EntityStateSnapshot
from tests.support.stories import MEMORIES, NOW, PROJECT


class SearchAlone:
    """Tools that can search and nothing else, and cut nothing."""

    def __init__(self) -> None:
        self.entities: list[Any] = []

    def search_story_memory(self, project_id: str, query: str, **filters: Any) -> list[object]:
        """Return everything, the future included."""
        self.entities.append(filters["entities"])
        return list(MEMORIES)


def request(**fields: Any) -> SearchRequest:
    """Return a search with one query."""
    return SearchRequest(
        project_id=PROJECT, queries=[SearchQuery(text="the brass key")], as_of=StoryPosition(2, 2), **fields
    )


def state(entity_id: str) -> EntityStateSnapshot:
    """Return a state."""
    return EntityStateSnapshot(project_id=PROJECT, entity_type="character", entity_id=entity_id, timestamp=NOW)


def test_a_search_alone_becomes_a_story_memory_that_cuts_its_answers() -> None:
    """The adapter drops what lies in the future even when the tools do not, and says which tools are missing."""
    adapter = as_story_memory(SearchAlone())  # type: ignore[arg-type]
    assert isinstance(adapter, PartialStoryMemory)
    found = {each.chunk.source_id for each in adapter.search(request()).candidates}
    assert "M1" in found
    assert "M4" not in found
    assert adapter.outline(PROJECT, as_of=END_OF_STORY).entities == []
    with pytest.raises(MemoryToolError, match="no get_entity_state"):
        adapter.get_entity_states(PROJECT, ["C0"], as_of=END_OF_STORY)
    with pytest.raises(MemoryToolError, match="no get_recent_timeline"):
        adapter.get_recent_timeline(PROJECT, 1)


def test_the_entities_of_a_scene_are_a_filter_of_one_more_search() -> None:
    """Queries are asked as they stand; the first is asked once more for the memories of the entities alone."""
    tools = SearchAlone()
    result = PartialStoryMemory(tools).search(request(entity_ids=["Ada", "Ben"]))  # type: ignore[arg-type]
    assert tools.entities == [None, ["Ada", "Ben"]]
    assert {hit.retriever for each in result.candidates for hit in each.hits} == {"semantic", "entity"}


def test_the_tools_may_have_the_names_of_the_functions() -> None:
    """`search_story_memory_tool` is `search_story_memory`; an object with none of the tools is refused at once."""
    tools = SimpleNamespace(search_story_memory_tool=SearchAlone().search_story_memory)
    assert PartialStoryMemory(tools).search(request()).candidates  # type: ignore[arg-type]
    with pytest.raises(UserInputError, match="none of the tools of a memory: search_story_memory, get_entity_state"):
        as_story_memory(object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "count", "message"),
    [
        (5, 0, "answered with 5, not with a list of StoryMemoryChunk"),
        ("text", 0, "answered with 'text'"),
        ([{"entity_id": "C1"}], 0, "answered with {'entity_id': 'C1'}, not with StoryMemoryChunk"),
        ([MEMORIES[0], 7, MEMORIES[1]], 2, "answered with 7"),
        ([MEMORIES[0].model_dump()], 1, ""),
    ],
)
def test_an_answer_of_another_type_costs_what_is_of_that_type(answer: Any, count: int, message: str) -> None:
    """What can be read is kept, complete mappings too; the rest is one issue, or the error where nothing is left."""
    memory = PartialStoryMemory(SimpleNamespace(search_story_memory=lambda *_, **__: answer))  # type: ignore[arg-type]
    if count == 0:
        with pytest.raises(MemoryAnswerError, match=r"^search_story_memory ") as caught:
            memory.search(request())
        assert message in str(caught.value)
        return
    result = memory.search(request())
    assert len(result.candidates) == count
    assert [issue.kind for issue in result.issues] == (["malformed"] if message else [])


def test_a_query_that_fails_does_not_cost_the_others() -> None:
    """The issue names the failure; only where all fail the search fails."""

    def search(_: str, query: str, **filters: Any) -> list[object]:
        if filters["entities"]:
            raise OSError("no filter here")
        return list(MEMORIES)

    memory = PartialStoryMemory(SimpleNamespace(search_story_memory=search))  # type: ignore[arg-type]
    result = memory.search(request(entity_ids=["Ada"]))
    assert result.candidates
    assert [(issue.kind, issue.message) for issue in result.issues] == [("unavailable", "no filter here")]


def test_states_by_name_keep_what_can_be_read() -> None:
    """Names of one entity count once, an unknown name has none, and a failure keeps the other states."""
    answers: dict[str, Any] = {"Ada": state("C0"), "Ada Lamb": state("C0"), "Ben": state("C1"), "Nobody": None, "Bo": 5}
    tools = SimpleNamespace(get_entity_state=lambda _, name, **__: answers[name])
    memory: Any = PartialStoryMemory(tools)  # type: ignore[arg-type]
    names = ["Ada", "Ada Lamb", "Nobody", "Ben"]
    found = states_by_name(memory, PROJECT, names, as_of=END_OF_STORY)
    assert {name: each.entity_id for name, each in found.items()} == {"Ada": "C0", "Ben": "C1"}
    with pytest.raises(MemoryAnswerError, match="answered with 5") as caught:
        states_by_name(memory, PROJECT, ["Ada", "Bo"], as_of=END_OF_STORY)
    assert list(caught.value.usable) == ["Ada"]
    with pytest.raises(MemoryToolError, match="KeyError") as failed:
        states_by_name(memory, PROJECT, ["Missing", "Ben"], as_of=END_OF_STORY)
    assert list(failed.value.usable) == ["Ben"]
    with pytest.raises(KeyError):
        states_by_name(memory, PROJECT, ["Missing"], as_of=END_OF_STORY)
