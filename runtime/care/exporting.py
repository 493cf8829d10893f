"""Export of a project as JSON files, complete enough for a re-import."""

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import copyfile
from typing import Any, TypeVar
from urllib.parse import quote

from novelgen.errors import UserInputError
from novelgen.language.language import count_words
from novelgen.models.entity import (
    METADATA,
    PAIR_COUNTS,
    EntityType,
    SceneCast,
    computed_names,
    entity_counts,
    pair_counts,
)
from novelgen.models.folds import fold_loop_events, fold_relationship_changes, fold_state_changes, in_force
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.position import END_OF_STORY
from novelgen.models.state import PRESENCE_ATTRIBUTE
from runtime.care.companion_files import companion_files
from runtime.care.documents import SCENE_NAMES, EntityDocument, chunk_document
from runtime.files.paths import write_text_atomically
from runtime.storage import models, records
from runtime.storage.transfer import ProjectContents
from runtime.stores import MemoryStores

Row = TypeVar("Row")

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
    "CM": "character_memory",
}
"""Kind of id to its name in counters.json."""


class MemoryDocuments:
    """Makes the documents of one project."""

    def __init__(self, contents: ProjectContents) -> None:
        self._contents = contents
        self._labels = {scene.scene_id: scene.label for scene in contents.scenes}
        self._ticks = {scene.scene_id: tick for tick, scene in enumerate(contents.scenes, start=1)}
        self._moments = {scene.scene_id: scene.created_at for scene in contents.scenes}
        self._casts = [_cast(scene, contents.mentions.get(scene.scene_id, [])) for scene in contents.scenes]
        self._memories = _numbered_by("scene_id", contents.memories)
        self._states = _numbered_by("entity_id", contents.states)
        self._loop_events = _numbered_by("scene_id", contents.loop_events)
        self._relationship_changes = _numbered_by("relationship_id", contents.relationship_changes)

    def entity(self, stored_entity: models.StoredEntity) -> dict[str, Any]:
        """Return an entity's document, with the state and relationships folded from `history`."""
        entity = stored_entity.entity
        states = self._states[entity.entity_id]
        noted: Any = entity.profile.get(METADATA)
        noted = noted if isinstance(noted, dict) else {}
        # Notes that are no mapping, or empty, stand in the profile as they are.
        profile = {name: value for name, value in entity.profile.items() if name != METADATA or not noted}
        reserved = {name: value for name, value in profile.items() if name in EntityDocument.model_fields}
        counts = entity_counts(entity.entity_id, entity.entity_type, self._casts)
        places = entity.model_dump(
            include={"first_chapter", "first_scene", "name_first_chapter", "name_first_scene", "said_from"},
            exclude_none=True,
        )
        # Plain names where nothing more is known; who wrote an alias is told where it differs from the card.
        by_author = set(stored_entity.author_aliases)
        listing: list[Any] = []
        for alias in stored_entity.entity.aliases:
            detail: Mapping[str, Any] = alias.model_dump(exclude_none=True)
            if (alias.alias in by_author) != (stored_entity.origin == "author"):
                detail = {**detail, "by_author": alias.alias in by_author}
            listing.append(alias.alias if list(detail) == ["alias"] else detail)
        return {
            "id": entity.entity_id,
            "type": entity.entity_type,
            **_moments(stored_entity),
            "name": entity.name,
            "aliases": listing,
            "role": entity.role,
            "description": entity.description,
            **{name: value for name, value in profile.items() if name not in reserved},
            **({"profile": reserved} if reserved else {}),
            "relationships": self._views(entity.entity_id),
            "current_state": folded_state([state for _, state in states]),
            "history": self._state_history(states),
            **_metadata(noted, counts, computed_names(entity.entity_type)),
            "origin": stored_entity.origin,
            **places,
        }

    def scene(self, scene: records.Scene) -> dict[str, Any]:
        """Return a scene's document.

        `record` counts, and the lists are for readers.
        """
        scene_fields = scene.model_dump(mode="json", exclude={"project_id", "text_hash", "other_fields"})
        if not scene.staged:
            del scene_fields["staged"]
        if scene.file_version is None:
            del scene_fields["file_version"]
        record = scene_fields["record"] or {}
        return {
            **scene.other_fields,
            **{SCENE_NAMES.get(name, name): value for name, value in scene_fields.items()},
            **_moments(scene),
            "type": "scene",
            "tick": self._ticks[scene.scene_id],
            "word_count": count_words(scene.text or "") or scene.other_fields.get("word_count", 0),
            **{name: record.get(name, []) for name in ("summary", "key_events", "emotional_beats")},
            "open_loops_created": self._loops_of(scene.scene_id, "planted"),
            "open_loops_resolved": self._loops_of(scene.scene_id, "resolved", "abandoned"),
            "text": scene.text or "",
            "mentions": [list(pair) for pair in self._contents.mentions.get(scene.scene_id, [])],
            "memories": [memory_document(memory) for _, memory in self._memories[scene.scene_id]],
        }

    def open_loops(self) -> list[dict[str, Any]]:
        """Return the documents of all threads, with status folded from `history`."""
        events_by_loop = _numbered_by("loop_id", self._contents.loop_events)
        return [self._loop(loop_id, events) for loop_id, events in events_by_loop.items()]

    def notes(self) -> list[dict[str, Any]]:
        """Return the documents of the memories that go with no scene."""
        return [memory_document(memory) for _, memory in self._memories[None]]

    def _loops_of(self, scene_id: str, *kinds: str) -> list[str]:
        return list(dict.fromkeys(event.loop_id for _, event in self._loop_events[scene_id] if event.kind in kinds))

    def label(self, scene_id: str | None) -> str | None:
        """Return a scene's label, or None."""
        return self._labels.get(scene_id or "")

    def _loop(self, loop_id: str, events: Sequence[tuple[int, records.LoopEvent]]) -> dict[str, Any]:
        rendered_events = [event for _, event in events]
        fold = fold_loop_events(in_force(rendered_events))
        planted_event = fold.planted or rendered_events[0]
        planted_at = self._moments.get(planted_event.scene_id or "")
        return {
            "id": loop_id,
            "type": "open_loop",
            **({} if planted_at is None else {"created_at": planted_at.isoformat()}),
            "status": fold.status,
            "created_in_scene": self.label(planted_event.scene_id),
            **planted_event.detail,
            "resolved_in_scene": self.label(fold.last.scene_id) if fold.is_over else None,
            "resolution_summary": fold.last.note if fold.is_over else None,
            "history": [
                {"order": order, "scene_id": self.label(event.scene_id)}
                | event.model_dump(mode="json", exclude={"loop_id"})
                for order, event in events
            ],
        }

    def relationship(self, pair: records.Pair) -> dict[str, Any]:
        """Return a pair's document, with the status folded from `history`."""
        numbered_entries = self._relationship_changes[pair.relationship_id]
        fields: dict[str, Any] = {name: value for name, value in pair.other_fields.items() if name != METADATA}
        fields |= {"id": pair.relationship_id, "type": "relationship"}
        fields |= _moments(pair)
        fields |= pair.model_dump(include={"character_a", "character_b"})
        history, status = [], ""
        for order, change in numbered_entries:
            last_place = (
                f"{status} -> {change.status}" if change.status and status and change.status != status else None
            )
            status = change.status or status
            tick = self._ticks.get(change.scene_id or "", 0)
            view = {"order": order, "scene_id": self.label(change.scene_id), "tick": tick, "status_change": last_place}
            change_fields = change.model_dump(mode="json", exclude={"relationship_id"}, exclude_none=True)
            history.append(_without_default_reading(view | change_fields))
        counts = pair_counts(pair.character_a, pair.character_b, self._casts)
        metadata = _metadata(pair.other_fields.get(METADATA, {}), counts, PAIR_COUNTS)
        now = folded_relationship([change for _, change in numbered_entries])
        return _without_default_reading(fields | now | {"history": history} | metadata)

    def _state_history(self, states: Sequence[tuple[int, records.State]]) -> list[dict[str, Any]]:
        """Return the entries of a history: changes that were stored in one go are one."""
        entries: list[dict[str, Any]] = []
        last_order = -2
        last_common: dict[str, Any] = {}
        for order, state in states:
            common = state.model_dump(mode="json", exclude={"entity_id", "attribute", "value", "detail"})
            common |= {"scene_id": self.label(state.scene_id)} | state.detail
            changes = {} if state.attribute == NO_CHANGE else {state.attribute: state.value}
            if order == last_order + 1 and common == last_common and state.attribute not in entries[-1]["changes"]:
                entries[-1]["changes"] |= changes
            else:
                tick = self._ticks.get(state.scene_id or "", 0)
                entries.append({"order": order, "tick": tick, **common, "changes": changes})
            last_order, last_common = order, common
        return entries

    def _views(self, entity_id: str) -> list[dict[str, Any]]:
        views = []
        for pair in self._contents.pairs:
            if entity_id not in (pair.character_a, pair.character_b):
                continue
            is_first = entity_id == pair.character_a
            now = folded_relationship([change for _, change in self._relationship_changes[pair.relationship_id]])
            reading = {name: now[name] for name in ("relationship_type", "type_reads_back")}
            reading = reading if is_first else turned_pair_type(**reading)
            views.append(
                {
                    "character_id": pair.character_b if is_first else pair.character_a,
                    **_without_default_reading(reading),
                    "status": now["status"],
                    "description": now["perspective_a" if is_first else "perspective_b"],
                }
            )
        return views


def _numbered_by(name: str, rows: Iterable[Row]) -> defaultdict[Any, list[tuple[int, Row]]]:
    """Return rows with numbers, grouped by a field in one pass."""
    results: defaultdict[Any, list[tuple[int, Row]]] = defaultdict(list)
    for number, row in enumerate(rows):
        results[getattr(row, name)].append((number, row))
    return results


def _without_default_reading(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the reading from the first, the default of a type."""
    return {name: value for name, value in fields.items() if (name, value) != ("type_reads_back", False)}


def _moments(value: models.StoredEntity | records.Pair | records.Scene) -> dict[str, str]:
    datetimes_by_id = {"created_at": value.created_at, "updated_at": value.updated_at}
    return {name: moment.isoformat() for name, moment in datetimes_by_id.items() if moment is not None}


def _cast(scene: records.Scene, mentions: Sequence[tuple[str, str]]) -> SceneCast:
    named_ids = frozenset(entity_id for entity_id, _ in mentions)
    return SceneCast(scene.label, scene.pov, scene.participants, scene.location_id, named_ids)


def _metadata(
    noted: Mapping[str, Any], counts: Mapping[str, Any], computed: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The author's notes, beside computed metadata."""
    fields = {name: value for name, value in counts.items() if value}
    if not fields:
        return {METADATA: dict(noted)} if noted else {}
    own = {name: noted[name] for name in computed if name in noted}
    rest = {name: value for name, value in noted.items() if name not in computed}
    return {METADATA: {**rest, **own, **fields}, "author_metadata": own}


def memory_document(memory: models.StoredMemory) -> dict[str, Any]:
    """Return the document of a memory."""
    marks = memory.model_dump(mode="json", exclude={"chunk", "scene_id"})
    return chunk_document(memory.chunk) | {"attached": memory.attached, "detached": memory.detached} | marks


def folded_state(states: Sequence[records.State]) -> dict[str, Any]:
    """Return an entity's final state without presence."""
    state, _, _ = fold_state_changes([change.change() for change in in_force(states)], END_OF_STORY)
    return {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE}


def folded_relationship(changes: Sequence[records.RelationshipChange]) -> dict[str, Any]:
    """Return how a pair stands at the end of the story."""
    return fold_relationship_changes(in_force(changes))


NO_CHANGE = "no_change"
"""Attribute of an entry of a history that says something and changes nothing; its value is None, which is no state."""

MEMORY_FOLDER = "memory"
PROJECT_FILE = "project.json"
ENTITY_FOLDERS: dict[EntityType, str] = {
    "character": "characters",
    "location": "locations",
    "item": "items",
    "faction": "factions",
    "term": "terms",
}
SCENES_FOLDER = "scenes"
LONGEST_FILE_NAME = 200


def export_project(stores: MemoryStores, project_id: str, folder: Path, *, force: bool = False) -> list[Path]:
    """Write a project to `memory/` in a folder, with companion files.

    Args:
        stores: The stores of the project.
        project_id: The project.
        folder: Where `memory/` is made; `read_memory_folder` reads it back.
        force: Whether an earlier export there is replaced.

    Raises:
        UserInputError: When `memory/` holds files, and they are no export or `force` is off.
    """
    documents = project_documents(stores, project_id)
    paths = stores.paths(project_id)
    root = folder / MEMORY_FOLDER
    earlier = {file for file in root.rglob("*") if file.is_file()} if root.exists() else set()
    if earlier and not force:
        raise UserInputError(f"{str(root)!r} is not empty; export to a new folder, or replace that export with --force")
    if earlier and root / PROJECT_FILE not in earlier:
        raise UserInputError(f"{str(root)!r} holds files that are no export; export to a new folder")
    companions = companion_files(paths.folder, paths)
    root.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        write_text_atomically(root / name, _text_of(document), root=root)
    for name in companions:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copyfile(paths.folder / name, folder / name)
    written_paths = [root / name for name in documents]
    for file in earlier.difference(written_paths):
        if file.suffix == ".json":
            file.unlink()
    return [*written_paths, *(folder / name for name in companions)]


def project_documents(stores: MemoryStores, project_id: str) -> dict[str, Any]:
    """Return the files of `export_project` with their documents."""
    with stores.database(project_id).read() as unit:
        contents = unit.exchange.contents()
    return dict(_documents(contents))


def packed_export(stores: MemoryStores, project_id: str) -> bytes:
    """Return the export as a zip archive."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, document in project_documents(stores, project_id).items():
            archive.writestr(f"{MEMORY_FOLDER}/{name}", _text_of(document).encode("utf-8", "replace"))
        paths = stores.paths(project_id)
        for name in companion_files(paths.folder, paths):
            archive.write(paths.folder / name, name)
    return packed.getvalue()


def _text_of(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _documents(contents: ProjectContents) -> Iterator[tuple[str, Any]]:
    documents = MemoryDocuments(contents)
    taken_paths: set[str] = set()

    def path_of(folder: str, document_id: str) -> str:
        path = f"{folder}/{file_name(document_id)}"
        # On some systems names that differ in their capitals alone are one file.
        if path.casefold() in taken_paths:
            mark = sha256(document_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            path = f"{path.removesuffix('.json')}~{mark}.json"
        taken_paths.add(path.casefold())
        return path

    yield PROJECT_FILE, {"name": contents.name, "language": contents.language}
    for entity in contents.entities:
        yield path_of(ENTITY_FOLDERS[entity.entity.entity_type], entity.entity.entity_id), documents.entity(entity)
    for scene in contents.scenes:
        yield path_of(SCENES_FOLDER, scene.label), documents.scene(scene)
    yield "open_loops.json", {"loops": documents.open_loops()}
    yield "relationships.json", {"relationships": [documents.relationship(pair) for pair in contents.pairs]}
    yield "notes.json", {"notes": documents.notes()}
    parts = [part.model_dump(mode="json", exclude={"extra"}) for part in contents.parts]
    yield (
        "summaries.json",
        {"parts": parts, "summaries": [summary.model_dump(mode="json") for summary in contents.summaries]},
    )
    lists = {
        "knowledge": [
            {"scene_id": documents.label(statement.scene_id)}
            | statement.model_dump(
                mode="json", exclude_none=True, exclude=None if statement.adds_knower else {"adds_knower"}
            )
            for statement in contents.knowledge
        ],
        "consolidations": [
            chunk_document(stored_consolidation.chunk) | {"sources": stored_consolidation.source_ids}
            for stored_consolidation in contents.consolidations
        ],
        "character_memories": [
            memory.model_dump(mode="json", exclude_defaults=True) for memory in contents.character_memories
        ],
    }
    for name, entries in lists.items():
        if entries:
            yield f"{name}.json", {name.removeprefix("character_"): entries}
    if not contents.play.is_empty():
        yield "character_play.json", contents.play.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if not contents.waivers.is_empty():
        yield "waivers.json", contents.waivers.model_dump(mode="json")
    # As in the scheme of the memory, scenes are numbered from 1.
    yield (
        "counters.json",
        {COUNTER_NAMES[kind]: number - (1 if kind == "S" else 0) for kind, number in contents.counters.items()},
    )


def file_name(document_id: str) -> str:
    """Return an id's file name, escaped as in URLs."""
    escaped = quote(document_id, safe=" ")
    if len(escaped) > LONGEST_FILE_NAME:
        escaped = escaped[:100] + sha256(document_id.encode("utf-8", "surrogatepass")).hexdigest()
    return escaped + ".json"
