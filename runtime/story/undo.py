"""Undo of the author's changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from novelgen.errors import UserInputError
from novelgen.models.context import ReportIssue
from novelgen.models.position import END_OF_STORY
from runtime.storage.change import Change
from runtime.storage.database import UnitOfWork
from runtime.storage.row_images import NAMES
from runtime.stores import MemoryStores
from runtime.story import base
from runtime.story.changes import (
    TAKEN,
    listed_change,
    restore_gap,
    restore_links,
    restore_meant,
    restore_places,
    restore_scene,
    restore_taken,
)
from runtime.story.entities import EntityChangeResult
from runtime.story.entity_fields import restore_template
from runtime.story.note_mentions import link_notes, unlink_notes
from runtime.story.renaming import restore_renamed


class StoryUndo(base.StoryBase):
    """Undo of the author's changes."""

    def undo(self, change_id: base.Number | None = None) -> EntityChangeResult:
        """Undo a change of any kind: of cards, relationships, threads, memories, scenes that came, or of characters.

        Args:
            change_id: Its number, as its result and lists of changes tell it; None takes the last that stands. Many
                scenes that came at once need it.

        Raises:
            UserInputError: When there is none of that number, none at all, or something of it changed again since.
        """
        with self._stores.database(self.project_id).write() as unit:
            journal = unit.journal
            kept_change = journal.last_standing() if change_id is None else journal.require_standing(change_id)
            last = (
                listed_change(unit, kept_change, END_OF_STORY) if kept_change.subject in ("memory", "scene") else None
            )
            if change_id is None and kept_change.kind in TAKEN and last is not None and "–" in last.position:
                raise UserInputError(
                    f"the last change took in or read scenes {last.position}, which would all go back; say so by its"
                    f" number: `novelgen undo {self.project_id} {kept_change.change_id}`"
                )
            change = _undone(self._stores, unit, kept_change)
            room = journal.room_before(kept_change) if kept_change.kind == "ingest" else None
            entity, other = (unit.entities.get(entity_id) for entity_id in (change.entity_id, change.other_id))
        return EntityChangeResult(
            change=change,
            entity=entity and entity.entity,
            other=other and other.entity,
            what=" ".join(filter(None, (last.position, last.what) if last else ())),
            issues=[] if room is None else [_room_stays(self.project_id, room)],
            indexing=self._follow_edit(),
        )

    aundo = base.async_twin(undo)


def _names_of(unit: UnitOfWork, entity_id: str) -> list[str]:
    stored_entity = unit.entities.get(entity_id)
    return [] if stored_entity is None else stored_entity.entity.names()


def _room_stays(project_id: str, room: Change) -> ReportIssue:
    message = f"the room that was made for it stays; `novelgen undo {project_id} {room.change_id}` closes it"
    return ReportIssue(stage="undo", kind="stale", message=message)


_MADE_ANEW: Mapping[str, Callable[[UnitOfWork, Change], None]] = {
    "move": restore_places,
    "insert": restore_gap,
    "waive": restore_meant,
    "template": restore_template,
}
"""Kinds of changes that no row before and after tells whole, to what puts back what was."""


def _undone(stores: MemoryStores, unit: UnitOfWork, kept_change: Change) -> Change:
    from runtime.ingest.entities import rescan_since_in, restore_card_in, restore_merged_in, withdraw_names_in

    if kept_change.subject == "scene" and kept_change.kind == "shorten":
        from runtime.ingest.scene_passes import restore_shorts

        restore_shorts(unit, kept_change, stores=stores)
        return unit.journal.require(kept_change.change_id)
    if kept_change.subject == "scene" and kept_change.kind in TAKEN:
        restore_taken(unit, kept_change, stores=stores)
        return unit.journal.require(kept_change.change_id)
    if kept_change.kind in _MADE_ANEW:
        _MADE_ANEW[kept_change.kind](unit, kept_change)
        return unit.journal.mark_undone(kept_change.change_id)
    if kept_change.subject == "scene" and kept_change.kind != "delete":
        restore_scene(unit, kept_change, stores=stores)
        return unit.journal.mark_undone(kept_change.change_id)
    if kept_change.subject == "entity" and kept_change.kind in ("add", "edit", "rename"):
        if kept_change.kind == "add":
            unlink_notes(unit, kept_change.entity_id)
        names = _names_of(unit, kept_change.entity_id)
        undone = restore_card_in(unit, kept_change, stores=stores)
        restore_renamed(unit, kept_change, stores=stores)
        link_notes(unit, names, stores=stores)
        return undone
    if kept_change.subject == "entity" and kept_change.kind in ("confirm", "name"):
        if kept_change.kind == "confirm":
            unlink_notes(unit, kept_change.entity_id)
        change, names = unit.journal.withdraw_names(kept_change.change_id)
        withdraw_names_in(unit, change.entity_id, names, is_whole=kept_change.kind == "confirm", stores=stores)
        link_notes(unit, names, stores=stores)
        return change
    if kept_change.subject == "entity" and kept_change.kind in ("merge", "split"):
        return restore_merged_in(unit, kept_change, stores=stores)
    if any(row.table == NAMES for row in kept_change.rows):
        return restore_card_in(unit, kept_change, stores=stores)
    undone = unit.journal.undo(kept_change.change_id)
    if kept_change.subject == "scene":
        restore_links(unit, kept_change, stores=stores)
    back = (
        unit.entities.get(kept_change.entity_id)
        if kept_change.subject == "entity" and kept_change.kind == "delete"
        else None
    )
    if back is not None:
        rescan_since_in(unit, back.entity.names(), since=kept_change.created_at, stores=stores)
    return undone
