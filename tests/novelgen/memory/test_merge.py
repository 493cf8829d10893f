"""Merging the records of a scene's windows, and telling the loops of a scene that was read anew from new ones."""

import pytest

from novelgen.memory.merge import MAX_KEY_EVENTS, known_loop_ids, loops_said_again, merge_records, with_loops_said_again
from novelgen.models.record import RecordedLoop, RecordedMemory, RecordedRelationshipChange, SceneRecord
from novelgen.models.state import OpenLoop
from tests.novelgen.memory.record_parts import changed, memory, record


def test_the_scene_is_what_the_first_window_that_knows_says() -> None:
    """Presence adds up; the summary is cut evenly, with the first and the last bullet and no repeats."""
    first = record(story_time="night", characters_present=["C0"])
    second = record(title="Later", location_id="L1", story_time="dawn", characters_present=["C1", "C0"])
    merged = merge_records([first, second], max_bullets=5)
    assert (merged.title, merged.location_id, merged.story_time) == ("Later", "L1", "night")
    assert merged.characters_present == ["C0", "C1"]
    windows = [record(summary=[f"bullet {number}", "again"], key_events=["e" * number]) for number in range(1, 13)]
    merged = merge_records(windows, max_bullets=4)
    assert merged.summary == ["bullet 1", "bullet 4", "bullet 8", "bullet 12"]
    assert len(merged.key_events) == MAX_KEY_EVENTS


LANTERN = "Ada gave the brass lantern to Cornelius."


@pytest.mark.parametrize(
    "again",
    [
        memory("b", "Ada gave Cornelius the brass lantern.", entities=["C0"], importance=8),
        memory("b", "ada gave the brass  lantern to cornelius.", event_type="gift", importance=8),
    ],
)
def test_a_fact_told_twice_is_kept_once_the_weightier(again: RecordedMemory) -> None:
    """The overlap of windows does not double memories, whether told in other words or alike."""
    first = record(memories=[memory("a", LANTERN, entities=["C0", "C1"], importance=5)])
    second = record(memories=[again, memory("d", "Ben sold the lamp.", entities=["C1"])])
    assert [each.memory_id for each in merge_records([first, second], max_bullets=5).memories] == ["b", "d"]
    assert [each.memory_id for each in merge_records([second, first], max_bullets=5).memories] == ["b", "d"]


def test_within_a_window_likeness_is_no_repeat() -> None:
    """What one answer tells apart stays apart; only an equal content is a repeat."""
    alike = [
        memory("a", LANTERN, entities=["C0"]),
        memory("b", "Ada gave Cornelius the brass lantern key.", entities=["C0"]),
        memory("c", LANTERN.upper(), entities=["C0"]),
    ]
    merged = merge_records([record(memories=alike)], max_bullets=5)
    assert [each.memory_id for each in merged.memories] == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            memory("a", "Ada gave the brass lantern to Cornelius."),
            memory("b", "Ada gave Cornelius the brass lantern.", event_type="gift"),
        ),
        (
            memory("a", "Ada hid the brass lantern below deck.", entities=["C0"]),
            memory("b", "Ben hid the brass lantern below deck.", entities=["C1"]),
        ),
        (memory("a", "Ada trusts Ben.", entities=["C0"]), memory("b", "Ada trusts Cornelius.", entities=["C0"])),
        (memory("a", "阿黛把钥匙交给阿本。"), memory("b", "阿本把灯卖给了索恩。")),
    ],
)
def test_other_facts_stay(one, other) -> None:  # type: ignore[no-untyped-def]
    """Another event type, other entities or other words make another fact."""
    merged = merge_records([record(memories=[one]), record(memories=[other])], max_bullets=5)
    assert len(merged.memories) == 2


def test_the_later_windows_word_wins() -> None:
    """Each attribute once with its own evidence; dimensions that only the earlier one moved stay moved."""
    first = record(state_changes=[changed("C0", status="hidden", goals=["flee"])])
    second = record(state_changes=[{"entity_id": "C0", "changes": {"status": "caught"}, "evidence": "caught"}])
    merged = merge_records([first, second], max_bullets=5)
    assert [(each.changes, each.evidence) for each in merged.state_changes] == [
        ({"status": "caught"}, "caught"),
        ({"goals": ["flee"]}, None),
    ]
    first = RecordedRelationshipChange(
        character_a="C0", character_b="C1", status="tense", dimensions={"trust": 5, "fear": 3}
    )
    second = RecordedRelationshipChange(character_a="C1", character_b="C0", status="broken", dimensions={"trust": -10})
    merged = merge_records([record(relationship_changes=[first]), record(relationship_changes=[second])], max_bullets=5)
    [change] = merged.relationship_changes
    assert (change.status, change.dimensions) == ("broken", {"trust": -10, "fear": 3})


def test_loops_are_counted_once_and_an_end_outweighs_a_move() -> None:
    """A thread planted in the overlap is one; what ends in the scene did not merely move."""
    first = record(
        open_loops_created=[{"id": "new-loop-1", "description": "Who rang?"}],
        open_loops_advanced=[{"id": "OL1", "note": "a hint"}, {"id": "OL2", "note": "a hint"}],
    )
    second = record(
        open_loops_created=[{"id": "new-loop-2", "description": "who  rang?"}],
        open_loops_resolved=[{"id": "OL1", "resolution_summary": "it was Ben"}],
    )
    merged = merge_records([first, second], max_bullets=5)
    assert [loop.id for loop in merged.open_loops_created] == ["new-loop-1"]
    assert [loop.id for loop in merged.open_loops_advanced] == ["OL2"]
    assert [loop.id for loop in merged.open_loops_resolved] == ["OL1"]


def loops(**descriptions: str) -> list[RecordedLoop]:
    """Return loops by id."""
    return [RecordedLoop(id=name, description=text) for name, text in descriptions.items()]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Will Tom return the lamp?", "will Tom  return the LAMP?"),
        ("Will Tom Hale return the borrowed lamp on Friday?", "Tom has to return the borrowed lamp to Mary."),
        ("阿雀答应把钥匙还给青荇", "青荇等着阿雀把钥匙还给她"),
        ("谁?", "谁?"),
    ],
)
def test_a_loop_that_is_told_anew_keeps_its_id(before: str, now: str) -> None:
    """Case and spacing do not count, and half of the words are enough, in both languages."""
    assert known_loop_ids(loops(OL3=before), loops(new1=now)) == {"new1": "OL3"}


def test_the_likest_are_matched_first_and_each_once() -> None:
    """Two new tellings never share one old id, and a scene without loops, before or now, has nothing to keep."""
    before = loops(OL1="Will Tom return the borrowed lamp?", OL2="Who stole the silver bell?")
    now = loops(
        a="Tom should return that borrowed lamp before winter comes.",
        b="Will Tom return the borrowed lamp?",
        c="Somebody stole the silver bell.",
    )
    assert known_loop_ids(before, now) == {"b": "OL1", "c": "OL2"}
    assert known_loop_ids([], loops(a="Who?")) == known_loop_ids(loops(OL1="Who?"), []) == {}


@pytest.mark.parametrize(
    ("known", "created", "is_same"),
    [
        ("Will Tom Hale return the lamp on Friday?", "Will Tom Hale return the lamp by Friday?", True),
        ("阿雀答应把钥匙还给青荇", "阿雀答应把钥匙还给青荇。", True),
        ("Will Tom Hale return the lamp on Friday?", "Will Tom Hale sell the lamp to the pedlar?", False),
        ("谁割断了钟绳", "阿雀答应把钥匙还给青荇", False),
    ],
)
def test_a_thread_that_is_opened_again_is_moved(known: str, created: str, is_same: bool) -> None:
    """Two scenes that were read side by side may open one thread in nearly the same words; another stays another."""
    opened = loops(new1=created)
    matched = loops_said_again(opened, [OpenLoop(loop_id="OL4", category="", description=known)])
    assert matched == ({"new1": "OL4"} if is_same else {})
    given = [loop.model_copy(update={"id": matched.get(loop.id, "OL5")}) for loop in opened]
    record = SceneRecord(chapter_index=2, scene_index=1, open_loops_created=given)
    moved = with_loops_said_again(record, {"OL4"})
    assert [loop.id for loop in moved.open_loops_created] == ([] if is_same else ["OL5"])
    assert [(loop.id, loop.note) for loop in moved.open_loops_advanced] == ([("OL4", created)] if is_same else [])
