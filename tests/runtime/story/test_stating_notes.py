"""Notes that state something change how it stands."""

from typing import Any

import pytest

from novelgen.context.rendering import shown_state
from novelgen.errors import InvalidPositionError, UnknownMemoryError, UserInputError
from novelgen.models.state import EntityStateSnapshot
from runtime.front_door import Memory
from runtime.story.knowledge import author_words
from runtime.story.story import Story
from tests.support.copied_stories import copied

pytestmark = pytest.mark.slow

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Anna", "Ben", "Cora"),
        "thing": "the silver ring",
        "notes": ("The ring is Anna's now.", "The ring is with Ben.", "Cora has the silver ring."),
        "dead": "Anna is dead, stabbed with the silver ring.",
        "gone": "The ring was thrown into the sea, and nobody saw it.",
        "else": "The silver ring is rusty.",
        "asked": "Nobody knows who took the silver ring.",
        "unread": "Ben took the silver ring out and sighed.",
        "named": "Anna's real name is Jane Small.",
        "name": "Jane Small",
        "taken": "Anna's real name is Ben.",
    },
    "zh": {
        "people": ("林叔", "陈默", "李国栋"),
        "thing": "鹿角柄折刀",
        "notes": ("刀在林叔手里。", "刀在陈默手里。", "李国栋拿着鹿角柄折刀。"),
        "dead": "林叔死了，死在海边，胸口插着鹿角柄折刀。",
        "gone": "刀被人扔进了海里。",
        "else": "鹿角柄折刀生了锈。",
        "asked": "谁拿了鹿角柄折刀，没有人知道。",
        "unread": "陈默拿出鹿角柄折刀叹了口气。",
        "named": "林叔其实叫林守义。",
        "name": "林守义",
        "taken": "林叔其实叫陈默。",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@copied
def _story(memory: Memory, told: dict[str, Any]) -> Story:
    story = memory.create("ring", language=told["language"])
    for name in told["people"]:
        story.entities.add(name, start="1:1")
    story.entities.add(told["thing"], kind="item", start="1:1")
    for number in range(1, 4):
        people = " ".join(told["people"])
        story.ingest(text=f"{people} {number}.", chapter_index=1, scene_index=number)
    return story


def _state(story: Story, name: str, as_of: tuple[int, int]) -> EntityStateSnapshot:
    found = story.entities.state(name, as_of=as_of)
    assert found is not None
    return found


def test_the_last_of_several_notes_on_one_thing_holds(memory: Memory, told: dict[str, Any]) -> None:
    """Each from its place on; the others are over, at one place as well, and undo takes the last back."""
    story = _story(memory, told)
    first, second, third = told["notes"]
    ids = {each.name: each.entity_id for each in story.entities.list()}
    noted = [story.memories.add(first, start="1:2"), story.memories.add(second, start="1:3")]
    assert [each.stated and each.stated.attribute for each in noted] == ["holder", "holder"]
    assert _state(story, told["thing"], (1, 2)).state_data["holder"] == ids[told["people"][0]]
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][1]]
    story.memories.add(third, start="1:3")
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][2]]
    notes = {each.content: each.superseded_by is not None for each in story.search(third, content_type="note")}
    assert notes == {first: True, second: True, third: False}
    story.undo()
    assert _state(story, told["thing"], (1, 3)).state_data["holder"] == ids[told["people"][1]]


def test_a_note_takes_its_state_back_when_it_goes(memory: Memory, told: dict[str, Any]) -> None:
    """Deleted, edited and brought back by undo: the thing is with whom the notes that stand say."""
    story = _story(memory, told)
    first, second, third = told["notes"]
    one, two, three = (each.entity_id for each in story.entities.list("character"))
    notes = [story.memories.add(each, start="1:3").note.chunk_id for each in (first, second, third)]
    holder = lambda: _state(story, told["thing"], (1, 3)).state_data.get("holder")  # noqa: E731
    over = lambda: {  # noqa: E731
        each.content for each in story.search(third, content_type="note") if each.superseded_by is not None
    }
    deleted = story.memories.delete(notes[2])
    assert (holder(), over()) == (two, {first})
    story.memories.delete(notes[1])
    assert (holder(), over()) == (one, set())
    story.undo()
    story.undo(deleted.change_id)
    assert (holder(), over()) == (three, {first, second})
    edited = story.memories.edit(notes[2], content=first)
    assert edited.stated is not None
    assert edited.stated.value == one
    assert holder() == one
    story.memories.edit(notes[2], content="It rained." if told["language"] == "en" else "下雨了。")
    assert holder() == two
    story.undo()
    assert holder() == one


def test_a_note_is_previewed_before_it_is_stored(memory: Memory, told: dict[str, Any]) -> None:
    """The state that it would set, from which scene on, and what is over then; nothing is stored."""
    story = _story(memory, told)
    first, second, _ = told["notes"]
    story.memories.add(first, start="1:2")
    stated = story.memories.preview(second, start="1:3").stated
    assert stated is not None
    assert (stated.name, stated.attribute, stated.value_name) == (told["thing"], "holder", told["people"][1])
    assert (stated.holds_after, stated.before) == ("1:2", told["people"][0])
    assert story.memories.preview("It rained.").stated is None
    assert story.memories.list(content_types=["note"]).total == 1


def test_a_noted_name_is_a_name_from_there_on(memory: Memory, told: dict[str, Any]) -> None:
    """And goes with the note, by deletion, edit and undo; another card's name is given to nobody."""
    story = _story(memory, told)
    who, name = told["people"][0], told["name"]
    story.ingest(text=f"{who}. {name}.", chapter_index=1, scene_index=4)
    names = lambda as_of=None: story.entities.get(who, as_of=as_of).entity.names()  # noqa: E731
    added = story.memories.add(told["named"], start="1:3")
    assert added.stated is not None
    assert added.stated.value == name
    assert name in names()
    assert name in names("1:3")
    assert name not in names("1:2")
    assert _state(story, who, (1, 3)).state_data["real_name"] == name
    story.memories.delete(added.note.chunk_id)
    assert name not in names()
    story.undo()
    assert name in names()
    story.memories.edit(added.note.chunk_id, content=told["dead"])
    assert name not in names()
    assert _state(story, who, (1, 3)).state_data["status"] in ("dead", "已死")
    story.undo()
    assert name in names("1:3")
    story.undo(added.change_id)
    assert name not in names()
    assert story.entities.state(who) is None or "real_name" not in story.entities.state(who).state_data
    taken = story.memories.add(told["taken"], start="1:3")
    assert taken.stated is not None
    assert taken.stated.borne_by is not None
    assert len(names()) == 1


def test_a_noted_death_is_a_state(memory: Memory, told: dict[str, Any]) -> None:
    """From its place on; before it nobody is dead."""
    story = _story(memory, told)
    story.memories.add(told["dead"], start="1:3")
    who = told["people"][0]
    assert story.entities.state(who, as_of=(1, 2)) is None
    assert _state(story, who, (1, 3)).state_data["status"] in ("dead", "已死")


def test_a_lost_thing_is_with_nobody_and_nowhere(memory: Memory, told: dict[str, Any]) -> None:
    """Its holder and its place are over, the notes on them too, until the note goes or it is found again."""
    story = _story(memory, told)
    mill = story.entities.add("the mill", kind="location", start="1:1").entity.entity_id
    story.entities.edit(told["thing"], {"location_id": mill}, start="1:1")
    first, second, _ = told["notes"]
    story.memories.add(first, start="1:2")
    lost = story.memories.add(told["gone"], start="1:3")
    assert lost.stated is not None
    assert (lost.stated.value, lost.stated.before) == ("", told["people"][0])
    data = lambda: _state(story, told["thing"], (1, 3)).state_data  # noqa: E731
    assert {"holder", "location_id"}.isdisjoint(data())
    assert [each.content for each in story.search(first, content_type="note") if each.superseded_by] == [first]
    story.memories.edit(lost.note.chunk_id, content=told["gone"] + " ")
    assert {"holder", "location_id"}.isdisjoint(data())
    story.memories.delete(lost.note.chunk_id)
    assert {"holder", "location_id"} <= data().keys()
    story.undo()
    story.memories.add(second, start="1:3")
    assert data()["holder"] == story.entities.get(told["people"][1]).entity.entity_id


def test_a_note_that_changes_nothing_says_what_stands(memory: Memory, told: dict[str, Any]) -> None:
    """Of a thing that it tells to be taken; not where nothing is known, nor where it tells something else."""
    story = _story(memory, told)
    assert story.memories.add(told["else"], start="1:2").standing == []
    first, second, _ = told["notes"]
    assert story.memories.add(first, start="1:2").standing == []
    assert story.memories.add(told["else"]).standing == []
    values = [(each.name, each.attribute, each.value_name) for each in story.memories.add(told["asked"]).standing]
    assert values == [(told["thing"], "holder", told["people"][0])]
    assert story.memories.preview(told["asked"], start="1:2").standing
    assert story.memories.preview(second, start="1:3").standing == []


def test_a_cleared_field_is_not_told(memory: Memory, told: dict[str, Any]) -> None:
    """An empty text clears it like null: neither its name nor its colon stands in a context."""
    story = _story(memory, told)
    story.memories.add(told["notes"][0], start="1:2")
    story.entities.edit(told["thing"], {"holder": "", "condition": "old"}, start="1:3")
    assert "holder" not in _state(story, told["thing"], (1, 3)).state_data


def test_a_check_leaves_out_a_note_that_is_over(memory: Memory, told: dict[str, Any]) -> None:
    """What a later note has ended does not stand beside a draft; at an earlier draft it does."""
    story = _story(memory, told)
    first, second, _ = told["notes"]
    story.memories.add(first, start="1:2")
    story.memories.add(second, start="1:3")
    draft = f"{told['people'][0]}. {told['people'][1]}. {told['thing']}."
    for scene_index, expected in ((4, {second}), (2, {first})):
        check = story.check(text=draft, chapter_index=1, scene_index=scene_index, use_model=False)
        texts = {saying.text for matter in check.touched for saying in matter.sayings if saying.source == "note"}
        assert texts == expected


ENDINGS = {
    "en": ("Anna is in irons.", "Anna is free of the irons.", "Anna is in command.", "Anna was put off in a boat."),
    "zh": ("林叔戴着镣铐。", "林叔的镣铐解开了。", "林叔住在船上。", "林叔被赶下了船。"),
}


def test_a_note_that_a_later_one_denies_is_over(memory: Memory, told: dict[str, Any]) -> None:
    """From the later one on, before it not; what rules cannot tell is shown, and over by the author's word alone."""
    story = _story(memory, told)
    held, freed, lasting, event = ENDINGS[told["language"]]
    over = lambda as_of=None: {  # noqa: E731
        each.content for each in story.search(lasting, content_type="note", as_of=as_of) if each.superseded_by
    }
    first, second = (story.memories.add(text, start="1:2").note.chunk_id for text in (held, lasting))
    preview = story.memories.preview(freed, start="1:3")
    assert [each.memory_id for each in preview.over] == [first]
    later = story.memories.add(freed, start="1:3")
    assert [each.content for each in later.over] == [held]
    assert later.perhaps_over == []
    assert (over(), over((1, 2))) == ({held}, set())
    told_event = story.memories.add(event, start="1:3")
    assert told_event.over == []
    assert lasting in [each.content for each in told_event.perhaps_over]
    assert over() == {held}
    marked = story.memories.edit(told_event.note.chunk_id, ends=[second])
    assert [each.content for each in marked.over] == [lasting]
    assert (over(), over((1, 2))) == ({held, lasting}, set())
    story.undo()
    assert over() == {held}
    story.memories.edit(told_event.note.chunk_id, ends=[second])
    story.memories.edit(told_event.note.chunk_id, ends=[])
    assert over() == {held}
    story.memories.edit(later.note.chunk_id, content=event + " ")
    assert over() == set()
    story.undo()
    story.memories.delete(later.note.chunk_id)
    assert over() == set()
    added = story.memories.add(f"{told['people'][0]}…", start="1:3", ends=[first])
    assert ([each.memory_id for each in added.over], over()) == ([first], {held})


def test_what_a_note_ends_is_added_to_what_it_ended(memory: Memory, told: dict[str, Any]) -> None:
    """A further one takes none back, as the proposed command has it; an empty list takes back all."""
    story = _story(memory, told)
    first, second, last = (
        story.memories.add(text, start=start).note.memory_id
        for text, start in ((told["else"], "1:1"), (told["asked"], "1:1"), (told["unread"], "1:2"))
    )
    story.memories.edit(last, ends=[first])
    added = story.memories.edit(last, ends=[second])
    assert [note.memory_id for note in added.over] == [first, second]
    assert added.memory.chunk.also_supersedes == [first, second]
    assert story.memories.edit(last, ends=[]).memory.chunk.also_supersedes == []


@pytest.mark.parametrize(
    ("language", "note", "end"),
    [
        ("en", "Anna and Ben are engaged.", "She broke with him at the station."),
        ("zh", "林叔和陈默订了婚。", "她在车站跟他断了。"),
    ],
)
def test_what_a_note_ends_is_told_with_what_ended_it(memory: Memory, language: str, note: str, end: str) -> None:
    """The mark has the words of the end, or its place where the context tells it, and never "later" alone."""
    story = _story(memory, {"language": language, **STORIES[language]})
    first, second, _ = STORIES[language]["people"]
    engagement = story.memories.add(note, start="1:1").note.memory_id
    story.memories.add(end, start="1:2", ends=[engagement])
    context = story.context(1, 4, {"purpose": note, "characters": [first, second]})
    newer = next(item.holds_now for item in context.report.items if item.memory_id == engagement)
    prompt = context.as_prompt(language=language)
    mark = {"en": "(changed since: [", "zh": "（后来有变：["}[language]
    assert newer is not None
    assert mark in prompt
    assert end in prompt


def test_only_what_stands_before_a_note_is_ended_by_it(memory: Memory, told: dict[str, Any]) -> None:
    """A later one, itself, and an unknown id are refused, and nothing is stored."""
    story = _story(memory, told)
    held, freed, *_ = ENDINGS[told["language"]]
    early = story.memories.add(held, start="1:2").note.chunk_id
    late = story.memories.add(freed, start="1:3").note.chunk_id
    for wrong in (late, early):
        with pytest.raises(UserInputError, match="does not stand before"):
            story.memories.edit(early, ends=[wrong])
    with pytest.raises(UnknownMemoryError, match="note-N99"):
        story.memories.add(told["else"], ends=["note-N99"])
    scene = next(each.chunk.chunk_id for each in story.memories.list(content_types=["scene"]).memories)
    with pytest.raises(UserInputError, match="is no note"):
        story.memories.edit(scene, ends=[early])
    assert story.memories.list(content_types=["note"]).total == 2


def test_a_thing_in_a_clause_with_a_person_says_that_nobody_has_it(memory: Memory, told: dict[str, Any]) -> None:
    """Where no state could be read; and what the state says already is told so."""
    story = _story(memory, told)
    first = told["notes"][0]
    added = story.memories.add(told["unread"], start="1:2")
    values = [(each.name, each.attribute, each.value_name) for each in added.standing]
    assert values == [(told["thing"], "holder", "")]
    assert not story.memories.add(first, start="1:2").stated.stood_already
    assert story.memories.add(first, start="1:3").stated.stood_already


@pytest.mark.parametrize(
    ("language", "name", "note", "attribute"),
    [
        ("en", "Anna", "Ben has taken Anna prisoner, in irons.", "status"),
        ("en", "Anna", "Anna broke her arm last night.", "physical_state"),
        ("zh", "林叔", "林叔被陈默的人抓走了。", "status"),
        ("zh", "林叔", "林叔昨夜摔断了腿。", "physical_state"),
    ],
)
def test_a_note_on_captivity_or_an_injury_says_that_it_sets_no_state(
    memory: Memory, language: str, name: str, note: str, attribute: str
) -> None:
    """The answer has the attribute that would say so, both before and after it is stored."""
    story = _story(memory, {"language": language, **STORIES[language]})
    for answer in (story.memories.preview(note, start="1:2"), story.memories.add(note, start="1:2")):
        assert answer.stated is None
        assert [(value.name, value.attribute, value.value_name) for value in answer.standing] == [(name, attribute, "")]


def test_a_note_is_moved_with_the_state_that_it_sets(memory: Memory, told: dict[str, Any]) -> None:
    """Later and earlier, with its name, its knowers and what ends it; undo puts all of it back."""
    story = _story(memory, told)
    first, second, _ = told["notes"]
    people = [entity.entity_id for entity in story.entities.list("character")]
    holder = lambda place: getattr(story.entities.state(told["thing"], as_of=place), "state_data", {}).get("holder")  # noqa: E731
    story.memories.add(first, start="1:2")
    note = story.memories.add(second, start="1:3", known_by=[told["people"][2]]).note
    places = lambda: [  # noqa: E731
        (statement.chapter_index, statement.scene_index)
        for statement in author_words(story._stores, story.project_id, character_id=people[2], memory_id=note.memory_id)
    ]
    moved = story.memories.edit(note.chunk_id, start="1:4")
    assert (moved.memory.chunk.chapter_index, moved.memory.chunk.scene_index) == (1, 3)
    assert moved.stated is not None
    assert (moved.stated.holds_after, moved.stated.before) == ("1:3", told["people"][0])
    assert not moved.stated.stood_already
    assert places() == [(1, 3)]
    assert [holder((1, scene)) for scene in (2, 3, 4)] == [people[0], people[0], people[1]]
    earlier = story.memories.edit(note.chunk_id, start="1:1")
    assert earlier.stated is not None
    assert (earlier.stated.holds_after, earlier.stated.before) == (None, None)
    assert [holder((1, scene)) for scene in (1, 2)] == [people[1], people[0]]
    story.undo()
    assert [holder((1, scene)) for scene in (1, 3, 4)] == [None, people[0], people[1]]
    story.undo(moved.change_id)
    assert [holder((1, scene)) for scene in (2, 3)] == [people[0], people[1]]
    stored = story.memories.get(note.chunk_id).chunk
    assert (stored.chapter_index, stored.scene_index) == (1, 2)
    assert places() == [(1, 2)]


def test_a_moved_note_gives_its_name_from_its_new_place_on(memory: Memory, told: dict[str, Any]) -> None:
    story = _story(memory, told)
    who, name = told["people"][0], told["name"]
    names = lambda as_of: story.entities.get(who, as_of=as_of).entity.names()  # noqa: E731
    note = story.memories.add(told["named"], start="1:2").note
    assert name in names("1:2")
    story.memories.edit(note.chunk_id, start="1:4")
    assert (name in names("1:3"), name in names("1:4")) == (False, True)
    story.undo()
    assert name in names("1:2")


def test_a_note_is_moved_to_no_place_that_is_none(memory: Memory, told: dict[str, Any]) -> None:
    """Nor before what it ends; a memory of a scene holds from its scene on."""
    story = _story(memory, told)
    held, freed, lasting, _ = ENDINGS[told["language"]]
    first = story.memories.add(lasting, start="1:2").note.chunk_id
    note = story.memories.add(told["else"], start="1:3", ends=[first]).note.chunk_id
    with pytest.raises(InvalidPositionError, match="'1:x'"):
        story.memories.edit(note, start="1:x")
    with pytest.raises(UserInputError, match="does not stand before"):
        story.memories.edit(note, start="1:1")
    scene = next(row.chunk.chunk_id for row in story.memories.list(content_types=["scene"]).memories)
    with pytest.raises(UserInputError, match="is no note"):
        story.memories.edit(scene, start="1:2")
    ended = story.memories.add(held, start="1:2").note.chunk_id
    story.memories.add(freed, start="1:3")

    def is_over() -> bool:
        over = [memory.chunk_id for memory in story.search(held, content_type="note") if memory.superseded_by]
        return ended in over

    assert is_over()
    story.memories.edit(ended, start="1:4")
    assert not is_over()
    story.undo()
    assert is_over()


SEVERAL: dict[str, dict[str, Any]] = {
    "en": {
        "people": ("Anna", "Ben", "Cora"),
        "things": ("the silver ring", "the brass key"),
        "noted": "Anna died; on her deathbed she gave the silver ring to Ben, and Cora put the brass key away.",
        "edited": "Anna gave the silver ring to Ben, and gave the brass key to Cora.",
        "hurt": "Anna gave the silver ring to Ben and was wounded in the leg.",
    },
    "zh": {
        "people": ("林叔", "陈默", "李国栋"),
        "things": ("鹿角柄折刀", "铜钥匙"),
        "noted": "林叔昨夜死了，临终把鹿角柄折刀交给陈默，李国栋拿着铜钥匙不放。",
        "edited": "林叔把鹿角柄折刀交给陈默，把铜钥匙给了李国栋。",
        "hurt": "林叔把鹿角柄折刀交给陈默，自己受了伤。",
    },
}


@pytest.mark.parametrize("language", SEVERAL)
def test_a_note_sets_all_that_it_states(memory: Memory, language: str) -> None:
    """Editing, deleting and undo follow each state; what it leaves is said."""
    told = SEVERAL[language]
    story = memory.create("several", language=language)
    people = [story.entities.add(name, start="1:1").entity.entity_id for name in told["people"]]
    things = [story.entities.add(name, kind="item", start="1:1").entity.entity_id for name in told["things"]]
    for number in range(1, 4):
        story.ingest(text=f"{' '.join(told['people'])} {number}.", chapter_index=1, scene_index=number)
    for thing in things:
        story.entities.edit(thing, {"holder": people[0]}, start="1:2")

    def stands() -> tuple[bool, list[str]]:
        dead = story.entities.state(people[0], as_of=(1, 4))
        return bool(dead and "status" in dead.state_data), [
            _state(story, thing, (1, 4)).state_data["holder"] for thing in things
        ]

    before = (False, [people[0], people[0]])
    assert stands() == before
    noted = story.memories.add(told["noted"], start="1:3")
    assert noted.stated is not None
    stated = [noted.stated, *noted.also_stated]
    assert [(each.entity_id, each.attribute) for each in stated] == [(people[0], "status"), (things[0], "holder")]
    assert noted.also_stated[0].before == told["people"][0]
    assert [(each.entity_id, each.attribute) for each in noted.standing] == [(things[1], "holder")]
    assert stands() == (True, [people[1], people[0]])
    edited = story.memories.edit(noted.note.chunk_id, content=told["edited"])
    assert [each.entity_id for each in edited.also_stated] == [things[1]]
    assert stands() == (False, [people[1], people[2]])
    story.undo()
    assert stands() == (True, [people[1], people[0]])
    story.memories.delete(noted.note.chunk_id)
    assert stands() == before
    story.memories.unban(noted.note.chunk_id)
    assert stands() == (True, [people[1], people[0]])
    story.undo()
    story.undo()
    story.undo()
    assert stands() == before
    hurt = story.memories.preview(told["hurt"], start="1:3")
    assert [(each.entity_id, each.attribute) for each in hurt.standing] == [(people[0], "physical_state")]


@pytest.mark.parametrize(
    ("language", "field", "place", "start", "note"),
    [
        ("en", "where", "the toe of a boot", "1:2", "Ben has the silver ring, sewn into the hem of a coat."),
        ("en", "kept in", "the safe", "1:1", "Anna gave the silver ring to Ben."),
        ("zh", "所在", "锁在铁皮箱", "1:1", "陈默拿着鹿角柄折刀。"),
        ("zh", "藏处", "铁皮箱夹层", "1:2", "林叔把鹿角柄折刀给了陈默。"),
    ],
)
def test_a_new_holder_ends_an_older_place(
    memory: Memory, language: str, field: str, place: str, start: str, note: str
) -> None:
    """The answer says so, what shows leaves it out, and undo brings it back."""
    told = {"language": language, **STORIES[language]}
    story = _story(memory, told)
    story.entities.edit(told["thing"], {field: place}, start=start)
    assert shown_state(_state(story, told["thing"], (1, 4))) == {"location_id": place}
    noted = story.memories.add(note, start="1:3")
    assert noted.stated is not None
    assert [(over.attribute, over.value_name) for over in noted.stated.places_over] == [("location_id", place)]
    assert shown_state(_state(story, told["thing"], (1, 4))).keys() == {"holder"}
    again = story.memories.preview(note, start="1:4")
    assert again.stated is not None
    assert again.stated.places_over == []
    story.undo()
    assert shown_state(_state(story, told["thing"], (1, 4))) == {"location_id": place}


@pytest.mark.parametrize(
    ("language", "place", "gone"),
    [
        ("en", "Anna has sewn the silver ring into her hem.", "The ring was thrown into the sea."),
        ("zh", "林叔把鹿角柄折刀缝在被褥里。", "刀被人扔进了海里。"),
    ],
)
def test_a_lost_thing_is_no_longer_where_a_note_has_it(memory: Memory, language: str, place: str, gone: str) -> None:
    """That note is offered, though it set no state and the new one calls the thing by the last word of its name."""
    story = _story(memory, {"language": language, **STORIES[language]})
    assert story.memories.add(place, start="1:2").stated is None
    assert [earlier.content for earlier in story.memories.preview(gone, start="1:3").perhaps_over] == [place]
