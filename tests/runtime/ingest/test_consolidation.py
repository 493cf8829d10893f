"""Consolidating a project in real stores: what a scene reads before and after, undo, models, ingest, failures."""

import json

import pytest
from langchain_core.messages import BaseMessage

from novelgen.errors import DatabaseError, UnknownMemoryError, UnknownProjectError, UserInputError
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedMemory, SceneRecord
from runtime.ingest import indexing
from runtime.ingest.consolidation import (
    MODEL_PATIENCE,
    consolidate_beyond_setting,
    consolidate_project,
    undo_consolidation,
)
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import IndexingResult, verify_index
from runtime.ingest.ingest import ingest_scene, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.settings import ConsolidationSettings, NovelgenSettings
from runtime.stores import MemoryStores
from tests.support.scripted_chat_model import ScriptedChatModel

SCENES = 9
LEFT = 4
"""Live memories of the nine once they are consolidated: of neighbours, two or three become one."""
MARKED = 2
"""Scene of the planted mark, the last source of the first one."""
MARK = "PLANTEDMARK"


def told_scene(number: int, *, language: str = "en", text: str = "") -> SceneInput:
    """A scene in which Ada, or 行者, does one more small thing on the road; one bears a mark."""
    fact, name = f"Ada walked mile {number} of the north road with her lantern.", "Ada"
    if language == "zh":
        fact, name = f"行者在北路上走了第{number}里，手里提着灯笼。", "行者"
    if number == MARKED:
        fact = fact[:-1] + f" {MARK}{fact[-1]}"
    memory = RecordedMemory(memory_id=f"M{number}", content=text or fact, importance=4, entities=["C0"], tags=["road"])
    record = SceneRecord(chapter_index=1, scene_index=number, characters_present=["C0"], memories=[memory], title=name)
    return SceneInput(chapter_index=1, scene_index=number, text=text or fact, record=record)


def fill(stores: MemoryStores, project_id: str, *, language: str = "en") -> None:
    """Store Ada and her nine scenes."""
    name = "行者" if language == "zh" else "Ada"
    store_entities(stores, project_id, [Entity(entity_id="C0", entity_type="character", name=name)], origin="author")
    scenes = [told_scene(number, language=language) for number in range(1, SCENES + 1)]
    ingest_scenes(stores, project_id, scenes)


@pytest.fixture
def road(stores: MemoryStores, project: str) -> str:
    """The project with Ada's nine scenes."""
    fill(stores, project)
    return project


def read(stores: MemoryStores, project_id: str, as_of: StoryPosition) -> str:
    """Return all that a search over every retriever gives at a position, as one text."""
    request = SearchRequest(
        project_id=project_id,
        queries=[SearchQuery(text=f"lantern road 灯笼 {MARK}")],
        entity_ids=["C0"],
        as_of=as_of,
        timeout_s=60,
    )
    result = StoryMemoryTools(stores).search(request)
    assert result.issues == ()
    found = [each.chunk for each in result.candidates if each.chunk.content_type == "memory"]
    return "\n".join(f"{chunk.chunk_id} {chunk.content}" for chunk in found)


def memory_count(stores: MemoryStores, project_id: str) -> int:
    """Return how many distilled memories a read at the end of the story sees."""
    return len(read(stores, project_id, END_OF_STORY).splitlines())


@pytest.mark.slow
def test_undo_brings_back_what_was_read_before(stores: MemoryStores, road: str) -> None:
    """One or all; a second run makes the same again. Nothing is embedded: vectors are made of the sources'."""
    before = read(stores, road, END_OF_STORY)
    first = consolidate_project(stores, road, limit=3)
    assert (first.indexing.indexed, first.indexing.embedded) == (LEFT, 0)
    assert undo_consolidation(stores, road, first.groups[0].chunk_id) == [first.groups[0].chunk_id]
    undo_consolidation(stores, road)
    assert read(stores, road, END_OF_STORY) == before
    assert verify_index(stores, road).is_sound
    again = consolidate_project(stores, road, limit=3)
    assert [group.chunk_id for group in again.groups] == [group.chunk_id for group in first.groups]
    assert consolidate_project(stores, road, limit=3).groups == []


def test_a_dry_run_stores_nothing_and_asks_nobody(stores: MemoryStores, road: str) -> None:
    """It tells the sources and what would be left; a limit below one, unknown projects and memories are refused."""
    model = ScriptedChatModel(answer=lambda _: "must not be asked")
    report = consolidate_project(stores, road, limit=3, model=model, dry_run=True)
    assert report.dry_run
    assert [len(group.source_ids) for group in report.groups] == [2, 2, 2, 3]
    assert (report.memories_after, memory_count(stores, road), model.prompts) == (LEFT, SCENES, [])
    with pytest.raises(UserInputError, match="limit cannot be 0"):
        consolidate_project(stores, road, limit=0)
    with pytest.raises(UnknownProjectError, match="nowhere"):
        consolidate_project(stores, "nowhere")
    with pytest.raises(UnknownMemoryError, match="no consolidated memory 'M1'"):
        undo_consolidation(stores, road, "M1")


def test_a_model_writes_the_memory(stores: MemoryStores, road: str) -> None:
    """What it says is stored and found."""
    text = "Ada walked mile after mile of the north road with her lantern."
    model = ScriptedChatModel(answer=lambda _: json.dumps({"content": text, "short": ""}))
    report = consolidate_project(stores, road, limit=3, model=model)
    assert {(group.content, group.is_models) for group in report.groups} == {(text, True)}
    assert text in read(stores, road, END_OF_STORY)


def test_a_model_that_keeps_failing_is_left_alone(stores: MemoryStores, project: str) -> None:
    """All memories are consolidated all the same, and the report says why the model wrote none."""
    fill(stores, project)
    for entity in range(1, MODEL_PATIENCE + 2):
        _crowd(stores, project, entity)

    def refuse(_: list[BaseMessage]) -> str:
        raise ConnectionError("no route")

    model = ScriptedChatModel(answer=refuse)
    report = consolidate_project(stores, project, limit=3, model=model)
    assert len(report.groups) > MODEL_PATIENCE
    assert not any(group.is_models for group in report.groups)
    assert len(model.prompts) == MODEL_PATIENCE
    assert [issue.kind for issue in report.issues] == ["unavailable"] * MODEL_PATIENCE + ["degraded"]


def _crowd(stores: MemoryStores, project_id: str, entity: int) -> None:
    """Store a scene with four small memories of one more entity."""
    memories = [
        RecordedMemory(
            memory_id=f"E{entity}-{number}",
            content=f"Guest {entity} ate loaf number {number}.",
            importance=3,
            entities=[f"C{entity}"],
            tags=["feast"],
        )
        for number in range(4)
    ]
    record = SceneRecord(chapter_index=2, scene_index=entity, memories=memories)
    scene = SceneInput(chapter_index=2, scene_index=entity, text=f"Feast {entity}.", record=record)
    ingest_scene(stores, project_id, scene)


def test_ingest_consolidates_where_the_settings_say_so(
    stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the limit on, by itself; without the setting never."""
    fill(stores, project)
    assert consolidate_beyond_setting(stores, project) == []
    assert memory_count(stores, project) == SCENES
    monkeypatch.setattr(stores, "settings", limited(stores))
    result = ingest_scene(stores, project, told_scene(SCENES + 1))
    assert result.issues == []
    assert memory_count(stores, project) == 5


def test_kept_sources_do_not_count_as_dead_vectors(
    stores: MemoryStores, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that holds just what it must, sources of consolidated memories included, is never built anew."""
    consolidate_project(stores, road, limit=3)
    with stores.database(road).read() as unit:
        assert unit.projects.require().index_removals == 0
    rebuilds: list[str] = []
    monkeypatch.setattr(indexing, "SPARE_VECTORS", 0)
    monkeypatch.setattr(indexing, "MAX_KEPT_PER_MEMORY", 1)
    monkeypatch.setattr(indexing, "reindex", lambda _, project_id: rebuilds.append(project_id))
    indexing.rebuild_if_bloated(stores, road, IndexingResult(indexed=1))
    assert rebuilds == []
    with stores.database(road).write() as unit:
        unit.projects.count_index_removals(1)
    indexing.rebuild_if_bloated(stores, road, IndexingResult(indexed=1))
    assert rebuilds == [road]


def test_ingest_never_fails_by_it(stores: MemoryStores, road: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that fails meanwhile is an issue of the result; the scene is stored."""

    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("the disk is gone")

    monkeypatch.setattr("runtime.ingest.consolidation.consolidate_project", fail)
    monkeypatch.setattr(stores, "settings", limited(stores))
    result = ingest_scene(stores, road, told_scene(SCENES + 1))
    assert result.count("added") == 1
    (issue,) = result.issues
    assert (issue.stage, issue.kind) == ("consolidation", "unavailable")
    assert "the disk is gone" in issue.message


def limited(stores: MemoryStores) -> NovelgenSettings:
    """Settings by which ingest consolidates beyond five memories per entity."""
    consolidation = ConsolidationSettings(max_memories_per_entity=5)
    memory = stores.settings.memory.model_copy(update={"consolidation": consolidation})
    return stores.settings.model_copy(update={"memory": memory})
