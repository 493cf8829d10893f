"""Rules for knowledge of a memory, by presence, subject and retelling.

What a record or an author says goes first; the rules answer where nobody says anything.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

from novelgen.language.language import patterns, significant_words, stated_language, word_pattern
from novelgen.language.resolver import NameResolver
from novelgen.language.sentences import Span
from novelgen.memory.attributes import is_death, shows_beside
from novelgen.memory.deeds import Deed, deed_of, mishap_of, people_of_deeds, people_spoken_of
from novelgen.memory.earshot import has_words_of_telling, hears, is_addressed, is_said, is_subject, takes_part
from novelgen.memory.kept_from import (
    does_not_know_own,
    is_among_knowers,
    is_between_few,
    is_kept_from,
    is_lied_to,
    is_told,
    openly_said,
    without_knowers,
)
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.memory.spoken import Saying, SpokenStates
from novelgen.memory.stated import Statement, plain_wound_of, statements_of
from novelgen.memory.whereabouts import tells_whereabouts, things_located
from novelgen.models.knowledge import (
    GUESSED_PRESENCE_CERTAINTY,
    READER,
    CharacterKnowledge,
    KnowledgeEvent,
    KnowledgeSource,
    KnownMemory,
    UnknownMemory,
)
from novelgen.models.memory import read_from, scene_of_note
from novelgen.models.position import Place, StoryPosition
from novelgen.words import LANGUAGES, words

if TYPE_CHECKING:
    from novelgen.memory.retelling import Retellings
    from novelgen.models.state import OpenLoop

INNER_EVENTS = frozenset({"relationship_change", "goal_change", "decision", "other"})
"""Kinds of memories that may tell what goes on in somebody's mind."""

_INNER = word_pattern("knowledge_rules_inner")
_UNSUSPECTING = word_pattern("knowledge_rules_unsuspecting")
"""Words that tell that somebody suspects nothing, which is no thought."""

_APART = word_pattern("knowledge_rules_apart")
"""What is done or said so that not all who are there perceive it."""

_UNSEEN = word_pattern("knowledge_rules_unseen")
"""What is done so that nobody sees it, whomever or whatever group the words name for that."""

_ASKS = word_pattern("knowledge_rules_asks")
"""What a thread leaves open as a question: it tells nobody whom it names."""

_CLAUSE_END = re.compile("[,;，。；！!：:]|\\.(?:\\s|$)")

_DEED = word_pattern("knowledge_rules_deed")
"""Those of its words that tell a deed of a note: only further words say that those who are there do not perceive it."""

_HAPPENED = word_pattern("knowledge_rules_happened")
_WHOLE = word_pattern("knowledge_rules_whole")
_TREATED = word_pattern("knowledge_rules_treated")
_LONG_AGO = word_pattern("stated_past")
"""Words of deeds, of healing and treatment, and of long ago."""

_IN_LIFE = word_pattern("knowledge_rules_in_life")
"""Words of what was before, or in somebody's lifetime."""

_KNOWS = re.compile(f"(?:{'|'.join(patterns('knowledge_rules_knows').values())})", re.IGNORECASE)
_KNEW = re.compile(f"(?:{'|'.join(patterns('knowledge_rules_knew').values())})", re.IGNORECASE)
"""What follows the name of somebody who knew a thing."""

APART_EVENTS = frozenset(
    {"secret_learned", "secret_kept", "secret_revealed", "confession", "deception", "theft", "disguise"}
)
"""Kinds of memories that are between those whom they are about, whoever else is there."""

SETTLED_AMONG_OTHERS = frozenset({"plan", "promise_made", "decision", "goal_change"})
"""What those present agree on: somebody absent whom it is about does not know it by that."""

FOUND_OUT_EVENTS = frozenset({"discovery", "rule_or_canon", "secret_revealed", "identity_revealed", "confession"})
"""What comes to light in a scene and was so before: who had part in it knew it all along."""

MIN_TOLD_BY_SCENE = 0.75
"""Of a note's words, by rarity, that one piece of a scene has, for the scene to tell it."""

DONE_CERTAINTY = 0.95
WITNESSED_CERTAINTY = 0.9
ABSENT_CERTAINTY = 0.8
TAKING_PART_CERTAINTY = 0.7
OFF_STAGE_CERTAINTY = 0.5
MIN_TOLD_CERTAINTY = 0.5
MAX_TOLD_CERTAINTY = 0.75
"""How sure each rule is, by judgement; what was told grows with how plainly it was told, and is never sure: words that
come again where one who knows is there are no tale."""

MIN_KNOWN = 0.2
"""Least share of a memory that must stand in what a record says somebody knows, which is short."""

MIN_KNOWN_OF_SECRET = 0.5
"""Least share of what is kept from somebody, or told to people named, that their `knowledge` must hold to open it.

No words of a later scene do: a name in them would be enough, and who says that it is a secret knows when it is none.
"""

REMEMBERED_TEXTS = 20_000
"""Texts of memories whose words of secrecy are remembered: the same are read for each character."""

Reason = Literal["hidden", "deceived", "doubts", "inner", "settled", "present", "absent", "left_out", "unsaid", "dead"]


@dataclass(frozen=True, slots=True)
class Knowing:
    """A character's knowledge of a memory with its reason.

    `is_said` marks a record or an author.
    """

    source_id: str
    character_id: str
    knows: bool
    how: KnowledgeSource | None = None
    learned_from: str | None = None
    since: StoryPosition | None = None
    certainty: float = 1.0
    quote: str = ""
    reason: Reason | None = None
    is_said: bool = False


@dataclass(frozen=True)
class KnowledgeRules:
    """Decides knowledge of memories in a story."""

    story: KnowledgeStory
    _taking_part: dict[tuple[StoryPosition, str], bool] = field(default_factory=dict, init=False, compare=False)
    _as_subject: dict[tuple[StoryPosition, str], bool] = field(default_factory=dict, init=False, compare=False)
    _stated_by: dict[str, Sequence[Statement]] = field(default_factory=dict, init=False, compare=False)
    _came_before: dict[str, bool] = field(default_factory=dict, init=False, compare=False)
    _deeds: dict[str, Deed | None] = field(default_factory=dict, init=False, compare=False)
    _left_deeds: dict[str, Deed | None] = field(default_factory=dict, init=False, compare=False)
    _spoken_of: dict[str, frozenset[str]] = field(default_factory=dict, init=False, compare=False)
    _openly_said: dict[str, bool] = field(default_factory=dict, init=False, compare=False)
    _unknown_to_own: dict[str, bool] = field(default_factory=dict, init=False, compare=False)
    _subjects: dict[str, str | None] = field(default_factory=dict, init=False, compare=False)

    def of_character(
        self,
        character_id: str,
        memories: Iterable[KnowledgeMemory] | None = None,
        *,
        knows: Callable[[str, KnowledgeMemory], Knowing] | None = None,
    ) -> CharacterKnowledge:
        """Return a character's known and unknown memories, by these rules or by what narrows them."""
        requested_memories = self.story.memories if memories is None else memories
        lines = [(memory, (knows or self.knows)(character_id, memory)) for memory in requested_memories]
        return CharacterKnowledge(
            character_id=character_id,
            known=[_as_known(memory, knowing) for memory, knowing in lines if knowing.knows],
            not_known=[self._as_unknown(memory, knowing) for memory, knowing in lines if not knowing.knows],
        )

    def may_be_in(self, character_id: str, scene: KnowledgeScene) -> bool:
        """Tell whether only a guess has somebody away: they act in the narration or are spoken to."""
        if scene.has_record or character_id in scene.present or character_id not in self.story.character_ids:
            return False
        died = self.story.dead.get(character_id)
        if died is not None and died < scene.position:
            return False
        key = (scene.position, character_id)
        if key not in self._as_subject:
            names = [name for name in self.story.own_names.get(character_id, ()) if name in scene.text]
            others = self.story.names_of_others(character_id)
            self._as_subject[key] = bool(names) and (
                is_subject(scene.text, names, others) or is_addressed(scene.text, names)
            )
        return self._as_subject[key]

    def knowers(self, memory: KnowledgeMemory, character_ids: Iterable[str]) -> list[Knowing]:
        """Return the knowers of a memory, in the order given."""
        return [knowing for knowing in (self.knows(who, memory) for who in character_ids) if knowing.knows]

    def knows(self, character_id: str, memory: KnowledgeMemory) -> Knowing:
        """Tell whether a character knows a memory at the story's position."""
        return self._knows(character_id, memory, before=self.story.as_of)

    def _knows(self, character_id: str, memory: KnowledgeMemory, *, before: StoryPosition) -> Knowing:
        event = self._decisive_event(character_id, memory, before=before)
        if self._is_told_to_all(character_id, memory, event=event, before=before):
            return _known_result(memory, character_id, "author", 1.0, since=memory.told_to_all_at, is_said=True)
        if event is not None and (event.by_author or event.kind == "knows"):
            return knowing_by_event(memory.source_id, character_id, event, quote=memory.quote)
        if character_id == READER:
            return Knowing(memory.source_id, READER, knows=True, how="read", since=memory.position)
        if self._is_dead_by(character_id, memory):
            return self._unknown_result(character_id, memory, "dead")
        if memory.position is None:
            return self._of_note(character_id, memory)
        if event is not None or memory.tells_knowers:
            after = memory.position if event is None else _place(event)
            stated = self._stated(character_id, memory, after=after, before=before, min_share=MIN_KNOWN_OF_SECRET)
            if stated is not None:
                return stated
            if event is not None:
                return knowing_by_event(memory.source_id, character_id, event, quote=memory.quote)
            is_present = character_id in self._scene(memory).present
            return self._unknown_result(character_id, memory, "present" if is_present else "absent")
        at_once = self._knows_from_source_scene(character_id, memory)
        if at_once.knows or at_once.reason == "inner":
            return at_once
        knowing = self._find_retelling(character_id, memory, after=memory.position, before=before)
        return knowing or self._off_stage(character_id, memory, at_once) or at_once

    def _is_told_to_all(
        self, character_id: str, memory: KnowledgeMemory, *, event: KnowledgeEvent | None, before: StoryPosition
    ) -> bool:
        """Tell whether a merge told a memory to all, and its author limits it no more."""
        at = memory.told_to_all_at
        if at is None or at >= before:
            return False
        if event is not None:
            return event.kind != "knows" and not (event.by_author and _place(event) >= at)
        return not memory.is_noted_since_told or not (
            self.story.has_listed_knowers(memory) or self.words_keep_from(character_id, memory.content)
        )

    # --- What is said ---

    def _decisive_event(
        self, character_id: str, memory: KnowledgeMemory, *, before: StoryPosition
    ) -> KnowledgeEvent | None:
        """Return the decisive statement: the author's last, else the last one."""
        about = [
            event
            for event in self.story.events_by_memory.get(memory.source_id, ())
            if event.character_id == character_id and _place(event) < before
        ]
        by_author = [event for event in about if event.by_author]
        counting = by_author or about
        last = counting[-1] if counting else None
        if last is not None and (last.kind == "knows" or last.by_author):
            return last
        after = None if last is None else _place(last)
        return self._whole_tale(character_id, memory, after=after, before=before) or last

    def _whole_tale(
        self, character_id: str, memory: KnowledgeMemory, *, after: StoryPosition | None, before: StoryPosition
    ) -> KnowledgeEvent | None:
        """Return the first whole tale that a memory was part of."""
        for tale in self.story.whole_tales:
            place = _place(tale)
            if tale.character_id != character_id or place >= before or tale.learned_from is None:
                continue
            # What an author says stands at the last scene before it holds: the tale holds that scene, too.
            end = StoryPosition(tale.chapter_index, tale.scene_index + 1) if tale.by_author else place
            if memory.position is None or memory.position >= end or (after is not None and after >= end):
                continue
            teller = self._knows(tale.learned_from, memory, before=end)
            if teller.knows and teller.how in ("own_doing", "witnessed"):
                return tale
        return None

    # --- What follows from the scene itself ---

    def _of_note(self, character_id: str, memory: KnowledgeMemory) -> Knowing:
        """Return the knowledge of an author's note, by its names and subjects."""
        knowing = _known_result(memory, character_id, "author", ABSENT_CERTAINTY)
        left_out = replace(self._unknown_result(character_id, memory, "left_out"), is_said=True)
        if self.story.has_listed_knowers(memory):
            return left_out
        own_names = self.story.names_in_notes.get(character_id, ())
        names_of_others = list(self.story.names_of_others(character_id))
        if is_kept_from(memory.content, own_names, names_of_others):
            is_deceived = is_lied_to(memory.content, own_names, names_of_others)
            return self._unknown_result(character_id, memory, "deceived" if is_deceived else "hidden")
        is_listed = is_among_knowers(memory.content, own_names, names_of_others)
        if is_listed is not None:
            return replace(knowing, certainty=1.0, is_said=True) if is_listed else left_out
        if memory.is_for_all:
            return knowing
        if self._tells_own_death(character_id, memory):
            return self._unknown_result(character_id, memory, "dead")
        is_open = self.is_said_openly(memory.content)
        stage = self.scene_of_note(memory) if is_open else None
        people = [entity_id for entity_id in memory.entities if entity_id in self.story.character_ids]
        is_open = is_open and self.is_of_their_scenes(character_id, memory)
        is_part = self.takes_part_in_note(character_id, memory)
        # Of whom a guess alone has there, the note must name somebody of the scene, or nobody.
        if is_open and stage is not None and character_id in stage.present and (stage.has_record or not people):
            certainty = TAKING_PART_CERTAINTY if stage.has_record else GUESSED_PRESENCE_CERTAINTY
            return replace(knowing, how="witnessed", since=stage.position, certainty=certainty)
        is_entering = character_id in self.story.entering and not (character_id in people and is_part)
        if is_open and is_entering and memory.begins_at(self.story.as_of):
            return replace(knowing, how="witnessed", since=self.story.as_of, certainty=TAKING_PART_CERTAINTY)
        seen_before = self.scene_of_left_deed(character_id, memory) if stage is not None else None
        if seen_before is not None:
            certainty = GUESSED_PRESENCE_CERTAINTY
            return replace(knowing, how="witnessed", since=seen_before.position, certainty=certainty)
        if not memory.entities:
            return self._unknown_result(character_id, memory, "unsaid")
        if is_part if character_id in people else not (people or memory.noted_at):
            return knowing
        about = [one for one in people if one != character_id or is_part] or memory.entities
        scene = self.scene_beside(character_id, about, memory.noted_at, stage=stage) if is_open else None
        if scene is not None:
            certainty = WITNESSED_CERTAINTY if scene.has_record else GUESSED_PRESENCE_CERTAINTY
            return replace(knowing, how="witnessed", since=scene.position, certainty=certainty)
        scene = self._scene_that_tells(character_id, memory) if self.is_said_openly(memory.content) else None
        if scene is not None:
            return replace(knowing, how="witnessed", since=scene.position, certainty=WITNESSED_CERTAINTY)
        saying = self.saying_heard(character_id, self.spoken.of_note(memory))
        if saying is not None:
            return replace(knowing, how="told", since=saying.scene.position, certainty=MAX_TOLD_CERTAINTY)
        scene = self._scene_of_body(character_id, memory) if self.is_said_openly(memory.content) else None
        if scene is not None:
            certainty = TAKING_PART_CERTAINTY if scene.has_record else GUESSED_PRESENCE_CERTAINTY
            return replace(knowing, how="witnessed", since=scene.position, certainty=certainty)
        return self._unknown_result(character_id, memory, "absent")

    def _scene_of_body(self, character_id: str, note: KnowledgeMemory) -> KnowledgeScene | None:
        """Return a later scene with the bearer of a wound or healing, a sure one first."""
        if note.noted_at is None:
            return None
        bearer_id, ends = self._wounded_in(note), list[StoryPosition]()
        if bearer_id is None:
            bearer_id = self._healed_in(note)
        else:
            ends = [
                other.noted_at
                for other in self.story.memories
                if other.noted_at is not None
                and other.noted_at > note.noted_at
                and bearer_id in other.entities
                and _WHOLE.search(other.content)
            ]
        scenes = [
            scene
            for scene in self.story.scenes
            if scene.position > note.noted_at
            and {character_id, bearer_id} <= scene.present
            and not any(scene.position > end for end in ends)
        ]
        return next((scene for scene in scenes if scene.has_record), scenes[0] if scenes else None)

    def _wounded_in(self, note: KnowledgeMemory) -> str | None:
        people = self.story.character_ids.intersection(note.entities)
        if len(people) != 1:
            return None
        # Of two of one name the note is about the one to whom it is attached.
        bearers = [one for one in self.story.entities if one.entity_type != "character" or one.entity_id in people]
        return plain_wound_of(note.content, bearers)

    def _healed_in(self, note: KnowledgeMemory) -> str | None:
        """Return the person healed by a note of that and the treatment alone."""
        clauses = [clause for clause in _CLAUSE_END.split(note.content) if clause.strip()]
        is_told = any(map(_WHOLE.search, clauses))
        if not is_told or not all(_WHOLE.search(clause) or _TREATED.search(clause) for clause in clauses):
            return None
        healed_ids = {
            self._wounded_in(other)
            for other in self.story.memories
            if other.noted_at is not None
            and note.noted_at is not None
            and other.noted_at < note.noted_at
            and not set(other.entities).isdisjoint(note.entities)
        }
        return next((entity_id for entity_id in note.entities if entity_id in healed_ids), None)

    def _tells_own_death(self, character_id: str, note: KnowledgeMemory) -> bool:
        """Tell whether a note begins with, or states, a character's death."""
        content = note.content
        names = (name for name in self.story.names.get(character_id, ()) if content.startswith(name))
        return any(is_death("status", content.removeprefix(name).lstrip(" ，,")) for name in names) or any(
            one.entity_id == character_id and is_death(one.attribute, one.value) for one in self.statements_of(note)
        )

    def is_in(self, character_id: str, scene: KnowledgeScene) -> bool:
        """Tell whether a character may be in a scene."""
        return character_id in scene.present or self.may_be_in(character_id, scene)

    def is_in_all_of(self, character_id: str, place: StoryPosition, *, stage: KnowledgeScene | None) -> bool:
        """Tell whether a character is in both scenes beside a statement.

        It may have come to be in the scene before that from which it holds.

        Args:
            character_id: The character.
            place: The place after which it holds.
            stage: The scene from which it holds; it counts where somebody says who was there.
        """
        scenes = [self.scene_at_or_before(place), stage if stage is not None and stage.has_record else None]
        return all(self.is_in(character_id, scene) for scene in scenes if scene is not None)

    def scene_at_or_before(self, place: StoryPosition) -> KnowledgeScene | None:
        """Return the last scene up to a place."""
        end = bisect_right(self._keys, place.key)
        return self.story.scenes[end - 1] if end else None

    def is_of_their_scenes(self, character_id: str, note: KnowledgeMemory) -> bool:
        """Tell whether a character was there when a note came to be."""
        if note.noted_at is None or self.takes_part_in_note(character_id, note):
            return True
        stage = self.scene_of_note(note)
        return self.is_in_all_of(character_id, note.noted_at, stage=stage) or not self.may_come_before(note)

    def takes_part_in_note(self, character_id: str, note: KnowledgeMemory) -> bool:
        """Tell whether a note names a character, as more than one spoken of.

        Whoever stands only in what somebody says, believes or knows takes no part. Of a deed in secret, or by somebody
        who has left by the note's scene, nobody who is only spoken of does, but for those who saw the latter.
        """
        if character_id not in note.entities:
            return False
        if self._is_unknown_to_its_own(note.content):
            deed = self.deed_of_note(note)
            is_doing = deed is not None and character_id in deed.doers | deed.others
            return is_doing or self._is_knowing_in(character_id, note)
        if self._is_done_in_secret(note) and (doing := self._doing_in(note)) is not None:
            return character_id in doing
        deed = self._deed_of_scene_before(note)
        if deed is not None and character_id in deed.doers | deed.others:
            return True
        is_spoken_of = character_id in self._people_spoken_of(note)
        if deed is None or note.noted_at is None:
            return not is_spoken_of
        before = self.scene_at_or_before(note.noted_at)
        is_there = before is not None and character_id in before.present
        return is_there and not (is_spoken_of and not self.is_said_openly(note.content))

    def _is_knowing_in(self, character_id: str, note: KnowledgeMemory) -> bool:
        """Tell whether a note has somebody know, or say, its content."""
        mentions = NameResolver(self.story.entities).find_mentions(note.content)
        ends = (mention.end for mention in mentions if mention.entity_id == character_id)
        return any(_KNOWS.match(note.content, end) is not None for end in ends)

    def _people_spoken_of(self, note: KnowledgeMemory) -> frozenset[str]:
        """Return the people that a note names only in what somebody says, believes or knows."""
        if note.source_id not in self._spoken_of:
            mentions = NameResolver(self.story.entities).find_mentions(note.content)
            self._spoken_of[note.source_id] = people_spoken_of(note.content, mentions, self.story.character_ids)
        return self._spoken_of[note.source_id]

    def _doing_in(self, note: KnowledgeMemory) -> frozenset[str] | None:
        """Return those who take part in the deeds of a note, None where nobody named does one."""
        mentions = NameResolver(self.story.entities).find_mentions(note.content)
        return people_of_deeds(note.content, mentions, self.story.character_ids)

    def _is_done_in_secret(self, note: KnowledgeMemory) -> bool:
        """Tell whether the words of a note have its deed done in secret."""
        names = [name for entity_id in self.story.character_ids for name in self.story.names.get(entity_id, ())]
        return _UNSEEN.search(note.content) is not None or _is_apart(without_knowers(note.content, names))

    def scene_of_left_deed(self, character_id: str, note: KnowledgeMemory) -> KnowledgeScene | None:
        """Return the scene before a note's own in which a character saw its deed done."""
        before = None if note.noted_at is None else self.scene_at_or_before(note.noted_at)
        if before is None or not before.has_record or character_id not in before.present:
            return None
        stage = self.scene_of_note(note)
        dead = {one.entity_id for one in self.statements_of(note) if is_death(one.attribute, one.value)}
        # Whoever died there is in no later scene, whatever else the note tells of it.
        if dead and stage is not None and dead <= before.present and not dead & stage.present:
            return before
        deed = self._deed_of_scene_before(note)
        if deed is None and (deed := self.deed_of_note(note)) is not None:
            # Of people who are in both scenes, too, what is told as done.
            deed = deed if _HAPPENED.search(deed.core) and not _LONG_AGO.search(deed.core) else None
        is_seen = deed is not None and character_id not in note.entities and deed.doers | deed.others <= before.present
        return before if is_seen else None

    def _deed_of_scene_before(self, note: KnowledgeMemory) -> Deed | None:
        """Return the deed of a note whose doers were in the scene before, and are not all in the note's own.

        Of a note after the last scene of a chapter that scene is both.
        """
        if note.source_id not in self._left_deeds:
            self._left_deeds[note.source_id] = self._find_left_deed(note)
        return self._left_deeds[note.source_id]

    def _find_left_deed(self, note: KnowledgeMemory) -> Deed | None:
        stage = self.scene_of_note(note)
        before = None if note.noted_at is None else self.scene_at_or_before(note.noted_at)
        if self.story.entering and note.begins_at(self.story.as_of) and not note.is_of_scene:
            stage = KnowledgeScene(self.story.as_of, self.story.entering)
        people = self.story.character_ids.intersection(note.entities)
        if before is None or stage is None or not stage.has_record or people <= stage.present:
            return None
        deed = self.deed_of_note(note)
        mishap = mishap_of(note.content, NameResolver(self.story.entities).find_mentions(note.content), people)
        deed = deed or mishap
        is_left = deed is not None and deed.doers <= before.present
        if before is not stage and deed is not None:
            is_left = is_left and not deed.doers <= stage.present
        if deed is None or not is_left or _LONG_AGO.search(deed.core):
            return None
        if mishap is None and self._shows_its_state(note):
            return None
        return deed

    def deed_of_note(self, note: KnowledgeMemory) -> Deed | None:
        """Return the first deed that a note tells."""
        if note.source_id not in self._deeds:
            people = self.story.character_ids.intersection(note.entities)
            mentions = NameResolver(self.story.entities).find_mentions(note.content)
            self._deeds[note.source_id] = deed_of(note.content, mentions, people)
        return self._deeds[note.source_id]

    def _shows_its_state(self, note: KnowledgeMemory) -> bool:
        """Tell whether a note states how somebody or something looks, as a death."""
        kinds = {entity.entity_id: entity.entity_type for entity in self.story.entities}
        return any(shows_beside(one.attribute, kinds[one.entity_id]) for one in self.statements_of(note))

    def may_come_before(self, note: KnowledgeMemory) -> bool:
        """Tell whether a note may tell of the scene before its own.

        It tells who has a thing or where it is, or a state that does not show in a meeting. So does a deed of somebody
        who was in that scene before, and is not in its own, or a deed that the text of the scene before tells.
        """
        if note.source_id not in self._came_before:
            self._came_before[note.source_id] = self._may_come_before(note)
        return self._came_before[note.source_id]

    def _may_come_before(self, note: KnowledgeMemory) -> bool:
        kinds = {entity.entity_id: entity.entity_type for entity in self.story.entities}
        statements = self.statements_of(note)
        if any(not shows_beside(one.attribute, kinds[one.entity_id]) for one in statements):
            return True
        people = [name for who in self.story.character_ids for name in self.story.names.get(who, ())]
        if tells_whereabouts(note.content, self.story.entities, people):
            return True
        if self._deed_of_scene_before(note) is not None:
            return True
        is_deed = not statements and _HAPPENED.search(note.content) and not _LONG_AGO.search(note.content)
        before = None if note.noted_at is None else self.scene_at_or_before(note.noted_at)
        stage = self.scene_of_note(note) or KnowledgeScene(self.story.as_of, self.story.entering)
        if before is None or before is stage or not is_deed:
            return False
        people_ids = self.story.character_ids.intersection(note.entities)
        if before.has_record and stage.has_record and people_ids <= before.present and not people_ids <= stage.present:
            return True
        shares = [self.retellings.share_retold(note.content, scene.text) for scene in (stage, before)]
        return shares[0] < MIN_TOLD_BY_SCENE <= shares[1]

    def things_placed(self, note: KnowledgeMemory) -> frozenset[str]:
        """Return the things that a note places."""
        return things_located(note.content, self.story.entities)

    def statements_of(self, note: KnowledgeMemory) -> Sequence[Statement]:
        """Return the states that a note states."""
        if note.source_id not in self._stated_by:
            self._stated_by[note.source_id] = statements_of(note.content, self.story.entities)
        return self._stated_by[note.source_id]

    @cached_property
    def spoken(self) -> SpokenStates:
        """The states that people say aloud."""
        notes = [memory for memory in self.story.memories if memory.position is None]
        return SpokenStates(self.story.scenes, notes, self.story.entities)

    def saying_heard(self, character_id: str, sayings: Iterable[Saying]) -> Saying | None:
        """Return the first saying that a character hears."""
        names = self.story.names.get(character_id, ())
        return next(
            (
                one
                for one in sayings
                if character_id in one.scene.present and hears(one.scene, one.span, character_id, names)
            ),
            None,
        )

    def _scene_that_tells(self, character_id: str, memory: KnowledgeMemory) -> KnowledgeScene | None:
        """Return the scene of a note's chapter that tells the note to a character."""
        end = 0 if memory.noted_at is None else bisect_right(self._keys, memory.noted_at.key)
        chapter_index = self.story.scenes[end - 1].position.chapter_index if end else None
        return next(
            (
                scene
                for scene in reversed(self.story.scenes[:end])
                if scene.position.chapter_index == chapter_index
                and scene.has_record
                and character_id in scene.present
                and self.retellings.share_retold(memory.content, scene.text) >= MIN_TOLD_BY_SCENE
            ),
            None,
        )

    def words_keep_from(self, character_id: str, text: str) -> bool:
        """Tell whether the words of a statement keep it from a character.

        So do words that list others as all who know it.
        """
        names = self.story.names_in_notes.get(character_id, ())
        if is_kept_from(text, names, self.story.names_of_others(character_id)):
            return True
        return is_among_knowers(text, names, self.story.names_of_others(character_id)) is False

    def is_among_knowers(self, character_id: str, text: str) -> bool | None:
        """Tell whether words list a character as one who knows it, None where they do not settle it."""
        return is_among_knowers(
            text, self.story.names_in_notes.get(character_id, ()), self.story.names_of_others(character_id)
        )

    def note_of_thread(self, thread: OpenLoop) -> KnowledgeMemory:
        """Return the words of an author's thread as a note that begins where it waits."""
        content = thread.first_worded or thread.description
        # A question is of the scene in which it is asked, whatever deeds it asks about.
        place = None if _is_question(content) else thread.said_after
        entities = dict.fromkeys([*thread.related_entities, *self._people_named_in(content)])
        return KnowledgeMemory(thread.loop_id, content, entities=[*entities], noted_at=place)

    def subjects_of_thread(self, thread: OpenLoop) -> Sequence[str]:
        """Return the entities of a thread, with the people in its words where it has no characters and asks nothing."""
        content = thread.first_worded or thread.description
        if not self.story.character_ids.isdisjoint(thread.related_entities) or _is_question(content):
            return thread.related_entities
        return [*thread.related_entities, *self._people_named_in(content)]

    def _people_named_in(self, text: str) -> list[str]:
        named_ids = NameResolver(self.story.entities).entity_ids_in(text)
        return [entity_id for entity_id in named_ids if entity_id in self.story.character_ids]

    def limits_knowers(self, note: KnowledgeMemory) -> bool:
        """Tell whether an author's note is for some alone: by a list of them, or as done apart or thought."""
        if note.position is not None:
            return False
        people = [name for names in self.story.names_in_notes.values() for name in names]
        is_listed = self.story.has_listed_knowers(note) or is_among_knowers(note.content, (), people) is False
        return is_listed or not self.is_said_openly(note.content)

    def how_told_by_move(
        self, character_id: str, note: str, text: str, scene: KnowledgeScene | None
    ) -> Literal["told", "witnessed"] | None:
        """Tell how a move of a thread lets a character know it, None where it does not.

        They are in its stated cast, or its words tell them. What the thread's own words keep from them, or have apart,
        nobody learns by mere presence: it must be told there.

        Args:
            character_id: The character.
            note: The words of the move.
            text: The words of the thread.
            scene: The scene of the move.
        """
        if self.words_keep_from(character_id, note):
            return None
        own_names = self.story.names_in_notes.get(character_id, ())
        if is_told(note, own_names, self.story.names_of_others(character_id)):
            return "told"
        if scene is None or not scene.has_record or character_id not in scene.present or not self.is_said_openly(note):
            return None
        is_open = self.is_said_openly(text) and not self.words_keep_from(character_id, text)
        return "witnessed" if is_open or has_words_of_telling(note) else None

    def is_said_openly(self, statement: str) -> bool:
        """Tell whether an author's statement has no words of secrecy, of speech apart or of thoughts.

        Words that keep it from people by name hide it from them alone, and by a relation or as a group from nobody.
        """
        if statement not in self._openly_said:
            self._openly_said[statement] = self._is_said_openly(statement)
        return self._openly_said[statement]

    def _is_said_openly(self, statement: str) -> bool:
        people = [name for who in self.story.character_ids for name in self.story.names_in_notes.get(who, ())]
        if _UNSEEN.search(statement) or is_between_few(statement, people) or self._is_unknown_to_its_own(statement):
            return False
        if not _is_apart(statement) and _INNER.search(statement) is None:
            return True
        if _INNER.search(_UNSUSPECTING.sub("", statement)):
            return False
        names = [name for entity_id in self.story.character_ids for name in self.story.names.get(entity_id, ())]
        return not _is_apart(openly_said(statement, names))

    def _is_unknown_to_its_own(self, statement: str) -> bool:
        """Tell whether a statement is unknown to its own subject."""
        if statement not in self._unknown_to_own:
            self._unknown_to_own[statement] = any(
                does_not_know_own(statement, self.story.names_in_notes.get(who, ()), self.story.names_of_others(who))
                for who in self.story.character_ids
            )
        return self._unknown_to_own[statement]

    def scene_beside(
        self, character_id: str, about: Sequence[str], place: StoryPosition | None, *, stage: KnowledgeScene | None
    ) -> KnowledgeScene | None:
        """Return the scene beside a statement that has a character and a subject.

        Where somebody has said who was in the scene of the statement, and its subjects were, that scene alone counts.

        Args:
            character_id: The character.
            about: Ids of its subjects, of whom the scene has one.
            place: The place after which it holds.
            stage: The scene of the statement.
        """
        if place is None:
            return None
        end = bisect_right(self._keys, place.key)
        names = [name for entity_id in about for name in self.story.names.get(entity_id, ())]

        def has_subject(scene: KnowledgeScene) -> bool:
            return not scene.present.isdisjoint(about) or any(name in scene.text for name in names)

        scenes = [] if stage is None else [stage]
        if stage is None or not stage.has_record or stage.present.isdisjoint(about):
            scenes = [*self.story.scenes[max(0, end - 1) : end], *scenes]
        shared = [
            scene
            for scene in scenes
            if (character_id in scene.present or self.may_be_in(character_id, scene)) and has_subject(scene)
        ]
        return next((scene for scene in shared if scene.has_record), shared[0] if shared else None)

    def scene_of_note(self, memory: KnowledgeMemory) -> KnowledgeScene | None:
        """Return the scene of an author's note."""
        return self._scene_from(memory.noted_at, is_of_scene=memory.is_of_scene)

    def beside_ids(self, memory: KnowledgeMemory) -> frozenset[str]:
        """Return the ids of the living people of a memory's own scene, stated or guessed."""
        is_note = memory.position is None
        scene = self.scene_of_note(memory) if is_note else self._scene(memory)
        present = frozenset() if scene is None else scene.present
        if is_note and not memory.is_of_scene and memory.begins_at(self.story.as_of):
            present |= self.story.entering
        return frozenset(
            character_id
            for character_id in present & self.story.character_ids
            if not (self._is_dead_by(character_id, memory) or self._tells_own_death(character_id, memory))
        )

    def beside_thread_ids(self, thread: OpenLoop) -> frozenset[str]:
        """Return the ids of the living people of the scene in which a thread is planted."""
        content = thread.first_worded or thread.description
        if thread.said_from is not None:
            return self.beside_ids(KnowledgeMemory(thread.loop_id, content, noted_at=thread.said_after))
        if thread.chapter_index is None:
            return frozenset()
        place = StoryPosition(thread.chapter_index, thread.scene_index)
        return self.beside_ids(KnowledgeMemory(thread.loop_id, content, position=place))

    def scene_of_statement(self, place: StoryPosition | None, *, is_of_chapter: bool = True) -> KnowledgeScene | None:
        """Return the scene of an author's statement: the first in which it holds, or the one that ends its chapter.

        Nobody of the next chapter was there when a chapter ended.

        Args:
            place: The place after which it holds.
            is_of_chapter: It begins in the chapter of that place, and not in the next one.
        """
        if is_of_chapter or place is None:
            return self._scene_from(place)
        start = bisect_right(self._keys, place.key)
        return next(iter(self.story.scenes[start : start + 1]), None)

    def _scene_from(self, place: StoryPosition | None, *, is_of_scene: bool = False) -> KnowledgeScene | None:
        """Return the scene of what stands at a place, by the rule of notes.

        Nobody of an earlier chapter was there where its own chapter has no scene yet.
        """
        if place is None or place.chapter_index is None:
            return None
        chapter, number = place.chapter_index, place.scene_index
        scene = scene_of_note(chapter, number, is_of_scene=is_of_scene, scenes=self._places)
        is_earlier = scene is not None and scene[0] < (read_from(chapter, number).chapter_index or 0)
        return None if scene is None or is_earlier else self.story.scene_at[StoryPosition(*scene)]

    def _knows_from_source_scene(self, character_id: str, memory: KnowledgeMemory) -> Knowing:
        """Tell whether somebody knows a memory by the scene that it comes from."""
        scene = self._scene(memory)
        is_present = character_id in scene.present
        subject = self._subject(memory)
        is_inner = memory.event_type in INNER_EVENTS and _INNER.search(memory.content) is not None
        if is_inner and subject not in (None, character_id):
            return self._unknown_result(character_id, memory, "inner")
        if character_id not in memory.entities:
            if is_present and self._witnesses(character_id, memory, scene):
                return _known_result(
                    memory, character_id, "witnessed", TAKING_PART_CERTAINTY, since=memory.position, quote=memory.quote
                )
            return self._unknown_result(character_id, memory, "present" if is_present else "absent")
        if not is_present and memory.event_type in SETTLED_AMONG_OTHERS and subject != character_id:
            return self._unknown_result(character_id, memory, "settled")
        how: KnowledgeSource
        if is_present and subject != character_id:
            how, certainty = "witnessed", WITNESSED_CERTAINTY
        elif is_present or subject in (None, character_id):
            how, certainty = "own_doing", DONE_CERTAINTY if is_present else ABSENT_CERTAINTY
        else:
            # Who is merely named while away was no witness: nothing tells how they know what concerns them.
            how, certainty = "author", ABSENT_CERTAINTY
        return _known_result(memory, character_id, how, certainty, since=memory.position, quote=memory.quote)

    def _witnesses(self, character_id: str, memory: KnowledgeMemory, scene: KnowledgeScene) -> bool:
        """Return whether a participant perceives a fact about others."""
        if memory.event_type in APART_EVENTS or _is_out_of_sight(memory.content):
            return False
        key = (scene.position, character_id)
        names = self.story.names.get(character_id, ())
        if key not in self._taking_part:
            self._taking_part[key] = takes_part(scene, character_id, names)
        if not self._taking_part[key]:
            return False
        number = bisect_left(self._keys, scene.position.key)
        retelling = self.retellings.best(memory.content, _bits(number, number + 1))
        return retelling is None or hears(scene, retelling.piece, character_id, names)

    def _subject(self, memory: KnowledgeMemory) -> str | None:
        """Return the first character named by a memory, or None."""
        if memory.source_id not in self._subjects:
            self._subjects[memory.source_id] = self._first_named(memory)
        return self._subjects[memory.source_id]

    def _first_named(self, memory: KnowledgeMemory) -> str | None:
        subject_pairs = [
            (place, entity_id)
            for entity_id in memory.entities
            if entity_id in self.story.character_ids
            for name in self.story.names.get(entity_id, ())
            if name and (place := memory.content.find(name)) >= 0
        ]
        return min(subject_pairs)[1] if subject_pairs else None

    # --- What follows from later scenes ---

    @property
    def retellings(self) -> Retellings:
        """Finds where the story tells a memory again."""
        return self.story.retellings

    @cached_property
    def _on_stage(self) -> Mapping[str, int]:
        """Scenes on stage by entity id, as bit masks."""
        found_counts: defaultdict[str, int] = defaultdict(int)
        for index, scene in enumerate(self.story.scenes):
            for entity_id in scene.present:
                found_counts[entity_id] |= 1 << index
        return found_counts

    @cached_property
    def _learning_scenes(self) -> Mapping[str, Sequence[tuple[StoryPosition, frozenset[str]]]]:
        """Scenes with undetailed `knowledge` changes by character id, with words."""
        results: defaultdict[str, list[tuple[StoryPosition, frozenset[str]]]] = defaultdict(list)
        for scene in (knowledge_scene for knowledge_scene in self.story.scenes if not knowledge_scene.tells_knowledge):
            for character_id, learnt_text in scene.learnt.items():
                results[character_id].append((scene.position, significant_words(learnt_text)))
        return results

    @cached_property
    def _silent(self) -> int:
        """Scenes without recorded learning, as a bit mask."""
        return sum(1 << index for index, scene in enumerate(self.story.scenes) if not scene.tells_knowledge)

    @cached_property
    def _keys(self) -> Sequence[tuple[float, float]]:
        return [scene.position.key for scene in self.story.scenes]

    @cached_property
    def _places(self) -> Sequence[Place]:
        positions = (scene.position for scene in self.story.scenes)
        return [(position.chapter_index or 0, position.scene_index or 0) for position in positions]

    def _is_dead_by(self, character_id: str, memory: KnowledgeMemory) -> bool:
        """Tell whether somebody was dead when a memory came to be."""
        died = self.story.dead.get(character_id)
        place = memory.position or memory.noted_at
        if died is None or place is None or place < died:
            return False
        scene = self.scene_of_note(memory) if memory.position is None else self.story.scene_at.get(place)
        is_walking = scene is not None and scene.has_record and character_id in scene.present
        if memory.position is None:
            return not is_walking and not self._is_of_their_life(character_id, memory, died=died)
        if place == died:
            return memory.event_type == "death" and self._subject(memory) == character_id
        return not is_walking

    def _is_of_their_life(self, character_id: str, note: KnowledgeMemory, *, died: StoryPosition) -> bool:
        """Tell whether a note read after a death was known to the dead before it.

        They took part in its deed in the scene of their death, or its words have them do, learn or know it in life.
        """
        own_names, names_of_others = (
            self.story.names_in_notes.get(character_id, ()),
            [*self.story.names_of_others(character_id)],
        )
        if is_among_knowers(note.content, own_names, names_of_others):
            return True
        mentions = NameResolver(self.story.entities).find_mentions(note.content)
        ends = [mention.end for mention in mentions if mention.entity_id == character_id]
        deed = deed_of(note.content, mentions, self.story.character_ids)
        takes_part = deed is not None and character_id in deed.doers | deed.others
        if note.noted_at == died and (deed is None or takes_part):
            return True
        before = None if note.noted_at is None else self.scene_at_or_before(note.noted_at)
        if takes_part and before is not None and before.has_record and character_id in before.present:
            return True
        if _IN_LIFE.search(note.content) is None:
            return False
        is_doing = deed is not None and character_id in deed.doers
        is_knowing = any(_KNEW.match(note.content, end) is not None for end in ends)
        return is_doing or is_knowing or is_told(note.content, own_names, names_of_others)

    def _alive_scenes(self, character_id: str) -> int:
        """Return the scenes with a living character, as a bit mask."""
        died = self.story.dead[character_id]
        return sum(
            1 << index
            for index, scene in enumerate(self.story.scenes)
            if scene.position <= died or (scene.has_record and character_id in scene.present)
        )

    def _meetings(
        self, character_id: str, others: Iterable[str], *, after: StoryPosition, before: StoryPosition
    ) -> int:
        """Return the scenes between two positions in which a character meets one of others, a bit a scene."""
        meeting_bits = reduce(or_, (self._on_stage.get(other, 0) for other in others if other != character_id), 0)
        start, end = bisect_right(self._keys, after.key), bisect_left(self._keys, before.key)
        return meeting_bits & self._on_stage.get(character_id, 0) & _bits(start, end)

    def _stated(
        self,
        character_id: str,
        memory: KnowledgeMemory,
        *,
        after: StoryPosition,
        before: StoryPosition,
        min_share: float = MIN_KNOWN,
    ) -> Knowing | None:
        """Find the scene since which their `knowledge` holds it."""
        learning_pairs = [pair for pair in self._learning_scenes.get(character_id, ()) if after <= pair[0] < before]
        knowing_parts = (
            self.retellings.first_known(memory.content, learning_pairs, min_share=min_share) if learning_pairs else None
        )
        return (
            None
            if knowing_parts is None
            else _find_retelling(memory, character_id, knowing_parts[0], share=knowing_parts[1])
        )

    def _find_retelling(
        self, character_id: str, memory: KnowledgeMemory, *, after: StoryPosition, before: StoryPosition
    ) -> Knowing | None:
        """Find the scene of learning, by `knowledge` or by a knower's telling."""
        stated = self._stated(character_id, memory, after=after, before=before)
        if stated is not None:
            return stated
        inside = {*self._scene(memory).present, *memory.entities}
        later = self._meetings(character_id, inside, after=after, before=before) & self._silent
        if character_id in self.story.dead:
            later &= self._alive_scenes(character_id)
        for event in self.story.events_by_memory.get(memory.source_id, ()):
            # Where it is said who learnt it, nobody else did; the author's word that adds one says so of nobody else.
            if event.adds_knower:
                continue
            place = _place(event).key
            later &= ~_bits(bisect_left(self._keys, place), bisect_right(self._keys, place))

        def counts(scene: KnowledgeScene, piece: Span) -> bool:
            names = self.story.names
            return (
                is_said(scene.text, piece)
                and any(
                    hears(scene, piece, teller, names.get(teller, ()))
                    for teller in scene.present & inside - {character_id}
                )
                and hears(scene, piece, character_id, names.get(character_id, ()))
            )

        retelling = self.retellings.best(memory.content, later, counts=counts) if later else None
        if retelling is None:
            return None
        position, _, share = retelling
        tellers = sorted((self.story.scene_at[position].present - {character_id}) & inside)
        about = [teller for teller in tellers if teller in memory.entities]
        return _find_retelling(memory, character_id, position, share=share, learned_from=(about or tellers)[0])

    def _off_stage(self, character_id: str, memory: KnowledgeMemory, at_once: Knowing) -> Knowing | None:
        """Assume that an absent character knows discoveries about its own people."""
        is_unseen = character_id not in self.story.first_appearances
        if at_once.reason != "absent" or not is_unseen or memory.event_type not in FOUND_OUT_EVENTS:
            return None
        if not self.story.companions.get(character_id, frozenset()) & set(memory.entities):
            return None
        return _known_result(memory, character_id, "own_doing", OFF_STAGE_CERTAINTY, since=memory.position)

    def _as_unknown(self, memory: KnowledgeMemory, knowing: Knowing) -> UnknownMemory:
        reason: Reason = knowing.reason or "absent"
        could_tell = None if reason in ("deceived", "doubts") else self.might_know_from(knowing.character_id, memory)
        language = stated_language(self.story.language) or "en"
        return UnknownMemory(
            source_id=memory.source_id,
            content=memory.content,
            why=words("memory", language)[f"unknown.{reason}"],
            kind="hidden"
            if reason == "left_out"
            else reason
            if reason in ("hidden", "deceived", "doubts")
            else "unknown",
            is_guess=not knowing.is_said,
            might_know=could_tell is not None,
            might_know_from=could_tell,
        )

    def might_know_from(self, character_id: str, memory: KnowledgeMemory) -> str | None:
        """Return a knower met since the memory.

        It is a suggestion only.
        """
        if memory.position is None or character_id == READER:
            return None
        inside = [entity_id for entity_id in memory.entities if entity_id in self.story.character_ids]
        inside += sorted(self._scene(memory).present - set(inside))
        meeting_bits = self._meetings(character_id, inside, after=memory.position, before=self.story.as_of)
        at_last = {
            other: self._knows(other, memory, before=self.story.as_of)
            for other in (inside if meeting_bits else ())
            if other != character_id
        }
        while meeting_bits:
            index = meeting_bits.bit_length() - 1
            meeting_bits ^= 1 << index
            scene = self.story.scenes[index]
            for other, knowing in at_last.items():
                if other in scene.present and self._knew(knowing, memory, at=scene.position):
                    return other
        return None

    def _knew(self, at_last: Knowing, memory: KnowledgeMemory, *, at: StoryPosition) -> bool:
        """Return whether a character knew a memory on entering a scene."""
        is_said = any(
            event.character_id == at_last.character_id
            for event in self.story.events_by_memory.get(memory.source_id, ())
        )
        if not is_said and not at_last.knows:
            return False
        if not is_said and (at_last.since is None or at_last.since < at):
            return True
        return self._knows(at_last.character_id, memory, before=at).knows

    def _scene(self, memory: KnowledgeMemory) -> KnowledgeScene:
        position = memory.position or self.story.as_of
        return self.story.scene_at.get(position) or KnowledgeScene(position)

    def _unknown_result(self, character_id: str, memory: KnowledgeMemory, reason: Reason) -> Knowing:
        return Knowing(memory.source_id, character_id, knows=False, reason=reason)


def _is_question(text: str) -> bool:
    """Tell whether a thread asks, and no clause of it tells an event."""
    return _ASKS.search(text) is not None and not any(
        _HAPPENED.search(clause) and not _ASKS.search(clause) for clause in _CLAUSE_END.split(text)
    )


@lru_cache(REMEMBERED_TEXTS)
def _is_out_of_sight(text: str) -> bool:
    """Tell whether a memory says that it happened apart, unseen or within somebody."""
    return any(pattern.search(text) for pattern in (_APART, _UNSEEN, _INNER))


def _is_apart(note: str) -> bool:
    """Tell whether a note says that something is done or said apart."""
    return any(_DEED.fullmatch(match.group()) is None for match in _APART.finditer(note))


def _bits(start: int, end: int) -> int:
    """Return the bits of the scenes [start, end)."""
    return (1 << end) - (1 << start) if start < end else 0


@cache
def _reasons() -> Mapping[str, str]:
    return {why: reason for language in LANGUAGES for reason, why in words("memory", language, "unknown").items()}


def why_unknown(why: str, language: str) -> str:
    """Return why somebody is thought not to know a memory, which is told in the story's language, in another."""
    return words("memory", language, "unknown")[_reasons()[why]] if why in _reasons() else why


def _place(event: KnowledgeEvent) -> StoryPosition:
    return StoryPosition(event.chapter_index, event.scene_index)


def _known_result(
    memory: KnowledgeMemory, character_id: str, how: KnowledgeSource, certainty: float, **more: Any
) -> Knowing:
    return Knowing(memory.source_id, character_id, knows=True, how=how, certainty=certainty, **more)


def knowing_by_event(source_id: str, character_id: str, event: KnowledgeEvent, *, quote: str = "") -> Knowing:
    """Return what an event says of whether a character knows something."""
    fields: dict[str, Any] = {"certainty": event.certainty, "quote": event.quote, "is_said": True}
    if event.kind != "knows":
        return Knowing(source_id, character_id, knows=False, reason=event.kind, **fields)
    # What was stored at no place, 0:0, has always held.
    since = None if _place(event) == StoryPosition(0, 0) else _place(event)
    fields |= {"learned_from": event.learned_from, "since": since, "quote": event.quote or quote}
    return Knowing(source_id, character_id, knows=True, how=event.how, **fields)


def _find_retelling(
    memory: KnowledgeMemory, character_id: str, since: StoryPosition, *, share: float, learned_from: str | None = None
) -> Knowing:
    certainty = round(min(MAX_TOLD_CERTAINTY, MIN_TOLD_CERTAINTY + share), 2)
    return _known_result(memory, character_id, "told", certainty, learned_from=learned_from, since=since)


def _as_known(memory: KnowledgeMemory, knowing: Knowing) -> KnownMemory:
    since = knowing.since
    if memory.noted_at is not None:
        # Nobody knows of a note before it is read, whenever they were there.
        position = read_from(memory.noted_at.chapter_index or 0, memory.noted_at.scene_index)
        since = position if since is None else max(since, position)
    return KnownMemory(
        source_id=memory.source_id,
        content=memory.content,
        how=knowing.how or "author",
        learned_from=knowing.learned_from,
        since_chapter=since.chapter_index if since else None,
        since_scene=since.scene_index if since else None,
        certainty=knowing.certainty,
        is_guess=not knowing.is_said and knowing.character_id != READER,
        quote=knowing.quote,
    )


def shared_scenes(
    story: KnowledgeStory, character_id: str, other_id: str
) -> tuple[list[StoryPosition], list[StoryPosition]]:
    """Return the scenes that two characters have lived through together, and those of them spent alone together."""
    together = [scene for scene in story.scenes if {character_id, other_id} <= scene.present]
    alone = [scene.position for scene in together if scene.present & story.character_ids <= {character_id, other_id}]
    return [scene.position for scene in together], alone
