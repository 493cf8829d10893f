"""What every repository works with: a connection in a transaction, and which rows a read may see."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack

import sqlalchemy as sa
from pydantic import BaseModel

from novelgen.errors import DatabaseError, UnknownProjectError
from novelgen.models.memory import BOOK, chapter_of_target
from novelgen.models.position import StoryPosition
from runtime.storage.connection import read_damaged_json
from runtime.storage.records import MemoryFilter, StoredEvent
from runtime.storage.tables import (
    CHUNK_ENTITIES,
    CHUNK_TAGS,
    CHUNKS,
    CONSOLIDATION_SOURCES,
    PROJECTS,
    SCENES,
    alias_with_columns,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy.dialects import postgresql, sqlite

AnyRow: TypeAlias = "sa.Row[*tuple[Any, ...]]"
"""A row of a query whose columns are not told to the type checker."""

What: TypeAlias = "sa.Table | Sequence[sa.ColumnElement[Any]]"
"""A table whole, or columns of one."""

Model = TypeVar("Model", bound=BaseModel)


class Shown(TypedDict, total=False):
    """In which order, by what and how many rows of a query are given."""

    order: Sequence[sa.ColumnElement[Any]]
    group: Sequence[sa.ColumnElement[Any]]
    limit: int | None


Integers: TypeAlias = "NDArray[np.int64]"

SQL_BATCH = 500
"""Values per list of parameters; SQLite takes at most 32,766 in a statement."""


class StorageSession:
    """A connection in a transaction, bound to one project."""

    def __init__(self, connection: sa.Connection, clock: Callable[[], datetime], *, project_id: str) -> None:
        self.connection = connection
        self.now = clock
        self.project_id = project_id

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite; else it is PostgreSQL."""
        return self.connection.dialect.name == "sqlite"

    def rows(self, statement: sa.Executable, parameters: Any = None) -> Sequence[AnyRow]:
        """Run a query and return all rows."""
        return self.connection.execute(statement, parameters).all()

    def scalar(self, statement: sa.Executable) -> Any:
        """Run a query and return the first value of its first row, or None."""
        return self.connection.scalar(statement)

    def select(
        self,
        what: What,
        *conditions: sa.ColumnElement[bool],
        order: Sequence[sa.ColumnElement[Any]] = (),
        group: Sequence[sa.ColumnElement[Any]] = (),
        limit: int | None = None,
    ) -> Sequence[AnyRow]:
        """Return the project's rows of a table, whole or some columns of it, that fit all conditions."""
        table, columns = (what, [what]) if isinstance(what, sa.Table) else (what[0].table, what)
        statement = sa.select(*columns).where(self.owns(table), *conditions)
        # Each of these copies the statement, also where it adds nothing.
        if group:
            statement = statement.group_by(*group)
        if order:
            statement = statement.order_by(*order)
        if limit is not None:
            statement = statement.limit(limit)
        return self.rows(statement)

    def models(
        self, model: type[Model], table: sa.Table, *conditions: sa.ColumnElement[bool], **shown: Unpack[Shown]
    ) -> list[Model]:
        """Return the project's rows of a table that fit all conditions as models, whose fields they hold."""
        return [model.model_validate(row, from_attributes=True) for row in self.select(table, *conditions, **shown)]

    def one(self, what: What, *conditions: sa.ColumnElement[bool]) -> AnyRow | None:
        """Return the first of the project's rows that fit all conditions; None where there is none."""
        return next(iter(self.select(what, *conditions, limit=1)), None)

    def value(self, column: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool]) -> Any:
        """Return what the first of the project's rows that fit all conditions has in a column; None without one."""
        return next(iter(self.values(column, *conditions, limit=1)), None)

    def pairs(
        self, key: sa.ColumnElement[Any], value: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool]
    ) -> dict[Any, Any]:
        """Return two columns of the project's rows that fit all conditions, the one by the other."""
        return {row[0]: row[1] for row in self.select([key, value], *conditions)}

    def count(self, table: sa.Table, *conditions: sa.ColumnElement[bool]) -> int:
        """Return how many of the project's rows fit all conditions."""
        return int(self.scalar(sa.select(sa.func.count()).select_from(table).where(self.owns(table), *conditions)))

    def update(self, table: sa.Table, *conditions: sa.ColumnElement[bool], **values: Any) -> int:
        """Change columns of the project's rows that fit all conditions, and return how many there are."""
        return self.run(table.update().where(self.owns(table), *conditions).values(**values))

    def update_each(self, key: sa.ColumnElement[Any], changes: Iterable[tuple[Any, Mapping[str, Any]]]) -> None:
        """Change rows of the project that a column names, each in its own way, those of the same columns in one go."""
        table = key.table
        alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for value, new in changes:
            alike.setdefault(tuple(new), []).append({"changed_row": value, **new})
        alike.pop((), None)
        for rows in alike.values():
            self.run(table.update().where(self.owns(table), key == sa.bindparam("changed_row")), rows)

    def delete(self, table: sa.Table, *conditions: sa.ColumnElement[bool]) -> int:
        """Delete the project's rows that fit all conditions, and return how many there were."""
        return self.run(table.delete().where(self.owns(table), *conditions))

    def values(
        self, column: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool], **shown: Unpack[Shown]
    ) -> list[Any]:
        """Return what the project's rows that fit all conditions have in a column."""
        return [row[0] for row in self.select([column], *conditions, **shown)]

    def integers(self, columns: Sequence[sa.ColumnElement[int]], *conditions: sa.ColumnElement[bool]) -> list[Integers]:
        """Read columns of whole numbers as arrays."""
        return [parsed_integers(each) for each in self.joined_integers(columns, *conditions)]

    def joined_integers(
        self, columns: Sequence[sa.ColumnElement[int]], *conditions: sa.ColumnElement[bool]
    ) -> Sequence[str | None]:
        """Read columns of whole numbers whole: the database joins each by commas, which spares an object per row."""
        # SQLite joins numbers as they are; PostgreSQL wants texts.
        texts = columns if self.is_sqlite else [sa.cast(column, sa.Text) for column in columns]
        joined = (sa.func.aggregate_strings(each, ",") for each in texts)
        return tuple(self.connection.execute(sa.select(*joined).where(*conditions)).one())

    def run(self, statement: sa.Executable, parameters: Any = None) -> int:
        """Run a writing statement and return the number of rows that it touched."""
        return self.connection.execute(statement, parameters).rowcount

    def insert(self, table: sa.Table, rows: Sequence[dict[str, Any]], *, unless_stored: Sequence[str] = ()) -> None:
        """Insert rows of the project that all have the same keys; none is allowed, and one that is stored may be."""
        own = {"project_id": self.project_id} if "project_id" in table.c else {}
        statement = self.upsert(table)
        if unless_stored:
            statement = statement.on_conflict_do_nothing(index_elements=unless_stored)
        if rows:
            self.connection.execute(statement, [row | own for row in rows])

    def upsert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT that can be given ON CONFLICT, for this dialect; the other one is never imported."""
        dialect = importlib.import_module(f"sqlalchemy.dialects.{self.connection.dialect.name}")
        made: sqlite.Insert | postgresql.Insert = dialect.insert(table)
        return made

    def among(self, column: sa.ColumnElement[Any], values: Iterable[str | int]) -> sa.ColumnElement[bool]:
        """Return the condition that a column has one of the values: one parameter, however many they are."""
        wanted = list(values)
        if self.is_sqlite:
            listed = sa.func.json_each(json.dumps(wanted)).table_valued("value")
            return column.in_(sa.select(listed.c.value))
        return column == sa.any_(sa.cast(wanted, sa.ARRAY(column.type)))

    def owns(self, table: sa.FromClause) -> sa.ColumnElement[bool]:
        """Return the condition that a row of the table belongs to the project."""
        return _belongs(table, self.project_id)

    def own(self, rows: Sequence[AnyRow]) -> Sequence[AnyRow]:
        """Return the rows after checking that each carries the project's id."""
        for row in rows:
            if row.project_id != self.project_id:
                raise DatabaseError(
                    f"a row of project {row.project_id!r} was read for {self.project_id!r}; check the database"
                )
        return rows

    def touch(self) -> None:
        """Count a write to the project, which also lets its writers queue up on PostgreSQL."""
        if not self.update(PROJECTS, story_revision=PROJECTS.c.story_revision + 1):
            raise UnknownProjectError(f"no project {self.project_id!r} is stored; create it first")

    def revision(self) -> int:
        """Return the number of the last write to the project, this transaction's own if it touched it."""
        return int(self.value(PROJECTS.c.story_revision))


@lru_cache(maxsize=512)
def _belongs(table: sa.FromClause, project_id: str) -> sa.ColumnElement[bool]:
    # Nearly every statement has it, and an expression can stand in many of them.
    belongs: sa.ColumnElement[bool] = table.c.project_id == project_id
    return belongs


class Repository:
    """What reads and writes one kind of thing within a transaction."""

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    @property
    def project_id(self) -> str:
        """Whose rows it reads and writes."""
        return self._session.project_id


def parsed_integers(joined: str | None) -> Integers:
    """Return the numbers of a text with commas between them; none for no text."""
    import numpy as np

    return np.fromstring(joined or "", dtype=np.int64, sep=",")


def decoded_json(texts: Sequence[str]) -> list[Any]:
    """Return what texts of JSON say, decoded at one go; one that cannot be read counts as empty."""
    try:
        values: list[Any] = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        values = []
    # A damaged text may hold a comma of its own.
    return values if len(values) == len(texts) else [read_damaged_json(text) for text in texts]


def batches(values: Iterable[Any], size: int = SQL_BATCH) -> list[list[Any]]:
    """Cut values into lists of at most `size`; none gives no list."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]


Place = tuple[int | None, int | None]
"""Chapter and scene, as they are stored; None where there is none."""


def scene_ids_at(session: StorageSession, places: Iterable[Place]) -> dict[Place, str]:
    """Return the ids of the scenes at these places; a place without a scene is left out."""
    found: dict[Place, str] = {}
    place = (SCENES.c.chapter_index, SCENES.c.scene_index)
    for batch in batches({each for each in places if None not in each}):
        rows = session.select([*place, SCENES.c.scene_id], sa.tuple_(*place).in_(batch))
        found.update({(row[0], row[1]): row[2] for row in rows})
    return found


def said_at(session: StorageSession, at: StoryPosition | StoredEvent, *, follows_scene: bool) -> dict[str, Any]:
    """Return the columns that tell where an author says something.

    Args:
        session: The project's transaction.
        at: It holds after this place.
        follows_scene: It goes with the scene that stands there; else it keeps its place between the scenes.
    """
    place = (at.chapter_index, at.scene_index)
    scene_id = scene_ids_at(session, [place]).get(place) if follows_scene else None
    return {"scene_id": scene_id, "chapter_index": place[0], "scene_index": place[1], "origin": "author"}


def grouped(rows: Iterable[AnyRow], name: str) -> defaultdict[Any, list[AnyRow]]:
    """Return rows by what they have in a column, each group in their order."""
    found: defaultdict[Any, list[AnyRow]] = defaultdict(list)
    for row in rows:
        found[getattr(row, name)].append(row)
    return found


def before(as_of: StoryPosition, table: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that a row lies strictly before a position, as `StoryPosition.admits` has it."""
    chapter, scene = table.c.chapter_index, table.c.scene_index
    if as_of.chapter_index is None:
        return sa.true()
    earlier_chapter = sa.or_(chapter.is_(None), chapter < as_of.chapter_index)
    if as_of.scene_index is None:
        return earlier_chapter
    earlier_scene = sa.and_(chapter == as_of.chapter_index, scene.is_not(None), scene < as_of.scene_index)
    return sa.or_(earlier_chapter, earlier_scene)


def within(since: StoryPosition, until: StoryPosition, table: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that a row lies before one position and not before another, earlier one."""
    return sa.and_(before(until, table), sa.not_(before(since, table)))


def story_order(table: sa.FromClause) -> tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]:
    """Return the sort keys of story order: without a position first, a chapter as a whole before its scenes."""
    return table.c.chapter_index.asc().nulls_first(), table.c.scene_index.asc().nulls_first()


_CONSOLIDATED = alias_with_columns(CHUNKS, "consolidated")


def visible(project_id: str, as_of: StoryPosition) -> sa.ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a read at a position sees a memory of a project."""
    # Row ids of the sources of all consolidated memories before a position.
    links = CONSOLIDATION_SOURCES
    return sa.and_(
        before(as_of, CHUNKS),
        CHUNKS.c.row_id.not_in(
            sa.select(links.c.source_row_id)
            .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == links.c.consolidated_row_id)
            .where(links.c.project_id == project_id, before(as_of, _CONSOLIDATED))
        ),
    )


def unconsolidated(project_id: str, as_of: StoryPosition) -> sa.ColumnElement[bool]:
    """Return the same condition as if nothing were consolidated: what scenes and authors brought."""
    consolidated = sa.select(CONSOLIDATION_SOURCES.c.consolidated_row_id).where(
        CONSOLIDATION_SOURCES.c.project_id == project_id
    )
    return sa.and_(before(as_of, CHUNKS), CHUNKS.c.row_id.not_in(consolidated))


def filter_conditions(project_id: str, memory_filter: MemoryFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on `memory_chunks` that a filter stands for, the project's among them."""
    cut = unconsolidated if memory_filter.unconsolidated else visible
    conditions = [
        CHUNKS.c.project_id == project_id,
        CHUNKS.c.status.in_(memory_filter.statuses),
        cut(project_id, memory_filter.as_of),
    ]
    if memory_filter.content_types:
        conditions.append(CHUNKS.c.content_type.in_(memory_filter.content_types))
    if memory_filter.entities:
        conditions.append(linked_to(project_id, memory_filter.entities))
    if memory_filter.tags:
        tagged = sa.select(CHUNK_TAGS.c.chunk_row_id).where(
            CHUNK_TAGS.c.project_id == project_id, CHUNK_TAGS.c.tag.in_(memory_filter.tags)
        )
        conditions.append(CHUNKS.c.row_id.in_(tagged))
    if memory_filter.unverified_only:
        conditions.append(CHUNKS.c.verified.is_(False))
    return conditions


def linked_to(project_id: str, targets: Sequence[str]) -> sa.ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a memory is attached to one of some targets.

    A chapter has also what stands in it, and the book what is attached to nothing.
    """
    conditions: list[sa.ColumnElement[bool]] = [CHUNKS.c.row_id.in_(linked_rows(project_id, list(targets)))]
    chapters = [chapter for each in targets if (chapter := chapter_of_target(each)) is not None]
    if chapters:
        conditions.append(CHUNKS.c.chapter_index.in_(chapters))
    if BOOK in targets:
        links = sa.select(CHUNK_ENTITIES.c.chunk_row_id).where(CHUNK_ENTITIES.c.chunk_row_id == CHUNKS.c.row_id)
        conditions.append(~links.exists())
    return sa.or_(*conditions)


def linked_rows(project_id: str, entity_ids: list[str]) -> sa.Select[tuple[int]]:
    """Return a query for the row ids of the chunks that are linked to one of the entities."""
    return sa.select(CHUNK_ENTITIES.c.chunk_row_id).where(
        CHUNK_ENTITIES.c.project_id == project_id, CHUNK_ENTITIES.c.entity_id.in_(entity_ids)
    )


def order_in_force(table: sa.FromClause) -> tuple[sa.ColumnElement[Any], ...]:
    """Return the sort keys of events in the order in which they count: at one place the author's last.

    The same order as `novelgen.models.folds.in_force`; what was stored later comes later.
    """
    by_author = sa.case((table.c.origin == "author", 1), else_=0)
    return (*story_order(table), by_author, table.c.row_id)
