"""Adding, editing and looking up entities."""

from typing import Any

import pytest

from novelgen.errors import InvalidPositionError, UnknownEntityError, UserInputError
from novelgen.models.entity import translation_of
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.context_chain import build_chunk_context
from runtime.stores import MemoryStores
from runtime.story.story import Story


def _state(guild: Story, name: str, as_of: StoryPosition | None = None) -> dict[str, Any]:
    state = guild.entities.get(entity_id=name, as_of=as_of).state
    return {} if state is None else state.state_data


def _facts(guild: Story) -> set[str]:
    with guild._stores.database(guild.project_id).read() as unit:
        return {each.attribute for each in unit.states.changes_of()}


def test_what_is_said_to_be_a_fact_is_one(guild: Story) -> None:
    """Though it looks like a slip, for everybody from then on; who is meant must be known."""
    with pytest.raises(UnknownEntityError, match=r"no entity 'Markus Vale' is known by then; near it: Marcus Vale"):
        guild.entities.edit(entity_id="Markus Vale", changes={"role": "x"})
    with pytest.raises(UnknownEntityError, match=r"no location 'Zzz' is known by then; known are "):
        guild.entities.get(entity_id="Zzz", entity_type="location")
    edited = guild.entities.edit(entity_id="C0", changes={}, state={"goal": "the lake"})
    assert edited.attributes == ["goal"]
    assert _state(guild, "C0")["goal"] == "the lake"
    guild.entities.edit(entity_id="C1", changes={"goal": "the sea"})
    assert _state(guild, "C1")["goal"] == "the sea"
    with pytest.raises(UserInputError, match="'role' is no attribute"):
        guild.entities.edit(entity_id="C0", changes={}, state={"role": "x"})


def test_an_edit_changes_card_profile_and_state(guild: Story) -> None:
    """Card fields change the card, profile fields are merged, attributes hold from the last scene on."""
    changes = {
        "emotional_state": "calm",
        "inventory": ["compass"],
        "role": "antagonist",
        "personality": {"flaws": ["pride"]},
        "aliases": ["the Cartographer", "Elle"],
    }
    edited = guild.entities.edit(entity_id="C0", changes=changes, start=StoryPosition(2, 1))
    assert edited.updated_fields == list(changes)
    assert (edited.attributes, edited.holds_after) == (["emotional_state", "inventory"], "1:2")
    entity = guild.entities.get(entity_id="C0").entity
    assert entity.role == "antagonist"
    assert entity.profile["personality"] == {"fears": ["being forgotten"], "flaws": ["pride"]}
    assert [alias.alias for alias in entity.aliases] == ["the Cartographer", "Elle"]
    now = _state(guild, "C0", StoryPosition(2, 1))
    assert (now["emotional_state"], now["inventory"]) == ("calm", ["compass"])
    assert _state(guild, "C0", StoryPosition(1, 2))["emotional_state"] == "anxious"
    assert _state(guild, "C0", END_OF_STORY)["emotional_state"] == "hopeful"


def test_fields_of_the_card_never_become_facts(guild: Story) -> None:
    """Names, translation and first appearance are the card's; an alias is added once."""
    before = _facts(guild)
    changes = {"alias": "Elle", "translation": "埃莱娜", "first_chapter": 2}
    edited = guild.entities.edit(entity_id="Elena Thorne", changes=changes)
    assert edited.attributes == []
    entity = guild.entities.get(entity_id="Elle").entity
    assert entity.names() == ["Elena Thorne", "the Cartographer", "Elle"]
    assert entity.first_chapter == 2
    assert entity.profile["translation"] == "埃莱娜"
    assert _facts(guild) == before
    for _ in range(2):
        guild.entities.edit(entity_id="C1", changes={"alias": "the old master"})
    assert guild.entities.get(entity_id="C1").entity.names() == ["Marcus Vale", "the old master"]


def test_a_nested_state_changes_what_it_names(guild: Story) -> None:
    """Seed 000.19: place, goals and the rest within current_state become the state, from the given place on."""
    nested = {"location_id": "L1", "goals": ["find the lake"], "emotional_state": None, "description": "thin"}
    with pytest.raises(UserInputError, match="'description' is no attribute"):
        guild.entities.edit(entity_id="C0", changes={"current_state": nested})
    del nested["description"]
    before = _state(guild, "C0", StoryPosition(1, 2))
    changes = {"role": "antagonist", "current_state": nested}
    edited = guild.entities.edit(entity_id="C0", changes=changes, start=StoryPosition(2, 1))
    assert edited.updated_fields == ["role", "location_id", "goals", "emotional_state"]
    assert (edited.attributes, edited.holds_after) == (["location_id", "goals", "emotional_state"], "1:2")
    now = _state(guild, "C0", StoryPosition(2, 1))
    assert (now["location_id"], now["goals"]) == ("L1", ["find the lake"])
    assert "emotional_state" not in now
    assert _state(guild, "C0", StoryPosition(1, 2)) == before
    assert "current_state" not in _facts(guild)
    assert "current_state" not in guild.entities.get(entity_id="C0").entity.profile


def test_a_nested_state_before_the_first_scene_is_the_cards(stores: MemoryStores) -> None:
    """Seed 000.19: what holds from the start is also how the card says that the story finds them."""
    stores.create_project("unwritten", language="en")
    unwritten = Story(stores, "unwritten")
    unwritten.entities.add_character(name="Ines Holt", goals=["rest"])
    unwritten.entities.edit(entity_id="Ines Holt", changes={"current_state": {"goals": ["find the lake"]}})
    card = unwritten.entities.get(entity_id="Ines Holt")
    assert card.entity.profile["current_state"] == {"goals": ["find the lake"]}
    assert _state(unwritten, "Ines Holt")["goals"] == ["find the lake"]


@pytest.mark.slow
def test_a_new_name_keeps_the_old_one(guild: Story) -> None:
    """The text goes on saying the old name; whoever gives all aliases decides for themselves."""
    assert guild.entities.edit(entity_id="C1", changes={"name": "Marc"}).entity.names() == ["Marc", "Marcus Vale"]
    back = guild.entities.edit(entity_id="C1", changes={"name": "Marcus Vale"}).entity
    assert back.names() == ["Marcus Vale", "Marc"]
    assert guild.entities.edit(entity_id="C1", changes={"name": "Marc", "aliases": []}).entity.names() == ["Marc"]


@pytest.mark.slow
def test_a_late_character_is_brought_to_the_beginning(guild: Story) -> None:
    """Once the first appearance is corrected, name and all; other names are fields of the author's own."""
    assert guild.entities.add_character(name="Ada", start=StoryPosition(1, 1)).holds_after is None
    added = guild.entities.add_character(name="Ines Holt")
    assert added.holds_after == "2:1"
    early = StoryPosition(1, 2)
    assert "Ines Holt" not in [each.name for each in guild.entities.list(as_of=early)]
    guild.entities.edit(entity_id="Ines Holt", changes={"first_chapter": 1})
    assert "Ines Holt" in [each.name for each in guild.entities.list(as_of=early)]
    with pytest.raises(InvalidPositionError, match="chapter_index=-1"):
        guild.entities.edit(entity_id="Ines Holt", changes={"first_chapter": -1})
    edited = guild.entities.edit(entity_id="C0", changes={"limp": "left leg", "role": "minor"})
    assert (edited.attributes, edited.holds_after) == ([], None)
    assert edited.entity.profile["limp"] == "left leg"
    changes = {"appearance": "torn", "holder": "C0"}
    guild.entities.edit(entity_id="the map fragment", changes=changes)
    card = guild.entities.get(entity_id="I0", entity_type="item")
    assert card.entity.profile["appearance"] == "torn"
    assert _state(guild, "I0")["holder"] == "C0"


@pytest.mark.slow
def test_a_card_is_told_from_where_its_author_said(guild: Story) -> None:
    """Not from the scene before, at which it stands, merged or not, until it is corrected; undo brings it back."""
    bell = guild.entities.add("the bell", kind="item", start=StoryPosition(2, 1)).entity

    def told() -> tuple[int | None, int | None]:
        return guild.entities.get("the bell").entity.first_told

    assert (bell.first_chapter, bell.first_scene) == (1, 2)
    guild.entities.edit("the bell", {"role": "relic"})
    assert told() == (2, 1)
    guild.entities.add("the gong", kind="item", start=StoryPosition(9, 1))
    for keep, gone in (("the bell", "the gong"), ("the gong", "the bell")):
        merged = guild.entities.merge(keep, gone).change
        assert guild.entities.get(keep).entity.first_told == (2, 1)
        guild.undo(merged.change_id)
        assert [guild.entities.get(each).entity.first_told for each in ("the bell", "the gong")] == [(2, 1), (9, 1)]
    moved = guild.entities.edit("the bell", {"first_chapter": 1, "first_scene": 1})
    assert told() == (1, 1)
    assert moved.change is not None
    guild.undo(moved.change.change_id)
    assert told() == (2, 1)


@pytest.mark.slow
def test_a_translation_shows_in_the_glossary(stores: MemoryStores, project: str, guild: Story) -> None:
    """Seed 003: of people, things and aliases, with who uses them; nobody is named whom the story shows only later."""
    guild.entities.edit(entity_id="Marcus Vale", changes={"translation": "马库斯·韦尔"})
    context = build_chunk_context(project, "Marcus Vale opened the door.", stores=stores)
    assert [(each.name, each.translation) for each in context.glossary] == [("Marcus Vale", "马库斯·韦尔")]
    changes = {"translation": "地图残片", "alias": {"alias": "the Scrap", "translation": "碎片"}}
    guild.entities.edit(entity_id="the map fragment", changes=changes)
    context = build_chunk_context(project, "She hid the Scrap.", stores=stores)
    (entry,) = context.glossary
    assert (entry.translation, [(each.name, each.translation) for each in entry.aliases]) == (
        "地图残片",
        [("the Scrap", "碎片")],
    )
    guild.entities.edit(entity_id="C2", changes={"first_chapter": 2})
    said = {"alias": "Old Owl", "speaker": "Odile Brandt", "language": "en", "translation": "老猫头鹰"}
    guild.entities.edit(entity_id="C1", changes={"alias": said})
    early = build_chunk_context(project, "The Old Owl opened the door.", 2, stores=stores)
    assert [each.speaker for entry in early.glossary for each in entry.aliases] == [""]
    late = build_chunk_context(project, "The Old Owl opened the door.", 3, stores=stores)
    assert "Old Owl → 老猫头鹰 (used by Odile Brandt)" in late.text
    again = {"alias": {"alias": "Old Owl", "speaker": "the guards"}}
    (alias,) = guild.entities.edit(entity_id="C1", changes=again).entity.aliases
    assert (alias.speaker, alias.language) == ("the guards", "en")


@pytest.mark.slow
def test_values_that_do_not_fit_change_nothing(guild: Story) -> None:
    """Seed 000.19: the field and the value are named, also in current_state; no fact is made of a slip."""
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("C0", {"current_state": ["wounded"]}, r"current_state cannot be .*write an object.*: NAME=VALUE"),
        ("L0", {"tension_level": 11}, "tension_level cannot be 11"),
        ("C0", {"inventory": 3}, "inventory cannot be 3"),
        ("C0", {"personality": {"fears": 3}}, "personality.fears cannot be 3"),
        ("C0", {"name": ""}, "name cannot be ''"),
        ("C0", {"translation": 7}, "translation cannot be 7"),
        ("C0", {"alias_translations": "x"}, "alias_translations cannot be 'x'"),
        ("C0", {"first_chapter": "one"}, "chapter_index='one' is not a whole number"),
        ("C1", {"alias": {"alias": "Vee", "speakr": "C1"}}, "'speakr' is no field of an alias; did you mean 'speaker'"),
        ("C1", {"alias": {"alias": ""}}, "alias cannot be ''"),
        ("C1", {"alias": 7}, "an alias cannot be 7"),
        ("C0", {"current_state.mood": "calm"}, r"'current_state\.mood' is .*; write current_state=\{\"mood\": …\}"),
        ("C0", {"current_state": {"goal": ["x"]}}, "did you mean 'goals'"),
        ("C0", {"goal": "x"}, r"'goal' is no field of a character; did you mean 'goals'.*: --state goal=VALUE"),
    ]
    before = _facts(guild)
    for entity_id, changes, message in cases:
        with pytest.raises(UserInputError, match=message):
            guild.entities.edit(entity_id=entity_id, changes={"role": "x", **changes})
        assert (guild.entities.get(entity_id=entity_id).entity.role != "x", _facts(guild)) == (True, before)


@pytest.mark.slow
def test_a_card_field_holds_from_a_position_on(stores: MemoryStores, project: str, guild: Story) -> None:
    """Names, translations and descriptions alike; before it stands what stood, and undo takes it back."""
    guild.entities.edit("Marcus Vale", {"translation": "马库斯", "description": "a mapmaker"}, start=(1, 1))
    before = guild.entities.get("Marcus Vale", as_of=(2, 1)).entity
    said = {
        "translation": "韦尔",
        "description": "the drowned king",
        "alias": {"alias": "Old King", "translation": "老王"},
    }
    edited = guild.entities.edit("Marcus Vale", said, start=(2, 2))
    assert (edited.dated, edited.holds_after) == (["translation", "description", "alias"], "2:1")
    assert guild.entities.get("Marcus Vale", as_of=(2, 1)).entity == before
    for as_of in ((2, 2), None):
        card = guild.entities.get("Marcus Vale", as_of=as_of).entity
        assert (card.description, card.names()) == ("the drowned king", ["Marcus Vale", "Old King"])
    assert "drowned" not in build_chunk_context(project, "Marcus Vale", 2, stores=stores).model_dump_json()
    guild.entities.edit("Marcus Vale", {"description": "the drowned prince"})
    assert guild.entities.get("Marcus Vale", as_of=(2, 1)).entity == before
    assert guild.entities.get("Marcus Vale").entity.description == "the drowned prince"
    guild.undo()
    assert edited.change is not None
    guild.undo(edited.change.change_id)
    assert guild.entities.get("Marcus Vale").entity.description == "a mapmaker"
    with pytest.raises(UserInputError, match="'first_chapter' says itself from where on"):
        guild.entities.edit("Marcus Vale", {"first_chapter": 3}, start=(2, 2))


@pytest.mark.slow
def test_a_new_name_counts_from_a_position_on(guild: Story) -> None:
    """Before it the card has its old one, with the translation that it had; a rename keeps that, too."""
    guild.entities.edit("Marcus Vale", {"translation": "马库斯"})
    guild.entities.edit("Marcus Vale", {"name": "King Vale"}, start=(2, 2))
    assert guild.entities.get("Marcus Vale", as_of=(2, 1)).entity.names() == ["Marcus Vale"]
    card = guild.entities.get("Marcus Vale", as_of=(2, 2)).entity
    assert (card.name, [translation_of(card, name) for name in card.names()]) == ("King Vale", ["马库斯"] * 2)
    guild.entities.rename("King Vale", "Lord Vale", is_applied=True)
    card = guild.entities.get("King Vale").entity
    assert card.name == "Lord Vale"
    assert {translation_of(card, name) for name in card.names()} == {"马库斯"}
