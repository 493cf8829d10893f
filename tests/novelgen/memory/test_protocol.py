"""What tools that know less than a story are made into."""

from novelgen.memory.protocol import PartialStoryMemory, as_story_memory
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import END_OF_STORY, StoryPosition
from tests.support.stories import MEMORIES, PROJECT


class SearchAlone:
    """Tools that can search and nothing else, and cut nothing."""

    def search_story_memory(self, project_id: str, query: str, **filters: object) -> list[object]:
        """Return everything, the future included."""
        return list(MEMORIES)


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
