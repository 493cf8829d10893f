"""Who and what a story has, how it stands and came to, and what would become one."""

import pytest

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.ingest.entities import store_entities
from runtime.stores import MemoryStores
from runtime.story.base import as_part
from runtime.story.states import StoryStateHistories
from runtime.story.story import Story
from runtime.story.who_is_who import StoryAppearances

HIDDEN = "In the end she is the heir."


@pytest.mark.parametrize("project_id", ["demo", "demo-zh"])
def test_who_is_most_in_the_story_comes_first(read_demo_stores: MemoryStores, project_id: str) -> None:
    """By weight, by name and by where they were last seen the same are listed, each in its order."""
    story = Story(read_demo_stores, project_id)
    by_weight = story.entities.list_appearances()
    assert by_weight[0].entity.entity_id == "C0"
    assert [each.scenes for each in by_weight] == sorted((each.scenes for each in by_weight), reverse=True)
    by_name = story.entities.list_appearances(order="name")
    assert [each.entity.name.casefold() for each in by_name] == sorted(each.entity.name.casefold() for each in by_name)
    last = [each.last_place for each in story.entities.list_appearances(order="last")]
    assert last == sorted(last, reverse=True)
    assert {each.entity.entity_id for each in by_weight} == {each.entity.entity_id for each in by_name}


@pytest.mark.parametrize("as_of", [None, StoryPosition(3, 1)])
def test_a_card_counts_as_the_list_does(read_demo_stores: MemoryStores, as_of: StoryPosition | None) -> None:
    """Where somebody is present and where they are named are two numbers, the same in every place that tells them."""
    story = Story(read_demo_stores, "demo")
    found = story.entities.list_appearances(as_of=as_of)
    for each in found:
        told = story.entities.get(entity_id=each.entity.entity_id, as_of=as_of).metadata
        assert (told["scene_count"], told["named_count"]) == (each.scenes, each.named), each.entity.name
    assert any(each.named != each.scenes for each in found)


def test_nothing_from_the_position_on_is_counted(read_demo_stores: MemoryStores) -> None:
    """As of a position only who was shown is listed; an unknown order or project is refused."""
    story = Story(read_demo_stores, "demo")
    cut = StoryPosition(2, 1)
    found = story.entities.list_appearances(as_of=cut)
    known = story.entities.list(as_of=cut)
    assert {each.entity.entity_id for each in found} == {each.entity_id for each in known}
    assert all(cut.admits(*each.last_place) for each in found)
    assert 0 < max(each.scenes for each in found) <= 4
    with pytest.raises(UserInputError, match="order cannot be 'size'"):
        story.entities.list_appearances(order="size")  # type: ignore[arg-type]
    with pytest.raises(UnknownProjectError):
        StoryAppearances(read_demo_stores, "nowhere").list_appearances()


@pytest.mark.parametrize("as_of", [None, StoryPosition(3, 1)])
def test_a_history_begins_with_what_holds(read_demo_stores: MemoryStores, as_of: StoryPosition | None) -> None:
    """The first step of an attribute is its state, the others go back; its words stand in the scene."""
    story = Story(read_demo_stores, "demo")
    state = story.entities.get(entity_id="C0", as_of=as_of).state
    assert state is not None
    told = as_part(story, StoryStateHistories).attribute_histories(entity_id="C0", as_of=as_of)
    assert {each.attribute: each.steps[0].value for each in told}.items() >= {
        name: value for name, value in state.state_data.items() if name != "presence" and value
    }.items()
    for history in told:
        places = [(each.chapter_index or 0, each.scene_index or 0) for each in history.steps]
        assert places == sorted(places, reverse=True)
        assert len(set(places)) == len(places)
        assert all(not each.quote for each in history.steps[1:])
        for place in places:
            assert (as_of or END_OF_STORY).admits(*place)
    assert sum(len(each.steps) for each in told) <= len(
        as_part(story, StoryStateHistories).state_history(entity_id="C0", as_of=as_of)
    )


def test_what_was_corrected_at_one_place_is_one_step(demo_stores: MemoryStores) -> None:
    """A correction takes the place of what stood there, and what changes nothing is no step."""
    story = Story(demo_stores, "demo")
    before = as_part(story, StoryStateHistories).attribute_histories(entity_id="C0")
    old = next(each for each in before if each.attribute == "status")
    for value in ("tired", "rested", "rested"):
        story.entities.edit(entity_id="C0", changes={}, state={"status": value})
    after = as_part(story, StoryStateHistories).attribute_histories(entity_id="C0")
    new = next(each for each in after if each.attribute == "status")
    assert [each.value for each in new.steps] == ["rested", *(each.value for each in old.steps[1:])]


def test_a_preview_tells_what_a_merge_joins(demo_stores: MemoryStores) -> None:
    """Its names are those that the one who stays gets, and previewing changes nothing."""
    story = Story(demo_stores, "demo")
    before = story.entities.list()
    preview = story.entities.preview_merge(keep="Varga", gone="Dorn")
    assert story.entities.list() == before
    assert (preview.scenes > 0, preview.memories > 0, preview.states > 0) == (True, True, True)
    story.entities.merge(keep="Varga", gone="Dorn")
    names = story.entities.get(entity_id="C6").entity.names()
    assert set(names) == {*preview.kept.names(), *preview.added_names}


@pytest.fixture
def supplied(demo_stores: MemoryStores) -> MemoryStores:
    """Stores whose demo has a card that a reading of the whole story wrote."""
    card = Entity(
        entity_id="C40",
        entity_type="character",
        name="Mother Tansy",
        description=HIDDEN,
        first_chapter=1,
        first_scene=2,
    )
    store_entities(demo_stores, "demo", [card], origin="supplied")
    return demo_stores


def test_another_name_tells_nothing_else_of_a_card(supplied: MemoryStores) -> None:
    """A name that an author adds to a card of a reading leaves its description for the end, and is the author's."""
    cards = Story(supplied, "demo")
    cut = StoryPosition(2, 1)
    cards.entities.edit(entity_id="C40", changes={"alias": ["the herb woman", "old Tansy"]})
    early = cards.entities.get(entity_id="C40", as_of=cut)
    assert (early.entity.description, early.is_by_author) == ("", False)
    assert [each.alias for each in early.entity.aliases] == ["the herb woman", "old Tansy"]
    assert cards.entities.get(entity_id="C40").entity.description == HIDDEN
    cards.entities.edit(entity_id="C40", changes={"aliases": ["old Tansy"]})
    whole = Entity(entity_id="C40", entity_type="character", name="Mother Tansy", description=HIDDEN)
    store_entities(supplied, "demo", [whole], origin="supplied")
    assert cards.entities.get(entity_id="C40").entity.names() == ["Mother Tansy", "old Tansy"]


def test_a_role_makes_a_card_the_authors(supplied: MemoryStores) -> None:
    """What an author writes is shown from the first scene of the card on."""
    story = Story(supplied, "demo")
    story.entities.edit(entity_id="C40", changes={"role": "herb woman", "description": "Sells herbs."})
    early = story.entities.get(entity_id="C40", as_of=StoryPosition(2, 1))
    assert (early.entity.role, early.entity.description, early.is_by_author) == ("herb woman", "Sells herbs.", True)
