"""A lorebook as the author's notes: read at a key in the plan, always, or from a chapter on; in and out as JSON."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from novelgen.errors import InvalidPositionError
from novelgen.lorebook import LorebookForm, LoreEntry, keys_of, read_lorebook, with_keys, written_lorebook
from novelgen.models.context import ReportIssue
from novelgen.models.memory import BOOK, read_from
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import is_unsaid
from runtime.files.file_reading import parse_json
from runtime.ingest.indexing_result import IndexingResult
from runtime.storage.database import UnitOfWork
from runtime.storage.records import MemoryFilter, StoredMemory
from runtime.story.base import Place, StoryBase, async_twin, position_of
from runtime.story.memories import names_in_notes, place_before

_TITLE_TAG = "title:"

MAX_LOREBOOK_CHARACTERS = 5_000_000

LorebookText = Annotated[str, Field(min_length=2, max_length=MAX_LOREBOOK_CHARACTERS)]


class StoredLoreEntry(LoreEntry):
    """A note that is an entry of the lorebook."""

    note_id: str


class LoreImport(BaseModel):
    """What became of a lorebook."""

    added: list[str] = Field(description="Ids of the notes.")
    were_there: int = Field(description="So many entries were stored already, word for word.")
    issues: list[ReportIssue] = Field(default_factory=list, description="What was not taken, and why.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    change_id: int | None = Field(default=None, exclude_if=is_unsaid, description="By which `undo` takes it all back.")


class StoryLore(StoryBase):
    """A lorebook as the author's notes: read at a key in the plan, always, or from a chapter on; in and out as JSON."""

    def lore(self, *, as_of: Place = None) -> list[StoredLoreEntry]:
        """Return the entries of the lorebook: the notes that have keys or are pinned.

        Args:
            as_of: Only those that are read at this position.
        """
        with self._stores.database(self.project_id).read() as unit:
            return [_entry(each) for each in _entries(unit, position_of(as_of) or END_OF_STORY)]

    def import_lore(self, text: LorebookText, *, start: Place = None) -> LoreImport:
        """Take a lorebook of SillyTavern or NovelAI in as notes; `undo` takes all of it back.

        An entry is in the context of each scene whose plan holds one of its keys, or of every scene where it is
        always on; one that is switched off is kept, banned. What is stored word for word is not stored again.

        Args:
            text: The lorebook, JSON: a world info or a character's book of SillyTavern, a .lorebook of NovelAI.
            start: Entries that do not say it themselves are read from this position on; None means everywhere.

        Raises:
            InvalidFileError: When it is not JSON.
            UserInputError: When it is no lorebook, or has too many entries.
        """
        book = read_lorebook(parse_json(text, where="the lorebook"))
        issues = [ReportIssue(stage="lore", kind="degraded", message=each) for each in book.unread]
        general, added, same = position_of(start), [], 0
        with self._stores.database(self.project_id).write() as unit:
            stored = {(each.chunk.content, tuple(keys_of(each.chunk.tags))) for each in _entries(unit, END_OF_STORY)}
            finders = names_in_notes(unit)
            for entry in book.entries:
                if (entry.text, tuple(entry.keys)) in stored:
                    same += 1
                    continue
                stored.add((entry.text, tuple(entry.keys)))
                place = _start_of(entry, issues) or general
                note = unit.memories.add_note(
                    entry.text,
                    at=place_before(place),
                    mentioned=finders(place).entity_ids_in(entry.text),
                    tags=with_keys([_TITLE_TAG + entry.title] if entry.title else [], entry.keys),
                )
                added.append(note.chunk_id)
                if entry.always:
                    unit.memories.pin(note.chunk_id)
                if entry.is_off:
                    unit.memories.ban(note.chunk_id)
            if added:
                unit.attachments.attach(added, [BOOK])
            change_id = unit.journal.keep_added(*added).change_id if added else None
        indexing = self._follow_edit()
        return LoreImport(added=added, were_there=same, issues=issues, indexing=indexing, change_id=change_id)

    def export_lore(self, form: LorebookForm = "sillytavern") -> dict[str, Any]:
        """Return the lorebook as SillyTavern or NovelAI reads it; an import brings it back whole.

        Args:
            form: sillytavern or novelai.
        """
        return written_lorebook(self.lore(), form)

    alore = async_twin(lore)
    aimport_lore = async_twin(import_lore)
    aexport_lore = async_twin(export_lore)


def _entries(unit: UnitOfWork, as_of: StoryPosition) -> list[StoredMemory]:
    wanted = MemoryFilter(as_of=as_of, content_types=["note"], statuses=["active", "banned"])
    return [each for each in unit.memories.list_matching(wanted) if each.pinned or keys_of(each.chunk.tags)]


def _entry(stored: StoredMemory) -> StoredLoreEntry:
    chunk = stored.chunk
    titles = [each.removeprefix(_TITLE_TAG) for each in chunk.tags if each.startswith(_TITLE_TAG)]
    start = None if chunk.chapter_index is None else read_from(chunk.chapter_index, chunk.scene_index)
    return StoredLoreEntry(
        note_id=chunk.chunk_id,
        text=chunk.content,
        title=next(iter(titles), ""),
        keys=keys_of(chunk.tags),
        always=stored.pinned,
        is_off=stored.status == "banned",
        start="" if start is None else str(start),
    )


def _start_of(entry: LoreEntry, issues: list[ReportIssue]) -> StoryPosition | None:
    try:
        return position_of(entry.start or None)
    except InvalidPositionError as error:
        issues.append(ReportIssue(stage="lore", kind="malformed", message=str(error)))
        return None
