"""Notes that state something change how it stands."""

from typing import Any

import pytest

from novelgen.models.state import EntityStateSnapshot
from runtime.front_door import Memory
from runtime.story.story import Story

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Anna", "Ben", "Cora"),
        "thing": "the silver ring",
        "notes": ("The ring is Anna's now.", "The ring is with Ben.", "Cora has the silver ring."),
        "dead": "Anna is dead.",
    },
    "zh": {
        "people": ("林叔", "陈默", "李国栋"),
        "thing": "鹿角柄折刀",
        "notes": ("刀在林叔手里。", "刀在陈默手里。", "李国栋拿着鹿角柄折刀。"),
        "dead": "林叔死了。",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


def _story(memory: Memory, told: dict[str, Any]) -> Story:
    story = memory.create("ring", language=told["language"])
    for name in told["people"]:
        story.add_card(name, start="1:1")
    story.add_card(told["thing"], kind="item", start="1:1")
    for number in range(1, 4):
        people = " ".join(told["people"])
        story.ingest(text=f"{people} {number}.", chapter_index=1, scene_index=number)
    return story


def _state(story: Story, name: str, as_of: tuple[int, int]) -> EntityStateSnapshot:
    found = story.state(name, as_of=as_of)
    assert found is not None
    return found


def test_the_last_of_several_notes_on_one_thing_holds(memory: Memory, told: dict[str, Any]) -> None:
    """Each from its place on; the others are over, at one place as well, and undo takes the last back."""
    story = _story(memory, told)
    first, second, third = told["notes"]
    ids = {each.name: each.entity_id for each in story.entities()}
    noted = [story.note(first, start="1:2"), story.note(second, start="1:3")]
    assert [each.stated and each.stated.attribute for each in noted] == ["holder", "holder"]
    assert _state(story, told["thing"], (1, 2)).state_data["holder"] == ids[told["people"][0]]
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][1]]
    story.note(third, start="1:3")
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][2]]
    notes = {each.content: each.superseded_by is not None for each in story.search(third, content_type="note")}
    assert notes == {first: True, second: True, third: False}
    story.undo()
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][1]]


def test_a_noted_death_is_a_state(memory: Memory, told: dict[str, Any]) -> None:
    """From its place on; before it nobody is dead."""
    story = _story(memory, told)
    story.note(told["dead"], start="1:3")
    who = told["people"][0]
    assert story.state(who, as_of=(1, 2)) is None
    assert _state(story, who, (1, 3)).state_data["status"] in ("dead", "已死")
