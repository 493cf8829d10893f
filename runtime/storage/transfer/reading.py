"""Reading a project's contents whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import Table, select

from novelgen.models.memory import StoryMemoryChunk
from runtime.storage.character.dispositions import PlayRepository
from runtime.storage.character.memories import CharacterMemoryRepository
from runtime.storage.cuts import story_order
from runtime.storage.entity.entities import EntityRepository
from runtime.storage.memory.consolidations import ConsolidationRepository
from runtime.storage.projects import ProjectRepository
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.story.scenes import SceneRepository
from runtime.storage.story.states import span_of
from runtime.storage.story.summaries import stored_summaries
from runtime.storage.tables import (
    ALIASES,
    CHUNKS,
    COUNTERS,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)
from runtime.storage.transfer.records import (
    ExchangedEntity,
    ExchangedKnowledge,
    ExchangedLoopEvent,
    ExchangedMemory,
    ExchangedPair,
    ExchangedRelationshipChange,
    ExchangedScene,
    ExchangedState,
    ProjectContents,
    Waivers,
)


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
