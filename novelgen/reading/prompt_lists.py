"""Prompt lists of the story so far, chosen by the scene, within budgets.

Every list has a share of the budget that no other can take; what one does not need goes to the others. What did
not find room is counted by list. Room goes first to what the text names or shares words with, last to who was seen
long ago and mattered little. The entities stand in the order in which the story showed them, with what seldom changes
alone, so that a provider's prompt cache serves that list again for the next scene.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Literal

from novelgen.language.language import StoryLanguage, estimate_tokens, significant_words
from novelgen.memory.attributes import DESCRIPTION_ATTRIBUTE, is_death
from novelgen.model_calls import prompt_data
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE, fold_holders
from novelgen.models.position import Place
from novelgen.models.state import LOOP_WEIGHTS, PRESENCE_ATTRIBUTE, OpenLoop, Relationship, RelationshipDimension
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.request import PromptMemory, SceneBefore
from novelgen.reading.scene_touch import recency, touches, weight_in_story

PROMPT_LIST_TOKENS = 12_000
"""With instructions, text, answer and one correction as much as a model of 32,000 tokens takes."""

ListKind = Literal["entities", "threads", "states", "relationships", "memories", "scenes"]

SHARES: Mapping[ListKind, float] = {
    "threads": 0.25,
    "entities": 0.24,
    "states": 0.2,
    "relationships": 0.08,
    "memories": 0.13,
    "scenes": 0.1,
}
"""What of the budget belongs to each list; what it leaves goes first to what the scene touches, then to the rest."""

REPORTED: Mapping[ListKind, str] = {
    "entities": "entities",
    "threads": "open loops",
    "states": "states",
    "relationships": "relationships",
}
"""Lists whose want of room is reported; of memories and scenes before never more than a few are shown."""

MEMORIES_IN_FULL = 12
"""So many of those that are likeliest to be told again stand whole: a short form does not say what all is told."""

MAX_RANKED_MEMORIES = 99
"""More never fit; their numbers have two digits."""

MAX_SCENES_BEFORE = 3
MAX_SCENE_TOKENS = 140
MAX_NAMES_OF_A_SCENE = 12
MAX_STATE_LINE_TOKENS = 160
MAX_DESCRIPTION_TOKENS = 24
WALK_ON_SCENES = 2
FORGOTTEN_AFTER_SCENES = 12
"""Who was in fewer scenes than three, and in none of the last twelve, is listed last unless the scene touches it."""

DEAD_AFTER_SCENES = 3
FADED_AFTER_SCENES = 30
"""A thread of low importance that nothing moved for so long is listed last where the scene does not touch it."""

LEAST_TOUCH = 0.1
LEAST_MEMORY_TOUCH = 0.12

UNREAD: Mapping[StoryLanguage, str] = {"en": "not read yet", "zh": "尚未读"}
"""What stands in the line of a scene that is read at the same time."""

HELD = "holds"
"""Under which name a state line tells the things that have somebody or something as their holder."""

STANDING = ("status", "holder", "location_id", "place")
"""Attributes that tell an entity apart and where it is; they stand first in its line of states."""

FIRST_ATTRIBUTES = (
    *STANDING,
    "identity",
    "disguise",
    "physical_state",
    "goals",
    "inventory",
    "knowledge",
    "emotional_state",
)
_ORDINARY_STATUSES = frozenset({"alive", "living", "活着", "在世"})


@dataclass(frozen=True, slots=True)
class PromptLists:
    """The lists of one prompt, and the references an answer may use."""

    texts: Mapping[str, str]
    shown_ids: tuple[str, ...]
    memory_ids: Mapping[str, str]
    left_out: Mapping[ListKind, int]

    def shortage(self) -> str | None:
        """Return an issue on omitted items, or None."""
        missing = ", ".join(
            f"{name}: {self.left_out[kind]}" for kind, name in REPORTED.items() if self.left_out.get(kind)
        )
        message = f"the lists of the prompt had no room for all that the scene touches ({missing}); "
        return f"{message}memory.summarization.prompt_list_tokens gives more" if missing else None


def chosen_lists(
    text: str, so_far: SceneSoFar, *, language: StoryLanguage, max_tokens: int = PROMPT_LIST_TOKENS
) -> PromptLists:
    """Choose the lists of a scene's prompt."""
    choice = _Choice(text, so_far, language)
    budgets = _budgets(choice, max_tokens)
    entity_list = prompt_data.listed(choice.entities(), choice.entity_line, budgets["entities"])
    choice.listed = dict.fromkeys(entity.entity_id for entity in entity_list.items)
    lists = choice.lists()
    lists_by_kind: dict[ListKind, prompt_data.Listed[Any]] = {
        kind: prompt_data.listed(items, line_of, budgets[kind]) for kind, (items, line_of) in lists.items()
    }
    left_out = {
        kind: sum(choice.is_touched(item) for item in items if item not in lists_by_kind[kind].items)
        for kind, (items, _) in lists.items()
    }
    memories = prompt_data.listed(choice.memories, choice.memory_line, budgets["memories"]).items
    numbered_memories_by_number = dict(enumerate(sorted(memories, key=lambda memory: memory.order), start=1))
    lines: dict[ListKind, list[str]] = {
        **{kind: item.lines for kind, item in lists_by_kind.items()},
        "entities": choice.in_order_of_appearance(lists_by_kind["entities"]),
        "memories": [
            prompt_data.as_data(choice.memory_line(memory, number=at))
            for at, memory in numbered_memories_by_number.items()
        ],
        "scenes": choice.scene_lines(budgets["scenes"]),
    }
    return PromptLists(
        texts={kind: "\n".join(line) or prompt_data.NOTHING[language] for kind, line in lines.items()},
        shown_ids=tuple(choice.listed),
        memory_ids={f"M{at}": memory.memory_id for at, memory in numbered_memories_by_number.items()},
        left_out={kind: count for kind, count in left_out.items() if count},
    )


def _budgets(choice: _Choice, max_tokens: int) -> dict[ListKind, int]:
    needs = choice.needs()
    # More of them than their share are a burden, whatever room there is.
    needs["memories"] = min(needs["memories"], int(SHARES["memories"] * max_tokens))
    budgets = {kind: min(needs[kind], int(share * max_tokens)) for kind, share in SHARES.items()}
    spare = max_tokens - sum(budgets.values())
    for wanted_counts in (choice.needs(is_touched=True), needs):
        for kind in SHARES:
            more = max(0, min(spare, wanted_counts[kind] - budgets[kind]))
            budgets[kind] += more
            spare -= more
    return budgets


class _Choice:
    """Ranks known items by a text, and writes their lines."""

    def __init__(self, text: str, so_far: SceneSoFar, language: StoryLanguage) -> None:
        self._so_far = so_far
        self._sightings = so_far.request.sightings
        self._held = fold_holders(
            (entity_id, state.get(HOLDER_ATTRIBUTE)) for entity_id, state in so_far.states.items()
        )
        self._language = language
        self._text = text
        self._entities = {entity.entity_id: entity for entity in so_far.entities}
        self._touch = touches(text, so_far.entities, sightings=so_far.request.sightings, clock=so_far.clock)
        self._present = {entity_id: rank for rank, entity_id in enumerate(so_far.present_ids)}
        self._proposed = dict.fromkeys(entity.temporary_id for entity in so_far.proposed)
        self.listed: dict[str, None] = {}

    @cached_property
    def _words(self) -> frozenset[str]:
        return significant_words(self._text)

    def lists(self) -> dict[ListKind, tuple[Sequence[Any], Callable[[Any], str]]]:
        """The items of each list, the surest first, with their line writers."""
        return {
            "entities": (self.entities(), self.entity_line),
            "threads": (self.threads(), self.thread_line),
            "states": (self.with_states(), self.state_line),
            "relationships": (self.relationships(), self.relationship_line),
        }

    def needs(self, *, is_touched: bool = False) -> dict[ListKind, int]:
        """What the lists would cost whole, scenes up to their bound; of the others what is touched."""
        self.listed = dict.fromkeys(entity.entity_id for entity in self.entities())

        def cost(items: Iterable[Any], line_of: Callable[[Any], str]) -> int:
            return _sum(line_of(item) for item in items if not is_touched or self.is_touched(item))

        needs: dict[ListKind, int] = {kind: cost(*other_list) for kind, other_list in self.lists().items()}
        needs["memories"] = _sum(map(self.memory_line, self.memories))
        needs["scenes"] = _sum(self.scene_lines(MAX_SCENES_BEFORE * MAX_SCENE_TOKENS))
        self.listed = {}
        return needs

    def entities(self) -> list[Entity]:
        """All who are known, the surest to be needed first, last who is forgotten or dead."""
        # Things that somebody touched holds, and where the touched are.
        tied_scores: dict[str, float] = {}
        for entity_id, state in self._so_far.states.items():
            for attribute in ("holder", "location_id"):
                other = state.get(attribute)
                if isinstance(other, str) and other in self._entities:
                    near, touched_id = (entity_id, other) if attribute == "holder" else (other, entity_id)
                    tied_scores[near] = max(tied_scores.get(near, 0.0), min(1.0, self._touch.get(touched_id, 0.0)))
        ranks = {
            entity_id: (
                self._is_forgotten(entity_id),
                -2.5 * self._touch.get(entity_id, 0.0)
                - self._recency(entity_id)
                - 0.5 * weight_in_story(self._sightings.get(entity_id))
                - 0.4 * tied_scores.get(entity_id, 0.0),
                entity_id,
            )
            for entity_id in self._entities
        }
        return [self._entities[rank] for rank in sorted(ranks, key=lambda entity_id: ranks[entity_id])]

    def in_order_of_appearance(self, choice: prompt_data.Listed[Entity]) -> list[str]:
        """Return the lines of entities as the story showed them, those of this scene last."""
        new = {entity_id: number for number, entity_id in enumerate(self._proposed, start=1)}

        def appearance(entity: Entity) -> tuple[int, Place, str]:
            first = (entity.first_chapter or 0, entity.first_scene or 0)
            return new.get(entity.entity_id, 0), first, entity.entity_id

        pairs = sorted(zip(choice.items, choice.lines, strict=True), key=lambda pair: appearance(pair[0]))
        return [line for _, line in pairs]

    def _is_forgotten(self, entity_id: str) -> bool:
        if self._touch.get(entity_id, 0.0) >= LEAST_TOUCH or entity_id in self._present or entity_id in self._told_of:
            return False
        sighting = self._sightings.get(entity_id)
        if sighting is None or entity_id in self._proposed:
            return False
        ago = self._so_far.clock.scenes_since(sighting.chapter_index, sighting.scene_index) or 1
        state = self._so_far.states.get(entity_id, {})
        if any(is_death(attribute, value) for attribute, value in state.items()):
            return ago > DEAD_AFTER_SCENES
        return ago > FORGOTTEN_AFTER_SCENES and sighting.scenes <= WALK_ON_SCENES

    @cached_property
    def _told_of(self) -> frozenset[str]:
        """Those in the memories that are likeliest to be told again, though no name of theirs stands in the text."""
        return frozenset(entity_id for memory in self.memories[:MEMORIES_IN_FULL] for entity_id in memory.entities)

    def _recency(self, entity_id: str) -> float:
        if entity_id in self._proposed:
            return 1.0
        sighting = self._sightings.get(entity_id)
        scenes_ago = self._so_far.clock.scenes_since(sighting.chapter_index, sighting.scene_index) if sighting else None
        on_stage = 1 / (1 + 0.1 * self._present[entity_id]) if entity_id in self._present else 0.0
        return max(recency(scenes_ago), on_stage)

    def threads(self) -> list[OpenLoop]:
        """Open threads, first those that share people or words with the scene, that run and that are due."""
        ranking: list[tuple[bool, float, OpenLoop]] = []
        for loop in self._so_far.open_loops:
            place = _last_move(loop)
            ago = self._so_far.clock.scenes_since(*place)
            has_faded = loop.importance == "low" and ago is not None and ago > FADED_AFTER_SCENES
            # A thread without a place was opened by an earlier window of this scene.
            recent = 1.0 if place[0] is None else recency(ago)
            touch, overlap = self._touch_of(loop.related_entities), self._overlap(significant_words(loop.description))
            weight = LOOP_WEIGHTS[loop.importance] / 4
            age = min(1.0, (loop.age_scenes or 0) / 40)
            score = 1.2 * recent + 0.6 * touch + 1.5 * overlap + 0.6 * weight + 0.3 * weight * age
            ranking.append((has_faded and not self.is_touched(loop), -score, loop))
        return [loop for _, _, loop in sorted(ranking, key=lambda item: item[:2])]

    def _touch_of(self, entity_ids: Sequence[str]) -> float:
        strongest = sorted((self._touch.get(entity_id, 0.0) for entity_id in entity_ids), reverse=True)[:2]
        return sum(min(1.0, score) for score in strongest)

    def _overlap(self, words: frozenset[str]) -> float:
        return len(words & self._words) / len(words) if words else 0.0

    def is_touched(self, item: Entity | OpenLoop | Relationship | str) -> bool:
        """Whether the text speaks of it, so that its line would tell the model something of this scene."""
        match item:
            case OpenLoop():
                by_words = self._overlap(significant_words(item.description)) > 0.5
                return by_words or self._touch_of(item.related_entities) >= 1
            case Relationship():
                ids = [item.character_a, item.character_b]
            case _:
                ids = [item if isinstance(item, str) else item.entity_id]
        return all(self._touch.get(other_id, 0.0) >= LEAST_TOUCH for other_id in ids)

    def with_states(self) -> list[str]:
        """Listed entities of which something holds or that were seen, those that the scene touches first."""
        return [entity_id for entity_id in self.listed if self._states_of(entity_id) or entity_id in self._sightings]

    def relationships(self) -> list[Relationship]:
        """Relationships of possible participants, the surest pairs first."""
        scored: list[tuple[float, Relationship]] = []
        for pair in self._so_far.relationships:
            both = (pair.character_a, pair.character_b)
            near = [entity_id in self._present or self._touch.get(entity_id, 0.0) >= LEAST_TOUCH for entity_id in both]
            changed = self._so_far.clock.scenes_since(pair.chapter_index, pair.scene_index)
            if all(near) or (any(near) and changed is not None and changed <= MAX_SCENES_BEFORE):
                nearness = sum(
                    max(self._touch.get(entity_id, 0.0), 0.8 * self._recency(entity_id)) for entity_id in both
                )
                scored.append((nearness, pair))
        scored.sort(key=lambda pair: (-pair[0], -(pair[1].chapter_index or 0), -(pair[1].scene_index or 0)))
        return [pair for _, pair in scored]

    @cached_property
    def memories(self) -> list[PromptMemory]:
        """Memories of the same subjects and words, likely repetitions first."""
        words_of = {memory.memory_id: significant_words(memory.says) for memory in self._so_far.request.memories}
        word_counts = Counter(word for words in words_of.values() for word in words)
        entity_counts = Counter(entity_id for memory in self._so_far.request.memories for entity_id in memory.entities)
        scored = []
        for memory in self._so_far.request.memories:
            words = words_of[memory.memory_id]
            rarity = {word: 1 / (1 + log(word_counts[word])) for word in words}
            shared = sum(rarity[word] for word in words & self._words)
            overlap = shared / sum(rarity.values()) if rarity else 0.0
            # A main character is in every other memory and tells little; a thing or a walk-on tells much.
            touch_count = sum(
                min(1.0, self._touch.get(entity_id, 0.0)) / (1 + log(entity_counts[entity_id]))
                for entity_id in memory.entities
            )
            likeness = overlap + 0.6 * min(1.0, touch_count)
            if likeness >= LEAST_MEMORY_TOUCH:
                scored.append((likeness + 0.03 * memory.importance, memory.order, memory))
        ranking = sorted(scored, key=lambda item: (item[0], item[1]), reverse=True)
        return [item[2] for item in ranking[:MAX_RANKED_MEMORIES]]

    def entity_line(self, entity: Entity) -> str:
        """Names and who or what it is: the same for every scene, while no name is new."""
        telling = prompt_data.telling_names(entity, self._text)
        names = "; ".join(name[:60] for name in entity.names() if name in telling)
        now = self._so_far.states.get(entity.entity_id, {}).get(DESCRIPTION_ATTRIBUTE)
        text = few_words(now if isinstance(now, str) else entity.description or entity.role)
        return prompt_data.piped(entity.entity_id, entity.entity_type, names, text)

    def thread_line(self, loop: OpenLoop) -> str:
        """Id, kind, weight, scenes of start and last move, people, question."""
        began = prompt_data.place_mark(loop.chapter_index, loop.scene_index)
        last_place = prompt_data.place_mark(loop.last_chapter_index, loop.last_scene_index)
        places = began if last_place in ("", began) else f"{began} → {last_place}"
        about = ", ".join(map(self._reference, loop.related_entities))
        return prompt_data.piped(loop.loop_id, loop.category, loop.importance, places, about, loop.description)

    def state_line(self, entity_id: str) -> str:
        """Where it was last seen, and whole attributes, those first that the scene touches; the others are named."""
        state = self._states_of(entity_id)
        parts: list[str] = []
        unshown: list[str] = []
        used_tokens = 0
        for name in sorted(state, key=lambda name: self._attribute_rank(name, state[name])):
            part = f"{name}: {self._show_value(state[name])}"
            used_tokens += prompt_data.line_tokens(part)
            if parts and used_tokens > MAX_STATE_LINE_TOKENS:
                unshown.append(name)
                continue
            parts.append(part)
        if unshown:
            parts.append(f"… ({', '.join(unshown)})")
        sighting = self._sightings.get(entity_id)
        seen_place = f"@{sighting.chapter_index}:{sighting.scene_index}" if sighting else ""
        return prompt_data.piped(entity_id, seen_place, "; ".join(parts))

    def _attribute_rank(self, name: str, value: Any) -> tuple[bool, float, int]:
        first = FIRST_ATTRIBUTES.index(name) if name in FIRST_ATTRIBUTES else len(FIRST_ATTRIBUTES)
        return name not in STANDING, -round(self._overlap(significant_words(str(value))), 1), first

    def _states_of(self, entity_id: str) -> dict[str, Any]:
        state = {
            name: value
            for name, value in self._so_far.states.get(entity_id, {}).items()
            if name not in (PRESENCE_ATTRIBUTE, DESCRIPTION_ATTRIBUTE) and value is not None and value != []
        }
        if str(state.get("status", "")).casefold() in _ORDINARY_STATUSES:
            del state["status"]
        held_ids = self._held.get(entity_id)
        return {**state, HELD: held_ids} if held_ids else state

    def relationship_line(self, pair: Relationship) -> str:
        """Ids, type, status, views, intensity, feelings and last change."""
        a, b = self._reference(pair.character_a), self._reference(pair.character_b)
        views = [f"{a} → {b}: {pair.perspective_a}" if pair.perspective_a else ""]
        views += [f"{b} → {a}: {pair.perspective_b}" if pair.perspective_b else ""]
        feelings = [_feelings("", pair.dimensions), _feelings(f"{a} → {b}: ", pair.dimensions_a)]
        feelings.append(_feelings(f"{b} → {a}: ", pair.dimensions_b))
        changed = prompt_data.place_mark(pair.chapter_index, pair.scene_index)
        stands = (pair.relationship_type, pair.status, *views, f"intensity {pair.intensity}", *feelings)
        return prompt_data.piped(
            " ".join(map(self._reference, pair.in_reading_order())), *stands, f"@{changed}" if changed else ""
        )

    def memory_line(self, memory: PromptMemory, *, number: int = MAX_RANKED_MEMORIES) -> str:
        """Its number, place, importance and full or short text."""
        place = prompt_data.place_mark(memory.chapter_index, memory.scene_index)
        is_whole = any(other_memory.memory_id == memory.memory_id for other_memory in self.memories[:MEMORIES_IN_FULL])
        return prompt_data.piped(f"M{number}", place, str(memory.importance), memory.says if is_whole else memory.short)

    def scene_lines(self, max_tokens: int) -> list[str]:
        """The last scenes in story order: time, place, cast and ends."""
        last = self._so_far.request.scenes_before[-MAX_SCENES_BEFORE:]
        return prompt_data.listed(reversed(last), self._scene_line, max_tokens, stops_at_first=True).lines[::-1]

    def _scene_line(self, scene: SceneBefore) -> str:
        mark = prompt_data.place_mark(scene.chapter_index, scene.scene_index)
        cast = ", ".join(map(self._reference, scene.characters_present[:8]))
        if scene.last_words:
            names = ", ".join(scene.names[:MAX_NAMES_OF_A_SCENE])
            return prompt_data.piped(mark, UNREAD[self._language], cast, names, f"… {scene.last_words}")
        place = self._reference(scene.location_id) if scene.location_id else ""
        head = prompt_data.piped(mark, scene.story_time, place, cast)
        lines: list[str] = []
        for bullet in reversed(scene.summary):
            if lines and prompt_data.line_tokens(" ".join([head, bullet, *lines])) > MAX_SCENE_TOKENS:
                break
            lines.insert(0, bullet)
        return prompt_data.piped(head, ("" if self._language == "zh" else " ").join(lines))

    def _show_value(self, value: Any) -> str:
        if isinstance(value, list):
            return "[" + ", ".join(map(self._show_value, value)) + "]"
        return self._reference(value) if isinstance(value, str) else str(value)

    def _reference(self, statement: str) -> str:
        """The id of a listed entity, or the name of another."""
        return (
            self._entities[statement].name
            if statement in self._entities and statement not in self.listed
            else statement
        )


def few_words(text: str) -> str:
    """Return the first fitting clauses of a description, or its first words."""
    clean = " ".join(text.split())
    if estimate_tokens(clean) <= MAX_DESCRIPTION_TOKENS:
        return clean
    marks = [at for at, character in enumerate(clean) if character in "，。；,;." and at > 0]
    fitting = [at for at in marks if estimate_tokens(clean[:at]) <= MAX_DESCRIPTION_TOKENS]
    if fitting:
        return clean[: fitting[-1]]
    words = clean.split(" ")
    while len(words) > 1 and estimate_tokens(" ".join(words)) > MAX_DESCRIPTION_TOKENS:
        words.pop()
    return " ".join(words) if len(words) > 1 else clean[:MAX_DESCRIPTION_TOKENS]


def _feelings(whose: str, values: Mapping[RelationshipDimension, int]) -> str:
    text = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"{whose}{text}" if text else ""


def _sum(lines: Iterable[str]) -> int:
    return sum(prompt_data.line_tokens(prompt_data.as_data(line)) for line in lines)


def _last_move(loop: OpenLoop) -> tuple[int | None, int | None]:
    if loop.last_chapter_index is None:
        return loop.chapter_index, loop.scene_index
    return loop.last_chapter_index, loop.last_scene_index
