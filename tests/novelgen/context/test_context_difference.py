"""Comparing two contexts of one planned scene."""

from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.context_difference import compare_contexts
from novelgen.context.rendering import SECTION_ORDER
from novelgen.models.context import (
    ContextItem,
    ContextReport,
    Form,
    PlannerReport,
    ReportIssue,
    SceneMemoryContext,
    ToldBefore,
)
from novelgen.models.state import EntityStateSnapshot
from tests.support.stories import NOW, PROJECT, lighthouse_memory, lighthouse_request, memory

KEY = memory("M1", "Ada hid the brass key under the third stair.", 1, 1, "C0", "I0")
PROMISE = memory("M2", "Ben promised to keep the lamp burning.", 1, 2, "C1")


def state(entity_id: str, **attributes: Any) -> EntityStateSnapshot:
    """Return a character's state."""
    return EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id=entity_id, timestamp=NOW, state_data=attributes
    )


def context(
    *,
    states: list[EntityStateSnapshot] | None = None,
    memories: list[tuple[Any, Form, str]] | None = None,
    timeline: dict[str, Any] | None = None,
    **report: Any,
) -> SceneMemoryContext:
    """Return a context of scene 2:2 with these parts; memories as (chunk, form, text)."""
    items = [
        ContextItem(chunk_id=chunk.chunk_id, form=form, text=text, tokens=1, prompt_index=index)
        for index, (chunk, form, text) in enumerate(memories or [])
    ]
    return SceneMemoryContext(
        project_id=PROJECT,
        chapter_index=2,
        scene_index=2,
        entity_states=states or [],
        relevant_memories=[chunk for chunk, _, _ in memories or []],
        timeline_context=timeline,
        retrieval_timestamp=NOW,
        report=ContextReport(items=items, **report),
    )


def loop(loop_id: str = "OL0", **changes: Any) -> dict[str, Any]:
    """Return an open thread as the timeline has it."""
    return {"loop_id": loop_id, "description": "the lamp", "chapter_index": 1, "age_scenes": 2, **changes}


def test_what_a_writer_is_not_told_is_no_change() -> None:
    """Timings, a thread that only grew older and a value that came to be proven tell nothing."""
    chain = MemoryContextChain(lighthouse_memory())
    was, now = chain.invoke(lighthouse_request()), chain.invoke(lighthouse_request())
    assert was.relevant_memories
    assert was.timeline_context
    assert compare_contexts(was, now).is_empty
    was, now = (context(timeline={"open_loops": [loop(age_scenes=age)]}) for age in (2, 3))
    assert compare_contexts(was, now).is_empty
    doubtful = state("C0", mood="calm").model_copy(update={"unverified": ["mood"]})
    entry = {"entity_id": "C1", "chapter_index": 1, "state_data": {"mood": "calm"}}
    was = context(states=[doubtful], timeline={"snapshots": [entry | {"unverified": ["mood"]}]})
    now = context(states=[state("C0", mood="calm")], timeline={"snapshots": [entry]})
    assert compare_contexts(was, now).is_empty


def test_states_are_told_attribute_by_attribute() -> None:
    """Only what differs is told, with what was and what is; entities that came and went say so."""
    was = context(states=[state("C0", mood="calm", place="L0"), state("C1", mood="glad")])
    now = context(states=[state("C2", mood="grim"), state("C0", mood="angry", goal="key", place="L0")])
    told = [
        (each.entity_id, each.change, [(one.attribute, one.was, one.now) for one in each.attributes])
        for each in compare_contexts(was, now).states
    ]
    assert told == [
        ("C2", "in", [("mood", None, "grim")]),
        ("C0", "changed", [("mood", "calm", "angry"), ("goal", None, "key")]),
        ("C1", "out", [("mood", "glad", None)]),
    ]


@pytest.mark.parametrize(
    ("was", "now", "change"),
    [
        ([], [(KEY, "full", "the key")], "in"),
        ([(KEY, "full", "the key")], [], "out"),
        ([(KEY, "full", "the key is hidden")], [(KEY, "short", "the key")], "form"),
        ([(KEY, "full", "the key")], [(KEY, "full", "the iron key")], "text"),
    ],
)
def test_memories_come_go_and_change_their_form(
    was: list[tuple[Any, Form, str]], now: list[tuple[Any, Form, str]], change: str
) -> None:
    """Each way in which a memory can differ has its name; a memory that stayed is not told."""
    kept: list[tuple[Any, Form, str]] = [(PROMISE, "full", "the lamp")]
    (told,) = compare_contexts(context(memories=kept + was), context(memories=now + kept)).memories
    assert (told.memory_id, told.change, told.chapter_index, told.scene_index) == ("M1", change, 1, 1)
    assert (told.was.text if told.was else None) == (was[0][2] if was else None)
    assert (told.now.text if told.now else None) == (now[0][2] if now else None)


def test_a_reworded_memory_is_the_same_memory() -> None:
    """Whatever its chunk_id; a source id that another scene uses, too, is another memory."""
    reworded = KEY.model_copy(update={"chunk_id": "k-other", "content": "Ada hid the iron key."})
    was, now = context(memories=[(KEY, "full", "brass")]), context(memories=[(reworded, "full", "iron")])
    assert [(each.memory_id, each.change) for each in compare_contexts(was, now).memories] == [("M1", "text")]
    elsewhere = KEY.model_copy(update={"chunk_id": "k-2", "scene_index": 2})
    nameless = PROMISE.model_copy(update={"source_id": None})
    was = context(memories=[(KEY, "full", "a"), (elsewhere, "full", "b"), (nameless, "full", "c")])
    told = compare_contexts(was, context(memories=[(KEY, "full", "a")])).memories
    assert [(each.memory_id, each.scene_index) for each in told] == [("M1", 2), ("k-M2", 2)]


def test_timeline_entries_come_go_and_tell_otherwise() -> None:
    """An entry is known by what it is of, one of the story so far by its place; what it costs does not count."""
    place = {"level": "scene", "first_chapter": 1, "chapter_index": 1, "scene_index": 1}
    hid, lost = (ToldBefore(**place, text=text, tokens=4) for text in ("Ada hides the key.", "Ada loses the key."))
    was = context(timeline={"open_loops": [loop(), loop("OL1")]}).model_copy(update={"story_so_far": [hid]})
    now = context(timeline={"open_loops": [loop(description="the lamp is out")]})
    now = now.model_copy(update={"story_so_far": [lost]})
    told = [(each.section, each.change, each.was, each.now) for each in compare_contexts(was, now).timeline]
    assert told == [
        ("story_so_far", "changed", hid.model_dump(), lost.model_dump()),
        ("open_loops", "changed", loop(), loop(description="the lamp is out")),
        ("open_loops", "out", loop("OL1"), None),
    ]


@pytest.mark.parametrize("section", SECTION_ORDER)
def test_entries_of_every_section_are_compared(section: str) -> None:
    """Whatever sections a timeline has, what is new in one is told."""
    entry = {"chapter_index": 1, "first_chapter": 1, "summary": "She came."}
    (told,) = compare_contexts(context(), context(timeline={section: [entry]})).timeline
    assert (told.section, told.change, told.now) == (section, "in", entry)


def test_changes_of_one_entity_in_two_chapters_are_two() -> None:
    """Each chapter in which an entity changed has an entry of its own, and each is compared with its like."""

    def changes(*moods: str) -> SceneMemoryContext:
        entries = [
            {"entity_id": "C0", "chapter_index": chapter, "scene_index": 1, "state_data": {"mood": mood}}
            for chapter, mood in enumerate(moods, start=1)
        ]
        return context(timeline={"snapshots": entries})

    (told,) = compare_contexts(changes("calm", "glad"), changes("grim", "glad")).timeline
    assert (told.change, told.was["chapter_index"] if told.was else None) == ("changed", 1)


def test_sections_that_come_and_the_tokens_of_both_are_told() -> None:
    """Null and a section are nothing and something, and neither context is changed by it."""
    difference = compare_contexts(context(timeline=None), context(timeline={"open_loops": [loop()]}))
    assert [each.change for each in difference.timeline] == ["in"]
    difference = compare_contexts(context(tokens={"memories": 2}), context(tokens={"memories": 3}))
    assert (difference.tokens_was, difference.tokens_now) == ({"memories": 2}, {"memories": 3})
    was, now = context(states=[state("C0", mood="calm")]), context(memories=[(KEY, "full", "x")])
    before = (was.model_dump(), now.model_dump())
    compare_contexts(was, now)
    assert (was.model_dump(), now.model_dump()) == before


def test_versions_planners_names_and_issues_are_told() -> None:
    """What failed in the later context is passed on, since it may be why something is gone."""
    issue = ReportIssue(stage="semantic", kind="unavailable", message="the index is down")
    was = context(story_version="aa", names={"C0": "Ada", "C1": "a stranger"})
    now = context(story_version="bb", planner=PlannerReport(used="llm"), names={"C1": "Ben"}, issues=[issue])
    difference = compare_contexts(was, now)
    assert (difference.story_version_was, difference.story_version_now) == ("aa", "bb")
    assert (difference.planner_was.used, difference.planner_now.used) == ("rules", "llm")
    assert difference.names == {"C0": "Ada", "C1": "Ben"}
    assert difference.issues == [issue]
    assert difference.is_empty


def test_what_moved_among_the_best_is_told_beside() -> None:
    """Ranks are those among what stayed, so that what comes in moves nobody; a writer is told the same."""
    new = memory("M3", "The lamp went out.", 1, 3, "C0")
    was = context(memories=[(KEY, "full", "key"), (PROMISE, "full", "promise")], tokens={"memories": 2})
    pushed = context(
        memories=[(new, "full", "lamp"), (KEY, "full", "key"), (PROMISE, "full", "promise")], tokens={"memories": 3}
    )
    assert compare_contexts(was, pushed).moves == []
    turned = context(memories=[(PROMISE, "full", "promise"), (KEY, "full", "key")])
    difference = compare_contexts(was, turned)
    assert [(each.memory_id, each.rank_was, each.rank_now) for each in difference.moves] == [("M2", 2, 1), ("M1", 1, 2)]
    assert difference.is_empty
