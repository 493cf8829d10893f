"""Threads as an author keeps them."""

from __future__ import annotations

import pytest

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from runtime.services.threads import (
    abandon_thread,
    add_thread,
    advance_thread,
    due_threads,
    get_thread,
    list_threads,
    resolve_thread,
)
from runtime.stores import MemoryStores


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
