"""What the author says is over, from which scene on."""

from pathlib import Path
from typing import Any

import pytest

from novelgen.errors import UnknownMemoryError, UserInputError
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied

pytestmark = pytest.mark.slow

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Anna", "Ben"),
        "thing": "the silver ring",
        "promise": "Anna tells Ben nothing of the letter.",
        "holds": "Anna has the silver ring.",
        "mark": "(no longer so from 1:4 on)",
    },
    "zh": {
        "people": ("林叔", "陈默"),
        "thing": "鹿角柄折刀",
        "promise": "林叔瞒着陈默那封信。",
        "holds": "刀在林叔手里。",
        "mark": "（从 1:4 起不再成立）",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@copied
def _story(memory: Memory, told: dict[str, Any]) -> Story:
    story = memory.create("over", language=told["language"])
    for name in told["people"]:
        story.entities.add(name, start="1:1")
    story.entities.add(told["thing"], kind="item", start="1:1")
    for number in range(1, 6):
        story.ingest(text=f"{' '.join(told['people'])} {number}.", chapter_index=1, scene_index=number)
    return story


def _line(story: Story, told: dict[str, Any], place: tuple[int, int], content: str) -> str:
    plan = {"purpose": content, "characters": list(told["people"])}
    prompt = story.context(*place, plan).as_prompt(language=told["language"])
    return next((line for line in prompt.splitlines() if content in line), "")


def _replaced_by(story: Story, memory_id: str, as_of: str | None = None) -> str | None:
    listing = story.memories.list(content_types=["note"], as_of=as_of)
    return next(one.chunk.superseded_by for one in listing.memories if one.chunk.chunk_id == memory_id)


def test_a_note_is_over_from_a_scene_on_and_not_before(memory: Memory, told: dict[str, Any]) -> None:
    """Contexts before that scene tell it as it stands; from there on it is marked, and undo takes the mark off."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:2").note
    ended = story.memories.end(note.chunk_id, start="1:4")
    assert ended.memory.over_at == [1, 3]
    for scene in (3, 4, 5):
        line = _line(story, told, (1, scene), told["promise"])
        assert line
        assert (told["mark"] in line) == (scene >= 4), line
    assert [_replaced_by(story, note.chunk_id, place) for place in ("1:3", "1:4", None)] == [
        None,
        "over:1:4",
        "over:1:4",
    ]
    card = story.memories.list_about(told["people"][0])
    assert [one.superseded_by for one in card.memories if one.chunk_id == note.chunk_id] == ["over:1:4"]

    story.undo(change_id=ended.change_id)
    assert told["mark"] not in _line(story, told, (1, 5), told["promise"])
    assert story.memories.get(note.chunk_id).over_at is None


def test_where_a_note_is_over_is_not_told_before(memory: Memory, told: dict[str, Any]) -> None:
    """As of an earlier scene no list says it, and the version of the story is the same as ever; later ones are not."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:2").note
    story.memories.confirm(note.chunk_id)
    before = [story.context(1, scene, {"purpose": "…"}).report.story_version for scene in (3, 4)]
    story.memories.end(note.chunk_id, start="1:4")
    after = [story.context(1, scene, {"purpose": "…"}).report.story_version for scene in (3, 4)]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]
    listings = [story.memories.list(content_types=["note"], as_of=place) for place in ("1:3", "1:4", None)]
    assert [listing.memories[0].over_at for listing in listings] == [None, [1, 3], [1, 3]]


def test_the_state_of_a_note_is_over_with_it(memory: Memory, told: dict[str, Any]) -> None:
    """Nobody has the thing from there on, before it the holder stands, and undo gives it back."""
    story = _story(memory, told)
    note = story.memories.add(told["holds"], start="1:2").note

    def holder(scene: int) -> Any:
        state = story.entities.state(told["thing"], as_of=(1, scene))
        return None if state is None else state.state_data.get("holder")

    held_by = holder(3)
    assert held_by is not None
    ended = story.memories.end(note.chunk_id, start="1:4")
    assert [holder(scene) for scene in (3, 4, 5)] == [held_by, None, None]
    assert ended.standing == []
    # Ended elsewhere, it is over there alone.
    story.memories.end(note.chunk_id, start="1:5")
    assert [holder(scene) for scene in (4, 5)] == [held_by, None]
    story.undo()
    assert [holder(scene) for scene in (3, 4)] == [held_by, None]
    story.undo()
    assert holder(5) == held_by


def test_what_something_else_says_since_stays(memory: Memory, told: dict[str, Any]) -> None:
    """A holder that the card got later is not taken back with the older note, and is told with the answer."""
    story = _story(memory, told)
    note = story.memories.add(told["holds"], start="1:2").note
    other = told["people"][1]
    story.entities.edit(told["thing"], changes={"holder": other}, start="1:3")
    ended = story.memories.end(note.chunk_id, start="1:5")
    ids = {entity.name: entity.entity_id for entity in story.entities.list()}
    state = story.entities.state(told["thing"], as_of=(1, 5))
    assert state is not None
    assert state.state_data["holder"] == ids[other]
    assert [(value.attribute, value.value_name) for value in ended.standing] == [("holder", other)]


def test_by_default_it_is_over_for_the_next_scene(memory: Memory, told: dict[str, Any]) -> None:
    """The scene after the last stored one; without any scene it must be said."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:2").note
    assert story.memories.end(note.chunk_id).memory.over_at == [1, 5]
    empty = memory.create("empty", language=told["language"])
    alone = empty.memories.add(told["promise"]).note
    with pytest.raises(UserInputError, match="say from which scene on"):
        empty.memories.end(alone.chunk_id)
    assert empty.memories.end(alone.chunk_id, start="2:1").memory.over_at == [2, 0]


def test_what_cannot_be_over_is_refused(memory: Memory, told: dict[str, Any]) -> None:
    """From its own scene on or before, an unknown one, a banned one, and what a later note replaced already."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:3").note
    for place in ("1:2", "1:3", "0:0"):
        with pytest.raises(UserInputError, match=f"'{note.chunk_id}' is told from 1:3 on.*memory delete over"):
            story.memories.end(note.chunk_id, start=place)
    with pytest.raises(UnknownMemoryError, match="'M77'"):
        story.memories.end("M77", start="1:4")
    later = story.memories.add(told["promise"] + "!", start="1:4", ends=[note.chunk_id]).note
    with pytest.raises(UserInputError, match=f"over before 1:5 already, by '{later.chunk_id}'"):
        story.memories.end(note.chunk_id, start="1:5")
    story.memories.ban(later.chunk_id)
    with pytest.raises(UserInputError, match="memory unban over"):
        story.memories.end(later.chunk_id, start="1:5")


def test_a_memory_of_a_scene_is_over_and_survives_a_new_ingest(memory: Memory, told: dict[str, Any]) -> None:
    """It may be over from the scene right after its own on."""
    story = _story(memory, told)
    record = {"memories": [{"memory_id": "M1", "content": told["promise"]}]}
    text = "\n".join([*told["people"], told["promise"]])
    story.ingest(text=text, record=record, chapter_index=1, scene_index=3)
    story.memories.end("M1", start="1:4")
    story.ingest(text=text + " 2", record=record, chapter_index=1, scene_index=3)
    card = story.memories.get("M1")
    assert (card.over_at, card.chunk.superseded_by, card.from_scene) == ([1, 3], None, True)
    with pytest.raises(UserInputError, match="told from 1:4 on"):
        story.memories.end("M1", start="1:3")


def test_where_it_is_over_goes_with_the_scenes(memory: Memory, told: dict[str, Any]) -> None:
    """A scene that is inserted before shifts the place; a note moved beyond it is not over any more."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:2").note
    story.memories.end(note.chunk_id, start="1:4")
    story.scenes.insert("1:2", text="…")
    assert _replaced_by(story, note.chunk_id) == "over:1:5"
    story.memories.edit(note.chunk_id, start="1:6")
    assert (_replaced_by(story, note.chunk_id), story.memories.get(note.chunk_id).over_at) == (None, None)


def test_the_place_is_exported_and_imported(memory: Memory, told: dict[str, Any], tmp_path: Path) -> None:
    """An export and import keep it."""
    story = _story(memory, told)
    note = story.memories.add(told["promise"], start="1:2").note
    story.memories.end(note.chunk_id, start="1:4")
    story.project.export(folder=tmp_path / "out")
    memory.import_from(tmp_path / "out", project_id="again")
    assert _replaced_by(memory.story("again"), note.chunk_id) == "over:1:4"
