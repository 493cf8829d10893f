"""Contradictions of when scenes play, and of ages with the time between scenes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from novelgen.language.chronology import days_apart
from novelgen.language.contradictions import contradictions
from novelgen.language.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL, chinese_number, english_number
from novelgen.memory.conflict import Conflict, ConflictSource, conflict_between, said
from novelgen.memory.supersession import slot_of
from novelgen.models.position import story_place
from novelgen.models.state import StateChange
from novelgen.models.story_time import SceneTime

STORY_TIME = "story_time"

AGE_ATTRIBUTES = frozenset({"age", "年龄", "年纪", "岁数"})

_AGE = re.compile(
    rf"^\s*(?:aged?\s+)?(?P<english>{ENGLISH_NUMERAL})(?:\s+years?(?:\s+old)?)?\s*$|^\s*(?P<chinese>{CHINESE_NUMERAL})[岁歲]?\s*$",
    re.IGNORECASE,
)
_SHORTEST_YEAR_DAYS = 354


def story_time_conflicts(times: Sequence[SceneTime], changes: Sequence[StateChange] = ()) -> list[Conflict]:
    """Find times of scenes that cannot all be true, and ages that do not fit the days between two scenes."""
    found = [*_of_times(times), *_of_ages(times, changes)]
    return sorted(found, key=lambda each: (each.second.chapter_index, each.second.scene_index, each.subject))


def _of_times(times: Sequence[SceneTime]) -> Iterator[Conflict]:
    for each in contradictions(times):
        first, second = times[each.first], times[each.second]
        shared = [who for who in second.participants if who in first.participants]
        yield conflict_between(
            "story_time",
            STORY_TIME,
            shared,
            first=_side(first, each.expected if first is second else _words(first)),
            second=_side(second, _words(second) if first is second else f"{_words(second)} ({each.expected})"),
        )


def _words(time: SceneTime) -> str:
    return said(STORY_TIME, time.told.text if time.told is not None else "")


def _side(time: SceneTime, says: str) -> ConflictSource:
    return ConflictSource(
        scene_id=time.scene_id, chapter_index=time.chapter_index, scene_index=time.scene_index, says=says
    )


def _of_ages(times: Sequence[SceneTime], changes: Sequence[StateChange]) -> Iterator[Conflict]:
    """Ages of one person in two scenes of the story's present: nobody grows younger, or older than time goes by."""
    index = {each.place: number for number, each in enumerate(times) if not each.is_flashback}
    stated: defaultdict[tuple[str, str], list[tuple[int, int, StateChange]]] = defaultdict(list)
    for change in changes:
        age = _age(change.value) if change.attribute in AGE_ATTRIBUTES and change.kind == "explicit" else None
        if age is not None and story_place(change) in index:
            stated[change.entity_id, change.attribute].append((index[story_place(change)], age, change))
    for (entity_id, attribute), ages in stated.items():
        for (first, was, earlier), (then, now, later) in pairwise(sorted(ages, key=lambda each: each[0])):
            apart = days_apart(times, first, then)
            if apart is None or first == then:
                continue
            most = None if apart.max_days is None else apart.max_days // _SHORTEST_YEAR_DAYS + 1
            if now < was or (most is not None and now - was > most):
                yield conflict_between(
                    "story_time",
                    slot_of(entity_id, attribute),
                    [entity_id],
                    first=_side(times[first], said(attribute, earlier.value)),
                    second=_side(times[then], said(attribute, later.value)),
                )


def _age(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    match = _AGE.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    return english_number(match["english"]) if match["english"] else chinese_number(match["chinese"])
