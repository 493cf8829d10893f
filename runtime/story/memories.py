"""Single memories: list, note, edit, confirm, pin, ban and delete.

All memories of an entity, and what memories are attached to: `attachments.py`. Consolidated ones: `extraction.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from operator import not_
from typing import Any

from pydantic import BaseModel, Field

from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.language.matching import QuoteFinder
from novelgen.language.resolver import NameResolver
from novelgen.memory.note_keys import with_keys
from novelgen.models.entity import Entity
from novelgen.models.knowledge import KnowledgeKind
from novelgen.models.memory import (
    BOOK,
    CONTENT_TYPES,
    EVENT_TYPES,
    Attachment,
    ContentType,
    StoryMemoryChunk,
    Target,
    is_entity_target,
    over_from,
)
from novelgen.models.position import END_OF_STORY, StoryPosition, story_place
from novelgen.models.shown import Shown, ShownList
from runtime.storage import models
from runtime.storage.change import AuthorChangeKind, RowChange, number_of
from runtime.storage.columns import MemoryStatus
from runtime.storage.database import UnitOfWork
from runtime.storage.memories import MemoryDecision, OptionalNoteFields
from runtime.storage.records import Knowledge
from runtime.story import base
from runtime.story.base import place_before
from runtime.story.knowledge import knower_ids
from runtime.story.note_mentions import mentioned_in, people_by_description
from runtime.story.note_states import (
    EndedNotes,
    NotedState,
    NoteEffects,
    NotePreview,
    StandingValue,
    ended_notes,
    follow_ending,
    follow_note,
    joined_rows,
    leave_endings,
    names_by_words,
    noted_states,
    standing_beside,
    standing_when_over,
    start_of,
)
from runtime.story.versions import Version, memory_version, require_unchanged, require_version

DEFAULT_LIMIT = 50


class MemoryListing(Shown, BaseModel):
    """Some memories, and how many there are in all."""

    memories: list[models.StoredMemory] = Field(description="In story order.")
    total: int

    def in_simpler_terms(self) -> ShownList[StoryMemoryChunk]:
        """Return the notebook representation."""
        return ShownList(memory.chunk for memory in self.memories)


class MemoryCard(models.StoredMemory):
    """A memory with all that it is attached to."""

    attachments: list[Attachment]
    occurs_nowhere: bool = Field(
        default=False, description="Whom it is about occurs in no stored scene, or is not known at all."
    )
    version: str = Field(default="", description="A change that names it meets no later one.")


class MemoryChange(NoteEffects):
    """A memory after an author's decision."""

    memory: models.StoredMemory
    version: str = Field(default="", description="Of the memory as it stands now.")
    indexing: models.IndexingResult = Field(default_factory=models.IndexingResult)
    change_id: base.ChangeNumber = None
    stated: NotedState | None = Field(
        default=None, description="What a note states by its new text or place: the state holds from the note on."
    )
    standing: list[StandingValue] = Field(
        default_factory=list, exclude_if=not_, description="What stays where a changed note states nothing."
    )


class AddedNote(NoteEffects):
    """A stored note with its subjects."""

    note: StoryMemoryChunk
    named: list[str] = Field(description="Ids of the entities that its text names or that were given.")
    occurs_nowhere: bool = Field(
        description="It was given to somebody, and whom it is about occurs in no stored scene."
    )
    indexing: models.IndexingResult = Field(default_factory=models.IndexingResult)
    change_id: base.ChangeNumber = None
    stated: NotedState | None = Field(
        default=None, description="What it states of somebody or something: the state holds from the note on."
    )
    standing: list[StandingValue] = Field(
        default_factory=list, exclude_if=not_, description="What stays of whom it names where it states nothing."
    )
    is_repeat: bool = Field(
        default=False, exclude_if=not_, description="It was noted already, at this place: that note is kept alone."
    )


class StoryMemories(base.StoryBase):
    """Single memories: list, note, edit, confirm, pin, ban and delete.

    `story.memories` is this, `StoryAttachments` (all memories of an entity) and `StoryConsolidation`.
    """

    def get(self, memory_id: base.Name) -> MemoryCard:
        """Return a memory whole, whatever was decided about it.

        Args:
            memory_id: Its chunk_id or source_id.

        Raises:
            UnknownMemoryError: When there is none of that id.
        """
        with self._stores.database(self.project_id).read() as unit:
            memory = _find_memory_row(unit, self.project_id, memory_id)
            attachments = unit.attachments.attachments_of(memory.chunk.chunk_id)
            # Whom the memory is about, those included that are not stored.
            is_note = memory.chunk.content_type == "note"
            attached_names = [
                attachment.target
                for attachment in attachments
                # That a note names somebody does not make it theirs.
                if is_entity_target(attachment.target) and not (is_note and attachment.origin == "mention")
            ]
            about = attached_names if is_note else attached_names or list(memory.chunk.entities_mentioned)
            occurs_nowhere = _occurs_nowhere(unit, about)
            version = memory_version(unit, memory)
        return MemoryCard(**dict(memory), attachments=attachments, occurs_nowhere=occurs_nowhere, version=version)

    def add(
        self,
        content: str,
        *,
        attached_to: Sequence[Target] | None = None,
        start: base.Place = None,
        scene_id: str | None = None,
        short: str | None = None,
        importance: base.Weight | None = None,
        tags: Sequence[str] = (),
        event_type: str | None = None,
        evidence: str | None = None,
        known_by: Sequence[str] = (),
        hidden_from: Sequence[str] = (),
        keys: Sequence[str] = (),
        pinned: bool = False,
        ends: Sequence[str] = (),
        as_of: base.Place = None,
    ) -> AddedNote:
        """Store an author's fact, attached to given targets or named entities.

        One that states plainly who holds a thing, where somebody or something is, or that somebody is dead, changes
        that state from its place on. Where nobody is named as knowing it, those know it whom it is about and who were
        there; attached to `book`, all but those from whom its words keep it.
        The setting `attach_notes_by_name` turns the reading of names off. The same note again at the same place is
        kept once.

        Args:
            content: What holds in the story.
            attached_to: All that it is attached to: entities, chapters as `chapter:3`, or `book`; without it those that
                its text names.
            start: It is read from this position on; None means everywhere.
            scene_id: Scene of which it is a fact, such as 3:2; in place of `start`.
            short: Short form that may stand for the text.
            importance: Weight, 1 to 10; None takes that of notes.
            tags: Tags.
            event_type: What kind of event it is, such as promise_made.
            evidence: Words of the scene that prove it.
            known_by: Who knows it, by id, name or alias, `reader` for the reader; nobody else does.
            hidden_from: Who does not know it, whatever happens.
            keys: Words of a plan at which it stands in the context.
            pinned: Pinned: in every context from `start` on.
            ends: Ids of earlier memories that are over from it on.
            as_of: Names are meant as they are known by then.

        Raises:
            UserInputError: When the text is empty.
            UnknownEntityError: When it is about somebody unknown, or known by nobody of that name.
        """
        start = base.position_of(start)
        if scene_id is not None and start is not None:
            raise UserInputError(
                f"a fact of scene {scene_id!r} is read after that scene; give scene_id or start, not both"
            )
        tags = with_keys(tags, keys)
        if not content.strip():
            raise UserInputError("the note is empty; write what holds in the story")
        _require_event_type(event_type)
        with self._stores.database(self.project_id).write() as unit:
            known_entities = base.known_entities(unit, None)
            targets = _said_targets(unit, attached_to, base.position_of(as_of))
            ids = [target_id for target_id in targets if is_entity_target(target_id)]
            beyond = [target_id for target_id in targets if not is_entity_target(target_id)]
            if scene_id is not None:
                scene = base.place_of_statement(unit, END_OF_STORY, scene_id=scene_id)
                start = StoryPosition(scene.chapter_index, (scene.scene_index or 0) + 1)
            place = place_before(start)
            is_proved = bool(evidence and evidence.strip())
            is_of_scene = is_proved or scene_id is not None or base.is_told_before_the_next(unit, place, start)
            span = _span_of(unit, evidence or "", place) if is_proved else None
            # A repeat is a note with the same ones.
            note_fields: OptionalNoteFields = {
                "short": short,
                "importance": importance,
                "event_type": event_type,
                "source_span": span,
            }
            statements: tuple[tuple[KnowledgeKind, Sequence[str]], ...] = (("knows", known_by), ("hidden", hidden_from))
            knowers = [(knower, kind) for kind, names in statements for knower in knower_ids(unit, names, END_OF_STORY)]
            for same in unit.memories.notes_with_text(content.strip(), at=place):
                if (
                    pinned <= same.pinned
                    and same.over_at is None
                    and _says_the_same(unit, same.chunk, note_fields, targets, tags, knowers)
                ):
                    named_ids = same.chunk.entities_mentioned
                    return AddedNote(note=same.chunk, named=named_ids, occurs_nowhere=False, is_repeat=True)
            stated = noted_states(unit, content, start, known_entities=known_entities)
            values_beside = standing_beside(unit, content, start, known_entities=known_entities)
            note = unit.memories.add_note(
                content.strip(),
                at=place,
                follows_scene=is_of_scene,
                entities=ids,
                mentioned=self._names_in_note(unit, content, known_entities, start) if attached_to is None else (),
                tags=tags,
                **note_fields,
            )
            if beyond:
                unit.attachments.attach([note.chunk_id], beyond)
            if pinned:
                unit.memories.decide(note.chunk_id, "pin")
            state_rows = follow_note(unit, note, stores=self._stores) if stated else []
            note = unit.memories.require(note.chunk_id).chunk
            # What a note states may be a name.
            now_known = base.known_entities(unit, None) if state_rows else known_entities
            endings = follow_ending(unit, note, ends=ends, known_entities=now_known)
            if endings.over:
                note = unit.memories.require(note.chunk_id).chunk
            described_ids = people_by_description(known_entities)
            mentioned_ids = NameResolver(known_entities).entity_ids_in(content, also_present=described_ids)
            named_ids = list(dict.fromkeys([*ids, *mentioned_ids]))
            occurs_nowhere = _occurs_nowhere(unit, ids)
            for character_id, kind in knowers:
                unit.knowledge.say(
                    Knowledge(
                        character_id=character_id,
                        source_id=note.memory_id,
                        chapter_index=note.chapter_index,
                        scene_index=note.scene_index,
                        kind=kind,
                        how="author",
                        origin="author",
                    ),
                    follows_scene=is_of_scene,
                )
            edited_rows = [row for row in state_rows if row.key.get("chunk_id") != note.chunk_id]
            change_id = unit.journal.keep_added(note.chunk_id, edited=edited_rows).change_id
        return AddedNote(
            note=note,
            named=named_ids,
            occurs_nowhere=occurs_nowhere,
            indexing=self._follow_edit(),
            change_id=change_id,
            stated=next(iter(stated), None),
            also_stated=stated[1:],
            standing=values_beside,
            over=endings.over,
            perhaps_over=endings.perhaps_over,
            **({} if knowers else names_by_words(content, known_entities)._asdict()),
        )

    def preview(self, content: str, *, start: base.Place = None) -> NotePreview:
        """Preview the state that a note would set, and store nothing.

        Args:
            content: The note.
            start: From where on it would be read; None means everywhere.
        """
        with self._stores.database(self.project_id).read() as unit:
            begins = base.position_of(start)
            known_entities = base.known_entities(unit, None)
            stated = noted_states(unit, content, begins, known_entities=known_entities)
            values_beside = standing_beside(unit, content, begins, known_entities=known_entities)
            endings = ended_notes(unit, content, begins, known_entities=known_entities)
            return NotePreview(
                stated=next(iter(stated), None),
                also_stated=stated[1:],
                standing=values_beside,
                over=endings.over,
                perhaps_over=endings.perhaps_over,
                **names_by_words(content, known_entities)._asdict(),
            )

    def edit(
        self,
        memory_id: base.Name,
        *,
        content: str | None = None,
        start: base.Place = None,
        short: str | None = None,
        importance: base.Weight | None = None,
        tags: Sequence[str] | None = None,
        attach: Sequence[Target] = (),
        detach: Sequence[Target] = (),
        attached_to: Sequence[Target] | None = None,
        event_type: str | None = None,
        evidence: str | None = None,
        ends: Sequence[str] | None = None,
        as_of: base.Place = None,
        expected_version: Version | None = None,
    ) -> MemoryChange:
        """Change a memory, what it is attached to included; no ingest takes that back.

        Args:
            memory_id: Its chunk_id or source_id.
            content: New text; what is not given stays.
            start: New place of a note, with its state and knowers.
            short: New short form.
            importance: New weight, 1 to 10.
            tags: New tags, all of them.
            attach: What to attach it to: entities, chapters as `chapter:3`, or `book`.
            detach: What to take it off.
            attached_to: All that it shall be attached to, and nothing else.
            event_type: What kind of event it is.
            evidence: Words of its scene that prove it.
            ends: Ids of further memories that are over from this note on; an empty list takes all back.
            as_of: Names are meant as they are known by then.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the memory was changed since that version was read.
            UserInputError: When nothing is to be changed, the memory was deleted, or one that is no note is given a
                place.
            UnknownMemoryError: When there is none of that id.
            UnknownEntityError: When an entity is not stored.
        """
        as_of, start = base.position_of(as_of), base.position_of(start)
        _require_event_type(event_type)
        edit = models.MemoryEdit(
            content=content or None,
            short=short,
            importance=importance,
            tags=None if tags is None else list(tags),
            event_type=event_type,
        )
        if content is not None and not content.strip():
            raise UserInputError("the new text is empty; delete the memory instead: `novelgen memory delete`")
        is_edited = bool(edit.model_dump(exclude_none=True)) or evidence is not None
        is_edited = is_edited or start is not None
        if not is_edited and not attach and not detach and attached_to is None and ends is None:
            raise UserInputError(
                "nothing to change; give a text, from where on it holds, a short form, an importance, tags, what it "
                "ends, or what to attach it to or take it off"
            )

        def change(unit: UnitOfWork, memory: models.StoredMemory) -> models.StoredMemory:
            chunk_id = memory.chunk.chunk_id
            stated_fields = {
                **edit.model_dump(exclude_none=True),
                **({"evidence": evidence} if evidence is not None else {}),
            }
            _require_memory(unit, memory, expected_version, stated_fields)
            if memory.status == "deleted":
                raise UserInputError(
                    f"{memory.chunk.memory_id!r} was deleted or taken back and cannot be edited; bring it back first: "
                    f"`novelgen memory unban {self.project_id} {memory.chunk.memory_id}`"
                )
            if ends is not None and memory.chunk.content_type != "note":
                raise UserInputError(f"{memory.chunk.memory_id!r} is no note; only a note ends earlier memories")
            if start is not None:
                memory = _moved(unit, memory, start, follows_scene=bool(evidence and evidence.strip()))
            if is_edited:
                proven_memory_edit = _with_evidence(unit, memory, edit, evidence, is_moved=start is not None)
                unit.memories.edit(
                    chunk_id, self._with_mentions(unit, memory, proven_memory_edit, is_moved=start is not None)
                )
            _reattach(
                unit,
                chunk_id,
                attach=base.resolved_targets(unit, attach, as_of, by_exact_name=as_of is None),
                detach=base.resolved_targets(unit, detach, as_of, by_exact_name=as_of is None),
                attached_to=attached_to,
            )
            return unit.memories.require(chunk_id)

        return self._changed(memory_id, "edit", change, ends=ends, is_moved=start is not None)

    def end(self, memory_id: base.Name, *, start: base.Place = None) -> MemoryChange:
        """Say from which scene on a memory no longer holds; a state that a note set is over, too.

        Args:
            memory_id: Its chunk_id or source_id.
            start: The first scene for which it is over; None means the scene after the last one.

        Raises:
            UnknownMemoryError: When there is none of that id.
            UserInputError: When it begins later or is over already, or no scene is stored and none is given.
        """
        given_position = base.position_of(start)

        def change(unit: UnitOfWork, memory: models.StoredMemory) -> models.StoredMemory:
            if memory.status != "active":
                raise UserInputError(
                    f"{memory.chunk.memory_id!r} is in no context; bring it back first: "
                    f"`novelgen memory unban {self.project_id} {memory.chunk.memory_id}`"
                )
            position = given_position or _after_the_last(unit)
            self._require_may_end(unit, memory, position)
            return unit.memories.set_over(memory.chunk.chunk_id, place_before(position))

        return self._changed(memory_id, "edit", change, is_ended=True)

    def _require_may_end(self, unit: UnitOfWork, memory: models.StoredMemory, position: StoryPosition) -> None:
        chunk = memory.chunk
        begins = start_of(chunk)
        place = place_before(position)
        is_too_early = place.chapter_index is None or story_place(place) < story_place(chunk)
        # A note says from where on it holds, so that it would hold nowhere.
        if is_too_early or (chunk.content_type == "note" and story_place(place) == story_place(chunk)):
            raise UserInputError(
                f"{chunk.memory_id!r} is told from {begins or 1} on, so it cannot be over from {position} on; give a "
                f"later scene, or delete it: `novelgen memory delete {self.project_id} {chunk.memory_id}`"
            )
        over = next(iter(unit.memories.by_ids([chunk.chunk_id], as_of=position)), chunk)
        if over.superseded_by is not None and over_from(over.superseded_by) is None:
            raise UserInputError(
                f"{chunk.memory_id!r} is over before {position} already, by {over.superseded_by!r}; look at that one: "
                f"`novelgen memory list {self.project_id}`"
            )

    def confirm(self, memory_id: base.Name) -> MemoryChange:
        """Say that a memory is true as it stands: it is the author's then, proved, and no ingest touches it.

        Args:
            memory_id: Its chunk_id or source_id.

        Raises:
            UnknownMemoryError: When there is none of that id.
            UserInputError: When it is a consolidated memory.
        """

        def confirm(unit: UnitOfWork, memory: models.StoredMemory) -> models.StoredMemory:
            return unit.memories.edit(memory.chunk.chunk_id, models.MemoryEdit(verified=True))

        return self._changed(memory_id, "confirm", confirm)

    def pin(self, memory_id: base.Name) -> MemoryChange:
        """Pin a memory: it outranks the others.

        Args:
            memory_id: Its chunk_id or source_id.

        Raises:
            UnknownMemoryError: When there is none of that id.
        """
        return self._decided(memory_id, "pin")

    def unpin(self, memory_id: base.Name) -> MemoryChange:
        """Take a pin off.

        Args:
            memory_id: Its chunk_id or source_id.
        """
        return self._decided(memory_id, "unpin")

    def ban(self, memory_id: base.Name) -> MemoryChange:
        """Ban a memory: it is kept, but no search and no context brings it.

        Args:
            memory_id: Its chunk_id or source_id.

        Raises:
            UnknownMemoryError: When there is none of that id.
            UserInputError: When it is a consolidated memory.
        """
        return self._decided(memory_id, "ban")

    def unban(self, memory_id: base.Name) -> MemoryChange:
        """Lift a ban, or bring a deleted memory back.

        Args:
            memory_id: Its chunk_id or source_id.
        """
        return self._decided(memory_id, "unban")

    def delete(self, memory_id: base.Name, *, expected_version: Version | None = None) -> MemoryChange:
        """Delete a memory, which a new ingest does not bring back; a note takes the state back that it set.

        Args:
            memory_id: Its chunk_id or source_id.
            expected_version: The `version` that was read; None deletes whatever stands.

        Raises:
            StaleVersionError: When the memory was changed since that version was read.
        """

        def change(unit: UnitOfWork, memory: models.StoredMemory) -> models.StoredMemory:
            subject = f"memory {memory.chunk.memory_id}"
            require_unchanged(expected_version, memory_version(unit, memory), subject=subject)
            return unit.memories.decide(memory.chunk.chunk_id, "delete")

        return self._changed(memory_id, "delete", change)

    def _names_in_note(
        self, unit: UnitOfWork, text: str, known_entities: Sequence[Entity], start: StoryPosition | None
    ) -> list[str]:
        is_wanted = self._stores.settings.memory.attach_notes_by_name
        return mentioned_in(unit, text, known_entities, start) if is_wanted else []

    def _with_mentions(
        self, unit: UnitOfWork, memory: models.StoredMemory, edit: models.MemoryEdit, *, is_moved: bool
    ) -> models.MemoryEdit:
        """Return an edit with the entities of a note's text at its place.

        To what an author attached by hand no name adds anything.
        """
        chunk = memory.chunk
        if (edit.content is None and not is_moved) or chunk.content_type != "note":
            return edit
        content = edit.content or chunk.content
        by_hand = {
            attachment.target
            for attachment in unit.attachments.attachments_of(chunk.chunk_id)
            if attachment.origin == "manual"
        }
        named_ids = self._names_in_note(unit, content, base.known_entities(unit, None), start_of(chunk))
        if by_hand:
            named_ids = [entity_id for entity_id in named_ids if entity_id in chunk.entities_mentioned]
        kept_ids = [entity_id for entity_id in chunk.entities_mentioned if entity_id in by_hand]
        return edit.model_copy(update={"entities": [*kept_ids, *named_ids]})

    def _decided(self, memory_id: str, decision: MemoryDecision) -> MemoryChange:
        return self._changed(
            memory_id, decision, lambda unit, memory: unit.memories.decide(memory.chunk.chunk_id, decision)
        )

    def _changed(
        self,
        memory_id: str,
        kind: AuthorChangeKind,
        change: Callable[[UnitOfWork, models.StoredMemory], models.StoredMemory],
        *,
        ends: Sequence[str] | None = None,
        is_moved: bool = False,
        is_ended: bool = False,
    ) -> MemoryChange:
        with self._stores.database(self.project_id).write() as unit:
            matching_memory = _find_memory_row(unit, self.project_id, memory_id)
            chunk = matching_memory.chunk
            with (
                unit.journal.recording_memories([chunk.chunk_id], with_place=is_moved) as rows,
                unit.journal.recording_knowledge_of(chunk.memory_id) if is_moved else nullcontext([]) as knowledge_rows,
            ):
                memory = change(unit, matching_memory)
            rows += knowledge_rows
            effects, endings = _NO_EFFECTS, EndedNotes()
            is_restated = is_moved or (memory.chunk.content, memory.status) != (chunk.content, matching_memory.status)
            if chunk.content_type == "note" and is_restated:
                # Before it is set: what the new words change, and not that they hold by then.
                effects = _restated(unit, memory)
                stood_from = start_of(chunk)
                rows += follow_note(unit, memory.chunk, stores=self._stores, stood_from=stood_from)
                rows += leave_endings(unit, memory.chunk) if is_moved else []
                memory = unit.memories.require(chunk.chunk_id)
            if is_ended:
                effects, state_rows = self._over(unit, memory)
                rows += state_rows
            if chunk.content_type == "note" and memory.status == "active" and (is_restated or ends is not None):
                if is_moved and ends is None:
                    # What it ended must stand before it from its new place, too.
                    ends = memory.chunk.also_supersedes
                with unit.journal.recording_memories([chunk.chunk_id]) as ending_rows:
                    known_entities = base.known_entities(unit, None)
                    endings = follow_ending(unit, memory.chunk, ends=ends, known_entities=known_entities)
                rows += ending_rows
                memory = unit.memories.require(chunk.chunk_id)
            rows = joined_rows(rows)
            kept_change = unit.journal.keep_of("memory", kind, chunk.chunk_id, rows)
            version = memory_version(unit, memory)
        return MemoryChange(
            memory=memory,
            version=version,
            indexing=self._follow_edit(),
            change_id=number_of(kept_change),
            stated=effects.stated,
            also_stated=effects.also_stated,
            standing=effects.standing,
            over=endings.over,
            perhaps_over=endings.perhaps_over,
            kept_from=effects.kept_from,
            known_only_by=effects.known_only_by,
            knowers_over=effects.knowers_over,
        )

    def _over(self, unit: UnitOfWork, memory: models.StoredMemory) -> tuple[NotePreview, list[RowChange]]:
        """Take back the state of a memory that is over, and return standing states."""
        is_note = memory.chunk.content_type == "note"
        rows = follow_note(unit, memory.chunk, stores=self._stores) if is_note else []
        return NotePreview(stated=None, standing=standing_when_over(unit, memory)), rows

    def list(
        self,
        *,
        attached_to: Sequence[Target] = (),
        content_types: Sequence[ContentType] = (),
        status: MemoryStatus = "active",
        limit: base.Count | None = DEFAULT_LIMIT,
        as_of: base.Place = None,
    ) -> MemoryListing:
        """Return stored memories in story order, and how many there are in all.

        Args:
            attached_to: Only memories attached to one of these: entities, chapters as `chapter:3`, or `book`.
            content_types: Only memories of these kinds.
            status: What was decided about them: active, banned or deleted.
            limit: At most so many; None means all.
            as_of: Only what lies strictly before this position.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            wrong = [name for name in content_types if name not in CONTENT_TYPES]
            if wrong:
                raise UserInputError(f"{wrong[0]!r} is none of {', '.join(CONTENT_TYPES)}")
            wanted_memory_filter = models.MemoryFilter(
                as_of=as_of or END_OF_STORY,
                entities=base.resolved_targets(unit, attached_to, as_of),
                content_types=[content_type for content_type in CONTENT_TYPES if content_type in content_types],
                statuses=[status],
            )
            matching_memories = unit.memories.list_matching(wanted_memory_filter, limit=limit)
            chunk_ids = [memory.chunk.chunk_id for memory in matching_memories]
            chunks = {chunk.chunk_id: chunk for chunk in unit.memories.by_ids(chunk_ids, as_of=as_of or END_OF_STORY)}
            matching_memories = [
                memory.model_copy(
                    update={
                        "chunk": chunks.get(memory.chunk.chunk_id, memory.chunk),
                        "over_at": _over_by(memory, as_of),
                    }
                )
                for memory in matching_memories
            ]
            return MemoryListing(memories=matching_memories, total=unit.memories.count(wanted_memory_filter))

    alist = base.async_twin(list)
    aadd = base.async_twin(add)
    apreview = base.async_twin(preview)
    aedit = base.async_twin(edit)
    aend = base.async_twin(end)
    aconfirm = base.async_twin(confirm)
    aget = base.async_twin(get)
    apin = base.async_twin(pin)
    aunpin = base.async_twin(unpin)
    aban = base.async_twin(ban)
    aunban = base.async_twin(unban)
    adelete = base.async_twin(delete)


def _after_the_last(unit: UnitOfWork) -> StoryPosition:
    """Return the position of the scene that is written next."""
    last = next(iter(unit.scenes.list_as_of(last=1)), None)
    if last is None:
        raise UserInputError("no scene is stored; say from which scene on it is over, such as 2:1")
    return StoryPosition(last.chapter_index, last.scene_index + 1)


def _over_by(memory: models.StoredMemory, as_of: StoryPosition | None) -> list[int | None] | None:
    """Return after which place a memory is over, where that lies before a position."""
    is_known = memory.over_at is not None and (as_of is None or as_of.admits(*memory.over_at))
    return memory.over_at if is_known else None


def _require_memory(
    unit: UnitOfWork, memory: models.StoredMemory, expected_version: str | None, sent_fields: Mapping[str, Any]
) -> None:
    if expected_version is None:
        return
    chunk = memory.chunk
    scene = None
    if chunk.source_span is not None and chunk.chapter_index is not None and chunk.scene_index is not None:
        scene = unit.scenes.get(StoryPosition(chunk.chapter_index, chunk.scene_index))
    words = "" if scene is None or chunk.source_span is None else (scene.text or "")[slice(*chunk.source_span)].strip()
    version = memory_version(unit, memory)
    stored_fields = {**chunk.model_dump(), "evidence": words}
    require_version(
        expected_version,
        version,
        subject=f"memory {chunk.memory_id}",
        stored_fields=stored_fields,
        sent_fields=sent_fields,
    )


def _find_memory_row(unit: UnitOfWork, project_id: str, memory_id: str) -> models.StoredMemory:
    memory = unit.memories.find(memory_id)
    if memory is None:
        raise UnknownMemoryError(
            f"no memory {memory_id!r} in project {project_id!r}; list them with `novelgen memory list {project_id}`"
        )
    return memory


def _require_event_type(event_type: str | None) -> None:
    if event_type is not None and event_type not in EVENT_TYPES:
        raise UserInputError(f"{event_type!r} is no kind of event; take one of {', '.join(sorted(EVENT_TYPES))}")


def _span_of(unit: UnitOfWork, evidence: str, place: StoryPosition) -> tuple[int, int]:
    """Return where the words of a fact stand in its scene."""
    scene = None if place.scene_index is None else unit.scenes.get(place)
    # Who points at words knows which are meant, however few they are.
    span = QuoteFinder(scene.text or "", min_characters=(1, 1)).find(evidence) if scene else None
    if span is None:
        where = "any scene" if place.chapter_index is None else f"scene {place}"
        raise UserInputError(f"the words {evidence[:80]!r} do not stand in {where}; copy them from the text")
    return span.start, span.end


def _moved(
    unit: UnitOfWork, memory: models.StoredMemory, start: StoryPosition, *, follows_scene: bool
) -> models.StoredMemory:
    """Return a note that is read from another position on, as what its author said of its knowers."""
    note, place = memory.chunk, place_before(start)
    if note.content_type != "note":
        raise UserInputError(f"{note.memory_id!r} is no note; what a scene tells holds from that scene on")
    unit.memories.move_note(note.chunk_id, at=place, follows_scene=follows_scene)
    stood_at = StoryPosition(note.chapter_index, note.scene_index)
    unit.knowledge.move(note.memory_id, at=stood_at, to=place, follows_scene=follows_scene)
    return unit.memories.require(note.chunk_id)


def _with_evidence(
    unit: UnitOfWork, memory: models.StoredMemory, edit: models.MemoryEdit, evidence: str | None, *, is_moved: bool
) -> models.MemoryEdit:
    if evidence is None:
        # Words of the scene that it was of prove nothing of another.
        return edit.model_copy(update={"source_span": "none"}) if is_moved else edit
    if not evidence.strip():
        return edit.model_copy(update={"source_span": "none"})
    place = StoryPosition(memory.chunk.chapter_index, memory.chunk.scene_index)
    return edit.model_copy(update={"source_span": _span_of(unit, evidence, place), "verified": True})


def _says_the_same(
    unit: UnitOfWork,
    note: StoryMemoryChunk,
    note_fields: OptionalNoteFields,
    targets: Sequence[str],
    tags: Sequence[str],
    knowers: Sequence[tuple[str, KnowledgeKind]],
) -> bool:
    """Tell whether a stored note makes a new one needless."""
    stored_targets = {attachment.target for attachment in unit.attachments.attachments_of(note.chunk_id)}
    stored_knowers = {
        (statement.character_id, statement.kind)
        for statement in unit.knowledge.said()
        if statement.source_id == note.memory_id and statement.origin == "author"
    }
    return (
        note.superseded_by is None
        and all(value is None or value == getattr(note, name) for name, value in note_fields.items())
        and stored_targets.issuperset(targets)
        and set(tags) <= set(note.tags)
        and stored_knowers == set(knowers)
    )


def _said_targets(unit: UnitOfWork, attached_to: Sequence[Target] | None, as_of: StoryPosition | None) -> list[str]:
    """Return the explicit targets, an empty list meaning the book."""
    if attached_to is None:
        return []
    return base.resolved_targets(unit, attached_to, as_of, by_exact_name=as_of is None) or [BOOK]


def _reattach(
    unit: UnitOfWork,
    chunk_id: str,
    *,
    attach: Sequence[str],
    detach: Sequence[str],
    attached_to: Sequence[Target] | None,
) -> None:
    gone_ids, added_names = list(detach), list(attach)
    if attached_to is not None:
        wanted_names = _said_targets(unit, attached_to, None)
        standing_ids = [
            attachment.target
            for attachment in unit.attachments.attachments_of(chunk_id)
            if attachment.origin not in ("position", "default")
        ]
        gone_ids += [text for text in standing_ids if text not in wanted_names]
        added_names += [text for text in wanted_names if text not in standing_ids]
    if gone_ids:
        unit.attachments.detach([chunk_id], gone_ids)
    if added_names:
        unit.attachments.attach([chunk_id], added_names)


_NO_EFFECTS = NotePreview(stated=None)


def _restated(unit: UnitOfWork, memory: models.StoredMemory) -> NotePreview:
    """Return what an active note states, and what stands beside it."""
    if memory.status != "active":
        return _NO_EFFECTS
    note, known_entities = memory.chunk, base.known_entities(unit, None)
    own = unit.states.of_note(note.chunk_id)
    stated = noted_states(unit, note.content, start_of(note), known_entities=known_entities, own=own)
    values_beside = standing_beside(unit, note.content, start_of(note), known_entities=known_entities)
    is_settled = any(
        statement.source_id == note.memory_id and statement.origin == "author" for statement in unit.knowledge.said()
    )
    by_words = {} if is_settled else names_by_words(note.content, known_entities)._asdict()
    first = next(iter(stated), None)
    return NotePreview(stated=first, also_stated=stated[1:], standing=values_beside, **by_words)


def _occurs_nowhere(unit: UnitOfWork, entity_ids: Sequence[str]) -> bool:
    """Return whether none of the entities occurs in stored scenes.

    What an author said of an entity is not asked: it makes nobody occur.
    """
    if not entity_ids or not unit.scenes.list_as_of(last=1):
        return False
    if any(entity_id in entity_ids for entity_id, _ in unit.entities.first_mentions()):
        return False
    linked_memories = unit.memories.list_matching(models.MemoryFilter(entities=list(entity_ids)))
    if any(memory.from_scene for memory in linked_memories):
        return False
    scenes = unit.scenes.list_as_of()
    return not any({*scene.participants, scene.location_id} & set(entity_ids) for scene in scenes)
