"""Contradictions of a stored story: list, waive and settle."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from novelgen.errors import UnknownIdError, UserInputError
from novelgen.language.chronology import scene_times
from novelgen.language.language import stated_language
from novelgen.memory.attributes import is_death, split_slot
from novelgen.memory.conflict import Conflict, ConflictSource
from novelgen.memory.conflicts import ACTING_ATTRIBUTES, find_conflicts
from novelgen.models.position import END_OF_STORY, StoryPosition, story_place
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import StateChange
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult, MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.base import ChangeNumber, Name, StoryBase, async_twin
from runtime.story.changes import say_meant
from runtime.story.scene_editing import change_scene, without_states

Side = Literal["first", "second"]

_PAIR = ("character_a", "character_b")


class ListedConflict(BaseModel):
    """A conflict, and whether the author means it to be so."""

    conflict: Conflict
    is_waived: bool = False
    note: str = ""


class StoryConflicts(StoryBase):
    """Contradictions of a stored story: list, waive and settle."""

    def waive(self, conflict_id: Name, *, note: str = "") -> Conflict:
        """Mark a conflict as meant by the author; it stays waived for as long as both sides say the same.

        Args:
            conflict_id: As the list of conflicts tells it.
            note: Why it is meant so.
        """
        with self._stores.database(self.project_id).write() as unit:
            conflict = _require(unit, self.project_id, conflict_id)
            change_id = say_meant(unit, "conflicts", conflict_id, note)
        return WaivedConflict(**dict(conflict), change_id=change_id)

    def settle(self, conflict_id: Name, keep: Side) -> SettledConflict:
        """Let one side of a conflict hold, by the author's word.

        Of two values, or two types of a relationship, the kept one is stated in the other side's scene. Where the dead
        act, keeping the act states in the scene of the death that the character lives; keeping the death takes the
        character out of the record of the scene of the act, which is the author's record from then on.

        Args:
            conflict_id: The conflict.
            keep: The side that is true.

        Raises:
            UserInputError: When no such conflict is found, no side settles it, or the scene of the act has no record.
        """
        with self._stores.database(self.project_id).write() as unit:
            conflict = _require(unit, self.project_id, conflict_id)
            slot = split_slot(conflict.subject)
            if conflict.kind == "slot_value" and slot is not None:
                done_text, change_id = _one_value(unit, conflict, slot, keep)
            elif conflict.kind == "relationship" and len(conflict.entity_ids) == len(_PAIR):
                done_text, change_id = _one_type(unit, self.project_id, conflict, keep)
            elif conflict.kind == "dead_acts" and keep == "second":
                done_text, change_id = _lives(unit, self.project_id, conflict)
            elif conflict.kind == "dead_acts":
                done_text, change_id = _does_not_act(self._stores, unit, self.project_id, conflict)
            else:
                raise UserInputError(
                    f"conflict {conflict.conflict_id!r} is not about one value; {_by_hand(self.project_id, conflict)}"
                )
        return SettledConflict(conflict=conflict, done=done_text, change_id=change_id, indexing=self._follow_edit())

    def list(self, *, with_waived: bool = False) -> list[ListedConflict]:
        """Return where the story contradicts itself.

        Args:
            with_waived: Also list what is meant to be so.
        """
        with self._stores.database(self.project_id).read() as unit:
            matching_conflicts, waivers = _find_open(unit), unit.projects.waived("conflicts")
        listed_conflicts = [
            ListedConflict(
                conflict=conflict, is_waived=conflict.conflict_id in waivers, note=waivers.get(conflict.conflict_id, "")
            )
            for conflict in matching_conflicts
        ]
        return [listed_conflict for listed_conflict in listed_conflicts if with_waived or not listed_conflict.is_waived]

    alist = async_twin(list)
    awaive = async_twin(waive)
    asettle = async_twin(settle)


class WaivedConflict(Conflict):
    """A conflict that is meant to be so."""

    change_id: ChangeNumber = None


class SettledConflict(BaseModel):
    """A settled conflict with its resolution."""

    conflict: Conflict
    done: str
    change_id: ChangeNumber = None
    indexing: IndexingResult = Field(default_factory=IndexingResult)


_SettleResult = tuple[str, int | None]
"""What was done, and the number of the change."""


def _require(unit: UnitOfWork, project_id: str, conflict_id: str) -> Conflict:
    conflicts_by_id = {conflict.conflict_id: conflict for conflict in _find_open(unit)}
    if conflict_id not in conflicts_by_id:
        raise UnknownIdError(
            f"no conflict {conflict_id!r} in project {project_id!r}; list them with "
            f"`novelgen conflicts list {project_id}`"
        )
    return conflicts_by_id[conflict_id]


def _find_open(unit: UnitOfWork) -> list[Conflict]:
    unit.projects.require()
    memory_filter = MemoryFilter(content_types=["memory"], unconsolidated=True)
    memories = unit.memories.list_matching(memory_filter)
    records = [scene.record for scene in unit.scenes.list_as_of() if scene.record is not None]
    tellings = unit.scenes.tellings(as_of=END_OF_STORY, by_card=True)
    told_back = {telling_scene.place for telling_scene in tellings if telling_scene.is_flashback}
    return find_conflicts(
        # Whom a flashback shows may be dead by now, and is no less in the right; who is guessed contradicts nothing.
        [
            replace(telling_scene, participants=())
            if telling_scene.is_flashback or "participants" in telling_scene.guessed
            else telling_scene
            for telling_scene in tellings
        ],
        unit.states.changes_of(),
        [memory.chunk for memory in memories],
        entities=[entity.entity for entity in unit.entities.list_all()],
        contradictions=[
            (memory.memory_id, memory.contradicts)
            for record in records
            for memory in record.memories
            if memory.contradicts
        ],
        relationships=[
            pair_change for pair_change in unit.relationships.stated() if story_place(pair_change) not in told_back
        ],
        times=scene_times(tellings),
    )


def _one_value(unit: UnitOfWork, conflict: Conflict, slot: tuple[str, str], keep: Side) -> _SettleResult:
    true, corrected = _sides(conflict, keep)
    with unit.journal.recording_card(slot[0]) as rows:
        _state(unit, slot, true.value, corrected)
    change = unit.journal.keep("edit", slot[0], "", rows)
    return f"{conflict.subject} is now {true.says!r} in both scenes", change.change_id


def _one_type(unit: UnitOfWork, project_id: str, conflict: Conflict, keep: Side) -> _SettleResult:
    true, corrected = _sides(conflict, keep)
    if not true.value:
        raise UserInputError(f"{true.says!r} names no type of relationship; {_by_hand(project_id, conflict)}")
    pair = dict(zip(_PAIR, conflict.entity_ids, strict=True))
    change = RecordedRelationshipChange(**pair, relationship_type=true.value, type_reads_back=true.type_reads_back)
    with unit.journal.changing_pair(*conflict.entity_ids) as journal_entry:
        unit.relationships.append(change, at=_place(corrected))
    return f"{' and '.join(conflict.entity_ids)} are now {true.value!r} in both scenes", journal_entry.change_id


def _lives(unit: UnitOfWork, project_id: str, conflict: Conflict) -> _SettleResult:
    character, place = conflict.subject, _place(conflict.first)
    stated = [
        change.attribute
        for change in unit.states.changes_of([character])
        if (change.chapter_index, change.scene_index) == (place.chapter_index, place.scene_index)
        and is_death(change.attribute, change.value)
    ]
    is_chinese = stated_language(unit.projects.require().language) == "zh"
    with unit.journal.recording_card(character) as rows:
        for attribute in dict.fromkeys(stated or ["status"]):
            value = True if attribute == "alive" else "活着" if is_chinese else "alive"
            _state(unit, (character, attribute), value, conflict.first)
    change = unit.journal.keep("edit", character, "", rows)
    done_text = (
        f"{character} lives after scene {place}; memories that tell of the death stay, "
        f"see `novelgen record show {project_id} {place}`"
    )
    return done_text, change.change_id


def _does_not_act(stores: MemoryStores, unit: UnitOfWork, project_id: str, conflict: Conflict) -> _SettleResult:
    character, place = conflict.subject, _place(conflict.second)
    scene = unit.scenes.require(place)
    if scene.record is None:
        raise UserInputError(
            f"scene {place} has no record from which {character} could be taken; {_by_hand(project_id, conflict)}"
        )
    # Nor does the record say what only the living take on.
    present = [entity_id for entity_id in scene.record.characters_present if entity_id != character]
    record = without_states(scene.record, character, ACTING_ATTRIBUTES)
    rendered_record = record.model_copy(update={"characters_present": present})
    fields = {"record": rendered_record.model_dump(mode="json"), "record_origin": "author"}
    change = change_scene(unit, scene, "record", fields, stores=stores)
    done_text = (
        f"{character} is out of scene {place}, which now has your record; memories that tell of {character} there "
        f"stay, see `novelgen record show {project_id} {place}`"
    )
    return done_text, change.change_id


def _sides(conflict: Conflict, keep: Side) -> tuple[ConflictSource, ConflictSource]:
    """Return the side that is true, and the other one."""
    return (conflict.first, conflict.second) if keep == "first" else (conflict.second, conflict.first)


def _state(unit: UnitOfWork, slot: tuple[str, str], value: object, scene: ConflictSource) -> None:
    stored_entity = unit.entities.get(slot[0])
    change = StateChange(
        entity_id=slot[0],
        entity_type=stored_entity.entity.entity_type if stored_entity else "character",
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
