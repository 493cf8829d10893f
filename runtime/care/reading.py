"""Reading a memory folder: as this program exported it, edited by a person, or from another program."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import BaseModel, Field, create_model

from novelgen.characters.memory import CharacterMemory
from novelgen.errors import InvalidFileError
from novelgen.models.entity import PAIR_COUNTS, Entity, EntityAlias, computed_names
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.record import SceneRecord
from runtime.care import documents as shapes
from runtime.care.exporting import (
    COUNTER_NAMES,
    ENTITY_FOLDERS,
    MEMORY_FOLDER,
    NO_CHANGE,
    SCENES_FOLDER,
    folded_relationship,
    folded_state,
)
from runtime.files.file_reading import read_json_file, read_text_file, validated
from runtime.ingest.scene_input import SceneInput
from runtime.storage import columns, models, records
from runtime.storage.characters import PlayContents
from runtime.storage.chunks import StoredConsolidation
from runtime.storage.transfer import ProjectContents, ToldScene, Waivers

_MARKS = set(models.StoredMemory.model_fields) - {"chunk", "scene_id"}
"""What a memory's document says beside the memory itself."""

Read = TypeVar("Read", bound=BaseModel)
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class IncomingStory:
    """The story to import."""

    contents: ProjectContents
    scenes: list[SceneInput] = field(default_factory=list)
    told: Mapping[columns.ScenePlace, ToldScene] = field(default_factory=dict)


def is_memory_folder(folder: Path) -> bool:
    """Tell whether a folder is, or holds, a memory folder."""
    return _root(folder) is not None


def read_memory_folder(folder: Path, *, project_id: str, now: datetime) -> IncomingStory:
    """Read a memory folder.

    What a person changed in a `current_state` or in how a relationship stands counts as said by the author
    after the last scene. Scenes of other programs become records: their chapter is 1 where they have none,
    and their text is looked for under `markdown_file`.
    """
    root = _root(folder)
    if root is None:
        raise InvalidFileError(f"{str(folder)!r} holds no memory folder; give the folder that holds 'memory'")
    documents = _documents(root / SCENES_FOLDER, shapes.SceneDocument)
    entities = [
        document for name in ENTITY_FOLDERS.values() for document in _documents(root / name, shapes.EntityDocument)
    ]
    context = EventContext(
        places={document.id: document.place for document in documents},
        scene_ids={document.id: document.key or uuid4().hex for document in documents},
        now=now,
    )
    project = _document(root / "project.json", shapes.ProjectFile)
    relationships = _read_entries(root / "relationships.json", "relationships", shapes.RelationshipDocument)
    pairs, changes = relationship_events(relationships, context)
    loops = _read_entries(root / "open_loops.json", "loops", shapes.LoopDocument)
    stored_documents = [document for document in documents if document.content_hash]
    written_summaries_file = _document(root / "summaries.json", shapes.SummariesFile)
    standing_entries = _read_entries(root / "consolidations.json", "consolidations", dict)
    file = root / "counters.json"
    data = read_json_file(file, within=root) if file.exists() else {}
    kinds = {name: kind for kind, name in COUNTER_NAMES.items()}
    if not isinstance(data, dict):
        raise InvalidFileError(f"{str(file)!r} must hold an object of counters, not {type(data).__name__}")
    counters = {}
    for name, number in data.items():
        if name in kinds and not (type(number) is int and 0 <= number <= 999_999_998):
            raise InvalidFileError(f"{str(file)!r}: {name} cannot be {number!r}; write a whole number from 0")
        if name in kinds:
            counters[kinds[name]] = number + (1 if kinds[name] == "S" else 0)
    contents = ProjectContents(
        name=project.name,
        language=project.language,
        entities=[exchanged_entity(document) for document in entities],
        scenes=sorted(
            (_scene(document, project_id, context) for document in stored_documents), key=lambda scene: scene.position
        ),
        mentions={
            context.scene_ids[document.id]: document.mentions for document in stored_documents if document.mentions
        },
        memories=[
            *(
                _memory_of_document(memory, project_id, context.scene_ids[document.id])
                for document in stored_documents
                for memory in document.memories
            ),
            *(
                _memory_of_document(fields, project_id, None)
                for fields in _read_entries(root / "notes.json", "notes", dict)
            ),
        ],
        states=entity_states(entities, context),
        loop_events=_in_order([event for loop_document in loops for event in _loop_events(loop_document, context)]),
        pairs=pairs,
        relationship_changes=changes,
        knowledge=[
            _event(records.Knowledge, knowledge_entry, context)
            for knowledge_entry in _read_entries(root / "knowledge.json", "knowledge", shapes.KnowledgeEntry)
        ],
        parts=written_summaries_file.parts,
        summaries=written_summaries_file.summaries,
        consolidations=[_consolidation(fields, project_id) for fields in standing_entries],
        character_memories=_read_entries(root / "character_memories.json", "memories", CharacterMemory),
        play=_document(root / "character_play.json", PlayContents),
        waivers=_document(root / "waivers.json", Waivers),
        counters=counters,
    )
    others = [document for document in documents if not document.content_hash]
    scene_tellings_by_position = {
        document.place: ToldScene(created_at=document.created_at, other_fields=document.other_fields())
        for document in others
    }
    return IncomingStory(contents, [_told_scene(document, root) for document in others], scene_tellings_by_position)


def _root(folder: Path) -> Path | None:
    signs = (*ENTITY_FOLDERS.values(), SCENES_FOLDER, "counters.json", "open_loops.json", "relationships.json")
    for root in (folder / MEMORY_FOLDER, folder):
        if any((root / sign).exists() for sign in signs):
            return root
    return None


def _documents(folder: Path, model: type[Read]) -> list[Read]:
    return [
        _document(file, model, within=folder.parent)
        for file in (sorted(folder.glob("*.json")) if folder.is_dir() else ())
    ]


def _document(file: Path, model: type[Read], *, within: Path | None = None) -> Read:
    data = read_json_file(file, within=within or file.parent) if file.exists() else {}
    return validated(model, data, where=repr(str(file)))


def _read_entries(file: Path, key: str, kind: type[Entry]) -> list[Entry]:
    """Return the entries of a file that holds one list."""
    model = create_model(key, __base__=shapes.Document, **{key: (list[kind], Field(default_factory=list))})  # type: ignore[valid-type,call-overload]
    entries: list[Entry] = getattr(_document(file, model), key)
    return entries


def _scene(document: shapes.SceneDocument, project_id: str, context: "EventContext") -> records.Scene:
    names = {
        stored_text: shapes.SCENE_NAMES.get(stored_text, stored_text) for stored_text in records.Scene.model_fields
    }
    fields: dict[str, Any] = {
        stored_text: getattr(document, name)
        for stored_text, name in names.items()
        if name in shapes.SceneDocument.model_fields
    }
    fields["chapter_index"], fields["scene_index"] = document.place
    fields |= {name: fields[name] or context.now for name in ("created_at", "updated_at")}
    fields |= {"project_id": project_id, "scene_id": context.scene_ids[document.id], "text_hash": ""}
    return records.Scene(**fields, other_fields=document.other_fields())


def _memory_of_document(document: shapes.MemoryDocument, project_id: str, scene_id: str | None) -> models.StoredMemory:
    marks = {name: value for name, value in document.items() if name in _MARKS}
    payload = {"chunk": _chunk(document, project_id, _MARKS), **marks, "scene_id": scene_id}
    return validated(models.StoredMemory, payload, where=_where(document))


def _consolidation(document: shapes.MemoryDocument, project_id: str) -> StoredConsolidation:
    payload = {"chunk": _chunk(document, project_id, {"sources"}), "source_ids": document.get("sources")}
    return validated(StoredConsolidation, payload, where=_where(document))


def _chunk(document: shapes.MemoryDocument, project_id: str, but: Set[str]) -> dict[str, Any]:
    fields = shapes.chunk_fields(document) | {"project_id": project_id}
    return {name: value for name, value in fields.items() if name not in but}


def _where(document: shapes.MemoryDocument) -> str:
    return f"memory {document.get('chunk_id')!r}"


def _told_scene(document: shapes.SceneDocument, root: Path) -> SceneInput:
    chapter, number = document.place
    fields = document.model_dump(
        include={"title", "pov_character_id", "location_id", "story_time", "characters_present", "summary"}
        | {"key_events", "emotional_beats"}
    )
    record = document.record or SceneRecord(chapter_index=chapter, scene_index=number, **fields)
    return SceneInput(
        chapter_index=chapter,
        scene_index=number,
        label=document.id,
        title=document.title,
        text=document.text or _markdown(document.markdown_file, root),
        record=record,
        record_origin="supplied",
    )


def _markdown(name: str, root: Path) -> str:
    """The text of a scene's separate file, empty without one."""
    if not name or Path(name).name != name:
        return ""
    for folder in (root.parent / SCENES_FOLDER, root.parent, root / SCENES_FOLDER):
        if (folder / name).is_file():
            return read_text_file(folder / name, within=root.parent)
    return ""


def exchanged_entity(document: shapes.EntityDocument) -> models.StoredEntity:
    """Return a document's entity, with unknown fields as its profile."""
    aliases = [_alias(alias, document) for alias in document.aliases]
    by_default = document.origin == "author"
    noted = document.noted(computed_names(document.type))
    profile: dict[str, Any] = {**(document.model_extra or {}), **document.profile, **noted}
    copied = document.model_dump(include=set(Entity.model_fields) - {"aliases", "profile"})
    card_fields = {"entity_id": document.id, "entity_type": document.type, "profile": profile}
    entity = Entity(aliases=[alias for alias, _ in aliases], **card_fields, **copied)
    written_names = [alias.alias for alias, by_author in aliases if (by_default if by_author is None else by_author)]
    return models.StoredEntity(
        entity=entity,
        origin=document.origin,
        author_aliases=written_names,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )


def _alias(given_value: str | dict[str, Any], document: shapes.EntityDocument) -> tuple[EntityAlias, bool | None]:
    if isinstance(given_value, str):
        given_value = {"alias": given_value}
    by_author = given_value.get("by_author")
    alias_fields = {name: value for name, value in given_value.items() if name != "by_author"}
    return validated(EntityAlias, alias_fields, where=f"an alias of {document.id!r}"), (
        by_author if isinstance(by_author, bool) else None
    )


_DETAIL = ("category", "description", "importance", "related_characters", "related_locations", "related_items")
Event = TypeVar("Event", records.LoopEvent, records.RelationshipChange, records.Knowledge)
_STATE_FIELDS = (
    "relationship_type",
    "type_reads_back",
    "status",
    "perspective_a",
    "perspective_b",
    "intensity",
    "dimensions",
    "dimensions_a",
    "dimensions_b",
)


_NumberedEntry = tuple[float, Any]
"""An event after its number among all of its kind; what has none comes last, in the order of the files."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """The folder's context of events."""

    places: Mapping[str, tuple[int, int]]
    scene_ids: Mapping[str, str]
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
            label = next((text for text, place in self.places.items() if place == here), None)
        return {"chapter_index": chapter_index, "scene_index": scene_index, "scene_id": label and self.scene_ids[label]}

    def last_place(self) -> dict[str, Any]:
        """Return the place of the last scene of the folder."""
        last = max(self.places, key=lambda label: self.places[label], default=None)
        return self.place(last)


def entity_states(documents: Sequence[shapes.EntityDocument], context: EventContext) -> list[records.State]:
    """Return the state changes of all entities, in the order in which they were stored.

    What stands in a `current_state` and is not what the history amounts to is the author's word after the
    last scene; what is empty says nothing.
    """
    numbered_entries: list[_NumberedEntry] = []
    for document in documents:
        own = [
            _number_entry(entry, state) for entry in document.history for state in _states_of(entry, document, context)
        ]
        now = folded_state([state for _, state in own])
        for attribute, value in document.current_state.items():
            if now.get(attribute) != value and value not in (None, "", [], {}):
                own.append((math.inf, _state(document, attribute, value, context, context.last_place())))
        numbered_entries += own
    return _in_order(numbered_entries)


def relationship_events(
    documents: Sequence[shapes.RelationshipDocument], context: EventContext
) -> tuple[list[records.Pair], list[records.RelationshipChange]]:
    """Return the pairs and the changes of all relationships, in the order in which they were stored.

    How a relationship stands, where its history does not amount to it, is the author's word after the last
    scene of its history.
    """
    pairs, numbered_entries = [], []
    for document in documents:
        first, second = sorted((document.character_a, document.character_b))
        pair = records.Pair(
            relationship_id=document.id,
            character_a=first,
            character_b=second,
            created_at=document.created_at,
            updated_at=document.updated_at,
            other_fields={**(document.model_extra or {}), **document.noted(PAIR_COUNTS)},
        )
        pairs.append(pair)
        own = [_number_entry(entry, _change(document, entry, context)) for entry in document.history]
        before, last_place, _ = (
            _status_change(document.history[0]).partition("->") if document.history else ("", "", "")
        )
        if last_place and before.strip():
            # How they stood before the first change holds from the start.
            stood_relationship_change = records.RelationshipChange(relationship_id=document.id, status=before.strip())
            own.insert(0, (own[0][0], stood_relationship_change))
        state_fields = _turned(document.model_dump(include=set(_STATE_FIELDS)), document)
        now = folded_relationship([change for _, change in own])
        stated_fields = {name: value for name, value in state_fields.items() if now[name] != value}
        # Where another program tells no history the pair is known all the same; what we wrote may have lost its scenes.
        is_ours = "dimensions_a" in document.model_fields_set
        if stated_fields or not (own or is_ours):
            place = context.place(document.history[-1].scene_id) if document.history else context.last_place()
            own.append((math.inf, records.RelationshipChange(relationship_id=document.id, **stated_fields, **place)))
        numbered_entries += own
    return pairs, _in_order(numbered_entries)


def _states_of(
    entry: shapes.HistoryEntry, document: shapes.EntityDocument, context: EventContext
) -> list[records.State]:
    place = context.place(entry.scene_id, entry.chapter_index, entry.scene_index)
    is_here = entry.scene_id in context.places
    fields = {**(entry.model_extra or {}), **({} if is_here or not entry.scene_id else {"scene_id": entry.scene_id})}
    detail = {name: value for name, value in fields.items() if name != "tick" or (value and not is_here)}
    if place["chapter_index"] is None and entry.scene_id:
        # Of a scene that the folder has not: later than what it has, so that nothing is told too early.
        place = context.last_place()
    changes = entry.changes or ({NO_CHANGE: None} if detail else {})
    return [
        _state(document, attribute, value, context, place, entry).model_copy(update={"detail": detail})
        for attribute, value in changes.items()
    ]


def _state(
    document: shapes.EntityDocument,
    attribute: str,
    value: Any,
    context: EventContext,
    place: Mapping[str, Any],
    entry: shapes.HistoryEntry | None = None,
) -> records.State:
    history_entry = entry or shapes.HistoryEntry()
    return records.State(
        entity_id=document.id,
        entity_type=history_entry.entity_type or document.type,
        attribute=attribute,
        value=value,
        origin=history_entry.origin or "author",
        created_at=history_entry.created_at or context.now,
        **history_entry.model_dump(include={"kind", "verified", "source_span"}),
        **place,
    )


def _loop_events(document: shapes.LoopDocument, context: EventContext) -> list[_NumberedEntry]:
    if document.history:
        lines = [
            (loop_history_entry, _event(records.LoopEvent, loop_history_entry, context, loop_id=document.id))
            for loop_history_entry in document.history
        ]
        return [_number_entry(entry, event) for entry, event in lines]
    detail = document.model_dump(include=set(_DETAIL)) | (document.model_extra or {})
    detail |= {"notes": document.notes} if document.notes else {}
    detail |= {"created_at": document.created_at.isoformat()} if document.created_at else {}
    planting_fields = context.place(document.created_in_scene)
    events = [records.LoopEvent(loop_id=document.id, kind="planted", detail=detail, **planting_fields)]
    kinds = {"advanced": "advanced", "resolved": "resolved", "abandoned": "abandoned", "expired": "abandoned"}
    if document.status in kinds:
        ending_fields = context.place(document.resolved_in_scene)
        moving_fields = ending_fields if ending_fields["scene_id"] else context.last_place()
        note = document.resolution_summary or ""
        events.append(
            records.LoopEvent.model_validate(
                {"loop_id": document.id, "kind": kinds[document.status], "note": note, **moving_fields}
            )
        )
    return [(math.inf, event) for event in events]


def _status_change(entry: shapes.RelationshipHistoryEntry) -> str:
    """Return a foreign status change: "close -> strained"."""
    return "" if "origin" in entry.model_fields_set else entry.status_change or ""


def _change(
    document: shapes.RelationshipDocument, entry: shapes.RelationshipHistoryEntry, context: EventContext
) -> records.RelationshipChange:
    if "origin" in entry.model_fields_set:
        return _event(records.RelationshipChange, entry, context, relationship_id=document.id)
    stated_fields = _turned(entry.model_dump(include={*_STATE_FIELDS}), document)
    stated_fields["status"] = stated_fields["status"] or _status_change(entry).rpartition("->")[2].strip() or None
    return _event(records.RelationshipChange, entry, context, relationship_id=document.id, **stated_fields)


def _event(
    model: type[Event],
    entry: shapes.LoopHistoryEntry | shapes.RelationshipHistoryEntry | shapes.KnowledgeEntry,
    context: EventContext,
    **fields: Any,
) -> Event:
    """Return an entry as an event of its own, at the entry's place."""
    place = context.place(entry.scene_id, entry.chapter_index, entry.scene_index)
    table: Any = model
    fields_of_entry = entry.model_dump(include={*table.model_fields, "source_span"})
    event: Event = table.model_validate({**fields_of_entry, **fields, **place})
    return event


def _turned(values: dict[str, Any], document: shapes.RelationshipDocument) -> dict[str, Any]:
    """Turn the views and feelings of a pair that is not in the order of its ids."""
    if document.character_a <= document.character_b:
        return values
    turned = {
        f"{name}_{side}": values[f"{name}_{other}"]
        for name in ("perspective", "dimensions")
        for side, other in ("ab", "ba")
    }
    statement = values["relationship_type"]
    reading = turned_pair_type(statement, type_reads_back=values["type_reads_back"]) if statement else {}
    return {**values, **turned, **reading}


def _number_entry(
    entry: shapes.HistoryEntry | shapes.LoopHistoryEntry | shapes.RelationshipHistoryEntry, event: Any
) -> _NumberedEntry:
    return math.inf if entry.order is None else entry.order, event


def _in_order(numbered_entries: Sequence[_NumberedEntry]) -> list[Any]:
    return [event for _, event in sorted(numbered_entries, key=itemgetter(0))]
