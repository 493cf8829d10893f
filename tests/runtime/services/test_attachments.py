"""Attaching memories by hand, as code does it."""

from __future__ import annotations

import pytest

from novelgen.errors import (
    UnknownEntityError,
    UnknownMemoryError,
    UnknownProjectError,
    UnknownSceneError,
    UserInputError,
)
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.services.attachments import attach_memories, attach_mentions, detach_memories, memories_about
from runtime.services.memories import add_note, edit_memory, find_memory, list_memories, pin_memory
from runtime.services.search import search_memories
from runtime.stores import MemoryStores


def test_what_is_not_there_is_refused(stores: MemoryStores, project: str) -> None:
    """Code gets the errors themselves."""
    with pytest.raises(UserInputError, match="at least one"):
        attach_memories(stores, project, memory_ids=["note-N0"], targets=[])
    with pytest.raises(UnknownMemoryError, match="'M9'"):
        detach_memories(stores, project, memory_ids=["M9"], targets=["C0"])
    with pytest.raises(UnknownProjectError, match="nowhere"):
        attach_mentions(stores, "nowhere", entity="C0")


def test_mentions_are_attached_when_asked_only(stores: MemoryStores, project: str) -> None:
    """A preview changes nothing; an alias counts as the entity."""
    with stores.database(project).write() as unit:
        note = unit.memories.add_note("The Cartographer never sleeps in the Archive.")
    assert not attach_mentions(stores, project, entity="Elena Thorne").is_attached
    found = attach_mentions(stores, project, entity="Elena Thorne", is_applied=True)
    assert [each.chunk_id for each in found.memories] == [note.chunk_id]
    assert attach_mentions(stores, project, entity="C0").memories == []


def told(stores: MemoryStores, project: str, memory_id: str) -> list[dict[str, object]]:
    """Return what a memory says that it is attached to."""
    chunk = find_memory(stores, project, memory_id=memory_id).chunk
    return [each.model_dump() for each in chunk.attached_to]


def noted(stores: MemoryStores, project: str, *targets: str) -> list[str]:
    """Return the notes that are attached to one of some targets."""
    found = list_memories(stores, project, attached_to=targets, content_types=["note"])
    return [each.chunk.chunk_id for each in found.memories]


def test_a_memory_says_what_it_is_attached_to(stores: MemoryStores, project: str) -> None:
    """Seed 003.2: type and id of entities, chapters and the book, wherever a memory is given out."""
    add_note(stores, project, text="Elena Thorne counts stairs.", attached_to=["the Archive", "chapter:1"])
    add_note(stores, project, text="It never rains.")
    expected = [
        {"type": "location", "id": "L0"},
        {"type": "character", "id": "C0"},
        {"type": "chapter", "id": "chapter:1"},
    ]
    assert told(stores, project, "note-N0") == expected
    assert told(stores, project, "note-N1") == [{"type": "book", "id": "book", "is_default": True}]
    listed = list_memories(stores, project, content_types=["note"]).memories
    found = search_memories(stores, project, query="Elena counts stairs", content_type="note")
    for chunk in (listed[0].chunk, found[0]):
        assert [each.model_dump() for each in chunk.attached_to] == expected


def test_memories_are_listed_by_what_they_are_attached_to(stores: MemoryStores, project: str) -> None:
    """Seed 003.5: by an entity, a chapter, or several at once; by either name of the argument."""
    add_note(stores, project, text="Marcus Vale limps.")
    add_note(stores, project, text="Told in the past tense.", attached_to=["chapter:2"])
    add_note(stores, project, text="Ice holds a cart.", start=StoryPosition(2, 1))
    assert noted(stores, project, "Marcus Vale") == ["note-N0"]
    assert noted(stores, project, "chapter:2") == ["note-N1", "note-N2"]
    assert noted(stores, project, "chapter:1", "C1") == ["note-N0"]
    by_older_name = list_memories(stores, project, entities=["chapter:2"], content_types=["note"])
    assert [each.chunk.chunk_id for each in by_older_name.memories] == ["note-N1", "note-N2"]
    with pytest.raises(UnknownSceneError, match="nearest: chapter:2"):
        noted(stores, project, "chapter:9")
    with pytest.raises(UnknownEntityError, match="Marcus Vale"):
        noted(stores, project, "Markus Vale")


def test_what_is_attached_to_the_book_is_listed(stores: MemoryStores, project: str) -> None:
    """Seed 003.6: what was attached to the book, and what is attached to nothing else; a search finds it, too."""
    add_note(stores, project, text="It never rains.")
    add_note(stores, project, text="Marcus Vale limps.", attached_to=["book"])
    add_note(stores, project, text="Odile Brandt has a dog.")
    assert noted(stores, project, "book") == ["note-N0", "note-N1"]
    found = search_memories(stores, project, query="rain, a limp and a dog", entities=["book"], content_type="note")
    assert {each.chunk_id for each in found} == {"note-N0", "note-N1"}
    nothing = search_memories(stores, project, query="rain", entities=["chapter:9"])
    assert nothing == []


def test_a_search_finds_what_hangs_on_a_chapter(stores: MemoryStores, project: str) -> None:
    """Seed 003.5: what stands in the chapter and what an author attached to it, and nothing else."""
    add_note(stores, project, text="Marcus never smiles in the Archive.", attached_to=["chapter:2"])
    found = search_memories(stores, project, query="Marcus in the Archive", entities=["chapter:2"], top_k=50)
    assert "note-N0" in {each.chunk_id for each in found}
    assert {each.chapter_index for each in found} == {None, 2}


def test_a_note_is_attached_to_whom_it_names(stores: MemoryStores, project: str) -> None:
    """Seed 003.18: an author's note is linked by its words as a scene is, by alias too; a hand can undo it."""
    note = add_note(stores, project, text="The Cartographer never sleeps in the Archive.").note
    card = find_memory(stores, project, memory_id=note.chunk_id)
    assert {each.target: each.origin for each in card.attachments} == {"C0": "mention", "L0": "mention"}
    edit_memory(stores, project, memory_id=note.chunk_id, detach=["C0"])
    edit_memory(stores, project, memory_id=note.chunk_id, content="The Cartographer and Marcus Vale never sleep.")
    card = find_memory(stores, project, memory_id=note.chunk_id)
    assert {each.target: each.origin for each in card.attachments} == {"C1": "mention"}


def test_a_name_of_later_attaches_nothing_before(stores: MemoryStores, project: str) -> None:
    """Seed 003.18: that the Masked Lady is Odile is shown in chapter 2; a note of before does not tell it."""
    lady = EntityAlias(alias="the Masked Lady", first_chapter=2, first_scene=1)
    odile = Entity(entity_id="C2", entity_type="character", name="Odile Brandt", aliases=[lady])
    store_entities(stores, project, [odile], origin="author")
    everywhere = add_note(stores, project, text="The Masked Lady carries a cane.").note
    later = add_note(stores, project, text="The Masked Lady carries a fan.", start=StoryPosition(2, 2)).note
    assert everywhere.entities_mentioned == []
    assert later.entities_mentioned == ["C2"]


def test_a_note_that_only_names_somebody_can_be_pinned(stores: MemoryStores, project: str) -> None:
    """Seed 003.18: being named in it does not make it theirs, who may occur nowhere yet."""
    stranger = Entity(entity_id="C7", entity_type="character", name="Old Quillon")
    store_entities(stores, project, [stranger], origin="author")
    note = add_note(stores, project, text="Nobody here can swim, as Old Quillon says.").note
    assert note.entities_mentioned == ["C7"]
    assert pin_memory(stores, project, memory_id=note.chunk_id).memory.pinned


def test_an_edit_replaces_what_a_memory_is_attached_to(stores: MemoryStores, project: str) -> None:
    """Seed 003.19: the whole list at once, or single things; a wrong one changes nothing at all."""
    add_note(stores, project, text="Marcus Vale limps.", attached_to=["the Archive", "chapter:1"])
    edit_memory(stores, project, memory_id="note-N0", attached_to=["Elena Thorne", "chapter:2"])
    assert [each["id"] for each in told(stores, project, "note-N0")] == ["C0", "chapter:2"]
    edit_memory(stores, project, memory_id="note-N0", attach=["book"], detach=["chapter:2"])
    assert [each["id"] for each in told(stores, project, "note-N0")] == ["C0", "book"]
    with pytest.raises(UnknownEntityError, match="nearest"):
        edit_memory(stores, project, memory_id="note-N0", content="Else.", attach=["Nobody Known"])
    assert find_memory(stores, project, memory_id="note-N0").chunk.content == "Marcus Vale limps."
    with pytest.raises(UserInputError, match="nothing to change"):
        edit_memory(stores, project, memory_id="note-N0")


def test_what_is_remembered_of_somebody(stores: MemoryStores, project: str) -> None:
    """Seed 003.8: what is attached to them, and what names them without being attached; cut by position."""
    with stores.database(project).write() as unit:
        unit.memories.add_note("Marcus Vale owns a white horse.", importance=3)
    add_note(stores, project, text="He limps.", attached_to=["Marcus Vale"])
    add_note(stores, project, text="Marcus Vale is blind.", start=StoryPosition(2, 1))
    about = memories_about(stores, project, entity="C1")
    assert [each.chunk_id for each in about.memories][-1] == "note-N0"
    assert {"note-N0", "note-N1", "note-N2"} <= {each.chunk_id for each in about.memories}
    before = memories_about(stores, project, entity="C1", as_of=StoryPosition(1, 3))
    assert "note-N2" not in {each.chunk_id for each in before.memories}
    few = memories_about(stores, project, entity="C1", limit=1)
    assert few.more == len(about.memories) + about.more - 1
    with pytest.raises(UnknownEntityError, match="near"):
        memories_about(stores, project, entity="Markus Vale")
