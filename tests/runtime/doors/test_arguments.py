"""What doors take as an argument: bounds that hold, and no number for yes or no."""

import re
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


@pytest.mark.parametrize(
    ("operation", "arguments", "said"),
    [
        ("add_note", {"text": "It rains."}, "there is no argument 'text'; content is missing; there are: content,"),
        ("edit_memory", {"id": "M001", "content": "x"}, "there is no argument 'id'; memory_id is missing"),
        ("add_note", {"content": "x", "attached": ["Ines"]}, "no argument 'attached'; did you mean 'attached_to'?"),
        ("build_chunk_context", {"text": "x", "chapter": 2}, "no argument 'chapter'; there are: text, chapter_index"),
    ],
)
def test_a_wrong_name_is_told_the_right_ones(operation: str, arguments: dict[str, Any], said: str) -> None:
    """The next call can be right: what is missing and what there is stands in the error."""
    with pytest.raises(InvalidRequestError, match=re.escape(said)):
        read_arguments(arguments_of(BY_NAME[operation].function), arguments)


def test_names_count_whatever_their_case() -> None:
    """Seed 003 writes attachedTo; two spellings of one name are refused."""
    model = arguments_of(BY_NAME["add_note"].function)
    assert read_arguments(model, {"content": "x", "attachedTo": ["Ines"]})["attached_to"] == ["Ines"]
    with pytest.raises(InvalidRequestError, match="there is no argument 'attachedTo'"):
        read_arguments(model, {"content": "x", "attachedTo": ["Ines"], "attached_to": ["Ada"]})
