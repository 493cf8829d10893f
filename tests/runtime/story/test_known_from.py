"""From where on in the story a card is known: by its name in the text, by its author, and after a merge."""

from typing import NamedTuple

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied

pytestmark = pytest.mark.slow


class Town(NamedTuple):
    """The words of one small story."""

    language: str
    late: str
    old_name: str
    told: str
    texts: tuple[str, str, str]


TOWNS = (
    Town(
        "en",
        "Jonathan Small",
        "the stranger",
        "Mary's father.",
        ("The stranger waited.", "Rain fell.", "Jonathan Small said who he was."),
    ),
    Town("zh", "陈建国", "老陈", "陈默的父亲。", ("老陈等着。", "下雨了。", "陈建国说出了自己的名字。")),
)


@pytest.fixture(params=TOWNS, ids=lambda each: each.language)
def town(request: pytest.FixtureRequest) -> Town:
    told: Town = request.param
    return told


@pytest.fixture
@copied
def story(memory: Memory, town: Town) -> Story:
    told = memory.create("town", language=town.language)
    for number, text in enumerate(town.texts, start=1):
        told.ingest(text=text, chapter_index=1, scene_index=number)
    return told


def _known(story: Story, as_of: str | None) -> list[str]:
    return [each.name for each in story.entities.list(as_of=as_of)]


def test_a_new_card_is_known_from_where_its_name_first_stands(story: Story, town: Town) -> None:
    """Else from the end, and where its author says so from there."""
    added = story.entities.add(town.old_name)
    assert added.holds_after == "1:1"
    assert _known(story, "1:1") == []
    assert _known(story, "1:2") == [town.old_name]
    assert added.is_known_by_text
    nowhere = story.entities.add("Nobody")
    assert (nowhere.holds_after, nowhere.is_known_by_text) == ("1:3", False)
    assert story.entities.add(town.late, start="1:2").holds_after == "1:1"
    assert "Nobody" not in _known(story, "1:3")
    assert "Nobody" in _known(story, "1:4")


def test_an_alias_of_a_card_with_a_place_stays_where_a_later_scene_says_it(story: Story, town: Town) -> None:
    """All names of a card that its author places count from there."""
    said = {"en": "Silas", "zh": "阿福"}[town.language]
    story.entities.add(town.old_name, aliases=[said, town.late], start="1:1")
    story.ingest(text=f"{said} laughed.", chapter_index=2, scene_index=1)
    (card,) = story.entities.list(as_of="1:3")
    assert set(card.names()) == {town.old_name, said, town.late}


def test_a_card_without_a_place_says_where_the_text_first_names_it(story: Story, town: Town) -> None:
    """The list and the card say the same, and a card that no text names stands at its own place."""
    story.entities.add(town.late)
    story.entities.add("Nobody", start="1:2")
    places = {entity.name: entity.first_told for entity in story.entities.list()}
    assert places == {town.late: (1, 3), "Nobody": (1, 2)}
    assert story.entities.get(town.late).entity.first_told == (1, 3)
    story.entities.edit(town.late, {"role": "minor"}, start="1:1")
    assert _known(story, "1:3") == ["Nobody"], "reading the place does not fix it"


def test_what_a_new_card_says_holds_from_where_it_is_known(story: Story, town: Town) -> None:
    """The holder and the state of a card that the text names in the first scene are read from the second on."""
    story.entities.add(town.late, start="1:1")
    added = story.entities.add(town.old_name, kind="item", holder=town.late, state={"condition": "worn"})
    assert added.holds_after == "1:1"
    state = story.entities.get(added.entity.entity_id, as_of="1:2").state
    assert state
    assert state.state_data == {"holder": "C0", "condition": "worn"}
    assert set(state.since.values()) == {(1, 1)}


def test_a_thread_may_be_about_whom_its_scene_introduces(story: Story, town: Town) -> None:
    """Also how two stand; whom only a later scene introduces is refused."""
    first = story.entities.add(town.old_name).entity
    other = story.entities.add("Zz", start="1:1").entity
    story.entities.add(town.late)
    thread = story.threads.add("?", characters=[town.old_name], start="1:1")
    assert thread.related_entities == [first.entity_id]
    pair = story.relationships.add("Zz", town.old_name, "friends", start="1:1")
    assert {pair.character_a, pair.character_b} == {first.entity_id, other.entity_id}
    with pytest.raises(UnknownEntityError):
        story.threads.add("?", characters=[town.late], start="1:1")


def test_a_merge_tells_no_earlier_place_of_the_later_card(story: Story, town: Town) -> None:
    """Neither its name nor its description nor its other names; from where it was known all of it holds."""
    early = story.entities.add(town.old_name, start="1:1").entity
    late = story.entities.add(town.late, description=town.told, aliases=["Zz"], start="1:3").entity
    merged = story.entities.merge(late.entity_id, early.entity_id)
    before, after = (story.entities.get(late.entity_id, as_of=as_of).entity for as_of in ("1:2", "1:4"))
    assert (before.name, before.description, before.names()) == (town.old_name, "", [town.old_name])
    assert (after.name, after.description) == (town.late, town.told)
    assert set(after.names()) == {town.late, town.old_name, "Zz"}
    story.undo(merged.change.change_id)
    assert story.entities.get(late.entity_id, as_of="1:4").entity.description == town.told
    assert _known(story, "1:2") == [town.old_name]


def test_an_identity_that_comes_out_late_is_told_from_its_scene_on(story: Story, town: Town) -> None:
    """Before it two cards and two names in a context, which tell nothing of each other; undo parts them again."""
    shown = story.entities.add(town.old_name, start="1:1").entity
    mask = story.entities.add("Zz", start="1:2").entity
    story.entities.edit(shown.entity_id, {"mood": "calm"}, start="1:2")
    merged = story.entities.merge(shown.entity_id, mask.entity_id, start="1:4")
    plan = {"characters": [town.old_name, "Zz"], "purpose": f"{town.old_name} Zz"}

    def told(place: str) -> tuple[set[str], list[str]]:
        context = story.context(*map(int, place.split(":")), plan)
        heads = [line for line in context.as_prompt().splitlines() if town.old_name in line and "Zz" in line]
        return set(context.report.names.values()), heads

    assert told("1:3") == ({town.old_name, "Zz"}, [])
    names = {name for entity in story.entities.list(as_of="1:3") for name in entity.names()}
    assert len(story.entities.list(as_of="1:3")) == 2
    assert names == {town.old_name, "Zz"}
    assert told("1:4")[0] == {town.old_name}
    [one] = story.entities.list(as_of="1:4")
    assert (one.entity_id, set(one.names())) == (shown.entity_id, {town.old_name, "Zz"})
    story.undo(merged.change.change_id)
    assert len(story.entities.list(as_of="1:4")) == 2


@pytest.mark.parametrize("start", ["1:1", "1:2"])
def test_two_are_one_only_after_both_are_known(story: Story, town: Town, start: str) -> None:
    """A merge from a scene in which one of them is not known yet is refused, and changes nothing."""
    shown = story.entities.add(town.old_name, start="1:1").entity
    mask = story.entities.add("Zz", start="1:3").entity
    with pytest.raises(UserInputError, match="is not known before"):
        story.entities.merge(shown.entity_id, mask.entity_id, start=start)
    assert len(story.entities.list(as_of="1:4")) == 2


def test_an_old_merge_can_be_undone_though_scenes_were_derived_since(story: Story, town: Town) -> None:
    """An alias that came since stays with who stayed; what stands in the way is said with the change to undo first."""
    early = story.entities.add(town.old_name, start="1:1").entity
    late = story.entities.add(town.late, start="1:1").entity
    merged = story.entities.merge(late.entity_id, early.entity_id)
    story.entities.edit(late.entity_id, {"alias": "Rain" if town.language == "en" else "下雨"})
    story.ingest(text=town.texts[0] * 2, chapter_index=1, scene_index=1)
    story.undo(merged.change.change_id)
    assert story.scenes.read("1:1").scene.participants in ([], [early.entity_id])
    assert {each.entity_id for each in story.entities.list()} == {early.entity_id, late.entity_id}
    assert len(story.entities.get(late.entity_id).entity.names()) == 2


def test_an_undo_that_cannot_be_says_which_change_stands_in_its_way(story: Story, town: Town) -> None:
    """By its number, and of what in words."""
    card = story.entities.add(town.late, start="1:1").entity
    first = story.entities.edit(card.entity_id, {"description": "first"})
    second = story.entities.edit(card.entity_id, {"description": "second"})
    assert first.change is not None
    assert second.change is not None
    with pytest.raises(UserInputError, match=rf"card {card.entity_id} .*later by {second.change.change_id}$"):
        story.undo(first.change.change_id)


def test_the_undo_of_a_scene_says_that_its_room_stays(story: Story) -> None:
    """And by which number it is closed."""
    room = story.scenes.insert((1, 2))
    story.ingest(text="Somebody came.", chapter_index=1, scene_index=2)
    undone = story.undo()
    assert len(undone.issues) == 1
    assert f"undo town {room.change_id}`" in undone.issues[0].message
    assert story.undo(room.change_id).issues == []
    assert [str(each.scene.position) for each in story.scenes.list()] == ["1:1", "1:2", "1:3"]
