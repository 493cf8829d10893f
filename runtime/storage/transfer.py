"""A project's contents whole, as they are exported, and going into another project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, Field
from sqlalchemy import Table, select

from novelgen.characters.memory import CharacterMemory
from novelgen.language.normalise import name_key
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import UtcDatetime
from novelgen.models.state import RelationshipDimension, StateChange
from novelgen.models.user_file import StoryPart
from runtime.storage.characters import CharacterMemoryRepository
from runtime.storage.chunks import ChunkWriter, chunk_values, text_hash
from runtime.storage.consolidations import ConsolidationRepository, StoredConsolidation
from runtime.storage.entities import EntityRepository
from runtime.storage.events import span_of, with_span_columns
from runtime.storage.outline import StoredSummary, SummaryRepository, stored_summaries
from runtime.storage.play import PlayContents, PlayRepository
from runtime.storage.projects import CounterRepository, ProjectRepository
from runtime.storage.records import EntityOrigin, EventOrigin, MemoryStatus, ScenePlace, StoredKnowledge, StoredScene
from runtime.storage.scene_writer import free_label
from runtime.storage.scenes import SceneRepository
from runtime.storage.session import AnyRow, Place, Repository, StorageSession, scene_ids_at, story_order
from runtime.storage.tables import (
    ALIASES,
    CHUNKS,
    COUNTERS,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)

LoopEventKind = Literal["planted", "advanced", "resolved", "abandoned"]


class ExchangedEntity(BaseModel):
    """An entity, and which of its aliases an author wrote."""

    entity: Entity
    origin: EntityOrigin = "author"
    author_aliases: list[str] = Field(default_factory=list)
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None

    def tells_the_same(self, other: ExchangedEntity) -> bool:
        """Tell whether both say the same of an entity, whenever they did."""
        moments = {"created_at", "updated_at"}
        return self.model_dump(exclude=moments) == other.model_dump(exclude=moments)


class ExchangedState(StateChange):
    """A state change; `scene_label` is the scene that it goes with."""

    origin: EventOrigin = "author"
    scene_label: str | None = None
    created_at: UtcDatetime
    detail: dict[str, Any] = Field(
        default_factory=dict, description="What a history says of it beside, such as a summary."
    )


class ExchangedLoopEvent(BaseModel):
    """An event of an open loop; `detail` describes it where it was planted."""

    loop_id: str
    kind: LoopEventKind
    note: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)
    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedPair(BaseModel):
    """The id of a relationship; `character_a` sorts before `character_b`."""

    relationship_id: str
    character_a: str
    character_b: str
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )


class ExchangedRelationshipChange(BaseModel):
    """How a pair stood after a scene; None leaves the earlier value."""

    relationship_id: str
    relationship_type: str | None = None
    status: str | None = None
    perspective_a: str | None = None
    perspective_b: str | None = None
    intensity: int | None = Field(default=None, ge=0, le=10)
    dimensions: dict[RelationshipDimension, int] = Field(default_factory=dict)
    dimensions_a: dict[RelationshipDimension, int] | None = None
    dimensions_b: dict[RelationshipDimension, int] | None = None
    event: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedKnowledge(StoredKnowledge):
    """What is said of who knows a memory; `scene_label` is the scene that it goes with."""

    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedMemory(BaseModel):
    """A memory with what the author decided about it."""

    chunk: StoryMemoryChunk
    status: MemoryStatus = "active"
    pinned: bool = False
    from_scene: bool = True
    attached: list[str] = Field(default_factory=list, description="Targets that were set by hand.")
    detached: list[str] = Field(default_factory=list, description="Targets that were taken off by hand.")
    last_accessed_at: UtcDatetime | None = None
    scene_label: str | None = None


class ExchangedScene(BaseModel):
    """A scene with its text and the names that stand in it."""

    scene: StoredScene
    mentions: list[tuple[str, str]] = Field(default_factory=list, description="(entity_id, name)")


class Waivers(BaseModel):
    """What the author means to be so, as id and note: contradictions of the story, and findings in drafts."""

    conflicts: dict[str, str] = Field(default_factory=dict)
    findings: dict[str, str] = Field(default_factory=dict)

    def is_empty(self) -> bool:
        """Whether nothing is waived."""
        return not (self.conflicts or self.findings)


class ProjectContents(BaseModel):
    """All that a project holds; lists in an order that can be stored again."""

    name: str = ""
    language: str = ""
    entities: list[ExchangedEntity] = Field(default_factory=list)
    scenes: list[ExchangedScene] = Field(default_factory=list)
    memories: list[ExchangedMemory] = Field(default_factory=list)
    states: list[ExchangedState] = Field(default_factory=list)
    loop_events: list[ExchangedLoopEvent] = Field(default_factory=list)
    pairs: list[ExchangedPair] = Field(default_factory=list)
    relationship_changes: list[ExchangedRelationshipChange] = Field(default_factory=list)
    knowledge: list[ExchangedKnowledge] = Field(default_factory=list)
    parts: list[StoryPart] = Field(default_factory=list, description="As the author said them.")
    summaries: list[StoredSummary] = Field(default_factory=list, description="Written ones only.")
    consolidations: list[StoredConsolidation] = Field(
        default_factory=list, description="Memories that stand for others; not among `memories`."
    )
    character_memories: list[CharacterMemory] = Field(
        default_factory=list, description="What characters remember by themselves, deleted memories too."
    )
    play: PlayContents = Field(
        default_factory=PlayContents, description="What characters feel, keep secret and told; flags."
    )
    waivers: Waivers = Field(default_factory=Waivers)
    counters: dict[str, int] = Field(default_factory=dict, description="Kind of id to its next number.")


class SceneBundle(BaseModel):
    """A scene with all that goes with it."""

    scene: ExchangedScene
    memories: list[ExchangedMemory] = Field(default_factory=list)
    states: list[ExchangedState] = Field(default_factory=list)
    loop_events: list[ExchangedLoopEvent] = Field(default_factory=list)
    relationship_changes: list[ExchangedRelationshipChange] = Field(default_factory=list)
    knowledge: list[ExchangedKnowledge] = Field(default_factory=list)


class ToldScene(BaseModel):
    """What another program's document says of a scene beside its text and record."""

    created_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(default_factory=dict)


def read_contents(session: StorageSession) -> ProjectContents:
    """Return everything that a project holds, but for vectors and the journal of merges."""
    projects = ProjectRepository(session)
    project = projects.require()
    labels = {
        row[0]: row[1] for row in session.rows(select(SCENES.c.scene_id, SCENES.c.label).where(session.owns(SCENES)))
    }
    events = _EventReader(session, labels)
    consolidations = ConsolidationRepository(session).list_all()
    derived = {each.chunk.chunk_id for each in consolidations}
    return ProjectContents(
        name=project.name,
        language=project.language,
        entities=_entities(session),
        scenes=_scenes(session),
        memories=[_memory(row, labels) for row in events.rows(CHUNKS) if row.chunk_id not in derived],
        states=[
            ExchangedState(**events.values(row, ExchangedState, derived=("source_span",)), source_span=span_of(row))
            for row in events.rows(STATES)
        ],
        loop_events=[ExchangedLoopEvent(**events.values(row, ExchangedLoopEvent)) for row in events.rows(LOOP_EVENTS)],
        pairs=read_pairs(session),
        relationship_changes=[
            ExchangedRelationshipChange(**events.values(row, ExchangedRelationshipChange))
            for row in events.rows(RELATIONSHIP_CHANGES)
        ],
        knowledge=[
            ExchangedKnowledge(
                **events.values(row, ExchangedKnowledge, derived=("source_span",)), source_span=span_of(row)
            )
            for row in events.rows(KNOWLEDGE_EVENTS)
        ],
        parts=project.settings.get("parts", []),
        summaries=stored_summaries(session),
        consolidations=consolidations,
        character_memories=CharacterMemoryRepository(session).list_project(),
        play=PlayRepository(session).contents(),
        waivers=Waivers(conflicts=projects.waived("conflicts"), findings=projects.waived("findings")),
        counters=_counters(session),
    )


class _EventReader:
    """Reads tables whose rows have a position and may belong to a scene."""

    def __init__(self, session: StorageSession, labels: dict[str, str]) -> None:
        self._session = session
        self._labels = labels

    def rows(self, table: Table) -> list[AnyRow]:
        statement = select(table).where(self._session.owns(table)).order_by(*story_order(table), table.c.row_id)
        return list(self._session.own(self._session.rows(statement)))

    def values(self, row: AnyRow, model: type[Any], *, derived: Collection[str] = ()) -> dict[str, Any]:
        given_apart = {"scene_label", *derived}
        copied = {name: getattr(row, name) for name in model.model_fields if name not in given_apart}
        return copied | {"scene_label": self._labels.get(row.scene_id)}


def _entities(session: StorageSession) -> list[ExchangedEntity]:
    by_author: dict[str, list[str]] = defaultdict(list)
    statement = select(ALIASES.c.entity_id, ALIASES.c.alias).where(session.owns(ALIASES), ALIASES.c.by_author)
    for row in session.rows(statement.order_by(ALIASES.c.row_id)):
        by_author[row.entity_id].append(row.alias)
    return [
        ExchangedEntity(
            entity=stored.entity,
            origin=stored.origin,
            author_aliases=by_author.get(stored.entity.entity_id, []),
            created_at=stored.created_at,
            updated_at=stored.updated_at,
        )
        for stored in EntityRepository(session).list_all()
    ]


def _scenes(session: StorageSession) -> list[ExchangedScene]:
    statement = select(MENTIONS).where(session.owns(MENTIONS))
    mentions: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in session.rows(statement.order_by(MENTIONS.c.entity_id, MENTIONS.c.name)):
        mentions[row.scene_id].append((row.entity_id, row.name))
    scenes = SceneRepository(session).list_as_of(with_text=True)
    return [ExchangedScene(scene=scene, mentions=mentions[scene.scene_id]) for scene in scenes]


def _memory(row: AnyRow, labels: dict[str, str]) -> ExchangedMemory:
    fields = set(StoryMemoryChunk.model_fields) - {"source_span", "superseded_by", "attached_to"}
    chunk = StoryMemoryChunk(**{name: getattr(row, name) for name in fields}, source_span=span_of(row))
    return ExchangedMemory(
        chunk=chunk,
        status=row.status,
        pinned=row.pinned,
        from_scene=row.from_scene,
        attached=row.attached,
        detached=row.detached,
        last_accessed_at=row.last_accessed_at,
        scene_label=labels.get(row.scene_id),
    )


def read_pairs(session: StorageSession) -> list[ExchangedPair]:
    """Return the pairs of characters that have a relationship's id, in order of id."""
    statement = select(RELATIONSHIPS).where(session.owns(RELATIONSHIPS))
    pairs = [ExchangedPair.model_validate(row, from_attributes=True) for row in session.rows(statement)]
    return sorted(pairs, key=lambda pair: (len(pair.relationship_id), pair.relationship_id))


def _counters(session: StorageSession) -> dict[str, int]:
    statement = select(COUNTERS.c.kind, COUNTERS.c.next_number).where(session.owns(COUNTERS))
    return {row.kind: row.next_number for row in session.rows(statement.order_by(COUNTERS.c.kind))}


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
