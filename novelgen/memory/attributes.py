"""Attributes of states: their names, deaths and the end of earlier facts."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, NamedTuple

from novelgen.language.language import has_cjk, patterns, significant_words, synonyms, word_pattern, wording
from novelgen.language.normalise import simplified
from novelgen.models.folds import HOLDER_ATTRIBUTE, is_guessed_presence
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, StoryPosition, story_place
from novelgen.models.record import RecordedMemory, SceneRecord
from novelgen.models.state import PLACE_GUESSED, PRESENCE_ATTRIBUTE, StateChange

_SLOT = re.compile(r"(?P<entity>[^\s.]+)\.(?P<attribute>[^\s.][^.]*)")


class SlotHolder(NamedTuple):
    """A memory that holds a slot, and where the story puts it there."""

    place: Place
    source_id: str


def slot_of(entity_id: str, attribute: str) -> str:
    """Return the name of an entity's slot."""
    return f"{entity_id}.{attribute}"


def split_slot(slot: str) -> tuple[str, str] | None:
    """Return entity and attribute of a slot, or None when it is not written `entity.attribute`."""
    match = _SLOT.fullmatch(slot.strip())
    return (match["entity"], match["attribute"].strip()) if match else None


def closed_by(holders: Sequence[SlotHolder], place: Place) -> str | None:
    """Return the later value that closed a slot, or None.

    Values at one place coexist.
    """
    later = bisect_right(holders, place, key=lambda holder: holder.place)
    return holders[later].source_id if later < len(holders) else None


SUPERSESSION_CHAINS: dict[str, str] = {
    "promise_kept": "promise_made",
    "promise_broken": "promise_made",
    "alliance_broken": "alliance_formed",
    "trust_lost": "trust_gained",
    "secret_revealed": "secret_kept",
}
"""Event type that ends something, to the event type that began it."""

SHARED_ENTITIES = 2
"""Entities that both memories must name; all of them where one names fewer."""


class Opened(NamedTuple):
    """A memory that a later one may put an end to."""

    memory_id: str
    event_type: str | None
    entities: frozenset[str]
    content: str


def likeliest_ended(entities: Collection[str], content: str, open_memories: Sequence[Opened]) -> list[Opened]:
    """Return the likeliest ended memories by shared entities and words, with ties."""
    words = significant_words(content)
    shared = [
        (len(open_memory.entities.intersection(entities)), len(words & significant_words(open_memory.content)))
        for open_memory in open_memories
    ]
    most = max(shared, default=None)
    return [open_memory for open_memory, likeness in zip(open_memories, shared, strict=True) if likeness == most]


def with_supersessions(
    record: SceneRecord, earlier: Sequence[StoryMemoryChunk], *, people: Collection[str] | None = None
) -> SceneRecord:
    """Return a record with supersessions from chains.

    Ambiguous ones stay open.
    """
    open_candidates = [
        Opened(chunk.source_id, chunk.event_type, frozenset(chunk.entities_mentioned), chunk.content)
        for chunk in earlier
        if chunk.source_id and chunk.superseded_by is None
    ]
    memories: list[RecordedMemory] = []
    for memory in record.memories:
        ended_id = memory.supersedes or _ended_by(memory, open_candidates, people)
        ended_ids = {ended_id, *memory.also_supersedes}
        memories.append(memory.model_copy(update={"supersedes": ended_id}))
        open_candidates = [open_memory for open_memory in open_candidates if open_memory.memory_id not in ended_ids]
        open_candidates.append(Opened(memory.memory_id, memory.event_type, frozenset(memory.entities), memory.content))
    return record.model_copy(update={"memories": memories})


def ends_another(record: SceneRecord) -> bool:
    """Tell whether a memory of the record may end an earlier one, and does not say which."""
    return any(memory.event_type in SUPERSESSION_CHAINS and not memory.supersedes for memory in record.memories)


def _ended_by(memory: RecordedMemory, candidates: Sequence[Opened], people: Collection[str] | None) -> str | None:
    began = SUPERSESSION_CHAINS.get(memory.event_type)
    if began is None:
        return None
    entities = frozenset(memory.entities)
    fitting = [
        open_memory
        for open_memory in candidates
        if open_memory.event_type == began
        and 0 < min(SHARED_ENTITIES, len(entities), len(open_memory.entities)) <= len(open_memory.entities & entities)
        and (people is None or open_memory.entities.intersection(people) <= entities)
    ]
    likeliest = likeliest_ended(entities, memory.content, fitting)
    return likeliest[0].memory_id if len(likeliest) == 1 else None


LOCATION_ATTRIBUTE = "location_id"
"""Where somebody or something is: the id of a place."""

PLACE_ATTRIBUTE = "place"
"""Where somebody is when that is no known place: a vehicle, on the way; in words, or the id of a thing."""

PLACES = frozenset({LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE})
"""Where somebody or something is."""

PASSING_ATTRIBUTE = "for_now"
"""Posture, dress, what somebody is just doing: it ends when they are next seen."""

INVENTORY_ATTRIBUTE = "inventory"

MEMBERS_ATTRIBUTE = "members"
"""Who belongs to a group: ids of characters, and words for those that have none."""

DISGUISE_ATTRIBUTE = "disguise"
"""Attribute of a state: for whom somebody passes."""

ONE_OF_THE_STORY = ("identity", DISGUISE_ATTRIBUTE)
"""Who somebody or something really is, or passes for: the id of one that is known, else words."""

DESCRIPTION_ATTRIBUTE = "description"
"""Who or what somebody or something is by now; it stands in lists in place of the first description."""

ATTRIBUTES: Mapping[str, str] = {
    "status": "alive, dead, missing, rank or trade",
    LOCATION_ATTRIBUTE: "place: id, name, or words such as: in a cab, on the road to York",
    HOLDER_ATTRIBUTE: "of a thing: who has it, or the thing or place it is in",
    "condition": "of a thing or place: broken, locked, burnt",
    "physical_state": "injury, illness, body; add: beside what else the body has, remove: what is healed",
    "emotional_state": "mood",
    PASSING_ATTRIBUTE: "posture, dress or doings that end with the scene",
    "goals": "list",
    "knowledge": "list",
    INVENTORY_ATTRIBUTE: "list of things that have no id",
    "disguise": "for whom they pass, id or name; or how",
    "identity": "who or what it really is: id, name or words",
    DESCRIPTION_ATTRIBUTE: "who or what it is by now, where its line in the list is no longer true",
    MEMBERS_ATTRIBUTE: "list: who belongs to a group",
}
"""The vocabulary as a model is told it; any other short name is allowed, too."""

LIST_ATTRIBUTES = frozenset(
    {
        *("goals", "knowledge", INVENTORY_ATTRIBUTE, PASSING_ATTRIBUTE),
        *(MEMBERS_ATTRIBUTE, "injuries", "titles", "skills", "secrets"),
    }
)
"""Attributes that hold several things side by side."""

SINGLE_ATTRIBUTES = frozenset(
    {LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, HOLDER_ATTRIBUTE, "status", "disguise", DESCRIPTION_ATTRIBUTE}
)
"""Attributes of which only one value can be true at a time, so that adding one sets it."""

MAX_ENTRIES: Mapping[str, int] = {"goals": 8, "knowledge": 8}
"""How many entries stay, the newest, when more are added to a list that grows with every scene."""

_OTHER_NAMES: Mapping[str, str] = synonyms("attribute_names")
_VITAL_ATTRIBUTES = frozenset({"alive", "dead", "vital_status"})
_NO = frozenset({"false", "no", "否"})
_YES = frozenset({"true", "yes", "是"})
_NAME = re.compile(r"[^\W\d][\w-]{0,39}")

_NOTHING = re.compile(
    r"\s*(?:none|nothing|no longer|removed|over|ended|n/?a|无|没有|已无|已除|已去|解除|结束)[\s.。]*(?:[(（].*)?",
    re.IGNORECASE,
)


def attribute_named(said: str) -> str | None:
    """Return the attribute that a name means, or None when it cannot be stored."""
    name = "_".join(said.casefold().split())
    name = _OTHER_NAMES.get(name, name)
    return name if name != PRESENCE_ATTRIBUTE and _NAME.fullmatch(name) else None


def vital_value(attribute: str, value: Any, *, words: tuple[str, str]) -> tuple[str, Any]:
    """Return a life sign as `status`, any other attribute unchanged."""
    if attribute not in _VITAL_ATTRIBUTES:
        return attribute, value
    statement = str(value).strip().casefold()
    if attribute == "vital_status" or statement not in _YES | _NO:
        return "status", value
    lives = (statement in _YES) == (attribute == "alive")
    return "status", words[0] if lives else words[1]


def is_nothing(value: Any) -> bool:
    """Tell whether a value only says that there is none any more: "none (wig removed)", 无."""
    return value is None or value == [] or (isinstance(value, str) and _NOTHING.fullmatch(value) is not None)


STATUS_ATTRIBUTES = frozenset({"status", "physical_state", "alive", "vital_status"})
"""Attributes whose value may say that a character is dead or alive."""

SEEN_OF_THINGS = STATUS_ATTRIBUTES | {
    *(PASSING_ATTRIBUTE, DESCRIPTION_ATTRIBUTE, "condition"),
    *("injuries", "scar", "scars", "appearance", "looks", "hair", "beard", "dress", "clothes", "clothing", "outfit"),
    *("伤", "伤疤", "疤痕", "外貌", "容貌", "相貌", "头发", "发型", "胡子", "衣着", "穿着", "打扮", "装束", "服饰"),
}
"""Attributes of a thing that show beside it; who has it and where it is does not show elsewhere."""

SEEN_OF_PEOPLE = SEEN_OF_THINGS | {LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE}
"""Attributes of a person that show in a meeting; what they carry, know, plan or really are does not."""

_WHERE_OF_PLACES = PLACES | {"where", "所在"}
"""Where a place lies, which whoever is there knows: it does not move."""


def shows_beside(attribute: str, entity_type: str) -> bool:
    """Tell whether an attribute shows in a meeting with its bearer."""
    if entity_type == "location" and attribute in _WHERE_OF_PLACES:
        return True
    seen_attributes = SEEN_OF_PEOPLE if entity_type == "character" else SEEN_OF_THINGS
    return attribute_named(attribute) in seen_attributes


_KILLS = re.compile(wording("attributes_killing"), re.IGNORECASE)
"""Words that begin a value of whoever kills another."""

_DEAD = {language: words.replace("\n", "") for language, words in patterns("attributes_dead").items()}
_DEAD_FIRST = re.compile(
    rf"(?:now |already |found |presumed )?(?:{_DEAD['en']})\b(?![-'’]\w)"
    r"|(?:[一二三四五六七八九十正腊去今昨前]{1,3}[年月日夜晚][里间中]?)?(?:已经?|当场|不幸)?"
    rf"(?:{_DEAD['zh']})",
    re.IGNORECASE,
)
_ALIVE = word_pattern("attributes_alive")

FIGURATIVE_DEATH = word_pattern("attributes_figurative_death")
"""Words of a death that nobody dies: drowned in debt, 笑死."""


def is_death(attribute: str, value: Any) -> bool:
    """Tell whether a state change says that its character is dead.

    Only a value that begins with it counts: "dead by heart failure", 死亡;
    not "misses the dead", 从者已死, "killed a man".
    """
    if attribute not in STATUS_ATTRIBUTES:
        return False
    if attribute == "alive":
        return value is False or str(value).strip().casefold() in ("false", "no", "否")
    text = simplified(value).strip() if isinstance(value, str) else ""
    if any(words.match(text) for words in (_KILLS, FIGURATIVE_DEATH)):
        return False
    return _DEAD_FIRST.match(text) is not None and not _ALIVE.search(text)


def is_return_to_life(attribute: str, value: Any) -> bool:
    """Tell whether a state change says that its character lives after all, or walks as a ghost."""
    if attribute not in STATUS_ATTRIBUTES:
        return False
    if attribute == "alive":
        return value is True or str(value).strip().casefold() in ("true", "yes", "是")
    return isinstance(value, str) and _ALIVE.search(simplified(value)) is not None


def seen_alive(changes: Iterable[StateChange]) -> list[StateChange]:
    """Return changes, in the order in which they count, without guesses that somebody was there after their death."""
    dead: dict[str, StateChange] = {}
    kept_changes = []
    for change in changes:
        _tell_life(dead, change)
        if change.kind != "presence" or change.entity_id not in dead or not is_guessed_presence(change.value):
            kept_changes.append(change)
    return kept_changes


class PlacesLeft(NamedTuple):
    """Changes without left places, and attributes that a guess ends."""

    changes: list[StateChange]
    doubted: frozenset[str]


def without_places_left(changes: Iterable[StateChange], is_at: Callable[[Any, str], bool]) -> PlacesLeft:
    """Return one bearer's changes without left places.

    Args:
        changes: In the order in which they count.
        is_at: Tells whether the value of a place and the id of a place mean one, or one inside the other.
    """
    listed_changes = list(changes)
    numbers_by_attribute: dict[str, list[int]] = {}
    doubted: set[str] = set()
    over: set[int] = set()
    for number, change in enumerate(listed_changes):
        if change.kind == "explicit" and change.attribute in PLACES:
            numbers_by_attribute.setdefault(change.attribute, []).append(number)
            doubted.discard(change.attribute)
            continue
        for attribute in list(numbers_by_attribute):
            ending = place_left(listed_changes[numbers_by_attribute[attribute][-1]], change, is_at)
            if ending == "sure":
                over.update(numbers_by_attribute.pop(attribute))
            if ending is not None:
                (doubted.add if ending == "guess" else doubted.discard)(attribute)
    return PlacesLeft([one for number, one in enumerate(listed_changes) if number not in over], frozenset(doubted))


def place_left(
    stated: StateChange, later: StateChange, is_at: Callable[[Any, str], bool]
) -> Literal["sure", "guess", "there"] | None:
    """Tell whether a later sight ends a stated place."""
    sight = later.value
    if later.kind != "presence" or not isinstance(sight, Mapping) or story_place(later) <= story_place(stated):
        return None
    location_id, is_place_guessed = sight.get(LOCATION_ATTRIBUTE), bool(sight.get(PLACE_GUESSED))
    if not location_id or stated.value in (None, "") or (is_guessed_presence(sight) and not is_place_guessed):
        return None
    if is_at(stated.value, location_id):
        return "there"
    return "guess" if is_place_guessed else "sure"


@dataclass(frozen=True)
class PlaceNames:
    """The names and outer places of places."""

    names: Mapping[str, Sequence[str]]
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Place to its outer places, ids or words."""

    def is_at(self, value: Any, location_id: str) -> bool:
        """Tell whether two places are one or nested."""
        return self._lies_in(str(value), location_id) or self._lies_in(location_id, str(value))

    def _lies_in(self, inner: str, outer: str) -> bool:
        reachable_places = [inner]
        for place in reachable_places:
            reachable_places += [str(one) for one in self.where.get(place, ()) if str(one) not in reachable_places]
        return outer in reachable_places or any(
            _has_name(name, part)
            for place in reachable_places
            for name in self.names.get(place, [place])
            for part in self.names.get(outer, [outer])
        )


def _has_name(name: str, part: str) -> bool:
    """Tell whether a name has another: mill cellar mill, Mill Lane not."""
    whole, bare = (re.sub(r"^(?:[Tt]he|[Aa]n?) ", "", one.strip()) for one in (name, part))
    if not bare:
        return False
    return bare in whole if has_cjk(bare) else re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", whole) is not None


def deaths(changes: Iterable[StateChange]) -> dict[str, StateChange]:
    """Return the dead after ordered changes, with the statements."""
    dead: dict[str, StateChange] = {}
    for change in changes:
        _tell_life(dead, change)
    return dead


def _tell_life(dead: dict[str, StateChange], change: StateChange) -> None:
    """Add to the dead, or take away, by a change."""
    if is_death(change.attribute, change.value):
        dead[change.entity_id] = change
    elif is_return_to_life(change.attribute, change.value):
        dead.pop(change.entity_id, None)


class Lifetimes:
    """The dead at each place of a story, by statements in the order in which they count."""

    def __init__(self, changes: Iterable[StateChange]) -> None:
        self._life_signs = [
            change
            for change in changes
            if is_death(change.attribute, change.value) or is_return_to_life(change.attribute, change.value)
        ]
        self._turns = sorted(
            # What is said of a whole chapter is known at its end.
            (
                -1 if change.chapter_index is None else change.chapter_index,
                inf if change.scene_index is None else change.scene_index,
            )
            for change in self._life_signs
        )
        self._dead: dict[int, Set[str]] = {}

    def dead_at(self, place: Place) -> Set[str]:
        """Return the dead on entering a scene."""
        turns = bisect_left(self._turns, place)
        if turns not in self._dead:
            at = StoryPosition(*place)
            self._dead[turns] = deaths(
                change for change in self._life_signs if at.admits(change.chapter_index, change.scene_index)
            ).keys()
        return self._dead[turns]
