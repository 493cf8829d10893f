"""The public in-memory double of the memory tools."""

from __future__ import annotations

import pytest

from novelgen.errors import InvalidProjectIdError
from novelgen.memory.in_memory import InMemoryStoryMemory
from novelgen.memory.protocol import MemoryTools, PartialStoryMemory, StoryMemory, as_story_memory
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import StateChange
from tests.support.stories import PROJECT, lighthouse_memory


def test_it_offers_the_whole_protocol() -> None:
    """The double can stand wherever the real tools stand."""
    double = lighthouse_memory()
    assert isinstance(double, MemoryTools)
    assert isinstance(double, StoryMemory)
    assert as_story_memory(double) is double


def test_search_finds_by_shared_words_best_first() -> None:
    """The memory that shares most words with the query comes first."""
    found = lighthouse_memory().search_story_memory(PROJECT, "who promised to keep the lamp burning")
    assert found[0].source_id == "M2"


def test_search_is_cut_before_the_position() -> None:
    """The sale of the key in chapter 3 is invisible on entering chapter 2, scene 2."""
    found = lighthouse_memory().search_story_memory(PROJECT, "the brass key", as_of=StoryPosition(2, 2))
    assert "M1" in [chunk.source_id for chunk in found]
    assert "M4" not in [chunk.source_id for chunk in found]


def test_filters_narrow_the_search() -> None:
    """Entity filters let only linked memories pass; a tag that nobody has lets none pass."""
    double = lighthouse_memory()
    assert [m.source_id for m in double.search_story_memory(PROJECT, "key", entities=["C1"])] == ["M4"]
    assert double.search_story_memory(PROJECT, "key", tags=["nowhere"]) == []
    assert double.search_story_memory(PROJECT, "key", content_type="note") == []


def test_many_queries_keep_their_ranks_apart() -> None:
    """Each query's rank of a candidate is in its hits."""
    request = SearchRequest(
        project_id=PROJECT, queries=[SearchQuery(text="brass key"), SearchQuery(text="Marigold logbook")]
    )
    candidates = {each.chunk.source_id: each for each in lighthouse_memory().search(request).candidates}
    assert {hit.query_index for hit in candidates["M3"].hits} == {1}
    assert candidates["M3"].hits[0].rank == 1


@pytest.mark.parametrize("name", ["C1", "Ben", "the lamplighter"])
def test_states_answer_to_ids_names_and_aliases(name: str) -> None:
    """A state is found by id, by name and by alias."""
    state = lighthouse_memory().get_entity_state(PROJECT, name, chapter_index=2)
    assert state is not None
    assert state.state_data == {"goals": ["keep the lamp"]}


def test_an_unknown_entity_has_no_state() -> None:
    """Expected absence is None."""
    assert lighthouse_memory().get_entity_state(PROJECT, "Zoe") is None


def test_states_are_as_of_the_position() -> None:
    """Who holds the key depends on where the story stands."""
    double = lighthouse_memory()
    early = double.get_entity_states(PROJECT, ["I0"], as_of=StoryPosition(3, 1))
    late = double.get_entity_states(PROJECT, ["I0"], as_of=END_OF_STORY)
    assert early[0].state_data == {"holder": "C0"}
    assert late[0].state_data == {"holder": "C2"}


def test_the_timeline_stays_in_its_window_and_before_the_cut() -> None:
    """Snapshots come in story order, from the chapters around, never from the future."""
    double = lighthouse_memory()
    whole = double.get_recent_timeline(PROJECT, 2, context_window=1)
    cut = double.get_recent_timeline(PROJECT, 2, context_window=1, as_of=StoryPosition(2, 2))
    assert [(each.entity_id, each.chapter_index) for each in whole] == [("C0", 1), ("I0", 1), ("C1", 1), ("I0", 3)]
    assert [(each.entity_id, each.chapter_index) for each in cut] == [("C0", 1), ("I0", 1), ("C1", 1)]


def test_the_outline_knows_nothing_of_the_future() -> None:
    """Cornelius, who appears in chapter 3, does not exist in chapter 2."""
    outline = lighthouse_memory().outline(PROJECT, as_of=StoryPosition(2, 2))
    assert [entity.entity_id for entity in outline.entities] == ["C0", "C1", "I0", "L0"]
    assert [(scene.chapter_index, scene.scene_index) for scene in outline.scenes] == [(1, 1), (1, 2), (2, 1)]


def test_another_project_is_empty() -> None:
    """Nothing leaks into another project, however alike its name."""
    double = lighthouse_memory()
    assert double.search_story_memory("lighthouse2", "brass key") == []
    assert double.outline("lighthouse2", as_of=END_OF_STORY).entities == []
    assert double.get_entity_states("lighthouse2", ["C0"], as_of=END_OF_STORY) == []


def test_a_filter_as_project_id_is_refused() -> None:
    """A dict as project id is refused before anything is read."""
    with pytest.raises(InvalidProjectIdError, match="project_id"):
        lighthouse_memory().search_story_memory({"$ne": ""}, "key")  # type: ignore[arg-type]


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
