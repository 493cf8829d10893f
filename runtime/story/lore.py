"""Notes by key: lorebooks, and a program's own keyed notes.

An entry of a lorebook is read at a key in the plan, always, or from a chapter on. A program's key is one of something
that memories are attached to: an entity, a chapter, or the book. A new value at a later place leaves the old one to
those who read before it.
"""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote, unquote

from pydantic import BaseModel, Field

from novelgen.errors import InvalidPositionError, UnknownEntityError, UnknownSceneError, UserInputError
from novelgen.lorebook import MAX_KEYS, LorebookForm, LoreEntry, read_lorebook, written_lorebook
from novelgen.memory.note_keys import keys_of, with_keys
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import BOOK, DISTILLED_TYPES, StoryMemoryChunk, found_under, is_entity_target, read_from
from novelgen.models.position import END_OF_STORY, StoryPosition, sort_key
from runtime.files.file_reading import parse_json
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult, MemoryEdit, MemoryFilter, StoredMemory
from runtime.story import base
from runtime.story.memories import MemoryChange
from runtime.story.note_mentions import mentioned_in, names_in_notes

_TITLE_TAG = "title:"
_PATTERN_TAG = "pattern:"
_ENTRY_TAG = "lorebook"
"""Marks a note as an entry of the lorebook, with or without a key."""

MAX_LOREBOOK_CHARACTERS = 5_000_000

LorebookText = Annotated[str, Field(min_length=2, max_length=MAX_LOREBOOK_CHARACTERS)]


class StoredLoreEntry(LoreEntry):
    """A note that is an entry of the lorebook."""

    note_id: str


class LoreImport(BaseModel):
    """The result of a lorebook import."""

    added: list[str] = Field(description="Ids of the notes.")
    updated: list[str] = Field(default_factory=list, description="Ids of notes that took the words of a newer entry.")
    were_there: int = Field(description="So many entries were stored already, word for word.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What was not taken, and why.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    change_id: base.ChangeNumber = None


class StoryLore(base.StoryBase):
    """A lorebook as the author's notes, imported and exported as JSON."""

    def import_book(self, text: LorebookText, *, start: base.Place = None) -> LoreImport:
        """Take a lorebook of SillyTavern or NovelAI in as notes, which `undo` takes back.

        An entry is in the context of each scene whose plan holds one of its keys, or of every scene where it is
        always on. An entry that is off is kept, banned. An entry that is stored under the same title and keys gets
        the new words and switches.

        Args:
            text: The lorebook, JSON: a world info of SillyTavern, a character's book, a character card that holds
                one, a .lorebook of NovelAI.
            start: Entries that do not say it themselves are read from this position on; None means everywhere.

        Raises:
            InvalidFileError: When it is not JSON.
            UserInputError: When it is no lorebook, or has too many entries.
        """
        book = read_lorebook(parse_json(text, where="the lorebook"))
        issues = [ReportIssue(stage="lore", kind="degraded", message=message) for message in book.unread]
        general, added_names, same = base.position_of(start), [], 0
        updates: list[tuple[StoredLoreEntry, LoreEntry]] = []
        with self._stores.database(self.project_id).write() as unit:
            stored_lore_entries = [_entry(memory) for memory in _entries(unit, END_OF_STORY)]
            names_at = names_in_notes(unit)
            by_name = self._stores.settings.memory.attach_notes_by_name
            for entry in book.entries:
                place = _start_of(entry, issues) or general
                counterpart = find_counterpart(entry, stored_lore_entries, start="" if place is None else str(place))
                if counterpart is not None:
                    stored_lore_entries.remove(counterpart)
                    if _has_same_words(entry, counterpart):
                        same += 1
                    else:
                        updates.append((counterpart, entry))
                    continue
                note = unit.memories.add_note(
                    entry.text,
                    at=base.place_before(place),
                    follows_scene=False,
                    mentioned=names_at(place).entity_ids_in(entry.text) if by_name else (),
                    tags=_tags_of(entry),
                )
                added_names.append(note.chunk_id)
                _switch(unit, note.chunk_id, entry)
            if added_names:
                unit.attachments.attach(added_names, [BOOK])
            updated = [old.note_id for old, _ in updates]
            with unit.journal.recording_memories(updated) as rows:
                for old, new in updates:
                    named_ids = names_at(base.position_of(old.start or None)).entity_ids_in(new.text) if by_name else []
                    edit = MemoryEdit(content=new.text, tags=_tags_of(new), entities=list(named_ids))
                    unit.memories.edit(old.note_id, edit)
                    _switch(unit, old.note_id, new)
            change_id = unit.journal.keep_added(*added_names, edited=rows).change_id if added_names or rows else None
        indexing = self._follow_edit()
        return LoreImport(
            added=added_names, updated=updated, were_there=same, issues=issues, indexing=indexing, change_id=change_id
        )

    def export_book(self, form: LorebookForm = "sillytavern", *, cards: bool = False) -> dict[str, Any]:
        """Return the lorebook for SillyTavern or NovelAI, complete for a re-import.

        Args:
            form: sillytavern or novelai.
            cards: Whether each card is an entry, too, with its names as keys.
        """
        entries: list[LoreEntry] = list(self.list())
        if cards:
            with self._stores.database(self.project_id).read() as unit:
                known_entities = [stored_entity.entity for stored_entity in unit.entities.list_all()]
            entries += [entry for entity in known_entities if (entry := _entry_of_card(entity)) is not None]
        return written_lorebook(entries, form)

    def list(self, *, as_of: base.Place = None) -> list[StoredLoreEntry]:
        """Return the entries of the lorebook: notes from a lorebook, with keys, or pinned.

        Args:
            as_of: Only those that are read at this position.
        """
        with self._stores.database(self.project_id).read() as unit:
            return [_entry(memory) for memory in _entries(unit, base.position_of(as_of) or END_OF_STORY)]

    alist = base.async_twin(list)
    aimport_book = base.async_twin(import_book)
    aexport_book = base.async_twin(export_book)


def find_counterpart(
    entry: LoreEntry, stored_entries: Sequence[StoredLoreEntry], *, start: str
) -> StoredLoreEntry | None:
    """Return the stored entry that a newer file writes anew.

    Args:
        entry: The entry of the file.
        stored_entries: Entries of the lorebook that no other entry of the file has claimed.
        start: The place from which the entry is read; empty matches every place.
    """
    here = [old for old in stored_entries if not start or old.start == start]
    keys = {*entry.keys, *entry.patterns}
    return next(
        (
            old
            for is_counterpart in (
                lambda old: old.text == entry.text and {*old.keys, *old.patterns} == keys,
                lambda old: bool(keys) and _is_title(entry, old) and bool(keys & {*old.keys, *old.patterns}),
                lambda old: not keys and not old.keys and not old.patterns and _is_title(entry, old),
                lambda old: bool(keys) and {*old.keys, *old.patterns} == keys and not (entry.title and old.title),
            )
            for old in here
            if is_counterpart(old)
        ),
        None,
    )


def _is_title(entry: LoreEntry, old: LoreEntry) -> bool:
    return bool(entry.title) and entry.title == old.title


def _has_same_words(entry: LoreEntry, old: LoreEntry) -> bool:
    fields = ("text", "keys", "patterns", "pinned", "is_off")
    return all(getattr(entry, name) == getattr(old, name) for name in fields) and entry.title in ("", old.head())


def _tags_of(entry: LoreEntry) -> list[str]:
    titles = [_TITLE_TAG + entry.title] if entry.title else []
    return with_keys([_ENTRY_TAG, *titles, *(_PATTERN_TAG + pattern for pattern in entry.patterns)], entry.keys)


def _switch(unit: UnitOfWork, note_id: str, entry: LoreEntry) -> None:
    """Pin and ban a note as its entry is always on or off."""
    stored_memory = unit.memories.require(note_id)
    if stored_memory.pinned != entry.pinned:
        unit.memories.decide(note_id, "pin" if entry.pinned else "unpin")
    if (stored_memory.status == "banned") != entry.is_off:
        unit.memories.decide(note_id, "ban" if entry.is_off else "unban")


def _entry_of_card(entity: Entity) -> LoreEntry | None:
    """Return a card as an entry, None without a description."""
    texts = [entity.role, entity.description]
    texts += [f"{name}: {value}" for name, value in entity.profile.items() if isinstance(value, str)]
    text = "\n".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if not text:
        return None
    return LoreEntry(text=f"{entity.name}: {text}", title=entity.name, keys=entity.names()[:MAX_KEYS])


def _entries(unit: UnitOfWork, as_of: StoryPosition) -> list[StoredMemory]:
    notes = MemoryFilter(as_of=as_of, content_types=["note"], statuses=["active", "banned"])
    return [
        note
        for note in unit.memories.list_matching(notes)
        if note.pinned or _ENTRY_TAG in note.chunk.tags or keys_of(note.chunk.tags)
    ]


def _entry(stored_memory: StoredMemory) -> StoredLoreEntry:
    chunk = stored_memory.chunk
    start = None if chunk.chapter_index is None else read_from(chunk.chapter_index, chunk.scene_index)
    return StoredLoreEntry(
        note_id=chunk.chunk_id,
        text=chunk.content,
        title=next(iter(_with_prefix(chunk.tags, _TITLE_TAG)), ""),
        keys=keys_of(chunk.tags),
        patterns=_with_prefix(chunk.tags, _PATTERN_TAG),
        pinned=stored_memory.pinned,
        is_off=stored_memory.status == "banned",
        start="" if start is None else str(start),
    )


def _with_prefix(tags: Sequence[str], prefix: str) -> list[str]:
    return [tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)]


def _start_of(entry: LoreEntry, issues: list[ReportIssue]) -> StoryPosition | None:
    try:
        return base.position_of(entry.start or None)
    except InvalidPositionError as error:
        issues.append(ReportIssue(stage="lore", kind="malformed", message=str(error)))
        return None


_BETWEEN = "/"


class StoryKeyedNotes(base.StoryBase):
    """A program's notes by key, one dated value each."""

    def put_keyed_note(
        self,
        *,
        target: str,
        key: str,
        content: str,
        short: str | None = None,
        importance: int | None = None,
        tags: Sequence[str] = (),
        as_of: base.Place = None,
    ) -> MemoryChange:
        """Store a note under a key, replacing its value from `as_of` on."""
        as_of = base.position_of(as_of)
        if not content.strip():
            raise UserInputError(f"the note for key {key!r} is empty; write what holds in the story, or delete the key")
        with self._stores.database(self.project_id).write() as unit:
            unit.memories.queue_up()
            attached_text, *further = base.resolved_targets(unit, [target], as_of)
            if further:
                raise UserInputError(f"{target!r} names several; a note under a key is of one, so give one name")
            _refuse_memory_of_story(unit, key)
            place = _place(unit, as_of)
            standing_memories = unit.memories.notes_in_slot(_slot(attached_text, key), as_of=as_of or END_OF_STORY)
            by_name = self._stores.settings.memory.attach_notes_by_name
            mentioned = mentioned_in(unit, content, base.known_entities(unit, None), as_of) if by_name else []
            last = standing_memories[-1].chunk if standing_memories else None
            if last is not None and (as_of is None or _order(place) <= _order(last)):
                edit = MemoryEdit(
                    content=content.strip(),
                    short=short,
                    importance=importance,
                    tags=list(tags),
                    entities=[*_as_entity(attached_text), *mentioned],
                )
                changed = unit.memories.edit(last.chunk_id, edit)
            else:
                note = unit.memories.add_note(
                    content.strip(),
                    at=place,
                    follows_scene=False,
                    short=short,
                    entities=_as_entity(attached_text),
                    mentioned=mentioned,
                    tags=tags,
                    slot_type=_slot(attached_text, key),
                    importance=last.importance if last is not None and importance is None else importance,
                )
                if not _as_entity(attached_text):
                    unit.attachments.attach([note.chunk_id], [attached_text])
                changed = unit.memories.require(note.chunk_id)
        return MemoryChange(memory=changed, indexing=self._follow_edit())

    def find_keyed_memory(self, *, target: str, key: str, as_of: base.Place = None) -> StoryMemoryChunk | None:
        """Return the note that stands under a key, else the memory of that id that is found under the target."""
        as_of = base.position_of(as_of)
        position = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            attached_text = _known_target(unit, target, as_of)
            if attached_text is None:
                return None
            standing_memories = unit.memories.notes_in_slot(_slot(attached_text, key), as_of=position)
            if standing_memories:
                memories = unit.memories.by_ids([standing_memories[-1].chunk.chunk_id], as_of=position)
            else:
                named_memories_by_id = unit.memories.by_source_ids([key], as_of=position)
                memories = unit.memories.by_ids([key], as_of=position) or list(named_memories_by_id.values())
        return next((memory for memory in memories if attached_text in targets_under(memory)), None)

    def delete_keyed_note(self, *, target: str, key: str, as_of: base.Place = None) -> list[str]:
        """Take a key out of the memory: all of its values that are read at a position, for every reader."""
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).write() as unit:
            unit.memories.queue_up()
            attached_text = _known_target(unit, target, as_of)
            if attached_text is None:
                return []
            standing_memories = unit.memories.notes_in_slot(_slot(attached_text, key), as_of=as_of or END_OF_STORY)
            chunks = [memory.chunk for memory in standing_memories]
            if not chunks:
                _refuse_memory_of_story(unit, key)
                memories = unit.memories.by_ids([key], as_of=as_of or END_OF_STORY)
                chunks = [memory for memory in memories if attached_text in targets_under(memory)]
            gone_ids = [memory.chunk_id for memory in chunks]
            for text in gone_ids:
                unit.memories.decide(text, "delete")
        self._follow_edit()
        return gone_ids

    def list_memory_targets(self, *, as_of: base.Place = None) -> list[str]:
        """List the sorted targets of facts and notes: entity ids, `chapter:3`, `book`."""
        wanted_memory_filter = MemoryFilter(
            as_of=base.position_of(as_of) or END_OF_STORY, content_types=list(DISTILLED_TYPES)
        )
        with self._stores.database(self.project_id).read() as unit:
            memories = unit.memories.list_matching(wanted_memory_filter)
        return sorted({target for memory in memories for target in targets_under(memory.chunk)})

    def known_target(self, *, target: str, as_of: base.Place = None) -> str | None:
        """Return the id of something that memories are attached to, or None where it is not known by then."""
        with self._stores.database(self.project_id).read() as unit:
            return _known_target(unit, target, base.position_of(as_of))


def key_under(chunk: StoryMemoryChunk, target: str) -> str:
    """Return the key under which a target has a memory: its own where it has one, else the memory's id."""
    kept_under, _, key = (chunk.slot_type or "").partition(_BETWEEN)
    if chunk.content_type == "note" and key and kept_under == target:
        return unquote(key, errors="surrogatepass")
    return chunk.memory_id


def home_of(chunk: StoryMemoryChunk) -> str:
    """Return a memory's default target, by key or subject."""
    under = targets_under(chunk)
    kept_under = (chunk.slot_type or "").partition(_BETWEEN)[0]
    if chunk.content_type == "note" and kept_under in under:
        return kept_under
    about = [*chunk.entities_mentioned, *(attachment.id for attachment in chunk.attached_to)]
    return next((text for text in about if text in under), min(under))


def is_former_value(chunk: StoryMemoryChunk) -> bool:
    """Tell whether a memory is a value that its key had before the one that stands there."""
    return chunk.content_type == "note" and _BETWEEN in (chunk.slot_type or "") and chunk.superseded_by is not None


def targets_under(chunk: StoryMemoryChunk) -> set[str]:
    """Return a memory's targets, by default the book."""
    return found_under(chunk) or {BOOK}


def _slot(target: str, key: str) -> str:
    """Return a key's slot, without a dot as in state slots."""
    return f"{target}{_BETWEEN}{quote(key, safe='', errors='surrogatepass').replace('.', '%2E')}"


def _place(unit: UnitOfWork, as_of: StoryPosition | None) -> StoryPosition:
    """Return where a value must stand: values of whole chapters would not be in order with those of scenes."""
    if as_of is None or as_of.scene_index:
        return base.place_before(as_of)
    return base.place_of_statement(unit, as_of)


def _order(place: StoryPosition | StoryMemoryChunk) -> tuple[int, int]:
    return sort_key(place.chapter_index, place.scene_index)


def _as_entity(target: str) -> list[str]:
    return [target] if is_entity_target(target) else []


def _known_target(unit: UnitOfWork, target: str, as_of: StoryPosition | None) -> str | None:
    try:
        targets = base.resolved_targets(unit, [target], as_of)
    except (UnknownEntityError, UnknownSceneError):
        return None
    return targets[0] if len(targets) == 1 else None


def _refuse_memory_of_story(unit: UnitOfWork, key: str) -> None:
    known_memory = unit.memories.find(key)
    if known_memory is not None and known_memory.from_scene:
        raise UserInputError(
            f"{key!r} is the id of something that a scene established, which a key cannot replace or take out; use"
            " another key, or correct the memory itself (`novelgen memory edit`, Story.memories.edit)"
        )
