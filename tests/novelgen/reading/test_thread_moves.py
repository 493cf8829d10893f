"""Which thread a model means."""

from __future__ import annotations

import pytest

from novelgen.models.state import OpenLoop
from novelgen.reading.known_story import meant_thread
from novelgen.reading.model_record import ModelLoopMove

THREADS = [
    OpenLoop(loop_id="OL3", description="Will Tom return the lantern to Mary before Friday?"),
    OpenLoop(loop_id="OL12", description="Who broke the window of the chapel?"),
    OpenLoop(loop_id="new-loop-1", description="阿翎为何隐瞒左手的伤？"),
]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("OL3", "OL3"),
        ("ol12", "OL12"),
        ("OL12 (the window)", "OL12"),
        ("new-loop-1", "new-loop-1"),
        ("Will Tom return the lantern to Mary?", "OL3"),
        ("阿翎为何隐瞒左手的伤", "new-loop-1"),
        ("OL99", None),
        ("Tom and the chapel", None),
        ("", None),
    ],
)
def test_a_thread_is_known_by_its_id_or_its_words(said: str, meant: str | None) -> None:
    """Words count where they are unmistakable; anything else means no thread."""
    assert meant_thread(said, THREADS) == meant


def test_words_that_fit_two_threads_mean_none() -> None:
    """Two threads of almost the same words are not told apart by them."""
    twins = [
        OpenLoop(loop_id="OL1", description="Who killed the steward in the tower?"),
        OpenLoop(loop_id="OL2", description="Who killed the steward in the garden tower?"),
    ]
    assert meant_thread("Who killed the steward?", twins) is None


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("already answered", "resolved"),
        ("Resolved", "resolved"),
        ("moot", "abandoned"),
        ("已有答案", "resolved"),
        ("推进", "advanced"),
    ],
)
def test_outcomes_are_taken_in_several_words(word: str, outcome: str) -> None:
    """What a model calls an outcome becomes one of the three that are stored."""
    assert ModelLoopMove.model_validate({"id": "OL1", "outcome": word}).outcome == outcome
