"""Storage of scenes, replacing derived facts."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, delete, select
from sqlmodel import col, or_
from sqlmodel import select as select_rows

from novelgen.errors import UserInputError
from novelgen.models.folds import loop_event_values, recorded_loop_events
from novelgen.models.memory import DISTILLED_TYPES
from runtime.storage.chunks import ChunkWriter, chunk_values, text_hash
from runtime.storage.events import RelationshipRepository
from runtime.storage.models import SceneWrite, SceneWriteResult
from runtime.storage.projects import CounterRepository
from runtime.storage.records import EVENT_TABLES, Knowledge, LoopEvent, MemoryRow, NameMention, Scene, State
from runtime.storage.session import AnyRow, StorageSession, columns_of, scene_ids_at

_COPIED = (
    set(SceneWrite.model_fields)
    .intersection(Scene.model_fields)
    .difference(("project_id", "scene_id", "label", "chapter_index", "scene_index", "record"))
)
"""Fields of a scene that its row has just as they are given."""


class SceneWriter:
    """Replaces and withdraws derived facts of scenes."""

    def __init__(self, session: StorageSession) -> None:
        session.touch()
        self._session = session
        self._chunks = ChunkWriter(session)
        self._counters = CounterRepository(session)

    def replace(self, writes: Sequence[SceneWrite]) -> list[SceneWriteResult]:
        """Store scenes together.

        See `SceneRepository.replace_scenes`.
        """
        for write in writes:
            if write.project_id != self._session.project_id:
                raise UserInputError(
                    f"scene {write.chapter_index}:{write.scene_index} carries project_id {write.project_id!r},"
                    f" not {self._session.project_id!r}; write it in a unit of work of its own project"
                )
            foreign = next((one for one in write.chunks if one.project_id != write.project_id), None)
            if foreign is not None:
                raise UserInputError(
                    f"memory {foreign.chunk_id!r} carries project_id {foreign.project_id!r}, not {write.project_id!r}"
                )
            repeated = [
                chunk_id for chunk_id, count in Counter(one.chunk_id for one in write.chunks).items() if count > 1
            ]
            if repeated:
                raise UserInputError(f"memory id {repeated[0]!r} comes twice in one scene; ids must differ")
        scene_ids_by_place = scene_ids_at(self._session, [(write.chapter_index, write.scene_index) for write in writes])
        ids = [
            scene_ids_by_place.get((scene_write.chapter_index, scene_write.scene_index))
            or scene_write.scene_id
            or uuid4().hex
            for scene_write in writes
        ]
        texts = {scene_id: write.text for write, scene_id in zip(writes, ids, strict=True)}
        # Of a new scene there is nothing to read, and nothing to take back.
        known_scenes = self._columns_of_scenes(list(scene_ids_by_place.values()), "text_hash", "label")
        reworded = [row.scene_id for row in known_scenes if row.text_hash != text_hash(texts[row.scene_id])]
        old_texts = {row.scene_id: row.text for row in self._columns_of_scenes(reworded, "text")}
        known_labels = {row.scene_id: row.label for row in known_scenes}
        labels = known_labels | self._write_scenes(writes, ids, known_ids=known_labels.keys())
        changes = self._replace_chunks(writes, ids, known_ids=list(known_labels))
        for scene_id, old_text in old_texts.items():
            # The author's own facts follow their words; without them nothing proves a fact.
            for row in spans_by_hand(self._session, scene_id):
                is_as_it_was = row.chunk_id in changes[scene_id].get("chunks_kept", ()) or not row.from_scene
                if row.span_start is None or not is_as_it_was:
                    continue
                words = old_text[row.span_start : row.span_end]
                start = _nearest(words, texts[scene_id], row.span_start)
                values: dict[str, Any] = {"span_start": None, "span_end": None, "verified": False}
                if start is not None:
                    values = {"span_start": start, "span_end": start + len(words)}
                self._session.update(MemoryRow, MemoryRow.row_id == row.row_id, **values)
        if known_labels:
            self.withdraw_events(list(known_labels))
        self._insert_events(writes, ids)
        return [
            SceneWriteResult(
                scene_id=scene_id, label=labels[scene_id], is_new=scene_id not in known_labels, **changes[scene_id]
            )
            for scene_id in ids
        ]

    def withdraw_events(self, scene_ids: Sequence[str]) -> None:
        """Take back states, loop events, relationship changes, knowledge and mentions that scenes brought."""
        for table in EVENT_TABLES:
            self._session.run(delete(table).where(self._of(table, scene_ids), table.origin == "record"))
        self._session.run(delete(NameMention).where(self._of(NameMention, scene_ids)))

    def withdraw_chunks(self, scene_id: str) -> list[str]:
        """Take back all memories that the scene brought, edited or not, and return their ids in order."""
        rows = self._stored_chunks([scene_id])[scene_id]
        self._chunks.remove(rows)
        return sorted(row["chunk_id"] for row in rows)

    def _of(self, table: Any, scene_ids: Sequence[str]) -> ColumnElement[bool]:
        # Without the project: SQLite would look through all of it. No id of a scene is another project's, too.
        return self._session.among(table.scene_id, scene_ids)

    def _columns_of_scenes(self, scene_ids: Sequence[str], *names: str) -> Sequence[AnyRow]:
        if not scene_ids:
            return []
        columns = columns_of(Scene, ("project_id", "scene_id", *names))
        return self._session.own(self._session.rows(select(*columns).where(self._of(Scene, scene_ids))))

    def _write_scenes(self, writes: Sequence[SceneWrite], ids: Sequence[str], *, known_ids: Set[str]) -> dict[str, str]:
        """Write the scenes themselves and return the labels of new ones."""
        labels: dict[str, str] = {}
        changed: list[tuple[str, dict[str, Any]]] = []
        for write, scene_id in zip(writes, ids, strict=True):
            record = None if write.record is None else write.record.model_dump(mode="json")
            copied = write.model_dump(include=_COPIED)
            scene_fields = {
                # Where the author said nothing of it, the mark is that of a scene of before.
                "scene": {
                    name: value
                    for name, value in copied.items()
                    if name != "file_version" and (name != "staged" or value)
                },
                "record": None if record is None else {**record, "chapter_index": 0, "scene_index": 0},
                # Passages follow from the text and the names.
                "chunks": [
                    _hashable_fields(memory.model_dump(mode="json"))
                    for memory in write.chunks
                    if memory.origin != "text"
                ],
                "links": write.chunk_links,
                "states": [_hashable_fields(change.model_dump(mode="json")) for change in write.states],
                "mentions": sorted(set(write.mentions)),
            }
            values: dict[str, Any] = copied | {
                "record": record,
                "text_hash": text_hash(write.text),
                "content_hash": text_hash(json.dumps(scene_fields, sort_keys=True, ensure_ascii=False)),
                "updated_at": self._session.now(),
            }
            if scene_id in known_ids:
                changed.append((scene_id, values))
                continue
            label = labels[scene_id] = free_label(self._session, write.label)
            place: dict[str, Any] = {"chapter_index": write.chapter_index, "scene_index": write.scene_index}
            self._session.add(Scene(**values, **place, scene_id=scene_id, label=label, created_at=values["updated_at"]))
        self._session.update_each(Scene.scene_id, changed)
        return labels

    def _replace_chunks(
        self, writes: Sequence[SceneWrite], ids: Sequence[str], *, known_ids: Sequence[str]
    ) -> dict[str, dict[str, list[str]]]:
        rows = self._stored_chunks(known_ids, kept_ids=[chunk_id for write in writes for chunk_id in write.kept])
        stored_chunk_ids = {row["chunk_id"] for entries in rows.values() for row in entries}
        new = {
            chunk.chunk_id: write
            for write in writes
            for chunk in write.chunks
            if chunk.chunk_id not in stored_chunk_ids
        }
        taken_ids = (
            self._session.value(MemoryRow.chunk_id, self._session.among(MemoryRow.chunk_id, new)) if new else None
        )
        if taken_ids is not None:
            raise UserInputError(
                f"memory id {taken_ids!r} of scene {new[taken_ids].chapter_index}:{new[taken_ids].scene_index} "
                "belongs to another scene already; give it an id of its own"
            )
        added_entries: list[dict[str, Any]] = []
        changed: list[tuple[Mapping[str, Any], dict[str, Any]]] = []
        gone_entries: list[Mapping[str, Any]] = []
        results = {}
        for write, scene_id in zip(writes, ids, strict=True):
            rows_by_id = {row["chunk_id"]: row for row in rows[scene_id]}
            place = {"chapter_index": write.chapter_index, "scene_index": write.scene_index}
            # What an author attached a distilled memory to, by source_id: a reworded one keeps it.
            by_hand = {
                row["source_id"]: {"attached": row["attached"], "detached": row["detached"]}
                for row in rows_by_id.values()
                if row["content_type"] == "memory" and row["source_id"]
            }
            result: defaultdict[str, list[str]] = defaultdict(list)
            for chunk in sorted(write.chunks, key=lambda chunk: chunk.chunk_id):
                links = write.chunk_links.get(chunk.chunk_id, chunk.entities_mentioned)
                old = rows_by_id.pop(chunk.chunk_id, None)
                values = chunk_values(chunk, links, old=old) | place
                outcome = _outcome(old, values)
                result[f"chunks_{outcome}"].append(chunk.chunk_id)
                if old is None:
                    fresh = {"from_scene": True, "status": "active", "pinned": False, "scene_id": scene_id}
                    attachments = by_hand.get(chunk.source_id, {"attached": [], "detached": []})
                    added_entries.append({**values, **fresh, **attachments, "created_at": chunk.created_at})
                elif outcome == "changed":
                    changed.append((old, values))
            left_entries = [row for row in rows_by_id.values() if not _is_authors(row)]
            gone_entries += left_entries
            result["chunks_unchanged"] += write.kept
            result["chunks_removed"] += (row["chunk_id"] for row in left_entries)
            result["chunks_kept"] += (row["chunk_id"] for row in rows_by_id.values() if _is_authors(row))
            results[scene_id] = {outcome: sorted(chunk_ids) for outcome, chunk_ids in result.items()}
        self._chunks.update(changed)
        self._chunks.insert(added_entries)
        self._chunks.remove(gone_entries)
        return results

    def _insert_events(self, writes: Sequence[SceneWrite], ids: Sequence[str]) -> None:
        now = self._session.now()
        states, loops, knowledge, mentions = [], [], [], []
        for write, scene_id in zip(writes, ids, strict=True):
            place = {"chapter_index": write.chapter_index, "scene_index": write.scene_index}
            position = place | {"scene_id": scene_id, "origin": "record"}
            states += [State.of(change, created_at=now, **position).as_new() for change in write.states]
            knowledge += [statement.as_new() | position for statement in write.knowledge]
            mentions += [
                place | {"scene_id": scene_id, "entity_id": entity_id, "name": name}
                for entity_id, name in dict.fromkeys(write.mentions)
            ]
            if write.record is not None:
                events = recorded_loop_events(write.record)
                loops += [loop_event_values(event) | position for event in events]
                self._counters.jump_over([event.id for event in events])
                relationships = RelationshipRepository(self._session)
                relationships.insert_changes(write.record.relationship_changes, position)
        inserted: dict[type[Any], list[dict[str, Any]]] = {
            State: states,
            LoopEvent: loops,
            Knowledge: knowledge,
            NameMention: mentions,
        }
        for table, rows in inserted.items():
            self._session.insert(table, rows)

    def _stored_chunks(
        self, scene_ids: Sequence[str], *, kept_ids: Sequence[str] = ()
    ) -> defaultdict[Any, list[dict[str, Any]]]:
        results: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        if not scene_ids:
            return results
        others = [~self._session.among(MemoryRow.chunk_id, kept_ids)] if kept_ids else []
        brought_select_of_scalar = select_rows(MemoryRow).where(
            self._of(MemoryRow, scene_ids), col(MemoryRow.from_scene), *others
        )
        for row in self._session.own(self._session.exec(brought_select_of_scalar)):
            results[row.scene_id].append(row.columns())
        return results


def spans_by_hand(session: StorageSession, scene_id: str) -> Sequence[AnyRow]:
    """Return the author's facts in a scene, with their spans."""
    by_hand = or_(
        ~col(MemoryRow.from_scene), MemoryRow.origin == "author", col(MemoryRow.pinned), MemoryRow.status != "active"
    )
    here = (MemoryRow.scene_id == scene_id, col(MemoryRow.content_type).in_(DISTILLED_TYPES), by_hand)
    columns = columns_of(MemoryRow, ("row_id", "chunk_id", "from_scene", "span_start", "span_end", "verified"))
    return session.select(columns, *here, order=[col(MemoryRow.row_id)])


def _nearest(words: str, text: str, at: int) -> int | None:
    """Return where words stand in a text, of several places the nearest to a character."""
    found_numbers = (match.start() for match in re.finditer(f"(?={re.escape(words)})", text)) if words else ()
    return min(found_numbers, key=lambda number: abs(number - at), default=None)


def free_label(session: StorageSession, label: str) -> str:
    """Return a new scene's label, its own if free."""
    counters = CounterRepository(session)
    if not label or session.value(Scene.label, Scene.label == label) is not None:
        return counters.take("S")
    counters.jump_over([label])
    return label


_HASH_NEUTRAL_DEFAULTS = {"is_indexed": True, "is_consolidated": False}
"""Fields that came after the first marks: at their default they must not change the mark of a scene.

Those that `exclude_if` leaves out at their default need no entry.
"""


def _hashable_fields(dumped: dict[str, Any]) -> dict[str, Any]:
    """Drop fields that vary between repeats, moves and copies."""
    return {
        name: value
        for name, value in dumped.items()
        if name not in ("project_id", "created_at", "chapter_index", "scene_index", "source_id")
        and not (name in _HASH_NEUTRAL_DEFAULTS and _HASH_NEUTRAL_DEFAULTS[name] is value)
    }


def _outcome(old: Mapping[str, Any] | None, values: Mapping[str, Any]) -> str:
    if old is None:
        return "added"
    if old["origin"] == "author" or old["status"] != "active":
        return "kept"
    return "unchanged" if all(old[name] == value for name, value in values.items()) else "changed"


def _is_authors(row: Mapping[str, Any]) -> bool:
    """Whether an author edited, pinned, banned or deleted the memory."""
    return bool(row["pinned"]) or row["origin"] == "author" or row["status"] != "active"
