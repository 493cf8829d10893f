"""A merge from a scene on: one person with both names, the newest values and nothing hidden of the identity alone."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import novelgen
from novelgen.errors import UserInputError
from runtime.story.base import as_part
from runtime.story.states import StoryStateHistories
from runtime.story.story import Story
from runtime.story.story_difference import StoryDifferences
from tests.support.variants import variants

pytestmark = pytest.mark.slow


class Play(NamedTuple):
    """The words of one small story: a mask, who is behind it, and who is deceived."""

    language: str
    mask: str
    person: str
    other: str
    friend: str
    texts: tuple[str, ...]
    mask_work: str
    work: str
    identity: str
    more: str
    told: str
    listed: str
    kept: str
    one: str
    places: tuple[str, str]


PLAYS = (
    Play(
        "en",
        "Daniel Voss",
        "Julian Ashcombe",
        "Ada Bell",
        "Tom",
        (
            "Ada Bell met Daniel Voss at the gate. Ada Bell spoke of Julian Ashcombe.",
            "Ada Bell found Daniel Voss in the nursery.",
            "Julian Ashcombe sat with Ada Bell in the attic.",
            "Rain fell on the roof.",
        ),
        "a porter",
        "heir of the house",
        "Daniel Voss is really called Julian Ashcombe.",
        "Daniel Voss is really Julian Ashcombe, who burned the will.",
        "Daniel Voss told Tom that he is Julian Ashcombe and showed him a letter; only Tom knows it.",
        "Daniel Voss is Julian Ashcombe; only Tom knows it.",
        "Ada Bell does not know that Daniel Voss is Julian Ashcombe.",
        "Julian Ashcombe (the same person as Daniel Voss)",
        ("nursery", "attic"),
    ),
    Play(
        "zh",
        "陆九",
        "顾衍之",
        "沈鸢",
        "阿福",
        ("沈鸢在门口遇见陆九。沈鸢说起顾衍之。", "沈鸢在西厢找到陆九。", "顾衍之和沈鸢坐在阁楼里。", "雨落在屋顶上。"),
        "趟子手",
        "北镇抚司百户",
        "陆九其实就是顾衍之。",
        "陆九其实就是顾衍之，烧了遗嘱。",
        "陆九告诉阿福他就是顾衍之，还给他看了信，只有阿福知道。",
        "陆九就是顾衍之，只有阿福知道。",
        "沈鸢不知道陆九就是顾衍之。",
        "顾衍之（即陆九）",
        ("西厢", "阁楼"),
    ),
)


@pytest.fixture(scope="module", params=PLAYS, ids=lambda play: play.language)
def play(request: pytest.FixtureRequest) -> Play:
    chosen: Play = request.param
    return chosen


@pytest.fixture(scope="module")
def written(play: Play, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with novelgen.open(tmp_path_factory.mktemp("play"), embeddings="fake:64") as memory:
        story = memory.create("play", language=play.language)
        for chapter, text in enumerate(play.texts, start=1):
            story.ingest(text=text, chapter_index=chapter, scene_index=1)
        for name in play.places:
            story.entities.add(name, kind="location", start="1:1")
        story.entities.add(play.other, start="1:1")
        story.entities.add(play.friend, start="1:1")
        story.entities.add(play.mask, {"occupation": play.mask_work, "age": "30"}, start="1:1")
        story.entities.add(play.person, {"occupation": play.work}, start="2:1")
        yield story


@pytest.fixture
def story(written: Story) -> Iterator[Story]:
    """The story, of which all that a test changes is undone after it."""
    first = written.entities.edit(written.entities.list()[0].entity_id, {"role": "x"}).change
    assert first is not None
    yield written
    while written.undo().change.change_id != first.change_id:
        continue


def _plan(*names: str) -> dict[str, Any]:
    return {"characters": list(names), "purpose": " ".join(names)}


def _facts(story: Story, place: str, *names: str, pov: str = "") -> str:
    return story.context(*map(int, place.split(":")), _plan(*names), pov=pov).as_prompt()


@pytest.mark.parametrize("asked", ["mask", "person"])
def test_from_the_merge_on_a_context_has_one_person_with_both_names(story: Story, play: Play, asked: str) -> None:
    """Whichever name the plan has, and as point of view; of a field that both have the later card's value holds."""
    story.entities.merge(play.person, play.mask, start="4:1")
    name = getattr(play, asked)
    context = story.context(4, 1, _plan(play.other, name))
    [facts] = [one for one in context.cards if one.fields]
    assert (facts.revealed_names, facts.fields) == ([play.mask], {"age": "30", "occupation": play.work})
    assert play.one in context.as_prompt()
    assert play.mask_work not in context.as_prompt()
    assert len([one for one in context.entity_states if one.entity_id == facts.entity_id]) <= 1
    assert play.one in _facts(story, "4:1", play.other, name, pov=play.other)
    assert play.work in _facts(story, "4:1", play.other, name, pov=name)
    before = _facts(story, "3:1", play.other, play.mask)
    assert play.mask_work in before
    assert play.work not in before
    assert play.person not in before.replace(play.texts[0], "")


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_later_card_holds_whichever_is_kept(story: Story, play: Play, *, is_turned: bool) -> None:
    """At a position one card is listed under either name; undo parts them, and a read before sees two."""
    pair = [play.person, play.mask][:: -1 if is_turned else 1]
    merged = story.entities.merge(*pair, start="4:1")
    for name in pair:
        card = story.entities.get(name, as_of="4:1").entity
        assert (card.name, card.revealed_names) == (pair[0], [pair[1]])
        assert (card.profile["occupation"], card.profile["age"]) == (play.work, "30")
    people = story.entities.list(as_of="4:1")
    assert [{play.mask, play.person} <= set(one.names()) for one in people].count(True) == 1
    assert not any({play.mask, play.person} <= set(one.names()) for one in story.entities.list(as_of="3:1"))
    assert story.entities.get(play.mask, as_of="3:1").entity.profile["occupation"] == play.mask_work
    story.undo(merged.change.change_id)
    assert story.entities.get(play.mask, as_of="4:1").entity.profile["occupation"] == play.mask_work
    assert story.entities.get(play.person, as_of="4:1").entity.revealed_names == []


def test_a_value_said_after_the_merge_holds(story: Story, play: Play) -> None:
    """Of the person's card, in place of the mask's, which was newer until then."""
    story.entities.merge(play.mask, play.person, start="3:1")
    story.entities.edit(play.mask, {"occupation": "X"}, start="4:1")
    values = [story.entities.get(play.mask, as_of=at).entity.profile["occupation"] for at in ("2:1", "3:1", "4:1")]
    assert values == [play.mask_work, play.work, "X"]


def test_one_person_has_one_value_of_each_attribute(story: Story, play: Play) -> None:
    """Place, condition, things and feelings: the newest in story order, under either name."""
    for place, who, where in (("2:1", play.mask, play.places[0]), ("3:1", play.person, play.places[1])):
        story.scenes.set_staging(place, cast=[play.other, who], location=where)
    lamp = story.entities.add("the lamp", kind="item", holder=play.mask, start="2:1").entity
    story.entities.edit(play.person, {}, state={"mood": "calm", "scars": ["arm"]}, start="2:1")
    story.entities.edit(play.mask, {}, state={"mood": "angry", "scars": ["chin"]}, start="3:1")
    story.relationships.add(play.mask, play.friend, "kin", status="friends", start="2:1")
    story.relationships.add(play.friend, play.person, "kin", status="foes", start="3:1")
    merged = story.entities.merge(play.person, play.mask, start="4:1")
    kept, gone = merged.change.entity_id, merged.change.other_id
    for name in (play.person, play.mask, kept, gone):
        state = story.entities.state(name, as_of="4:1")
        assert state is not None
        assert (state.entity_id, state.state_data["mood"], state.holds) == (kept, "angry", [lamp.entity_id])
        assert set(state.state_data["scars"]) == {"arm", "chin"}
    prompt = _facts(story, "4:1", play.other, play.mask)
    assert play.places[0] not in "".join(line for line in prompt.splitlines() if "2:1" in line and play.person in line)
    [pair] = story.relationships.list(play.mask, as_of="4:1")
    assert pair.status == "foes"
    assert [one.status for one in story.relationships.list(play.mask, as_of="3:1")] == ["friends"]
    assert {one.entity_id for one in story.entities.states_around(2, as_of="4:1").snapshots} >= {kept}
    assert gone not in {one.entity_id for one in story.entities.states_around(2, as_of="4:1").snapshots}


def test_who_was_seen_under_another_name_is_not_dead(story: Story, play: Play) -> None:
    """A death told of one name does not hold from the merge on; before it, and of who is not seen again, it does."""
    story.entities.edit(play.person, {}, state={"status": "dead"}, start="2:1")
    story.entities.edit(play.mask, {}, state={"mood": "calm"}, start="3:1")
    story.entities.merge(play.person, play.mask, start="4:1")
    before, after = (story.entities.state(play.person, as_of=at) for at in ("3:1", "4:1"))
    assert before is not None
    assert after is not None
    assert (before.state_data["status"], "status" in after.state_data) == ("dead", False)


def test_three_cards_in_a_chain_are_one(story: Story, play: Play) -> None:
    """Each from its scene on; one that is somebody else already is refused by the name of who it is."""
    story.entities.merge(play.person, play.mask, start="3:1")
    story.entities.merge(play.friend, play.person, start="4:1")
    card = story.entities.get(play.friend, as_of="4:1").entity
    assert card.profile["occupation"] == play.work
    assert set(card.revealed_names) == {play.mask, play.person}
    assert story.entities.get(play.mask, as_of="3:1").entity.name == play.person
    with pytest.raises(UserInputError, match="already; merge with that one"):
        story.entities.merge(play.other, play.mask, start="4:1")


def test_a_note_of_the_identity_alone_is_shown_and_one_that_tells_more_is_not(story: Story, play: Play) -> None:
    """From the merge on, unless the author hides it from there on; the answer lists both, and undo hides it again."""
    only = story.memories.add(play.identity, start="1:1", hidden_from=[play.other])
    more = story.memories.add(play.more, start="1:1", hidden_from=[play.other])
    merged = story.entities.merge(play.person, play.mask, start="3:1")
    [shown], [hidden] = merged.notes.shown, merged.notes.still_hidden
    assert (shown.memory_id, shown.hidden_from) == (only.note.chunk_id, [play.other])
    assert (hidden.memory_id, hidden.content) == (more.note.chunk_id, play.more)

    def known(place: str) -> set[str]:
        return {one.content for one in story.knowledge.list(play.other, as_of=place).known}

    assert play.identity not in known("2:1")
    assert play.identity in known("3:1")
    assert play.more not in known("4:1")
    context = story.context(3, 1, _plan(play.other, play.mask), pov=play.other)
    assert context.hidden is not None
    assert [one.text for one in context.hidden.items] == [play.more]
    story.knowledge.set(play.other, only.note.chunk_id, "hidden", start="4:1")
    assert play.identity in known("3:1")
    assert play.identity not in known("4:1")
    story.undo()
    story.undo(merged.change.change_id)
    assert play.identity not in known("3:1")


def test_a_draft_that_has_the_old_work_is_shown_the_new_one(story: Story, play: Play) -> None:
    """The check reads one card; before the merge each name has its own."""
    story.entities.merge(play.person, play.mask, start="4:1")
    draft = (
        f"{play.mask} was {play.mask_work} still." if play.language == "en" else f"{play.mask}还是{play.mask_work}。"
    )
    after, before = (
        story.check(draft, chapter_index=chapter, scene_index=1, use_model=False).model_dump_json()
        for chapter in (4, 3)
    )
    assert play.work in after
    assert play.work not in before


@pytest.mark.parametrize("named", ["mask", "person"])
def test_a_note_by_either_name_is_of_the_person(story: Story, play: Play, named: str) -> None:
    """It sets the one state, and one that states nothing says what stands of the person."""
    lamp = story.entities.add("The lamp", kind="item", start="1:1").entity
    story.entities.merge(play.person, play.mask, start="4:1")
    name = getattr(play, named)
    story.scenes.set_staging("4:1", cast=[name], location=play.places[1])
    holds = {"en": f"The lamp is with {name}.", "zh": f"The lamp在{name}手里。"}[play.language]
    assert story.memories.add(holds, start="4:1").stated is not None
    for other_name in (play.person, play.mask):
        state = story.entities.state(other_name, as_of="4:2")
        assert state is not None
        assert state.holds == [lamp.entity_id]
    hurt = {"en": f"{name} has a broken arm.", "zh": f"{name}左臂中箭。"}[play.language]
    note = story.memories.add(hurt, start="4:1")
    context = story.context(5, 1, _plan(play.other, play.mask))
    assert note.note.memory_id in [memory.chunk_id for memory in context.relevant_memories]


def _counts(story: Story, name: str, as_of: str | None) -> tuple[int, ...]:
    """The scenes with somebody, on stage and named, on the card of that name and in the list of all cards."""
    card = story.entities.get(name, as_of=as_of)
    [listed] = [one for one in story.entities.list_appearances(as_of=as_of) if name in one.entity.names()]
    assert (listed.scenes, listed.named) == (card.metadata["scene_count"], card.metadata["named_count"])
    assert card.metadata["last_appeared"] == f"S{listed.last_chapter:03}"
    return (listed.scenes, listed.named, *listed.last_place)


def _timeline(story: Story, name: str, as_of: str | None) -> list[int]:
    return [scene.chapter_index for scene in story.scenes.times(character_id=name, as_of=as_of).scenes]


def _stage_both(story: Story, play: Play) -> None:
    for place, who in (("1:1", play.mask), ("2:1", play.mask), ("3:1", play.person)):
        story.scenes.set_staging(place, cast=[play.other, who])


@pytest.mark.parametrize("is_turned", [False, True])
def test_scenes_under_either_name_count_for_the_person(story: Story, play: Play, *, is_turned: bool) -> None:
    """From the merge on, each scene once; read before it, or after an undo, each name has its own."""
    pair = [play.person, play.mask][:: -1 if is_turned else 1]
    _stage_both(story, play)
    apart = [_counts(story, name, None) for name in (play.mask, play.person)]
    assert apart == [(2, 2, 2, 1), (1, 2, 3, 1)]
    merged = story.entities.merge(*pair, start="4:1")
    for name, as_of in itertools.product(pair, (None, "4:1")):
        assert _counts(story, name, as_of) == (3, 3, 3, 1)
        assert _timeline(story, name, as_of) == [1, 2, 3]
    assert _counts(story, play.mask, "3:1") == (2, 2, 2, 1)
    assert (_timeline(story, play.mask, "3:1"), _timeline(story, play.person, "3:1")) == ([1, 2], [])
    for kept, as_of, places in ((pair[0], None, {(1, 1), (2, 1), (3, 1)}), (play.person, "3:1", {(1, 1)})):
        named = as_part(story, StoryStateHistories).scenes_naming_characters(as_of=as_of).places
        assert set(named[story.entities.get(kept, as_of=as_of).entity.entity_id]) == places
    story.undo(merged.change.change_id)
    assert [_counts(story, name, None) for name in (play.mask, play.person)] == apart


def test_one_scene_with_both_names_counts_once(story: Story, play: Play) -> None:
    """Nobody is there twice, in lists of scenes; a preview of a merge counts the scenes of both."""
    _stage_both(story, play)
    story.scenes.set_staging("3:1", cast=[play.other, play.person, play.mask])
    story.entities.merge(play.person, play.mask, start="4:1")
    person = story.entities.get(play.person).entity.entity_id
    assert _counts(story, play.person, None) == (3, 3, 3, 1)
    [told] = [scene for scene in story.scenes.times().scenes if scene.chapter_index == 3]
    assert told.participants.count(person) == 1
    assert len(told.participants) == 2
    assert story.entities.preview_merge(play.friend, play.mask).scenes == 3


def test_a_pair_is_on_stage_together_under_either_name(story: Story, play: Play) -> None:
    """From the merge on; before it in the scenes of the one name alone."""
    _stage_both(story, play)
    story.relationships.add(play.person, play.other, "kin", start="1:1")
    story.relationships.add(play.mask, play.other, "kin", start="1:1")
    story.entities.merge(play.person, play.mask, start="4:1")
    shared = [
        story.relationships.get(play.mask, play.other, as_of=as_of).metadata["interaction_count"]
        for as_of in (None, "3:1")
    ]
    assert shared == [3, 2]


def test_who_was_on_stage_under_another_name_is_no_newcomer(story: Story, play: Play) -> None:
    """Of the scene in which the two become one, and of a later one."""
    _stage_both(story, play)
    story.scenes.set_staging("4:1", cast=[play.person])
    story.scenes.set_staging("3:1", cast=[play.other])
    person = story.entities.get(play.person).entity.entity_id
    assert person in [one.entity_id for one in as_part(story, StoryDifferences).of_scene(position="4:1").newcomers]
    story.entities.merge(play.person, play.mask, start="4:1")
    assert person not in [one.entity_id for one in as_part(story, StoryDifferences).of_scene(position="4:1").newcomers]


def _deaths(story: Story, play: Play) -> list[tuple[str, str | None]]:
    notes = story.memories.list(content_types=["note"], as_of="4:1").memories
    return [(memory.chunk.content, memory.chunk.superseded_by) for memory in notes if memory.chunk.slot_type]


@pytest.mark.parametrize(
    ("dead", "start"), variants([("mask", "1:1"), ("person", "2:1"), ("mask", "2:1"), ("person", "1:1")], 2)
)
def test_a_death_of_one_name_is_over_where_the_other_was_staged_later(
    story: Story, play: Play, dead: str, start: str
) -> None:
    """A cast without a place is enough; facts, guessed casts, the note's mark and the answer say so."""
    name = getattr(play, dead)
    other_name = play.mask if dead == "person" else play.person
    story.scenes.set_staging("3:1", cast=[play.other, other_name])
    story.scenes.set_staging("2:1", cast=[play.other])
    story.scenes.set_staging("1:1", cast=[play.other])
    content = {"en": f"{name} is dead.", "zh": f"{name}已经死了。"}[play.language]
    note = story.memories.add(content, start=start)
    assert note.stated is not None
    merged = story.entities.merge(play.person, play.mask, start="4:1")
    assert [(death.content, death.scene) for death in merged.notes.refuted] == [(content, "3:1")]
    assert _deaths(story, play) == [(content, "scene:3:1")]
    state = story.entities.state(play.person, as_of="4:1")
    assert state is not None
    assert "status" not in state.state_data
    prompt = _facts(story, "4:1", play.other, play.mask)
    assert {"en": f"{content} (changed since: [3:1])", "zh": f"{content}（后来有变：[3:1]"}[play.language] in prompt
    story.undo(merged.change.change_id)
    assert _deaths(story, play) == [(content, None)]


def test_a_guess_refutes_no_death_and_an_earlier_sight_neither(story: Story, play: Play) -> None:
    """Text alone has the other name in later scenes; the author has it on stage before the death."""
    story.scenes.set_staging("1:1", cast=[play.other, play.mask])
    content = {"en": f"{play.person} is dead.", "zh": f"{play.person}已经死了。"}[play.language]
    story.memories.add(content, start="2:1")
    merged = story.entities.merge(play.person, play.mask, start="4:1")
    assert merged.notes.refuted == []
    assert _deaths(story, play) == [(content, None)]
    state = story.entities.state(play.person, as_of="4:1")
    assert state is not None
    assert "status" in state.state_data


def test_a_name_stated_of_one_refutes_no_death_of_the_other(story: Story, play: Play) -> None:
    """What is said of the dead, too, shows nobody alive."""
    story.scenes.set_staging("2:1", cast=[play.other])
    story.scenes.set_staging("3:1", cast=[play.other])
    content = {"en": f"{play.mask} is dead.", "zh": f"{play.mask}已经死了。"}[play.language]
    story.memories.add(content, start="2:1")
    called = {"en": f"{play.person} is really called Kit.", "zh": f"{play.person}其实叫阿贵。"}[play.language]
    assert story.memories.add(called, start="3:1").stated is not None
    merged = story.entities.merge(play.person, play.mask, start="4:1")
    assert merged.notes.refuted == []
    state = story.entities.state(play.person, as_of="4:1")
    assert state is not None
    assert "status" in state.state_data


def test_who_is_alive_under_another_name_stays_in_guessed_casts(story: Story, play: Play) -> None:
    """From the merge on; without the merge the dead one is in none."""
    content = {"en": f"{play.person} is dead.", "zh": f"{play.person}已经死了。"}[play.language]
    story.memories.add(content, start="1:1")
    story.scenes.set_staging("2:1", cast=[play.other, play.mask])
    person = story.entities.get(play.person).entity.entity_id
    text = {
        "en": f"{play.person} spoke to {play.other}.",
        "zh": f"{play.person}走进来，说道：“走吧。”{play.other}点了点头。",
    }[play.language]
    story.ingest(text=text, chapter_index=5, scene_index=1)
    assert person not in story.scenes.get("5:1").scene.participants
    story.undo()
    story.entities.merge(play.person, play.mask, start="4:1")
    story.ingest(text=text, chapter_index=5, scene_index=1)
    assert person in story.scenes.get("5:1").scene.participants


@pytest.mark.parametrize("only", [True, False])
def test_a_note_of_listed_knowers_is_listed_by_the_merge(story: Story, play: Play, only: bool) -> None:
    """One that tells more than the identity stays theirs; a disguise that the merge ends is hidden from nobody."""
    story.scenes.set_staging("3:1", cast=[play.other, play.person])
    content = play.identity if only else play.more
    note = story.memories.add(content, start="2:1", known_by=[play.friend, play.mask])
    story.entities.edit(play.person, {}, state={"disguise": play.mask}, start="2:1")
    merged = story.entities.merge(play.person, play.mask, start="4:1")
    listed = [] if only else [(note.note.memory_id, sorted({play.friend, play.person}))]
    assert [(one.memory_id, sorted(one.known_by)) for one in merged.notes.still_hidden] == listed
    context = story.context(4, 1, _plan(play.other, play.mask), pov=play.other)
    hidden_contents = [memory.content for memory in context.hidden.memories] if context.hidden else []
    assert hidden_contents == ([] if only else [content])
    hidden_states = context.hidden.entity_states if context.hidden else []
    assert not any("disguise" in state.state_data for state in hidden_states)


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_merge_ends_the_disguise_that_it_reveals(story: Story, play: Play, *, is_turned: bool) -> None:
    """From there on nobody passes for a name of their own; read before it, the disguise stands."""
    pair = [play.person, play.mask][:: -1 if is_turned else 1]
    story.entities.edit(play.person, {}, state={"disguise": play.mask}, start="2:1")
    story.entities.merge(*pair, start="4:1")
    contexts = [story.context(chapter, 1, _plan(play.other, play.person)) for chapter in (3, 4)]
    disguises = [[state for state in context.entity_states if "disguise" in state.state_data] for context in contexts]
    assert list(map(len, disguises)) == [1, 0]


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_earlier_id_and_a_shared_name_are_the_one_person(story: Story, play: Play, *, is_turned: bool) -> None:
    """From the merge on in every read; before it neither; without a position names are read at the end."""
    story.entities.edit(play.mask, {"alias": "Nix"}, start="1:1")
    kept, gone = [play.person, play.mask][:: -1 if is_turned else 1]
    change = story.entities.merge(kept, gone, start="3:1").change
    names = (change.entity_id, change.other_id, kept, gone, "Nix")
    story.relationships.add(play.friend, play.mask, "师徒", start="2:1")
    for as_of in ("3:1", "4:1"):
        for name in names:
            card = story.entities.get(name, as_of=as_of).entity
            assert (card.entity_id, card.earlier_ids) == (change.entity_id, [change.other_id])
            assert [pair.status for pair in story.relationships.list(name, as_of=as_of)] == ["neutral"]
            assert story.memories.list_about(name, as_of=as_of) is not None
            for pov in ("", play.other, name):
                prompt = story.context(*map(int, as_of.split(":")), _plan(play.other, name), pov=pov).as_prompt()
                [line] = [line for line in prompt.splitlines() if line.startswith(f"- {kept}") and gone in line]
                assert kept in line
    for name in (change.other_id, gone):
        before = story.entities.get(name, as_of="2:1").entity
        assert (before.entity_id, before.earlier_ids) == (change.other_id, [])
        assert kept not in _facts(story, "2:1", play.other, name).replace(play.texts[0], "")
    assert {story.entities.get(name).entity.entity_id for name in (kept, gone, "Nix")} == {change.entity_id}
    assert story.entities.get(change.other_id).entity.entity_id == change.other_id
    assert story.entities.edit("Nix", {}, state={"mood": "calm"}, start="4:1").entity.entity_id == change.entity_id


@pytest.mark.parametrize("is_turned", [False, True])
def test_who_is_kept_from_an_identity_gets_the_one_card_that_they_know(
    story: Story, play: Play, *, is_turned: bool
) -> None:
    """What the other card says stands in the hidden part."""
    for place, who in (("1:1", [play.person, play.other]), ("2:1", [play.mask, play.friend]), ("3:1", [play.mask])):
        story.scenes.set_staging(place, cast=who)
    story.entities.edit(play.person, {"appearance": "scar-on-brow"}, start="1:1")
    story.entities.edit(play.person, {}, state={"status": "hunted-man"}, start="2:1")
    story.entities.edit(play.mask, {}, state={"clothes": "straw-cloak"}, start="2:1")
    story.relationships.add(play.friend, play.person, "sworn-foes", start="2:1")
    story.relationships.add(play.friend, play.mask, "card-players", start="2:1")
    story.memories.add(play.identity, start="4:1", hidden_from=[play.friend])
    story.entities.merge(*[play.person, play.mask][:: -1 if is_turned else 1], start="4:1")
    context = story.context(4, 1, _plan(play.friend, play.mask), pov=play.friend, knowledge="separate")
    known = context.model_copy(update={"hidden": None}).as_prompt()
    assert context.hidden is not None
    hidden = context.as_prompt().removeprefix(known.rstrip())
    for word in ("scar-on-brow", "hunted-man", play.work):
        assert word not in known
        assert word in hidden
    for word in (play.person, "sworn-foes"):
        assert word not in known
    for word in (play.mask, "straw-cloak", "card-players", play.mask_work):
        assert word in known
    prompt = _facts(story, "4:1", play.other, play.mask, pov=play.other)
    assert "scar-on-brow" in prompt
    assert play.person in prompt


@pytest.mark.parametrize("shape", ["{0}", "{0} under a false name"])
def test_a_disguise_is_known_with_the_note_on_who_is_behind_it(story: Story, play: Play, shape: str) -> None:
    """Also where it says the name in free words; without the note it stays hidden."""
    story.scenes.set_staging("3:1", cast=[play.other, play.person])
    note = story.memories.add(play.identity, start="2:1", known_by=[play.friend])
    story.entities.edit(play.person, {}, state={"disguise": shape.format(play.mask)}, start="2:1")

    def is_hidden() -> bool:
        context = story.context(4, 1, _plan(play.other, play.person), pov=play.other)
        states = context.hidden.entity_states if context.hidden else []
        return any("disguise" in state.state_data for state in states)

    before = is_hidden()
    story.knowledge.set(play.other, note.note.memory_id, "knows", start="3:1")
    assert (before, is_hidden()) == (True, False)


def test_a_check_after_the_reveal_lists_what_was_noted_under_the_mask(story: Story, play: Play) -> None:
    """It is of one person: what its words share with the draft stands before newer notes on the other name."""
    wound = {"en": "{0} broke the left wrist.", "zh": "{0}的左手腕骨折了。"}[play.language]
    draft = {"en": "The right wrist of {0} had been broken.", "zh": "{0}的右手腕曾经骨折。"}[play.language]
    story.memories.add(wound.format(play.mask), start="2:1")
    story.entities.merge(play.person, play.mask, start="3:1")
    for number in range(8):
        story.memories.add(f"{play.person} 喜欢第{number}种梨 likes pear number {number}.", start="3:1")
    report = story.check(draft.format(play.person), chapter_index=3, scene_index=1, use_model=False)
    sayings = [saying.text for matter in report.touched for saying in matter.sayings]
    assert wound.format(play.mask) in sayings


def _hidden_contents(story: Story, play: Play, place: str) -> set[str]:
    context = story.context(*map(int, place.split(":")), _plan(play.other, play.person), pov=play.other)
    return {memory.content for memory in context.hidden.memories} if context.hidden else set()


@pytest.mark.parametrize("how", ["told", "known_by", "hidden_from", "hidden_later"])
def test_a_hidden_note_that_tells_more_hides_no_identity(story: Story, play: Play, how: str) -> None:
    """From the merge on the two are one for everybody; the note alone stays hidden, and the merge lists it."""
    _stage_both(story, play)
    story.scenes.set_staging("3:1", cast=[play.other, play.mask])
    story.entities.edit(play.person, {}, state={"disguise": play.mask}, start="1:1")
    story.entities.edit(play.mask, {"appearance": "scar-on-brow"}, start="1:1")
    content = play.told if how == "told" else play.more
    limits: dict[str, Any] = {"known_by": {"known_by": [play.friend]}, "hidden_from": {"hidden_from": [play.other]}}
    note = story.memories.add(content, start="1:2", **limits.get(how, {}))
    merged = story.entities.merge(play.person, play.mask, start="3:1")
    if how == "hidden_later":
        story.knowledge.set(play.other, note.note.memory_id, "hidden", start="4:1")
    else:
        assert [one.memory_id for one in merged.notes.still_hidden] == [note.note.memory_id]
    context = story.context(4, 1, _plan(play.other, play.person), pov=play.other)
    known = context.model_copy(update={"hidden": None}).as_prompt()
    for word in (play.one, play.work, "scar-on-brow", "30"):
        assert word in known
    assert not any(state.believed for state in context.entity_states)
    assert context.left_off is not None
    assert story.entities.get(play.person).entity.entity_id in context.left_off.present
    assert _hidden_contents(story, play, "4:1") == {content}
    assert context.hidden is not None
    assert context.hidden.entity_states == []


@pytest.mark.parametrize("how", ["listed", "kept", "known_by", "hidden_from"])
def test_an_identity_is_limited_from_the_merge_on_alone(story: Story, play: Play, how: str) -> None:
    """A note of nothing else, with whom it leaves out: before the merge it is over with it, after it it holds."""
    content = {"listed": play.listed, "kept": play.kept}.get(how, play.identity)
    limits: dict[str, Any] = {"known_by": {"known_by": [play.friend]}, "hidden_from": {"hidden_from": [play.other]}}
    note = story.memories.add(content, start="1:1", **limits.get(how, {}))
    assert content not in {one.content for one in story.knowledge.list(play.other, as_of="3:1").known}
    merged = story.entities.merge(play.person, play.mask, start="3:1")
    assert ([one.memory_id for one in merged.notes.shown], merged.notes.still_hidden) == ([note.note.memory_id], [])
    assert play.one in _facts(story, "4:1", play.other, play.person, pov=play.other)
    assert content not in _hidden_contents(story, play, "4:1")
    story.undo(merged.change.change_id)
    story.memories.delete(note.note.memory_id)
    note = story.memories.add(content, start="3:1", **limits.get(how, {}))
    merged = story.entities.merge(play.person, play.mask, start="3:1")
    assert ([one.memory_id for one in merged.notes.still_hidden], merged.notes.shown) == ([note.note.memory_id], [])
    context = story.context(4, 1, _plan(play.other, play.person), pov=play.other)
    assert play.one not in context.model_copy(update={"hidden": None}).as_prompt()
    assert content in _hidden_contents(story, play, "4:1")


def test_without_a_position_a_card_has_the_fields_of_both(story: Story, play: Play) -> None:
    """By a name of either, and the id of the person; the earlier id alone has its own card."""
    earlier = story.entities.get(play.mask).entity
    change = story.entities.merge(play.person, play.mask, start="3:1").change
    for name in (play.person, play.mask, change.entity_id):
        card = story.entities.get(name).entity
        assert card == story.entities.get(name, as_of="5:1").entity
        assert (card.profile["occupation"], card.profile["age"]) == (play.work, "30")
        assert (card.revealed_names, card.earlier_ids) == ([play.mask], [change.other_id])
    own = story.entities.get(change.other_id).entity
    assert (own.entity_id, own.profile["occupation"]) == (earlier.entity_id, play.mask_work)
    story.entities.edit(play.mask, {"age": "31"})
    assert story.entities.get(play.person).entity.profile["age"] == "31"
