"""Unresolved contradictions of a story: values, holders, deaths, memories, times."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from novelgen.language.chronology import TellingScene, days_apart
from novelgen.language.contradictions import contradictions
from novelgen.language.language import folded
from novelgen.language.normalise import title_free_key
from novelgen.language.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL, chinese_number, english_number
from novelgen.language.reading import is_out_of_time, read_story_time
from novelgen.memory.attributes import STATUS_ATTRIBUTES, is_death, is_return_to_life, slot_of, split_slot
from novelgen.memory.conflict import (
    Conflict,
    ConflictSource,
    conflict_between,
    in_story_order,
    revelations,
    said,
    source_in,
)
from novelgen.memory.outline import PairChange
from novelgen.memory.relationship_conflicts import relationships_at_odds
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, story_place
from novelgen.models.state import StateChange
from novelgen.models.story_time import SceneTime

ACTING_ATTRIBUTES = frozenset({"goals", "knowledge", "emotional_state", "disguise"})
"""What only the living take on; a body can be moved, robbed and buried."""


def dead_who_act(
    scenes: Sequence[TellingScene], changes: Sequence[StateChange], memories: Sequence[StoryMemoryChunk] = ()
) -> list[Conflict]:
    """Find dead people on stage or with new wants, knowledge or feelings."""
    by_place = {scene.place: scene for scene in scenes}
    present = {character for scene in scenes for character in scene.participants}
    characters = present | {change.entity_id for change in changes if change.entity_type == "character"}
    return in_story_order(
        conflict for character in characters for conflict in _acts_of(character, by_place, changes, memories)
    )


def _acts_of(
    character: str,
    scenes: dict[Place, TellingScene],
    changes: Sequence[StateChange],
    memories: Sequence[StoryMemoryChunk],
) -> Iterator[Conflict]:
    own = [change for change in changes if change.entity_id == character and change.kind == "explicit"]
    told_deaths = {
        story_place(memory): memory.content
        for memory in memories
        if memory.event_type == "death" and memory.scene_index is not None and _is_own_death(character, memory)
    }
    death: ConflictSource | None = None
    for place in sorted(scenes):
        scene = scenes[place]
        stated = [change for change in own if story_place(change) == place]
        if any(is_return_to_life(change.attribute, change.value) for change in stated):
            death = None
            continue
        taken_on = [change for change in stated if change.attribute in ACTING_ATTRIBUTES and change.value]
        acts = [said(change.attribute, change.value) for change in taken_on]
        acts += ["is present"] if character in scene.participants else []
        if death is not None and acts and not is_out_of_time(scene.story_time):
            yield conflict_between("dead_acts", character, [character], first=death, second=source_in(scene, acts[0]))
        deaths = [said(change.attribute, change.value) for change in stated if is_death(change.attribute, change.value)]
        deaths += [told_deaths[place]] if place in told_deaths else []
        if death is None and deaths:
            death = source_in(scene, deaths[0])


def _is_own_death(character: str, memory: StoryMemoryChunk) -> bool:
    slot = split_slot(memory.slot_type or "")
    if slot is not None:
        return slot[0] == character and slot[1] in STATUS_ATTRIBUTES
    return memory.entities_mentioned == [character]


FIXED_ATTRIBUTES = frozenset(
    """
    identity true_name species race birthplace birthday birth_date mother father parents parentage eye_colour
    eye_color blood_type nationality gender sex maker origin
    """.split()
)
"""What does not change in the story's world: a second value needs a scene that reveals it."""

EXCLUSIVE_ATTRIBUTES = frozenset({"location_id", "holder"})
"""What changes freely, but has one value at one time."""

_DATE_PATTERN = re.compile(r"\d|[〇零一二三四五六七八九十廿初]+[日号时]|[年月].*[日夜晨午晚]")


def slot_conflicts(
    scenes: Sequence[TellingScene], changes: Sequence[StateChange], memories: Sequence[StoryMemoryChunk] = ()
) -> list[Conflict]:
    """Find fixed attributes that change unrevealed, and exclusive ones that differ at one dated time."""
    by_place = {scene.place: scene for scene in scenes}
    revealed = revelations(memories)
    # Within one scene the last value of a slot stands.
    slots: defaultdict[tuple[str, str], dict[Place, StateChange]] = defaultdict(dict)
    for change in changes:
        if change.kind == "explicit" and change.value is not None and story_place(change) in by_place:
            slots[change.entity_id, change.attribute][story_place(change)] = change
    conflicts: list[Conflict] = []
    for (entity_id, attribute), stated in slots.items():
        values = [(place, stated[place].value) for place in sorted(stated)]
        pairs = pairwise(values) if attribute in FIXED_ATTRIBUTES else combinations(values, 2)
        for (first, was), (second, now) in pairs if attribute in FIXED_ATTRIBUTES | EXCLUSIVE_ATTRIBUTES else ():
            is_fixed = attribute in FIXED_ATTRIBUTES
            if was != now and (
                (second, entity_id) not in revealed if is_fixed else _are_at_one_time(by_place[first], by_place[second])
            ):
                first_side = source_in(by_place[first], said(attribute, was), value=was)
                second_side = source_in(by_place[second], said(attribute, now), value=now)
                slot = slot_of(entity_id, attribute)
                conflicts.append(
                    conflict_between("slot_value", slot, [entity_id], first=first_side, second=second_side)
                )
    return in_story_order(conflicts)


def _are_at_one_time(*scenes: TellingScene) -> bool:
    """Return whether both times are equal and dated, or hours of one dated day."""
    times = [folded(telling_scene.story_time or "") for telling_scene in scenes]
    if len(set(times)) == 1:
        return _DATE_PATTERN.search(times[0]) is not None
    story_times = [read_story_time(telling_scene.story_time or "") for telling_scene in scenes]
    if any(
        not (story_time.is_dated and story_time.is_clock and story_time.part) or story_time.tells_of_past
        for story_time in story_times
    ):
        return False
    return (
        len(
            {
                (
                    story_time.era,
                    story_time.year,
                    story_time.month,
                    story_time.day,
                    story_time.is_lunar,
                    story_time.minutes,
                )
                for story_time in story_times
            }
        )
        == 1
    )


INVENTORY = "inventory"


@dataclass(frozen=True, slots=True)
class _Holding:
    """Somebody is said to hold a thing, from a place in the story on."""

    holder_id: str
    place: Place
    says: str


def things_held_twice(
    scenes: Sequence[TellingScene], changes: Sequence[StateChange], *, entities: Sequence[Entity]
) -> list[Conflict]:
    """Find items in a second inventory while in a first, or stated to be held while another's inventory lists them."""
    by_place = {scene.place: scene for scene in scenes}
    ledger = _Ledger(entities)
    conflicts_by_id: dict[str, Conflict] = {}
    for place in sorted(by_place):
        here = [change for change in changes if story_place(change) == place and change.kind == "explicit"]
        for item_id, first, second in ledger.advance(here, place):
            conflict = conflict_between(
                "two_holders",
                item_id,
                [item_id, first.holder_id, second.holder_id],
                first=source_in(by_place[first.place], first.says),
                second=source_in(by_place[second.place], second.says),
            )
            conflicts_by_id.setdefault(conflict.conflict_id, conflict)
    return list(conflicts_by_id.values())


class _Ledger:
    """The holders of things as the story moves on."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        items = [entity for entity in entities if entity.entity_type == "item"]
        self._item_ids = {item.entity_id: item.entity_id for item in items}
        self._item_ids |= {title_free_key(name): item.entity_id for item in items for name in item.names()}
        self._names = {entity.entity_id: entity.name for entity in entities}
        self._by_inventory: dict[str, dict[str, _Holding]] = {}

    def advance(self, changes: Sequence[StateChange], place: Place) -> list[tuple[str, _Holding, _Holding]]:
        """Take in one scene's changes and return the items then held twice, with both holders."""
        stated = {change.entity_id: change.value for change in changes if change.attribute == HOLDER_ATTRIBUTE}
        inventories_by_id = {change.entity_id: change.value for change in changes if change.attribute == INVENTORY}
        newly_listed = {
            item_id for character, value in inventories_by_id.items() for item_id in self._list(character, value, place)
        }
        matches = []
        for item_id in sorted(newly_listed | stated.keys()):
            holdings = self._holdings(item_id, stated, place)
            if len(holdings) > 1:
                matches.append((item_id, holdings[0], holdings[-1]))
        return matches

    def _list(self, character: str, value: Any, place: Place) -> set[str]:
        """Replace a character's inventory, and return its new items."""
        before = self._by_inventory.get(character, {})
        items = value if isinstance(value, list) else [value] if value else []
        says = f"{INVENTORY} of {self._names.get(character, character)}"
        now = {
            item_id: before.get(item_id) or _Holding(character, place, f"{says}: {item}")
            for item in items
            if (item_id := self._item_id(str(item))) is not None
        }
        self._by_inventory[character] = now
        return now.keys() - before.keys()

    def _holdings(self, item_id: str, stated: Mapping[str, Any], place: Place) -> list[_Holding]:
        """The holders of an item after the scene, the longest first."""
        listed_holdings = [items[item_id] for items in self._by_inventory.values() if item_id in items]
        holder = stated.get(item_id)
        if holder is None:
            return sorted(listed_holdings, key=lambda holding: holding.place)
        for character, items in self._by_inventory.items():
            if character != holder and item_id in items and items[item_id].place < place:
                del items[item_id]
        disagreeing = [holding for holding in listed_holdings if holding.holder_id != holder and holding.place == place]
        said_holder = _Holding(str(holder), place, f"{HOLDER_ATTRIBUTE}: {self._names.get(str(holder), holder)}")
        return [*disagreeing, said_holder]

    def _item_id(self, item: str) -> str | None:
        return self._item_ids.get(item) or self._item_ids.get(title_free_key(item))


def memories_that_disagree(
    scenes: Sequence[TellingScene], memories: Sequence[StoryMemoryChunk], contradictions: Sequence[tuple[str, str]]
) -> list[Conflict]:
    """Find memories of which a record says that they cannot both be true, the later first, while both are stored."""
    by_place = {scene.place: scene for scene in scenes}
    memories_by_key = {memory.source_id: memory for memory in memories if story_place(memory) in by_place}
    return [
        conflict_between(
            "memories_disagree",
            second.source_id or "",
            [entity_id for entity_id in second.entities_mentioned if entity_id in first.entities_mentioned],
            first=source_in(by_place[story_place(first)], first.content),
            second=source_in(by_place[story_place(second)], second.content),
        )
        for later, earlier in contradictions
        if (second := memories_by_key.get(later)) is not None and (first := memories_by_key.get(earlier)) is not None
    ]


def find_conflicts(
    scenes: Sequence[TellingScene],
    changes: Sequence[StateChange],
    memories: Sequence[StoryMemoryChunk] = (),
    *,
    entities: Sequence[Entity] = (),
    contradictions: Sequence[tuple[str, str]] = (),
    relationships: Sequence[PairChange] = (),
    times: Sequence[SceneTime] = (),
) -> list[Conflict]:
    """Find the contradictions of a story."""
    conflicts = [
        *slot_conflicts(scenes, changes, memories),
        *dead_who_act(scenes, changes, memories),
        *things_held_twice(scenes, changes, entities=entities),
        *memories_that_disagree(scenes, memories, contradictions),
        *relationships_at_odds(scenes, relationships, changes, memories),
        *story_time_conflicts(times, changes),
    ]
    return sorted(
        {conflict.conflict_id: conflict for conflict in conflicts}.values(),
        key=lambda conflict: story_place(conflict.second),
    )


STORY_TIME = "story_time"
AGE_ATTRIBUTES = frozenset({"age", "年龄", "年纪", "岁数"})

_AGE = re.compile(
    rf"^\s*(?:aged?\s+)?(?P<english>{ENGLISH_NUMERAL})(?:\s+years?(?:\s+old)?)?\s*$|^\s*(?P<chinese>{CHINESE_NUMERAL})[岁歲]?\s*$",
    re.IGNORECASE,
)
_SHORTEST_YEAR_DAYS = 354


def story_time_conflicts(times: Sequence[SceneTime], changes: Sequence[StateChange] = ()) -> list[Conflict]:
    """Find times of scenes that cannot all be true, and ages that do not fit the days between two scenes."""
    return in_story_order([*_of_times(times), *_of_ages(times, changes)])


def _of_times(times: Sequence[SceneTime]) -> Iterator[Conflict]:
    for contradiction in contradictions(times):
        scenes = times[contradiction.first], times[contradiction.second]
        first, second = (said(STORY_TIME, scene.told.text if scene.told else "") for scene in scenes)
        if contradiction.first == contradiction.second:
            first = contradiction.expected
        else:
            second = f"{second} ({contradiction.expected})"
        yield conflict_between(
            "story_time",
            STORY_TIME,
            [who for who in scenes[1].participants if who in scenes[0].participants],
            first=source_in(scenes[0], first),
            second=source_in(scenes[1], second),
        )


def _of_ages(times: Sequence[SceneTime], changes: Sequence[StateChange]) -> Iterator[Conflict]:
    """Ages of one person in two scenes of the story's present: nobody grows younger, or older than time goes by."""
    index = {scene_time.place: number for number, scene_time in enumerate(times) if not scene_time.is_flashback}
    stated: defaultdict[tuple[str, str], list[tuple[int, int, StateChange]]] = defaultdict(list)
    for change in changes:
        age = _age(change.value) if change.attribute in AGE_ATTRIBUTES and change.kind == "explicit" else None
        if age is not None and story_place(change) in index:
            stated[change.entity_id, change.attribute].append((index[story_place(change)], age, change))
    for (entity_id, attribute), ages in stated.items():
        for (first, was, earlier), (then, now, later) in pairwise(sorted(ages, key=lambda item: item[0])):
            apart = days_apart(times, first, then)
            if apart is None or first == then:
                continue
            most = None if apart.max_days is None else apart.max_days // _SHORTEST_YEAR_DAYS + 1
            if now < was or (most is not None and now - was > most):
                yield conflict_between(
                    "story_time",
                    slot_of(entity_id, attribute),
                    [entity_id],
                    first=source_in(times[first], said(attribute, earlier.value)),
                    second=source_in(times[then], said(attribute, later.value)),
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
