"""What is never consolidated."""

from typing import Any

import pytest

from novelgen.memory.consolidation import DEFAULT_RULES, LiveMemory, protection, score
from novelgen.models.state import OpenLoop
from tests.novelgen.memory.live_stories import chunk, live

LOOP = OpenLoop(
    loop_id="OL1", description="Who?", related_entities=["C0"], chapter_index=1, scene_index=1,
    last_chapter_index=3, last_scene_index=2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""),
        ({"importance": 7}, ""),
        ({"importance": 8}, "importance"),
        ({"tier": "pinned"}, "tier"),
        ({"tier": "important"}, "tier"),
        ({"origin": "author"}, "author"),
        ({"is_consolidated": True}, "consolidated"),
        ({"slot_type": "I1.holder"}, "slot"),
        ({"slot_type": "I1.holder", "superseded_by": "M9"}, ""),
        ({"event_type": "promise_made"}, "unresolved"),
        ({"event_type": "secret_kept"}, "unresolved"),
        ({"event_type": "debt"}, "unresolved"),
        ({"event_type": "promise_made", "superseded_by": "M9"}, ""),
        ({"event_type": "promise_kept"}, ""),
        ({"verified": False}, ""),
    ],
)
def test_what_matters_is_protected(fields: dict[str, Any], why: str) -> None:
    """Weighty, pinned, authors', slots in force and what is owed stay; what is over may go."""
    assert protection(live("M1", 2, 1, **fields), [LOOP], DEFAULT_RULES) == why


def test_what_an_author_touched_has_no_scene_or_an_open_thread_is_protected() -> None:
    """Canon and whole chapters stand behind no scene; of a loop, the scenes that planted or moved it last."""
    assert protection(LiveMemory(chunk("M1"), is_authors=True), [], DEFAULT_RULES) == "author"
    assert protection(live("M1", None, None), [], DEFAULT_RULES) == "no scene"
    assert protection(live("M1", 2, None), [], DEFAULT_RULES) == "no scene"
    assert protection(live("M1", 1, 1), [LOOP], DEFAULT_RULES) == "open loop"
    assert protection(live("M1", 3, 2), [LOOP], DEFAULT_RULES) == "open loop"
    assert protection(live("M1", 1, 1, entities_mentioned=["C9"]), [LOOP], DEFAULT_RULES) == ""
    assert protection(live("M1", 1, 1), [], DEFAULT_RULES) == ""


def test_what_is_over_or_unproven_weighs_less() -> None:
    """The score is the importance, less for what was replaced and for what no quote proves."""
    assert score(chunk("M1", importance=6), DEFAULT_RULES) == 6
    assert score(chunk("M1", importance=6, superseded_by="M2"), DEFAULT_RULES) == 3
    assert score(chunk("M1", importance=6, verified=False), DEFAULT_RULES) == 5
