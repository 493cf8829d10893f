"""Contents of one project going into another: what is there already stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Table, select

from novelgen.characters.memory import CharacterMemory
from novelgen.language.normalise import name_key
from novelgen.models.entity import Entity
from novelgen.models.user_file import StoryPart
from runtime.storage.character.dispositions import PlayContents, PlayRepository
from runtime.storage.character.memories import CharacterMemoryRepository
from runtime.storage.cuts import Place, scene_ids_at
from runtime.storage.entity.entities import EntityRepository
from runtime.storage.memory.consolidations import ConsolidationRepository, StoredConsolidation
from runtime.storage.memory.rows import chunk_values, text_hash
from runtime.storage.memory.writer import ChunkWriter
from runtime.storage.projects import CounterRepository, ProjectRepository
from runtime.storage.records import ScenePlace
from runtime.storage.session import Repository
from runtime.storage.story.scene_writer import free_label
from runtime.storage.story.states import with_span_columns
from runtime.storage.story.summaries import StoredSummary, SummaryRepository
from runtime.storage.tables import (
    ALIASES,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)
from runtime.storage.transfer.reading import read_contents, read_pairs
from runtime.storage.transfer.records import (
    ExchangedEntity,
    ExchangedKnowledge,
    ExchangedMemory,
    ExchangedPair,
    ExchangedState,
    ProjectContents,
    SceneBundle,
    ToldScene,
    Waivers,
)

_SCENE_COLUMNS = (
    "chapter_index",
    "scene_index",
    "title",
    "text",
    "content_hash",
    "story_time",
    "location_id",
    "pov",
    "participants",
    "record_origin",
    "extraction_status",
    "failure_reason",
    "created_at",
    "updated_at",
    "other_fields",
)


class ExchangeRepository(Repository):
    """Reads contents whole, and adds contents without changing anything that is stored."""

    def contents(self) -> ProjectContents:
        """Return everything that a project holds; see `exchange_reading.read_contents`."""
        return read_contents(self._session)

    def add_entity(self, given: ExchangedEntity) -> None:
        """Add an entity whose id is free."""
        entity = given.entity
        self._session.touch()
        bare = entity.model_copy(update={"aliases": []})
        EntityRepository(self._session).upsert(bare, origin=given.origin)
        told = given.model_dump(include={"created_at", "updated_at"}, exclude_none=True)
        if told:
            mine = (ENTITIES.c.project_id == self._session.project_id, ENTITIES.c.entity_id == entity.entity_id)
            self._session.run(ENTITIES.update().where(*mine).values(**told))
        self._session.insert(ALIASES, _alias_rows(self._session.project_id, entity, set(given.author_aliases)))

    def add_pairs(self, pairs: Sequence[ExchangedPair]) -> dict[str, str]:
        """Give pairs of characters their ids where these are free."""
        known = {(pair.character_a, pair.character_b): pair for pair in read_pairs(self._session)}
        taken = {pair.relationship_id for pair in known.values()}
        ids: dict[str, str] = {}
        for pair in pairs:
            key = (pair.character_a, pair.character_b)
            if key not in known:
                counters = CounterRepository(self._session)
                is_free = pair.relationship_id not in taken
                new_id = pair.relationship_id if is_free else counters.take("R")
                counters.jump_over([new_id])
                taken.add(new_id)
                now = self._session.now()
                known[key] = pair.model_copy(
                    update={
                        "relationship_id": new_id,
                        "created_at": pair.created_at or now,
                        "updated_at": pair.updated_at or now,
                    }
                )
                self._session.insert(
                    RELATIONSHIPS, [known[key].model_dump() | {"project_id": self._session.project_id}]
                )
            ids[pair.relationship_id] = known[key].relationship_id
        return ids

    def add_scene(self, bundle: SceneBundle, relationship_ids: dict[str, str]) -> None:
        """Add a scene with all that goes with it, at a place where none stands."""
        self._session.touch()
        scene = bundle.scene.scene
        scene_id = scene.scene_id if self._is_free(SCENES, SCENES.c.scene_id, scene.scene_id) else uuid4().hex
        label = free_label(self._session, scene.label)
        record = None if scene.record is None else scene.record.model_dump(mode="json")
        values = scene.model_dump(include=set(_SCENE_COLUMNS)) | {
            "project_id": self._session.project_id,
            "scene_id": scene_id,
            "label": label,
            "text_hash": text_hash(scene.text or ""),
            "record": record,
        }
        self._session.insert(SCENES, [values])
        place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
        names = [{"entity_id": entity_id, "name": name} for entity_id, name in bundle.scene.mentions]
        common = {"project_id": self._session.project_id, "scene_id": scene_id} | place
        self._session.insert(MENTIONS, [common | name for name in names])
        self._add_memories(bundle.memories, {label: scene_id, scene.label: scene_id})
        by_place: dict[Place, str] = {(scene.chapter_index, scene.scene_index): scene_id}
        self._insert_events(bundle, relationship_ids, by_place)

    def note_told_scenes(self, told: Mapping[ScenePlace, ToldScene]) -> None:
        """Keep what documents say of scenes beside their text and record, for those that stand at the places."""
        self._session.touch()
        scene_ids = scene_ids_at(self._session, told)
        for place, said in told.items():
            scene = SCENES.update().where(SCENES.c.scene_id == scene_ids.get(place))
            self._session.run(scene.values(**said.model_dump(exclude_none=True)))

    def add_rest(self, contents: ProjectContents, relationship_ids: dict[str, str]) -> None:
        """Add what goes with no scene of the contents, tied to the scene that stands at its place, if any."""
        self._session.touch()
        places = {(each.chapter_index, each.scene_index) for each in _positioned(contents)} | {
            (each.chunk.chapter_index, each.chunk.scene_index) for each in contents.memories
        }
        by_place = scene_ids_at(self._session, places)
        rows = [
            _chunk_row(
                self._session.project_id, memory, by_place.get((memory.chunk.chapter_index, memory.chunk.scene_index))
            )
            for memory in contents.memories
        ]
        ChunkWriter(self._session).insert(rows)
        self._insert_events(contents, relationship_ids, by_place)

    def add_summaries(self, summaries: Sequence[StoredSummary], parts: Sequence[StoryPart]) -> None:
        """Add written summaries, and the author's parts where the project has none."""
        projects = ProjectRepository(self._session)
        settings = projects.require().settings
        if parts and not settings.get("parts"):
            told = [part.model_dump(exclude={"extra"}) for part in parts]
            projects.update(settings={**settings, "parts": told})
        SummaryRepository(self._session).add(summaries)

    def add_waivers(self, waivers: Waivers) -> None:
        """Add what the author means to be so; notes that are here already stay."""
        projects = ProjectRepository(self._session)
        if waivers.conflicts:
            projects.set_waived("conflicts", {**waivers.conflicts, **projects.waived("conflicts")})
        if waivers.findings:
            projects.set_waived("findings", {**waivers.findings, **projects.waived("findings")})

    def add_consolidations(
        self, consolidations: Sequence[StoredConsolidation], memories: Sequence[ExchangedMemory]
    ) -> list[str]:
        """Add memories that stand for others, where these are stored just as they are in the contents."""
        given = {memory.chunk.chunk_id: memory.chunk for memory in memories}
        repository = ConsolidationRepository(self._session)
        left_out = []
        for each in consolidations:
            sources = [given[name] for name in each.source_ids if name in given]
            chunk = each.chunk.model_copy(update={"project_id": self._session.project_id})
            is_whole = len(sources) == len(each.source_ids)
            if not is_whole or not repository.add(chunk, sources):
                left_out.append(chunk.chunk_id)
        return left_out

    def add_character_memories(self, memories: Sequence[CharacterMemory]) -> None:
        """Add memories of characters whose ids are free; their vectors are made when they are first needed."""
        if memories:
            CharacterMemoryRepository(self._session).add(memories)
            CounterRepository(self._session).jump_over([each.memory_id for each in memories])

    def add_play(self, play: PlayContents) -> None:
        """Add feelings, secrets, disclosures and flags that are not stored yet."""
        if not play.is_empty():
            PlayRepository(self._session).add_contents(play)

    def raise_counters(self, counters: dict[str, int]) -> None:
        """Let the counters go on at least where those of the contents were."""
        kinds = {kind: number for kind, number in counters.items() if number > 0}
        CounterRepository(self._session).jump_over([f"{kind}{number - 1}" for kind, number in kinds.items()])

    def _insert_events(
        self, source: SceneBundle | ProjectContents, relationship_ids: dict[str, str], scene_ids: dict[Place, str]
    ) -> None:
        tables: tuple[tuple[Table, Sequence[Any]], ...] = (
            (STATES, source.states),
            (LOOP_EVENTS, source.loop_events),
            (RELATIONSHIP_CHANGES, source.relationship_changes),
            (KNOWLEDGE_EVENTS, source.knowledge),
        )
        for table, events in tables:
            rows = [_event_row(self._session.project_id, event, relationship_ids, scene_ids) for event in events]
            self._session.insert(table, rows)
        loops = {event.loop_id for event in source.loop_events}
        CounterRepository(self._session).jump_over(loops)

    def _add_memories(self, memories: Sequence[ExchangedMemory], scene_ids: dict[str, str]) -> None:
        rows = [
            _chunk_row(self._session.project_id, memory, scene_ids.get(memory.scene_label or "")) for memory in memories
        ]
        ChunkWriter(self._session).insert(rows)

    def _is_free(self, table: Table, column: Any, value: str) -> bool:
        return bool(value) and self._session.connection.scalar(select(column).where(column == value)) is None


def _alias_rows(project_id: str, entity: Entity, by_author: set[str]) -> list[dict[str, Any]]:
    return [
        alias.model_dump()
        | {
            "project_id": project_id,
            "entity_id": entity.entity_id,
            "alias_key": name_key(alias.alias),
            "by_author": alias.alias in by_author,
        }
        for alias in {alias.alias: alias for alias in entity.aliases}.values()
    ]


def _chunk_row(project_id: str, memory: ExchangedMemory, scene_id: str | None) -> dict[str, Any]:
    chunk = memory.chunk.model_copy(update={"project_id": project_id})
    return chunk_values(chunk, chunk.entities_mentioned) | {
        "scene_id": scene_id,
        "from_scene": memory.from_scene,
        "chapter_index": chunk.chapter_index,
        "scene_index": chunk.scene_index,
        "created_at": chunk.created_at,
        "status": memory.status,
        "pinned": memory.pinned,
        "attached": memory.attached,
        "detached": memory.detached,
        "last_accessed_at": memory.last_accessed_at,
    }


def _event_row(
    project_id: str, event: Any, relationship_ids: dict[str, str], scene_ids: dict[Place, str]
) -> dict[str, Any]:
    has_quote = isinstance(event, ExchangedState | ExchangedKnowledge)
    columns = with_span_columns(event) if has_quote else event.model_dump()
    values = {name: value for name, value in columns.items() if name != "scene_label"}
    if "relationship_id" in values:
        values["relationship_id"] = relationship_ids.get(values["relationship_id"], values["relationship_id"])
    place = (event.chapter_index, event.scene_index)
    return values | {"project_id": project_id, "scene_id": scene_ids.get(place)}


def _positioned(contents: ProjectContents) -> list[Any]:
    return [*contents.states, *contents.loop_events, *contents.relationship_changes, *contents.knowledge]
