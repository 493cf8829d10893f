"""Threads as an author keeps them."""

from __future__ import annotations

import pytest

from novelgen.errors import UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.ingest.ingest import ingest_scenes
from runtime.services.threads import (
    abandon_thread,
    add_thread,
    advance_thread,
    due_threads,
    edit_thread,
    get_thread,
    list_threads,
    resolve_thread,
)
from runtime.stores import MemoryStores
from tests.runtime.story_tools.guild_story import scene


def test_a_thread_is_planted_moved_and_ended(stores: MemoryStores, project: str) -> None:
    """Each step returns the thread as it stands then, and holds from its place on."""
    planted = add_thread(
        stores,
        project,
        description="Who lit the lamp?",
        characters=["Elena Thorne"],
        start=StoryPosition(2, 1),
    )
    assert (planted.status, planted.related_entities, planted.scene_index) == ("open", ["C0"], 2)
    moved = advance_thread(stores, project, thread_id=planted.loop_id, note="a second light")
    assert moved.status == "advanced"
    ended = resolve_thread(stores, project, thread_id=planted.loop_id, summary="Elena did")
    assert (ended.status, ended.resolution_summary) == ("resolved", "Elena did")
    assert get_thread(stores, project, thread_id=planted.loop_id, as_of=StoryPosition(2, 1)).status == "open"
    assert planted.loop_id not in [each.loop_id for each in list_threads(stores, project)]


def test_due_threads_come_by_weight_and_age(stores: MemoryStores, project: str) -> None:
    """The weightiest of one age comes first, and no more come than were asked for."""
    add_thread(stores, project, description="A small thing", importance="low", start=StoryPosition(1, 2))
    critical = add_thread(
        stores, project, description="A great thing", importance="critical", start=StoryPosition(1, 2)
    )
    assert [each.loop_id for each in due_threads(stores, project, limit=1)] == [critical.loop_id]


def test_what_does_not_wait_cannot_end(stores: MemoryStores, project: str) -> None:
    """The threads that do wait are named."""
    abandon_thread(stores, project, thread_id="OL0", summary="dropped")
    with pytest.raises(UserInputError, match="no thread 'OL0' is open; open are none"):
        resolve_thread(stores, project, thread_id="OL0", summary="x")
    with pytest.raises(UserInputError, match="no thread 'OL7' is planted"):
        advance_thread(stores, project, thread_id="OL7", note="x")


def test_notes_are_the_authors_and_in_no_context(stores: MemoryStores, project: str) -> None:
    """Seed 000.10: notes and the moment of planting are listed and can be set; what readers are given has neither."""
    planted = add_thread(stores, project, description="Who lit the lamp?", notes="Marcus, in chapter 9")
    assert planted.created_at is not None
    (noted,) = [each for each in list_threads(stores, project) if each.loop_id == planted.loop_id]
    assert (noted.notes, noted.created_at) == ("Marcus, in chapter 9", planted.created_at)
    assert edit_thread(stores, project, thread_id=planted.loop_id, notes="").notes == ""
    with stores.database(project).read() as unit:
        told = unit.threads.get(planted.loop_id)
        outline = unit.outline(as_of=END_OF_STORY)
    assert told is not None
    assert "notes" not in told.model_dump()
    assert not any("notes" in each.model_dump() for each in outline.open_loops)


def test_what_an_author_says_of_a_recorded_thread_survives_its_scene(
    stores: MemoryStores, project: str
) -> None:
    """Seed 000.10: a record that plants the thread again does not take notes, weight and description back."""
    stored = get_thread(stores, project, thread_id="OL0")
    edited = edit_thread(
        stores, project, thread_id="OL0", description="Where does it lead?", importance="critical", notes="n"
    )
    assert (edited.chapter_index, edited.scene_index, edited.created_at) == (1, 1, stored.created_at)
    changed = scene(1, 1).model_copy(update={"text": "Elena Thorne broke into the Archive. It was dark."})
    ingest_scenes(stores, project, [changed], index=False)
    again = get_thread(stores, project, thread_id="OL0", as_of=StoryPosition(1, 2))
    assert (again.description, again.importance, again.notes) == ("Where does it lead?", "critical", "n")
    edit_thread(stores, project, thread_id="OL0", notes="m")
    with stores.database(project).read() as unit:
        assert len([each for each in unit.exchange.contents().loop_events if each.loop_id == "OL0"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [({}, "nothing to change"), ({"description": " "}, "the description is empty")],
)
def test_a_thread_is_not_described_by_nothing(
    stores: MemoryStores, project: str, changes: dict[str, str], message: str
) -> None:
    """What would change nothing, or leave no question, is refused, and so is a thread that nobody planted."""
    with pytest.raises(UserInputError, match=message):
        edit_thread(stores, project, thread_id="OL0", **changes)
    with pytest.raises(UserInputError, match="no thread 'OL9' is planted"):
        edit_thread(stores, project, thread_id="OL9", notes="x")
