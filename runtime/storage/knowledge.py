"""What records and authors say of who knows what: it is appended, and counts from its scene on."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from sqlalchemy import ColumnElement, Text, case, cast

from novelgen.memory.story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.entity import Entity
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.memory import BOOK, is_entity_target, linked_targets
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.damage import readable_json
from runtime.storage.entities import EntityRepository
from runtime.storage.events import span_of, with_span_columns
from runtime.storage.records import WITHOUT_RECORD, StoredKnowledge
from runtime.storage.session import (
    Repository,
    StorageSession,
    before,
    decoded_json,
    order_in_force,
    said_at,
    story_order,
    unconsolidated,
    within,
)
from runtime.storage.tables import CHUNKS, KNOWLEDGE_EVENTS, PROJECTS, SCENES, STATES

KNOWLEDGE_ATTRIBUTE = "knowledge"
"""Attribute of a state: what a character knows, in words."""

FACT_TYPES = ("memory", "note")
"""Kinds of memories that somebody can know: one fact each."""


class KnowledgeRepository(Repository):
    """Keeps what is said of who knows what; the rest follows from the story."""

    def say(self, said: StoredKnowledge, *, follows_scene: bool = True) -> None:
        """Store the author's word, in place of an earlier one on the same person, memory and position.

        Args:
            said: Who knows what, from where on.
            follows_scene: It goes with the scene at its place; else it keeps its place between the scenes.
        """
        self._session.touch()
        table = KNOWLEDGE_EVENTS
        self._session.delete(
            table,
            *_by_author(said.character_id, said.source_id),
            table.c.chapter_index.is_not_distinct_from(said.chapter_index),
            table.c.scene_index.is_not_distinct_from(said.scene_index),
        )
        self._session.insert(
            table, [with_span_columns(said) | said_at(self._session, said, follows_scene=follows_scene)]
        )

    def forget(self, character_id: str, source_id: str) -> list[StoredKnowledge]:
        """Take back all that the author said of one person and one memory, and return it in story order."""
        self._session.touch()
        about = _by_author(character_id, source_id)
        said = _said(self._session, *about)
        self._session.delete(KNOWLEDGE_EVENTS, *about)
        return said

    def author_said(self, character_id: str, source_id: str) -> list[StoredKnowledge]:
        """Return all that the author said of one person and one memory, in story order."""
        return _said(self._session, *_by_author(character_id, source_id))

    def said(self, *, as_of: StoryPosition = END_OF_STORY) -> list[StoredKnowledge]:
        """Return what is said before a position, in the order in which it counts: at one place the author's last."""
        return _said(self._session, before(as_of, KNOWLEDGE_EVENTS))

    def said_between(self, since: StoryPosition, until: StoryPosition) -> list[StoredKnowledge]:
        """Return what is said from one position on until another, in the order in which it counts."""
        return _said(self._session, within(since, until, KNOWLEDGE_EVENTS))

    def words_on_nothing(self) -> list[str]:
        """Return the ids, in order, of memories of which the author said who knows them and which are not stored."""
        table = KNOWLEDGE_EVENTS
        named = set(self._session.values(table.c.source_id, table.c.origin == "author", table.c.source_id != ALL_LIVED))
        for column in (CHUNKS.c.source_id, CHUNKS.c.chunk_id):
            named -= set(self._session.values(column, self._session.among(column, named)))
        return sorted(named)


def _by_author(character_id: str, source_id: str) -> tuple[ColumnElement[bool], ...]:
    table = KNOWLEDGE_EVENTS
    return table.c.origin == "author", table.c.character_id == character_id, table.c.source_id == source_id


def read_knowledge_story(session: StorageSession, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story strictly before a position, as far as it tells who knows what.

    Facts are what scenes brought and the author's notes, outdated ones as well: somebody may know them still. Left
    out are what the author banned or deleted, and what stands for others, which are here themselves. Who was known
    by another name until the story showed it counts as one person.
    """
    entities = EntityRepository(session)
    stored = [each.entity for each in entities.list_all()]
    unmasked = entities.masks_as_of(as_of)
    said = [_as_one(each, unmasked) for each in _said(session, before(as_of, KNOWLEDGE_EVENTS))]
    names = ("scene_id", "chapter_index", "scene_index", "text", "record_origin")
    is_readable = readable_json(session, SCENES.c.record)
    is_read = case((is_readable, SCENES.c.record["knowledge_read"].as_boolean())).label("is_read")
    columns = [*(SCENES.c[name] for name in names), is_read, cast(SCENES.c.participants, Text)]
    scenes = session.select(columns, before(as_of, SCENES), order=story_order(SCENES))
    memories = _memories(session, as_of, said, {row[0]: row[3] for row in scenes}, unmasked)
    positions = {each.source_id: each.position for each in memories}
    # A supplied record that says who learnt what says all of it; what a model told beside other things may be a part.
    telling = {_place_of(each) for each in said if each.origin == "record" and not _is_of_own(each, positions)}
    learnt = _learnt(session, as_of, unmasked)
    language = session.value(PROJECTS.c.language)
    # Decode lists of JSON all at once: there are tens of thousands.
    decoded: list[list[str]] = decoded_json([row[-1] for row in scenes])
    return KnowledgeStory(
        as_of=as_of,
        scenes=[
            KnowledgeScene(
                position=(position := StoryPosition(row[1], row[2])),
                present=frozenset(unmasked.get(each, each) for each in present),
                text=row[3] or "",
                tells_knowledge=bool(row.is_read) or (position in telling and row.record_origin != "extracted"),
                has_record=row.record_origin != WITHOUT_RECORD,
                learnt=learnt.get(position, {}),
            )
            for row, present in zip(scenes, decoded, strict=True)
        ],
        memories=memories,
        names=_names_shown(stored, entities.list_as_of(as_of=as_of), memories),
        character_ids=frozenset(
            each.entity_id for each in stored if each.entity_type == "character" and each.entity_id not in unmasked
        ),
        events=[each.event() for each in said if each.source_id == ALL_LIVED or _is_told_by_then(each, positions)],
        language=language or "",
    )


def _memories(
    session: StorageSession,
    as_of: StoryPosition,
    said: Sequence[StoredKnowledge],
    texts: Mapping[str, str],
    unmasked: Mapping[str, str],
) -> list[KnowledgeMemory]:
    told_by = ("chunk_id", "source_id", "scene_id", "chapter_index", "scene_index", "content", "event_type")
    lists = (cast(CHUNKS.c[name], Text) for name in ("entities_mentioned", "attached", "detached"))
    rows = session.select(
        [*(CHUNKS.c[name] for name in (*told_by, "span_start", "span_end", "from_scene")), *lists],
        CHUNKS.c.status == "active",
        CHUNKS.c.content_type.in_(FACT_TYPES),
        unconsolidated(session.project_id, as_of),
        # Where the author edited one, it stands before what a later reading of its scene says in its place.
        order=(*story_order(CHUNKS), case((CHUNKS.c.origin == "author", 0), else_=1), CHUNKS.c.row_id),
    )
    # Tens of thousands of memories are of some scenes and about some people: each place and list is made once.
    position = cache(StoryPosition)
    linked = cache(partial(_linked, unmasked=unmasked))
    by_id: dict[str, KnowledgeMemory] = {}
    for chunk_id, source, scene_id, chapter, scene, content, event_type, start, end, from_scene, *targets in rows:
        source_id = source or chunk_id
        if source_id in by_id:
            continue
        about, is_for_all = linked(*targets)
        by_id[source_id] = KnowledgeMemory(
            source_id=source_id,
            content=content,
            # A note has no scene in which anybody could have witnessed it.
            position=position(chapter, scene) if from_scene else None,
            entities=about,
            is_for_all=not from_scene and is_for_all,
            noted_at=None if from_scene or chapter is None else position(chapter, scene),
            event_type=event_type,
            quote=(texts.get(scene_id) or "")[start:end] if start is not None else "",
        )
    positions = {each.source_id: each.position for each in by_id.values()}
    known_by = {
        each.source_id
        for each in said
        if each.origin == "record" and each.kind == "knows" and _is_of_own(each, positions)
    }
    return [replace(each, tells_knowers=True) if each.source_id in known_by else each for each in by_id.values()]


def _learnt(
    session: StorageSession, as_of: StoryPosition, unmasked: Mapping[str, str]
) -> dict[StoryPosition, dict[str, str]]:
    """Return, by scene and character, what is said that they know from there on."""
    found: defaultdict[StoryPosition, dict[str, str]] = defaultdict(dict)
    columns = [STATES.c[name] for name in ("chapter_index", "scene_index", "entity_id", "value")]
    stated = (STATES.c.attribute == KNOWLEDGE_ATTRIBUTE, STATES.c.scene_index.is_not(None), before(as_of, STATES))
    for row in session.select(columns, *stated, order=order_in_force(STATES)):
        if row.value:
            place = StoryPosition(row.chapter_index, row.scene_index)
            found[place][unmasked.get(row.entity_id, row.entity_id)] = str(row.value)
    return found


def _names_shown(
    stored: Sequence[Entity], known: Sequence[Entity], memories: Sequence[KnowledgeMemory]
) -> dict[str, list[str]]:
    """Return the names as of the position, and the display names that no scene but a memory before it uses."""
    names = {each.entity_id: each.names() for each in known}
    display_names = {each.entity_id: each.name for each in stored}
    for memory in memories:
        for entity_id in memory.entities:
            name = display_names.get(entity_id, "")
            if name and name in memory.content and name not in names.setdefault(entity_id, []):
                names[entity_id].append(name)
    return names


def _is_told_by_then(said: StoredKnowledge, positions: Mapping[str, StoryPosition | None]) -> bool:
    told = positions.get(said.source_id)
    return said.source_id in positions and (told is None or told <= _place_of(said))


def _is_of_own(said: StoredKnowledge, positions: Mapping[str, StoryPosition | None]) -> bool:
    """Tell whether a scene says it of a memory of its own, as `known_by` and `hidden_from` do."""
    is_plain = said.how in ("own_doing", "witnessed", "author") and said.learned_from is None
    return is_plain and not said.quote and positions.get(said.source_id) == _place_of(said)


def _linked(derived: str, attached: str, detached: str, unmasked: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return whom lists of JSON say that a memory is about, and whether it was attached to the whole book."""
    lists = decoded_json([derived, attached, detached])
    by_hand: list[str] = lists[1]
    linked = linked_targets(lists[0], by_hand, lists[2])
    return list(dict.fromkeys(unmasked.get(each, each) for each in linked if is_entity_target(each))), BOOK in by_hand


def _as_one(said: StoredKnowledge, unmasked: Mapping[str, str]) -> StoredKnowledge:
    knowers = {"character_id": said.character_id, "learned_from": said.learned_from}
    return said.model_copy(update={name: unmasked.get(each or "", each) for name, each in knowers.items()})


def _said(session: StorageSession, *conditions: ColumnElement[bool]) -> list[StoredKnowledge]:
    table = KNOWLEDGE_EVENTS
    return [
        StoredKnowledge(**{name: row._mapping[name] for name in _COLUMNS}, source_span=span_of(row))
        for row in session.select(table, *conditions, order=order_in_force(table))
    ]


_COLUMNS = [name for name in StoredKnowledge.model_fields if name in KNOWLEDGE_EVENTS.c]


def _place_of(said: StoredKnowledge) -> StoryPosition:
    return StoryPosition(said.chapter_index or 0, said.scene_index or 0)
