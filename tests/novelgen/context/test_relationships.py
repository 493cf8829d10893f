"""How two characters stand, told to the writer in one line."""

from typing import Any

import pytest

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import dimension_in_words, render_states, render_timeline_entry
from novelgen.models.state import DIMENSION_RANGES, EntityStateSnapshot
from tests.support.stories import NOW, PROJECT

ENGLISH = labels_for("en")
CHINESE = labels_for("zh")

PAIR: dict[str, Any] = {
    "chapter_index": 2, "scene_index": 1, "character_a": "C0", "character_b": "C1",
    "relationship_type": "lender and borrower", "status": "strained", "intensity": 8,
    "perspective_a": "he lies", "perspective_b": "", "dimensions": {"trust": -20},
    "dimensions_a": {}, "dimensions_b": {"fear": 30}, "latest_event": "He sold the lamp.",
}  # fmt: skip
NAMES = {"C0": "Ada", "C1": "Ben", "I0": "the brass key", "I1": "the rope"}


NEUTRAL = {**PAIR, "relationship_type": "client", "status": "neutral", "intensity": 5, "perspective_a": ""}
NEUTRAL |= {"dimensions": {"trust": -100, "respect": 0}, "dimensions_b": {}}


@pytest.mark.parametrize(
    ("labels", "entry", "line"),
    [
        (
            ENGLISH,
            PAIR,
            (
                "Ada – Ben: lender and borrower → strained, intensity 8, slight distrust; Ada: he lies; Ben: fear; "
                "latest: He sold the lamp."
            ),
        ),
        (
            CHINESE,
            PAIR,
            (
                "Ada – Ben：lender and borrower → strained、分量 8、略有戒心；Ada：he lies；Ben：畏惧；"
                "最近：He sold the lamp."
            ),
        ),
        (
            ENGLISH,
            {**PAIR, "seen_by": "C1", "latest_event_place": [1, 4]},
            (
                "Ben – Ada: borrower and lender → strained, intensity 8, slight distrust; Ben: fear; Ada: he lies; "
                "latest [1:4]: He sold the lamp."
            ),
        ),
        (ENGLISH, NEUTRAL, "Ada – Ben: client, deep distrust; latest: He sold the lamp."),
        (CHINESE, NEUTRAL, "Ada – Ben：client、毫不信任；最近：He sold the lamp."),
    ],
)
def test_a_relationship_tells_both_sides_and_what_happened_last(
    labels: Labels, entry: dict[str, Any], line: str
) -> None:
    """Seeds 000.16, 002.13, 002.38: type, status, weight, the point of view's side first, feelings in words."""
    assert render_timeline_entry("relationships", entry, NAMES, labels=labels) == f"- [2:1] {line}"


@pytest.mark.parametrize("labels", [ENGLISH, CHINESE])
def test_every_dimension_has_words_that_grow_with_it(labels: Labels) -> None:
    """Each step of each dimension is another word, a neutral one none at all."""
    for name, (lowest, _) in DIMENSION_RANGES.items():
        values = [-100, -40, -5, 5, 40, 100] if lowest < 0 else [5, 40, 100]
        words = [dimension_in_words(name, value, labels) for value in values]
        assert all(words)
        assert len(set(words)) == len(words)
        assert dimension_in_words(name, 0, labels) == ""


def test_what_is_not_known_or_told_already_takes_no_words() -> None:
    """A pair of which only the status is known, and what the inventory names already."""
    entry = {**PAIR, "relationship_type": "", "intensity": 5, "perspective_a": "", "dimensions": {}}
    entry |= {"dimensions_b": {}, "latest_event": ""}
    told = render_timeline_entry("relationships", entry, NAMES, labels=ENGLISH)
    assert told == "- [2:1] Ada – Ben: strained"
    state = EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id="C0", timestamp=NOW,
        state_data={"inventory": ["the rope", "a knife"]}, holds=["I0", "I1"],
    )  # fmt: skip
    things = [
        EntityStateSnapshot(
            project_id=PROJECT, entity_type="item", entity_id=each, timestamp=NOW, state_data={"holder": "C0"}
        )
        for each in state.holds
    ]
    told = render_states([state, *things], NAMES, labels=ENGLISH, budget_tokens=200, count_tokens=len)
    assert told.lines == {"C0": "- Ada: carries: the rope, a knife; holds: the brass key"}
