"""An event as a game tells it, the memory that a character makes of it, and how news of it travels."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from novelgen.characters import events
from novelgen.characters.memory import CharacterMemory, GamePosition, HowLearnt, Moment
from novelgen.characters.settings import CharacterMemorySettings
from novelgen.errors import UserInputError
from novelgen.language.scrub import scrub_text
from novelgen.models.context import ReportIssue
from novelgen.nearest import did_you_mean

LONGEST_CONTENT_CHARACTERS = 20_000


class GivenEvent(BaseModel):
    """What happened, in the words of the character who remembers it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(max_length=LONGEST_CONTENT_CHARACTERS)
    short: str | None = Field(default=None, description="None takes a sentence of the text that can stand for it.")
    event_type: str = ""
    interaction_type: str | None = Field(default=None, description="As a model called it; taken for a valid one.")
    importance: int | None = Field(default=None, ge=1, le=10, description="None: by type and consequences.")
    is_milestone: bool = False
    participants: tuple[str, ...] = ()
    emotion: str = ""
    location: str = ""
    slot: str | None = Field(default=None, description="It is the current value of this slot from now on.")
    supersedes: str | None = Field(default=None, description="Memory that it puts an end to.")
    state_deltas: dict[str, Any] = Field(default_factory=dict, description="What it changed; see STATE_DELTAS.")
    details: dict[str, Any] = Field(default_factory=dict, description="Kept with it as it is.")

    @field_validator("participants", mode="before")
    @classmethod
    def _take_one_name(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("text", "short", mode="before")
    @classmethod
    def _scrub(cls, value: Any) -> Any:
        return scrub_text(value) if isinstance(value, str) else value

    @field_validator("text")
    @classmethod
    def _require_text(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("the text is empty; write what happened")
        return value.strip()


def people_named(given: str | Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return the names that somebody gave; one name alone is one, and not its letters."""
    return [given] if isinstance(given, str) else list(given)


class Learning(NamedTuple):
    """How and when one character came to know of an event."""

    how: HowLearnt
    heard_from: str | None
    at: GamePosition | None
    happened_at: datetime
    delay: timedelta | int = timedelta(0)


class MadeMemory(NamedTuple):
    """A memory, and what there is to say about how it was made."""

    memory: CharacterMemory
    issues: list[ReportIssue]


def learning(
    at: Moment | None,
    *,
    now: datetime,
    how: HowLearnt = "own_doing",
    heard_from: str | None = None,
    delay: timedelta | int = timedelta(0),
) -> Learning:
    """Return how and when something is learnt."""
    if how not in get_args(HowLearnt):
        known = get_args(HowLearnt)
        raise UserInputError(f"how cannot be {how!r}{did_you_mean(str(how), known)}; pass {', '.join(known)}")
    if isinstance(at, datetime):
        return Learning(how, heard_from, None, at, delay)
    return Learning(how, heard_from, at, now, delay)


def made_memory(
    event: GivenEvent,
    known: Learning,
    *,
    character_id: str,
    memory_id: str,
    event_id: str,
    participants: Sequence[str],
    settings: CharacterMemorySettings,
    created_at: datetime,
) -> MadeMemory:
    """Return what a character makes of an event.

    News at second hand is no milestone of one's own: it is pinned for nobody, and keeps its importance.
    """
    issues: list[ReportIssue] = []
    interaction = None
    if event.interaction_type is not None:
        interaction, problem = events.typed_interaction(event.interaction_type, settings)
        if problem is not None:
            issues.append(ReportIssue(stage="remember", kind="malformed", message=problem))
    hint = events.event_type_hint(event.event_type, settings)
    if hint is not None:
        issues.append(ReportIssue(stage="remember", kind="unresolved", message=hint))
    events.require_deltas(event.state_deltas)
    if event.slot is not None:
        events.require_slot(event.slot, settings)
    milestone = event.is_milestone or events.is_milestone(event.event_type, settings)
    worth = event.importance
    if worth is None:
        worth = events.importance(event.event_type, event.state_deltas, settings, milestone=milestone)
    tier = events.detected_tier(
        event.event_type, worth, settings, interaction_type=interaction, milestone=event.is_milestone
    )
    is_own = known.how in ("own_doing", "witnessed")
    if tier == "pinned" and not is_own:
        tier = "important"
    known_at, known_position = _known_from(known)
    memory = CharacterMemory(
        memory_id=memory_id,
        character_id=character_id,
        content=event.text,
        short=events.derived_short(event.text) if event.short is None else event.short or None,
        event_type=event.event_type,
        interaction_type=interaction,
        importance=worth,
        tier=tier,
        is_milestone=milestone and is_own,
        participants=list(dict.fromkeys(participants)),
        emotion=event.emotion,
        location=event.location,
        slot=event.slot,
        how=known.how,
        heard_from=known.heard_from,
        event_id=event_id,
        session=None if known.at is None else known.at.session,
        turn=None if known.at is None else known.at.turn,
        happened_at=known.happened_at,
        known_session=None if known_position is None else known_position.session,
        known_turn=None if known_position is None else known_position.turn,
        known_at=known_at,
        details=dict(event.details),
        created_at=created_at,
    )
    return MadeMemory(memory, issues)


def _known_from(known: Learning) -> tuple[datetime, GamePosition | None]:
    """Return from when on it is known: turns of delay stay within the session, whose end brings all news."""
    if isinstance(known.delay, timedelta):
        return known.happened_at + known.delay, known.at
    at = known.at
    return known.happened_at, None if at is None else GamePosition(at.session, at.turn + known.delay)


Delay = timedelta | int
"""A time, or turns of the game."""


class Arrival(NamedTuple):
    """When news reaches somebody."""

    name: str
    delay: Delay


def arrivals(
    told_to: str | Sequence[str] | Mapping[str, float],
    *,
    delay: Delay = timedelta(0),
    delay_per_distance: Delay | None = None,
    max_distance: float | None = None,
) -> list[Arrival]:
    """Return whom news reaches and when, the nearest first."""
    step = delay if delay_per_distance is None else delay_per_distance
    for name, value in (("delay", delay), ("delay_per_distance", step)):
        if not isinstance(value, timedelta) and type(value) is not int:
            raise UserInputError(f"{name}={value!r} is none; pass a timedelta, or a whole number of turns")
    if type(step) is not type(delay):
        raise UserInputError(
            f"delay={delay!r} and delay_per_distance={step!r} must both be times, or both turns of the game"
        )
    distances = dict(told_to) if isinstance(told_to, Mapping) else dict.fromkeys(people_named(told_to), 0.0)
    _refuse_negative(delay, step, distances)
    near = sorted(distances.items(), key=lambda each: each[1])
    return [
        Arrival(name, _sum(delay, step, distance))
        for name, distance in near
        if max_distance is None or distance <= max_distance
    ]


def _refuse_negative(delay: Delay, step: Delay, distances: Mapping[str, float]) -> None:
    for value in (delay, step):
        amount = value.total_seconds() if isinstance(value, timedelta) else value
        if amount < 0:
            raise UserInputError(f"a delay of {value!r} lies before the event; pass one from 0 on")
    for name, distance in distances.items():
        if not math.isfinite(distance) or distance < 0:
            raise UserInputError(f"distance {distance!r} of {name!r} is none; pass a number from 0 on")


def _sum(delay: Delay, step: Delay, distance: float) -> Delay:
    if isinstance(delay, timedelta):
        return delay + (step * distance if isinstance(step, timedelta) else timedelta(0))
    return delay + (math.ceil(step * distance) if isinstance(step, int) else 0)
