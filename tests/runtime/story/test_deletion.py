"""What users delete: told in full, gone for readers, and back by its number."""

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story

pytestmark = pytest.mark.usefixtures("unindexed_edits")


def _links(stores: MemoryStores, project: str, chunk_id: str) -> list[str]:
    with stores.database(project).read() as unit:
        (chunk,) = unit.memories.by_ids([chunk_id])
    return chunk.entities_mentioned


@pytest.mark.slow
def test_the_result_tells_who_referred_to_it(guild: Story, stores: MemoryStores, project: str) -> None:
    """Seed 000.18: a note about a deleted character stays, and is found without the link."""
    note = guild.memories.add(content="Odile fears deep water.", attached_to=["Odile Brandt"])
    done = guild.entities.delete(entity_id="Odile Brandt", entity_type="character")
    assert (done.deleted, done.name) == ("C2", "Odile Brandt")
    assert note.note.chunk_id in done.unlinked_memories
    assert (done.removed_relationships, done.changed_scenes) == (["R1"], ["S003"])
    assert [each.entity_id for each in guild.entities.list()] == ["C0", "C1", "I0", "L0"]
    assert _links(stores, project, note.note.chunk_id) == []
    undone = guild.undo(change_id=done.change.change_id)
    assert (undone.change.kind, undone.entity and undone.entity.name) == ("delete", "Odile Brandt")
    assert _links(stores, project, note.note.chunk_id) == ["C2"]


@pytest.mark.slow
def test_what_a_deleted_character_remembered_comes_back_to_recalls(guild: Story) -> None:
    """Others recall what they lived through with her, without her id; her own memories are back after the undo."""
    elena, odile = guild.character("Elena Thorne"), guild.character("Odile Brandt")

    def told_of_the_lamp() -> list[str]:
        return [each.text for each in elena.recall("lamp").items]

    odile.remember("Odile took the fragment.", witnesses=["Elena Thorne"], participants=["Elena Thorne"])
    elena.remember("Odile gave Elena a lamp.", participants=["Odile Brandt"])
    before = [odile.memories(), elena.memories(), told_of_the_lamp()]
    done = guild.entities.delete(entity_id="Odile Brandt")
    assert [each.content for each in elena.memories()] == ["Odile took the fragment.", "Odile gave Elena a lamp."]
    assert "Odile gave Elena a lamp." in told_of_the_lamp()
    assert all("C2" not in each.participants for each in elena.memories())
    assert (len(done.removed_character_memories), len(done.changed_character_memories)) == (1, 1)
    guild.undo(change_id=done.change.change_id)
    assert [odile.memories(), elena.memories(), told_of_the_lamp()] == before


@pytest.mark.slow
def test_scenes_that_came_meanwhile_know_who_is_back(guild: Story, stores: MemoryStores, project: str) -> None:
    """Seed 000.18: a scene that was stored while nobody bore the name is read anew by the undo."""
    done = guild.entities.delete(entity_id="Odile Brandt")
    later = SceneInput(chapter_index=2, scene_index=2, text="Odile Brandt came back over the ice.")
    ingest_scenes(stores, project, [later], index=False)
    guild.undo(change_id=done.change.change_id)
    card = guild.entities.get(entity_id="Odile Brandt")
    assert card.metadata["last_appeared"] == "S004"


@pytest.mark.slow
def test_a_relationship_is_deleted_by_its_pair(guild: Story) -> None:
    """Seed 000.18: in either order, its history is back after the undo; `character delete` never takes a place."""
    before = guild.relationships.get(character_a="C0", character_b="C1")
    done = guild.relationships.delete(character_a="Marcus Vale", character_b="Elena Thorne")
    assert (done.deleted, done.name) == (before.relationship_id, "C0 C1")
    with pytest.raises(UserInputError, match="nothing is known of C0 and C1"):
        guild.relationships.delete(character_a="C0", character_b="C1")
    guild.undo(change_id=done.change.change_id)
    assert guild.relationships.get(character_a="C0", character_b="C1") == before
    with pytest.raises(UnknownEntityError, match="no character 'the Archive'"):
        guild.entities.delete(entity_id="the Archive", entity_type="character")
