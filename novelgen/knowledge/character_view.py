"""What one character knows of all that a context can hold: memories, summaries, passages, changes, names.

The rules tell who knows a memory. Everything else is known to who was in its scene, but for what tells a memory of
that scene that they do not know. Where in doubt it is not known: this is what a secret is kept by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from novelgen.knowledge.retelling import MIN_RETOLD
from novelgen.knowledge.rules import Knowing, KnowledgeRules
from novelgen.knowledge.story import KnowledgeMemory
from novelgen.models.entity import Entity
from novelgen.models.memory import PASSAGE_TYPES, SUMMARY_TYPE, StoryMemoryChunk
from novelgen.models.position import StoryPosition

MIN_SHOWN_CERTAINTY = 0.6
"""From here on it can be shown that somebody knows something; what a text hardly tells again cannot."""

MIN_SHOWN_RETOLD = 0.2
"""Least share of a memory's words, names aside, that tells it again plainly enough to be shown.

That somebody is named tells nothing of what they have done. In two judged books, of 15 memories that the rules hold
wrongly for told, two remain, of 81 that were told, 31.
"""


@dataclass(frozen=True)
class StoryKnowledge:
    """The rules over a story, and what is worked out once for all of its characters.

    Args:
        rules: Who knows a memory.
        stands_for: Chunk id of a consolidated memory to the source ids of the memories that it stands for.
    """

    rules: KnowledgeRules
    stands_for: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def memory_of(self) -> Mapping[str, KnowledgeMemory]:
        """The memories and notes by source id."""
        return {memory.source_id: memory for memory in self.rules.story.memories}

    @cached_property
    def told_at(self) -> Mapping[StoryPosition, Sequence[KnowledgeMemory]]:
        """The memories that a scene brings, and those that somebody comes to know in it."""
        told: dict[StoryPosition, dict[str, KnowledgeMemory]] = defaultdict(dict)
        for memory in self.rules.story.memories:
            if memory.position is not None:
                told[memory.position][memory.source_id] = memory
        for event in self.rules.story.events:
            if event.source_id in self.memory_of:
                place = StoryPosition(event.chapter_index, event.scene_index)
                told[place][event.source_id] = self.memory_of[event.source_id]
        return {place: list(memories.values()) for place, memories in told.items()}

    @cached_property
    def kept_from(self) -> Mapping[str, Collection[str]]:
        """Character id to the memories of which somebody says that they do not know or believe them."""
        kept: defaultdict[str, set[str]] = defaultdict(set)
        for event in self.rules.story.events:
            if event.kind != "knows":
                kept[event.character_id].add(event.source_id)
        return kept

    def of(self, character_id: str, *, is_shown: bool = False) -> CharacterView:
        """Return what one character knows.

        Args:
            character_id: Whose view it is.
            is_shown: Only what can be shown: a guess that is not sure, and words that tell again what is said to be
                kept from them, count for nothing.
        """
        return CharacterView(character_id, self, is_shown)


@dataclass(frozen=True)
class CharacterView:
    """What one character knows at the story's position.

    Args:
        character_id: Whose view it is.
        shared: What is worked out for all characters alike.
        is_shown: Whether only what can be shown counts as known.
    """

    character_id: str
    shared: StoryKnowledge
    is_shown: bool = False
    _known: dict[str, bool] = field(default_factory=dict, init=False, compare=False)
    _kept_secret: dict[StoryPosition, Sequence[KnowledgeMemory]] = field(
        default_factory=dict, init=False, compare=False
    )

    def knows(self, chunk: StoryMemoryChunk) -> bool:
        """Tell whether they know what a stored piece of the story says."""
        if chunk.is_consolidated:
            sources = self.shared.stands_for.get(chunk.chunk_id, ())
            return bool(sources) and all(self.knows_source(each) for each in sources)
        if chunk.content_type in PASSAGE_TYPES or chunk.content_type == SUMMARY_TYPE:
            return self.saw(chunk.content, chunk.chapter_index, chunk.scene_index)
        return self.knows_source(chunk.source_id or chunk.chunk_id)

    def knows_source(self, source_id: str) -> bool:
        """Tell whether they know a memory or note; one of which nothing is told is not known."""
        if source_id not in self._known:
            memory = self.shared.memory_of.get(source_id)
            self._known[source_id] = memory is not None and self._knows(memory)
        return self._known[source_id]

    def was_in(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Tell whether they were on stage in a scene; nobody was in what has no scene."""
        if chapter_index is None or scene_index is None:
            return False
        scene = self.shared.rules.story.scene_at.get(StoryPosition(chapter_index, scene_index))
        return scene is not None and self.character_id in scene.present

    def saw(
        self,
        text: str,
        chapter_index: int | None,
        scene_index: int | None,
        *,
        about: Collection[str] = (),
    ) -> bool:
        """Tell whether they were there when something was said or came to be, and nothing of it is kept from them.

        Args:
            text: What is said of it.
            chapter_index: Chapter of the scene.
            scene_index: The scene.
            about: Whom or what it changes.
        """
        return self.was_in(chapter_index, scene_index) and not self.is_kept_from(
            text, chapter_index, scene_index, about=about
        )

    def is_kept_from(
        self,
        text: str,
        chapter_index: int | None,
        scene_index: int | None,
        *,
        about: Collection[str] = (),
    ) -> bool:
        """Tell whether a text of a scene tells a memory of that scene that they do not know.

        Args:
            text: What is said.
            chapter_index: Chapter of the scene.
            scene_index: The scene; what has none tells nothing.
            about: Ids; an unknown memory about all of these is told, too, whatever the words.
        """
        if chapter_index is None or scene_index is None:
            return False
        return any(
            (about and set(about) <= set(memory.entities))
            or (memory.quote and memory.quote in text)
            or self.shared.rules.retellings.share_told(memory.content, text) >= MIN_RETOLD
            for memory in self._secrets_at(StoryPosition(chapter_index, scene_index))
        )

    def names_of(self, entity: Entity, shown: str) -> list[str]:
        """Return the names under which they know somebody, the display name first.

        Args:
            entity: With the names that the story has told by the position.
            shown: Text that they know; a name that stands in it is known to them.
        """
        first = (entity.first_chapter, entity.first_scene)
        own = (entity.name_first_chapter, entity.name_first_scene)
        places = [(entity.name, first if own[0] is None else own)]
        for alias in entity.aliases:
            place = (alias.first_chapter, alias.first_scene)
            places.append((alias.alias, first if place[0] is None else place))
        return [
            name
            for name, (chapter, scene) in places
            if chapter is None
            or name in shown
            or (self.was_in(chapter, scene) and self._is_open(name, chapter, scene))
        ]

    def _is_open(self, name: str, chapter_index: int, scene_index: int | None) -> bool:
        """Tell whether a name of a scene that they were in is more than a part of what is kept from them there."""
        secrets = self._secrets_at(StoryPosition(chapter_index, scene_index))
        if not any(name in secret.content for secret in secrets):
            return True
        told = (memory for memory in self.shared.rules.story.memories if name in memory.content)
        return any(self.knows_source(memory.source_id) for memory in told)

    def _secrets_at(self, position: StoryPosition) -> Sequence[KnowledgeMemory]:
        if position not in self._kept_secret:
            told = self.shared.told_at.get(position, ())
            self._kept_secret[position] = [each for each in told if not self.knows_source(each.source_id)]
        return self._kept_secret[position]

    def _knows(self, memory: KnowledgeMemory) -> bool:
        knowing = self.shared.rules.knows(self.character_id, memory)
        if not knowing.knows or not self.is_shown:
            return knowing.knows
        return knowing.is_said or self._can_be_shown(memory, knowing)

    def _can_be_shown(self, memory: KnowledgeMemory, knowing: Knowing) -> bool:
        """Tell whether what a rule infers is more than a guess: what is about somebody may go on behind their back."""
        kept = self.shared.kept_from.get(self.character_id, ())
        if memory.source_id in kept or memory.tells_knowers or knowing.certainty < MIN_SHOWN_CERTAINTY:
            return False
        if memory.position is None or knowing.since is None:
            return True
        retellings = self.shared.rules.retellings
        if knowing.how == "told":
            scene = self.shared.rules.story.scene_at[knowing.since]
            texts = (scene.text, scene.learnt.get(self.character_id, ""))
            names = [name for each in self.shared.rules.story.names.values() for name in each]
            share = max(retellings.share_retold(memory.content, text, leaving_out=names) for text in texts)
            if share < MIN_SHOWN_RETOLD:
                return False
        elif not self.was_in(memory.position.chapter_index, memory.position.scene_index):
            return False
        return not any(
            each.source_id in kept and retellings.share_told(memory.content, each.content) >= MIN_RETOLD
            for each in self.shared.told_at.get(knowing.since, ())
        )
