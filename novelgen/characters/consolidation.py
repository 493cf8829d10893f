"""Letting one memory stand for several of a character who has too many: which, and in what words."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import numpy as np

from novelgen.characters.memory import CharacterMemory, CharacterMemorySettings
from novelgen.characters.mind import Mind, View
from novelgen.characters.recall import SECONDS_PER_DAY, score_parts

MAX_SOURCES = 6
"""More cannot be told and found as one memory."""

NEARLY_THE_SAME = 0.75
"""Dice coefficient of the trigrams of two memories, from which they tell the same thing in nearly the same
words, whatever else the character remembers: where all do, none is nearer than the mean."""

TOPIC_SIMILARITY = 0.5
"""Relevance-like nearness of two memories of one day, 0 the mean of all pairs and 1 the same, from which they share a
topic; what shares a participant or a place and a type of event does so anyway."""


Sources = tuple[CharacterMemory, ...]
"""Memories that are to become one, in the order in which they were learnt."""


def consolidation_groups(
    mind: Mind, view: View, settings: CharacterMemorySettings, *, target: int | None = None
) -> list[Sources]:
    """Choose what of a character's memories is to become one.

    The memories that weigh least are taken, as if nothing was said, until what is left and what they become come down
    to the target; those of one day that share a topic are put together. What is protected, pinned, the value of a
    slot, open by a pair or consolidated already stays. A group needs two: what is alone on its day stays too, so that
    the target is not always reached.
    """
    live = int(view.live.sum())
    wanted = settings.consolidate_target if target is None else target
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
    # Each group of n takes n - 1 away, so that more must be offered than are to go.
    count = live - wanted
    while True:
        groups = _grouped(mind, view, lightest[:count])
        gone = sum(len(group) - 1 for group in groups)
        if gone >= live - wanted or count >= len(lightest):
            return groups
        count = min(len(lightest), count + max(1, live - wanted - gone))


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
    ways = {each.how for each in sources}
    tellers = {each.heard_from for each in sources}
    places = {each.location for each in sources}
    types = {each.event_type for each in sources}
    return CharacterMemory(
        memory_id=memory_id,
        character_id=last.character_id,
        content=text,
        short=short,
        event_type=types.pop() if len(types) == 1 else "",
        importance=settings.consolidated_importance,
        tier="important",
        participants=list(dict.fromkeys(each for source in sources for each in source.participants)),
        location=places.pop() if len(places) == 1 else "",
        # The first-hand and the second-hand are never put together, so that all learnt alike.
        how=last.how if len(ways) == 1 else "own_doing",
        heard_from=tellers.pop() if len(tellers) == 1 else None,
        event_id=memory_id,
        session=last.session,
        turn=last.turn,
        happened_at=last.happened_at,
        known_session=last.known_session,
        known_turn=last.known_turn,
        known_at=last.known_at,
        stands_for=[each.memory_id for each in sources],
        created_at=created_at,
    )


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


def _grouped(mind: Mind, view: View, places: Sequence[int]) -> list[Sources]:
    by_day: dict[tuple[date, int | None, bool, str | None, bool], list[int]] = {}
    for place in places:
        memory = mind.memories[place]
        key = (
            memory.known_at.date(),
            memory.known_session,
            memory.is_second_hand,
            memory.heard_from,
            bool(view.superseded[place]),
        )
        by_day.setdefault(key, []).append(place)
    groups: list[Sources] = []
    for together in (each for day in by_day.values() for each in _by_topic(mind, day) if len(each) > 1):
        in_order = sorted(together, key=lambda each: (mind.known_at[each], each))
        groups.append(tuple(mind.memories[place] for place in in_order))
    return sorted(groups, key=lambda group: group[-1].known_at)


def _by_topic(mind: Mind, places: Sequence[int]) -> list[list[int]]:
    """Put each memory of a day to the first group that shares its topic and has room."""
    likeness = _likenesses(mind, places)
    folded = {place: mind.memories[place].content.casefold() for place in places}
    trigrams = {
        place: frozenset(text[start : start + 3] for start in range(max(1, len(text) - 2)))
        for place, text in folded.items()
    }
    groups: list[list[int]] = []
    for place in sorted(places):
        fitting = (
            group
            for group in groups
            if len(group) < MAX_SOURCES and _shares_topic(mind, group[0], place, likeness, trigrams)
        )
        group = next(fitting, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _shares_topic(
    mind: Mind, one: int, other: int, likeness: Mapping[tuple[int, int], float], trigrams: Mapping[int, frozenset[str]]
) -> bool:
    first, second = mind.memories[one], mind.memories[other]
    if first.event_type == second.event_type and (
        set(first.participants) & set(second.participants) or (first.location and first.location == second.location)
    ):
        return True
    if likeness.get((one, other), 0.0) >= TOPIC_SIMILARITY:
        return True
    common = len(trigrams[one] & trigrams[other])
    return 2 * common >= NEARLY_THE_SAME * (len(trigrams[one]) + len(trigrams[other]))


def _likenesses(mind: Mind, places: Sequence[int]) -> dict[tuple[int, int], float]:
    """Return how alike the vectors of each two are: 0 is the mean of all pairs of the character, 1 the same."""
    known = [place for place in places if mind.has_vector[place]]
    if len(known) < 2:
        return {}
    rows = mind.vectors[known]
    centre = mind.vectors[mind.has_vector].mean(axis=0)
    level = float(np.einsum("i,i->", centre, centre))
    cosines = np.einsum("ik,jk->ij", rows, rows)
    spread = max(1.0 - level, 1e-6)
    return {
        (one, other): float((cosines[row, column] - level) / spread)
        for row, one in enumerate(known)
        for column, other in enumerate(known)
        if row != column
    }
