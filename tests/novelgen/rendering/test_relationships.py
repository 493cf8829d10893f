"""How two characters stand, told to the writer in one line."""

from __future__ import annotations

from typing import Any

import pytest

from novelgen.models.state import EntityStateSnapshot
from novelgen.rendering.labels import CHINESE, ENGLISH, Labels
from novelgen.rendering.lines import render_states, render_timeline_entry
from tests.support.stories import NOW, PROJECT

PAIR: dict[str, Any] = {
    "chapter_index": 2, "scene_index": 1, "character_a": "C0", "character_b": "C1",
    "relationship_type": "lender and borrower", "status": "strained", "intensity": 8,
    "perspective_a": "he lies", "perspective_b": "", "dimensions": {"trust": -20},
    "dimensions_a": {}, "dimensions_b": {"fear": 30}, "latest_event": "He sold the lamp.",
}  # fmt: skip
NAMES = {"C0": "Ada", "C1": "Ben", "I0": "the brass key", "I1": "the rope"}


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (
            ENGLISH,
            (
                "- [2:1] Ada – Ben: lender and borrower, strained, intensity 8, trust -20; Ada: he lies; "
                "Ben: fear 30; latest: He sold the lamp."
            ),
        ),
        (
            CHINESE,
            (
                "- [2:1] Ada – Ben：lender and borrower、strained、分量 8、信任 -20；Ada：he lies；Ben：畏惧 30；"
                "最近：He sold the lamp."
            ),
        ),
    ],
)
def test_a_relationship_tells_both_sides_and_what_happened_last(labels: Labels, line: str) -> None:
    """Type, status, weight, views and feelings of either side, and the latest event."""
    assert render_timeline_entry("relationships", PAIR, NAMES, labels=labels) == line


def test_what_is_not_known_takes_no_words() -> None:
    """A pair of which only the status is known is told as before."""
    entry = {**PAIR, "relationship_type": "", "intensity": 5, "perspective_a": "", "dimensions": {}}
    entry |= {"dimensions_b": {}, "latest_event": ""}
    told = render_timeline_entry("relationships", entry, NAMES, labels=ENGLISH)
    assert told == "- [2:1] Ada – Ben: strained"


def test_things_held_are_told_once() -> None:
    """What the inventory names already is not told again as held."""
    state = EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id="C0", timestamp=NOW,
        state_data={"inventory": ["the rope", "a knife"]}, holds=["I0", "I1"],
    )  # fmt: skip
    told = render_states([state], NAMES, labels=ENGLISH, budget_tokens=200, count_tokens=len)
    assert told.lines == {"C0": "- Ada: carries: the rope, a knife; holds: the brass key"}
