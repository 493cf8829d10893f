"""What an event is worth to a character who remembers it: its type, importance, tier, and what it puts an end to."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from novelgen.characters.memory import CharacterMemory, CharacterTier
from novelgen.characters.settings import SLOT_SEPARATOR, CharacterMemorySettings
from novelgen.errors import UserInputError
from novelgen.language.extractive import short_form
from novelgen.language.language import significant_words
from novelgen.nearest import did_you_mean, nearest_name

HIGHEST_IMPORTANCE = 10

SHORT_CHARACTERS = 80

LONGEST_SHORT_CHARACTERS = 160

STATE_DELTAS = (
    "trust_change",
    "affection_change",
    "fear_change",
    "respect_change",
    "familiarity_change",
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

_COUNTED_DELTAS = ("trust_change", "affection_change", "fear_change")


class TypedInteraction(NamedTuple):
    """A valid type, and what was said otherwise; None where the type was valid as it came."""

    interaction_type: str
    problem: str | None


def typed_interaction(given: str, settings: CharacterMemorySettings) -> TypedInteraction:
    """Return the valid interaction type that a model meant."""
    valid = settings.valid_interaction_types
    folded = "_".join(given.casefold().replace("-", " ").replace("_", " ").split())
    if folded in valid:
        return TypedInteraction(folded, None)
    likeness, nearest = max(((_likeness(folded, each), each) for each in valid), default=(0.0, ""))
    if likeness >= settings.interaction_type_similarity_threshold:
        return TypedInteraction(nearest, f"interaction type {given!r} was taken for {nearest!r}")
    fallback = valid[0] if valid else folded
    hint = f"; the nearest is {nearest!r}" if nearest else ""
    return TypedInteraction(
        fallback, f"interaction type {given!r} is none of those that are valid{hint}; taken for {fallback!r}"
    )


def _likeness(one: str, other: str) -> float:
    """Likeness of two types by letters, in whichever order their words stand."""
    sorted_one, sorted_other = ("_".join(sorted(each.split("_"))) for each in (one, other))
    return max(SequenceMatcher(None, one, other).ratio(), SequenceMatcher(None, sorted_one, sorted_other).ratio())


def event_type_hint(event_type: str, settings: CharacterMemorySettings) -> str | None:
    """Return a remark on an event type that is nearly one which the settings know; a game's own types are fine."""
    known = {
        *settings.pinned_event_types,
        *settings.important_event_types,
        *settings.high_signal_event_types,
        *settings.event_type_importance,
        *settings.supersession_pairs,
        *settings.supersession_pairs.values(),
        *settings.valid_interaction_types,
    }
    if not event_type or event_type in known:
        return None
    nearest = nearest_name(event_type, sorted(known), likeness=settings.interaction_type_similarity_threshold)
    return (
        None
        if nearest is None
        else f"event type {event_type!r} was kept as it is; {nearest!r} is one that the settings know"
    )


def require_deltas(deltas: Mapping[str, Any]) -> None:
    """Refuse what no change of state is called, and changes of feelings that are no whole numbers."""
    for name, value in deltas.items():
        if name not in STATE_DELTAS:
            meant = did_you_mean(name, STATE_DELTAS) or f"; there are {', '.join(STATE_DELTAS)}"
            raise UserInputError(f"no change of state is called {name!r}{meant}")
        if name.endswith("_change") and type(value) is not int:
            raise UserInputError(f"{name}={value!r} is no whole number; pass one such as 5 or -10")


def require_slot(slot: str, settings: CharacterMemorySettings) -> None:
    """Refuse a slot of a type that the settings do not know: misspelt, it would hold beside the right one."""
    slot_type = slot.partition(SLOT_SEPARATOR)[0]
    known = settings.known_slot_types()
    if slot_type not in known:
        meant = did_you_mean(slot_type, known) or f"; there are {', '.join(known)}"
        raise UserInputError(f"no slot is of type {slot_type!r}{meant}, or add it to the setting slot_types")


def is_milestone(event_type: str, settings: CharacterMemorySettings) -> bool:
    """Tell whether events of a type are milestones by themselves."""
    return event_type in settings.pinned_event_types


def base_importance(event_type: str, settings: CharacterMemorySettings, *, milestone: bool = False) -> int:
    """Return what an event of a type is worth before anything is known of its consequences."""
    by_type = settings.event_type_importance
    if milestone:
        return by_type.get("milestone", HIGHEST_IMPORTANCE)
    first_word = event_type.partition("_")[0]
    return by_type.get(event_type, by_type.get(first_word, by_type.get("default", 5)))


def importance(
    event_type: str, deltas: Mapping[str, Any], settings: CharacterMemorySettings, *, milestone: bool = False
) -> int:
    """Return the importance of an event by its type and by what it changed; the same for the same input."""
    shift = sum(abs(deltas.get(name) or 0) for name in _COUNTED_DELTAS)
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
    """Return the tier of a memory, by the first of seven rules that holds.

    A marked milestone, an interaction type that pins and an event type that pins; an interaction type or an event
    type that is important; an importance from the threshold on; else it is regular.
    """
    if milestone or interaction_type in settings.pinned_interaction_types:
        return "pinned"
    if event_type in settings.pinned_event_types:
        return "pinned"
    if interaction_type in settings.important_interaction_types:
        return "important"
    if event_type in settings.important_event_types:
        return "important"
    return "important" if importance >= settings.importance_threshold else "regular"


def derived_short(text: str) -> str | None:
    """Return the sentence of a text that can stand for it, or None where the text is short or has none that fits."""
    if len(text) <= SHORT_CHARACTERS:
        return None
    found = short_form(text, (), limit_characters=SHORT_CHARACTERS) or short_form(
        text, (), limit_characters=LONGEST_SHORT_CHARACTERS
    )
    return None if found is None or len(found) >= len(text) else found


class Ended(NamedTuple):
    """The memory that a new one puts an end to, or why none could be told."""

    memory_id: str | None
    problem: str | None


NOTHING_ENDED = Ended(None, None)


def ended_by(
    event_type: str,
    content: str,
    participants: Sequence[str],
    *,
    earlier: Sequence[CharacterMemory],
    settings: CharacterMemorySettings,
) -> Ended:
    """Find the memory that an event puts an end to by the pairs: the promise that is broken now.

    Of several that may be meant, the one that shares most participants and words with it; where two share as many,
    none is: a wrong one would be lost.
    """
    began = {first for first, ends in settings.supersession_pairs.items() if ends == event_type}
    open_ones = [
        each
        for each in earlier
        if each.event_type in began
        and each.superseded_by is None
        and (not participants or not each.participants or set(participants) & set(each.participants))
    ]
    if len(open_ones) <= 1:
        return Ended(open_ones[0].memory_id, None) if open_ones else NOTHING_ENDED
    words = significant_words(content)
    ranked = sorted(
        (
            (len(set(participants) & set(each.participants)), len(words & significant_words(each.content)), each)
            for each in open_ones
        ),
        key=lambda ranked: ranked[:2],
    )
    if ranked[-1][:2] == ranked[-2][:2]:
        return Ended(
            None,
            f"{event_type!r} may put an end to {ranked[-1][2].memory_id} or {ranked[-2][2].memory_id}; say which "
            "with supersedes=",
        )
    return Ended(ranked[-1][2].memory_id, None)
