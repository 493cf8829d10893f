"""Who is in a scene and where it plays: guessed by rules, marked so, and corrected once for all."""

from pathlib import Path
from typing import NamedTuple

import pytest

from novelgen.errors import StaleVersionError, UnknownEntityError, UserInputError
from novelgen.models.position import END_OF_STORY
from runtime.front_door import Memory
from runtime.story.base import story_position
from runtime.story.story import Story
from tests.support.copied_stories import copied

pytestmark = pytest.mark.slow


class Wharf(NamedTuple):
    """The words of one small story."""

    language: str
    hero: str
    friend: str
    dead: str
    mill: str
    inn: str
    texts: tuple[str, str, str]


WHARVES = (
    Wharf(
        "en",
        "Maggie",
        "Pascoe",
        "Annie",
        "the mill",
        "the inn",
        (
            "Maggie came to the mill. Annie lay in the mill, and Maggie wept.",
            "Maggie asked Pascoe about the mill. Pascoe looked at the mill and shook his head.",
            "Maggie said nothing in the inn. Annie sat there, or so Maggie dreamt. Annie smiled.",
        ),
    ),
    Wharf(
        "zh",
        "苏晚",
        "林叔",
        "赵凯",
        "磨坊",
        "客栈",
        (
            "苏晚来到磨坊。赵凯躺在磨坊里，苏晚哭了。",
            "苏晚问起磨坊的事。林叔望着磨坊，摇了摇头。苏晚走了。林叔站着。",
            "苏晚坐在客栈里。赵凯也坐着，赵凯笑了。苏晚醒了。",
        ),
    ),
)


@copied
def _story(memory: Memory, wharf: Wharf) -> Story:
    story = memory.create("wharf", language=wharf.language)
    for name in (wharf.hero, wharf.friend, wharf.dead):
        story.entities.add(name, start="1:1")
    for name in (wharf.mill, wharf.inn):
        story.entities.add(name, kind="location", start="1:1")
    for number, text in enumerate(wharf.texts, start=1):
        story.ingest(text=text, chapter_index=1, scene_index=number)
    return story


@pytest.fixture(params=WHARVES, ids=lambda each: each.language)
def wharf(request: pytest.FixtureRequest) -> Wharf:
    told: Wharf = request.param
    return told


def test_what_rules_say_of_a_scene_is_marked_until_its_author_says_it(memory: Memory, wharf: Wharf) -> None:
    """In the list of scenes, the scene itself, its time, and the state of who was seen; a record is no guess."""
    story = _story(memory, wharf)
    assert story.scenes.list()[1].guessed == story.scenes.read("1:2").guessed == ["participants", "location_id"]
    assert [each.guessed for each in story.scenes.times().scenes] == [["participants", "location_id"]] * 3
    [state] = [story.entities.state(wharf.friend)]
    assert state is not None
    assert state.guessed == ["presence"]
    story.scenes.set_staging("1:2", location=wharf.inn)
    assert story.scenes.list()[1].guessed == ["participants"]
    story.scenes.set_staging("1:2", cast=[wharf.hero, wharf.friend])
    assert story.scenes.list()[1].guessed == []
    corrected = story.entities.state(wharf.friend)
    assert corrected is not None
    assert corrected.guessed == []


def test_what_was_corrected_is_never_guessed_again(memory: Memory, wharf: Wharf) -> None:
    """Neither when the scene is written anew, nor when a card comes; undo takes it back."""
    story = _story(memory, wharf)
    done = story.scenes.set_staging("1:1", location=wharf.inn, cast=[wharf.hero])
    story.ingest(text=wharf.texts[0] * 2, chapter_index=1, scene_index=1)
    story.entities.add("Jory", start="1:1")
    read = story.scenes.read("1:1")
    assert (read.location, read.on_stage, read.guessed) == (wharf.inn, [wharf.hero], [])
    assert story.scenes.set_staging("1:1", location="", cast=[]).change_id
    assert (story.scenes.read("1:1").location, story.scenes.read("1:1").on_stage) == ("", [])
    story.undo()
    assert story.scenes.read("1:1").on_stage == [wharf.hero]
    assert done.change_id is not None


def test_a_staging_names_cards(memory: Memory, wharf: Wharf) -> None:
    """A name without a card of that kind is told, and so is nothing to say."""
    story = _story(memory, wharf)
    with pytest.raises(UnknownEntityError):
        story.scenes.set_staging("1:1", location=wharf.hero)
    with pytest.raises(UnknownEntityError):
        story.scenes.set_staging("1:1", cast=["Nobody"])
    with pytest.raises(UserInputError):
        story.scenes.set_staging("1:1")


def test_the_dead_were_seen_last_where_they_died(memory: Memory, wharf: Wharf) -> None:
    """A guess that they were there later counts for nothing, and is no contradiction."""
    story = _story(memory, wharf)
    story.entities.edit(wharf.dead, {"status": "dead"}, start="1:2")
    state = story.entities.state(wharf.dead)
    assert state is not None
    assert state.state_data["presence"]["scene_index"] == 1
    assert story.conflicts.list() == []
    story.scenes.set_staging("1:3", cast=[wharf.hero, wharf.dead])
    assert [each.conflict.kind for each in story.conflicts.list()] == ["dead_acts"]


def test_a_card_of_the_wrong_kind_is_put_right(memory: Memory, wharf: Wharf) -> None:
    """A father is no place: scenes that name him have him on stage from then on; undo takes it back."""
    story = _story(memory, wharf)
    kind = {"en": {"kind": "location"}, "zh": {"种类": "地点"}}[wharf.language]
    edited = story.entities.edit(wharf.friend, kind)
    assert (edited.entity.entity_type, edited.updated_fields) == ("location", ["kind"])
    assert wharf.friend not in story.scenes.read("1:2").on_stage
    story.entities.edit(wharf.friend, {"kind": "character"})
    assert wharf.friend in story.scenes.read("1:2").on_stage
    story.undo()
    assert wharf.friend not in story.scenes.read("1:2").on_stage
    with pytest.raises(UserInputError):
        story.entities.edit(wharf.friend, {"kind": "father"})


def test_a_name_means_in_a_scene_whom_its_author_says(memory: Memory, wharf: Wharf) -> None:
    """Of two who bear it, whoever the scene's author names; the others are not there, and undo takes it back."""
    story = _story(memory, wharf)
    added = story.entities.edit(wharf.hero, {"alias": wharf.friend})
    assert [issue.kind for issue in added.issues] == ["unresolved"]
    assert wharf.friend in added.issues[0].message
    story.scenes.set_staging("1:2", names={wharf.friend: wharf.hero})
    ids = {each.name: each.entity_id for each in story.entities.list()}
    read = story.scenes.read("1:2")
    assert read.names == {wharf.friend: wharf.hero}
    assert ids[wharf.friend] not in read.scene.participants
    assert story.entities.state(wharf.friend) is None
    assert "1:2" not in {
        f"{each.chapter_index}:{each.scene_index}" for each in story.memories.list_about(wharf.friend).memories
    }
    assert read.guessed == ["participants", "location_id"]
    with pytest.raises(UserInputError):
        story.scenes.set_staging("1:1", names={wharf.friend: wharf.hero})
    with pytest.raises(UnknownEntityError):
        story.scenes.set_staging("1:2", names={wharf.friend: "Nobody"})
    story.scenes.set_staging("1:2", names={wharf.friend: ""})
    assert story.scenes.read("1:2").names == {}
    story.undo()
    assert story.scenes.read("1:2").names == {wharf.friend: wharf.hero}


def test_a_stale_staging_is_told(memory: Memory, wharf: Wharf) -> None:
    """With what stands and what was sent."""
    story = _story(memory, wharf)
    version = story.scenes.read("1:2").version
    story.scenes.set_staging("1:2", location=wharf.inn, expected_version=version)
    with pytest.raises(StaleVersionError) as caught:
        story.scenes.set_staging("1:2", location=wharf.mill, expected_version=version)
    assert (caught.value.stored, caught.value.sent) == ({"location": wharf.inn}, {"location": wharf.mill})


def test_a_text_is_stored_with_the_place_and_cast_of_its_author(memory: Memory, wharf: Wharf) -> None:
    """They are no guess, outrank the text, and are one change with it; the same text may bring others later."""
    story = _story(memory, wharf)
    fields = {"at": "2:1", "location": wharf.inn, "cast": [wharf.friend]}
    stored = story.scenes.store_text(wharf.texts[0], **fields)  # type: ignore[arg-type]
    seen = story.scenes.read("2:1")
    assert (seen.location, seen.on_stage, seen.guessed) == (wharf.inn, [wharf.friend], [])
    assert [each.outcome for each in story.scenes.store_text(wharf.texts[0], at="2:1").scenes] == ["unchanged"]
    again = story.scenes.store_text(wharf.texts[0], location=wharf.mill)
    seen = story.scenes.read("2:1")
    assert (seen.location, seen.on_stage, again.place and again.place.position) == (wharf.mill, [wharf.friend], "2:1")
    assert again.change_id
    story.undo(again.change_id)
    assert story.scenes.read("2:1").location == wharf.inn
    story.undo(stored.change_id)
    assert len(story.scenes.list()) == len(wharf.texts)
    story.scenes.store_text(wharf.texts[0], at="2:1", location="", cast=[])
    seen = story.scenes.read("2:1")
    assert (seen.location, seen.on_stage, seen.guessed) == ("", [], [])


def test_a_place_or_cast_that_is_none_stores_nothing(memory: Memory, wharf: Wharf) -> None:
    """An unknown name says how to make its card, of several scenes it is said which is meant, one by one."""
    story = _story(memory, wharf)
    card = r'card add wharf "Nobody" --kind {}`'
    for fields, kind in (({"cast": ["Nobody"]}, "character"), ({"location": "Nobody"}, "location")):
        with pytest.raises(UnknownEntityError, match=card.format(kind)):
            story.scenes.store_text(wharf.texts[1], at="2:1", **fields)  # type: ignore[arg-type]
        with pytest.raises(UnknownEntityError, match=card.format(kind)):
            story.scenes.set_staging("1:1", **fields)  # type: ignore[arg-type]
    several = "\n\n***\n\n".join(wharf.texts[:2])
    with pytest.raises(UserInputError, match="2 scenes and one place and cast; store it at a scene: 13:1"):
        story.scenes.store_text(several, cast=[wharf.hero])
    assert len(story.scenes.list()) == len(wharf.texts)


SHIPS: dict[str, tuple[str, str, str, str, str]] = {
    "en": (
        "the Kestrel",
        "Kestrel",
        "Kestrel Wharf",
        "Maggie sat down. Maggie lit the lamp.",
        "the key of the Kestrel",
    ),
    "zh": ("广兴号", "广兴号", "广兴号码头", "苏晚坐下了。苏晚点了灯。", "广兴号的钥匙"),
}
"""By language: a ship, a way to call it, a place with a longer name, a text without a place, a longer name."""


def test_a_ship_is_the_place_of_a_scene_with_its_one_card(memory: Memory, wharf: Wharf, tmp_path: Path) -> None:
    """Whatever shows the scene names it; a guess never takes it, and merges, undo and an export keep it."""
    story = _story(memory, wharf)
    ship, call, landing, calm, _ = SHIPS[wharf.language]
    story.entities.add(landing, kind="location", start="1:1")
    ship_id = story.entities.add(ship, kind="item", start="1:1").entity.entity_id
    story.scenes.set_staging("1:3", location=call, cast=[wharf.hero])
    story.ingest(text=calm, chapter_index=1, scene_index=4)
    story.ingest(text=f"{calm} {ship}。" * 2, chapter_index=1, scene_index=5)
    assert (story.scenes.read("1:3").location, story.scenes.read("1:3").guessed) == (ship, [])
    assert [story.scenes.read(at).location for at in ("1:4", "1:5")] == ["", ""]
    assert [each.location_id for each in story.scenes.times().scenes][2:] == [ship_id, None, None]
    card = story.entities.get(ship)
    assert (card.entity.entity_type, card.metadata["scene_count"]) == ("item", 2)
    assert story.entities.get(ship, as_of="1:4").metadata["last_appeared"] == "S003"
    seen = next(each for each in story.entities.list_appearances(as_of="1:4") if each.entity.entity_id == ship_id)
    assert seen.last_place == (1, 3)
    state = story.entities.state(wharf.hero, as_of="1:4")
    assert state is not None
    assert state.state_data["presence"]["location_id"] == ship_id
    story.project.export(tmp_path)
    memory.import_from(tmp_path, project_id="copy")
    assert memory.story("copy").scenes.read("1:3").location == ship
    other_id = story.entities.add("X1", kind="item", start="1:1").entity.entity_id
    story.entities.merge(other_id, ship_id)
    assert story.scenes.read("1:3").location == "X1"
    story.undo()
    assert story.scenes.read("1:3").location == ship
    story.entities.delete(ship_id)
    assert story.scenes.read("1:3").location == ""
    story.undo()
    assert story.scenes.read("1:3").location == ship


def test_a_location_goes_before_a_thing_of_its_name(memory: Memory, wharf: Wharf) -> None:
    """A thing counts by its whole name alone, or by its id."""
    story = _story(memory, wharf)
    ship, call, _, calm, longer = SHIPS[wharf.language]
    thing_id = story.entities.add(ship, kind="item", start="1:1").entity.entity_id
    with pytest.raises(UnknownEntityError, match="--kind location"):
        story.scenes.set_staging("1:1", location=longer)
    story.scenes.store_text(calm, at="2:1", location=thing_id)
    assert story.scenes.read("2:1").location == ship
    place_id = story.entities.add(ship, kind="location", start="1:1").entity.entity_id
    story.scenes.set_staging("1:1", location=call)
    assert story.scenes.read("1:1").scene.location_id == place_id


DIES: dict[str, str] = {"en": "Annie is dead.", "zh": "赵凯死了。"}
"""A note that tells the death of the third person."""


def _casts_of(memory: Memory, story: Story, place: str) -> list[list[str]]:
    """Return who is in a scene by each way in which a story shows it."""
    position = story_position(place)
    at = (position.chapter_index, position.scene_index)
    with memory._opened.of(story.project_id).database(story.project_id).read() as unit:
        names = {stored.entity.entity_id: stored.entity.name for stored in unit.entities.list_all()}
        scenes = [*unit.scenes.tellings(as_of=END_OF_STORY), *unit.outline(as_of=END_OF_STORY).scenes]
        scenes += unit.recap(as_of=END_OF_STORY, last_scenes=9).scenes
        ids = [scene.participants for scene in scenes if (scene.chapter_index, scene.scene_index) == at]
        ids += [staging.participants for staging in unit.scenes.stagings() if staging.place == at]
        number = unit.scenes.places().index(at)
        ids += [unit.scenes.casts(as_of=END_OF_STORY)[number].participants]
        ids += [unit.knowledge_story(as_of=END_OF_STORY).scenes[number].present]
    listed = [item.on_stage for item in story.scenes.list() if item.scene.position == position]
    return [story.scenes.read(place).on_stage, *listed, *([names[one] for one in present] for present in ids)]


def test_a_death_noted_later_takes_a_guess_out_of_every_cast(memory: Memory, wharf: Wharf) -> None:
    """In the scenes after it and no earlier one; undo and a return to life bring the guess back."""
    story = _story(memory, wharf)
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "1:3"))
    story.memories.add(DIES[wharf.language], start="1:2")
    for cast in _casts_of(memory, story, "1:3"):
        assert wharf.hero in cast
        assert wharf.dead not in cast
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "1:1"))
    story.undo()
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "1:3"))
    story.entities.edit(wharf.dead, {}, state={"status": "dead"}, start="1:1")
    story.entities.edit(wharf.dead, {}, state={"status": {"en": "alive", "zh": "复活"}[wharf.language]}, start="1:2")
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "1:3"))


def test_a_death_known_when_a_scene_is_stored_can_be_taken_back_as_well(memory: Memory, wharf: Wharf) -> None:
    """The scene keeps its reading, so that no guess is lost with the death."""
    story = _story(memory, wharf)
    note = story.memories.add(DIES[wharf.language], start="1:2").note
    story.ingest(text=wharf.texts[2], chapter_index=2, scene_index=1)
    assert not any(wharf.dead in cast for cast in _casts_of(memory, story, "2:1"))
    story.memories.delete(note.chunk_id)
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "2:1"))


def test_who_is_dead_stays_in_a_stated_cast(memory: Memory, wharf: Wharf) -> None:
    """The author's word stands, whatever is noted later."""
    story = _story(memory, wharf)
    story.scenes.set_staging("1:3", cast=[wharf.hero, wharf.dead])
    story.memories.add(DIES[wharf.language], start="1:2")
    assert all(wharf.dead in cast for cast in _casts_of(memory, story, "1:3"))
