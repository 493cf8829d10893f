"""The material of a check: the story before the scene, and the parsed draft."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from math import log

from novelgen.language.language import CJK_RANGES, StoryLanguage, word_list, wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention, NameResolver
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speech import QUOTED, is_first_person, narrator_of
from novelgen.memory.attributes import seen_alive
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeScene
from novelgen.memory.story_changes import CardChanges
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, Relationship, StateChange
from novelgen.models.story_time import SceneTime

# --- Words and how rare they are ---

_WORD = re.compile(rf"[^\W\d_{CJK_RANGES}]+(?:[’'][a-z]+)?")
_CHINESE_RUN = re.compile(f"[{CJK_RANGES}]+")
_COMMON = frozenset(word_list("story_common"))
_COMMON_CHINESE = frozenset(wording("story_common_chinese"))
_COMMON_IN_CHINESE = _COMMON_CHINESE.union(map("".join, product(_COMMON_CHINESE, repeat=2)))


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or passage of an earlier scene, or a memory."""

    text: str
    span: Span
    position: StoryPosition | None
    memory: StoryMemoryChunk | None = None

    @property
    def words(self) -> str:
        """Its text."""
        return self.text[self.span.start : self.span.end]

    @property
    def source_id(self) -> str:
        """Its id as evidence."""
        if self.memory is not None:
            return self.memory.memory_id
        place = self.position
        return f"{place.chapter_index}:{place.scene_index}:passage:{self.span.start}" if place is not None else ""


@dataclass(frozen=True)
class StoryWords:
    """How rare entities are in the story before a draft."""

    memories: Sequence[StoryMemoryChunk]

    @cached_property
    def _memories_of(self) -> Mapping[str, int]:
        return Counter(entity_id for memory in self.memories for entity_id in set(memory.entities_mentioned))

    def entity_rarity(self, entity_id: str) -> float:
        """Return the weight of a shared entity, small for frequent ones."""
        return log((len(self.memories) + 2) / (self._memories_of.get(entity_id, 0) + 1)) + 0.5


def telling_words(text: str) -> frozenset[str]:
    """Return the stems of the English words and the characters and pairs of Chinese that may tell something."""
    text = simplified(text)
    words = {stem(word) for word in _WORD.findall(text) if len(word) > 2} - _COMMON
    for run in _CHINESE_RUN.findall(text):
        words.update(run, map("".join, pairwise(run)))
    return frozenset(words - _COMMON_IN_CHINESE)


def stem(word: str) -> str:
    """Return an English word without its ending, so that start, starts and started are one."""
    folded_text = re.sub(r"[’']\w*$", "", word.casefold())
    if folded_text in _COMMON:
        return folded_text
    for ending in ("ing", "ed", "es", "s"):
        if folded_text.endswith(ending) and len(folded_text) - len(ending) >= 3:
            folded_text = folded_text.removesuffix(ending)
            break
    return folded_text[:-1] if folded_text.endswith("e") and len(folded_text) > 3 else folded_text


def place_or_none(memory: StoryMemoryChunk) -> StoryPosition | None:
    if memory.chapter_index is None or memory.scene_index is None:
        return None
    return StoryPosition(memory.chapter_index, memory.scene_index)


# --- The story and the draft ---

SCENES_OF_A_NARRATOR = 20
MIN_SCENES_OF_A_NARRATOR = 3
SHARE_OF_A_NARRATOR = 0.8
"""How many of the last scenes in the first person tell who narrates, and in what share they are on stage, unnamed."""


@dataclass(frozen=True)
class StoryBefore:
    """The story strictly before a position, as a check needs it."""

    as_of: StoryPosition
    language: StoryLanguage
    entities: Sequence[Entity]
    knowledge: KnowledgeRules
    changes: Sequence[StateChange] = ()
    memories: Sequence[StoryMemoryChunk] = ()
    relationships: Sequence[Relationship] = ()
    threads: Sequence[OpenLoop] = ()
    plan: ScenePlan | None = None
    pov: str | None = None
    story_times: Sequence[SceneTime] = ()
    of_cards: CardChanges = field(default_factory=CardChanges)

    @property
    def scenes(self) -> Sequence[KnowledgeScene]:
        """The scenes in story order, with text and cast."""
        return self.knowledge.story.scenes

    @cached_property
    def entity(self) -> Mapping[str, Entity]:
        """The entities by their id."""
        return {entity.entity_id: entity for entity in self.entities}

    @cached_property
    def words(self) -> StoryWords:
        """Its words and how rare they are, read once."""
        return StoryWords(self.memories)

    @cached_property
    def entities_of_threads(self) -> Mapping[str, Sequence[str]]:
        """The entities of each thread, or the people in its words."""
        people = {entity.entity_id for entity in self.entities if entity.entity_type == "character"}
        resolver = NameResolver(self.entities)
        return {
            thread.loop_id: list(thread.related_entities)
            if people.intersection(thread.related_entities)
            else [
                *thread.related_entities,
                *(entity_id for entity_id in resolver.entity_ids_in(thread.description) if entity_id in people),
            ]
            for thread in self.threads
        }

    @cached_property
    def in_force(self) -> Mapping[tuple[str, str], StateChange]:
        """The last change of each entity's attribute."""
        return {(change.entity_id, change.attribute): change for change in seen_alive(self.changes)}

    @cached_property
    def is_told(self) -> bool:
        """Whether memories, notes or stated states tell anything of it."""
        return bool(self.memories) or any(change.kind == "explicit" for change in self.changes)

    @cached_property
    def words_of_names(self) -> frozenset[str]:
        """The words of all names."""
        return telling_words(" ".join(name for entity in self.entities for name in entity.names()))

    @cached_property
    def quotes(self) -> Mapping[str, str]:
        """The proving quotes of memories by source_id, where known."""
        return {memory.source_id: memory.quote for memory in self.knowledge.story.memories if memory.quote}

    @cached_property
    def resolver(self) -> NameResolver:
        """A name resolver at the position, preferring recently present entities."""
        last = [sorted(scene.present) for scene in self.scenes[:-4:-1]]
        return NameResolver(self.entities, present_ids=[entity_id for present in last for entity_id in present])

    @cached_property
    def narrator_id(self) -> str | None:
        """The first-person narrator of the last scenes, or None if unclear."""
        knowledge_scenes = [scene for scene in self.scenes if is_first_person(scene.text)][-SCENES_OF_A_NARRATOR:]
        if len(knowledge_scenes) < MIN_SCENES_OF_A_NARRATOR:
            return None
        mention_counts = Counter(
            entity_id
            for scene in knowledge_scenes
            for entity_id in set(self.resolver.entity_ids_in(QUOTED.sub(" ", scene.text)))
        )
        there = Counter(entity_id for scene in knowledge_scenes for entity_id in scene.present)
        unnamed = [
            entity_id
            for entity_id, times in there.items()
            if times >= SHARE_OF_A_NARRATOR * len(knowledge_scenes)
            and mention_counts[entity_id] <= (1 - SHARE_OF_A_NARRATOR) * len(knowledge_scenes)
        ]
        return unnamed[0] if len(unnamed) == 1 else None

    def name(self, entity_id: str) -> str:
        """Return the name to show for an entity."""
        return self.entity[entity_id].name if entity_id in self.entity else entity_id


@dataclass(frozen=True)
class Draft:
    """A draft with its sentences and entity mentions."""

    text: str
    mentions: Sequence[Mention] = field(default=())
    narrator_id: str | None = None

    @cached_property
    def plain(self) -> str:
        """Its text in simplified characters, position by position."""
        return simplified(self.text)

    @cached_property
    def sentences(self) -> Sequence[Span]:
        """Where its sentences stand, in order."""
        return split_sentences(self.text)

    @cached_property
    def mentions_of(self) -> Mapping[str, Sequence[Mention]]:
        """The entity mentions by id."""
        mentions_by_id: dict[str, list[Mention]] = {}
        for mention in self.mentions:
            mentions_by_id.setdefault(mention.entity_id, []).append(mention)
        return mentions_by_id

    def sentence_index_at(self, position: int) -> int | None:
        """Return which of the sentences holds a character of the draft, or None where none does."""
        at = bisect_right(self.sentences, position, key=lambda span: span.start) - 1
        return at if at >= 0 and position < self.sentences[at].end else None

    def sentence_at(self, position: int) -> Span | None:
        """Return the sentence that holds a character of the draft, or None where none does."""
        index = self.sentence_index_at(position)
        return None if index is None else self.sentences[index]


def read_draft(text: str, story: StoryBefore) -> Draft:
    """Return a draft with its mentions of entities known before the scene."""
    planned_ids = story.plan.characters if story.plan is not None else []
    present = [result for name in planned_ids if (result := story.resolver.resolve(name).entity_id) is not None]
    mentions = story.resolver.find_mentions(text, also_present=present)
    narrator_id = narrator_of(text, story.entities)
    if narrator_id is None and is_first_person(text):
        narrator_id = story.narrator_id
    return Draft(text, tuple(mentions), narrator_id)


def part_of(draft: Draft, start: int, end: int) -> Draft:
    """Return the span [start, end) as a draft, the whole as itself."""
    if (start, end) == (0, len(draft.text)):
        return draft
    mentions = [
        replace(mention, start=mention.start - start, end=mention.end - start)
        for mention in draft.mentions
        if start <= mention.start and mention.end <= end
    ]
    return replace(draft, text=draft.text[start:end], mentions=tuple(mentions))
