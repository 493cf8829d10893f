"""The scenarios of the specification `memory-context-retrieval`, each under its own name, on real stores."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.models.context import SceneMemoryContext
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ChapterPlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot
from novelgen.models.user_file import Settings
from novelgen.settings import ContextSettings
from runtime.context_chain import build_context_chain
from runtime.memory_tools import get_entity_state_tool, get_recent_timeline_tool, search_story_memory_tool
from runtime.stores import MemoryStores
from tests.support.demo_project import demo_request, settings_for
from tests.support.scripted_chat_model import answering

BOTH_DEMOS = pytest.mark.parametrize("project_id", ["demo", "demo-zh"])


def source_ids(memories: list[StoryMemoryChunk]) -> set[str | None]:
    """Return the record ids of memories."""
    return {memory.source_id for memory in memories}


def stages(context: SceneMemoryContext) -> set[str]:
    """Return the stages that reported an issue."""
    return {issue.stage for issue in context.report.issues}


def damage_index(project: Path) -> None:
    """Overwrite the header of Chroma's database."""
    file = project / "data" / "vectors" / "chroma.sqlite3"
    file.write_bytes(b"\x00garbage" * 64 + file.read_bytes()[512:])


def damage_database(project: Path) -> None:
    """Overwrite the header of the SQL database and drop its log."""
    file = project / "data" / "novel.db"
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.write_bytes(b"\x00garbage" * 64 + file.read_bytes()[512:])


class TestIntelligentMemoryRetrievalChain:
    """Requirement: Intelligent Memory Retrieval Chain."""

    @pytest.mark.slow
    @BOTH_DEMOS
    def test_analyze_scene_and_retrieve_relevant_memories(
        self, read_demo_stores: MemoryStores, project_id: str
    ) -> None:
        """A model's entities and queries are used beside those of the rules, and memories come back."""
        entities = read_demo_stores.paths(project_id).entities_file.read_text(encoding="utf-8")
        key = next(each["name"] for each in json.loads(entities)["entities"] if each["entity_id"] == "I0")
        plan = {"entities": ["I0"], "events": [], "queries": [{"query": f"{key}: C0, C5"}]}
        model = answering(json.dumps(plan))
        context = build_context_chain(read_demo_stores, model=model, write_files=False).invoke(
            demo_request(project_id, 5, 4)
        )
        report = context.report
        assert report.planner.used == "llm"
        assert {"llm", "rules"} == {query.origin for query in report.queries}
        assert "I0" in report.entities
        assert context.relevant_memories

    @BOTH_DEMOS
    def test_retrieve_entity_states(self, read_demo_stores: MemoryStores, project_id: str) -> None:
        """The characters of the plan come with their latest state before the scene."""
        context = build_context_chain(read_demo_stores, write_files=False).invoke(demo_request(project_id, 5, 4))
        states = {state.entity_id: state.state_data for state in context.entity_states}
        assert states["I0"]["holder"] == "C5"
        assert {"C0", "C3"} <= states.keys()

    @pytest.mark.slow
    @BOTH_DEMOS
    def test_output_structured_context(self, demo_stores: MemoryStores, project_id: str) -> None:
        """The context is a SceneMemoryContext with all fields, written to its JSON file."""
        context = build_context_chain(demo_stores).invoke(demo_request(project_id, 5, 4))
        file = demo_stores.settings.projects_dir / project_id / "scene_5_4_memory.json"
        written = json.loads(file.read_text(encoding="utf-8"))
        assert isinstance(context, SceneMemoryContext)
        required = {"project_id", "chapter_index", "scene_index", "entity_states", "relevant_memories"}
        assert required | {"timeline_context", "retrieval_timestamp"} <= written.keys()
        assert SceneMemoryContext.model_validate(written) == context


class TestMemoryToolsAbstractionLayer:
    """Requirement: Memory Tools Abstraction Layer."""

    @BOTH_DEMOS
    def test_search_story_memory_with_filters(self, read_demo_stores: MemoryStores, project_id: str) -> None:
        """Query, entities, content type, tags and top_k narrow the search; ten is the default."""
        query = "heron key" if project_id == "demo" else "鹭钥匙"
        found = search_story_memory_tool(project_id, query, stores=read_demo_stores)
        assert len(found) == 10
        assert all(isinstance(memory, StoryMemoryChunk) for memory in found)
        of_key = search_story_memory_tool(
            project_id, query, entities=["I0"], content_type="memory", top_k=3, stores=read_demo_stores
        )
        assert len(of_key) == 3
        assert all("I0" in memory.entities_mentioned for memory in of_key)
        assert all(memory.content_type == "memory" for memory in of_key)
        tag = of_key[0].tags[0]
        tagged = search_story_memory_tool(project_id, query, tags=[tag], stores=read_demo_stores)
        assert tagged
        assert all(tag in memory.tags for memory in tagged)

    @BOTH_DEMOS
    def test_get_entity_state_by_id(self, read_demo_stores: MemoryStores, project_id: str) -> None:
        """A state is read by id at any position, and an unknown entity has none."""
        late = get_entity_state_tool(project_id, "I0", 5, 4, stores=read_demo_stores)
        early = get_entity_state_tool(project_id, "I0", chapter_index=2, stores=read_demo_stores)
        assert isinstance(late, EntityStateSnapshot)
        assert late.state_data["holder"] == "C5"
        assert early.state_data["holder"] != "C5"
        assert get_entity_state_tool(project_id, "C999", stores=read_demo_stores) is None

    @BOTH_DEMOS
    def test_get_recent_timeline_context(self, read_demo_stores: MemoryStores, project_id: str) -> None:
        """Snapshots of the chapters around come in story order, cut when asked."""
        around = get_recent_timeline_tool(project_id, 3, context_window=1, stores=read_demo_stores)
        chapters = [snapshot.chapter_index for snapshot in around]
        assert chapters == sorted(chapters)
        assert {2, 3, 4} >= set(chapters) > {3}
        cut = get_recent_timeline_tool(project_id, 3, 1, StoryPosition(3, 1), stores=read_demo_stores)
        assert {snapshot.chapter_index for snapshot in cut} == {2}


class TestGracefulDegradation:
    """Requirement: Graceful Degradation, each with the real store broken."""

    @pytest.mark.slow
    @pytest.mark.parametrize("fallback", ["on", "off"])
    def test_vector_store_unavailable(self, demo_folder: Path, fallback: str, caplog: pytest.LogCaptureFixture) -> None:
        """With Chroma damaged the rest is intact: memories by exact search and words, or none when off."""
        damage_index(demo_folder / "demo")
        with (
            MemoryStores(settings_for(demo_folder, search_fallback=fallback)) as stores,
            caplog.at_level(logging.WARNING),
        ):
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
        assert bool(context.relevant_memories) == (fallback == "on")
        assert context.entity_states
        assert "semantic" in stages(context)
        assert "semantic" in caplog.text

    @pytest.mark.slow
    def test_database_query_failure(self, demo_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        """With the database damaged there are no states, and memories still come from Chroma, cut."""
        damage_database(demo_folder / "demo")
        with MemoryStores(settings_for(demo_folder)) as stores, caplog.at_level(logging.WARNING):
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
        assert context.entity_states == []
        assert context.relevant_memories
        position = StoryPosition(5, 4)
        assert all(position.admits(each.chapter_index, each.scene_index) for each in context.relevant_memories)
        assert {"outline", "states"} <= stages(context)
        assert "outline" in caplog.text

    @pytest.mark.slow
    def test_vector_store_and_database_failure(self, demo_folder: Path) -> None:
        """With both damaged the context is valid and empty, and says so."""
        damage_index(demo_folder / "demo")
        damage_database(demo_folder / "demo")
        with MemoryStores(settings_for(demo_folder)) as stores:
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
        assert (context.entity_states, context.relevant_memories, context.timeline_context) == ([], [], None)
        assert {"outline", "states", "semantic", "lexical"} <= stages(context)

    @pytest.mark.slow
    def test_json_write_failure(self, demo_stores: MemoryStores, caplog: pytest.LogCaptureFixture) -> None:
        """When the file cannot be written the error is logged and the context returned."""
        blocked = demo_stores.settings.projects_dir / "demo" / "scene_5_4_memory.json"
        blocked.unlink(missing_ok=True)
        blocked.mkdir()
        (blocked / "in the way").touch()
        with caplog.at_level(logging.ERROR):
            context = build_context_chain(demo_stores).invoke(demo_request("demo", 5, 4))
        assert context.relevant_memories
        assert "write" in stages(context)
        assert any(record.levelno == logging.ERROR for record in caplog.records)

    @pytest.mark.slow
    def test_partial_capability_implementation(self, read_demo_stores: MemoryStores) -> None:
        """With only the search tool in use the memories are filled, states empty and the timeline null."""

        class SearchOnly:
            def search_story_memory(self, *arguments: Any, **keywords: Any) -> list[StoryMemoryChunk]:
                return search_story_memory_tool(*arguments, **keywords, stores=read_demo_stores)

        patient = ContextSettings(tool_timeout_s=60, chain_timeout_s=120)
        chain = MemoryContextChain(SearchOnly(), settings=patient)  # type: ignore[arg-type]
        context = chain.invoke(demo_request("demo", 5, 4))
        assert context.relevant_memories
        assert context.entity_states == []
        assert context.timeline_context is None


class TestChainIndependenceAndTestability:
    """Requirement: Chain Independence and Testability."""

    def test_run_chain_independently(self, read_demo_stores: MemoryStores) -> None:
        """Plan, project and position are enough; no orchestrator is needed."""
        context = build_context_chain(read_demo_stores, write_files=False).invoke(demo_request("demo", 6, 1))
        assert (context.project_id, context.chapter_index, context.scene_index) == ("demo", 6, 1)
        assert context.relevant_memories

    @pytest.mark.slow
    def test_orchestrator_integration_with_optional_context(self, read_demo_stores: MemoryStores) -> None:
        """Settings and chapter plan may come along, and their absence changes nothing else."""
        request = demo_request("demo", 6, 1)
        extra = request.model_copy(
            update={"settings": Settings(language="en"), "chapter_plan": ChapterPlan(chapter_number=6)}
        )
        chain = build_context_chain(read_demo_stores, write_files=False)
        with_extra, without = chain.invoke(extra), chain.invoke(request)
        assert source_ids(with_extra.relevant_memories) == source_ids(without.relevant_memories)

    def test_test_with_mock_data(self, tmp_path: Path) -> None:
        """On an empty test database and index the chain works and its output has the right form."""
        with MemoryStores(settings_for(tmp_path)) as stores:
            stores.create_project("demo", language="en")
            context = build_context_chain(stores).invoke(demo_request("demo", 5, 4))
        assert (context.entity_states, context.relevant_memories, context.timeline_context) == ([], [], None)
        assert context.report.issues == []

    @pytest.mark.slow
    def test_follow_project_conventions(self, read_demo_stores: MemoryStores) -> None:
        """The chain is stateless: the same request before and after another gives the same memories."""
        chain = build_context_chain(read_demo_stores, write_files=False)
        first = chain.invoke(demo_request("demo", 5, 1))
        chain.invoke(demo_request("demo", 6, 3))
        again = chain.invoke(demo_request("demo", 5, 1))
        assert [each.chunk_id for each in first.relevant_memories] == [
            each.chunk_id for each in again.relevant_memories
        ]
