"""Attaching memories by hand, as code does it."""

from typing import Any

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.stores import MemoryStores
from runtime.story.story import Story


def told(guild: Story, memory_id: str) -> list[dict[str, object]]:
    """Return what a memory says that it is attached to."""
    chunk = guild.memories.get(memory_id=memory_id).chunk
    return [each.model_dump() for each in chunk.attached_to]


def noted(guild: Story, *targets: str) -> list[str]:
    """Return the notes that are attached to one of some targets."""
    found = guild.memories.list(attached_to=targets, content_types=["note"])
    return [each.chunk.chunk_id for each in found.memories]


@pytest.mark.slow
def test_memories_are_listed_by_what_they_are_attached_to(guild: Story) -> None:
    """Seed 003.5: by an entity, a chapter, or several at once."""
    guild.memories.add(content="Marcus Vale limps.")
    guild.memories.add(content="Told in the past tense.", attached_to=["chapter:2"])
    guild.memories.add(content="Ice holds a cart.", start=StoryPosition(2, 1))
    assert noted(guild, "Marcus Vale") == ["note-N0"]
    assert noted(guild, "chapter:2") == ["note-N1", "note-N2"]
    assert noted(guild, "chapter:1", "C1") == ["note-N0"]
    assert noted(guild, "chapter:9") == []
    with pytest.raises(UnknownEntityError, match="Marcus Vale"):
        noted(guild, "Markus Vale")


def test_a_note_is_attached_to_whom_it_names(guild: Story) -> None:
    """Seed 003.18: an author's note is linked by its words as a scene is, by alias too; a hand can undo it."""
    note = guild.memories.add(content="The Cartographer never sleeps in the Archive.").note
    card = guild.memories.get(memory_id=note.chunk_id)
    assert {each.target: each.origin for each in card.attachments} == {"C0": "mention", "L0": "mention"}
    guild.memories.edit(memory_id=note.chunk_id, detach=["C0"])
    guild.memories.edit(memory_id=note.chunk_id, content="The Cartographer and Marcus Vale never sleep.")
    card = guild.memories.get(memory_id=note.chunk_id)
    assert {each.target: each.origin for each in card.attachments} == {"C1": "mention"}


@pytest.mark.slow
def test_what_is_said_to_be_attached_is_final(guild: Story) -> None:
    """Seed 003: names in the text add nothing, neither at once nor with another text; `[]` is the whole book."""
    rule = guild.memories.add("In May the wells run dry for Marcus Vale.", attached_to=["chapter:2"]).note.chunk_id
    assert [each["id"] for each in told(guild, rule)] == ["chapter:2"]
    guild.memories.edit(rule, content="Elena Thorne and Marcus Vale are always called by their first names.")
    assert [each["id"] for each in told(guild, rule)] == ["chapter:2"]
    everywhere = guild.memories.add("Marcus Vale is spelt with a c.", attached_to=[]).note.chunk_id
    assert [each["id"] for each in told(guild, everywhere)] == ["book"]
    guild.memories.edit(everywhere, content="Marcus Vale is spelt with a k.")
    assert [each["id"] for each in told(guild, everywhere)] == ["book"]
    guild.memories.edit(rule, attached_to=[])
    guild.memories.edit(rule, content="Marcus Vale again.")
    assert [each["id"] for each in told(guild, rule)] == ["book"]


@pytest.mark.slow
def test_names_are_read_where_the_setting_wants_it(stores: MemoryStores, project: str, guild: Story) -> None:
    """Without it a note that is attached to nothing is the book's, as in seed 003; a new text changes nothing."""
    memory = stores.settings.memory.model_copy(update={"attach_notes_by_name": False})
    with MemoryStores(stores.settings.model_copy(update={"memory": memory})) as opened:
        quiet = Story(opened, project)
        note = quiet.memories.add("Marcus Vale limps.").note.chunk_id
        assert told(guild, note) == [{"type": "book", "id": "book", "is_default": True}]
        quiet.memories.edit(note, content="Elena Thorne limps.")
        assert told(guild, note) == [{"type": "book", "id": "book", "is_default": True}]
        lore = '{"entries": [{"text": "Marcus Vale lies.", "keys": ["truth"]}]}'
        assert [each["id"] for each in told(guild, quiet.lore.import_book(lore).added[0])] == ["book"]


def test_a_book_by_its_id_and_a_chapter_ahead_are_targets(project: str, guild: Story) -> None:
    """Seed 003's own default, `{type: book, id: <book>}`; a rule may be written before its chapter is."""
    ahead = guild.memories.add("Told in the present tense.", attached_to=["chapter:9", f"book:{project}"]).note.chunk_id
    assert [each["id"] for each in told(guild, ahead)] == ["chapter:9", "book"]
    assert noted(guild, "chapter:9") == [ahead]
    with pytest.raises(UserInputError, match=r"'book:other' is another book than this one; write 'book'"):
        guild.memories.add("x", attached_to=["book:other"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Marcus Vale", "C1"),
        ({"type": "character", "id": "Marcus Vale"}, "C1"),
        ([{"type": "character", "name": "Marcus Vale"}], "C1"),
        ([{"entity_type": "location", "entity_id": "L0"}], "L0"),
        ([{"kind": "character", "target": "C1", "name": "Marcus Vale", "origin": "manual"}], "C1"),
        ("character:Marcus Vale", "C1"),
        ([{"type": "chapter", "id": 9}], "chapter:9"),
        ([{"type": "chapter", "id": "chapter:9"}], "chapter:9"),
        ({"type": "chapter", "chapter_index": 9}, "chapter:9"),
        ({"type": "book"}, "book"),
    ],
)
def test_a_target_may_be_an_object(guild: Story, said: Any, meant: str) -> None:
    """One alone or a list of them, as the seed writes them and as answers tell them."""
    note = guild.memories.add("It rains.", attached_to=said).note.chunk_id
    assert [each["id"] for each in told(guild, note)] == [meant]
    assert note in [each.chunk.chunk_id for each in guild.memories.list(attached_to=said).memories]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"type": "faction", "id": "Marcus Vale"}, "'Marcus Vale' is no faction but a character: C1; a chapter is"),
        ({"type": "term", "id": "the Sect"}, "no term 'the Sect' is known"),
        ({"type": "character"}, "names no target"),
        ([7], "7 names no target"),
    ],
)
def test_a_target_of_another_type_is_refused(guild: Story, said: Any, error: str) -> None:
    """Whoever is meant: nothing is attached to somebody else without a word."""
    with pytest.raises(UserInputError, match=error):
        guild.memories.add("It rains.", attached_to=said)
    assert guild.memories.list(content_types=["note"]).total == 0


@pytest.mark.slow
def test_a_name_of_later_attaches_nothing_before(stores: MemoryStores, project: str, guild: Story) -> None:
    """Seed 003.18: that the Masked Lady is Odile is shown in chapter 2; a note of before does not tell it."""
    lady = EntityAlias(alias="the Masked Lady", first_chapter=2, first_scene=1)
    odile = Entity(entity_id="C2", entity_type="character", name="Odile Brandt", aliases=[lady])
    store_entities(stores, project, [odile], origin="author")
    everywhere = guild.memories.add(content="The Masked Lady carries a cane.").note
    later = guild.memories.add(content="The Masked Lady carries a fan.", start=StoryPosition(2, 2)).note
    assert everywhere.entities_mentioned == []
    assert later.entities_mentioned == ["C2"]


@pytest.mark.slow
def test_an_edit_replaces_what_a_memory_is_attached_to(guild: Story) -> None:
    """Seed 003.19: the whole list at once, or single things; a wrong one changes nothing at all."""
    guild.memories.add(content="Marcus Vale limps.", attached_to=["the Archive", "chapter:1"])
    guild.memories.edit(memory_id="note-N0", attached_to=["Elena Thorne", "chapter:2"])
    assert [each["id"] for each in told(guild, "note-N0")] == ["C0", "chapter:2"]
    guild.memories.edit(memory_id="note-N0", attach=["book"], detach=["chapter:2"])
    assert [each["id"] for each in told(guild, "note-N0")] == ["C0", "book"]
    with pytest.raises(UnknownEntityError, match="Elena Thorne"):
        guild.memories.edit(memory_id="note-N0", content="Else.", attach=["Nobody Known"])
    assert guild.memories.get(memory_id="note-N0").chunk.content == "Marcus Vale limps."
    with pytest.raises(UserInputError, match="nothing to change"):
        guild.memories.edit(memory_id="note-N0")


@pytest.mark.slow
def test_what_is_remembered_of_somebody(stores: MemoryStores, project: str, guild: Story) -> None:
    """Seed 003.8: what is attached to them, and what names them without being attached; cut by position."""
    with stores.database(project).write() as unit:
        unit.memories.add_note("Marcus Vale owns a white horse.", importance=3)
    guild.memories.add(content="He limps.", attached_to=["Marcus Vale"])
    guild.memories.add(content="Marcus Vale is blind.", start=StoryPosition(2, 1))
    about = guild.memories.list_about(entity_id="C1")
    assert [each.chunk_id for each in about.memories][-1] == "note-N0"
    assert {"note-N0", "note-N1", "note-N2"} <= {each.chunk_id for each in about.memories}
    before = guild.memories.list_about(entity_id="C1", as_of=StoryPosition(1, 3))
    assert "note-N2" not in {each.chunk_id for each in before.memories}
    few = guild.memories.list_about(entity_id="C1", limit=1)
    assert few.more == len(about.memories) + about.more - 1
    with pytest.raises(UnknownEntityError, match="near"):
        guild.memories.list_about(entity_id="Markus Vale")


@pytest.mark.slow
def test_a_search_finds_what_hangs_on_a_chapter(guild: Story) -> None:
    """Seed 003.5: what stands in the chapter and what an author attached to it, and nothing else."""
    guild.memories.add(content="Marcus never smiles in the Archive.", attached_to=["chapter:2"])
    found = guild.search(query="Marcus in the Archive", entities=["chapter:2"], top_k=50)
    assert "note-N0" in {each.chunk_id for each in found}
    assert {each.chapter_index for each in found} == {None, 2}
