"""Consolidation of a character's memories: the choice and the wording."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from novelgen.characters.memory import CharacterMemory, CharacterMemorySettings
from novelgen.characters.mind import Mind, View
from novelgen.characters.recall import SECONDS_PER_DAY, score_parts

MAX_SOURCES = 6
"""More cannot be told and found as one memory."""

NEARLY_THE_SAME = 0.75
"""Dice coefficient of the trigrams of two memories, from which they tell the same thing in nearly the same
words, whatever else the character remembers: where all do, none is nearer than the mean."""

SPANS_DAYS = (1, 7)
"""Memories of one day, and of one session of a game, become one; where that leaves too many, those of one week."""

TOPIC_SIMILARITY = 0.5
"""Relevance-like nearness of two memories of one span, 0 the mean of all pairs and 1 the same, from which they share a
topic; what shares a participant or a place and a type of event does so anyway."""


Value = TypeVar("Value")

Sources = tuple[CharacterMemory, ...]
"""Memories that are to become one, in the order in which they were learnt."""


def consolidation_groups(
    mind: Mind, view: View, settings: CharacterMemorySettings, *, target: int | None = None
) -> list[Sources]:
    """Choose a character's memories for consolidation."""
    live = int(view.live.sum())
    wanted_count = settings.consolidate_target if target is None else target
    if live <= (settings.max_memories_before_consolidate if target is None else target):
        return []
    free = [place for place in np.flatnonzero(view.live).tolist() if _may_go(mind, view, place, settings)]
    ages = (view.now - mind.known_at) / SECONDS_PER_DAY
    weight = {
        place: score_parts(
            mind.memories[place],
            age_days=float(ages[place]),
            relevance=0.5,
            settings=settings,
            is_superseded=bool(view.superseded[place]),
        ).score
        for place in free
    }
    lightest = sorted(free, key=lambda place: (weight[place], mind.known_at[place], place))
    groups: list[Sources] = []
    for days in SPANS_DAYS:
        # Each group of n takes n - 1 away, so that more must be offered than are to go.
        count, gone_count = live - wanted_count, 0
        while True:
            groups = _grouped(mind, view, lightest[:count], days=days)
            gone_count = sum(len(group) - 1 for group in groups)
            if gone_count >= live - wanted_count:
                return groups
            if count >= len(lightest):
                break
            count = min(len(lightest), count + max(1, live - wanted_count - gone_count))
    return groups


def consolidated_memory(
    sources: Sequence[CharacterMemory],
    *,
    memory_id: str,
    text: str,
    short: str | None,
    settings: CharacterMemorySettings,
    created_at: datetime,
) -> CharacterMemory:
    """Return the memory that stands for some from the last of them on."""
    last = sources[-1]
    return CharacterMemory(
        memory_id=memory_id,
        character_id=last.character_id,
        content=text,
        short=short,
        event_type=_common((memory.event_type for memory in sources), ""),
        importance=settings.consolidated_importance,
        tier="important",
        participants=list(
            dict.fromkeys(participant_id for source in sources for participant_id in source.participants)
        ),
        location=_common((memory.location for memory in sources), ""),
        # The first-hand and the second-hand are never put together, so that all learnt alike.
        how=_common((memory.how for memory in sources), "own_doing"),
        heard_from=_common((memory.heard_from for memory in sources), None),
        event_id=memory_id,
        session=last.session,
        turn=last.turn,
        happened_at=last.happened_at,
        known_session=last.known_session,
        known_turn=last.known_turn,
        known_at=last.known_at,
        stands_for=[memory.memory_id for memory in sources],
        created_at=created_at,
    )


def _common(values: Iterable[Value], other: Value) -> Value:
    """Return the common value, or a fallback where values differ."""
    matching_values = set(values)
    return matching_values.pop() if len(matching_values) == 1 else other


def _may_go(mind: Mind, view: View, place: int, settings: CharacterMemorySettings) -> bool:
    memory = mind.memories[place]
    is_open = memory.event_type in settings.supersession_pairs and not view.superseded[place]
    return not (
        memory.slot_type in settings.protected_slot_types
        or (memory.slot is not None and not view.superseded[place])
        or memory.tier == "pinned"
        or memory.stands_for
        or is_open
    )


def _grouped(mind: Mind, view: View, places: Sequence[int], *, days: int) -> list[Sources]:
    """Assign each memory to the first fitting group of its days and topic."""
    vectors = mind.vectors[mind.has_vector]
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(mind.vectors.shape[1], np.float32)
    level = float(np.dot(centre, centre))
    folded_texts = {place: mind.memories[place].content.casefold() for place in places}
    trigrams = {
        place: {text[start : start + 3] for start in range(max(1, len(text) - 2))}
        for place, text in folded_texts.items()
    }

    def share_topic(one: int, other: int) -> bool:
        first, second = mind.memories[one], mind.memories[other]
        together = set(first.participants) & set(second.participants) or first.location == second.location != ""
        if first.event_type == second.event_type and together:
            return True
        if mind.has_vector[one] and mind.has_vector[other]:
            # 0 is the mean of all pairs of the character, 1 the same.
            nearness = float(np.dot(mind.vectors[one], mind.vectors[other])) - level
            if nearness >= TOPIC_SIMILARITY * max(1.0 - level, 1e-6):
                return True
        common = len(trigrams[one] & trigrams[other])
        return 2 * common >= NEARLY_THE_SAME * (len(trigrams[one]) + len(trigrams[other]))

    groups: dict[tuple[int, int | None, bool, str | None, bool], list[list[int]]] = {}
    for place in sorted(places):
        memory = mind.memories[place]
        is_over = bool(view.superseded[place])
        span = memory.known_at.toordinal() // days
        session = memory.known_session if days == 1 else None
        of_day = groups.setdefault((span, session, memory.is_second_hand, memory.heard_from, is_over), [])
        fitting = (group for group in of_day if len(group) < MAX_SOURCES and share_topic(group[0], place))
        group = next(fitting, None)
        if group is None:
            of_day.append([place])
        else:
            group.append(place)
    memory_groups = [
        tuple(sorted((mind.memories[place] for place in group), key=lambda memory: memory.known_at))
        for of_day in groups.values()
        for group in of_day
        if len(group) > 1
    ]
    return sorted(memory_groups, key=lambda group: group[-1].known_at)
