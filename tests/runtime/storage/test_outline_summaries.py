"""Chapter summaries as the outline reads them."""

from __future__ import annotations

import pytest

from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.database import DatabaseManager
from runtime.storage.outline import MAX_CHAPTERS
from runtime.storage.records import SceneWrite
from tests.runtime.storage.stories import at, record, scene, store


def told(chapter: int, number: int) -> SceneWrite:
    """Return a scene with one key event."""
    return scene(chapter, number, record=record(chapter, number, key_events=[f"Event {chapter}:{number}"]))


def summed_up(database: DatabaseManager, as_of: StoryPosition) -> dict[int, str]:
    """Return the summaries by chapter."""
    with database.project("demo").read() as unit:
        outline = unit.outline(as_of=as_of)
    return {each.chapter_index: each.summary for each in outline.chapter_summaries}


@pytest.mark.parametrize(
    ("as_of", "summaries"),
    [
        (at(1, 2), {}),
        (at(2), {1: "Event 1:1. Event 1:2."}),
        (at(2, 9), {1: "Event 1:1. Event 1:2."}),
        (END_OF_STORY, {1: "Event 1:1. Event 1:2.", 2: "Event 2:1."}),
    ],
)
def test_only_chapters_that_are_over_are_summed_up(
    database: DatabaseManager, as_of: StoryPosition, summaries: dict[int, str]
) -> None:
    """A chapter is summed up from the next one on, whatever is stored of it."""
    store(database, told(1, 1), told(1, 2), told(2, 1))
    assert summed_up(database, as_of) == summaries


def test_later_scenes_change_no_summary(database: DatabaseManager) -> None:
    """What is stored after a position, in its own chapter too, leaves the outline as it was."""
    store(database, told(1, 1), told(2, 1))
    before = summed_up(database, at(2, 2))
    store(database, told(2, 2), told(2, 3), told(3, 1))
    assert summed_up(database, at(2, 2)) == before == {1: "Event 1:1."}


def test_the_chapters_of_the_part_that_goes_on_are_summed_up_oldest_first(database: DatabaseManager) -> None:
    """Of a part that is over only the chapters just before are told each by itself."""
    store(database, *(told(chapter, 1) for chapter in range(1, 16)))
    assert list(summed_up(database, at(7))) == [1, 2, 3, 4, 5, 6]
    assert list(summed_up(database, at(11))) == [8, 9, 10]
    assert list(summed_up(database, at(14))) == [11, 12, 13]
    assert list(summed_up(database, END_OF_STORY)) == [11, 12, 13, 14, 15]


def test_of_a_very_long_part_only_the_last_chapters_are_read(database: DatabaseManager) -> None:
    """What a context has no room for is not looked up."""
    store(database, *(told(chapter, 1) for chapter in range(1, 16)))
    with database.project("demo").read() as unit:
        summaries = unit.outline(as_of=at(16), chapters_per_part=100).chapter_summaries
    assert [each.chapter_index for each in summaries] == list(range(16 - MAX_CHAPTERS, 16))


def test_scenes_without_records_have_no_summary(database: DatabaseManager) -> None:
    """Nothing is made up for a chapter of which only the text is known."""
    store(database, scene(1, 1), told(2, 1))
    assert summed_up(database, END_OF_STORY) == {2: "Event 2:1."}
