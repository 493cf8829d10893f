"""Journal of changes with rows before and after, for undo."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import Field
from sqlalchemy import func, select, true
from sqlmodel import and_, col, not_, or_

from novelgen.errors import UnknownIdError, UserInputError
from novelgen.models.base import Model
from novelgen.models.knowledge import ALL_LIVED
from runtime.storage.change import (
    RUNS,
    Change,
    EntityChangeKind,
    Image,
    Images,
    Keeping,
    Kept,
    PlayKind,
    Recording,
    RowChange,
    ThreadChangeKind,
    change_of_row,
)
from runtime.storage.chunks import ChunkWriter, ConsolidationRepository, text_hash, text_values
from runtime.storage.columns import PLACE, ChangeSubject, SummaryLevel
from runtime.storage.models import DeletedScene
from runtime.storage.records import (
    EVENT_TABLES,
    POSITIONED_TABLES,
    AliasRow,
    ChangeRow,
    CharacterMemoryRow,
    CharacterSecret,
    Disclosure,
    EntityRow,
    FeltChange,
    FlagChange,
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
from runtime.storage.references import replaced_id, without_id
from runtime.storage.row_images import (
    DELETED_IMAGE,
    IMAGED_TABLES,
    NAMES,
    differences,
    image_text,
    key_text,
    plain_value,
    row_conditions,
    stored_values,
)
from runtime.storage.session import AnyRow, Repository, columns_of, json_columns_of, table_name
from runtime.storage.undo_checks import derived_columns, is_row_as_left, require_row_as_left, require_same

_OF_PLAY: Mapping[PlayKind, type[Row]] = {
    **{"feel": FeltChange, "secret": CharacterSecret, "flag": FlagChange},
    **{"reveal": Disclosure, "show": Disclosure},
}

MAX_KEPT_CHANGES = 500
"""Of memories, scenes, threads and consolidations, and as many runs, each whole; the oldest are forgotten, and cannot
be undone any more. By a scene's deletion its file is known as what stays away: while it stands it is kept."""

MAX_NAMED = 5
"""So many later changes an error names."""

_FORGOTTEN_SUBJECTS: tuple[ChangeSubject, ...] = ("memory", "scene", "thread", "consolidation")

_Part = tuple[type[Row], Sequence[str], Any]
"""Columns of those rows of a table that fit a condition."""

_Current = dict[tuple[str, str], Image]
"""Rows by table and key."""


def _whole(table: type[Row], condition: Any) -> _Part:
    return table, list(table.model_fields), condition


_NOT_THE_AUTHORS = frozenset(
    ("row_id", "content_hash", "term_count", "last_accessed_at", "chapter_index", "scene_index", "scene_id")
)
"""Columns of a memory that follow from others, from its scene or from its reading."""

_PARENTS = (table_name(EntityRow), table_name(Scene), table_name(Pair))


def _is_of(table: type[Row], *names: str) -> Callable[[str], Any]:
    return lambda entity_id: or_(*(getattr(table, name) == entity_id for name in names))


GOING_WITH: Mapping[type[Row], Callable[[str], Any]] = {
    CharacterMemoryRow: _is_of(CharacterMemoryRow, "character_id"),
    CharacterSecret: _is_of(CharacterSecret, "character_id"),
    FeltChange: _is_of(FeltChange, "character_id", "other_id"),
    Disclosure: _is_of(Disclosure, "character_id", "other_id"),
    Knowledge: lambda entity_id: or_(
        Knowledge.character_id == entity_id, and_(Knowledge.source_id == ALL_LIVED, Knowledge.learned_from == entity_id)
    ),
}
"""Which rows of what a character knows, remembers and feels go when an entity is deleted: those that are its own, and
those that say nothing without it. What another felt for somebody, or told to somebody, is of both."""


class Deletion(Model):
    """A deletion with the references to it."""

    change: Change
    unlinked_memories: list[str] = Field(
        default_factory=list, description="Chunk ids of memories that stay and lost a link."
    )
    removed_relationships: list[str] = Field(default_factory=list)
    changed_threads: list[str] = Field(
        default_factory=list, description="Ids of threads that stay and lost a reference."
    )
    changed_scenes: list[str] = Field(
        default_factory=list, description="Ids of scenes whose cast, place or record lost a reference."
    )
    changed_entities: list[str] = Field(
        default_factory=list, description="Ids of others whose card or state lost a reference."
    )
    removed_character_memories: list[str] = Field(default_factory=list, description="Ids of what it remembered itself.")
    changed_character_memories: list[str] = Field(
        default_factory=list, description="Ids of what others remember of it, which lost a reference."
    )


class Journal(Repository):
    """Journal of changed rows, with undo."""

    def keep(
        self, kind: str, entity_id: str, other_id: str, rows: Sequence[RowChange], *, subject: ChangeSubject = "entity"
    ) -> Change:
        """Write a change down and return it with its number."""
        of_runs = col(ChangeRow.kind).in_(RUNS)
        last_runs = (
            self._session.values(ChangeRow.other_id, of_runs, order=_LATEST_FIRST, limit=1) if kind in RUNS else []
        )
        change = ChangeRow(
            subject=subject,
            kind=kind,
            entity_id=entity_id,
            other_id=other_id,
            created_at=self._session.now(),
            changed_rows=[row.model_dump() for row in rows],
        )
        (stored_change_row,) = self._session.add(change)
        if kind in RUNS and other_id not in last_runs:
            self._forget_old(col(ChangeRow.other_id), of_runs)
        elif kind not in RUNS and subject in _FORGOTTEN_SUBJECTS:
            is_away = and_(
                col(ChangeRow.subject) == "scene", col(ChangeRow.kind) == "delete", col(ChangeRow.undone_at).is_(None)
            )
            of_subjects = col(ChangeRow.subject).in_(_FORGOTTEN_SUBJECTS)
            self._forget_old(col(ChangeRow.row_id), of_subjects, ~of_runs, ~is_away)
        return change_of_row(stored_change_row)

    def keep_of(self, subject: ChangeSubject, kind: str, thing_id: str, rows: Sequence[RowChange]) -> Change | None:
        """Record the change of one thing, or return None without one."""
        return self.keep(kind, thing_id, "", rows, subject=subject) if rows else None

    def keep_fields(
        self, subject: ChangeSubject, kind: str, thing_id: str, before: Image, after: Image
    ) -> Change | None:
        """Record a thing's changed fields, or return None without any.

        What is kept so is put back by who can make the thing anew, such as a scene of its text and record.
        """
        names = [name for name, value in after.items() if before[name] != value]
        old, new = ({name: image[name] for name in names} for image in (before, after))
        fields = RowChange(table="", key={}, before=old, after=new)
        return self.keep_of(subject, kind, thing_id, [fields] if names else [])

    def keep_added(self, *chunk_ids: str, edited: Sequence[RowChange] = ()) -> Change:
        """Record added and edited memories together.

        Undo deletes the added ones.
        """
        statuses = self._session.pairs(
            col(MemoryRow.chunk_id), col(MemoryRow.status), self._session.among(MemoryRow.chunk_id, chunk_ids)
        )
        added_row_changes = [
            RowChange(
                table=table_name(MemoryRow), key={"chunk_id": chunk_id}, before=DELETED_IMAGE, after={"status": status}
            )
            for chunk_id, status in statuses.items()
        ]
        rows = [*added_row_changes, *edited]
        return self.keep("add" if added_row_changes else "edit", rows[0].key["chunk_id"], "", rows, subject="memory")

    def keep_names(
        self,
        kind: EntityChangeKind,
        entity_id: str,
        other_id: str,
        names: Sequence[str],
        *,
        note_rows: Sequence[RowChange] = (),
    ) -> Change:
        """Write down that names of a candidate became an entity's.

        Args:
            kind: The kind of the change.
            entity_id: The entity.
            other_id: The candidate.
            names: The names.
            note_rows: What changed of the notes with these names.

        Returns:
            The change with its number.
        """
        keys = ({"entity_id": entity_id, "alias": name} for name in names)
        name_rows = [RowChange(table=table_name(AliasRow), key=key, after=key) for key in keys]
        return self.keep(kind, entity_id, other_id, [*name_rows, *note_rows])

    def recording(self, *, deleted_id: str | None = None) -> Recording:
        """Yield a list that receives the block's changes of entity references."""
        parts: list[_Part] = []
        for imaged in IMAGED_TABLES.values():
            # Consolidated memories are withdrawn beforehand, and made anew of their sources.
            staying = ~col(MemoryRow.is_consolidated) if imaged.table is MemoryRow else true()
            if deleted_id is not None and imaged.table in GOING_WITH:
                going = GOING_WITH[imaged.table](deleted_id)
                staying = or_(not_(going), going.is_(None))
                parts.append(_whole(imaged.table, going))
            parts.append((imaged.table, imaged.columns, staying))
        return self._recorded(parts)

    def recording_card(self, entity_id: str) -> Recording:
        """Yield a list that receives the block's changes of a card."""
        condition = and_(State.entity_id == entity_id, State.origin == "author")
        own = EntityRow.entity_id == entity_id
        return self._recorded([_whole(EntityRow, own), _whole(State, condition)], names_of=[entity_id])

    def recording_cards(self, entity_ids: Sequence[str]) -> Recording:
        """Give a list that holds how the block changed the cards of several entities and their names."""
        own = self._session.among(EntityRow.entity_id, entity_ids)
        return self._recorded([_whole(EntityRow, own)], names_of=entity_ids)

    def recording_memories(self, memory_ids: Collection[str], *, with_place: bool = False) -> Recording:
        """Give a list that holds how the block changed memories, by whichever of their ids, once it has ended.

        Where they stand is of it if the author moves them.
        """
        left_out = _NOT_THE_AUTHORS - {*PLACE, "scene_id"} if with_place else _NOT_THE_AUTHORS
        names = [name for name in MemoryRow.model_fields if name not in left_out]
        named_condition = or_(
            *(self._session.among(id_, memory_ids) for id_ in columns_of(MemoryRow, ("chunk_id", "source_id")))
        )
        return self._recorded([(MemoryRow, names, named_condition)])

    def recording_scene(self, scene_id: str) -> Recording:
        """Yield a list that receives the block's changes of a scene."""
        events: tuple[Any, ...] = EVENT_TABLES
        came_from_it = [(table, table.origin == "record") for table in events]
        own: list[tuple[Any, Any]] = [
            (Scene, true()),
            (MemoryRow, col(MemoryRow.from_scene)),
            *came_from_it,
            (NameMention, true()),
        ]
        return self._recorded([_whole(table, and_(table.scene_id == scene_id, condition)) for table, condition in own])

    def recording_knowledge_of(self, source_id: str) -> Recording:
        """Give a list that holds how the block changed what the author said of who knows a memory."""
        return self._recorded([_whole(Knowledge, and_(Knowledge.origin == "author", Knowledge.source_id == source_id))])

    def recording_knowledge(self, character_id: str, source_id: str) -> Recording:
        """Yield a list that receives the block's changes of an author's knowledge statements."""
        of_both = and_(
            Knowledge.origin == "author", Knowledge.character_id == character_id, Knowledge.source_id == source_id
        )
        return self._recorded([_whole(Knowledge, of_both)])

    def changing_play(self, kind: PlayKind, whose: str, other_id: str = "") -> Keeping:
        """Record the block's changes of feelings, disclosures, flags or secrets."""
        table: Any = _OF_PLAY[kind]
        if kind == "secret":
            condition = and_(table.character_id == whose, table.secret_id == other_id)
        else:
            condition = table.row_id > (self._session.scalar(select(func.max(table.row_id))) or 0)
        subject: ChangeSubject = "entity" if kind == "flag" else "character"
        return self._changing(table, condition, kind, whose, other_id, subject=subject)

    def changing_thread(self, kind: ThreadChangeKind, loop_id: str, description: str) -> Keeping:
        """Record the block's changes of a thread."""
        of_thread = LoopEvent.loop_id == loop_id
        return self._changing(LoopEvent, of_thread, kind, loop_id, description, subject="thread")

    def changing_pair(self, one: str, other: str) -> Keeping:
        """Record the block's statements on a pair."""
        pair = and_(Pair.character_a == min(one, other), Pair.character_b == max(one, other))
        pair_condition = col(RelationshipChange.relationship_id).in_(
            select(col(Pair.relationship_id)).where(self._session.owns(Pair), pair)
        )
        return self._changing(RelationshipChange, pair_condition, "relate", one, other)

    def changing_summary(self, level: SummaryLevel, number: int) -> Keeping:
        """Record the block's changes of summaries."""
        of_this = and_(Summary.level == level, Summary.number == number)
        return self._changing(Summary, of_this, "summary", level, str(number))

    def list_all(self, subject: ChangeSubject = "entity", *, entity_ids: Collection[str] | None = None) -> list[Change]:
        """Return all changes of a subject, the oldest first, undone ones included."""
        of_these = [] if entity_ids is None else [col(ChangeRow.entity_id).in_(list(entity_ids))]
        return self._changes(ChangeRow.subject == subject, *of_these, order=[col(ChangeRow.row_id)])

    def scenes_edited(self) -> frozenset[str]:
        """Return the ids of the scenes with a title or text edited by hand."""
        kinds_by_scene = {
            change.entity_id: change.kind
            for change in self.list_all("scene")
            if change.undone_at is None and change.kind in ("text", "title", "ingest")
        }
        return frozenset(scene_id for scene_id, kind in kinds_by_scene.items() if kind != "ingest")

    def scenes_deleted(self) -> list[DeletedScene]:
        """Return the scenes whose deletion stands, the last first."""
        return [
            DeletedScene(
                change_id=change.change_id,
                text=row.before.get("text") or "",
                file_version=row.before.get("file_version"),
            )
            for change in reversed(self.list_all("scene"))
            if change.kind == "delete" and change.undone_at is None
            for row in change.rows
            if row.table == table_name(Scene) and row.before is not None
        ]

    def latest(self, limit: int, *, subjects: Sequence[ChangeSubject]) -> list[Change]:
        """Return the last changes of subjects, latest first, one per run."""
        runs = (self._session.owns(ChangeRow), col(ChangeRow.kind).in_(RUNS))
        ends = (
            select(func.max(col(ChangeRow.row_id))).where(*runs).group_by(col(ChangeRow.kind), col(ChangeRow.other_id))
        )
        conditions = (
            col(ChangeRow.subject).in_(subjects),
            or_(col(ChangeRow.kind).not_in(RUNS), col(ChangeRow.row_id).in_(ends)),
        )
        return self._changes(*conditions, limit=limit)

    def room_before(self, change: Change) -> Change | None:
        """Return the change that made room, without a scene, right before a run, while it stands."""
        first = self.of_run(change)[-1].change_id
        before = self._changes(col(ChangeRow.row_id) < first, ChangeRow.subject == "scene", limit=1)
        is_room = before and before[0].kind == "insert" and "text" not in before[0].after and not before[0].undone_at
        return before[0] if is_room else None

    def of_run(self, change: Change) -> list[Change]:
        """Return the changes of the run that a change was part of, the latest first."""
        return self._changes(ChangeRow.kind == change.kind, ChangeRow.other_id == change.other_id)

    def last_standing(self) -> Change:
        """Return the last change, of whatever kind, that was not undone yet.

        One of a memory or scene that is gone by now is passed over, and so is a consolidated memory that was withdrawn.
        """
        has_thing = (
            select(column).where(self._session.owns(table))
            for table, column in ((MemoryRow, col(MemoryRow.chunk_id)), (Scene, col(Scene.scene_id)))
        )
        is_there = or_(
            col(ChangeRow.subject).in_(("entity", "thread", "character")),
            and_(ChangeRow.subject == "scene", ChangeRow.kind == "delete"),
            *(col(ChangeRow.entity_id).in_(entity_ids) for entity_ids in has_thing),
        )
        standing_changes = self._changes(col(ChangeRow.undone_at).is_(None), is_there, limit=1)
        if not standing_changes:
            raise UserInputError(
                "nothing was changed that could be undone; the list of changes is empty, or all undone"
            )
        return standing_changes[0]

    def require(self, change_id: int) -> Change:
        """Return a change."""
        changes = self._changes(ChangeRow.row_id == change_id)
        if not changes:
            raise UnknownIdError(f"no change {change_id!r} is kept; list them with `novelgen entity changes`")
        return changes[0]

    def require_standing(self, change_id: int) -> Change:
        """Return a change that can still be undone."""
        change = self.require(change_id)
        if change.undone_at is not None:
            raise UserInputError(f"change {change_id!r} is undone already; list them to find another one")
        return change

    def undo(self, change_id: int) -> Change:
        """Undo a change, keeping independent later ones."""
        return self.undo_but_derived(change_id)[0]

    def undo_but_derived(self, change_id: int) -> tuple[Change, set[str]]:
        """Undo a change, and return the ids of scenes to derive anew.

        They are those whose derived rows were made anew since a merge or split, so that they are not as it left them.
        """
        self._session.touch()
        change = self.require_standing(change_id)
        scene_ids: set[str] = set()
        if change.subject == "consolidation":
            ConsolidationRepository(self._session).undo(change.entity_id)
        else:
            if change.subject == "entity":
                ConsolidationRepository(self._session).withdraw_linked([change.entity_id, change.other_id])
            named_row_changes = [row for row in change.rows if row.table == NAMES]
            for row in named_row_changes:
                require_same(change, row.after or {}, self._names_of(row.key["entity_id"]), "the card")
            # What else stands in place of a table is put back by who can derive it anew.
            rows = [row for row in change.rows if row.table in IMAGED_TABLES]
            if change.kind in ("merge", "split"):
                rows, scene_ids = self._without_derived(change, rows)
            self._restore(change, rows if change.subject == "entity" else self._as_known_now(rows))
            for row in named_row_changes:
                self._session.delete(AliasRow, AliasRow.entity_id == row.key["entity_id"])
                self._session.insert(AliasRow, (row.before or {})["names"])
        return self.mark_undone(change_id), scene_ids

    def _without_derived(self, change: Change, rows: Sequence[RowChange]) -> tuple[list[RowChange], set[str]]:
        """Return rows without what was derived anew since a change, and the scenes of that."""
        current = self._current(rows)
        kept_rows: list[RowChange] = []
        scene_ids: set[str] = set()
        for row in rows:
            now = current.get((row.table, key_text(row.table, row.key)))
            derived = derived_columns(row.table, now)
            if not derived or is_row_as_left(change, row, now):
                kept_rows.append(row)
                continue
            scene_id = (now or row.image).get("scene_id")
            scene_ids |= {scene_id} if scene_id else set()
            if now is not None and row.before is not None and row.after is not None:
                before, after = (
                    {name: value for name, value in image.items() if name not in derived}
                    for image in (row.before, row.after)
                )
                if after:
                    kept_rows.append(row.model_copy(update={"before": before, "after": after}))
        return kept_rows, scene_ids

    def naming_later_of_scene(self, change: Change, scene_id: str, error: UserInputError) -> UserInputError:
        """Return an error that names the later changes of a scene, where the journal has any."""

        def is_same(other: Change) -> bool:
            is_own = other.subject == "scene" and other.entity_id == scene_id
            return is_own or any(row.key.get("scene_id") == scene_id for row in other.rows)

        return self._naming_later(change, is_same, error)

    def _naming_later_of_row(self, change: Change, row: RowChange, error: UserInputError) -> UserInputError:
        def is_same(other: Change) -> bool:
            return any((other_row.table, other_row.key) == (row.table, row.key) for other_row in other.rows)

        return self._naming_later(change, is_same, error)

    def _naming_later(self, change: Change, is_same: Callable[[Change], bool], error: UserInputError) -> UserInputError:
        """Return an error that names the later changes of the same thing, where the journal has any."""
        later = [
            str(other.change_id)
            for other in self._changes(col(ChangeRow.row_id) > change.change_id, col(ChangeRow.undone_at).is_(None))
            if is_same(other)
        ]
        return UserInputError(f"{error}; changed later by {', '.join(later[:MAX_NAMED])}") if later else error

    def rewrite(self, rows: Sequence[RowChange]) -> None:
        """Write rows as they are to be after a change."""
        self._session.touch()
        self._update([row.model_copy(update={"before": row.after}) for row in rows], self._current(rows))

    def include_in_undo(self, scene_id: str, *, was: str, now: str) -> None:
        """Include a pass's changes of a record in the undo of its reading."""
        for change in self.list_all("scene", entity_ids=[scene_id]):
            if change.undone_at is None and change.after.get("image") == was:
                rows = [row.model_copy(update={"after": {**(row.after or {}), "image": now}}) for row in change.rows]
                entries = [row.model_dump() for row in rows]
                self._session.update(ChangeRow, ChangeRow.row_id == change.change_id, changed_rows=entries)

    def mark_undone(self, change_id: int) -> Change:
        """Note that a change was undone now."""
        self._session.update(ChangeRow, ChangeRow.row_id == change_id, undone_at=self._session.now())
        return self.require(change_id)

    def withdraw_names(self, change_id: int) -> tuple[Change, list[str]]:
        """Undo what a change of `keep_names` did to notes, and return it with the names that it gave."""
        change = self.require_standing(change_id)
        names = [row.key["alias"] for row in change.rows if row.table == table_name(AliasRow)]
        self._restore(change, [row for row in change.rows if row.table != table_name(AliasRow)])
        return self.mark_undone(change_id), names

    def is_refused(self, entity_id: str, other_id: str) -> bool:
        """Tell whether somebody undid that two entities became one."""
        pair = {entity_id, other_id}
        return any(row.undone_at and {row.entity_id, row.other_id} == pair for row in self._of_kind("merge"))

    def names_brought(self, change_id: int) -> list[str]:
        """Return the names that an entity got when another became part of it."""
        change = self.require(change_id)
        came = [
            row.after for row in change.rows if row.table == table_name(AliasRow) and row.before is None and row.after
        ]
        return [str(after["alias"]) for after in came if after["entity_id"] == change.entity_id]

    def survivors(self) -> dict[str, str]:
        """Return the surviving entity of each merged one."""
        survivors_by_id = {row.other_id: row.entity_id for row in self._of_kind("merge") if row.undone_at is None}
        gone_ids = self._not_stored(survivors_by_id)
        results = {}
        for entity_id in gone_ids:
            survivor = survivors_by_id[entity_id]
            while survivor in gone_ids:
                survivor = survivors_by_id[survivor]
            results[entity_id] = survivor
        return results

    def _changes(self, *conditions: Any, order: Sequence[Any] | None = None, limit: int | None = None) -> list[Change]:
        rows = self._session.read(ChangeRow, *conditions, order=order or _LATEST_FIRST, limit=limit)
        return [change_of_row(row) for row in rows]

    def _of_kind(self, kind: EntityChangeKind) -> Sequence[AnyRow]:
        columns = (col(ChangeRow.entity_id), col(ChangeRow.other_id), col(ChangeRow.undone_at))
        of_kind = (ChangeRow.subject == "entity", ChangeRow.kind == kind)
        return self._session.select(columns, *of_kind, order=[col(ChangeRow.row_id)])

    def _not_stored(self, entity_ids: Collection[str]) -> list[str]:
        stored_ids = set(self._session.values(EntityRow.entity_id)) if entity_ids else set()
        return [entity_id for entity_id in entity_ids if entity_id not in stored_ids]

    def _as_known_now(self, rows: Sequence[RowChange]) -> list[RowChange]:
        """Return images with merged ids replaced and deleted ones dropped."""
        survivors = self.survivors()
        deleted = self._not_stored({row.entity_id for row in self._of_kind("delete") if row.undone_at is None})

        def known(image: Image | None) -> Image | None:
            for gone_id, survivor in survivors.items():
                image = replaced_id(image, gone_id, survivor)
            for gone_id in deleted:
                image = None if image is None else {name: without_id(item, gone_id) for name, item in image.items()}
            return image

        return [row.model_copy(update={"before": known(row.before), "after": known(row.after)}) for row in rows]

    def _forget_old(self, unit: Any, *conditions: Any) -> None:
        old = select(unit).where(self._session.owns(ChangeRow), *conditions).group_by(unit)
        old = old.order_by(func.max(col(ChangeRow.row_id)).desc()).offset(MAX_KEPT_CHANGES)
        self._session.delete(ChangeRow, *conditions, unit.in_(old))

    @contextmanager
    def _recorded(self, parts: Sequence[_Part], *, names_of: Sequence[str] = ()) -> Iterator[list[RowChange]]:
        def pictured() -> Images:
            images: defaultdict[str, dict[str, Image]] = defaultdict(dict)
            for table, names, condition in parts:
                for row in self._session.select(json_columns_of(table, names), condition):
                    image = {name: plain_value(value) for name, value in row._mapping.items()}
                    images[table_name(table)][key_text(table_name(table), image)] = image
            for entity_id in names_of:
                images[NAMES][entity_id] = self._names_of(entity_id)
            return images

        changes: list[RowChange] = []
        before = pictured()
        yield changes
        changes += differences(before, pictured())

    @contextmanager
    def _changing(
        self,
        table: type[Row],
        condition: Any,
        kind: str,
        thing_id: str,
        other_id: str,
        *,
        subject: ChangeSubject = "entity",
    ) -> Iterator[Kept]:
        journal_entry = Kept()
        with self._recorded([_whole(table, condition)]) as rows:
            yield journal_entry
        if rows:
            journal_entry.change_id = self.keep(kind, thing_id, other_id, rows, subject=subject).change_id

    def _names_of(self, entity_id: str) -> Image:
        """Return an entity's other names in order, independent of row numbers."""
        columns = columns_of(AliasRow, (name for name in AliasRow.model_fields if name not in ("row_id", "project_id")))
        rows = self._session.select(columns, AliasRow.entity_id == entity_id, order=[col(AliasRow.row_id)])
        return {"entity_id": entity_id, "names": [dict(row._mapping) for row in rows]}

    def _restore(self, change: Change, rows: Sequence[RowChange]) -> None:
        """Put rows back as they were before a change."""
        order = list(IMAGED_TABLES)
        rows = sorted(rows, key=lambda row_change: order.index(row_change.table))
        current = self._current(rows)
        returning = [(row, row.before) for row in rows if row.before and row.after is None]
        for row, image in returning:
            if row.table == table_name(Scene) and self._session.first(
                Scene, *(getattr(Scene, entity_id) == image[entity_id] for entity_id in PLACE)
            ):
                where = f"{image['chapter_index']}:{image['scene_index']}"
                raise UserInputError(f"another scene stands at {where!r} by now; move it first, or make room there")
        for row in rows:
            try:
                require_row_as_left(change, row, current.get((row.table, key_text(row.table, row.key))))
            except UserInputError as error:
                raise self._naming_later_of_row(change, row, error) from error
        self._require_pairs(returning)
        # Parents come first, for what is to hang on them again; what was added goes before the rest comes, which
        # may need its numbers.
        self._insert([pair for pair in returning if pair[0].table in _PARENTS])
        self._update([row for row in rows if row.before is not None and row.after is not None], current)
        for row in reversed(rows):
            if row.before is None:
                self._session.delete(IMAGED_TABLES[row.table].table, *row_conditions(row))
        self._insert([pair for pair in returning if pair[0].table not in _PARENTS])

    def _require_pairs(self, returning: Sequence[tuple[RowChange, Image]]) -> None:
        """Refuse to bring back how a pair stood that was deleted or merged since."""
        pairs = {image["relationship_id"] for row, image in returning if row.table == table_name(RelationshipChange)}
        pairs -= {image["relationship_id"] for row, image in returning if row.table == table_name(Pair)}
        pair_id = col(Pair.relationship_id)
        if pairs.difference(self._session.values(pair_id, self._session.among(pair_id, pairs))):
            raise UserInputError(
                "how two stood whose relationship is gone by now hangs on it; undo its deletion or merge first"
            )

    def _current(self, rows: Sequence[RowChange]) -> _Current:
        """Return the rows that were changed as they are now, by table and key, whole."""
        results: _Current = {}
        for table in {row.table for row in rows}:
            imaged = IMAGED_TABLES[table]
            first = imaged.key[0]
            row_ids = {row.key[first] for row in rows if row.table == table}
            columns = json_columns_of(imaged.table, imaged.table.model_fields)
            for row in self._session.select(columns, self._session.among(getattr(imaged.table, first), row_ids)):
                image = dict(row._mapping)
                results[table, key_text(table, image)] = image
        return results

    def _insert(self, rows: Sequence[tuple[RowChange, Image]]) -> None:
        memories: list[Image] = []
        for row, before in rows:
            table: Any = IMAGED_TABLES[row.table].table
            image = stored_values(table, self._at_its_scene(table, before))
            number = image.pop("row_id", None)
            if table is MemoryRow:
                memories.append(image)
                continue
            # The number orders rows: it is kept unless another has it by now.
            if number is not None and not self._session.scalar(select(table.row_id).where(table.row_id == number)):
                image["row_id"] = number
            self._session.insert(table, [image | self._revised(table)])
        if memories:
            ChunkWriter(self._session).insert(memories)

    def _update(self, rows: Sequence[RowChange], current: _Current) -> None:
        memories: list[tuple[Image, Image]] = []
        by_key: defaultdict[Any, list[tuple[Any, Image]]] = defaultdict(list)
        for row in rows:
            table, key = IMAGED_TABLES[row.table].table, IMAGED_TABLES[row.table].key
            kept_ids = (*key, "row_id")
            values = {name: value for name, value in (row.before or {}).items() if name not in kept_ids}
            values = stored_values(table, values) | self._revised(table)
            if table is Scene and "content_hash" in values:
                mark = current[row.table, key_text(row.table, row.key)]["content_hash"]
                if mark != (row.after or {}).get("content_hash"):
                    # It was written anew since: its mark is neither the one of then nor that of now.
                    values["content_hash"] = text_hash(mark, values["content_hash"])
            if table is MemoryRow and values:
                now = current[row.table, key_text(row.table, row.key)]
                memories.append((now, values | text_values({**now, **values})))
                continue
            if table is CharacterMemoryRow and "content" in values:
                # What was embedded is another text.
                values |= {"content_hash": text_hash(values["content"]), "embedding_model": None, "vector": None}
            if len(key) == 1:
                by_key[getattr(table, key[0])].append((row.key[key[0]], values))
            elif values:
                self._session.update(table, *row_conditions(row), **values)
        for column, changes in by_key.items():
            self._session.update_each(column, changes)
        ChunkWriter(self._session).update(memories)

    def _revised(self, table: type[Row]) -> dict[str, int]:
        """Return the revision mark that invalidates cached minds."""
        return {"changed": self._session.revision()} if table is CharacterMemoryRow else {}

    def _at_its_scene(self, table: type[Row], row: Image) -> Image:
        """Return a row with the position that its scene has by now."""
        if table not in POSITIONED_TABLES or row.get("scene_id") is None:
            return row
        here = self._session.one(columns_of(Scene, PLACE), Scene.scene_id == row["scene_id"])
        if here is None:
            raise UserInputError(
                f"the scene of a row of {table_name(table)} was deleted since ({image_text(row)}); correct it by hand"
            )
        return {**row, **here._mapping}


_LATEST_FIRST = [col(ChangeRow.row_id).desc()]
