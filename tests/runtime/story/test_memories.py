"""What an author decides about memories."""

import pytest

from novelgen.errors import UnknownMemoryError
from novelgen.models.position import StoryPosition
from runtime.story.base import place_before
from runtime.story.story import Story

pytestmark = pytest.mark.usefixtures("unindexed_edits")


@pytest.mark.parametrize(
    "start", [StoryPosition(3, 2), StoryPosition(3, 1), StoryPosition(3, 0), StoryPosition(3), StoryPosition(1)]
)
def test_a_note_stands_right_before_its_place(start: StoryPosition) -> None:
    """It is admitted on entering its place, and not one scene or chapter earlier."""
    place = place_before(start)
    assert start.admits(place.chapter_index, place.scene_index)
    chapter = start.chapter_index or 0
    earlier = StoryPosition(chapter, start.scene_index - 1) if start.scene_index else StoryPosition(chapter - 1, 99)
    assert not earlier.admits(place.chapter_index, place.scene_index)


@pytest.mark.parametrize("start", [None, StoryPosition(0), StoryPosition(0, 0)])
def test_a_note_from_the_very_beginning_has_no_place(start: StoryPosition | None) -> None:
    """There is nothing before the beginning, so such a note is read everywhere."""
    assert place_before(start).chapter_index is None


def test_a_note_says_whom_it_concerns(guild: Story) -> None:
    """Whom it is given to and names; a memory is found by either id, whatever was decided."""
    given = guild.memories.add(content="Odile owes Marcus Vale a boat.", attached_to=["C2"])
    assert (given.named, given.occurs_nowhere) == (["C2", "C1"], False)
    assert guild.memories.add(content="Zebedee cannot swim.").named == []
    listed = guild.memories.list(limit=None).memories
    chunk = next(each.chunk for each in listed if each.chunk.source_id)
    assert guild.memories.get(memory_id=chunk.chunk_id).chunk.chunk_id == chunk.chunk_id
    assert guild.memories.get(memory_id=chunk.source_id or "").chunk.chunk_id == chunk.chunk_id
    guild.memories.delete(memory_id=chunk.chunk_id)
    assert guild.memories.get(memory_id=chunk.source_id or "").status == "deleted"
    with pytest.raises(UnknownMemoryError, match=r"'M999'.*novelgen memory list"):
        guild.memories.get(memory_id="M999")


def test_an_exact_repeat_of_a_note_is_kept_once(guild: Story) -> None:
    """Nothing is stored, and the note that stands is told; another place, or more that is said, makes another note."""
    first = guild.memories.add("Odile limps.", start="2:1", hidden_from=["C2"])
    again = guild.memories.add(" Odile limps. ", start="2:1", hidden_from=["C2"])
    assert (again.note.chunk_id, again.change_id, again.is_repeat) == (first.note.chunk_id, None, True)
    others = [
        guild.memories.add("Odile limps.", start="2:1"),
        guild.memories.add("Odile limps."),
        guild.memories.add("Odile limps.", start="2:1", hidden_from=["C1"]),
        guild.memories.add("Odile limps.", start="2:1", pinned=True, attached_to=["book"]),
        guild.memories.add("Odile limps.", start="2:1", importance=3),
        guild.memories.add("Odile limps.", start="2:1", tags=["body"]),
    ]
    assert not any(other.is_repeat for other in others)
    assert len({first.note.chunk_id, *(other.note.chunk_id for other in others)}) == len(others) + 1
    assert guild.memories.add("Odile limps.").is_repeat
    guild.memories.delete(others[1].note.chunk_id)
    assert not guild.memories.add("Odile limps.").is_repeat


@pytest.mark.slow
def test_a_note_on_somebody_still_to_come_may_be_pinned(guild: Story) -> None:
    """The author's own word on somebody whom no scene has is marked, and pinned and weighed as the author likes."""
    guild.entities.add_character(name="Zebedee", goals=["learn to swim"])
    noted = guild.memories.add(content="He cannot swim.", attached_to=["Zebedee"])
    assert noted.occurs_nowhere
    memory_id = noted.note.chunk_id
    assert guild.memories.get(memory_id=memory_id).occurs_nowhere
    assert guild.memories.pin(memory_id=memory_id).memory.pinned
    assert guild.memories.edit(memory_id=memory_id, importance=10).memory.chunk.importance == 10
