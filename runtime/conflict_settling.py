"""What a stored story looks like when one side of a conflict is to hold."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedStateChange, SceneRecord
from novelgen.models.state import StateChange
from novelgen.records.conflicts import ACTING_ATTRIBUTES, Conflict, ConflictSource
from novelgen.records.supersession import split_slot
from novelgen.records.vital_status import is_death
from runtime.ingest.scene_replacing import replace_stored_scene
from runtime.settings import IngestSettings
from runtime.storage.unit import UnitOfWork

Side = Literal["first", "second"]


def settle(
    unit: UnitOfWork,
    project_id: str,
    conflict: Conflict,
    *,
    keep: Side,
    settings: IngestSettings,
    created_at: datetime,
) -> str:
    """Let one side of a conflict hold, by the author's word, and return what was done as a line of text.

    Of two values the kept one is stated in the other side's scene. Where the dead act, keeping the act states in
    the scene of the death that the character lives; keeping the death takes the character out of the record of
    the scene of the act, which is the author's record from then on.

    Args:
        unit: A writing unit of work.
        project_id: The project.
        conflict: A conflict of the project.
        keep: The side that is true.
        settings: What is embedded beside a record.
        created_at: Moment stamped on new memories.

    Raises:
        UserInputError: When no side settles it, or the scene of the act has no record.
    """
    slot = split_slot(conflict.subject)
    if conflict.kind == "slot_value" and slot is not None:
        return _one_value(unit, project_id, conflict, slot, keep)
    if conflict.kind == "dead_acts" and keep == "second":
        return _lives(unit, project_id, conflict)
    if conflict.kind == "dead_acts":
        return _does_not_act(unit, project_id, conflict, settings, created_at)
    raise UserInputError(
        f"conflict {conflict.conflict_id!r} is not about one value; {_by_hand(project_id, conflict)}"
    )


def _one_value(
    unit: UnitOfWork, project_id: str, conflict: Conflict, slot: tuple[str, str], keep: Side
) -> str:
    true, corrected = conflict.first, conflict.second
    if keep == "second":
        true, corrected = corrected, true
    _state(unit, project_id, slot, true.value, corrected)
    return f"{conflict.subject} is now {true.says!r} in both scenes"


def _lives(unit: UnitOfWork, project_id: str, conflict: Conflict) -> str:
    character, place = conflict.subject, _place(conflict.first)
    stated = [
        change.attribute
        for change in unit.states.changes_of([character])
        if (change.chapter_index, change.scene_index) == (place.chapter_index, place.scene_index)
        and is_death(change.attribute, change.value)
    ]
    is_chinese = unit.projects.require().language.startswith("zh")
    for attribute in dict.fromkeys(stated or ["status"]):
        value = True if attribute == "alive" else "活着" if is_chinese else "alive"
        _state(unit, project_id, (character, attribute), value, conflict.first)
    return (
        f"{character} lives after scene {place}; memories that tell of the death stay, "
        f"see `novelgen record show {project_id} {place}`"
    )


def _does_not_act(
    unit: UnitOfWork, project_id: str, conflict: Conflict, settings: IngestSettings, created_at: datetime
) -> str:
    character, place = conflict.subject, _place(conflict.second)
    scene = unit.scenes.require(place)
    if scene.record is None:
        raise UserInputError(
            f"scene {place} has no record from which {character} could be taken; {_by_hand(project_id, conflict)}"
        )
    record = _without_acts(scene.record, character)
    corrected = scene.model_copy(update={"record": record, "record_origin": "author"})
    replace_stored_scene(unit, corrected, settings=settings, created_at=created_at)
    return (
        f"{character} is out of scene {place}, which now has your record; memories that tell of {character} there "
        f"stay, see `novelgen record show {project_id} {place}`"
    )


def _without_acts(record: SceneRecord, character: str) -> SceneRecord:
    """The record without the character on stage, and without what only the living take on."""
    changes: list[RecordedStateChange] = []
    for change in record.state_changes:
        kept = change.changes
        if change.entity_id == character:
            kept = {name: value for name, value in kept.items() if name not in ACTING_ATTRIBUTES}
        if kept:
            changes.append(change.model_copy(update={"changes": kept}))
    present = [each for each in record.characters_present if each != character]
    return record.model_copy(update={"characters_present": present, "state_changes": changes})


def _state(
    unit: UnitOfWork, project_id: str, slot: tuple[str, str], value: object, scene: ConflictSource
) -> None:
    stored = unit.entities.get(slot[0])
    change = StateChange(
        entity_id=slot[0],
        entity_type=stored.entity.entity_type if stored else "character",
        attribute=slot[1],
        value=value,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
    )
    unit.states.append([change])


def _by_hand(project_id: str, conflict: Conflict) -> str:
    return (
        f"correct the scene with `novelgen record edit {project_id} {_place(conflict.second)}`, or, where it is "
        f"meant so, say `novelgen conflicts waive {project_id} {conflict.conflict_id}`"
    )


def _place(source: ConflictSource) -> StoryPosition:
    return StoryPosition(source.chapter_index, source.scene_index)
