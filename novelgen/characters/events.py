"""Events of a game and the memories that characters make of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from novelgen.characters.memory import (
    SLOT_SEPARATOR,
    CharacterMemory,
    CharacterMemorySettings,
    CharacterTier,
    GamePosition,
    HowLearnt,
    Moment,
)
from novelgen.errors import UserInputError
from novelgen.language.extractive import short_form
from novelgen.language.normalise import scrub_text
from novelgen.memory.attributes import Opened, likeliest_ended
from novelgen.models.context import ReportIssue
from novelgen.models.position import GREATEST_INDEX
from novelgen.models.state import DIMENSION_RANGES
from novelgen.nearest import did_you_mean, nearest_name

HIGHEST_IMPORTANCE = 10
SHORT_CHARACTERS = 80
LONGEST_SHORT_CHARACTERS = 160

STATE_DELTAS = (
    *(f"{dimension}_change" for dimension in DIMENSION_RANGES),
    "secret_revealed",
    "player_name_learned",
    "obligation_created",
    "promise_made",
    "promise_broken",
    "quest_started",
    "quest_completed",
    "npc_injured",
    "npc_died",
)
"""What a game can say that an event changed; importance rises by these alone, never by somebody's impression."""


SMALL_TALK = "casual_conversation"
"""What an interaction of no valid type counts as."""


def typed_interaction(interaction: str, settings: CharacterMemorySettings) -> tuple[str, str | None]:
    """Return a valid interaction type and any problem with the input.

    Case, spaces and hyphens do not count. What is not valid is small talk: letters tell `life_not_saved` from
    `life_saved` by little. A setting for debugging takes the nearest type.
    """
    valid = settings.valid_interaction_types
    folded_text = "_".join(interaction.casefold().replace("-", " ").replace("_", " ").split())
    if folded_text in valid:
        return folded_text, None
    likeness, nearest = max(((_likeness(folded_text, text), text) for text in valid), default=(0.0, ""))
    is_near = likeness >= settings.interaction_type_similarity_threshold
    if is_near and settings.match_interaction_types:
        return nearest, f"interaction type {interaction!r} was taken for {nearest!r}"
    fallback = SMALL_TALK if SMALL_TALK in valid or not valid else valid[0]
    hint = f"; the nearest is {nearest!r}" if is_near else ""
    return (
        fallback,
        f"interaction type {interaction!r} is none of those that are valid{hint}; it counts as {fallback!r}",
    )


def _likeness(one: str, other: str) -> float:
    """Likeness of two types by letters, in whichever order their words stand."""
    sorted_one, sorted_other = ("_".join(sorted(text.split("_"))) for text in (one, other))
    return max(SequenceMatcher(None, one, other).ratio(), SequenceMatcher(None, sorted_one, sorted_other).ratio())


def event_type_hint(event_type: str, settings: CharacterMemorySettings) -> str | None:
    """Return a remark on a likely misspelt event type.

    A game's own types are accepted.
    """
    known_names = {
        *settings.pinned_event_types,
        *settings.important_event_types,
        *settings.high_signal_event_types,
        *settings.event_type_importance,
        *settings.supersession_pairs,
        *settings.supersession_pairs.values(),
        *settings.valid_interaction_types,
    }
    if not event_type or event_type in known_names:
        return None
    nearest = nearest_name(event_type, sorted(known_names), likeness=settings.interaction_type_similarity_threshold)
    return (
        None
        if nearest is None
        else f"event type {event_type!r} was kept as it is; {nearest!r} is one that the settings know"
    )


def require_deltas(deltas: Mapping[str, Any]) -> None:
    """Reject unknown state changes and fractional changes of feelings."""
    for name, value in deltas.items():
        if name not in STATE_DELTAS:
            suggestion = did_you_mean(name, STATE_DELTAS) or f"; there are {', '.join(STATE_DELTAS)}"
            raise UserInputError(f"no change of state is called {name!r}{suggestion}")
        if name.endswith("_change") and type(value) is not int:
            raise UserInputError(f"{name}={value!r} is no whole number; pass one such as 5 or -10")


def require_slot(slot: str, settings: CharacterMemorySettings) -> None:
    """Refuse a slot of a type that the settings do not know: misspelt, it would hold beside the right one."""
    slot_type = slot.partition(SLOT_SEPARATOR)[0]
    known_names = settings.known_slot_types()
    if slot_type not in known_names:
        suggestion = did_you_mean(slot_type, known_names) or f"; there are {', '.join(known_names)}"
        raise UserInputError(f"no slot is of type {slot_type!r}{suggestion}, or add it to the setting slot_types")


def base_importance(event_type: str, settings: CharacterMemorySettings, *, milestone: bool = False) -> int:
    """Return the importance of an event type before its consequences."""
    by_type = settings.event_type_importance
    if milestone:
        return by_type.get("milestone", HIGHEST_IMPORTANCE)
    first_word = event_type.partition("_")[0]
    return by_type.get(event_type, by_type.get(first_word, by_type.get("default", 5)))


def importance(
    event_type: str, deltas: Mapping[str, Any], settings: CharacterMemorySettings, *, milestone: bool = False
) -> int:
    """Return the importance of an event from its type and changes."""
    shift = sum(abs(deltas.get(f"{name}_change") or 0) for name in ("trust", "affection", "fear"))
    signals = (
        (shift >= settings.relationship_delta_threshold, settings.importance_boost_relationship),
        (deltas.get("secret_revealed"), settings.importance_boost_secret),
        (deltas.get("player_name_learned"), settings.importance_boost_identity),
        (deltas.get("obligation_created"), settings.importance_boost_obligation),
        (deltas.get("promise_made") or deltas.get("promise_broken"), settings.importance_boost_promise),
        (deltas.get("quest_started") or deltas.get("quest_completed"), settings.importance_boost_quest),
        (deltas.get("npc_injured"), settings.importance_boost_injury),
        (deltas.get("npc_died"), settings.importance_boost_death),
    )
    boost = sum(points for holds, points in signals if holds)
    return max(1, min(HIGHEST_IMPORTANCE, base_importance(event_type, settings, milestone=milestone) + boost))


def detected_tier(
    event_type: str,
    importance: int,
    settings: CharacterMemorySettings,
    *,
    interaction_type: str | None = None,
    milestone: bool = False,
) -> CharacterTier:
    """Return the tier of a memory, by the first of seven rules that holds."""
    if milestone or interaction_type in settings.pinned_interaction_types or event_type in settings.pinned_event_types:
        return "pinned"
    is_important = (
        interaction_type in settings.important_interaction_types
        or event_type in settings.important_event_types
        or importance >= settings.importance_threshold
    )
    return "important" if is_important else "regular"


def derived_short(text: str) -> str | None:
    """Return a sentence that can stand for a text, or None."""
    if len(text) <= SHORT_CHARACTERS:
        return None
    result = short_form(text, (), limit_characters=SHORT_CHARACTERS) or short_form(
        text, (), limit_characters=LONGEST_SHORT_CHARACTERS
    )
    return None if result is None or len(result) >= len(text) else result


def ended_by(
    memory: CharacterMemory, beginnings: Sequence[CharacterMemory]
) -> tuple[CharacterMemory | None, str | None]:
    """Return the open memory that an event ends, or the reason for none."""
    people = set(memory.participants)
    opened_memories_by_id = {
        memory.memory_id: memory
        for memory in beginnings
        if memory.superseded_by is None
        and (not people or not memory.participants or people.intersection(memory.participants))
    }
    open_memories = [
        Opened(name, memory.event_type, frozenset(memory.participants), memory.content)
        for name, memory in opened_memories_by_id.items()
    ]
    likeliest = [
        open_memory.memory_id for open_memory in likeliest_ended(memory.participants, memory.content, open_memories)
    ]
    if len(likeliest) <= 1:
        return next((opened_memories_by_id[entity_id] for entity_id in likeliest), None), None
    ended_id = memory.event_type
    return None, f"{ended_id!r} may put an end to {likeliest[-1]} or {likeliest[-2]}; say which with supersedes="


LONGEST_CONTENT_CHARACTERS = 20_000


class GivenEvent(BaseModel):
    """An event in the words of the remembering character."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str = Field(max_length=LONGEST_CONTENT_CHARACTERS)
    short: str | None = Field(default=None, description="None takes a sentence of the text that can stand for it.")
    event_type: str = ""
    interaction_type: str | None = Field(default=None, description="As a model called it; else small talk.")
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

    @field_validator("content", "short", mode="before")
    @classmethod
    def _scrub(cls, value: Any) -> Any:
        return scrub_text(value) if isinstance(value, str) else value

    @field_validator("content")
    @classmethod
    def _require_text(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("the text is empty; write what happened")
        return value.strip()

    def as_told_by(self, witnesses: str | Mapping[str, str] | Sequence[str]) -> dict[str, GivenEvent]:
        """Return the event in each witness's words, with their own short forms."""
        words = witnesses if isinstance(witnesses, Mapping) else dict.fromkeys(people_named(witnesses), self.content)
        return {
            name: self if text == self.content else self.model_copy(update={"content": text, "short": None})
            for name, text in words.items()
        }


def people_named(people: str | Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return the names of an input, a single name as one item."""
    return [people] if isinstance(people, str) else list(people)


Delay = timedelta | int
"""A time, or turns of the game."""


def learning(
    at: Moment | None,
    *,
    now: datetime,
    how: HowLearnt = "own_doing",
    heard_from: str | None = None,
    delay: Delay = timedelta(0),
) -> dict[str, Any]:
    """Return the fields of a memory that say how and when something is learnt, late by a delay.

    Turns of delay stay within the session, whose end brings all news.
    """
    session, turn = at if isinstance(at, GamePosition) else (None, None)
    happened_at = at if isinstance(at, datetime) else now
    in_turns, in_time = (delay, timedelta(0)) if isinstance(delay, int) else (0, delay)
    if (turn or 0) + in_turns > GREATEST_INDEX:
        raise _too_long(delay)
    return {
        "how": how,
        "heard_from": heard_from,
        "session": session,
        "turn": turn,
        "happened_at": happened_at,
        "known_session": session,
        "known_turn": None if turn is None else turn + in_turns,
        "known_at": happened_at + in_time,
    }


def _too_long(delay: Delay) -> UserInputError:
    return UserInputError(f"a delay of {delay!r} is too long; pass a shorter one")


def made_memory(
    event: GivenEvent,
    provenance: Mapping[str, Any],
    *,
    participants: Sequence[str],
    settings: CharacterMemorySettings,
    **fields: Any,
) -> tuple[CharacterMemory, list[ReportIssue]]:
    """Return a character's memory of an event, with remarks.

    News at second hand is no milestone of one's own: it is pinned for nobody, and keeps its importance.
    """
    issues: list[ReportIssue] = []
    interaction = None
    if event.interaction_type is not None:
        interaction, problem = typed_interaction(event.interaction_type, settings)
        if problem is not None:
            issues.append(ReportIssue(stage="remember", kind="malformed", message=problem))
    hint = event_type_hint(event.event_type, settings)
    if hint is not None:
        issues.append(ReportIssue(stage="remember", kind="unresolved", message=hint))
    require_deltas(event.state_deltas)
    if event.slot is not None:
        require_slot(event.slot, settings)
    milestone = event.is_milestone or event.event_type in settings.pinned_event_types
    worth = event.importance
    if worth is None:
        worth = importance(event.event_type, event.state_deltas, settings, milestone=milestone)
    tier = detected_tier(event.event_type, worth, settings, interaction_type=interaction, milestone=event.is_milestone)
    is_own = provenance["how"] in ("own_doing", "witnessed")
    memory = CharacterMemory(
        content=event.content,
        short=derived_short(event.content) if event.short is None else event.short or None,
        interaction_type=interaction,
        importance=worth,
        tier="important" if tier == "pinned" and not is_own else tier,
        is_milestone=milestone and is_own,
        participants=list(dict.fromkeys(participants)),
        **{name: getattr(event, name) for name in ("event_type", "emotion", "location", "slot", "details")},
        **provenance,
        **fields,
    )
    return memory, issues


def arrivals(
    told_to: str | Sequence[str] | Mapping[str, float],
    *,
    delay: Delay = timedelta(0),
    delay_per_distance: Delay | None = None,
    max_distance: float | None = None,
) -> dict[str, Delay]:
    """Return the delays of news by recipient, the shortest first."""
    step: Any = delay if delay_per_distance is None else delay_per_distance
    values: tuple[tuple[str, Any], ...] = (("delay", delay), ("delay_per_distance", step))
    for name, value in values:
        if not isinstance(value, timedelta) and type(value) is not int:
            raise UserInputError(f"{name}={value!r} is none; pass a timedelta, or a whole number of turns")
        if (value.total_seconds() if isinstance(value, timedelta) else value) < 0:
            raise UserInputError(f"a delay of {value!r} lies before the event; pass one from 0 on")
    if type(step) is not type(delay):
        raise UserInputError(
            f"delay={delay!r} and delay_per_distance={step!r} must both be times, or both turns of the game"
        )
    distances = dict(told_to) if isinstance(told_to, Mapping) else dict.fromkeys(people_named(told_to), 0.0)
    for name, distance in distances.items():
        if not math.isfinite(distance) or distance < 0:
            raise UserInputError(f"distance {distance!r} of {name!r} is none; pass a number from 0 on")

    def after(distance: float) -> Delay:
        try:
            way = step * distance
            return delay + (way if isinstance(way, timedelta) else math.ceil(way))  # type: ignore[operator]
        except OverflowError as error:
            raise _too_long(step) from error

    near = sorted(distances.items(), key=lambda pair: pair[1])
    return {name: after(distance) for name, distance in near if max_distance is None or distance <= max_distance}
