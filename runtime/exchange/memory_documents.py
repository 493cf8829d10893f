"""The JSON documents of an exported memory: what is told, beside what it takes to store it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from novelgen.models.folds import fold_state_changes

from novelgen.models.position import END_OF_STORY
from novelgen.models.state import PRESENCE_ATTRIBUTE
from runtime.exchange.memory_document_shapes import EntityDocument
from runtime.projects.chapter_text import count_words
from runtime.storage.transfer.records import (
    ExchangedEntity,
    ExchangedLoopEvent,
    ExchangedMemory,
    ExchangedPair,
    ExchangedRelationshipChange,
    ExchangedScene,
    ExchangedState,
    ProjectContents,
)

COUNTER_NAMES = {
    "C": "character",
    "L": "location",
    "I": "item",
    "F": "faction",
    "T": "term",
    "S": "scene",
    "OL": "open_loop",
    "R": "relationship",
    "N": "note",
}
"""Kind of id to its name in counters.json."""
STATUS_AFTER = {"planted": "open", "advanced": "advanced", "resolved": "resolved", "abandoned": "abandoned"}
_FOLDED = ("relationship_type", "status", "perspective_a", "perspective_b", "intensity")


class MemoryDocuments:
    """Makes the documents of one project.

    Args:
        contents: The project's contents.
    """

    def __init__(self, contents: ProjectContents) -> None:
        self._contents = contents
        self._ticks = {each.scene.label: tick for tick, each in enumerate(contents.scenes, start=1)}

    def entity(self, given: ExchangedEntity) -> dict[str, Any]:
        """Return the document of an entity; `current_state` and `relationships` are what `history` amounts to."""
        entity = given.entity
        states = [
            (order, each)
            for order, each in enumerate(self._contents.states)
            if each.entity_id == entity.entity_id
        ]
        reserved = {
            name: value for name, value in entity.profile.items() if name in EntityDocument.model_fields
        }
        places = entity.model_dump(
            include={"first_chapter", "first_scene", "name_first_chapter", "name_first_scene"},
            exclude_none=True,
        )
        return {
            "id": entity.entity_id,
            "type": entity.entity_type,
            "name": entity.name,
            "aliases": _aliases(given),
            "role": entity.role,
            "description": entity.description,
            **{name: value for name, value in entity.profile.items() if name not in reserved},
            **({"profile": reserved} if reserved else {}),
            "relationships": self._views(entity.entity_id),
            "current_state": folded_state([each for _, each in states]),
            "history": _state_history(states, self._ticks),
            "origin": given.origin,
            **places,
        }

    def scene(self, given: ExchangedScene) -> dict[str, Any]:
        """Return the document of a scene; `record` is what counts, the lists beside it are for reading."""
        scene, record = given.scene, given.scene.record
        told = record.model_dump(mode="json") if record is not None else {}
        memories = [each for each in self._contents.memories if each.scene_label == scene.label]
        return {
            "id": scene.label,
            "type": "scene",
            "created_at": scene.created_at.isoformat(),
            "updated_at": scene.updated_at.isoformat(),
            "tick": self._ticks[scene.label],
            "chapter_index": scene.chapter_index,
            "scene_index": scene.scene_index,
            "title": scene.title,
            "pov_character_id": scene.pov,
            "location_id": scene.location_id,
            "story_time": scene.story_time,
            "word_count": count_words(scene.text or ""),
            "summary": told.get("summary", []),
            "characters_present": scene.participants,
            "key_events": told.get("key_events", []),
            "emotional_beats": told.get("emotional_beats", []),
            "open_loops_created": [each["id"] for each in told.get("open_loops_created", [])],
            "open_loops_resolved": [each["id"] for each in told.get("open_loops_resolved", [])],
            "text": scene.text or "",
            "record": None if record is None else told,
            "record_origin": scene.record_origin,
            "extraction_status": scene.extraction_status,
            "failure_reason": scene.failure_reason,
            "key": scene.scene_id,
            "content_hash": scene.content_hash,
            "mentions": [list(each) for each in given.mentions],
            "memories": [memory_document(each) for each in memories],
        }

    def open_loops(self) -> dict[str, Any]:
        """Return the document of all loops; their status is what `history` amounts to."""
        numbered: dict[str, list[tuple[int, ExchangedLoopEvent]]] = {}
        for order, event in enumerate(self._contents.loop_events):
            numbered.setdefault(event.loop_id, []).append((order, event))
        return {"loops": [self._loop(loop_id, events) for loop_id, events in numbered.items()]}

    def relationships(self) -> dict[str, Any]:
        """Return the document of all relationships; how they stand is what `history` amounts to."""
        return {"relationships": [self._relationship(pair) for pair in self._contents.pairs]}

    def notes(self) -> dict[str, Any]:
        """Return the document of the memories that go with no scene."""
        return {
            "notes": [memory_document(each) for each in self._contents.memories if each.scene_label is None]
        }

    def summaries(self) -> dict[str, Any]:
        """Return the document of the author's parts and of the summaries that somebody wrote."""
        return {
            "parts": [part.model_dump(mode="json", exclude={"extra"}) for part in self._contents.parts],
            "summaries": [each.model_dump(mode="json") for each in self._contents.summaries],
        }

    def consolidations(self) -> dict[str, Any]:
        """Return the document of the memories that stand for others, with the chunk ids of these."""
        return {
            "consolidations": [
                each.chunk.model_dump(mode="json", exclude={"project_id", "superseded_by"})
                | {"sources": each.source_ids}
                for each in self._contents.consolidations
            ]
        }

    def counters(self) -> dict[str, int]:
        """Return the counters by name; as in the scheme of the memory, scenes are numbered from 1."""
        return {
            COUNTER_NAMES[kind]: number - (1 if kind == "S" else 0)
            for kind, number in self._contents.counters.items()
        }

    def _loop(self, loop_id: str, events: Sequence[tuple[int, ExchangedLoopEvent]]) -> dict[str, Any]:
        told = [event for _, event in events]
        planted = next((event for event in told if event.kind == "planted"), told[0])
        moved = [event for event in in_force(told) if event.kind != "planted"]
        last = moved[-1] if moved else planted
        is_over = last.kind in ("resolved", "abandoned")
        return {
            "id": loop_id,
            "type": "open_loop",
            "status": STATUS_AFTER[last.kind],
            "created_in_scene": planted.scene_label,
            **planted.detail,
            "resolved_in_scene": last.scene_label if is_over else None,
            "resolution_summary": last.note if is_over else None,
            "history": [
                {"order": order, "scene_id": event.scene_label}
                | event.model_dump(mode="json", exclude={"loop_id", "scene_label"})
                for order, event in events
            ],
        }

    def _relationship(self, pair: ExchangedPair) -> dict[str, Any]:
        numbered = [
            (order, change)
            for order, change in enumerate(self._contents.relationship_changes)
            if change.relationship_id == pair.relationship_id
        ]
        told = {"id": pair.relationship_id, "type": "relationship"}
        told |= pair.model_dump(exclude={"relationship_id"})
        history, status = [], ""
        for order, change in numbered:
            moved = (
                f"{status} -> {change.status}"
                if change.status and status and change.status != status
                else None
            )
            status = change.status or status
            view = {
                "order": order,
                "scene_id": change.scene_label,
                "tick": self._tick(change),
                "status_change": moved,
            }
            stored = change.model_dump(
                mode="json", exclude={"relationship_id", "scene_label"}, exclude_none=True
            )
            history.append(view | stored)
        return told | folded_relationship([change for _, change in numbered]) | {"history": history}

    def _views(self, entity_id: str) -> list[dict[str, Any]]:
        views = []
        for pair in self._contents.pairs:
            if entity_id not in (pair.character_a, pair.character_b):
                continue
            is_first = entity_id == pair.character_a
            changes = [
                each
                for each in self._contents.relationship_changes
                if each.relationship_id == pair.relationship_id
            ]
            now = folded_relationship(changes)
            views.append(
                {
                    "character_id": pair.character_b if is_first else pair.character_a,
                    "relationship_type": now["relationship_type"],
                    "status": now["status"],
                    "description": now["perspective_a" if is_first else "perspective_b"],
                }
            )
        return views

    def _tick(self, event: ExchangedRelationshipChange) -> int:
        return self._ticks.get(event.scene_label or "", 0)


def memory_document(memory: ExchangedMemory) -> dict[str, Any]:
    """Return the document of a memory."""
    chunk = memory.chunk.model_dump(mode="json", exclude={"project_id", "superseded_by"})
    return chunk | memory.model_dump(mode="json", exclude={"chunk", "scene_label"})


def in_force(events: Sequence[Any]) -> list[Any]:
    """Return events in the order in which they count: by place, at one place the author's last."""
    return sorted(events, key=lambda event: (*_place(event), event.origin == "author"))


def folded_state(states: Sequence[ExchangedState]) -> dict[str, Any]:
    """Return what an entity's state changes amount to at the end of the story, without its presence."""
    state, _, _ = fold_state_changes(in_force(states), END_OF_STORY)
    return {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE}


def folded_relationship(changes: Sequence[ExchangedRelationshipChange]) -> dict[str, Any]:
    """Return how a pair stands at the end of the story."""
    folded: dict[str, Any] = {
        "relationship_type": "",
        "status": "neutral",
        "perspective_a": "",
        "perspective_b": "",
        "intensity": 5,
        "dimensions": {},
    }
    for change in in_force(changes):
        folded |= {name: value for name in _FOLDED if (value := getattr(change, name)) is not None}
        folded["dimensions"] = {**folded["dimensions"], **change.dimensions}
    return folded


def _aliases(given: ExchangedEntity) -> list[Any]:
    """Plain names where nothing more is known; who wrote an alias is told where it differs from the card."""
    by_author = set(given.author_aliases)
    listed: list[Any] = []
    for alias in given.entity.aliases:
        detail: Mapping[str, Any] = alias.model_dump(exclude_none=True)
        if (alias.alias in by_author) != (given.origin == "author"):
            detail = {**detail, "by_author": alias.alias in by_author}
        listed.append(alias.alias if list(detail) == ["alias"] else detail)
    return listed


def _state_history(
    states: Sequence[tuple[int, ExchangedState]], ticks: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Changes that were stored in one go are one entry."""
    entries: list[dict[str, Any]] = []
    last_order = -2
    last_common: dict[str, Any] = {}
    for order, state in states:
        common = state.model_dump(mode="json", exclude={"entity_id", "attribute", "value", "scene_label"})
        common |= {"scene_id": state.scene_label}
        if (
            order == last_order + 1
            and common == last_common
            and state.attribute not in entries[-1]["changes"]
        ):
            entries[-1]["changes"][state.attribute] = state.value
        else:
            tick = ticks.get(state.scene_label or "", 0)
            entries.append(
                {"order": order, "tick": tick, **common, "changes": {state.attribute: state.value}}
            )
        last_order, last_common = order, common
    return entries


def _place(event: Any) -> tuple[int, int]:
    chapter = -1 if event.chapter_index is None else event.chapter_index
    return chapter, -1 if event.scene_index is None else event.scene_index
