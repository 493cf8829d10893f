"""Tools about what the story has promised: open_loop.create and open_loop.resolve."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.errors import UserInputError
from novelgen.models.entity import EntityType
from novelgen.models.record import RecordedLoop, RecordedLoopResolution
from novelgen.models.state import LoopImportance
from runtime.storage.unit import UnitOfWork
from runtime.story_tools.refusals import Answer
from runtime.story_tools.story_scope import StoryScope


def open_loop_create(
    scope: StoryScope,
    *,
    description: str,
    category: str = "",
    importance: LoopImportance = "medium",
    related_characters: Sequence[str] | None = None,
    related_locations: Sequence[str] | None = None,
    related_items: Sequence[str] | None = None,
    scene_id: str | None = None,
) -> Answer:
    """Plant an open loop.

    Returns:
        `{success, open_loop_id}`.

    Raises:
        UnknownEntityError: When a related entity is not known.
        UnknownSceneError: When the scene is not stored before the position.
    """
    with scope.database.write() as unit:
        loop = RecordedLoop(
            id=unit.loops.next_id(),
            category=category,
            description=description,
            importance=importance,
            related_characters=_ids(scope, unit, related_characters, "character"),
            related_locations=_ids(scope, unit, related_locations, "location"),
            related_items=_ids(scope, unit, related_items, "item"),
        )
        unit.loops.append(loop, at=scope.writing_position(unit, scene_id))
    return {"success": True, "open_loop_id": loop.id}


def open_loop_resolve(
    scope: StoryScope,
    *,
    open_loop_id: str,
    resolution_summary: str,
    abandoned: bool = False,
    scene_id: str | None = None,
) -> Answer:
    """End an open loop.

    Returns:
        `{success, open_loop_id, status}`, the status being resolved or abandoned.

    Raises:
        UnknownSceneError: When the scene is not stored before the position.
        UserInputError: When no such loop is open.
    """
    with scope.database.write() as unit:
        loop = unit.loops.get(open_loop_id, as_of=scope.as_of)
        if loop is None or loop.status not in ("open", "advanced"):
            waiting = unit.loops.list_as_of(as_of=scope.as_of)
            listed = ", ".join(f"{each.loop_id} ({each.description})" for each in waiting[:10]) or "none"
            raise UserInputError(f"no loop {open_loop_id!r} is open; open are {listed}")
        ending = RecordedLoopResolution(
            id=open_loop_id, resolution_summary=resolution_summary, abandoned=abandoned
        )
        unit.loops.append(ending, at=scope.writing_position(unit, scene_id))
    status = "abandoned" if abandoned else "resolved"
    return {"success": True, "open_loop_id": open_loop_id, "status": status}


def _ids(
    scope: StoryScope, unit: UnitOfWork, names: Sequence[str] | None, entity_type: EntityType
) -> list[str]:
    return [scope.entity_id(unit, name, entity_type) for name in names or ()]
