"""A project's contents whole, as they are exported, and going into another project."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, Field
from sqlmodel import col

from novelgen.characters.memory import CharacterMemory
from novelgen.language.normalise import name_key
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import UtcDatetime
from novelgen.models.user_file import StoryPart
from runtime.storage.characters import CharacterMemoryRepository, PlayContents, PlayRepository
from runtime.storage.chunks import ChunkWriter, ConsolidationRepository, StoredConsolidation, chunk_values, text_hash
from runtime.storage.columns import PLACE, ScenePlace
from runtime.storage.entities import EntityRepository
from runtime.storage.models import StoredEntity, StoredMemory
from runtime.storage.outline import SummaryRepository, stored_summaries
from runtime.storage.projects import CounterRepository, ProjectRepository, Waivable
from runtime.storage.records import (
    EVENT_TABLES,
    AliasRow,
    EntityRow,
    IdCounter,
    Knowledge,
    LoopEvent,
    MemoryRow,
    NameMention,
    Pair,
    RelationshipChange,
    Row,
    Scene,
    State,
    Summary,
)
from runtime.storage.scene_writer import free_label
from runtime.storage.scenes import SceneRepository
from runtime.storage.session import Place, Record, Repository, StorageSession, grouped, scene_ids_at, story_order


class Waivers(BaseModel):
    """The author's waivers by id: conflicts and findings."""

    conflicts: dict[str, str] = Field(default_factory=dict)
    findings: dict[str, str] = Field(default_factory=dict)

    def is_empty(self) -> bool:
        """Whether nothing is waived."""
        return not (self.conflicts or self.findings)


class PlacedContents(BaseModel):
    """Contents with story places, in storable order.

    Its `scene_id` is that of a scene of the same contents; storing it may give that scene another id.
    """

    memories: list[StoredMemory] = Field(default_factory=list)
    states: list[State] = Field(default_factory=list)
    loop_events: list[LoopEvent] = Field(default_factory=list)
    relationship_changes: list[RelationshipChange] = Field(default_factory=list)
    knowledge: list[Knowledge] = Field(default_factory=list)

    def events(self) -> dict[type[Row], Sequence[Any]]:
        """Return the events by their tables."""
        return {
            State: self.states,
            LoopEvent: self.loop_events,
            RelationshipChange: self.relationship_changes,
            Knowledge: self.knowledge,
        }


class ProjectContents(PlacedContents):
    """All contents of a project, in storable order."""

    name: str = ""
    language: str = ""
    entities: list[StoredEntity] = Field(default_factory=list)
    scenes: list[Scene] = Field(default_factory=list)
    mentions: dict[str, list[tuple[str, str]]] = Field(
        default_factory=dict, description="Id of a scene to the (entity_id, name) of the names that stand in it."
    )
    pairs: list[Pair] = Field(default_factory=list)
    parts: list[StoryPart] = Field(default_factory=list, description="As the author said them.")
    summaries: list[Summary] = Field(default_factory=list, description="Written ones only.")
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


class SceneBundle(PlacedContents):
    """A scene with all that goes with it, and the (entity_id, name) of the names that stand in it."""

    scene: Scene
    mentions: list[tuple[str, str]] = Field(default_factory=list)


class ToldScene(BaseModel):
    """Foreign document fields of a scene."""

    created_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(default_factory=dict)


def _in_order(session: StorageSession, table: type[Record]) -> list[Record]:
    columns: Any = table
    return session.read(table, order=[*story_order(columns), columns.row_id])


def _memory_of_row(row: MemoryRow) -> StoredMemory:
    """Return an original memory, with its manual changes."""
    chunk = {name: getattr(row, name) for name in StoryMemoryChunk.model_fields if name in MemoryRow.model_fields}
    marks = {name: getattr(row, name) for name in StoredMemory.model_fields if name in MemoryRow.model_fields}
    return StoredMemory(chunk=StoryMemoryChunk(**chunk, source_span=row.source_span), **marks)


def read_pairs(session: StorageSession) -> list[Pair]:
    """Return the pairs of characters that have a relationship's id, in order of id."""
    return sorted(session.read(Pair), key=lambda pair: (len(pair.relationship_id), pair.relationship_id))


class ExchangeRepository(Repository):
    """Reads contents whole, and adds contents without changing anything that is stored."""

    def contents(self) -> ProjectContents:
        """Return everything that a project holds, but for vectors and the journal."""
        session = self._session
        projects = ProjectRepository(session)
        project = projects.require()
        consolidations = ConsolidationRepository(session).list_all()
        derived = {stored_consolidation.chunk.chunk_id for stored_consolidation in consolidations}
        by_name = [col(NameMention.entity_id), col(NameMention.name)]
        mentions = grouped(session.read(NameMention, order=by_name), "scene_id")
        return ProjectContents(
            name=project.name,
            language=project.language,
            entities=EntityRepository(session).list_all(),
            scenes=SceneRepository(session).list_as_of(with_text=True),
            mentions={scene_id: [(row.entity_id, row.name) for row in rows] for scene_id, rows in mentions.items()},
            memories=[_memory_of_row(row) for row in _in_order(session, MemoryRow) if row.chunk_id not in derived],
            states=_in_order(session, State),
            loop_events=_in_order(session, LoopEvent),
            pairs=read_pairs(session),
            relationship_changes=_in_order(session, RelationshipChange),
            knowledge=_in_order(session, Knowledge),
            parts=project.settings.get("parts", []),
            summaries=stored_summaries(session),
            consolidations=consolidations,
            character_memories=CharacterMemoryRepository(session).list_project(),
            play=PlayRepository(session).contents(),
            waivers=Waivers(conflicts=projects.waived("conflicts"), findings=projects.waived("findings")),
            counters=dict(sorted(session.pairs(IdCounter.kind, col(IdCounter.next_number)).items())),
        )

    def add_entity(self, stored_entity: StoredEntity) -> None:
        """Add an entity with a free id."""
        entity = stored_entity.entity
        self._session.touch()
        bare = entity.model_copy(update={"aliases": []})
        EntityRepository(self._session).upsert(bare, origin=stored_entity.origin)
        fields = stored_entity.model_dump(include={"created_at", "updated_at"}, exclude_none=True)
        if fields:
            self._session.update(EntityRow, EntityRow.entity_id == entity.entity_id, **fields)
        aliases = []
        for name, alias in {alias.alias: alias for alias in entity.aliases}.items():
            own = {"entity_id": entity.entity_id, "alias_key": name_key(name)}
            aliases.append({**alias.model_dump(), **own, "by_author": name in stored_entity.author_aliases})
        self._session.insert(AliasRow, aliases)

    def add_pairs(self, pairs: Sequence[Pair]) -> dict[str, str]:
        """Give pairs of characters their ids where these are free."""
        pair_ids_by_key = {
            (pair.character_a, pair.character_b): pair.relationship_id for pair in read_pairs(self._session)
        }
        counters, now = CounterRepository(self._session), self._session.now()
        ids: dict[str, str] = {}
        for pair in pairs:
            key = (pair.character_a, pair.character_b)
            if key not in pair_ids_by_key:
                is_free = pair.relationship_id not in pair_ids_by_key.values()
                pair_ids_by_key[key] = pair.relationship_id if is_free else counters.take("R")
                counters.jump_over([pair_ids_by_key[key]])
                moments = {"created_at": pair.created_at or now, "updated_at": pair.updated_at or now}
                self._session.add(pair.model_copy(update={**moments, "relationship_id": pair_ids_by_key[key]}))
            ids[pair.relationship_id] = pair_ids_by_key[key]
        return ids

    def add_scene(self, bundle: SceneBundle, relationship_ids: dict[str, str]) -> None:
        """Add a scene with all that goes with it, at a place where none stands."""
        self._session.touch()
        scene = bundle.scene
        is_free = bool(scene.scene_id) and not SceneRepository(self._session).holds_id(scene.scene_id)
        scene_id = scene.scene_id if is_free else uuid4().hex
        label = free_label(self._session, scene.label)
        text = scene.text or ""
        own = {"scene_id": scene_id, "label": label, "text": text, "text_hash": text_hash(text)}
        self._session.add(scene.model_copy(update=own))
        here = {"scene_id": scene_id, "chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
        self._session.insert(
            NameMention, [here | {"entity_id": entity_id, "name": name} for entity_id, name in bundle.mentions]
        )
        ChunkWriter(self._session).insert([_chunk_row(memory, scene_id) for memory in bundle.memories])
        by_place: dict[Place, str] = {(scene.chapter_index, scene.scene_index): scene_id}
        self._insert_events(bundle, relationship_ids, by_place)

    def note_told_scenes(self, scenes_by_place: Mapping[ScenePlace, ToldScene]) -> None:
        """Store foreign document fields of scenes."""
        self._session.touch()
        scene_ids = scene_ids_at(self._session, scenes_by_place)
        for place, scene_telling in scenes_by_place.items():
            self._session.update(
                Scene, Scene.scene_id == scene_ids.get(place), **scene_telling.model_dump(exclude_none=True)
            )

    def tie_to_scenes(self, places: Collection[ScenePlace]) -> None:
        """Let events that came before their scenes go with those that stand at the places now."""
        self._session.touch()
        for place, scene_id in scene_ids_at(self._session, places).items():
            for table in EVENT_TABLES:
                at_place = (getattr(table, name) == number for name, number in zip(PLACE, place, strict=True))
                self._session.update(table, *at_place, table.scene_id.is_(None), scene_id=scene_id)

    def add_rest(self, contents: ProjectContents, relationship_ids: dict[str, str]) -> None:
        """Add contents outside scenes, tied to scenes at their places."""
        self._session.touch()
        memories = [(memory, (memory.chunk.chapter_index, memory.chunk.scene_index)) for memory in contents.memories]
        places = {(item.chapter_index, item.scene_index) for item in chain(*contents.events().values())}
        by_place = scene_ids_at(self._session, places.union(place for _, place in memories))
        rows = [_chunk_row(memory, None if _is_said(memory) else by_place.get(place)) for memory, place in memories]
        ChunkWriter(self._session).insert(rows)
        self._insert_events(contents, relationship_ids, by_place)

    def add_summaries(self, summaries: Sequence[Summary], parts: Sequence[StoryPart]) -> None:
        """Add written summaries, and the author's parts where the project has none."""
        projects = ProjectRepository(self._session)
        settings = projects.require().settings
        if parts and not settings.get("parts"):
            entries = [part.model_dump(exclude={"extra"}) for part in parts]
            projects.update(settings={**settings, "parts": entries})
        SummaryRepository(self._session).add(summaries)

    def add_waivers(self, waivers: Waivers) -> None:
        """Add waivers, keeping existing notes."""
        projects = ProjectRepository(self._session)
        payload: dict[Waivable, dict[str, str]] = {"conflicts": waivers.conflicts, "findings": waivers.findings}
        for what, notes in payload.items():
            if notes:
                projects.set_waived(what, {**notes, **projects.waived(what)})

    def add_consolidations(
        self, consolidations: Sequence[StoredConsolidation], memories: Sequence[StoredMemory]
    ) -> list[str]:
        """Add memories that stand for others, where these are stored just as they are in the contents."""
        memories_by_id = {memory.chunk.chunk_id: memory.chunk for memory in memories}
        repository = ConsolidationRepository(self._session)
        left_out = []
        for stored_consolidation in consolidations:
            chunk = stored_consolidation.chunk.model_copy(update={"project_id": self.project_id})
            is_whole = memories_by_id.keys() >= set(stored_consolidation.source_ids)
            if not (
                is_whole and repository.add(chunk, [memories_by_id[name] for name in stored_consolidation.source_ids])
            ):
                left_out.append(chunk.chunk_id)
        return left_out

    def add_character_memories(self, memories: Sequence[CharacterMemory]) -> None:
        """Add character memories with free ids, without vectors."""
        if memories:
            CharacterMemoryRepository(self._session).add(memories)
            CounterRepository(self._session).jump_over([memory.memory_id for memory in memories])

    def add_play(self, play: PlayContents) -> None:
        """Add feelings, secrets, disclosures and flags that are not stored yet."""
        if not play.is_empty():
            PlayRepository(self._session).add_contents(play)

    def raise_counters(self, counters: dict[str, int]) -> None:
        """Let the counters go on at least where those of the contents were."""
        kinds = {kind: number for kind, number in counters.items() if number > 0}
        CounterRepository(self._session).jump_over([f"{kind}{number - 1}" for kind, number in kinds.items()])

    def _insert_events(
        self, source: PlacedContents, relationship_ids: dict[str, str], scene_ids: dict[Place, str]
    ) -> None:
        for table, events in source.events().items():
            rows = []
            for event in events:
                is_said = event.origin == "author" and event.scene_id is None
                scene_id = None if is_said else scene_ids.get((event.chapter_index, event.scene_index))
                row = event.as_new() | {"scene_id": scene_id}
                if table is RelationshipChange:
                    row["relationship_id"] = relationship_ids.get(event.relationship_id, event.relationship_id)
                rows.append(row)
            self._session.insert(table, rows)
        CounterRepository(self._session).jump_over({event.loop_id for event in source.loop_events})


def _is_said(memory: StoredMemory) -> bool:
    """Tell whether an author's note keeps its place between the scenes and goes with none of them."""
    return not memory.from_scene and memory.scene_id is None


def _chunk_row(memory: StoredMemory, scene_id: str | None) -> dict[str, Any]:
    chunk = memory.chunk
    place = {name: getattr(chunk, name) for name in ("chapter_index", "scene_index", "created_at")}
    marks = {name: getattr(memory, name) for name in StoredMemory.model_fields if name in MemoryRow.model_fields}
    return chunk_values(chunk, chunk.entities_mentioned) | place | marks | {"scene_id": scene_id}
