"""From a model's answer about one window to a record in the story's own ids, with its evidence located."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from novelgen.extraction.known_story import References, SceneSoFar, looks_like_an_id
from novelgen.extraction.model_record import (
    ModelMemory,
    ModelRelationshipChange,
    ModelSceneRecord,
    ModelStateChange,
)
from novelgen.extraction.request import ProposedEntity
from novelgen.models.context import ReportIssue
from novelgen.models.memory import EVENT_TYPES, OTHER_EVENT
from novelgen.models.record import (
    SHORT_FORM_LIMIT,
    RecordedLoop,
    RecordedLoopAdvance,
    RecordedLoopResolution,
    RecordedMemory,
    RecordedRelationshipChange,
    RecordedRepetition,
    RecordedStateChange,
    SceneRecord,
)
from novelgen.models.state import DIMENSION_RANGES, PRESENCE_ATTRIBUTE, RelationshipDimension
from novelgen.records.evidence import QuoteFinder
from novelgen.records.supersession import slot_of
from novelgen.text.extractive import short_form

DELTA_BOUNDS: dict[RelationshipDimension, int] = {
    "trust": 15,
    "affection": 10,
    "fear": 10,
    "respect": 10,
    "familiarity": 10,
}
"""Most that a model may move a dimension within one scene, up or down."""


def clamp_deltas(deltas: Mapping[RelationshipDimension, int]) -> dict[RelationshipDimension, int]:
    """Return proposed changes cut to `DELTA_BOUNDS`; changes of 0 are left out."""
    clamped = {
        name: max(-DELTA_BOUNDS[name], min(DELTA_BOUNDS[name], delta)) for name, delta in deltas.items()
    }
    return {name: delta for name, delta in clamped.items() if delta}


def dimensions_after(
    before: Mapping[RelationshipDimension, int], deltas: Mapping[RelationshipDimension, int]
) -> dict[RelationshipDimension, int]:
    """Return the dimensions that a scene's clamped changes move, within `DIMENSION_RANGES`.

    Args:
        before: The dimensions on entering the scene; one that is missing counts as 0.
        deltas: What a model proposes.

    Returns:
        The new value of every dimension that moved; the others are left out.
    """
    moved = {}
    for name, delta in clamp_deltas(deltas).items():
        lowest, highest = DIMENSION_RANGES[name]
        moved[name] = max(lowest, min(highest, before.get(name, 0) + delta))
    return moved


STAGE = "extract"

TEMPORARY_LOOP_PREFIX = "new-loop-"

ENTITY_VALUED_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "location_id": ("location",),
    "holder": ("character", "location", "faction"),
}
"""Attributes whose value is an entity, and of which type."""

_MEMORY_NUMBER = re.compile(r"\s*(M\d{1,4})\b", re.IGNORECASE)

_ATTRIBUTE = re.compile(r"[^\W\d][\w-]{0,39}")


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What one window established: a record, the entities that it brings, and what was dropped."""

    record: SceneRecord
    proposed: list[ProposedEntity]
    issues: list[ReportIssue]
    of_nobody: frozenset[str] = frozenset()
    """Ids of memories that are only of people and things that neither the story nor the scene knows."""


class AnswerReader:
    """Reads one answer.

    Ids and names that nobody bears are dropped and reported; what is proposed as new gets a temporary id.

    Args:
        references: Who may be meant.
        so_far: What was known before the window.
        text: What the model read.
        text_id: Tells the scene's text from all others; goes into the ids of its memories.
        context: What stands before the text and was read before; facts that only it proves are dropped.
        memory_ids: Ids of known memories by the numbers that the model saw, such as M1.
    """

    def __init__(
        self,
        references: References,
        so_far: SceneSoFar,
        *,
        text: str,
        text_id: str,
        context: str = "",
        memory_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._references = references
        self._so_far = so_far
        self._text = text
        self._text_id = text_id
        self._here, self._before = QuoteFinder(text), QuoteFinder(context)
        self._memory_ids = {number.casefold(): each for number, each in (memory_ids or {}).items()}
        self._unknown: dict[str, None] = {}
        self._told_before: list[str] = []
        self._of_nobody: set[str] = set()
        self._issues: list[ReportIssue] = []

    def read(self, answer: ModelSceneRecord, *, chapter_index: int, scene_index: int) -> WindowReading:
        """Turn an answer into a record.

        Args:
            answer: What the model said of the window.
            chapter_index: Chapter of the scene.
            scene_index: Scene within the chapter.
        """
        first_number = len(self._so_far.proposed) + 1
        proposed, refused = self._references.propose(
            answer.new_entities, text=self._text, first_number=first_number
        )
        self._references = self._references.with_proposals(proposed)
        self._report("unresolved", "new names that the scene does not hold, or that several bear", refused)
        record = SceneRecord(
            chapter_index=chapter_index,
            scene_index=scene_index,
            title=answer.title,
            pov_character_id=self._one(answer.pov, "character"),
            location_id=self._one(answer.location, "location"),
            story_time=answer.story_time or None,
            characters_present=self._all(answer.characters_present, ("character",)),
            summary=answer.summary,
            key_events=answer.key_events,
            emotional_beats=answer.emotional_beats,
            state_changes=[
                change
                for each in answer.state_changes
                if self._is_of_this_window(each.evidence) and (change := self._state(each))
            ],
            relationship_changes=self._relationships(answer.relationship_changes),
            open_loops_created=self._loops_created(answer),
            **self._memories(answer),
            **self._loops_moved(answer),
        )
        self._report("unresolved", "ids and names that nobody bears were dropped", list(self._unknown))
        self._report(
            "degraded", "facts of what was read with the part before were dropped", self._told_before
        )
        return WindowReading(record, proposed, self._issues, frozenset(self._of_nobody))

    def _state(self, change: ModelStateChange) -> RecordedStateChange | None:
        entity_id = self._one(change.entity)
        attribute = "_".join(change.attribute.casefold().split())
        if entity_id is None:
            return None
        if attribute == PRESENCE_ATTRIBUTE or not _ATTRIBUTE.fullmatch(attribute):
            self._report("degraded", "attributes that cannot be stored were dropped", [change.attribute])
            return None
        value: Any = change.value
        if attribute in ENTITY_VALUED_ATTRIBUTES and isinstance(value, str):
            meant = self._references.entity_id(value, entity_types=ENTITY_VALUED_ATTRIBUTES[attribute])
            if meant is None and (attribute == "location_id" or looks_like_an_id(value)):
                self._unknown[value] = None
                return None
            value = meant or value
        return RecordedStateChange(
            entity_id=entity_id, changes={attribute: value}, evidence=change.evidence or None
        )

    def _relationships(self, changes: Sequence[ModelRelationshipChange]) -> list[RecordedRelationshipChange]:
        before = {
            frozenset({each.character_a, each.character_b}): each for each in self._so_far.relationships
        }
        found = []
        for change in changes:
            a, b = self._one(change.character_a, "character"), self._one(change.character_b, "character")
            if a is None or b is None or a == b:
                continue
            deltas = {each.dimension: each.change for each in change.dimensions}
            if deltas != clamp_deltas(deltas):
                self._report(
                    "over_limit", "changes of a relationship were cut to a scene's bounds", [f"{a} {b}"]
                )
            known = before.get(frozenset({a, b}))
            fields = change.model_dump(exclude={"character_a", "character_b", "dimensions"})
            dimensions = dimensions_after(known.dimensions if known else {}, deltas)
            found.append(
                RecordedRelationshipChange(character_a=a, character_b=b, dimensions=dimensions, **fields)
            )
        return found

    def _loops_created(self, answer: ModelSceneRecord) -> list[RecordedLoop]:
        loops = [loop for loop in answer.open_loops_created if loop.description]
        return [
            RecordedLoop(
                id=f"{TEMPORARY_LOOP_PREFIX}{number}",
                category=loop.category,
                description=loop.description,
                importance=loop.importance,
                **self._related(loop.entities),
            )
            for number, loop in enumerate(loops, start=self._so_far.loops_created + 1)
        ]

    def _related(self, said: Sequence[str]) -> dict[str, list[str]]:
        ids = self._all(said)
        types = {entity.entity_id: entity.entity_type for entity in self._references.entities}
        return {
            "related_characters": [each for each in ids if types[each] in ("character", "faction")],
            "related_locations": [each for each in ids if types[each] == "location"],
            "related_items": [each for each in ids if types[each] in ("item", "term")],
        }

    def _loops_moved(self, answer: ModelSceneRecord) -> dict[str, Any]:
        known = {loop.loop_id.casefold(): loop.loop_id for loop in self._so_far.open_loops}
        moves = [(known.get(move.id.strip().casefold()), move) for move in answer.open_loops_moved]
        self._unknown.update(dict.fromkeys(move.id for loop_id, move in moves if loop_id is None))
        return {
            "open_loops_advanced": [
                RecordedLoopAdvance(id=loop_id, note=move.note)
                for loop_id, move in moves
                if loop_id is not None and move.outcome == "advanced"
            ],
            "open_loops_resolved": [
                RecordedLoopResolution(
                    id=loop_id, resolution_summary=move.note, abandoned=move.outcome == "abandoned"
                )
                for loop_id, move in moves
                if loop_id is not None and move.outcome != "advanced"
            ],
        }

    def _is_of_this_window(self, quote: str) -> bool:
        """What only the context proves was read with the window before."""
        is_told_before = self._before.find(quote) is not None and self._here.find(quote) is None
        if is_told_before:
            self._told_before.append(quote)
        return not is_told_before

    def _memories(self, answer: ModelSceneRecord) -> dict[str, Any]:
        own = [each for each in answer.memories if self._is_of_this_window(each.evidence)]
        repeated = [
            RecordedRepetition(memory_id=known, evidence=each.evidence or None)
            for each in own
            if (known := self._known_memory(each.repeats))
        ]
        new = [each for each in own if each.content and not self._known_memory(each.repeats)]
        return {"memories": [self._memory(each) for each in new], "memories_repeated": repeated}

    def _known_memory(self, said: str) -> str | None:
        """The id of the memory of a number; what is no number says nothing, an unknown number is reported."""
        if not (number := _MEMORY_NUMBER.match(said)):
            return None
        known = self._memory_ids.get(number.group(1).casefold())
        if known is None:
            self._unknown[said] = None
        return known

    def _memory(self, memory: ModelMemory) -> RecordedMemory:
        event_type = memory.event_type.strip().casefold()
        if event_type not in EVENT_TYPES:
            self._report("degraded", f"unknown event types became {OTHER_EVENT!r}", [memory.event_type])
            event_type = OTHER_EVENT
        entities = self._all(memory.entities)
        digest = sha256(f"{self._text_id}\x1f{memory.content}".encode()).hexdigest()
        memory_id = f"x-{digest[:16]}"
        # Whom neither story nor scene knows was made up: no quote can prove what is said of them alone.
        is_of_nobody = bool(memory.entities) and not entities
        if is_of_nobody:
            self._of_nobody.add(memory_id)
        return RecordedMemory(
            memory_id=memory_id,
            event_type=event_type,
            content=memory.content,
            short=self._short(memory),
            importance=memory.importance,
            entities=entities,
            tags=memory.tags,
            slot_type=self._slot(memory.slot),
            supersedes=self._known_memory(memory.supersedes),
            contradicts=self._known_memory(memory.contradicts),
            evidence=None if is_of_nobody else memory.evidence or None,
        )

    def _short(self, memory: ModelMemory) -> str:
        """The model's short form where it fits, else a whole sentence of the content, else none."""
        for candidate in (memory.short, memory.content):
            if 0 < len(candidate) <= SHORT_FORM_LIMIT:
                return candidate
        mentions = self._references.names.find_mentions(memory.content)
        return short_form(memory.content, mentions, limit_characters=SHORT_FORM_LIMIT) or ""

    def _slot(self, said: str) -> str | None:
        entity, _, attribute_said = said.rpartition(".")
        entity_id = self._one(entity)
        attribute = "_".join(attribute_said.casefold().split())
        if entity_id is None:
            return None
        return slot_of(entity_id, attribute) if _ATTRIBUTE.fullmatch(attribute) else None

    def _one(self, said: str, *entity_types: str) -> str | None:
        if not said:
            return None
        entity_id = self._references.entity_id(said, entity_types=entity_types)
        if entity_id is None:
            self._unknown[said] = None
        return entity_id

    def _all(self, said: Iterable[str], entity_types: tuple[str, ...] = ()) -> list[str]:
        found = (self._one(each, *entity_types) for each in said)
        return list(dict.fromkeys(each for each in found if each is not None))

    def _report(self, kind: Any, message: str, names: Sequence[str]) -> None:
        if names:
            shown = ", ".join(repr(name[:60]) for name in names[:8])
            self._issues.append(ReportIssue(stage=STAGE, kind=kind, message=f"{message}: {shown}"))
