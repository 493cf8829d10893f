"""One character's knowledge of a context's content.

The rules tell who knows a memory. Everything else is known to who was in its scene, but for what tells a memory of
that scene that they do not know. Where in doubt it is not known: this is what a secret is kept by.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from novelgen.language.language import significant_words, word_pattern, wording
from novelgen.language.sentences import split_sentences
from novelgen.memory.knowledge_rules import (
    ABSENT_CERTAINTY,
    TAKING_PART_CERTAINTY,
    WITNESSED_CERTAINTY,
    Knowing,
    KnowledgeRules,
    Reason,
    knowing_by_event,
)
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene
from novelgen.memory.note_telling import NoteTelling, note_telling
from novelgen.memory.retelling import MIN_RETOLD
from novelgen.memory.told_identity import tells_identity
from novelgen.models.entity import Entity
from novelgen.models.knowledge import GUESSED_PRESENCE_CERTAINTY, READER, CharacterKnowledge, KnowledgeEvent
from novelgen.models.memory import PASSAGE_TYPES, SUMMARY_TYPE, StoryMemoryChunk
from novelgen.models.position import Place, StoryPosition
from novelgen.models.state import OpenLoop, ThreadStep

MIN_SHOWN_CERTAINTY = 0.6
"""From here on it can be shown that somebody knows something; what a text hardly tells again cannot."""

MIN_SHOWN_RETOLD = 0.2
"""Least share of a memory's words, names aside, that tells it again plainly enough to be shown.

That somebody is named tells nothing of what they have done. In two judged books, of 15 memories that the rules hold
wrongly for told, two remain, of 81 that were told, 31.
"""

MIN_TOLD_KEPT = 0.25
MIN_TOLD_LISTED = 0.4
"""Least share of a memory's words, names aside, by which a text of another scene tells it.

The first of what is said to be kept from somebody, the second of what is said to be known to others: of these there
may be thousands.
"""

MIN_ACCOUNTED_FOR = 0.5
"""Least share of a text's words, names aside, that known memories of its scene must hold where it also has secrets.

"He lies" tells a secret in none of its words.
"""

_PLACING = word_pattern("character_view_placing")
"""Words of who holds, is called, tells or knows what: beside names they tell nothing, for they stand everywhere."""

_GIVING = word_pattern("character_view_giving")
"""Words of giving: beside names and words of placing alone they tell nothing, either."""

_ASKS = re.compile("[?？]")
_CLAUSE_END = re.compile(r"[;；。！!]|\.(?:\s|$)")
_OVER = word_pattern("character_view_over")
"""Words by which what a secret tells is no longer so."""

_PROMISING = word_pattern("character_view_promising")
"""Words that make a thread of a deed: a note of the same may lack them."""

_SUBORDINATE = re.compile(rf"\s(?:{wording('character_view_subordinating')})\s", re.IGNORECASE)
_CLAUSES = re.compile("[^,;:.!?，；：。！？]+[,;:.!?，；：。！？]*")
_INTERROGATIVE = word_pattern("character_view_interrogative")

_DENIES = word_pattern("character_view_denied")
"""Beside the words of a state: they do not tell it."""

LEAST_NAMES_THAT_TELL = 2
"""From so many names on a secret without other words is told by them: 骨柄刀 and 林叔 of 骨柄刀在林叔手里."""

WORDS_OF_SHORT_SECRET = 4
"""A note of so few words, pairs of characters in Chinese, is told beside a name of it alone: 是山贼头目 has four."""

INNER_ATTRIBUTES = frozenset({"emotional_state", "goals", "knowledge", "secrets"})
"""What of a state nobody sees in others, though they stand before them."""


@dataclass(frozen=True)
class StoryKnowledge:
    """The knowledge rules of a story, with shared results for its characters."""

    rules: KnowledgeRules
    stands_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _shown_views: dict[str, CharacterView] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def memory_of(self) -> Mapping[str, KnowledgeMemory]:
        """The memories and notes by source id."""
        return {memory.source_id: memory for memory in self.rules.story.memories}

    @cached_property
    def told_at(self) -> Mapping[StoryPosition, Sequence[KnowledgeMemory]]:
        """The memories that a scene brings, and those that somebody comes to know in it."""
        memories_by_ids_by_position: dict[StoryPosition, dict[str, KnowledgeMemory]] = defaultdict(dict)
        for memory in self.rules.story.memories:
            if memory.position is not None:
                memories_by_ids_by_position[memory.position][memory.source_id] = memory
        for event in self.rules.story.events:
            if event.source_id in self.memory_of:
                place = StoryPosition(event.chapter_index, event.scene_index)
                memories_by_ids_by_position[place][event.source_id] = self.memory_of[event.source_id]
        return {place: list(memories.values()) for place, memories in memories_by_ids_by_position.items()}

    @cached_property
    def kept_from(self) -> Mapping[str, Collection[str]]:
        """Character id to the memories of which somebody says that they do not know or believe them."""
        secrets_by_character: defaultdict[str, set[str]] = defaultdict(set)
        for event in self.rules.story.events:
            if event.kind != "knows":
                secrets_by_character[event.character_id].add(event.source_id)
        return secrets_by_character

    @cached_property
    def hidden_by_author(self) -> Collection[tuple[str, str]]:
        """Pairs of character and source that an author marked as unknown."""
        events = self.rules.story.events
        return {(event.character_id, event.source_id) for event in events if event.by_author and event.kind != "knows"}

    @cached_property
    def confided(self) -> Collection[str]:
        """Notes with stated knowers, closed to others except witnesses of the scene."""
        story = self.rules.story
        return {
            memory.source_id
            for memory in story.memories
            if memory.position is None and story.has_listed_knowers(memory)
        }

    @cached_property
    def all_names(self) -> Collection[str]:
        """Every name of everybody and everything."""
        return {name for names in self.rules.story.names.values() for name in names}

    def of(self, character_id: str, *, is_shown: bool = False) -> CharacterView:
        """Return one character's view."""
        return CharacterView(character_id, self, is_shown)

    def of_character(self, character_id: str, memories: Iterable[KnowledgeMemory] | None = None) -> CharacterKnowledge:
        """Return a character's known and unknown memories, where a note that tells a secret is unknown."""
        return self.rules.of_character(character_id, memories, knows=self.knowing)

    def of_character_and_thread(self, character_id: str, thread: OpenLoop) -> CharacterKnowledge:
        """Return a thread among what a character knows, or does not know."""
        knowing = self.of(character_id, is_shown=True).knowing_of_thread(thread)
        if knowing.knows and thread.said_from is not None:
            # Nobody knows of it before it waits, whenever they were there.
            start = StoryPosition(*thread.said_from)
            knowing = replace(knowing, since=max(start, knowing.since or start))
        memory = KnowledgeMemory(thread.loop_id, thread.description)
        return self.rules.of_character(character_id, [memory], knows=lambda *_: knowing)

    def knowing(self, character_id: str, memory: KnowledgeMemory) -> Knowing:
        """Tell whether a character knows a memory, or a note that tells nothing kept from them."""
        knowing = self.rules.knows(character_id, memory)
        if memory.position is not None or not knowing.knows or knowing.is_said or character_id == READER:
            return knowing
        if character_id not in self._shown_views:
            self._shown_views[character_id] = self.of(character_id, is_shown=True)
        if self._shown_views[character_id].knows_source(memory.source_id):
            return knowing
        return Knowing(memory.source_id, character_id, knows=False, reason="hidden")


@dataclass(frozen=True)
class CharacterView:
    """One character's knowledge at the story's position."""

    character_id: str
    shared: StoryKnowledge
    is_shown: bool = False
    _known: dict[str, bool] = field(default_factory=dict, init=False, compare=False)
    _knowings: dict[str, Knowing] = field(default_factory=dict, init=False, compare=False)
    _kept_secret: dict[StoryPosition, Sequence[KnowledgeMemory]] = field(
        default_factory=dict, init=False, compare=False
    )

    def knows(self, chunk: StoryMemoryChunk) -> bool:
        """Return whether the character knows a stored piece of the story."""
        if chunk.is_consolidated:
            sources = self.shared.stands_for.get(chunk.chunk_id, ())
            return bool(sources) and all(self.knows_source(source_id) for source_id in sources)
        if chunk.content_type in PASSAGE_TYPES or chunk.content_type == SUMMARY_TYPE:
            return self.witnessed_narration(chunk.content, chunk.chapter_index, chunk.scene_index)
        return self.knows_source(chunk.memory_id)

    def knows_source(self, source_id: str) -> bool:
        """Return whether the character knows a source, false without evidence."""
        if source_id not in self._known:
            memory = self.shared.memory_of.get(source_id)
            self._known[source_id] = memory is not None and self._knows(memory)
        return self._known[source_id]

    def is_hidden_from_them(self, source_id: str) -> bool:
        """Tell whether a record or an author keeps it from them."""
        is_kept = source_id in self.shared.kept_from.get(self.character_id, ()) or source_id in self.shared.confided
        return is_kept and source_id in self.shared.memory_of and not self.knows_source(source_id)

    def is_withheld(self, note: KnowledgeMemory) -> bool:
        """Tell whether an unknown note is kept from them.

        Else they were only not there.
        """
        rules = self.shared.rules
        return (
            self.is_hidden_from_them(note.source_id)
            or self.knowing(note.source_id).knows
            or rules.words_keep_from(self.character_id, note.content)
            or not rules.is_said_openly(note.content)
        )

    def knowing(self, source_id: str) -> Knowing:
        """Return whether and how they know a memory or note of the story, by the rules alone."""
        if source_id not in self._knowings:
            memory = self.shared.memory_of[source_id]
            self._knowings[source_id] = self.shared.rules.knows(self.character_id, memory)
        return self._knowings[source_id]

    def was_in(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Return whether the character may have been in a scene."""
        if chapter_index is None or scene_index is None:
            return False
        scene = self.shared.rules.story.scene_at.get(StoryPosition(chapter_index, scene_index))
        if scene is None or self.character_id in scene.present:
            return scene is not None
        return self.shared.rules.may_be_in(self.character_id, scene)

    def is_guessed_in(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Tell whether the character was in a scene by a guess alone: nobody says who was there."""
        if not self.was_in(chapter_index, scene_index):
            return False
        return not self.shared.rules.story.scene_at[StoryPosition(chapter_index, scene_index)].has_record

    def guesses_of(self, chunk: StoryMemoryChunk) -> list[StoryPosition]:
        """Return the scenes of guessed presence by which they know a piece of the story."""
        if chunk.is_consolidated:
            guesses = map(self.guess_of_source, self.shared.stands_for.get(chunk.chunk_id, ()))
            return sorted({guess for guess in guesses if guess is not None})
        if chunk.content_type in PASSAGE_TYPES or chunk.content_type == SUMMARY_TYPE:
            is_guessed = self.is_guessed_in(chunk.chapter_index, chunk.scene_index)
            return [StoryPosition(chunk.chapter_index, chunk.scene_index)] if is_guessed else []
        guess = self.guess_of_source(chunk.memory_id)
        return [] if guess is None else [guess]

    def doubt_of(self, chunk: StoryMemoryChunk) -> StoryPosition | None:
        """Return the scene of a chunk that a guess hides."""
        if self.is_hidden_from_them(chunk.memory_id):
            return None
        if chunk.content_type in PASSAGE_TYPES:
            return self.doubt_of_narration(chunk.content, chunk.chapter_index, chunk.scene_index)
        memory = self.shared.memory_of.get(chunk.memory_id)
        if memory is None or memory.position is not None:
            return self.doubted_at(chunk.chapter_index, chunk.scene_index)
        return self.doubt_of_note(memory)

    def doubt_of_narration(self, text: str, chapter_index: int | None, scene_index: int | None) -> StoryPosition | None:
        """Return the scene of narration that a guess hides."""
        if self.notes_hiding(text, chapter_index, scene_index):
            return StoryPosition(chapter_index, scene_index)
        return self.doubted_at(chapter_index, scene_index)

    def doubt_of_note(self, note: KnowledgeMemory) -> StoryPosition | None:
        """Return the scene of a note whose guessed or unknown cast alone hides it from them."""
        rules = self.shared.rules
        stage = rules.scene_of_note(note)
        if self.is_hidden_from_them(note.source_id):
            return None
        doubt = None if stage is None else self._doubt_of_words(note.content, stage)
        doubt = doubt or self._doubt_of_scene_before(note, stage)
        if doubt is not None or stage is not None:
            return doubt
        is_open = rules.is_said_openly(note.content) and not rules.words_keep_from(self.character_id, note.content)
        return rules.story.as_of if is_open and note.begins_at(rules.story.as_of) else None

    def _doubt_of_scene_before(self, note: KnowledgeMemory, stage: KnowledgeScene | None) -> StoryPosition | None:
        """Return the scene before, if its guessed cast hides a note."""
        rules = self.shared.rules
        before = None if note.noted_at is None else rules.scene_at_or_before(note.noted_at)
        if before is None or before.has_record or rules.is_in(self.character_id, before):
            return None
        is_there = self.character_id in (rules.story.entering if stage is None else stage.present)
        is_open = rules.is_said_openly(note.content) and not rules.words_keep_from(self.character_id, note.content)
        return (
            before.position if is_there and is_open and not rules.is_of_their_scenes(self.character_id, note) else None
        )

    def _doubt_of_words(self, text: str, stage: KnowledgeScene) -> StoryPosition | None:
        """Return the scene of an author's words whose guessed cast alone hides them."""
        rules = self.shared.rules
        if stage.has_record or rules.words_keep_from(self.character_id, text):
            return None
        is_away = not self.was_in(stage.position.chapter_index, stage.position.scene_index)
        return stage.position if is_away or rules.is_said_openly(text) else None

    def doubted_from(self, place: StoryPosition | None, *, is_of_chapter: bool) -> StoryPosition | None:
        """Return the scene of an author's statement, if a guess has the character away."""
        return self._doubted_scene(self.shared.rules.scene_of_statement(place, is_of_chapter=is_of_chapter))

    def _doubted_scene(self, scene: KnowledgeScene | None) -> StoryPosition | None:
        return None if scene is None else self.doubted_at(scene.position.chapter_index, scene.position.scene_index)

    def doubted_at(self, chapter_index: int | None, scene_index: int | None) -> StoryPosition | None:
        """Return the place of a scene of guessed absence, else None."""
        if chapter_index is None or scene_index is None or self.was_in(chapter_index, scene_index):
            return None
        place = StoryPosition(chapter_index, scene_index)
        scene = self.shared.rules.story.scene_at.get(place)
        return place if scene is not None and not scene.has_record else None

    def notes_hiding(self, text: str, chapter_index: int | None, scene_index: int | None) -> list[str]:
        """Return the notes that alone hide what a scene with them tells."""
        if not self.was_in(chapter_index, scene_index):
            return []
        memories = list(self._hiding(text, chapter_index, scene_index))
        if any(memory.position is not None for memory in memories):
            return []
        return list(dict.fromkeys(memory.source_id for memory in memories))

    def guess_of_source(self, source_id: str) -> StoryPosition | None:
        """Return the scene by which they know a source, if a guess alone has them in it."""
        if source_id not in self.shared.memory_of:
            return None
        knowing = self.knowing(source_id)
        if knowing.how == "told" and not knowing.is_said and self.shared.memory_of[source_id].position is None:
            return knowing.since
        return self.guess_of(knowing)

    def guess_of(self, knowing: Knowing) -> StoryPosition | None:
        """Return the scene by which they know something, if a guess alone has them in it."""
        if knowing.is_said or knowing.since is None:
            return None
        is_guessed = self.is_guessed_in(knowing.since.chapter_index, knowing.since.scene_index)
        return knowing.since if is_guessed else None

    def saw(
        self, text: str, chapter_index: int | None, scene_index: int | None, *, about: Collection[str] = ()
    ) -> bool:
        """Return whether the character witnessed a fact that is not hidden from it."""
        return self.was_in(chapter_index, scene_index) and not self.is_kept_from(
            text, chapter_index, scene_index, about=about
        )

    def is_own_thread(
        self, text: str, about: Sequence[str], chapter_index: int | None, scene_index: int | None
    ) -> bool:
        """Tell whether a thread is their own and began before their eyes: its words name them first."""
        if (
            self.character_id not in about
            or not self.was_in(chapter_index, scene_index)
            or self._tells_secret(text, StoryPosition(chapter_index, scene_index))
        ):
            return False
        names = self.shared.rules.story.names
        places = {
            entity_id: min((text.find(name) for name in names.get(entity_id, ()) if name in text), default=-1)
            for entity_id in about
        }
        named_counts = {
            entity_id: place
            for entity_id, place in places.items()
            if place >= 0 and entity_id in self.shared.rules.story.character_ids
        }
        return self.character_id == (
            min(named_counts, key=lambda entity_id: named_counts[entity_id]) if named_counts else about[0]
        )

    def knows_thread(self, thread: OpenLoop) -> bool:
        """Tell whether they know a thread."""
        return self.knowing_of_thread(thread).knows

    def knowing_of_thread(self, thread: OpenLoop) -> Knowing:
        """Return whether and how they know a thread."""
        saying = self._said_of_thread(thread)
        if saying is not None:
            return knowing_by_event(thread.loop_id, self.character_id, saying)
        planting = self._knowing_of_planting(thread)
        ways = [planting, *(self._knowing_of_move(step, thread) for step in thread.steps)]
        ways = [way for way in ways if way.knows]
        # What a scene of a stated cast tells is sure, whatever a guess says of another.
        return next((way for way in ways if self.guess_of(way) is None), ways[0] if ways else planting)

    def believes_open(self, thread: OpenLoop) -> bool:
        """Tell whether a thread that is over is open for them: they know it, and were not told of its end."""
        if not thread.steps or self._said_of_thread(thread) is not None:
            return False
        end = thread.steps[-1]
        if self.was_in(end.chapter_index, end.scene_index) or self._knowing_of_move(end, thread).knows:
            return False
        return self.knowing_of_thread(thread.model_copy(update={"steps": thread.steps[:-1]})).knows

    def doubt_of_end(self, thread: OpenLoop) -> StoryPosition | None:
        """Return the scene in which a thread ended, if nobody says who was there."""
        scene = self._scene_of_step(thread.steps[-1])
        return None if scene is None or scene.has_record else scene.position

    def _said_of_thread(self, thread: OpenLoop) -> KnowledgeEvent | None:
        """Return the author's last word on a thread."""
        events = self.shared.rules.story.events_by_memory.get(thread.loop_id, ())
        return next((event for event in reversed(events) if event.character_id == self.character_id), None)

    def _knowing_of_move(self, step: ThreadStep, thread: OpenLoop) -> Knowing:
        """Return how a move tells them a thread."""
        planted_as, scene = thread.first_worded or thread.description, self._scene_of_step(step)
        place = None if scene is None else scene.position
        how = self.shared.rules.how_told_by_move(self.character_id, step.note, planted_as, scene)
        if how is None or self._tells_secrets_of(step, planted_as, place, how=how):
            return Knowing(thread.loop_id, self.character_id, knows=False, reason="absent")
        knowing = Knowing(thread.loop_id, self.character_id, knows=True, how=how, since=place)
        # In words it is said, as who knows a note; else who is there takes part.
        return replace(knowing, is_said=True) if how == "told" else replace(knowing, certainty=TAKING_PART_CERTAINTY)

    def _tells_secrets_of(
        self, step: ThreadStep, planted_as: str, place: StoryPosition | None, *, how: str | None
    ) -> bool:
        is_kept = self._tells_secret(planted_as, place, by_author=True) or self._tells_secret(step.note, place)
        # A move that tells them the thread tells also a note of the same.
        return is_kept or (how != "told" and self._tells_kept_note(planted_as, place))

    def _scene_of_step(self, step: ThreadStep) -> KnowledgeScene | None:
        if step.chapter_index is None:
            return None
        rules, place = self.shared.rules, StoryPosition(step.chapter_index, step.scene_index)
        if step.said_from is None:
            return rules.story.scene_at.get(place)
        return rules.scene_of_statement(place, is_of_chapter=step.said_from[0] == step.chapter_index)

    def _knowing_of_planting(self, thread: OpenLoop) -> Knowing:
        """Return whether they know a thread as it was planted, and how."""
        planted_as = thread.first_worded or thread.description
        place = StoryPosition(thread.chapter_index, thread.scene_index)
        if self.character_id == READER:
            return Knowing(thread.loop_id, READER, knows=True, how="read", since=place)
        knowing = Knowing(thread.loop_id, self.character_id, knows=False)
        if self._tells_kept_note(planted_as, self._stage_of_planting(thread)):
            return replace(knowing, reason="hidden")
        if thread.said_from is not None:
            knowing = self._knowing_of_own_words(self.shared.rules.note_of_thread(thread), thread)
        elif not self.shared.rules.words_keep_from(self.character_id, planted_as) and (
            self.saw(planted_as, *_pair(place))
            or self.is_own_thread(planted_as, thread.related_entities, *_pair(place))
        ):
            knowing = self._witnessed(place)
        if knowing.knows:
            return replace(knowing, source_id=thread.loop_id)
        reason: Reason = "present" if self.was_in(*_pair(place)) else "absent"
        if self.shared.rules.words_keep_from(self.character_id, planted_as):
            reason = "hidden"
        return replace(knowing, source_id=thread.loop_id, reason=reason)

    def _stage_of_planting(self, thread: OpenLoop) -> StoryPosition | None:
        """Return the scene from which a thread waits."""
        if thread.chapter_index is None:
            return None
        place = StoryPosition(thread.chapter_index, thread.scene_index)
        if thread.said_from is None:
            return place
        is_of_chapter = thread.said_from[0] == thread.chapter_index
        stage = self.shared.rules.scene_of_statement(place, is_of_chapter=is_of_chapter)
        return place if stage is None else stage.position

    def _knowing_of_own_words(self, note: KnowledgeMemory, thread: OpenLoop) -> Knowing:
        """Return whether and how they know an author's thread, by its words as those of a note."""
        rules, place = self.shared.rules, StoryPosition(thread.chapter_index, thread.scene_index)
        if thread.chapter_index is None:
            # No scene stands before it: it begins in the first one, as a note from there does.
            place = thread.said_after or place
        ignorance = Knowing("", self.character_id, knows=False)
        if self._is_kept_statement(note.content, place):
            return ignorance
        if rules.is_among_knowers(self.character_id, note.content):
            return replace(self._known_by_author, certainty=1.0, is_said=True)
        about = rules.subjects_of_thread(thread)
        knowing = self.knowing_of_statement(
            note.content,
            [one for one in about if one != self.character_id or rules.takes_part_in_note(one, note)],
            None if place.chapter_index is None else place,
            is_of_chapter=thread.said_from is not None and thread.said_from[0] == place.chapter_index,
        )
        if rules.is_of_their_scenes(self.character_id, note):
            return knowing
        is_open = rules.is_said_openly(note.content) and rules.scene_of_note(note) is not None
        scene = rules.scene_of_left_deed(self.character_id, note) if is_open else None
        return (
            ignorance
            if scene is None
            else replace(self._witnessed(scene.position), certainty=GUESSED_PRESENCE_CERTAINTY)
        )

    @property
    def _known_by_author(self) -> Knowing:
        return Knowing("", self.character_id, knows=True, how="author", certainty=ABSENT_CERTAINTY)

    def _witnessed(self, place: StoryPosition) -> Knowing:
        is_guess = self.is_guessed_in(place.chapter_index, place.scene_index)
        certainty = GUESSED_PRESENCE_CERTAINTY if is_guess else WITNESSED_CERTAINTY
        return Knowing("", self.character_id, knows=True, how="witnessed", since=place, certainty=certainty)

    def doubt_of_thread(self, thread: OpenLoop) -> StoryPosition | None:
        """Return the scene of guessed cast that hides a thread."""
        place = (thread.chapter_index, thread.scene_index)
        if self.knows_thread(thread):
            return self.doubted_at(*(thread.worded_in or place))
        planted_as = thread.first_worded or thread.description
        if self._said_of_thread(thread) is not None:
            return None
        moves = (self._doubt_of_move(step, planted_as) for step in thread.steps)
        return self._doubt_of_planting(thread, planted_as) or next((move for move in moves if move is not None), None)

    def _doubt_of_planting(self, thread: OpenLoop, planted_as: str) -> StoryPosition | None:
        place = StoryPosition(thread.chapter_index, thread.scene_index)
        if self.shared.rules.words_keep_from(self.character_id, planted_as) or self._tells_kept_note(
            planted_as, self._stage_of_planting(thread)
        ):
            return None
        if thread.said_from is None or thread.chapter_index is None:
            return self.doubted_at(*_pair(place))
        is_of_chapter = thread.said_from[0] == thread.chapter_index
        stage = self.shared.rules.scene_of_statement(place, is_of_chapter=is_of_chapter)
        doubt = None if stage is None else self._doubt_of_words(planted_as, stage)
        return doubt or self._doubt_of_scene_before(self.shared.rules.note_of_thread(thread), stage)

    def _doubt_of_move(self, step: ThreadStep, planted_as: str) -> StoryPosition | None:
        """Return the scene of a move without a stated cast."""
        # With them in a stated cast it would tell them the thread.
        scene = self._scene_of_step(step)
        if scene is None or scene.has_record:
            return None
        with_them = replace(scene, has_record=True, present=scene.present | {self.character_id})
        how = self.shared.rules.how_told_by_move(self.character_id, step.note, planted_as, with_them)
        is_kept = how is None or self._tells_secrets_of(step, planted_as, scene.position, how=how)
        return None if is_kept else scene.position

    def witnessed_narration(self, text: str, chapter_index: int | None, scene_index: int | None) -> bool:
        """Return whether the character witnessed narration, without its secrets."""
        if not self.saw(text, chapter_index, scene_index):
            return False
        position = StoryPosition(chapter_index, scene_index)
        secrets = self._secrets_at(position)
        if not self.is_shown or not any(memory.noted_at is None and self._is_said_secret(memory) for memory in secrets):
            return True
        kept_ids = {memory.source_id for memory in secrets}
        known_name = " ".join(
            memory.content for memory in self.shared.told_at[position] if memory.source_id not in kept_ids
        )
        share = self.shared.rules.retellings.share_told(text, known_name, leaving_out=self.shared.all_names)
        return share >= MIN_ACCOUNTED_FOR

    def is_kept_from(
        self, text: str, chapter_index: int | None, scene_index: int | None, *, about: Collection[str] = ()
    ) -> bool:
        """Return whether a text tells an unknown memory or another's secret."""
        return any(True for _ in self._hiding(text, chapter_index, scene_index, about=about))

    def _hiding(
        self, text: str, chapter_index: int | None, scene_index: int | None, *, about: Collection[str] = ()
    ) -> Iterator[KnowledgeMemory]:
        """Yield the secrets and unknown memories that a text of a scene tells."""
        if chapter_index is None or scene_index is None:
            return
        position = StoryPosition(chapter_index, scene_index)
        yield from map(self.shared.memory_of.__getitem__, self._told_secrets(text, position))
        for memory, telling in self._kept_notes.get(position, ()):
            if telling.sentences(text):
                yield memory
        # Who two are is told by any later scene that names both in one breath.
        for memory, telling in self._kept_identities:
            if self._may_be_told_at(memory.source_id, position) and telling.sentences_of_identity(text):
                yield memory
        for memory in self._secrets_at(position):
            # A note hides what it tells, a scene's memory also what the scene changes of whom it is about.
            is_of_them = memory.noted_at is None and about and set(about) <= set(memory.entities)
            if is_of_them or self._is_retold(memory, text):
                yield memory

    @cached_property
    def _kept_notes(self) -> Mapping[StoryPosition, Sequence[tuple[KnowledgeMemory, NoteTelling]]]:
        """The kept notes by their scenes.

        What is said to hold from a scene on may have come about in the scene before.
        """
        notes: defaultdict[StoryPosition, list[tuple[KnowledgeMemory, NoteTelling]]] = defaultdict(list)
        for memory, telling in self._tellings_of_kept:
            for position in self._scenes_of(memory):
                notes[position].append((memory, telling))
        return notes

    @cached_property
    def _tellings_of_kept(self) -> Sequence[tuple[KnowledgeMemory, NoteTelling]]:
        """The notes that an author keeps from them, in story order."""
        story = self.shared.rules.story
        people = [names for entity_id, names in story.names.items() if entity_id in story.character_ids]
        return [
            (memory, note_telling(memory.content, people, own_names=self._own_names))
            for memory in story.memories
            if memory.position is None and self._is_kept_note(memory)
        ]

    @cached_property
    def _kept_identities(self) -> Sequence[tuple[KnowledgeMemory, NoteTelling]]:
        """The kept notes that say of two that they are one."""
        return [(memory, telling) for memory, telling in self._tellings_of_kept if telling.identities]

    def _is_kept_note(self, note: KnowledgeMemory) -> bool:
        """Tell whether an author keeps a note from them."""
        if self.knows_source(note.source_id):
            return False
        is_said = self.shared.rules.words_keep_from(self.character_id, note.content)
        return is_said or self.is_hidden_from_them(note.source_id)

    def _tells_kept_note(self, thread: str, place: StoryPosition | None) -> bool:
        """Tell whether a thread tells a note that is kept from them by its place, in more or in fewer words."""
        notes = [note for note, _ in self._tellings_of_kept if self._may_be_told_at(note.source_id, place)]
        if not notes:
            return False
        story, own_names = self.shared.rules.story, self._own_names
        people = [story.names.get(entity_id, ()) for entity_id in story.character_ids]
        clauses = [part for clause in _CLAUSES.findall(thread) for part in _SUBORDINATE.split(clause)]
        clauses = [_PROMISING.sub(" ", clause) for clause in clauses]
        naming = [one for one in clauses if any(name in one for names in people for name in names)]
        # Who asks "who" or "where" does not tell the answer.
        texts = naming or [one for one in clauses if _INTERROGATIVE.search(one) is None]
        parts = [(text, note_telling(text, people, own_names=own_names)) for text in texts]
        for secret in map(self._without_keeping, (note.content for note in notes)):
            of_secret = note_telling(secret, people, own_names=own_names)
            is_of_self = any(name in secret for name in own_names)
            if any(
                (part.is_within(secret) or of_secret.is_within(text))
                and (is_of_self or not any(name in text for name in own_names))
                for text, part in parts
            ):
                return True
        return False

    def _without_keeping(self, note: str) -> str:
        """Return a note without the clauses that keep it from them."""
        rest = [one for one in _CLAUSES.findall(note) if not self.shared.rules.words_keep_from(self.character_id, one)]
        return "".join(rest) or note

    def is_identity_kept(self, cards: Sequence[Sequence[str]], *, is_told_to_all: bool) -> bool:
        """Tell whether it is kept from them that cards are one.

        Args:
            cards: The names of each card.
            is_told_to_all: A merge told it to all. What tells more than the identity then hides only itself.
        """
        return any(
            (memory.told_to_all_at is not None or not is_told_to_all)
            and tells_identity(memory.content, cards)
            and (self._is_kept_note(memory) if memory.position is None else self.is_hidden_from_them(memory.source_id))
            for memory in self.shared.rules.story.memories
        )

    def _scenes_of(self, note: KnowledgeMemory) -> set[StoryPosition]:
        """Return their scenes of a note."""
        stage = self.shared.rules.scene_of_note(note)
        before = (
            None if note.is_of_scene or note.noted_at is None else self.shared.rules.scene_at_or_before(note.noted_at)
        )
        return {
            scene.position for scene in (stage, before) if scene is not None and self.was_in(*_pair(scene.position))
        }

    def untied_notes(self, places: Collection[tuple[int, int]]) -> list[tuple[str, int, int]]:
        """Return the kept notes without a telling text, each with the scene of theirs that is nearest to its words.

        A note of an identity is tied by its names. A scene without any word of the note does not tell it.

        Args:
            places: The scenes of which something is given to them.
        """
        scene_at = self.shared.rules.story.scene_at
        results = []
        for memory, telling in self._tellings_of_kept:
            scenes = sorted(self._scenes_of(memory))
            if telling.identities or any(
                memory.source_id in self.notes_hiding(scene_at[place].text, *_pair(place)) for place in scenes
            ):
                continue
            nearness = {place: telling.nearness(scene_at[place].text) for place in scenes}
            nearest = max(scenes, key=lambda place: (nearness[place], place), default=None)
            if nearest is not None and nearness[nearest] and _pair(nearest) in places:
                results.append((memory.source_id, nearest.chapter_index or 0, nearest.scene_index or 0))
        return results

    def _is_retold(self, memory: KnowledgeMemory, text: str) -> bool:
        """Return whether a text tells a memory of its scene, or a note, more than by names."""
        if memory.noted_at is not None:
            weights = self._weights(memory)
            pieces = [weights.keys() & significant_words(piece) for piece in _pairs_of_sentences(text)]
            return any(
                sum(weights[word] for word in words) >= MIN_TOLD_KEPT and len(words) >= min(2, len(weights))
                for words in pieces
            )
        share = self.shared.rules.retellings.share_told(memory.content, text, leaving_out=self._own_names)
        return share >= MIN_RETOLD or bool(memory.quote and memory.quote in text)

    def knowing_of_statement(
        self, text: str, about: Sequence[str], place: StoryPosition | None, *, is_of_chapter: bool = False
    ) -> Knowing:
        """Return whether they know an author's statement that no note makes: it tells no secret and was before them.

        Without a place it holds from the beginning, and nobody needs a scene to know it; nor do those whom it names.
        Of whom the author has in the scene from which it holds nobody needs to see whom or what it is about. Where
        nobody has said who was in that scene, the scene before counts, too: with a subject, or where it has none. What
        is said apart or thought is known to those alone whom it names.
        """
        rules = self.shared.rules
        ignorance = Knowing("", self.character_id, knows=False)
        stage = rules.scene_of_statement(place, is_of_chapter=is_of_chapter)
        if self._is_kept_statement(text, place if stage is None else stage.position):
            return ignorance
        if place is None or self.character_id in about:
            return self._known_by_author
        if not rules.is_said_openly(text):
            return ignorance
        if stage is not None and stage.has_record and self.character_id in stage.present:
            return self._witnessed(stage.position)
        if about or (stage is not None and stage.has_record):
            scene = rules.scene_beside(self.character_id, about, place, stage=stage)
            return ignorance if scene is None else self._witnessed(scene.position)
        return self._witnessed(place) if self.saw(text, *_pair(place)) else ignorance

    def _is_kept_statement(self, text: str, place: StoryPosition | None) -> bool:
        """Tell whether an author's statement tells what is kept from them."""
        is_kept = self.shared.rules.words_keep_from(self.character_id, text)
        return is_kept or self._tells_secret(text, place, by_author=True)

    def is_shown_at(self, scene: KnowledgeScene, text: str, entity_id: str) -> bool:
        """Tell whether a scene shows them how somebody is, which is no secret.

        A note on somebody that is kept from them keeps also what shows, where it tells it.
        """
        if not self.shared.rules.is_said_openly(text) or self._is_kept_statement(text, scene.position):
            return False
        share_told = self.shared.rules.retellings.share_told
        return not any(
            entity_id in note.entities
            and self._may_be_told_at(note.source_id, scene.position)
            and (
                telling.sentences(text)
                or share_told(text, note.content, leaving_out=self.shared.all_names) >= MIN_TOLD_KEPT
            )
            for note, telling in self._tellings_of_kept
        )

    def scene_with(
        self,
        entity_id: str,
        *,
        after: StoryPosition | None = None,
        until: StoryPosition | None = None,
        leaving_out: Collection[Place] = (),
    ) -> KnowledgeScene | None:
        """Return a scene of theirs with somebody, a sure one first.

        Args:
            entity_id: Whom they meet there.
            after: The place after which it stands.
            until: The last place of it.
            leaving_out: Scenes in which they do not know them.
        """
        scenes = self.shared.rules.story.scenes
        start = 0 if after is None else bisect_right(scenes, after, key=_position)
        end = None if until is None else bisect_right(scenes, until, key=_position)
        scenes = [
            scene
            for scene in scenes[start:end]
            if entity_id in scene.present
            and (place := _pair(scene.position)) not in leaving_out
            and self.was_in(*place)
        ]
        return next((scene for scene in scenes if scene.has_record), scenes[0] if scenes else None)

    def scene_naming(
        self,
        named: Sequence[Collection[str]],
        place: StoryPosition,
        *,
        until: StoryPosition | None = None,
        then: Collection[str] = (),
        is_in_words: bool = False,
    ) -> KnowledgeScene | None:
        """Return a scene of theirs from a place on, a sure one first, that names all of some.

        Args:
            named: The names of each, first those of the bearer; no question tells them.
            place: The earliest place of such a scene.
            until: The last one, in whose scene it ends.
            then: The names of what holds after that. Where its scene names it beside the bearer, it shows the new.
            is_in_words: The state is told in words, which a text may deny.
        """

        def says(piece: str, names_of_each: Iterable[Collection[str]]) -> bool:
            return all(any(_begins_or_stands_in(name, piece) for name in names) for names in names_of_each)

        def shows(scene: KnowledgeScene) -> bool:
            pieces = _pairs_of_sentences(scene.text)
            if scene.position == until and any(says(piece, (named[0], then)) for piece in pieces):
                return False
            return any(
                says(piece, named)
                and not _ASKS.search(piece)
                and not (is_in_words and _DENIES.search(piece))
                and self.witnessed_narration(piece, scene.position.chapter_index, scene.position.scene_index)
                for piece in pieces
            )

        story_scenes = self.shared.rules.story.scenes
        end = None if until is None else bisect_right(story_scenes, until, key=_position)
        scenes = [
            scene
            for scene in story_scenes[bisect_left(story_scenes, place, key=_position) : end]
            if says(scene.text, named)
            and self.was_in(scene.position.chapter_index, scene.position.scene_index)
            and shows(scene)
        ]
        return next((scene for scene in scenes if scene.has_record), scenes[0] if scenes else None)

    def is_stated_apart(self, text: str, about: Collection[str]) -> bool:
        """Return whether an author's statement tells a secret hidden from the character.

        A memory about the same people is one where an author hides it, and else where the text tells it again.
        """
        hidden = self.shared.hidden_by_author
        share_told = self.shared.rules.retellings.share_told
        return self._tells_secret(text) or any(
            (self.character_id, source_id) in hidden
            or share_told(memory.content, text, leaving_out=self.shared.all_names) >= MIN_RETOLD
            for source_id in self.shared.kept_from.get(self.character_id, ())
            if (memory := self.shared.memory_of.get(source_id)) is not None
            and set(about) <= set(memory.entities)
            and not self.knows_source(source_id)
        )

    def names_of(self, entity: Entity, display_name: str) -> list[str]:
        """Return the names under which they know somebody, the display name first."""
        first = (entity.first_chapter, entity.first_scene)
        places = [(entity.name, entity.name_first_chapter, entity.name_first_scene)]
        places += [(alias.alias, alias.first_chapter, alias.first_scene) for alias in entity.aliases]
        placed_names = [(name, *(first if chapter is None else (chapter, scene))) for name, chapter, scene in places]
        return [
            name
            for name, chapter, scene in placed_names
            if chapter is None
            or _begins_or_stands_in(name, display_name)
            # All know an identity that its author merged: both names, not the one that they had met alone.
            or (entity.revealed_names and name in (entity.name, *entity.revealed_names))
            or (self.was_in(chapter, scene) and self._is_open(name, chapter, scene))
        ]

    def _is_open(self, name: str, chapter_index: int, scene_index: int | None) -> bool:
        """Return whether a name is more than part of a hidden fact."""
        people = list(self.shared.rules.story.names.values())
        # A note hides a name where it says who somebody is, and not where it says what somebody known does.
        if not any(
            name in secret.content and (secret.noted_at is None or tells_identity(secret.content, people))
            for secret in self._secrets_at(StoryPosition(chapter_index, scene_index))
        ):
            return True
        memories = (memory for memory in self.shared.rules.story.memories if name in memory.content)
        return any(self.knows_source(memory.source_id) for memory in memories)

    def _secrets_at(self, position: StoryPosition) -> Sequence[KnowledgeMemory]:
        if position not in self._kept_secret:
            # A note that the rules alone keep from them hides nothing of a scene: what they lived through wins.
            self._kept_secret[position] = [
                memory
                for memory in self.shared.told_at.get(position, ())
                if not self.knows_source(memory.source_id)
                and (memory.position is not None or self.is_hidden_from_them(memory.source_id))
            ]
        return self._kept_secret[position]

    def notes(self, *, known: bool) -> Iterator[KnowledgeMemory]:
        """Yield the author's notes that they know, or those that they do not."""
        notes = (memory for memory in self.shared.rules.story.memories if memory.position is None)
        return (note for note in notes if self.knows_source(note.source_id) == known)

    @property
    def _own_names(self) -> Sequence[str]:
        """Their own names, which tell nothing: all that they live through has them."""
        return self.shared.rules.story.names.get(self.character_id, ())

    def _knows(self, memory: KnowledgeMemory) -> bool:
        knowing = self.knowing(memory.source_id)
        if not knowing.knows or not self.is_shown:
            return knowing.knows
        return knowing.is_said or self._can_be_shown(memory, knowing)

    def _can_be_shown(self, memory: KnowledgeMemory, knowing: Knowing) -> bool:
        """Return whether an inferred fact may be shown, being more than a guess."""
        if self._is_said_secret(memory) or knowing.certainty < MIN_SHOWN_CERTAINTY:
            return False
        place = memory.position or memory.noted_at
        if memory.position is None:
            stage = self.shared.rules.scene_of_note(memory)
            told_text = self._beside_own_deed(memory)
            secret_ids = self._told_secrets(told_text, place if stage is None else stage.position)
            return not any(
                self._names_subject(source_id, memory.content)
                and not self._is_other_move(self.shared.memory_of[source_id], memory)
                for source_id in secret_ids
            )
        if knowing.since is None:
            return not self._tells_secret(memory.content, place, by_author=True)
        if knowing.how == "told":
            scene = self.shared.rules.story.scene_at[knowing.since]
            if not any(
                self.shared.rules.retellings.share_retold(memory.content, text, leaving_out=self.shared.all_names)
                >= MIN_SHOWN_RETOLD
                for text in (scene.text, scene.learnt.get(self.character_id, ""))
            ):
                return False
        elif not self.was_in(memory.position.chapter_index, memory.position.scene_index):
            return False
        kept_ids = self.shared.kept_from.get(self.character_id, ())
        share_told = self.shared.rules.retellings.share_told
        return not self._tells_secret(memory.content, place) and not any(
            other_memory.source_id in kept_ids
            and not self.knows_source(other_memory.source_id)
            and share_told(memory.content, other_memory.content, leaving_out=self._own_names) >= MIN_RETOLD
            for other_memory in self.shared.told_at.get(knowing.since, ())
        )

    def _beside_own_deed(self, note: KnowledgeMemory) -> str:
        """Return a note without their own deed, and without clauses by which something is over.

        It must be a deed of theirs in a scene of a stated cast: they know what they did there.
        """
        rules = self.shared.rules
        deed = rules.deed_of_note(note)
        stage = rules.scene_of_note(note)
        before = None if note.noted_at is None else rules.scene_at_or_before(note.noted_at)
        is_there = any(scene and scene.has_record and self.character_id in scene.present for scene in (stage, before))
        if deed is None or self.character_id not in deed.doers or not is_there:
            return note.content
        rest = f"{note.content[: deed.span.start]}; {note.content[deed.span.end :]}"
        return "; ".join(clause for clause in _CLAUSE_END.split(rest) if not _OVER.search(clause))

    def _is_other_move(self, secret: KnowledgeMemory, note: KnowledgeMemory) -> bool:
        """Tell whether a note has another move of a secret's thing.

        They lived through that move by stated casts, or are named in it, and it does not name all of the secret.
        """
        rules = self.shared.rules
        takes_part = self.character_id in note.entities
        stated = rules.statements_of(note)
        moved_ids = rules.things_placed(note) if takes_part else {one.entity_id for one in stated}
        of_secret = rules.statements_of(secret)
        is_same = not set(stated).isdisjoint(of_secret) or self.character_id in secret.entities
        # Without a statement of its own the note may say the same in words.
        is_same = is_same or (not stated and any(one.value in note.entities for one in of_secret))
        if is_same or rules.things_placed(secret).isdisjoint(moved_ids):
            return False
        is_whole = len(secret.entities) > LEAST_NAMES_THAT_TELL and set(secret.entities) <= set(note.entities)
        return not is_whole and (takes_part or self._lived_through(note))

    def _lived_through(self, note: KnowledgeMemory) -> bool:
        """Tell whether stated casts have them beside a note."""
        rules, stage = self.shared.rules, self.shared.rules.scene_of_note(note)
        before = None if note.noted_at is None else rules.scene_at_or_before(note.noted_at)
        scenes = [scene for scene in (before, stage) if scene is not None]
        return bool(scenes) and all(scene.has_record and self.character_id in scene.present for scene in scenes)

    # --- Secrets: what a record or an author says is kept from them, or known to others ---

    def _is_said_secret(self, memory: KnowledgeMemory) -> bool:
        return memory.tells_knowers or memory.source_id in self.shared.kept_from.get(self.character_id, ())

    @cached_property
    def _secrets(self) -> Sequence[KnowledgeMemory]:
        """What is kept from them, or known to others alone, in the order of the story."""
        memories = self.shared.rules.story.memories
        return [
            memory for memory in memories if self._is_said_secret(memory) and not self.knows_source(memory.source_id)
        ]

    def _weights(self, secret: KnowledgeMemory) -> dict[str, float]:
        """Return the words of a secret that tell it, with their shares."""
        told_text = _PLACING.sub(" ", secret.content)
        weights = self.shared.rules.retellings.weights
        if not weights(_GIVING.sub(" ", told_text), leaving_out=self.shared.all_names):
            return {}
        return weights(told_text, leaving_out=self.shared.all_names)

    @cached_property
    def _secret_words(self) -> Mapping[str, Sequence[tuple[str, float]]]:
        """The secrets of each word, with the word's share of the reveal limit."""
        kept_ids = self.shared.kept_from.get(self.character_id, ())
        results: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
        for memory in self._secrets:
            least = MIN_TOLD_KEPT if memory.source_id in kept_ids else MIN_TOLD_LISTED
            weights = self._weights(memory)
            for word, share in weights.items():
                # One word is too little of a secret of several: "told" stands in many.
                told = min(share / least, 0.9) if len(weights) > 1 else 1.0
                results[word].append((memory.source_id, told))
        return results

    def _names_another(self, source_id: str, folded: str) -> bool:
        """Tell whether a text names somebody of a note that has few words, which may stand anywhere."""
        names = self._other_names_of.get(source_id, ())
        return not names or any(name in folded for name in names)

    def _names_subject(self, source_id: str, note: str) -> bool:
        """Tell whether an author's note names whom or what a secret of few words is about.

        That stands before the first of those words: a note on another thing in the same box tells nothing of it.
        """
        secret = self.shared.memory_of[source_id]
        content = secret.content.casefold()
        start = min((content.find(word) for word in self._weights(secret) if word in content), default=0)
        names = [name for name in self._other_names_of.get(source_id, ()) if 0 <= content.find(name) < start]
        return not names or any(name in note.casefold() for name in names)

    @cached_property
    def _other_names_of(self) -> Mapping[str, Sequence[str]]:
        """The names of others in the secret notes of few words."""
        names_of = self.shared.rules.story.names
        return {
            memory.source_id: [
                name.casefold()
                for entity_id in memory.entities
                if entity_id != self.character_id
                for name in names_of.get(entity_id, ())
            ]
            for memory in self._secrets
            if memory.position is None and len(self._weights(memory)) <= WORDS_OF_SHORT_SECRET
        }

    @cached_property
    def _secret_names(self) -> Sequence[tuple[str, StoryPosition | None, Sequence[Sequence[str]]]]:
        """Secrets that consist of names, since when they hold and the names of each whom they name."""
        names_of = self.shared.rules.story.names
        results: list[tuple[str, StoryPosition | None, Sequence[Sequence[str]]]] = []
        for memory in (secret for secret in self._secrets if not self._weights(secret)):
            content = memory.content.casefold()
            named = [[name.casefold() for name in names_of.get(entity_id, ())] for entity_id in memory.entities]
            named = [names for names in named if any(map(content.__contains__, names))]
            if len(named) >= LEAST_NAMES_THAT_TELL:
                results.append((memory.source_id, memory.position or memory.noted_at, named))
        return results

    def _may_be_told_at(self, source_id: str, place: StoryPosition | None) -> bool:
        """Tell whether a text of a place may tell a secret: not a note of a later scene."""
        memory = self.shared.memory_of[source_id]
        if place is None or memory.position is not None or memory.noted_at is None:
            return True
        stage = self.shared.rules.scene_of_note(memory)
        return place >= (memory.noted_at if stage is None else stage.position)

    def _tells_secret(self, text: str, place: StoryPosition | None = None, *, by_author: bool = False) -> bool:
        """Tell whether two sentences of a text tell enough of any secret, whatever scene it is of."""
        source_ids = self._told_secrets(text, place)
        return any(not by_author or self._names_subject(source_id, text) for source_id in source_ids)

    def _told_secrets(self, text: str, place: StoryPosition | None) -> Iterator[str]:
        """Yield the secrets of which two sentences of a text tell enough."""
        if not self.is_shown or not self._secrets:
            return
        text_key = text.casefold()
        for piece in _pairs_of_sentences(text):
            yield from self._secrets_of_piece(piece, text_key, place)

    def _secrets_of_piece(self, piece: str, whole: str, place: StoryPosition | None) -> Iterator[str]:
        told_scores: defaultdict[str, float] = defaultdict(float)
        for word in sorted(significant_words(piece)):
            for source_id, share in self._secret_words.get(word, ()):
                told_scores[source_id] += share
        for source_id, share in told_scores.items():
            if share >= 1.0 and self._may_be_told_at(source_id, place) and self._names_another(source_id, whole):
                yield source_id
        piece_key = piece.casefold()
        for source_id, since, named in self._secret_names:
            # Who held a thing before is told by the same names and is no secret.
            is_later = place is None or since is None or place >= since
            if is_later and all(any(map(piece_key.__contains__, names)) for names in named):
                yield source_id


def _position(scene: KnowledgeScene) -> StoryPosition:
    return scene.position


def _pair(place: StoryPosition) -> tuple[int | None, int | None]:
    return place.chapter_index, place.scene_index


def _pairs_of_sentences(text: str) -> list[str]:
    """Return a text in pairs of neighbouring sentences."""
    spans = split_sentences(text)
    if len(spans) <= 2:
        return [text]
    return [text[first.start : second.end] for first, second in pairwise(spans)]


def _begins_or_stands_in(name: str, text: str) -> bool:
    """Return whether a text has a name, also capitalised."""
    return name in text or name[:1].upper() + name[1:] in text
