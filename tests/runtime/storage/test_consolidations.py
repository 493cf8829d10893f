"""Consolidated memories: what a read sees at each position, and when they are withdrawn."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.models.entity import Entity
from novelgen.models.memory import BOOK, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.database import DatabaseManager, UnitOfWork
from runtime.storage.models import MemoryEdit, MemoryFilter
from tests.runtime.storage.stories import Undone, at, memory, scene, store
from tests.support.databases import on_both_databases

SOURCES = ["M1", "M2", "M3"]
ONE = "consolidated-one"
LAST = (3, 1)


def source(chunk_id: str, **fields: Any) -> StoryMemoryChunk:
    """A memory of Ada that says a lantern, and its own name."""
    return memory(chunk_id, f"Lantern {chunk_id}.", entities_mentioned=["C0"], tags=["light"], importance=4, **fields)


def told(**fields: Any) -> StoryMemoryChunk:
    """The memory that stands for the sources."""
    defaults: dict[str, Any] = {
        "content": "Lantern of all three.",
        "entities_mentioned": ["C0"],
        "tags": ["light"],
        "importance": 4,
    }
    return memory(ONE, **(defaults | fields))


@pytest.fixture
def story(database: DatabaseManager) -> DatabaseManager:
    """A story whose scenes 1:1, 2:1 and 3:1 brought a source each, and 4:1 another memory; it is consolidated."""
    with database.project("demo").write() as unit:
        for entity_id, name in (("C0", "Ada"), ("C1", "Ben")):
            unit.entities.upsert(Entity(entity_id=entity_id, entity_type="character", name=name), origin="author")
    store(
        database,
        scene(1, 1, source("M1")),
        scene(2, 1, source("M2")),
        scene(3, 1, source("M3")),
        scene(4, 1, source("M4")),
    )
    with database.project("demo").write() as unit:
        consolidate(unit)
        vectors = {name: np.full(2, 1.0, np.float32) for name in [*SOURCES, "M4", ONE]}
        unit.embeddings.put("model", vectors)
    return database


def consolidate(unit: UnitOfWork, chunk: StoryMemoryChunk | None = None) -> bool:
    """Consolidate the sources as they are stored, and tell whether that was possible."""
    chunks = [unit.memories.require(name).chunk for name in SOURCES]
    return unit.consolidations.add(chunk or told(), chunks)


def is_consolidated(unit: UnitOfWork) -> bool:
    """Tell whether the memory that stands for the sources is there, and they are not seen, or the reverse."""
    seen = {each.chunk.chunk_id for each in unit.memories.list_matching()}
    listed = [each.chunk.chunk_id for each in unit.consolidations.list_all()]
    assert (ONE in seen) == (listed == [ONE]) == seen.isdisjoint(SOURCES), (seen, listed)
    return ONE in seen


READS: dict[str, Callable[[UnitOfWork, StoryPosition], list[str]]] = {
    "by id": lambda unit, as_of: [each.chunk_id for each in unit.memories.by_ids([*SOURCES, "M4", ONE], as_of=as_of)],
    "ids for the index": lambda unit, as_of: unit.memories.filtered_ids(MemoryFilter(as_of=as_of)),
    "words": lambda unit, as_of: [
        hit.chunk_id for hit in unit.lexical.search("lantern", memory_filter=MemoryFilter(as_of=as_of))
    ],
    "vectors": lambda unit, as_of: unit.embeddings.matrix("model", as_of=as_of)[0],
    "entities": lambda unit, as_of: [each.chunk_id for each in unit.memories.by_entities(["C0"], as_of=as_of)],
    "recent": lambda unit, as_of: [
        each.chunk_id for each in unit.memories.recent_high_signal(as_of=as_of, min_importance=4)
    ],
    "scenes": lambda unit, as_of: [
        each.chunk_id for each in unit.memories.of_scenes([(1, 1), (2, 1), (3, 1), (4, 1)], as_of=as_of)
    ],
    "list": lambda unit, as_of: [
        each.chunk.chunk_id for each in unit.memories.list_matching(MemoryFilter(as_of=as_of))
    ],
}


@on_both_databases
def test_every_retriever_reads_the_sources_up_to_the_last_and_the_one_memory_after_it(story: DatabaseManager) -> None:
    """Sources are not live; a plain memory cannot be undone, nor one of another project."""
    positions = (at(2, 1), at(*LAST), at(3, 2), at(4, 1), at(4), END_OF_STORY)
    expected = {"2:1": {"M1"}, "3:1": {"M1", "M2"}, "3:2": {ONE}, "4:1": {ONE}, "4": {ONE}, "end": {ONE, "M4"}}
    with story.project("demo").read() as unit:
        for name, retriever in READS.items():
            assert {str(as_of): set(retriever(unit, as_of)) for as_of in positions} == expected, name
    with story.project("demo").write() as unit:
        unit.memories.decide("M4", "pin")
        live = {each.chunk_id: each for each in unit.consolidations.live()}
    assert set(live) == {ONE, "M4"}
    assert live[ONE].is_consolidated
    assert live["M4"].origin == "author"
    for project_id, chunk_id in (("demo", "M4"), ("demo2", ONE)):
        refusal = pytest.raises(UnknownMemoryError, match=f"no consolidated memory '{chunk_id}'.*memory consolidated")
        with story.project(project_id).write() as unit, refusal:
            unit.consolidations.undo(chunk_id)
    with story.project("demo").read() as unit:
        assert is_consolidated(unit)


def test_what_a_later_source_says_is_never_read_before_it(story: DatabaseManager) -> None:
    """No retriever, at any position up to the last source, shows a word of it, nor the text that was made of it."""
    with story.project("demo").write() as unit:
        unit.consolidations.undo(ONE)
        assert consolidate(unit, told(content="Lantern and PLANTEDMARK of M3."))
        vectors = {ONE: np.full(2, 1.0, np.float32)}
        unit.embeddings.put("model", vectors)
    with story.project("demo").read() as unit:
        for as_of in (at(1, 1), at(2, 1), at(3), at(*LAST)):
            assert ONE not in {each for retriever in READS.values() for each in retriever(unit, as_of)}
            cut = MemoryFilter(as_of=as_of)
            assert unit.lexical.search("PLANTEDMARK", memory_filter=cut) == []


def test_it_stands_where_its_last_source_stands(story: DatabaseManager) -> None:
    """Whatever position the memory came with, that of the last source is stored, with its mark."""
    with story.project("demo").write() as unit:
        unit.consolidations.undo(ONE)
        assert consolidate(unit, told(chapter_index=1, scene_index=0, event_type="other"))
        (stored,) = unit.consolidations.list_all()
    assert (stored.chunk.chapter_index, stored.chunk.scene_index) == LAST
    assert stored.chunk.is_consolidated
    assert stored.source_ids == SOURCES


def test_the_index_holds_both_and_is_told_of_the_one_alone(story: DatabaseManager) -> None:
    """Sources stay in the index, with their vectors; the new memory waits in the outbox, and its going too."""
    with story.project("demo").write() as unit:
        assert unit.memories.index_ids() == {*SOURCES, "M4", ONE}
        assert [each.chunk_id for each in unit.memories.by_ids([*SOURCES, ONE], with_sources=True)] == [*SOURCES, ONE]
        assert set(unit.embeddings.matrix("model", with_sources=True)[0]) == {*SOURCES, "M4", ONE}
        unit.outbox.mark_done(unit.outbox.claim())
        unit.consolidations.undo(ONE)
        assert [(each.chunk_id, each.operation) for each in unit.outbox.claim()] == [(ONE, "delete")]


def test_undo_brings_the_sources_back(story: DatabaseManager) -> None:
    """After undoing all, every read is as it was before."""
    with story.project("demo").write() as unit:
        assert unit.consolidations.undo_all() == [ONE]
        assert not is_consolidated(unit)
        assert set(READS["words"](unit, END_OF_STORY)) == {*SOURCES, "M4"}
        assert unit.consolidations.undo_all() == []


CHANGES: dict[str, Callable[[UnitOfWork], object]] = {
    "scene taken in with another text of a source": lambda unit: unit.scenes.replace_scene(
        scene(2, 1, memory("M2", "Lantern M2, reworded.", entities_mentioned=["C0"]))
    ),
    "scene taken in without the source": lambda unit: unit.scenes.replace_scene(scene(2, 1)),
    "scene deleted": lambda unit: unit.scenes.delete_scene(at(2, 1)),
    "scene moved behind the last": lambda unit: unit.scenes.move_scene(at(1, 1), at(4, 2)),
    "chapter inserted before": lambda unit: unit.scenes.insert_gap(at(2)),
    "edited": lambda unit: unit.memories.edit("M1", MemoryEdit(content="Else.")),
    "banned": lambda unit: unit.memories.decide("M1", "ban"),
    "deleted": lambda unit: unit.memories.decide("M3", "delete"),
    "pinned": lambda unit: unit.memories.decide("M2", "pin"),
    "attached": lambda unit: unit.attachments.attach(["M1"], ["C1"]),
    "detached": lambda unit: unit.attachments.detach(["M1"], ["C0"]),
    "entity merged away": lambda unit: unit.merges.merge("C1", "C0"),
    "superseded by a later scene": lambda unit: unit.scenes.replace_scene(scene(5, 1, memory("M5", supersedes="M2"))),
    "superseded as one of several": lambda unit: unit.scenes.replace_scene(
        scene(5, 1, memory("M5", supersedes="M90", also_supersedes=["M2"]))
    ),
}


@pytest.mark.slow
@on_both_databases
def test_it_is_withdrawn_when_a_source_changes(story: DatabaseManager) -> None:
    """Whatever happens to a source, the consolidated memory goes, and no read sees it any more."""
    for name, change in CHANGES.items():
        with suppress(Undone), story.project("demo").write() as unit:
            assert is_consolidated(unit), name
            change(unit)
            assert unit.consolidations.list_all() == [], name
            assert unit.memories.get(ONE) is None, name
            seen = {each.chunk.chunk_id for each in unit.memories.list_matching()}
            stored = [unit.memories.get(each) for each in SOURCES]
            assert {each.chunk.chunk_id for each in stored if each and each.status == "active"} <= seen, name
            raise Undone


def test_a_scene_that_comes_again_unchanged_withdraws_nothing(story: DatabaseManager) -> None:
    """What does not change its sources leaves it alone: the same scene again, and other scenes."""
    store(story, scene(2, 1, source("M2")), scene(4, 1, memory("M9")), scene(5, 1, memory("M10")))
    with story.project("demo").write() as unit:
        unit.memories.mark_read(SOURCES)
        assert is_consolidated(unit)


def test_a_merge_can_be_undone_after_memories_were_consolidated(story: DatabaseManager) -> None:
    """The links of the sources are as they were before; what was consolidated in between is taken back."""
    with story.project("demo").write() as unit:
        change = unit.merges.merge("C1", "C0")
        assert consolidate(unit, told(entities_mentioned=["C1"]))
        unit.merges.undo(change.change_id)
        assert not is_consolidated(unit)
        assert [each.entities_mentioned for each in unit.memories.by_ids(SOURCES)] == [["C0"]] * 3


def test_it_is_derived_and_not_changed_by_hand(story: DatabaseManager) -> None:
    """Editing, pinning, banning and attaching it are refused with the way out; nothing changes."""
    deeds: list[Callable[[UnitOfWork], object]] = [
        lambda unit: unit.memories.edit(ONE, MemoryEdit(importance=9)),
        lambda unit: unit.memories.decide(ONE, "pin"),
        lambda unit: unit.memories.decide(ONE, "ban"),
        lambda unit: unit.memories.decide(ONE, "delete"),
        lambda unit: unit.attachments.attach([ONE], [BOOK]),
    ]
    with story.project("demo").write() as unit:
        for deed in deeds:
            with pytest.raises(UserInputError, match=rf"'{ONE}' stands for other memories.*--undo"):
                deed(unit)
        assert is_consolidated(unit)


def test_what_changed_since_it_was_read_is_not_consolidated(story: DatabaseManager) -> None:
    """A source that is gone, reworded, pinned or part of another one refuses the whole group."""
    with story.project("demo").write() as unit:
        read = [unit.memories.require(name).chunk for name in SOURCES]
        assert not unit.consolidations.add(told(), read)
        assert not unit.consolidations.add(memory("other"), read)
        unit.consolidations.undo(ONE)
        unit.memories.decide("M1", "pin")
        assert not unit.consolidations.add(told(), read)
        unit.memories.decide("M1", "unpin")
        reworded = read[1].model_copy(update={"content": "as it was before"})
        assert not unit.consolidations.add(told(), [read[0], reworded, read[2]])
        assert not unit.consolidations.add(told(), [*read, memory("gone")])
        assert unit.consolidations.add(told(), read)


def test_projects_do_not_see_each_others(story: DatabaseManager) -> None:
    """The same ids in another project are another project's: neither hidden nor shown nor withdrawn."""
    other = [each.model_copy(update={"project_id": "demo2"}) for each in map(source, SOURCES)]
    for chapter, chunk in enumerate(other, start=1):
        store(story, scene(chapter, 1, chunk, project_id="demo2"))
    with story.project("demo2").write() as unit:
        assert [each.chunk_id for each in unit.memories.by_ids([*SOURCES, ONE])] == SOURCES
        assert unit.consolidations.list_all() == []
        unit.memories.decide("M1", "ban")
        unit.scenes.delete_scene(at(2, 1))
        assert unit.consolidations.undo_all() == []
    with story.project("demo").read() as unit:
        assert is_consolidated(unit)


@on_both_databases
def test_it_is_superseded_once_all_of_its_sources_are(story: DatabaseManager) -> None:
    """As of a position after the last successor it is read as replaced, before that as in force."""
    with story.project("demo").write() as unit:
        unit.consolidations.undo(ONE)
    ended = [memory(f"E{name}", supersedes=name) for name in SOURCES]
    store(story, scene(5, 1, *ended[:2]), scene(6, 1, ended[2]))
    with story.project("demo").write() as unit:
        assert consolidate(unit)
        replaced = {
            str(as_of): unit.memories.by_ids([ONE], as_of=as_of)[0].superseded_by
            for as_of in (at(4, 1), at(6, 1), END_OF_STORY)
        }
    assert replaced == {"4:1": None, "6:1": None, "end": "EM3"}


def test_the_mark_of_the_story_changes_after_the_last_source_alone(story: DatabaseManager) -> None:
    """Contexts up to the last source stay fresh; later ones are stale, and fresh again after undoing."""
    places = [at(2, 1), at(*LAST), at(4, 1), END_OF_STORY]
    with story.project("demo").write() as unit:
        consolidated = [unit.story_version(place) for place in places]
        unit.consolidations.undo(ONE)
        plain = [unit.story_version(place) for place in places]
        assert consolidate(unit)
        again = [unit.story_version(place) for place in places]
    assert [one == other for one, other in zip(consolidated, plain, strict=True)] == [True, True, False, False]
    assert again == consolidated
