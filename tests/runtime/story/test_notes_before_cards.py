"""Notes that are written before the cards of whom and what they name."""

from typing import Any

import pytest

from runtime.front_door import Memory
from runtime.story.story import Story

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "texts": ("Ada Penrose met Ben Carver.", "Ben Carver gave Ada Penrose the cup.", "Ada Penrose swept."),
        "people": ("Ada Penrose", "Ben Carver"),
        "thing": "the pewter cup",
        "other_name": "the old mug",
        "held": "Ben Carver gave the pewter cup to Ada Penrose.",
        "of_other_name": "The old mug is with Ben Carver.",
        "death": "Ben Carver is dead.",
    },
    "zh": {
        "texts": ("林晚秋遇见了周大山。", "周大山把杯子给了林晚秋。", "林晚秋扫地。"),
        "people": ("林晚秋", "周大山"),
        "thing": "锡杯",
        "other_name": "旧盏",
        "held": "周大山把锡杯交给了林晚秋。",
        "of_other_name": "旧盏在周大山手里。",
        "death": "周大山死了。",
    },
}


@pytest.fixture(params=WORDS)
def words(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The words of a language."""
    return WORDS[request.param] | {"language": request.param}


@pytest.fixture
def story(memory: Memory, words: dict[str, Any]) -> Story:
    """Three scenes and a note on two people and a thing, none of whom has a card."""
    story = memory.create("before", language=words["language"])
    for number, text in enumerate(words["texts"], 1):
        story.ingest(text=text, chapter_index=1, scene_index=number)
    story.memories.add(words["held"], start="1:3")
    return story


def _add_people(story: Story, words: dict[str, Any]) -> list[str]:
    return [story.entities.add(name, start="1:1").entity.entity_id for name in words["people"]]


def _holder(story: Story, entity_id: str) -> object:
    state = story.entities.state(entity_id)
    return None if state is None else state.state_data.get("holder")


def _linked_ids(story: Story) -> set[str]:
    return set(story.memories.get("note-N0").chunk.entities_mentioned)


def test_a_new_card_gets_what_an_earlier_note_states(story: Story, words: dict[str, Any]) -> None:
    """The note is attached to it and sets its holder; `undo` takes both back."""
    people = _add_people(story, words)
    assert _linked_ids(story) == set(people)
    added = story.entities.add(words["thing"], {"holder": people[1]}, kind="item", start="1:1")
    thing = added.entity.entity_id
    assert _holder(story, thing) == people[0]
    assert story.entities.state(thing, as_of=(1, 2)).state_data["holder"] == people[1]  # type: ignore[union-attr]
    assert [issue.stage for issue in added.issues] == ["note"]
    assert "note-N0" in added.issues[0].message
    assert _linked_ids(story) == {*people, thing}
    story.undo()
    assert _linked_ids(story) == set(people)
    assert thing not in [entity.entity_id for entity in story.entities.list()]


def test_what_the_card_says_at_the_same_place_wins(story: Story, words: dict[str, Any]) -> None:
    """It was said last."""
    people = _add_people(story, words)
    thing = story.entities.add(words["thing"], {"holder": people[1]}, kind="item", start="1:3").entity.entity_id
    assert _holder(story, thing) == people[1]


def test_a_confirmed_name_gets_what_an_earlier_note_states(story: Story, words: dict[str, Any]) -> None:
    """A death that nobody had a card for; the confirmation can be undone."""
    story.memories.add(words["death"], start="1:3")
    decision = story.candidates.confirm(words["people"][1], kind="character")
    assert decision.entity is not None
    person = decision.entity.entity_id
    assert story.entities.state(person).state_data["status"]  # type: ignore[union-attr]
    assert _linked_ids(story) == {person}
    story.undo()
    assert _linked_ids(story) == set()


def test_a_new_name_of_a_card_gets_what_an_earlier_note_states(story: Story, words: dict[str, Any]) -> None:
    """The note called the thing by a name that the card has only now."""
    people = _add_people(story, words)
    thing = story.entities.add(words["thing"], kind="item", start="1:1").entity.entity_id
    story.memories.add(words["of_other_name"], start="1:4")
    assert _holder(story, thing) == people[0]
    story.entities.edit(thing, {"alias": words["other_name"]})
    assert _holder(story, thing) == people[1]
    story.undo()
    assert _holder(story, thing) == people[0]


def test_what_an_author_attached_by_hand_stays(story: Story, words: dict[str, Any]) -> None:
    """A new card adds nothing to it, but the note still states."""
    people = _add_people(story, words)
    story.memories.attach(["note-N0"], [people[0]])
    story.memories.detach(["note-N0"], [people[1]])
    thing = story.entities.add(words["thing"], kind="item", start="1:1").entity.entity_id
    assert thing not in _linked_ids(story)
    assert _holder(story, thing) == people[0]


def test_a_note_of_the_book_stays_the_books(story: Story, words: dict[str, Any]) -> None:
    """What `attached_to` says is final."""
    note = story.memories.add(words["death"], attached_to=["book"]).note.chunk_id
    _add_people(story, words)
    assert story.memories.get(note).chunk.entities_mentioned == []


def test_a_note_is_about_whom_its_author_describes(story: Story, words: dict[str, Any]) -> None:
    """A description that one person has for an alias; what two have names neither."""
    title, content = {"en": ("the Colonel", "The Colonel likes pears."), "zh": ("师父", "师父爱吃梨。")}[
        words["language"]
    ]
    first, second = words["people"]
    ids = [story.entities.add(name, start="1:1").entity.entity_id for name in (first, second)]
    assert story.memories.add(content, start="1:2").note.entities_mentioned == []
    story.entities.edit(first, {"alias": title})
    assert story.memories.add(content, start="1:2").note.entities_mentioned == ids[:1]
    story.entities.edit(second, {"alias": title})
    assert story.memories.add(content, start="1:2").note.entities_mentioned == []
