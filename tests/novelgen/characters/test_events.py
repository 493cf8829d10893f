"""What events are worth to the character who remembers them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from novelgen.characters.events import (
    arrivals,
    base_importance,
    derived_short,
    detected_tier,
    event_type_hint,
    importance,
    learning,
    require_deltas,
    typed_interaction,
)
from novelgen.characters.memory import CharacterMemorySettings, GamePosition
from novelgen.errors import UserInputError

SETTINGS = CharacterMemorySettings()


@pytest.mark.parametrize(
    ("event_type", "milestone", "expected"),
    [
        ("first_meeting", True, 10),
        ("player_action", False, 8),
        ("quest_failed", False, 8),
        ("witnessed_event", False, 7),
        ("conversation", False, 6),
        ("weather", False, 5),
        ("", False, 5),
    ],
)
def test_base_importance_goes_by_the_kind_of_event(event_type: str, milestone: bool, expected: int) -> None:
    """Seed 002.23: milestone 10, action 8, quest 8, witnessed 7, conversation 6, default 5."""
    assert base_importance(event_type, SETTINGS, milestone=milestone) == expected


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ({}, 5),
        ({"trust_change": -9, "affection_change": -6}, 7),
        ({"trust_change": 9, "fear_change": 5}, 5),
        ({"respect_change": 40}, 5),
        ({"secret_revealed": True}, 8),
        ({"player_name_learned": True}, 7),
        ({"obligation_created": True}, 7),
        ({"promise_made": True, "promise_broken": True}, 7),
        ({"quest_started": True}, 7),
        ({"npc_injured": True}, 8),
        ({"npc_died": True}, 9),
        ({"npc_died": True, "secret_revealed": True}, 10),
    ],
)
def test_importance_rises_by_what_changed_alone(deltas: dict[str, Any], expected: int) -> None:
    """The same changes give the same importance, none beyond 10."""
    assert importance("weather", deltas, SETTINGS) == expected


def test_a_misspelt_change_of_state_is_refused_a_nearly_known_event_told() -> None:
    """A consequence would be lost without a word; a game's own types are fine, a slip is said and kept."""
    with pytest.raises(UserInputError, match="trust_change"):
        require_deltas({"trust_chnage": 3})
    assert event_type_hint("harvest_festival", SETTINGS) is None
    hint = event_type_hint("quest_complted", SETTINGS)
    assert hint is not None
    assert "quest_completed" in hint


@pytest.mark.parametrize(
    ("event_type", "worth", "interaction", "milestone", "expected"),
    [
        ("weather", 1, None, True, "pinned"),
        ("weather", 1, "betrayal", False, "pinned"),
        ("saved_life", 1, None, False, "pinned"),
        ("weather", 1, "gift_given", False, "important"),
        ("quest_failed", 1, None, False, "important"),
        ("weather", 8, None, False, "important"),
        ("weather", 7, None, False, "regular"),
        ("saved_life", 1, "gift_given", False, "pinned"),
    ],
)
def test_the_tier_goes_by_the_first_of_seven_rules(
    event_type: str, worth: int, interaction: str | None, milestone: bool, expected: str
) -> None:
    """Seed 002.5, 002.6: milestone, pinned types, important types, importance from 8, else regular."""
    found = detected_tier(event_type, worth, SETTINGS, interaction_type=interaction, milestone=milestone)
    assert found == expected


@pytest.mark.parametrize(
    ("given", "expected", "is_told"),
    [
        ("gift_given", "gift_given", False),
        ("Gift Given", "gift_given", False),
        ("given_gift", "casual_conversation", True),
        ("betrayel", "casual_conversation", True),
        ("life_not_saved", "casual_conversation", True),
        ("threat_faded", "casual_conversation", True),
        ("philosophical_musing", "casual_conversation", True),
        ("", "casual_conversation", True),
    ],
)
def test_an_interaction_of_no_valid_type_is_small_talk_and_told(given: str, expected: str, is_told: bool) -> None:
    """Seed 002.21: letters tell a type from its contrary by little, so that none is taken for another by them."""
    interaction_type, problem = typed_interaction(given, SETTINGS)
    assert (interaction_type, problem is not None) == (expected, is_told)


def test_a_setting_for_debugging_takes_the_nearest_type() -> None:
    """As far as the likeness that is asked for; what was taken is told."""
    debugging = CharacterMemorySettings(match_interaction_types=True)
    assert typed_interaction("betrayel", debugging) == (
        "betrayal",
        "interaction type 'betrayel' was taken for 'betrayal'",
    )
    strict = CharacterMemorySettings(match_interaction_types=True, interaction_type_similarity_threshold=1.0)
    assert typed_interaction("betrayel", strict)[0] == "casual_conversation"
    without = CharacterMemorySettings(valid_interaction_types=("trade", "duel"))
    assert typed_interaction("duell", without)[0] == "trade"


def test_the_short_form_is_a_whole_sentence() -> None:
    """Nothing is cut within a sentence; a text that is short needs no other form."""
    text = (
        "We had been talking for an hour by the fire and the rain would not stop that evening at all. "
        "The player promised to guard my stall. Then the bell rang and everybody went home through the mud."
    )
    assert derived_short(text) == "The player promised to guard my stall."
    assert derived_short("The player promised to guard my stall.") is None
    assert derived_short("word " * 100) is None


def test_news_that_would_come_after_all_time_is_refused() -> None:
    """Beyond the last turn, and beyond what a time can say."""
    with pytest.raises(UserInputError, match="too long"):
        learning(GamePosition(1, 1), now=datetime(2031, 5, 1, tzinfo=UTC), delay=10**12)
    with pytest.raises(UserInputError, match="too long"):
        arrivals({"Mira": 5.0}, delay_per_distance=timedelta.max)
