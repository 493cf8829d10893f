"""What a check sees: the story strictly before the draft's scene, and the draft with whom and what it names."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from novelgen.checking.likeness import StoryWords
from novelgen.language.presence import is_first_person, narrator_of
from novelgen.language.resolver import Mention, NameResolver
from novelgen.language.sentences import Span, split_sentences
from novelgen.language.speech import QUOTED, Speech, find_speeches, speech_at
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeScene
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, Relationship, StateChange
from novelgen.models.story_time import SceneTime

SCENES_OF_A_NARRATOR = 20
MIN_SCENES_OF_A_NARRATOR = 3
SHARE_OF_A_NARRATOR = 0.8
"""How many of the last scenes in the first person tell who narrates, and in what share they are on stage, unnamed."""


@dataclass(frozen=True)
class StoryBefore:
    """The story strictly before a position, as a check needs it."""

    as_of: StoryPosition
    language: str
    entities: Sequence[Entity]
    changes: Sequence[StateChange]
    memories: Sequence[StoryMemoryChunk]
    relationships: Sequence[Relationship]
    threads: Sequence[OpenLoop]
    knowledge: KnowledgeRules
    plan: ScenePlan | None = None
    pov: str | None = None
    story_times: Sequence[SceneTime] = ()

    @property
    def scenes(self) -> Sequence[KnowledgeScene]:
        """The scenes in story order, with their text and who was on stage."""
        return self.knowledge.story.scenes

    @cached_property
    def entity(self) -> Mapping[str, Entity]:
        """The entities by their id."""
        return {each.entity_id: each for each in self.entities}

    @cached_property
    def words(self) -> StoryWords:
        """Its words and how rare they are, read once."""
        return StoryWords(self.scenes, self.memories, self.resolver, self.language, self.plan)

    @cached_property
    def in_force(self) -> Mapping[tuple[str, str], StateChange]:
        """The last change of each entity's attribute."""
        return {(each.entity_id, each.attribute): each for each in self.changes}

    @cached_property
    def quotes(self) -> Mapping[str, str]:
        """What of its scene's text proves a memory, by source_id, where that is known."""
        return {each.source_id: each.quote for each in self.knowledge.story.memories if each.quote}

    @cached_property
    def resolver(self) -> NameResolver:
        """Resolves names as of the position; who was on stage last comes first."""
        last = [sorted(scene.present) for scene in self.scenes[:-4:-1]]
        return NameResolver(self.entities, present_ids=[each for present in last for each in present])

    @cached_property
    def narrator_id(self) -> str | None:
        """Who tells the last scenes in the first person; None where nobody does, or it may be several.

        Whoever is on stage in nearly all of them, while what is narrated hardly names them.
        """
        told = [scene for scene in self.scenes if is_first_person(scene.text)][-SCENES_OF_A_NARRATOR:]
        if len(told) < MIN_SCENES_OF_A_NARRATOR:
            return None
        named = Counter(
            entity_id for scene in told for entity_id in set(self.resolver.entity_ids_in(QUOTED.sub(" ", scene.text)))
        )
        there = Counter(entity_id for scene in told for entity_id in scene.present)
        unnamed = [
            entity_id
            for entity_id, times in there.items()
            if times >= SHARE_OF_A_NARRATOR * len(told) and named[entity_id] <= (1 - SHARE_OF_A_NARRATOR) * len(told)
        ]
        return unnamed[0] if len(unnamed) == 1 else None

    def name(self, entity_id: str) -> str:
        """Return the name to show for an entity."""
        return self.entity[entity_id].name if entity_id in self.entity else entity_id


@dataclass(frozen=True)
class Draft:
    """A draft with its sentences, whom and what they name, and what is said aloud."""

    text: str
    mentions: Sequence[Mention] = field(default=())
    speeches: Sequence[Speech] = field(default=())
    narrator_id: str | None = None

    @cached_property
    def sentences(self) -> Sequence[Span]:
        """Where its sentences stand, in order."""
        return split_sentences(self.text)

    @cached_property
    def mentions_of(self) -> Mapping[str, Sequence[Mention]]:
        """Where it names whom and what, by id."""
        found: dict[str, list[Mention]] = {}
        for each in self.mentions:
            found.setdefault(each.entity_id, []).append(each)
        return found

    def sentence_index_at(self, position: int) -> int | None:
        """Return which of the sentences holds a character of the draft, or None where none does."""
        at = bisect_right(self.sentences, position, key=lambda each: each.start) - 1
        return at if at >= 0 and position < self.sentences[at].end else None

    def sentence_at(self, position: int) -> Span | None:
        """Return the sentence that holds a character of the draft, or None where none does."""
        index = self.sentence_index_at(position)
        return None if index is None else self.sentences[index]

    def speech_at(self, position: int) -> Speech | None:
        """Return what is said aloud at a character of the draft, or None where it is narration."""
        return speech_at(self.speeches, position)


def read_draft(text: str, story: StoryBefore) -> Draft:
    """Return a draft with whom and what it names by names that the story has shown, and who speaks in it.

    The plan's cast counts as present, so that what several bear means whom the plan has on stage.
    """
    planned = story.plan.characters if story.plan is not None else []
    present = [found for name in planned if (found := story.resolver.resolve(name).entity_id) is not None]
    mentions = story.resolver.find_mentions(text, also_present=present)
    people = [each for each in mentions if story.entity[each.entity_id].entity_type == "character"]
    narrator_id = narrator_of(text, story.entities)
    if narrator_id is None and is_first_person(text):
        narrator_id = story.narrator_id
    speeches = find_speeches(text, people, narrator_id=narrator_id)
    return Draft(text, tuple(mentions), tuple(speeches), narrator_id)


def part_of(draft: Draft, start: int, end: int) -> Draft:
    """Return the characters [start, end) of a draft as a draft of their own; all of it is the draft itself."""
    if (start, end) == (0, len(draft.text)):
        return draft
    mentions = [
        replace(each, start=each.start - start, end=each.end - start)
        for each in draft.mentions
        if start <= each.start and each.end <= end
    ]
    speeches = [
        replace(each, start=each.start - start, end=each.end - start)
        for each in draft.speeches
        if start <= each.start and each.end <= end
    ]
    return replace(draft, text=draft.text[start:end], mentions=tuple(mentions), speeches=tuple(speeches))
