"""States, threads, relationships and who knows what, as the documents of a memory folder tell them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from novelgen.models.appearances import METADATA, PAIR_COUNTS
from novelgen.models.state import turned_type
from runtime.care.documents import (
    EntityDocument,
    HistoryEntry,
    KnowledgeEntry,
    LoopDocument,
    LoopHistoryEntry,
    RelationshipDocument,
    RelationshipHistoryEntry,
)
from runtime.care.exporting import NO_CHANGE, folded_relationship, folded_state
from runtime.storage.records import StoredKnowledge, StoredLoopEvent, StoredPair, StoredRelationshipChange, StoredState

_DETAIL = ("category", "description", "importance", "related_characters", "related_locations", "related_items")
Event = TypeVar("Event", StoredLoopEvent, StoredRelationshipChange, StoredKnowledge)
_STANDING = (
    "relationship_type",
    "status",
    "perspective_a",
    "perspective_b",
    "intensity",
    "dimensions",
    "dimensions_a",
    "dimensions_b",
)


class _Numbered(NamedTuple):
    """An event with its number among all of its kind; what has none comes last, in the order of the files."""

    order: float
    event: Any


@dataclass(frozen=True, slots=True)
class EventContext:
    """What events need to know of the folder."""

    places: Mapping[str, tuple[int, int]]
    now: datetime

    def place(
        self, scene_id: str | None, chapter_index: int | None = None, scene_index: int | None = None
    ) -> dict[str, Any]:
        """Return position and scene of an event: its own position, else that of its scene, else none."""
        label = scene_id if scene_id in self.places else None
        if chapter_index is None and label is not None:
            chapter_index, scene_index = self.places[label]
        elif label is None and scene_id:
            # It names a scene that the folder has not, and stands where another one does.
            here = (chapter_index, scene_index)
            label = next((each for each, place in self.places.items() if place == here), None)
        return {"chapter_index": chapter_index, "scene_index": scene_index, "scene_label": label}

    def last_place(self) -> dict[str, Any]:
        """Return the place of the last scene of the folder."""
        last = max(self.places, key=lambda label: self.places[label], default=None)
        return self.place(last)


def entity_states(documents: Sequence[EntityDocument], context: EventContext) -> list[StoredState]:
    """Return the state changes of all entities, in the order in which they were stored.

    What stands in a `current_state` and is not what the history amounts to is the author's word after the
    last scene; what is empty says nothing.
    """
    numbered: list[_Numbered] = []
    for document in documents:
        own = [
            _Numbered(math.inf if entry.order is None else entry.order, state)
            for entry in document.history
            for state in _states_of(entry, document, context)
        ]
        now = folded_state([each.event for each in own])
        for attribute, value in document.current_state.items():
            if now.get(attribute) != value and value not in (None, "", [], {}):
                own.append(_Numbered(math.inf, _state(document, attribute, value, context, context.last_place())))
        numbered += own
    return _in_order(numbered)


def loop_events(documents: Sequence[LoopDocument], context: EventContext) -> list[StoredLoopEvent]:
    """Return the events of all loops, in the order in which they were stored."""
    numbered = [event for document in documents for event in _loop_events(document, context)]
    return _in_order(numbered)


def relationship_events(
    documents: Sequence[RelationshipDocument], context: EventContext
) -> tuple[list[StoredPair], list[StoredRelationshipChange]]:
    """Return the pairs and the changes of all relationships, in the order in which they were stored.

    How a relationship stands, where its history does not amount to it, is the author's word after the last
    scene of its history.
    """
    pairs, numbered = [], []
    for document in documents:
        first, second = sorted((document.character_a, document.character_b))
        noted = noted_metadata(document.metadata, document.author_metadata, PAIR_COUNTS)
        pair = StoredPair(
            relationship_id=document.id,
            character_a=first,
            character_b=second,
            created_at=document.created_at,
            updated_at=document.updated_at,
            other_fields={**(document.model_extra or {}), **({METADATA: noted} if noted else {})},
        )
        pairs.append(pair)
        own = [
            _Numbered(math.inf if entry.order is None else entry.order, _change(document, entry, context))
            for entry in document.history
        ]
        standing = _turned(document.model_dump(include=set(_STANDING)), document)
        now = folded_relationship([each.event for each in own])
        said = {name: value for name, value in standing.items() if now[name] != value}
        if said or not own:
            place = context.place(document.history[-1].scene_id) if document.history else context.last_place()
            change = StoredRelationshipChange(relationship_id=document.id, **said, **place)
            own.append(_Numbered(math.inf, change))
        numbered += own
    return pairs, _in_order(numbered)


def knowledge_events(entries: Sequence[KnowledgeEntry], context: EventContext) -> list[StoredKnowledge]:
    """Return what is said of who knows what, in the order of the file."""
    return [_event(StoredKnowledge, entry, context) for entry in entries]


def noted_metadata(
    told: Mapping[str, Any], by_author: Mapping[str, Any] | None, computed: Sequence[str]
) -> dict[str, Any]:
    """Return what an author noted of what a document's metadata tell."""
    if by_author is None:
        return dict(told)
    return {**{name: value for name, value in told.items() if name not in computed}, **by_author}


def _states_of(entry: HistoryEntry, document: EntityDocument, context: EventContext) -> list[StoredState]:
    place = context.place(entry.scene_id, entry.chapter_index, entry.scene_index)
    detail = {name: value for name, value in (entry.model_extra or {}).items() if name != "tick"}
    if entry.scene_id not in context.places:
        detail |= {
            name: value
            for name, value in {**(entry.model_extra or {}), "scene_id": entry.scene_id}.items()
            if name in ("tick", "scene_id") and value
        }
    if place["chapter_index"] is None and entry.scene_id:
        # Of a scene that the folder has not: later than what it has, so that nothing is told too early.
        place = context.last_place()
    changes = entry.changes or ({NO_CHANGE: None} if detail else {})
    return [
        _state(document, attribute, value, context, place, entry).model_copy(update={"detail": detail})
        for attribute, value in changes.items()
    ]


def _state(
    document: EntityDocument,
    attribute: str,
    value: Any,
    context: EventContext,
    place: Mapping[str, Any],
    entry: HistoryEntry | None = None,
) -> StoredState:
    told = entry or HistoryEntry()
    return StoredState(
        entity_id=document.id,
        entity_type=told.entity_type or document.type,
        attribute=attribute,
        value=value,
        kind=told.kind,
        origin=told.origin or "author",
        created_at=told.created_at or context.now,
        verified=told.verified,
        source_span=told.source_span,
        **place,
    )


def _loop_events(document: LoopDocument, context: EventContext) -> list[_Numbered]:
    if document.history:
        return [
            _Numbered(
                math.inf if entry.order is None else entry.order,
                _event(StoredLoopEvent, entry, context, loop_id=document.id),
            )
            for entry in document.history
        ]
    detail = document.model_dump(include=set(_DETAIL)) | (document.model_extra or {})
    detail |= {"notes": document.notes} if document.notes else {}
    detail |= {"created_at": document.created_at.isoformat()} if document.created_at else {}
    planted = context.place(document.created_in_scene)
    events = [StoredLoopEvent(loop_id=document.id, kind="planted", detail=detail, **planted)]
    kinds = {"advanced": "advanced", "resolved": "resolved", "abandoned": "abandoned", "expired": "abandoned"}
    if document.status in kinds:
        ended = context.place(document.resolved_in_scene)
        moved = ended if ended["scene_label"] else context.last_place()
        note = document.resolution_summary or ""
        events.append(
            StoredLoopEvent.model_validate(
                {"loop_id": document.id, "kind": kinds[document.status], "note": note, **moved}
            )
        )
    return [_Numbered(math.inf, event) for event in events]


def _change(
    document: RelationshipDocument, entry: RelationshipHistoryEntry, context: EventContext
) -> StoredRelationshipChange:
    if "origin" in entry.model_fields_set:
        return _event(StoredRelationshipChange, entry, context, relationship_id=document.id)
    # Another program tells the status as "close -> strained".
    said = _turned(entry.model_dump(include={*_STANDING}), document)
    said["status"] = said["status"] or (entry.status_change or "").rpartition("->")[2].strip() or None
    return _event(StoredRelationshipChange, entry, context, relationship_id=document.id, **said)


def _event(
    model: type[Event],
    entry: LoopHistoryEntry | RelationshipHistoryEntry | KnowledgeEntry,
    context: EventContext,
    **fields: Any,
) -> Event:
    """Return an entry as an event of its own, at the entry's place."""
    place = context.place(entry.scene_id, entry.chapter_index, entry.scene_index)
    told = entry.model_dump(include=set(model.model_fields))
    return model.model_validate({**told, **fields, **place})


def _turned(values: dict[str, Any], document: RelationshipDocument) -> dict[str, Any]:
    """Turn the views and feelings of a pair that is not in the order of its ids."""
    if document.character_a <= document.character_b:
        return values
    turned = {
        f"{name}_{side}": values[f"{name}_{other}"]
        for name in ("perspective", "dimensions")
        for side, other in ("ab", "ba")
    }
    said = values["relationship_type"]
    return {**values, **turned, "relationship_type": said and turned_type(said)}


def _in_order(numbered: Sequence[_Numbered]) -> list[Any]:
    return [each.event for each in sorted(numbered, key=lambda each: each.order)]
