"""What doors take as an argument: bounds that hold, and no number for yes or no."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from novelgen.errors import InvalidRequestError
from novelgen.models.position import GREATEST_INDEX, StoryPosition
from runtime.doors.arguments import arguments_of, moment, read_arguments
from runtime.doors.operations import BY_NAME


@pytest.mark.parametrize(
    ("operation", "arguments", "said"),
    [
        ("consolidate_memories", {"dry_run": 0}, "dry_run takes true or false, not 0"),
        ("search_story_memory", {"query": "key", "min_relevance": False}, "min_relevance takes a number, not False"),
        ("search_story_memory", {"query": "key", "top_k": True}, "top_k takes a number, not True"),
        ("search_story_memory", {"query": "key", "as_of": "1000001"}, "as_of"),
        ("tell_world_event", {"content": "Fire!", "delay": 3_000_000_000}, "delay"),
        ("edit_memory", {"memory_id": "M001", "attached_to": ["Ines"] * 101}, "attached_to"),
        ("check_draft", {"text": "a" * 100_001, "chapter_index": 1, "scene_index": 1}, "text"),
    ],
)
def test_what_is_out_of_bounds_is_refused(operation: str, arguments: dict[str, Any], said: str) -> None:
    """What no method could take is refused by the argument's name."""
    model = arguments_of(BY_NAME[operation].function, BY_NAME[operation].without)
    with pytest.raises(InvalidRequestError, match=said):
        read_arguments(model, arguments)


@pytest.mark.parametrize("text", [f"{GREATEST_INDEX}", f"{GREATEST_INDEX}:{GREATEST_INDEX}", "0:0", "12"])
def test_every_position_that_is_documented_is_taken(text: str) -> None:
    """The documented form of a position and the bounds of the story are one."""
    model = arguments_of(BY_NAME["search_story_memory"].function)
    chapter, _, scene = text.partition(":")
    as_of = read_arguments(model, {"query": "key", "as_of": text})["as_of"]
    assert as_of == StoryPosition(int(chapter), int(scene) if scene else None)


def test_a_point_in_time_without_a_zone_is_utc() -> None:
    """A moment may be a time of day in place of session and turn."""
    assert moment("2031-03-01T18:00") == datetime(2031, 3, 1, 18, tzinfo=UTC)
    assert moment("2:5") == (2, 5)


def test_a_delay_is_a_time_or_a_number_of_turns() -> None:
    """A number has its bounds, and a time is not held against them."""
    model = arguments_of(BY_NAME["tell_world_event"].function)
    read = read_arguments(model, {"content": "Fire!", "delay": "P120D", "delay_per_distance": 2})
    assert (read["delay"], read["delay_per_distance"]) == (timedelta(days=120), 2)
