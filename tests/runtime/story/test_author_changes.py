"""What an author changes in memories and scenes: confirming, proving, editing texts and records, and taking it back."""

from collections.abc import Callable
from typing import Any

import pytest

from novelgen.errors import UnknownEntityError, UnknownSceneError, UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.words.messages import message_in
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.base import as_part
from runtime.story.memories import StoryMemories
from runtime.story.scene_reading import EstablishedFact, ReadScene, StorySceneStates
from runtime.story.scenes import StoryRecordFiles
from runtime.story.story import Story

pytestmark = pytest.mark.usefixtures("unindexed_edits")

PLACE = StoryPosition(90, 1)
TEXT = "Ines came in from the rain. The lamp went out at noon, and nobody lit it again."


@pytest.fixture
def lamp(demo_stores: MemoryStores) -> Story:
    """A scene at the end of a demo whose record, made by a model, has facts of every kind."""
    record = {
        "chapter_index": 90,
        "scene_index": 1,
        "characters_present": ["C0"],
        "summary": ["The lamp goes out."],
        "memories": [
            {"memory_id": "MX1", "content": "The lamp is out.", "entities": ["C0"], "evidence": "The lamp went out"},
            {"memory_id": "MX2", "content": "It rained.", "evidence": "a quote that nobody wrote"},
        ],
        "state_changes": [{"entity_id": "C0", "changes": {"mood": "weary", "status": "wet"}}],
        "relationship_changes": [{"character_a": "C0", "character_b": "C5", "event": "They quarrel."}],
        "open_loops_created": [{"id": "OLX1", "description": "Who put it out?"}],
        "open_loops_advanced": [{"id": "OL1", "note": "The key is warm."}],
        "memories_repeated": [{"memory_id": "M003", "evidence": "nobody lit it again"}],
        "learned": [{"character_id": "C5", "memory_ids": ["M001"], "from_id": "C0", "evidence": "nobody lit it again"}],
    }
    scene = SceneInput(
        chapter_index=90, scene_index=1, text=TEXT, record=SceneRecord.model_validate(record), record_origin="extracted"
    )
    ingest_scenes(demo_stores, "demo", [scene])
    return Story(demo_stores, "demo")


def _read(lamp: Story) -> ReadScene:
    return lamp.scenes.read(position=PLACE)


def _fact(lamp: Story, source_id: str, kind: str = "memory") -> EstablishedFact:
    facts = [*_read(lamp).facts, *_read(lamp).rejected]
    return next(each for each in facts if (each.kind, each.source_id) == (kind, source_id))


def _undone(lamp: Story, change_id: int | None) -> None:
    assert change_id is not None
    lamp.undo(change_id=change_id)


@pytest.mark.slow
def test_a_scene_tells_all_that_its_record_holds(lamp: Story) -> None:
    """States with what was before, pairs, threads, what was learnt from whom and told again: all in names."""
    told = {(each.kind, each.source_id): each for each in _read(lamp).facts}
    assert {kind for kind, _ in told} == {
        "memory",
        "state",
        "relationship",
        "thread_planted",
        "thread_moved",
        "learnt",
        "repeated",
    }
    learnt = told["learnt", "0"]
    assert (learnt.about, learnt.learnt_from, learnt.learnt_how) == ("Sparrow", "Ines Marrow", "told")
    assert "heron" in learnt.text
    assert TEXT[slice(*learnt.span)] == "nobody lit it again"
    assert told["state", "C0.status"].was
    assert told["thread_moved", "OL1"].about == "What does the heron key open?"
    assert told["memory", "MX1"].made_by == "model"
    assert [each.name for each in told["memory", "MX1"].entities] == ["Ines Marrow"]
    assert told["repeated", "0"].text.startswith("Ines promised")


CHANGES: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
    ("confirm", StoryMemories.confirm, {}),
    ("pin", StoryMemories.pin, {}),
    ("ban", StoryMemories.ban, {}),
    ("delete", StoryMemories.delete, {}),
    ("edit", StoryMemories.edit, {"content": "It poured.", "importance": 2, "event_type": "journey"}),
    ("edit", StoryMemories.edit, {"evidence": "from the rain", "attach": ["Sparrow"]}),
]


@pytest.mark.slow
def test_a_change_of_a_memory_is_taken_back(lamp: Story) -> None:
    """Whatever was decided or edited, undoing puts the memory back as it was, and the list says both."""
    for kind, change, told in CHANGES:
        before = _fact(lamp, "MX2")
        changed = change(lamp.memories, memory_id="MX2", **told)
        assert _fact(lamp, "MX2") != before
        listed = lamp.changes.list()[0]
        assert (listed.kind, listed.source_id, listed.position) == (kind, "MX2", "90:1")
        _undone(lamp, changed.change_id)
        assert _fact(lamp, "MX2") == before
        assert lamp.changes.list()[0].undone_at is not None
        with pytest.raises(UserInputError, match="already"):
            lamp.undo(change_id=listed.change_id)


@pytest.mark.slow
def test_what_the_author_says_outranks_a_model(lamp: Story) -> None:
    """A confirmed memory counts as proved and the author's, and stays when its scene is taken in without its record."""
    lamp.memories.confirm(memory_id="MX2")
    confirmed = _fact(lamp, "MX2")
    assert (confirmed.is_verified, confirmed.made_by) == (True, "author")
    ingest_scenes(lamp._stores, "demo", [SceneInput(chapter_index=90, scene_index=1, text=TEXT + " Then it was dark.")])
    assert [each.source_id for each in _read(lamp).facts] == ["MX2"]


@pytest.mark.slow
def test_evidence_must_stand_in_the_scene(lamp: Story) -> None:
    """Words that prove a fact are found in its scene, or refused; an empty text takes them off."""
    with pytest.raises(UserInputError, match="do not stand in scene 90:1"):
        lamp.memories.edit(memory_id="MX1", evidence="The lamp burned")
    lamp.memories.edit(memory_id="MX1", evidence="at noon")
    span = _fact(lamp, "MX1").span
    assert TEXT[slice(*span)] == "at noon"
    lamp.memories.edit(memory_id="MX1", evidence="")
    assert _fact(lamp, "MX1").span is None
    with pytest.raises(UserInputError, match="no kind of event"):
        lamp.memories.edit(memory_id="MX1", event_type="weather")


@pytest.mark.slow
def test_a_noted_fact_stands_at_its_scene(lamp: Story) -> None:
    """A note with words of the scene is read from the next one on, and taking it back rejects it."""
    added = lamp.memories.add(
        content="It was noon.",
        start=StoryPosition(90, 2),
        evidence="at noon",
        event_type="discovery",
        attached_to=["Ines"],
    )
    fact = _fact(lamp, added.note.chunk_id)
    assert (fact.is_note, fact.made_by, fact.event_type) == (True, "author", "discovery")
    assert fact.span is not None
    _undone(lamp, added.change_id)
    assert _fact(lamp, added.note.chunk_id).status == "deleted"
    with pytest.raises(UserInputError, match="any scene"):
        lamp.memories.add(content="It was noon.", evidence="at noon")


@pytest.mark.slow
def test_only_the_last_change_of_a_thing_is_taken_back(lamp: Story) -> None:
    """What was changed again since is not lost by an undo; another side of the same memory is none of that."""
    first = lamp.memories.edit(memory_id="MX1", content="The lamp died.")
    pinned = lamp.memories.pin(memory_id="MX1")
    second = lamp.memories.edit(memory_id="MX1", content="The lamp is dead.")
    with pytest.raises(UserInputError, match="later change"):
        _undone(lamp, first.change_id)
    _undone(lamp, pinned.change_id)
    _undone(lamp, second.change_id)
    _undone(lamp, first.change_id)
    assert _fact(lamp, "MX1").text == "The lamp is out."


@pytest.mark.slow
def test_changes_are_listed_up_to_the_position(lamp: Story) -> None:
    """Of a decision that changes nothing there is none, and of later scenes none is told early."""
    lamp.memories.pin(memory_id="MX1")
    assert lamp.memories.pin(memory_id="MX1").change_id is None
    assert len(lamp.changes.list()) == 1
    with pytest.raises(UserInputError, match="no change 999"):
        lamp.undo(change_id=999)
    lamp.scenes.edit(position=PLACE, title="The lamp")
    lamp.memories.pin(memory_id="M002")
    listed = lamp.changes.list(as_of=StoryPosition(2, 1))
    assert [each.source_id for each in listed] == ["M002"]


NEW_TEXT = "It was late. Ines came in from the rain. The lamp went out at one, and they lit it again."


@pytest.mark.slow
def test_a_new_text_keeps_the_record_and_says_what_lost_its_words(lamp: Story) -> None:
    """Facts follow their words, the author's own among them; without them they are unproved; undo brings all back."""
    lamp.memories.edit(memory_id="MX2", content="It rained on.", evidence="from the rain")
    added = lamp.memories.add(content="Noon.", start=StoryPosition(90, 2), evidence="at noon").note.chunk_id
    before = _read(lamp)
    told = lamp.scenes.preview_text(position=PLACE, text=NEW_TEXT)
    assert (told.quotes, told.lost) == (3, ["Noon."])
    assert _read(lamp) == before
    edited = lamp.scenes.edit(position=PLACE, text=NEW_TEXT)
    assert edited.lost == ["Noon."]
    spans = {each: _fact(lamp, each).span for each in ("MX1", "MX2")}
    assert [NEW_TEXT[slice(*span)] for span in spans.values() if span] == ["The lamp went out", "from the rain"]
    assert (_fact(lamp, added).span, _fact(lamp, added).is_verified) == (None, False)
    _undone(lamp, edited.change_id)
    after = _read(lamp)
    assert after.scene.text == TEXT
    assert after.facts == before.facts


@pytest.mark.slow
def test_a_new_text_may_drop_what_was_read(lamp: Story) -> None:
    """Without its record a scene is text alone, but for what the author said; undo brings the record back."""
    lamp.memories.confirm(memory_id="MX1")
    before = _read(lamp)
    edited = lamp.scenes.edit(position=PLACE, text=NEW_TEXT, record="drop")
    state = as_part(lamp, StorySceneStates).list_states()[-1]
    assert (state.has_record, state.extraction_status, state.facts) == (False, "none", 1)
    _undone(lamp, edited.change_id)
    after = _read(lamp)
    assert (after.facts, after.scene.record_origin) == (before.facts, "extracted")


@pytest.mark.slow
def test_an_edit_that_is_none_changes_nothing(lamp: Story) -> None:
    """The text that is stored, white space around it or not, is no change; an empty one is refused."""
    assert lamp.scenes.edit(position=PLACE, text=f"\n{TEXT}\n").change_id is None
    assert lamp.scenes.preview_text(position=PLACE, text=TEXT).is_same
    with pytest.raises(UserInputError, match="empty"):
        lamp.scenes.edit(position=PLACE, text="  ")
    with pytest.raises(UnknownSceneError):
        lamp.scenes.edit(position=StoryPosition(91, 1), text="Nothing.")


@pytest.mark.slow
def test_a_fact_of_the_record_is_taken_out_and_back(lamp: Story) -> None:
    """One fact goes, all others stay, the record is the author's; undo gives it back to the model."""
    cases: list[tuple[Any, str]] = [
        ("state", "C0.mood"),
        ("relationship", "C0-C5"),
        ("thread_planted", "OLX1"),
        ("thread_moved", "OL1"),
        ("learnt", "0"),
        ("repeated", "0"),
    ]
    for kind, source_id in cases:
        before = _read(lamp).facts
        amended = lamp.scenes.amend_fact(position=PLACE, kind=kind, source_id=source_id)
        assert {(each.kind, each.source_id) for each in before} - {
            (each.kind, each.source_id) for each in _read(lamp).facts
        } == {(kind, source_id)}
        assert as_part(lamp, StorySceneStates).list_states()[-1].record_origin == "author"
        with pytest.raises(UserInputError, match="holds no"):
            lamp.scenes.amend_fact(position=PLACE, kind=kind, source_id=source_id)
        _undone(lamp, amended.change_id)
        assert _read(lamp).facts == before


@pytest.mark.slow
def test_a_fact_of_the_record_is_said_otherwise(lamp: Story) -> None:
    """What has words of its own takes new ones; what was learnt has none, and empty ones are refused."""
    told: dict[str, Any] = {"position": PLACE, "kind": "thread_moved", "source_id": "OL1"}
    lamp.scenes.amend_fact(**told, text="The key is hot.")
    assert _fact(lamp, "OL1", "thread_moved").text == "The key is hot."
    with pytest.raises(UserInputError, match="empty"):
        lamp.scenes.amend_fact(**told, text=" ")
    with pytest.raises(UserInputError, match="no words of its own"):
        lamp.scenes.amend_fact(position=PLACE, kind="learnt", source_id="0", text="glad")


@pytest.mark.slow
def test_the_value_of_a_state_is_changed(lamp: Story) -> None:
    """Words stay words, a list takes one value a line, an id is found by its name; undo gives the old value back."""
    state: dict[str, Any] = {"position": PLACE, "kind": "state"}
    amended = lamp.scenes.amend_fact(**state, source_id="C0.mood", text="glad")
    assert _fact(lamp, "C0.mood", "state").value == "glad"
    assert lamp.scenes.amend_fact(**state, source_id="C0.mood", text="glad").change_id is None
    _undone(lamp, amended.change_id)
    assert _fact(lamp, "C0.mood", "state").value == "weary"
    first: dict[str, Any] = {"position": StoryPosition(1, 1), "kind": "state"}
    lamp.scenes.amend_fact(**first, source_id="C0.goals", text="sleep\nfree Nell by Orla's Night")
    lamp.scenes.amend_fact(**first, source_id="I0.holder", text="Sparrow")
    told = lamp.scenes.read(position=StoryPosition(1, 1))
    changes = {each.entity_id: each.changes for each in told.scene.record.state_changes}
    assert changes["C0"]["goals"] == ["sleep", "free Nell by Orla's Night"]
    assert changes["I0"]["holder"] == "C5"
    assert {each.source_id: each.value for each in told.facts}["I0.holder"] == "Sparrow"


@pytest.mark.slow
def test_a_refused_undo_names_the_later_changes_of_the_scene(lamp: Story) -> None:
    """Of a scene that came, and of one that was edited: their numbers, in either language."""
    lamp.ingest(text="The lamp was lit.", chapter_index=91, scene_index=1)
    came = lamp.changes.list()[0].change_id
    edits = [lamp.scenes.edit(position=(91, 1), title=title).change_id for title in ("The lamp", "Noon")]
    for number, later in ((came, edits), (edits[0], edits[1:])):
        with pytest.raises(UserInputError) as refusal:
            lamp.undo(number)
        numbers = ", ".join(map(str, reversed(later)))
        assert f"changed since change {number}" in str(refusal.value)
        assert str(refusal.value).endswith(f"; changed later by {numbers}")
        assert message_in(str(refusal.value), "zh").endswith(f"；此后由改动 {numbers.replace(', ', '、')} 改过")
    for number in reversed(edits):
        lamp.undo(number)
    lamp.undo(came)


@pytest.mark.slow
def test_of_what_is_gone_nothing_is_taken_back(lamp: Story) -> None:
    """A deleted scene takes its memories along; their changes are listed as gone, and refused."""
    pinned = lamp.memories.pin(memory_id="MX1")
    edited = lamp.scenes.edit(position=PLACE, title="The lamp")
    lamp.scenes.delete(position=PLACE)
    assert [each.is_gone for each in lamp.changes.list()] == [False, True, True]
    for change_id in (pinned.change_id, edited.change_id):
        with pytest.raises(UserInputError, match="gone"):
            _undone(lamp, change_id)


@pytest.mark.slow
def test_a_deleted_scene_comes_back_whole(lamp: Story) -> None:
    """With the author's words on its facts and its notes, where its place is free; names that came since are read."""
    note = lamp.memories.add(content="It was noon.", start=StoryPosition(90, 2), evidence="at noon").note
    lamp.memories.edit(memory_id="MX2", content="It poured.", attach=["Sparrow"])
    lamp.memories.ban(memory_id="MX1")
    before = _read(lamp)
    deleted = lamp.scenes.delete(position=PLACE).change_id
    listed = lamp.changes.list()[0]
    assert (listed.kind, listed.position, listed.is_gone) == ("delete", "90:1", False)
    assert deleted not in [each.change_id for each in lamp.changes.list(as_of=PLACE)]
    _undone(lamp, deleted)
    assert _read(lamp) == before
    assert note.chunk_id in {each.source_id for each in before.facts}

    deleted = lamp.scenes.delete(position=PLACE).change_id
    ingest_scenes(lamp._stores, "demo", [SceneInput(chapter_index=90, scene_index=1, text="Another scene.")])
    with pytest.raises(UserInputError, match="another scene stands at '90:1'"):
        _undone(lamp, deleted)
    lamp.scenes.delete(position=PLACE)
    named = lamp.entities.add("The lamp", kind="item", start=StoryPosition(1, 1)).entity.entity_id
    _undone(lamp, deleted)
    assert _read(lamp).facts == before.facts
    with lamp._stores.database("demo").read() as unit:
        assert (named, 90, 1) in unit.scenes.namings({named: ["The lamp"]}, as_of=END_OF_STORY)


@pytest.mark.slow
def test_a_deleted_scene_waits_for_the_pair_that_it_tells_of(lamp: Story) -> None:
    """Whose relationship was deleted since is told, and comes back before the scene does."""
    lamp.relationships.edit(character_a="C0", character_b="C5", status="close")
    before = _read(lamp)
    deleted = lamp.scenes.delete(position=PLACE).change_id
    pair = lamp.relationships.delete(character_a="C0", character_b="C5").change.change_id
    with pytest.raises(UserInputError, match=r"relationship is gone by now.*undo its deletion or merge first"):
        _undone(lamp, deleted)
    for change_id in (pair, deleted):
        _undone(lamp, change_id)
    assert _read(lamp) == before


@pytest.mark.slow
def test_a_record_that_was_replaced_comes_back(lamp: Story) -> None:
    """An author's whole record goes, and the model's is there again with all that it established."""
    before, states = _read(lamp), as_part(lamp, StorySceneStates).list_states()
    written = SceneRecord(chapter_index=90, scene_index=1, story_time="noon", summary=["It is dark."])
    replaced = as_part(lamp, StoryRecordFiles).replace_record(
        position=PLACE, written=written.model_dump_json(), source_name="record.json"
    )
    assert _read(lamp).summary == ["It is dark."]
    _undone(lamp, replaced.change_id)
    after = _read(lamp)
    assert (after.facts, after.summary, after.scene.story_time) == (before.facts, before.summary, None)
    assert as_part(lamp, StorySceneStates).list_states() == states


@pytest.mark.slow
def test_rejected_memories_and_unfinished_chapters_are_told_apart(lamp: Story) -> None:
    """What is left out or rejected is no fact; a chapter that is not over is not told; no name is meant early."""
    listed = lamp.summaries.list(as_of=StoryPosition(2, 2))
    chapters = {each.number: each for each in listed if each.level == "chapter"}
    assert chapters.keys() == {1, 2}
    assert chapters[1].told
    assert (chapters[2].told, chapters[2].state) == ("", "unfinished")
    late = next(each.name for each in _read(lamp).facts[0].entities or [] if each.entity_id == "C0")
    assert late == "Ines Marrow"
    with pytest.raises(UnknownEntityError):
        lamp.memories.edit(memory_id="MX1", attach=["Ines"], as_of=StoryPosition(1, 1))
    lamp.memories.ban(memory_id="MX1")
    lamp.memories.delete(memory_id="MX2")
    read = _read(lamp)
    assert {each.source_id: each.status for each in read.rejected} == {"MX1": "banned", "MX2": "deleted"}
    assert not [each for each in read.facts if each.kind == "memory"]
