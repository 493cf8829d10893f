"""One list of what was changed by hand or found, with the rows before and after, by which any of it can be undone."""

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr
from sqlalchemy import Column, ColumnElement, LargeBinary, Table, and_, func, not_, or_, select, true

from novelgen.characters.memory import CharacterChangeKind, CharacterMemory
from novelgen.errors import UnknownIdError, UserInputError
from novelgen.models.base import Model
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.position import UtcDatetime
from novelgen.models.record import is_unsaid
from runtime.storage.chunks import ChunkWriter, text_hash, text_values
from runtime.storage.consolidations import ConsolidationRepository
from runtime.storage.records import StoredScene, SummaryLevel
from runtime.storage.references import replaced_id, without_id
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import (
    ALIASES,
    CHANGES,
    CHARACTER_FILE_ALIASES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    ENTITIES,
    EVENT_TABLES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    POSITIONED_TABLES,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
    STORY_FLAGS,
    SUMMARIES,
    UtcTimestamp,
)

ChangeSubject = Literal["entity", "memory", "scene", "thread", "consolidation", "character"]

EntityChangeKind = Literal[
    "add",
    "edit",
    "rename",
    "merge",
    "split",
    "confirm",
    "name",
    "join",
    "drop",
    "delete",
    "relate",
    "summary",
    "waive",
    "template",
    "flag",
]

AuthorChangeKind = Literal[
    "add",
    "edit",
    "confirm",
    "delete",
    "pin",
    "unpin",
    "ban",
    "unban",
    "know",
    "text",
    "record",
    "title",
    "move",
    "insert",
    "shorten",
    "ingest",
    "extract",
]
"""The first nine are of a memory, the others of a scene, and so is its deletion; the last three are of a run."""

ThreadChangeKind = Literal["add", "edit", "advance", "resolve", "abandon", "reopen"]

ChangeKind = EntityChangeKind | AuthorChangeKind | ThreadChangeKind | CharacterChangeKind

NOT_OF_ENTITIES: frozenset[ChangeKind] = frozenset({"summary", "waive", "template", "flag"})
"""Kinds that are undone as those of entities are, and say nothing of any."""

PlayKind = Literal["feel", "secret", "reveal", "show", "flag"]

_OF_PLAY: Mapping[PlayKind, Table] = {
    "feel": DISPOSITION_CHANGES,
    "secret": CHARACTER_SECRETS,
    "reveal": DISCLOSURES,
    "show": DISCLOSURES,
    "flag": STORY_FLAGS,
}

RUNS: tuple[AuthorChangeKind, ...] = ("shorten", "ingest", "extract")
"""Kinds of which one run brings as many changes as there are scenes; they go back together."""

MAX_KEPT_CHANGES = 500
"""Of memories, scenes, threads and consolidations, and as many runs, each whole; the oldest are forgotten, and cannot
be undone any more."""

_FORGOTTEN: tuple[ChangeSubject, ...] = ("memory", "scene", "thread", "consolidation")

Image = dict[str, Any]

Images = Mapping[str, Mapping[str, Image]]
"""Table to key to row."""


class RowChange(Model):
    """A row before and after a change: the columns that differ; of a row that came or went all, and None beside."""

    table: str
    key: Image
    before: Image | None = None
    after: Image | None = None

    @property
    def image(self) -> Image:
        """The row as the change left it, or as it was where the change took it away; its key always."""
        return {**self.key, **(self.after or self.before or {})}


class Change(Model):
    """Something that was changed and can be undone by its number.

    Of an entity: its card was added, edited or renamed (`other_id` is the name before), a merge (`other_id` became
    `entity_id`), a split (`other_id` came out of `entity_id`), or a decision
    on a candidate, a name that the text alone offers: it became an entity (confirm), or a name of one (name), it
    belongs to another candidate (join), or is not offered again (drop). Of a deletion `entity_id` is what is gone,
    an entity, relationship or thread, and `other_id` its name. What was said of how two stand (relate) has both.
    A summary has its level and number, what is meant to be so (waive) whether it is of the conflicts or the findings,
    a flag its name. Changes of one run share `other_id`.
    """

    change_id: int
    subject: ChangeSubject
    kind: ChangeKind
    entity_id: str = Field(
        description="Entity that stayed or came; a candidate's name of a join; empty of a drop. Of other subjects the"
        " id of the memory, scene, thread or character."
    )
    other_id: str = Field(
        default="", description="The other entity; of a decision on a candidate, its name; what a thread said."
    )
    created_at: UtcDatetime
    undone_at: UtcDatetime | None = None
    changed_rows: int = Field(description="How many rows it changed.")
    _rows: list[RowChange] = PrivateAttr(default_factory=list)

    @property
    def rows(self) -> list[RowChange]:
        """The rows before and after."""
        return self._rows

    @property
    def before(self) -> Image:
        """What differs of the one thing that was changed, as it was."""
        return next((each.before or {} for each in self._rows), {})

    @property
    def after(self) -> Image:
        """What differs of the one thing that was changed, as the change left it."""
        return next((each.after or {} for each in self._rows), {})


def number_of(change: Change | None) -> int | None:
    """Return the number of a change; None where nothing changed."""
    return None if change is None else change.change_id


@dataclass
class Kept:
    """What a block that is written down has changed, once it has ended."""

    change_id: int | None = None
    """Its number; None where nothing changed."""


ChangeNumber = Annotated[
    int | None, Field(exclude_if=is_unsaid, description="By which `undo` takes it back; None where nothing changed.")
]
"""Of what a call changed, in its result."""

Keeping = AbstractContextManager[Kept]


@dataclass(frozen=True)
class _Imaged:
    """Which columns of a table are pictured: those of its key, and those that may change or tell rows apart."""

    table: Table
    key: tuple[str, ...]
    columns: tuple[str, ...]


def _whole(table: Table, *key: str) -> _Imaged:
    return _Imaged(table, key, tuple(column.name for column in table.c))


_NOT_THE_AUTHORS = (
    "row_id",
    "content_hash",
    "term_count",
    "last_accessed_at",
    "chapter_index",
    "scene_index",
    "scene_id",
)
"""Columns of a memory that follow from others, from its scene or from its reading."""

# Parents before children.
_IMAGED = (
    _whole(ENTITIES, "entity_id"),
    _whole(ALIASES, "entity_id", "alias"),
    _whole(CHARACTER_FILE_ALIASES, "entity_id", "alias"),
    _whole(MENTIONS, "scene_id", "entity_id", "name"),
    _Imaged(SCENES, ("scene_id",), ("scene_id", "participants", "location_id", "pov", "record", "content_hash")),
    _Imaged(CHUNKS, ("chunk_id",), ("chunk_id", "entities_mentioned", "attached", "detached", "slot_type")),
    _whole(STATES, "row_id"),
    _whole(LOOP_EVENTS, "row_id"),
    _Imaged(
        CHARACTER_MEMORIES,
        ("memory_id",),
        ("memory_id", "character_id", "participants", "heard_from", "slot", "superseded_by"),
    ),
    _Imaged(DISPOSITION_CHANGES, ("row_id",), ("row_id", "character_id", "other_id")),
    _Imaged(DISCLOSURES, ("row_id",), ("row_id", "character_id", "other_id")),
    _whole(CHARACTER_SECRETS, "row_id"),
    _whole(RELATIONSHIPS, "relationship_id"),
    _whole(RELATIONSHIP_CHANGES, "row_id"),
    _whole(SUMMARIES, "row_id"),
    _whole(STORY_FLAGS, "row_id"),
    _Imaged(KNOWLEDGE_EVENTS, ("row_id",), ("row_id", "scene_id", "source_id", "kind", "character_id", "learned_from")),
)

_BY_NAME = {imaged.table.name: imaged for imaged in _IMAGED}

_SUBJECT_COLUMNS = ("entity_id", "loop_id")
"""They tell what a row is about, and are kept of every row."""

_PARENTS = (ENTITIES.name, SCENES.name, RELATIONSHIPS.name)

_PLACE = ("chapter_index", "scene_index")

_PASSED_OVER = ("row_id", "updated_at", "changed")
"""A row may get another number, and says when something else was said of it."""


def _is_of(table: Table, *names: str) -> Callable[[str], ColumnElement[bool]]:
    return lambda entity_id: or_(*(table.c[name] == entity_id for name in names))


GOING_WITH: Mapping[Table, Callable[[str], ColumnElement[bool]]] = {
    CHARACTER_MEMORIES: _is_of(CHARACTER_MEMORIES, "character_id"),
    CHARACTER_SECRETS: _is_of(CHARACTER_SECRETS, "character_id"),
    DISPOSITION_CHANGES: _is_of(DISPOSITION_CHANGES, "character_id", "other_id"),
    DISCLOSURES: _is_of(DISCLOSURES, "character_id", "other_id"),
    KNOWLEDGE_EVENTS: lambda entity_id: or_(
        KNOWLEDGE_EVENTS.c.character_id == entity_id,
        and_(KNOWLEDGE_EVENTS.c.source_id == ALL_LIVED, KNOWLEDGE_EVENTS.c.learned_from == entity_id),
    ),
}
"""Which rows of what a character knows, remembers and feels go when an entity is deleted: those that are its own, and
those that say nothing without it. What another felt for somebody, or told to somebody, is of both."""


class Journal(Repository):
    """Keeps what was changed with the rows that it changed, and undoes it."""

    def keep(
        self, kind: str, entity_id: str, other_id: str, rows: Sequence[RowChange], *, subject: ChangeSubject = "entity"
    ) -> Change:
        """Write a change down and return it with its number."""
        values = {
            "project_id": self._session.project_id,
            "subject": subject,
            "kind": kind,
            "entity_id": entity_id,
            "other_id": other_id,
            "created_at": self._session.now(),
            "changed_rows": [row.model_dump() for row in rows],
        }
        begins_run = kind in RUNS and other_id != self._last_run()
        number = self._session.scalar(CHANGES.insert().values(**values).returning(CHANGES.c.row_id))
        if begins_run:
            old = (
                select(CHANGES.c.other_id)
                .where(self._session.owns(CHANGES), CHANGES.c.kind.in_(RUNS))
                .group_by(CHANGES.c.other_id)
                .order_by(func.max(CHANGES.c.row_id).desc())
                .offset(MAX_KEPT_CHANGES)
            )
            self._session.delete(CHANGES, CHANGES.c.kind.in_(RUNS), CHANGES.c.other_id.in_(old))
        elif subject in _FORGOTTEN and kind not in RUNS:
            self._forget_old()
        return self.require(number)

    def keep_of(self, subject: ChangeSubject, kind: str, thing_id: str, rows: Sequence[RowChange]) -> Change | None:
        """Write down how one thing was changed; None where it is as it was."""
        return self.keep(kind, thing_id, "", rows, subject=subject) if rows else None

    def keep_fields(
        self, subject: ChangeSubject, kind: str, thing_id: str, before: Image, after: Image
    ) -> Change | None:
        """Write down which fields of a thing differ; None where it is as it was.

        What is kept so is put back by who can make the thing anew, such as a scene of its text and record.
        """
        names = [name for name, value in after.items() if before[name] != value]
        old, new = ({name: image[name] for name in names} for image in (before, after))
        fields = RowChange(table="", key={}, before=old, after=new)
        return self.keep_of(subject, kind, thing_id, [fields] if names else [])

    def keep_added(self, *chunk_ids: str) -> Change:
        """Write down that memories were added together: they are undone as deleted ones."""
        table = CHUNKS.name
        added = [
            RowChange(table=table, key={"chunk_id": each}, before=_DELETED, after={"status": status})
            for each, status in self._session.select(
                (CHUNKS.c.chunk_id, CHUNKS.c.status), self._session.among(CHUNKS.c.chunk_id, chunk_ids)
            )
        ]
        return self.keep("add", chunk_ids[0], "", added, subject="memory")

    def keep_names(self, kind: EntityChangeKind, entity_id: str, other_id: str, names: Sequence[str]) -> Change:
        """Write down that names of a candidate became an entity's, and return the change with its number."""
        keys = ({"entity_id": entity_id, "alias": name} for name in names)
        return self.keep(kind, entity_id, other_id, [RowChange(table=ALIASES.name, key=key, after=key) for key in keys])

    @contextmanager
    def recording(self, *, deleted_id: str | None = None) -> Iterator[list[RowChange]]:
        """Give a list that holds what the block changed in all that refers to entities, once the block has ended."""
        yield from self._recorded(lambda: {imaged.table.name: self._images(imaged, deleted_id) for imaged in _IMAGED})

    @contextmanager
    def recording_card(self, entity_id: str) -> Iterator[list[RowChange]]:
        """Give a list that holds how the block changed an entity, its names and what an author said of its state."""

        def pictured() -> Images:
            own = (ENTITIES.c.entity_id == entity_id,)
            said = (STATES.c.entity_id == entity_id, STATES.c.origin == "author")
            return {
                table.name: self._pictured(_BY_NAME[table.name], _BY_NAME[table.name].columns, *conditions)
                for table, conditions in ((ENTITIES, own), (STATES, said))
            }

        changes: list[RowChange] = []
        before, names = pictured(), self._names_of(entity_id)
        yield changes
        changes += _differences(before, pictured())
        now = self._names_of(entity_id)
        if names != now:
            told = {"before": {"names": names}, "after": {"names": now}}
            changes.append(RowChange(table=NAMES, key={"entity_id": entity_id}, **told))

    @contextmanager
    def recording_memories(self, memory_ids: Collection[str]) -> Iterator[list[RowChange]]:
        """Give a list that holds how the block changed memories, by whichever of their ids, once it has ended."""
        names = [column.name for column in CHUNKS.c if column.name not in _NOT_THE_AUTHORS]
        named = or_(*(self._session.among(CHUNKS.c[name], memory_ids) for name in ("chunk_id", "source_id")))
        yield from self._recorded(lambda: self._images_of(CHUNKS, names, named))

    @contextmanager
    def recording_scene(self, scene_id: str) -> Iterator[list[RowChange]]:
        """Give a list that holds how the block changed a scene and all that came from it, once the block has ended."""
        came_from_it = [(table, table.c.origin == "record") for table in EVENT_TABLES]
        own = [(SCENES, true()), (CHUNKS, CHUNKS.c.from_scene), *came_from_it, (MENTIONS, true())]

        def pictured() -> Images:
            images: Images = {}
            for table, condition in own:
                of_scene = and_(table.c.scene_id == scene_id, condition)
                images = {**images, **self._images_of(table, [column.name for column in table.c], of_scene)}
            return images

        yield from self._recorded(pictured)

    def changing_play(self, kind: PlayKind, whose: str, other_id: str = "") -> Keeping:
        """Write down what the block adds to feelings, disclosures or flags, or changes in a secret of a character."""
        table = _OF_PLAY[kind]
        if kind == "secret":
            condition = and_(table.c.character_id == whose, table.c.secret_id == other_id)
        else:
            condition = table.c.row_id > (self._session.connection.scalar(select(func.max(table.c.row_id))) or 0)
        subject: ChangeSubject = "entity" if kind == "flag" else "character"
        return self._changing(table, condition, kind, whose, other_id, subject=subject)

    def changing_thread(self, kind: ThreadChangeKind, loop_id: str, description: str) -> Keeping:
        """Write down what the block changes in the events of a thread, with how this was described."""
        of_thread = LOOP_EVENTS.c.loop_id == loop_id
        return self._changing(LOOP_EVENTS, of_thread, kind, loop_id, description, subject="thread")

    def changing_pair(self, one: str, other: str) -> Keeping:
        """Write down what the block says of how two characters stand."""
        pair = and_(RELATIONSHIPS.c.character_a == min(one, other), RELATIONSHIPS.c.character_b == max(one, other))
        said = RELATIONSHIP_CHANGES.c.relationship_id.in_(
            select(RELATIONSHIPS.c.relationship_id).where(self._session.owns(RELATIONSHIPS), pair)
        )
        return self._changing(RELATIONSHIP_CHANGES, said, "relate", one, other)

    def changing_summary(self, level: SummaryLevel, number: int) -> Keeping:
        """Write down what the block changes in the written summaries of a chapter or part."""
        of_this = and_(SUMMARIES.c.level == level, SUMMARIES.c.number == number)
        return self._changing(SUMMARIES, of_this, "summary", level, str(number))

    @contextmanager
    def _changing(
        self,
        table: Table,
        condition: ColumnElement[bool],
        kind: str,
        thing_id: str,
        other_id: str,
        *,
        subject: ChangeSubject = "entity",
    ) -> Iterator[Kept]:
        names = [column.name for column in table.c]
        before = self._images_of(table, names, condition)
        kept = Kept()
        yield kept
        rows = _differences(before, self._images_of(table, names, condition))
        if rows:
            kept.change_id = self.keep(kind, thing_id, other_id, rows, subject=subject).change_id

    @contextmanager
    def recording_knowledge(self, character_id: str, source_id: str) -> Iterator[list[RowChange]]:
        """Give a list that holds what the block changed in the author's word on who knows a memory, once it ended."""
        names = [column.name for column in KNOWLEDGE_EVENTS.c]
        table = KNOWLEDGE_EVENTS
        said = and_(table.c.origin == "author", table.c.character_id == character_id, table.c.source_id == source_id)
        yield from self._recorded(lambda: self._images_of(table, names, said))

    def list_all(self, subject: ChangeSubject = "entity", *, entity_ids: Collection[str] | None = None) -> list[Change]:
        """Return all changes of a subject, the oldest first, undone ones included."""
        wanted = [CHANGES.c.subject == subject]
        if entity_ids is not None:
            wanted.append(CHANGES.c.entity_id.in_(list(entity_ids)))
        return [_change(row) for row in self._session.select(CHANGES, *wanted, order=[CHANGES.c.row_id])]

    def latest(self, limit: int, *, subjects: Sequence[ChangeSubject]) -> list[Change]:
        """Return the last changes of some subjects, the latest first, undone ones included; of a run the last one."""
        runs = (self._session.owns(CHANGES), CHANGES.c.kind.in_(RUNS))
        ends = select(func.max(CHANGES.c.row_id)).where(*runs).group_by(CHANGES.c.kind, CHANGES.c.other_id)
        wanted = (CHANGES.c.subject.in_(subjects), or_(CHANGES.c.kind.not_in(RUNS), CHANGES.c.row_id.in_(ends)))
        return [_change(row) for row in self._session.select(CHANGES, *wanted, order=_LATEST_FIRST, limit=limit)]

    def of_run(self, change: Change) -> list[Change]:
        """Return the changes of the run that a change was part of, the latest first."""
        wanted = (CHANGES.c.kind == change.kind, CHANGES.c.other_id == change.other_id)
        return [_change(row) for row in self._session.select(CHANGES, *wanted, order=_LATEST_FIRST)]

    def last_standing(self) -> Change:
        """Return the last change, of whatever kind, that was not undone yet.

        One of a memory or scene that is gone by now is passed over, and so is a consolidated memory that was withdrawn.
        """
        has_thing = (
            select(column).where(self._session.owns(column.table)) for column in (CHUNKS.c.chunk_id, SCENES.c.scene_id)
        )
        is_there = or_(
            CHANGES.c.subject.in_(("entity", "thread", "character")),
            and_(CHANGES.c.subject == "scene", CHANGES.c.kind == "delete"),
            *(CHANGES.c.entity_id.in_(stored) for stored in has_thing),
        )
        standing = self._session.select(CHANGES, CHANGES.c.undone_at.is_(None), is_there, order=_LATEST_FIRST, limit=1)
        if not standing:
            raise UserInputError(
                "nothing was changed that could be undone; the list of changes is empty, or all undone"
            )
        return _change(standing[0])

    def require(self, change_id: int) -> Change:
        """Return a change."""
        row = self._session.one(CHANGES, CHANGES.c.row_id == change_id)
        if row is None:
            raise UnknownIdError(f"no change {change_id!r} is kept; list them with `novelgen entity changes`")
        return _change(row)

    def require_standing(self, change_id: int) -> Change:
        """Return a change that can still be undone."""
        change = self.require(change_id)
        if change.undone_at is not None:
            raise UserInputError(f"change {change_id!r} is undone already; list them to find another one")
        return change

    def undo(self, change_id: int) -> Change:
        """Put everything back as it was before a change; what came since and has no part in it stays."""
        self._session.touch()
        change = self.require_standing(change_id)
        if change.subject == "consolidation":
            ConsolidationRepository(self._session).undo(change.entity_id)
        elif change.subject == "entity":
            ConsolidationRepository(self._session).withdraw_linked([change.entity_id, change.other_id])
            named = [row for row in change.rows if row.table == NAMES]
            for row in named:
                _require_same(change, row.after or {}, {"names": self._names_of(row.key["entity_id"])}, "the card")
            # What else stands in place of a table is put back by who can derive it anew.
            self._restore(change, [row for row in change.rows if row.table in _BY_NAME])
            for row in named:
                self._session.delete(ALIASES, ALIASES.c.entity_id == row.key["entity_id"])
                self._session.insert(ALIASES, (row.before or {})["names"])
        else:
            self._restore(change, self._as_known_now(change.rows))
        return self.mark_undone(change_id)

    def rewrite(self, rows: Sequence[RowChange]) -> None:
        """Write rows as they are to be after a change."""
        self._session.touch()
        current = {table: self._current(table, rows) for table in {row.table for row in rows}}
        self._update([row.model_copy(update={"before": row.after}) for row in rows], current)

    def mark_undone(self, change_id: int) -> Change:
        """Note that a change was undone now."""
        this = CHANGES.c.row_id == change_id
        self._session.update(CHANGES, this, undone_at=self._session.now())
        return self.require(change_id)

    def withdraw_names(self, change_id: int) -> tuple[Change, list[str]]:
        """Mark a change of `keep_names` as undone, and return it with the names that it gave."""
        names = [row.key["alias"] for row in self.require_standing(change_id).rows]
        return self.mark_undone(change_id), names

    def is_refused(self, entity_id: str, other_id: str) -> bool:
        """Tell whether somebody undid that two entities became one."""
        pair = {entity_id, other_id}
        return any(row.undone_at and {row.entity_id, row.other_id} == pair for row in self._of_kind("merge"))

    def names_brought(self, change_id: int) -> list[str]:
        """Return the names that an entity got when another became part of it."""
        change = self.require(change_id)
        came = [row.after for row in change.rows if row.table == ALIASES.name and row.before is None and row.after]
        return [str(after["alias"]) for after in came if after["entity_id"] == change.entity_id]

    def survivors(self) -> dict[str, str]:
        """Return for each entity that became part of another whose part it is now."""
        merged = {row.other_id: row.entity_id for row in self._of_kind("merge") if row.undone_at is None}
        gone = self._not_stored(merged)
        found = {}
        for entity_id in gone:
            survivor = merged[entity_id]
            while survivor in gone:
                survivor = merged[survivor]
            found[entity_id] = survivor
        return found

    def _of_kind(self, kind: EntityChangeKind) -> list[AnyRow]:
        columns = (CHANGES.c.entity_id, CHANGES.c.other_id, CHANGES.c.undone_at)
        return list(
            self._session.select(
                columns, CHANGES.c.subject == "entity", CHANGES.c.kind == kind, order=[CHANGES.c.row_id]
            )
        )

    def _not_stored(self, entity_ids: Collection[str]) -> list[str]:
        stored = {row.entity_id for row in self._session.select((ENTITIES.c.entity_id,))} if entity_ids else set()
        return [each for each in entity_ids if each not in stored]

    def _as_known_now(self, rows: Sequence[RowChange]) -> list[RowChange]:
        """Return images that name who became part of another as that one, and nobody who was deleted."""
        survivors = self.survivors()
        deleted = self._not_stored({row.entity_id for row in self._of_kind("delete") if row.undone_at is None})

        def known(image: Image | None) -> Image | None:
            for gone_id, survivor in survivors.items():
                image = replaced_id(image, gone_id, survivor)
            for gone_id in deleted:
                image = None if image is None else {name: without_id(each, gone_id) for name, each in image.items()}
            return image

        return [row.model_copy(update={"before": known(row.before), "after": known(row.after)}) for row in rows]

    def _forget_old(self) -> None:
        old = self._session.select(
            (CHANGES.c.row_id,),
            CHANGES.c.subject.in_(_FORGOTTEN),
            CHANGES.c.kind.not_in(RUNS),
            order=[CHANGES.c.row_id.desc()],
            offset=MAX_KEPT_CHANGES,
        )
        self._session.delete(CHANGES, self._session.among(CHANGES.c.row_id, [row.row_id for row in old]))

    def _last_run(self) -> str | None:
        last = self._session.select((CHANGES.c.other_id,), CHANGES.c.kind.in_(RUNS), order=_LATEST_FIRST, limit=1)
        return last[0].other_id if last else None

    def _recorded(self, pictured: Callable[[], Images]) -> Iterator[list[RowChange]]:
        changes: list[RowChange] = []
        before = pictured()
        yield changes
        changes += _differences(before, pictured())

    def _names_of(self, entity_id: str) -> list[Image]:
        """Return an entity's other names in their order; storing them anew gives their rows other numbers."""
        columns = [column for column in ALIASES.c if column.name not in ("row_id", "project_id")]
        rows = self._session.select(columns, ALIASES.c.entity_id == entity_id, order=[ALIASES.c.row_id])
        return [dict(row._mapping) for row in rows]

    def _images(self, imaged: _Imaged, deleted_id: str | None) -> dict[str, Image]:
        # Consolidated memories are withdrawn beforehand, and made anew of their sources.
        made = [~CHUNKS.c.is_consolidated] if imaged.table is CHUNKS else []
        goes = GOING_WITH.get(imaged.table)
        if deleted_id is None or goes is None:
            return self._pictured(imaged, imaged.columns, *made)
        going = goes(deleted_id)
        staying = or_(not_(going), going.is_(None))
        everything = tuple(column.name for column in imaged.table.c)
        return {**self._pictured(imaged, imaged.columns, staying), **self._pictured(imaged, everything, going)}

    def _images_of(self, table: Table, names: Sequence[str], condition: ColumnElement[bool]) -> Images:
        return {table.name: self._pictured(_BY_NAME[table.name], names, condition)}

    def _pictured(self, imaged: _Imaged, names: Sequence[str], *conditions: ColumnElement[bool]) -> dict[str, Image]:
        rows = self._session.select([imaged.table.c[name] for name in names], *conditions)
        images = ({name: _plain(value) for name, value in row._mapping.items()} for row in rows)
        return {_key(imaged, image): image for image in images}

    def _restore(self, change: Change, rows: Sequence[RowChange]) -> None:
        """Put rows back as they were before a change."""
        current = {table: self._current(table, rows) for table in {row.table for row in rows}}
        for place in (row.before for row in rows if row.table == SCENES.name and row.before and row.after is None):
            if self._session.one(SCENES, *(SCENES.c[name] == place[name] for name in _PLACE)) is not None:
                where = f"{place['chapter_index']}:{place['scene_index']}"
                raise UserInputError(f"another scene stands at {where!r} by now; move it first, or make room there")
        for row in rows:
            _require_as_left(change, row, current[row.table].get(_key(_BY_NAME[row.table], row.key)))
        self._require_pairs(rows)
        order = list(_BY_NAME)
        forward = sorted(rows, key=lambda each: order.index(each.table))
        returning = [row for row in forward if row.after is None]
        # Parents come first, for what is to hang on them again; what was added goes before the rest comes, which
        # may need its numbers.
        self._insert([row for row in returning if row.table in _PARENTS])
        self._update([row for row in forward if row.before is not None and row.after is not None], current)
        self._delete([row for row in reversed(forward) if row.before is None])
        self._renumber([row for row in forward if row.before is not None and row.after is not None])
        self._insert([row for row in returning if row.table not in _PARENTS])

    def _require_pairs(self, rows: Sequence[RowChange]) -> None:
        """Refuse to bring back how a pair stood that was deleted or merged since."""
        returning = [(row.table, row.before) for row in rows if row.before and row.after is None]
        pairs = {image["relationship_id"] for table, image in returning if table == RELATIONSHIP_CHANGES.name}
        pairs -= {image["relationship_id"] for table, image in returning if table == RELATIONSHIPS.name}
        there = self._session.values(
            RELATIONSHIPS.c.relationship_id, self._session.among(RELATIONSHIPS.c.relationship_id, pairs)
        )
        if pairs.difference(there):
            raise UserInputError(
                "how two stood whose relationship is gone by now hangs on it; undo its deletion or merge first"
            )

    def _current(self, table: str, rows: Sequence[RowChange]) -> dict[str, Image]:
        """Return the rows of a table that were changed as they are now, by key, whole."""
        imaged = _BY_NAME[table]
        first = imaged.key[0]
        wanted = {row.key[first] for row in rows if row.table == table}
        found = self._session.select(imaged.table, self._session.among(imaged.table.c[first], wanted))
        return {_key(imaged, image): image for image in (dict(row._mapping) for row in found)}

    def _insert(self, rows: Sequence[RowChange]) -> None:
        # A command that only lists loads no writer of scenes.
        from runtime.storage.scene_writer import adopt

        memories: list[Image] = []
        for row in rows:
            table = _BY_NAME[row.table].table
            image = _as_stored(table, self._at_its_scene(table, row.before or {}))
            if table is CHUNKS:
                memories.append({name: value for name, value in image.items() if name != "row_id"})
                continue
            self._session.insert(table, [self._with_free_row_id(table, image) | self._revised(table)])
            if table is SCENES:
                adopt(self._session, image["scene_id"], {name: image[name] for name in _PLACE})
        if memories:
            ChunkWriter(self._session).insert(memories)

    def _update(self, rows: Sequence[RowChange], current: Mapping[str, Mapping[str, Image]]) -> None:
        memories: list[tuple[Image, Image]] = []
        by_key: defaultdict[ColumnElement[Any], list[tuple[Any, Image]]] = defaultdict(list)
        for row in rows:
            imaged = _BY_NAME[row.table]
            kept = (*imaged.key, *_following(imaged.table), "row_id")
            values = {name: value for name, value in (row.before or {}).items() if name not in kept}
            values = _as_stored(imaged.table, values) | self._revised(imaged.table)
            if not values:
                continue
            if imaged.table is CHUNKS:
                now = current[row.table][_key(imaged, row.key)]
                memories.append((now, values | text_values({**now, **values})))
                continue
            if imaged.table is CHARACTER_MEMORIES and "content" in values:
                # What was embedded is another text.
                values |= {"content_hash": text_hash(values["content"]), "embedding_model": None, "vector": None}
            if len(imaged.key) > 1:
                self._session.run(imaged.table.update().where(self._is_row(imaged, row)).values(**values))
                continue
            by_key[imaged.table.c[imaged.key[0]]].append((row.key[imaged.key[0]], values))
        for key, changes in by_key.items():
            self._session.update_each(key, changes)
        ChunkWriter(self._session).update(memories)

    def _renumber(self, rows: Sequence[RowChange]) -> None:
        """Give rows that are known by something else the numbers back that order them, as far as these are free."""
        wanted = [
            (row, number)
            for row in rows
            if (number := (row.before or {}).get("row_id")) is not None and "row_id" not in row.key
        ]
        for row, number in wanted:
            self._number(row, -number)
        for row, number in wanted:
            table = _BY_NAME[row.table].table
            if self._session.scalar(select(table.c.row_id).where(table.c.row_id == number)) is None:
                self._number(row, number)

    def _number(self, row: RowChange, number: int) -> None:
        imaged = _BY_NAME[row.table]
        self._session.run(imaged.table.update().where(self._is_row(imaged, row)).values(row_id=number))

    def _delete(self, rows: Sequence[RowChange]) -> None:
        for row in rows:
            imaged = _BY_NAME[row.table]
            self._session.run(imaged.table.delete().where(self._is_row(imaged, row)))

    def _revised(self, table: Table) -> dict[str, int]:
        """Return the mark by which who has memories of characters at hand sees that they changed."""
        return {"changed": self._session.revision()} if table is CHARACTER_MEMORIES else {}

    def _at_its_scene(self, table: Table, row: Image) -> Image:
        """Return a row with the position that its scene has by now."""
        if table not in POSITIONED_TABLES or row.get("scene_id") is None:
            return row
        here = self._session.one(SCENES, SCENES.c.scene_id == row["scene_id"])
        if here is None:
            raise UserInputError(
                f"the scene of a row of {table.name} was deleted since ({_shown(row)}); correct it by hand"
            )
        return {**row, "chapter_index": here.chapter_index, "scene_index": here.scene_index}

    def _with_free_row_id(self, table: Table, row: Image) -> Image:
        """Keep a row's number, which orders rows, unless somebody has it by now."""
        number = row.get("row_id")
        if number is None or self._session.scalar(select(table.c.row_id).where(table.c.row_id == number)) is None:
            return row
        return {name: value for name, value in row.items() if name != "row_id"}

    def _is_row(self, imaged: _Imaged, row: RowChange) -> ColumnElement[bool]:
        return and_(self._session.owns(imaged.table), *(imaged.table.c[name] == row.key[name] for name in imaged.key))


_LATEST_FIRST = [CHANGES.c.row_id.desc()]

NAMES = "names"
"""In place of a table: all other names of an entity, which are put back together, in their order."""

_DELETED: Image = {"status": "deleted"}


def memory_change(before: CharacterMemory | None, after: CharacterMemory) -> RowChange:
    """Return how a memory of a character changes; one that is new is undone as a deleted one, however it stands."""
    key = {"memory_id": after.memory_id}
    if before is None:
        return RowChange(table=CHARACTER_MEMORIES.name, key=key, before=_DELETED, after={})
    old, new = (each.model_dump(exclude={"created_at"}) for each in (before, after))
    names = [name for name, value in new.items() if old[name] != value]
    was, became = ({name: _plain(image[name]) for name in names} for image in (old, new))
    return RowChange(table=CHARACTER_MEMORIES.name, key=key, before=was, after=became)


def _differences(before: Images, after: Images) -> list[RowChange]:
    """Return the rows that differ between two moments."""
    changes = []
    for table, old_rows in before.items():
        imaged, new_rows = _BY_NAME[table], after[table]
        for key in [*old_rows, *(key for key in new_rows if key not in old_rows)]:
            old, new = old_rows.get(key), new_rows.get(key)
            if old == new:
                continue
            row = RowChange(table=table, key={name: (old or new or {})[name] for name in imaged.key})
            if old and new:
                names = [name for name, value in new.items() if old.get(name) != value or name in _SUBJECT_COLUMNS]
                old, new = ({name: image.get(name) for name in names} for image in (old, new))
            changes.append(row.model_copy(update={"before": old, "after": new}))
    return changes


def require_as_left(change: Change, now: Mapping[str, Any], *, but_for: Collection[str] = ()) -> None:
    """Refuse to undo a change of `keep_fields` when what it altered was altered again since."""
    altered = {name: value for name, value in change.after.items() if name not in but_for}
    _require_same(change, altered, now, change.entity_id)


def require_scene_as_left(change: Change, scene: StoredScene, *, is_as_left: bool) -> None:
    """Refuse to take back a part of a change in a scene that was altered since."""
    if not is_as_left:
        raise UserInputError(
            f"scene {scene.position} changed since change {change.change_id};"
            " undo the later change first, or correct it by hand"
        )


def _require_as_left(change: Change, row: RowChange, now: Image | None) -> None:
    imaged = _BY_NAME[row.table]
    if now is None and row.after is not None and row.table == CHUNKS.name:
        raise UserInputError(
            f"memory {row.key['chunk_id']!r} is gone; its scene was deleted, or does not say it any more"
        )
    if row.after is None and imaged.key == ("row_id",):
        # Whatever has its number by now is another row.
        return
    if (now is None) != (row.after is None):
        found = "it is gone" if now is None else "it is there again"
        raise UserInputError(
            f"a row of {row.table} changed since change {change.change_id} ({_shown(row.image)}: {found}); undo the"
            " later change first, or correct it by hand"
        )
    passed_over = (*_PASSED_OVER, *_following(imaged.table))
    left = {name: value for name, value in (row.after or {}).items() if name not in passed_over}
    plain = {name: _plain(value) for name, value in (now or {}).items()}
    _require_same(change, left, plain, " ".join(str(row.key[name]) for name in imaged.key))


def _require_same(change: Change, left: Mapping[str, Any], now: Mapping[str, Any], what: str) -> None:
    for name, value in left.items():
        if now.get(name) != value:
            raise UserInputError(
                f"{name} of {what!r} changed since change {change.change_id} (now {json.dumps(now.get(name))[:80]});"
                " undo the later change first, or correct it by hand"
            )


def _following(table: Table) -> tuple[str, ...]:
    """Return the columns that follow the scene wherever it moves: they are as they are now."""
    return _PLACE if table in POSITIONED_TABLES else ()


def _key(imaged: _Imaged, image: Mapping[str, Any]) -> str:
    return json.dumps([image[name] for name in imaged.key])


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value.isoformat() if isinstance(value, datetime) else value


def _as_stored(table: Table, row: Image) -> Image:
    """Return a row of an image, whose moments and bytes are texts, as the table has it."""
    return {name: _value(table.c[name], value) for name, value in row.items()}


def _value(column: Column[Any], value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(column.type, UtcTimestamp):
        return datetime.fromisoformat(value)
    return base64.b64decode(value) if isinstance(column.type, LargeBinary) else value


def _shown(image: Image) -> str:
    return json.dumps(image, ensure_ascii=False)[:120]


def _change(row: AnyRow) -> Change:
    change = Change(
        change_id=row.row_id,
        subject=row.subject,
        kind=row.kind,
        entity_id=row.entity_id,
        other_id=row.other_id,
        created_at=row.created_at,
        undone_at=row.undone_at,
        changed_rows=len(row.changed_rows),
    )
    change._rows = [RowChange.model_validate(each) for each in row.changed_rows]
    return change
