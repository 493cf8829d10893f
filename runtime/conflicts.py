"""The contradictions of a stored story, and what its author says to them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.records.conflicts import Conflict, SceneFacts, find_conflicts
from runtime.conflict_settling import Side, settle
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.storage.records import MemoryFilter
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

WAIVED_SETTING = "waived_conflicts"
"""Key of the project's stored settings: conflict id to the author's note."""


class ListedConflict(BaseModel):
    """A conflict, and whether the author means it to be so."""

    conflict: Conflict
    is_waived: bool = False
    note: str = ""


def list_conflicts(
    stores: MemoryStores, project_id: str, *, with_waived: bool = False
) -> list[ListedConflict]:
    """Find what contradicts itself in a stored story.

    Args:
        stores: The stores.
        project_id: The project.
        with_waived: Whether to list what the author waived, too.

    Returns:
        Conflicts in story order of their second side.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with stores.database(project_id).read() as unit:
        found, waived = _found(unit, project_id), _waived(unit, project_id)
    listed = [
        ListedConflict(
            conflict=each, is_waived=each.conflict_id in waived, note=waived.get(each.conflict_id, "")
        )
        for each in found
    ]
    return [each for each in listed if with_waived or not each.is_waived]


def waive_conflict(stores: MemoryStores, project_id: str, conflict_id: str, *, note: str = "") -> Conflict:
    """Mark a conflict as meant by the author; it stays waived for as long as both sides say the same.

    Raises:
        UserInputError: When no such conflict is found.
    """
    with stores.database(project_id).write() as unit:
        conflict = _require(unit, project_id, conflict_id)
        settings = unit.projects.require().settings
        waived = {**_waived(unit, project_id), conflict_id: note}
        unit.projects.update(settings={**settings, WAIVED_SETTING: waived})
    return conflict


class SettledConflict(BaseModel):
    """A conflict that was settled, and what was done about it."""

    conflict: Conflict
    done: str
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def resolve_conflict(
    stores: MemoryStores, project_id: str, conflict_id: str, *, keep: Side
) -> SettledConflict:
    """Let one side of a conflict hold; see `settle`. The vector index follows.

    Args:
        stores: The stores.
        project_id: The project.
        conflict_id: The conflict.
        keep: The side that is true.

    Raises:
        UserInputError: When no such conflict is found, or when neither side settles it.
    """
    with stores.database(project_id).write() as unit:
        conflict = _require(unit, project_id, conflict_id)
        done = settle(
            unit,
            project_id,
            conflict,
            keep=keep,
            settings=stores.settings.memory.ingest,
            created_at=stores.clock(),
        )
    return SettledConflict(conflict=conflict, done=done, indexing=drain_outbox(stores, project_id))


def _require(unit: UnitOfWork, project_id: str, conflict_id: str) -> Conflict:
    found = {each.conflict_id: each for each in _found(unit, project_id)}
    if conflict_id not in found:
        raise UserInputError(
            f"no conflict {conflict_id!r} in project {project_id!r}; list them with "
            f"`novelgen conflicts list {project_id}`"
        )
    return found[conflict_id]


def _found(unit: UnitOfWork, project_id: str) -> list[Conflict]:
    unit.projects.require()
    told = MemoryFilter(content_types=["memory"], unconsolidated=True)
    memories = unit.memories.list_matching(told)
    scenes = [
        SceneFacts(
            scene_id=scene.scene_id,
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            story_time=scene.story_time,
            participants=scene.participants,
        )
        for scene in unit.scenes.list_as_of()
    ]
    return find_conflicts(
        scenes,
        unit.states.changes_of(),
        [stored.chunk for stored in memories],
        entities=[stored.entity for stored in unit.entities.list_all()],
    )


def _waived(unit: UnitOfWork, project_id: str) -> dict[str, str]:
    return dict(unit.projects.require().settings.get(WAIVED_SETTING, {}))
