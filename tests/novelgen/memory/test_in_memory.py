"""The public in-memory double of the memory tools."""

from novelgen.memory.in_memory import InMemoryStoryMemory
from novelgen.memory.protocol import PartialStoryMemory, as_story_memory
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import StateChange
from tests.support.stories import PROJECT, lighthouse_memory


def test_many_queries_keep_their_ranks_apart() -> None:
    """Each query's rank of a candidate is in its hits."""
    request = SearchRequest(
        project_id=PROJECT, queries=[SearchQuery(text="brass key"), SearchQuery(text="Marigold logbook")]
    )
    candidates = {each.chunk.source_id: each for each in lighthouse_memory().search(request).candidates}
    assert {hit.query_index for hit in candidates["M3"].hits} == {1}
    assert candidates["M3"].hits[0].rank == 1


class SearchAlone:
    """Tools that can search and nothing else, and cut nothing."""

    def search_story_memory(self, project_id: str, query: str, **filters: object) -> list[object]:
        """Return everything, the future included."""
        return lighthouse_memory().search_story_memory(PROJECT, query, top_k=50)  # type: ignore[return-value]


def test_a_search_alone_becomes_a_story_memory_that_cuts_what_it_gets() -> None:
    """The adapter drops what lies in the future even when the tools do not."""
    adapter = as_story_memory(SearchAlone())  # type: ignore[arg-type]
    assert isinstance(adapter, PartialStoryMemory)
    request = SearchRequest(project_id=PROJECT, queries=[SearchQuery(text="the brass key")], as_of=StoryPosition(2, 2))
    found = {each.chunk.source_id for each in adapter.search(request).candidates}
    assert "M1" in found
    assert "M4" not in found
    assert adapter.get_entity_states(PROJECT, ["C0"], as_of=END_OF_STORY) == []
    assert adapter.get_recent_timeline(PROJECT, 1) == []
    assert adapter.outline(PROJECT, as_of=END_OF_STORY).entities == []


def test_a_timeline_has_no_snapshot_for_a_chapter_of_mere_presence() -> None:
    """Who is only seen again has not changed; who was never more than seen has a snapshot where they were seen."""
    seen = {"attribute": "presence", "kind": "presence", "value": {"location_id": "L0"}}
    double = InMemoryStoryMemory(
        PROJECT,
        changes=[
            StateChange(entity_id="C0", attribute="mood", value="calm", chapter_index=1, scene_index=1),
            StateChange(entity_id="C0", chapter_index=2, scene_index=1, **seen),
            StateChange(entity_id="C1", chapter_index=2, scene_index=1, **seen),
        ],
    )
    found = double.get_recent_timeline(PROJECT, 2)
    assert [(each.entity_id, each.chapter_index) for each in found] == [("C0", 1), ("C1", 2)]
