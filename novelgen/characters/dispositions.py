"""A character's feelings for another: dimensions, effects of events and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from novelgen.characters.memory import CharacterMemorySettings
from novelgen.errors import UserInputError
from novelgen.language.language import StoryLanguage
from novelgen.models.base import Model
from novelgen.models.state import DIMENSION_RANGES, RelationshipDimension
from novelgen.nearest import did_you_mean
from novelgen.words import words

PLAYER = "player"
"""Who speaks to a character where nobody else is named; the player is no entity."""

_PLAYER_NAMES = frozenset(("player", "the player", "玩家"))


def as_player(name: str) -> str:
    """Return "player" for every way to write it, and any other name as it is."""
    return PLAYER if " ".join(name.split()).casefold() in _PLAYER_NAMES else name


Status = Literal["stranger", "acquaintance", "friendly_acquaintance", "friend", "close_friend", "rival", "enemy"]

Deltas = Mapping[str, int]
"""By how much each dimension moves; one that is missing stays."""

RELATIONSHIP_DELTAS: Final[Mapping[str, Mapping[str, int]]] = {
    "casual_conversation": {"familiarity": 1},
    "quest_related": {"respect": 1, "familiarity": 1},
    "gift_given": {"affection": 5, "trust": 2, "familiarity": 1},
    "emotional_support": {"trust": 3, "affection": 4, "fear": -2, "familiarity": 2},
    "romantic_gesture": {"affection": 4, "familiarity": 2},
    "threat_made": {"trust": -8, "affection": -6, "fear": 8},
    "secret_shared": {"trust": 5, "affection": 2, "familiarity": 3},
    "betrayal": {"trust": -15, "affection": -10},
    "life_saved": {"trust": 15, "affection": 10, "fear": -5},
    "romance_confession": {"affection": 6, "familiarity": 3},
    "first_meeting": {"familiarity": 2},
    "promise_made": {"trust": 2},
    "promise_kept": {"trust": 6, "respect": 4},
    "promise_broken": {"trust": -10, "respect": -5, "affection": -3},
    "quest_completed": {"trust": 4, "respect": 6},
    "quest_failed": {"respect": -3},
}
"""What each type of event does to the feelings of who lived through it, where nobody says otherwise."""

SAME_EVENT: Final[Mapping[str, str]] = {
    "gift_received": "gift_given",
    "first_gift": "gift_given",
    "saved_life": "life_saved",
    "secret_revealed": "secret_shared",
    "first_quest": "quest_related",
    "conversation": "casual_conversation",
}
"""Types of stored events that are one with a type of interaction under another name."""


class Disposition(Model):
    """A character's feelings for another at a time."""

    model_config = ConfigDict(frozen=True)

    trust: int = 30
    respect: int = 30
    affection: int = 30
    fear: int = 0
    familiarity: int = 10

    def moved(self, deltas: Deltas) -> Disposition:
        """Return the feelings after a change, each within its bounds."""
        return self.with_values({name: getattr(self, name) + by for name, by in deltas.items()})

    def with_values(self, values: Mapping[str, int]) -> Disposition:
        """Return the feelings with some of them set, each within its bounds."""
        update = {}
        for name, value in values.items():
            least, most = DIMENSION_RANGES[name]  # type: ignore[index]
            update[name] = max(least, min(most, value))
        return self.model_copy(update=update)


class DispositionChange(Model):
    """Feelings that moved, or were set, by one event."""

    model_config = ConfigDict(frozen=True)

    event_type: str = ""
    deltas: dict[str, int] = Field(default_factory=dict, description="By how much each dimension moved.")
    values: dict[str, int] = Field(default_factory=dict, description="Dimensions that were set to a value.")


def folded_disposition(changes: Iterable[DispositionChange]) -> Disposition:
    """Return the feelings after all changes in order."""
    disposition = Disposition()
    for change in changes:
        disposition = disposition.with_values(change.values).moved(change.deltas)
    return disposition


def require_dimensions(deltas: Mapping[str, Any]) -> dict[str, int]:
    """Return changes or values of dimensions as whole numbers."""
    found_counts: dict[str, int] = {}
    for name, value in deltas.items():
        dimension = str(name).removesuffix("_change")
        if dimension not in DIMENSION_RANGES:
            raise UserInputError(
                f"there is no dimension {name!r}{did_you_mean(dimension, DIMENSION_RANGES)}; "
                f"there are: {', '.join(DIMENSION_RANGES)}"
            )
        if isinstance(value, bool) or not isinstance(value, int):
            raise UserInputError(f"{name}={value!r} is no whole number; pass one such as 5 or -10")
        found_counts[dimension] = value
    return found_counts


def deltas_of(event_type: str, settings: CharacterMemorySettings) -> dict[str, int]:
    """Return the default feeling deltas of an event type, empty without a rule."""
    name = SAME_EVENT.get(event_type, event_type)
    own = settings.relationship_deltas
    # An own rule that is empty says that nothing moves.
    rule: Deltas = own[event_type] if event_type in own else own.get(name, RELATIONSHIP_DELTAS.get(name, {}))  # type: ignore[assignment]
    return dict(rule)


def clamped(deltas: Mapping[str, Any], settings: CharacterMemorySettings) -> dict[str, int]:
    """Return the model's deltas, clamped per dimension."""
    found_counts: dict[str, int] = {}
    for name, value in deltas.items():
        dimension = str(name).removesuffix("_change")
        # `value == value` is false for NaN alone, which no comparison would bound.
        if dimension in DIMENSION_RANGES and type(value) in (int, float) and value == value:
            most: int = getattr(settings, f"max_{dimension}_change")
            bounded = round(max(-most, min(most, value)))
            if bounded:
                found_counts[dimension] = bounded
    return found_counts


def status_of(disposition: Disposition, *, has_met: bool) -> Status:
    """Return a character's status for another: stranger, friend, enemy, …"""
    if not has_met:
        return "stranger"
    least, most = sorted((disposition.trust, disposition.affection))
    ladder: tuple[tuple[Status, bool], ...] = (
        ("enemy", least <= -40),
        ("rival", least < 0),
        ("close_friend", least >= 75),
        ("friend", least >= 50),
        ("friendly_acquaintance", most >= 40),
    )
    return next((name for name, holds in ladder if holds), "acquaintance")


def relationship_header(disposition: Disposition, *, has_met: bool, days_known: int) -> str:
    """Return the state of a relationship on one line, in the same form at every turn."""
    return (
        f"[Met={'yes' if has_met else 'no'}, Days_known={days_known}, Trust={disposition.trust}, "
        f"Affection={disposition.affection}, Fear={disposition.fear}, Status={status_of(disposition, has_met=has_met)}]"
    )


_STEPS: Final[Mapping[RelationshipDimension, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "trust": ((75, 45), (-40, 0, 15)),
    "respect": ((75, 50), (-40, 0)),
    "affection": ((75, 50), (-40, 0)),
    "fear": ((60, 25), (-40,)),
    "familiarity": ((70, 40), (5,)),
}
"""Values from which on a feeling is said, the most first, and those below which its contrary is, the least first."""


def disposition_words(disposition: Disposition, *, other: str, language: StoryLanguage) -> list[str]:
    """Return a character's feelings in words, without the moderate ones."""
    catalogue, feelings = words("characters", language), []
    for dimension, (much, little) in _STEPS.items():
        value = getattr(disposition, dimension)
        steps = [f"from_{at}" for at in much if value >= at] + [f"below_{at}" for at in little if value < at]
        if steps:
            feelings.append(catalogue.text(f"{dimension}.{steps[0]}", other=other))
    return feelings


def status_words(status: str, language: StoryLanguage) -> str:
    """Return a status as a phrase, a game's own status unchanged."""
    return str(words("characters", language).get(f"status.{status}", status))
