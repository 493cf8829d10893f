"""A real name that is hidden from somebody: the note first and the card later, in both languages."""

import pytest

from novelgen.errors import UserInputError
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied

WORDS = {
    "en": ("Ada", "Mr. Gray", "Tom Holt", "Mr. Gray is really called Tom Holt.", "Ada sat. Mr. Gray nodded."),
    "zh": ("沈青", "哑伯", "谢无咎", "哑伯的真名是谢无咎。", "沈青坐着。哑伯点了点头。"),
}


@pytest.fixture(params=WORDS)
def words(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return (request.param, *WORDS[request.param])


@pytest.fixture
@copied
def story(memory: Memory, words: tuple[str, ...]) -> Story:
    language, knower, masked, *_, text = words
    told = memory.create("masks", language=language)
    told.ingest(text=text, chapter_index=1, scene_index=1)
    for name in (knower, masked):
        told.entities.add(name, start="1:1")
    return told


def test_a_hidden_real_name_reserves_nothing(story: Story, words: tuple[str, ...]) -> None:
    """The order of the guide works with the note first: two cards, a disguise between them, and undo."""
    _, knower, masked, real, note, _ = words
    added = story.memories.add(note, hidden_from=[knower], start="2:1")
    assert added.stated is not None
    assert story.entities.get(real).entity.name == masked
    card = story.entities.add(real, start="2:1")
    assert real not in story.entities.get(masked).entity.names()
    [issue] = card.issues
    assert f'"disguise={masked}"' in issue.message
    edited = story.entities.edit(real, {"disguise": masked}, start="2:1")
    assert edited.entity.entity_id == card.entity.entity_id
    state = story.entities.get(real).state
    assert state is not None
    assert state.state_data["disguise"]
    assert edited.change is not None
    story.undo(change_id=edited.change.change_id)
    story.undo(change_id=card.change.change_id)
    assert real in story.entities.get(masked).entity.names()


def test_a_real_name_that_some_alone_know_reserves_nothing(story: Story, words: tuple[str, ...]) -> None:
    """Who knows it from its beginning on keeps it from all others; who learns it later does not."""
    _, knower, masked, real, note, _ = words
    first = story.memories.add(note, known_by=[masked], start="2:1").note.memory_id
    assert story.entities.add(real, start="2:1").entity.name == real
    story.undo()
    story.memories.delete(first)
    later = story.memories.add(note, start="2:1").note.memory_id
    story.knowledge.set(knower, later, "knows", start="3:1")
    with pytest.raises(UserInputError, match="bears the name"):
        story.entities.add(real)


def test_a_real_name_that_all_may_know_is_taken(story: Story, words: tuple[str, ...]) -> None:
    """A second card of it would be the same person twice."""
    _, _, masked, real, note, _ = words
    story.memories.add(note, start="2:1")
    with pytest.raises(UserInputError, match="bears the name"):
        story.entities.add(real)
    assert story.entities.get(real).entity.name == masked


def test_nobody_is_disguised_as_itself(story: Story, words: tuple[str, ...]) -> None:
    """The refusal says why, and what to do."""
    _, knower, masked, real, note, _ = words
    story.memories.add(note, hidden_from=[knower], start="2:1")
    with pytest.raises(UserInputError, match=r"names of one card, C1.*novelgen card add masks"):
        story.entities.edit(real, {"disguise": masked}, start="2:1")
    with pytest.raises(UserInputError, match="names of one card"):
        story.entities.edit(masked, {}, state={"disguise": masked})
