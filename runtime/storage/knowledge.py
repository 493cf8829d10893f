"""Appended statements on character knowledge, valid from their scenes."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from sqlalchemy import Text, cast
from sqlmodel import case, col

from novelgen.memory.attributes import STATUS_ATTRIBUTES, deaths
from novelgen.memory.identities import Identities
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.memory.told_identity import tells_only_identity
from novelgen.models.entity import Entity
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.memory import BOOK, is_entity_target, linked_targets
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.columns import WITHOUT_RECORD
from runtime.storage.damage import readable_json
from runtime.storage.entities import EntityRepository
from runtime.storage.living_casts import living_casts
from runtime.storage.records import SCENE_RECORD, Knowledge, LoopEvent, MemoryRow, Scene, State
from runtime.storage.session import (
    Repository,
    StorageSession,
    before,
    columns_of,
    decoded_json,
    order_in_force,
    said_at,
    story_order,
    unconsolidated,
    within,
)

KNOWLEDGE_ATTRIBUTE = "knowledge"
"""Attribute of a state: what a character knows, in words."""

FACT_TYPES = ("memory", "note")
"""Kinds of memories that somebody can know: one fact each."""


class KnowledgeRepository(Repository):
    """Repository of knowledge statements."""

    def say(self, statement: Knowledge, *, follows_scene: bool = True) -> None:
        """Store the author's word, in place of an earlier one on the same person, memory and position.

        Who stands on a note's list of all that know it stays on it.

        Args:
            statement: Who knows what, from where on.
            follows_scene: It goes with the scene at its place; else it keeps its place between the scenes.
        """
        self._session.touch()
        table = Knowledge
        of_both = (
            *_by_author(statement.character_id, statement.source_id),
            col(table.chapter_index).is_not_distinct_from(statement.chapter_index),
            col(table.scene_index).is_not_distinct_from(statement.scene_index),
        )
        earlier = _read_statements(self._session, *of_both)
        is_listed = any(word.kind == "knows" and not word.adds_knower for word in earlier)
        self._session.delete(table, *of_both)
        fields = {"adds_knower": statement.adds_knower and not is_listed}
        here = said_at(self._session, statement, follows_scene=follows_scene)
        self._session.add(statement.model_copy(update=here | fields))

    def move(self, source_id: str, *, at: StoryPosition, to: StoryPosition, follows_scene: bool) -> None:
        """Move what the author said of a note where it stood to where it stands now."""
        for statement in _read_statements(self._session, *_by_author_on(source_id)):
            if (statement.chapter_index, statement.scene_index) == (at.chapter_index, at.scene_index):
                here = said_at(self._session, to, follows_scene=follows_scene)
                self._session.update(Knowledge, Knowledge.row_id == statement.row_id, **here)

    def forget(self, character_id: str, source_id: str) -> list[Knowledge]:
        """Take back all that the author said of one person and one memory, and return it in story order."""
        self._session.touch()
        about = _by_author(character_id, source_id)
        statements = _read_statements(self._session, *about)
        self._session.delete(Knowledge, *about)
        return statements

    def author_said(self, character_id: str, source_id: str) -> list[Knowledge]:
        """Return all that the author said of one person and one memory, in story order."""
        return _read_statements(self._session, *_by_author(character_id, source_id))

    def said(self, *, as_of: StoryPosition = END_OF_STORY) -> list[Knowledge]:
        """Return statements before a position in order, the author's last."""
        return _read_statements(self._session, before(as_of, Knowledge))

    def said_between(self, since: StoryPosition, until: StoryPosition) -> list[Knowledge]:
        """Return statements between two positions, in order."""
        return _read_statements(self._session, within(since, until, Knowledge))

    def words_on_nothing(self) -> list[str]:
        """Return ids of missing memories and threads with an author's knowledge statements."""
        table = Knowledge
        source_ids = set(self._session.values(table.source_id, table.origin == "author", table.source_id != ALL_LIVED))
        for column in (col(MemoryRow.source_id), col(MemoryRow.chunk_id)):
            source_ids -= set(self._session.values(column, self._session.among(column, source_ids)))
        source_ids -= _thread_ids(self._session, source_ids)
        return sorted(source_ids)


def _by_author(character_id: str, source_id: str) -> tuple[Any, ...]:
    return Knowledge.character_id == character_id, *_by_author_on(source_id)


def _by_author_on(source_id: str) -> tuple[Any, ...]:
    return Knowledge.origin == "author", Knowledge.source_id == source_id


def read_knowledge_story(session: StorageSession, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story before a position, for knowledge rules.

    Facts are what scenes brought and the author's notes, outdated ones as well: somebody may know them still. Left
    out are what the author banned or deleted, and what stands for others, which are here themselves. Who was known
    by another name until the story showed it counts as one person.
    """
    entities = EntityRepository(session)
    stored_entities = [entity.entity for entity in entities.list_all()]
    known_entities = entities.list_as_of(as_of=as_of)
    identities = entities.identities_as_of(as_of)
    unmasked = identities.persons
    statements = [_as_one(statement, unmasked) for statement in _read_statements(session, before(as_of, Knowledge))]
    names = ("scene_id", "chapter_index", "scene_index", "text", "record_origin", "pov", "staged")
    is_readable = readable_json(session, col(Scene.record))
    is_read = case((is_readable, SCENE_RECORD["knowledge_read"].as_boolean())).label("is_read")
    columns = [*columns_of(Scene, names), is_read, cast(col(Scene.participants), Text)]
    scenes = session.select(columns, before(as_of, Scene), order=story_order(Scene))
    memories = _told_to_all(
        _memories(session, as_of, statements, {row[0]: row[3] for row in scenes}, unmasked), identities, stored_entities
    )
    positions = {memory.source_id: memory.position for memory in memories}
    # A supplied record that says who learnt what says all of it; what a model told beside other things may be a part.
    telling = {
        _place_of(statement)
        for statement in statements
        if statement.origin == "record" and not _is_of_own(statement, positions)
    }
    threads = _thread_ids(session, {statement.source_id for statement in statements} - positions.keys())
    learnings_by_id, dead = _learnings_and_dead(session, as_of, identities)
    project = session.project()
    # Decode lists of JSON all at once: there are tens of thousands.
    casts = living_casts(session, scenes, decoded_json([row[-1] for row in scenes]), as_of=as_of)
    return KnowledgeStory(
        as_of=as_of,
        scenes=[
            KnowledgeScene(
                position=(position := StoryPosition(row[1], row[2])),
                present=frozenset(present),
                text=row[3] or "",
                tells_knowledge=bool(row.is_read) or (position in telling and row.record_origin != "extracted"),
                has_record=row.record_origin != WITHOUT_RECORD or "participants" in row.staged,
                learnt=learnings_by_id.get(position, {}),
                pov=unmasked.get(row.pov or "", row.pov or ""),
            )
            for row, present in zip(scenes, casts, strict=True)
        ],
        memories=memories,
        names=_names_shown(stored_entities, known_entities, memories),
        character_ids=frozenset(
            entity.entity_id
            for entity in stored_entities
            if entity.entity_type == "character" and entity.entity_id not in unmasked
        ),
        events=[
            statement.event()
            for statement in statements
            if statement.source_id == ALL_LIVED
            or statement.source_id in threads
            or _is_told_by_then(statement, positions)
        ],
        language=project.language if project is not None else "",
        dead=dead,
        entering=frozenset(unmasked.get(who, who) for who in _stated_cast(session, as_of))
        if any(memory.begins_at(as_of) for memory in memories)
        else frozenset(),
        entities=known_entities,
    )


def _thread_ids(session: StorageSession, source_ids: Collection[str]) -> set[str]:
    """Return the ids of threads among others."""
    return set(session.values(LoopEvent.loop_id, session.among(LoopEvent.loop_id, source_ids))) if source_ids else set()


def _stated_cast(session: StorageSession, place: StoryPosition) -> Sequence[str]:
    """Return the author's cast of the scene at a place."""
    is_there = (Scene.chapter_index == place.chapter_index, Scene.scene_index == place.scene_index)
    row = session.one(columns_of(Scene, ("participants", "staged")), *is_there)
    return row.participants if row is not None and "participants" in row.staged else ()


def _memories(
    session: StorageSession,
    as_of: StoryPosition,
    statements: Sequence[Knowledge],
    texts: Mapping[str, str],
    unmasked: Mapping[str, str],
) -> list[KnowledgeMemory]:
    told_by = ("chunk_id", "source_id", "scene_id", "chapter_index", "scene_index", "content", "event_type")
    lists = (cast(column, Text) for column in columns_of(MemoryRow, ("entities_mentioned", "attached", "detached")))
    rows = session.select(
        [*columns_of(MemoryRow, (*told_by, "span_start", "span_end", "from_scene")), *lists],
        MemoryRow.status == "active",
        col(MemoryRow.content_type).in_(FACT_TYPES),
        unconsolidated(session.project_id, as_of),
        # Where the author edited one, it stands before what a later reading of its scene says in its place.
        order=(*story_order(MemoryRow), case((MemoryRow.origin == "author", 0), else_=1), col(MemoryRow.row_id)),
    )
    # Tens of thousands of memories are of some scenes and about some people: each place and list is made once.
    position = cache(StoryPosition)
    linked_lru_cache_wrapper = cache(partial(_linked_entities, unmasked=unmasked))
    by_id: dict[str, KnowledgeMemory] = {}
    for chunk_id, source, scene_id, chapter, scene, content, event_type, start, end, from_scene, *targets in rows:
        source_id = source or chunk_id
        if source_id in by_id:
            continue
        about, is_for_all = linked_lru_cache_wrapper(*targets)
        by_id[source_id] = KnowledgeMemory(
            source_id=source_id,
            content=content,
            # A note has no scene in which anybody could have witnessed it.
            position=position(chapter, scene) if from_scene else None,
            entities=about,
            is_for_all=not from_scene and is_for_all,
            noted_at=None if from_scene or chapter is None else position(chapter, scene),
            is_of_scene=not from_scene and scene_id is not None,
            event_type=event_type,
            quote=(texts.get(scene_id) or "")[start:end] if start is not None else "",
        )
    positions = {memory.source_id: memory.position for memory in by_id.values()}
    known_by = {
        statement.source_id
        for statement in statements
        if statement.origin == "record" and statement.kind == "knows" and _is_of_own(statement, positions)
    }
    return [
        replace(memory, tells_knowers=True) if memory.source_id in known_by else memory for memory in by_id.values()
    ]


def _told_to_all(
    memories: list[KnowledgeMemory], identities: Identities, stored_entities: Sequence[Entity]
) -> list[KnowledgeMemory]:
    """Return memories, mere identities marked as told."""
    names = {entity.entity_id: entity.names() for entity in stored_entities}
    people = [entity.entity_id for entity in stored_entities if entity.entity_type == "character"]
    for mask in (mask for mask, _ in identities.in_order() if mask in identities.told_to_all):
        person = identities.person(mask)
        cards = [names[mask], [name for name in names.get(person, []) if name not in names[mask]]]
        others = [name for other in people if other not in (mask, person) for name in names[other]]
        at = StoryPosition(*identities.revealed_at[mask])
        memories = [
            replace(memory, told_to_all_at=at)
            if memory.told_to_all_at is None and tells_only_identity(memory.content, cards, others)
            else memory
            for memory in memories
        ]
    return memories


def _learnings_and_dead(
    session: StorageSession, as_of: StoryPosition, identities: Identities
) -> tuple[dict[StoryPosition, dict[str, str]], dict[str, StoryPosition]]:
    """Return stated learnings by scene and character, and the dead with the places of their deaths."""
    attributes = (KNOWLEDGE_ATTRIBUTE, *STATUS_ATTRIBUTES)
    wanted_condition = session.among(State.attribute, attributes)
    columns = columns_of(State, ("entity_id", "attribute", "value", "kind", "chapter_index", "scene_index"))
    rows = session.select(columns, before(as_of, State), wanted_condition, order=order_in_force(State))
    learnings: defaultdict[StoryPosition, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row.attribute == KNOWLEDGE_ATTRIBUTE and row.scene_index is not None and row.value:
            place = StoryPosition(row.chapter_index, row.scene_index)
            learnings[place][identities.person(row.entity_id)] = str(row.value)
    stated: Any = (row for row in rows if row.kind == "explicit" and row.attribute in STATUS_ATTRIBUTES)
    # Who is dead from the start is dead before every scene.
    dead = {
        identities.person(entity_id): StoryPosition(change.chapter_index, change.scene_index)
        if change.chapter_index is not None
        else StoryPosition(0, 0)
        for entity_id, change in deaths(identities.standing(stated)).items()
    }
    return learnings, dead


def _names_shown(
    stored_entities: Sequence[Entity], known_entities: Sequence[Entity], memories: Sequence[KnowledgeMemory]
) -> dict[str, list[str]]:
    """Return the names as of the position, and display names from memories alone."""
    names = {entity.entity_id: entity.names() for entity in known_entities}
    display_names = {entity.entity_id: entity.name for entity in stored_entities}
    for memory in memories:
        for entity_id in memory.entities:
            name = display_names.get(entity_id, "")
            if name and name in memory.content and name not in names.setdefault(entity_id, []):
                names[entity_id].append(name)
    return names


def _is_told_by_then(statement: Knowledge, positions: Mapping[str, StoryPosition | None]) -> bool:
    position = positions.get(statement.source_id)
    return statement.source_id in positions and (position is None or position <= _place_of(statement))


def _is_of_own(statement: Knowledge, positions: Mapping[str, StoryPosition | None]) -> bool:
    """Tell whether a scene says it of a memory of its own, as `known_by` and `hidden_from` do."""
    is_plain = statement.how in ("own_doing", "witnessed", "author") and statement.learned_from is None
    return is_plain and not statement.quote and positions.get(statement.source_id) == _place_of(statement)


def _linked_entities(
    derived: str, attached_text: str, detached: str, unmasked: Mapping[str, str]
) -> tuple[list[str], bool]:
    """Return a memory's linked entities, and its link to the book."""
    lists = decoded_json([derived, attached_text, detached])
    by_hand: list[str] = lists[1]
    linked_keys = linked_targets(lists[0], by_hand, lists[2])
    return list(
        dict.fromkeys(unmasked.get(entity_id, entity_id) for entity_id in linked_keys if is_entity_target(entity_id))
    ), BOOK in by_hand


def _as_one(statement: Knowledge, unmasked: Mapping[str, str]) -> Knowledge:
    knowers = {"character_id": statement.character_id, "learned_from": statement.learned_from}
    return statement.model_copy(
        update={name: unmasked.get(entity_id or "", entity_id) for name, entity_id in knowers.items()}
    )


def _read_statements(session: StorageSession, *conditions: Any) -> list[Knowledge]:
    return session.read(Knowledge, *conditions, order=order_in_force(Knowledge))


def _place_of(statement: Knowledge) -> StoryPosition:
    return StoryPosition(statement.chapter_index or 0, statement.scene_index or 0)
