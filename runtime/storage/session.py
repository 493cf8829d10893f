"""Database access of repositories: transaction and visible rows."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import defer
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import Session, col, select
from sqlmodel.main import default_registry

from novelgen.errors import DatabaseError, UnknownProjectError
from novelgen.models.memory import BOOK, chapter_of_target
from novelgen.models.position import StoryPosition
from runtime.storage.connection import WRITING, read_damaged_json
from runtime.storage.models import MemoryFilter
from runtime.storage.records import (
    SCENE_RECORD,
    ConsolidationSource,
    MemoryLink,
    MemoryRow,
    MemoryTag,
    Placed,
    Project,
    Row,
    Scene,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.orm import Mapped
    from sqlmodel.sql.expression import SelectOfScalar

AnyRow: TypeAlias = "sa.Row[*tuple[Any, ...]]"
"""Columns of a row, whose types the type checker does not know."""

Column: TypeAlias = "Mapped[Any] | sa.ColumnElement[Any]"
"""A column of a table's class, or what is computed from some."""

Record = TypeVar("Record", bound=Row)
Answer = TypeVar("Answer")


class SelectOptions(TypedDict, total=False):
    """Order, grouping and limit of a select."""

    order: Sequence[Any]
    group: Sequence[Any]
    limit: int | None


Integers: TypeAlias = "NDArray[np.int64]"

SQL_BATCH = 500
"""Values per list of parameters; SQLite takes at most 32,766 in a statement."""

_LISTED_VALUES = sa.text("SELECT value FROM json_each(:listed)")
"""A text, since the same as an expression takes four times as long to build, twenty times a stored scene."""

_UNSYNCHRONISED = {"synchronize_session": False}
"""Objects that were read are values of their own: an update or deletion has none to bring up to date."""


class StorageSession:
    """A SQLModel session in a transaction, bound to one project.

    Objects that it reads are detached at once: they are what was stored at that moment, and nothing that is done to
    them reaches the database but by `add` or `update`.
    """

    def __init__(self, connection: sa.Connection, clock: Callable[[], datetime], *, project_id: str) -> None:
        self.connection = connection
        self.now = clock
        self.project_id = project_id
        self._session = Session(connection, autoflush=False, expire_on_commit=False)
        self._is_writing = bool(connection.get_execution_options().get(WRITING))
        self._answers: dict[Hashable, Any] = {}

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite rather than PostgreSQL."""
        return self.connection.dialect.name == "sqlite"

    def once(self, question: Hashable, read: Callable[[], Answer]) -> Answer:
        """Return what a read gives, in a read transaction the same object for the same question.

        One snapshot answers alike however often it is asked. A transaction that writes reads each time.
        """
        if self._is_writing:
            return read()
        if question not in self._answers:
            self._answers[question] = read()
        answer: Answer = self._answers[question]
        return answer

    def project(self) -> Project | None:
        """Return the row of the project, or None when there is none."""
        return self.once("project", lambda: self.first(Project))

    def rows(self, statement: Any, parameters: Any = None) -> Sequence[AnyRow]:
        """Run a query for columns and return all rows."""
        return self.connection.execute(statement, parameters).all()

    def scalar(self, statement: Any) -> Any:
        """Run a query and return the first value of its first row, or None."""
        return self.connection.scalar(statement)

    def exec(self, statement: SelectOfScalar[Record]) -> list[Record]:
        """Run a query for whole rows of one table and return them as its objects."""
        records = list(self._session.exec(statement))
        self._session.expunge_all()
        return records

    def read(
        self, table: type[Record], *conditions: Any, without: Sequence[Any] = (), **options: Unpack[SelectOptions]
    ) -> list[Record]:
        """Return the project's rows of a table that fit all conditions as its objects.

        Columns to read `without` are None in them.
        """
        statement = _with_options(select(table).where(self.owns(table), *conditions), **options)
        records = self.exec(statement.options(*map(defer, without)) if without else statement)
        for record in records:
            for column in without:
                set_committed_value(record, column.key, None)
        return records

    def select(self, columns: Sequence[Any], *conditions: Any, **options: Unpack[SelectOptions]) -> Sequence[AnyRow]:
        """Select columns of project rows by conditions, the first naming the table."""
        statement = sa.select(*columns).where(self.owns(columns[0].parent.entity), *conditions)
        return self.rows(_with_options(statement, **options))

    def first(self, table: type[Record], *conditions: Any) -> Record | None:
        """Return the first matching project row, or None."""
        return next(iter(self.read(table, *conditions, limit=1)), None)

    def one(self, columns: Sequence[Any], *conditions: Any) -> AnyRow | None:
        """Return columns of the first matching project row, or None."""
        return next(iter(self.select(columns, *conditions, limit=1)), None)

    def value(self, column: Any, *conditions: Any) -> Any:
        """Return a column of the first matching project row, or None."""
        return next(iter(self.values(column, *conditions, limit=1)), None)

    def pairs(self, key: Any, value: Any, *conditions: Any) -> dict[Any, Any]:
        """Return two columns of the project's rows that fit all conditions, the one by the other."""
        return {row[0]: row[1] for row in self.select([key, value], *conditions)}

    def count(self, table: type[Row], *conditions: Any) -> int:
        """Return how many of the project's rows fit all conditions."""
        return int(self.scalar(sa.select(sa.func.count()).select_from(table).where(self.owns(table), *conditions)))

    def update(self, table: type[Row], *conditions: Any, **values: Any) -> int:
        """Change columns of the project's rows that fit all conditions, and return how many there are."""
        return self.run(sa.update(table).where(self.owns(table), *conditions).values(**values))

    def update_each(self, key: Any, changes: Iterable[tuple[Any, Mapping[str, Any]]]) -> None:
        """Update rows by a key column, batched by changed columns."""
        owner = key.parent.entity
        alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for value, new in changes:
            alike.setdefault(tuple(new), []).append({"changed_row": value, **new})
        alike.pop((), None)
        for rows in alike.values():
            # Core: a session updates many rows by primary key alone; 2,000 take .03 s so and .22 s one by one.
            changed = key == sa.bindparam("changed_row")
            self.run_many(table_of(owner).update().where(self.owns(owner), changed), rows)

    def delete(self, table: type[Row], *conditions: Any) -> int:
        """Delete the project's rows that fit all conditions, and return how many there were."""
        return self.run(sa.delete(table).where(self.owns(table), *conditions))

    def values(self, column: Any, *conditions: Any, **options: Unpack[SelectOptions]) -> list[Any]:
        """Return a column of matching project rows."""
        return [row[0] for row in self.select([column], *conditions, **options)]

    def integers(self, columns: Sequence[Column], *conditions: Any) -> list[Integers]:
        """Read columns of whole numbers as arrays."""
        return [parsed_integers(joined_text) for joined_text in self.joined_integers(columns, *conditions)]

    def joined_integers(self, columns: Sequence[Column], *conditions: Any) -> Sequence[str | None]:
        """Read columns of whole numbers whole: the database joins each by commas, which spares an object per row."""
        # SQLite joins numbers as they are; PostgreSQL wants texts.
        texts: Sequence[Any] = columns if self.is_sqlite else [sa.cast(column, sa.Text) for column in columns]
        joined_strings = (sa.func.aggregate_strings(column, ",") for column in texts)
        return tuple(self.connection.execute(sa.select(*joined_strings).where(*conditions)).one())

    def run(self, statement: Any) -> int:
        """Run an update or deletion and return the number of rows that it touched."""
        result: Any = self._session.exec(statement, execution_options=_UNSYNCHRONISED)
        return int(result.rowcount)

    def run_many(self, statement: sa.Executable, parameters: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement of Core for each of many mappings of parameters, in one go."""
        self.connection.execute(statement, parameters)

    def add(self, *records: Record) -> list[Record]:
        """Store objects as new rows of the project, and return these."""
        rows = []
        for record in records:
            own = {"project_id": self.project_id} if "project_id" in type(record).model_fields else {}
            rows.append(type(record)(**{**record.as_new(), **own}))
        self._session.add_all(rows)
        self._session.flush()
        self._session.expunge_all()
        return rows

    def insert(self, table: type[Row], rows: Sequence[Mapping[str, Any]], *, unless_stored: Sequence[str] = ()) -> None:
        """Insert rows with equal keys, optionally ignoring stored ones.

        For many rows: 2,000 states take .06 s as mappings and .27 s as objects of `add`.
        """
        if not rows:
            return
        own = {"project_id": self.project_id} if "project_id" in table.model_fields else {}
        statement: Any = sa.insert(table)
        if unless_stored:
            statement = self.upsert(table).on_conflict_do_nothing(index_elements=unless_stored)
        self._session.exec(statement, params=[{**row, **own} for row in rows])

    def upsert(self, table: type[Row]) -> sqlite.Insert | postgresql.Insert:
        """Return a dialect's INSERT with ON CONFLICT."""
        dialect = importlib.import_module(f"sqlalchemy.dialects.{self.connection.dialect.name}")
        statement: sqlite.Insert | postgresql.Insert = dialect.insert(table_of(table))
        return statement

    def among(self, column: Any, values: Iterable[str | int]) -> sa.ColumnElement[bool]:
        """Return the condition that a column has one of the values: one parameter, however many they are."""
        wanted_values = list(values)
        condition: sa.ColumnElement[bool]
        if self.is_sqlite:
            condition = column.in_(
                _LISTED_VALUES.bindparams(sa.bindparam("listed", json.dumps(wanted_values), unique=True))
            )
        else:
            condition = column == sa.any_(sa.cast(wanted_values, sa.ARRAY(column.type)))
        return condition

    def owns(self, table: Any) -> sa.ColumnElement[bool]:
        """Return the condition that a row of the table belongs to the project."""
        return _belongs(table, self.project_id)

    def own(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return the rows after checking that each carries the project's id."""
        for row in rows:
            if row.project_id != self.project_id:
                raise DatabaseError(
                    f"a row of project {row.project_id!r} was read for {self.project_id!r}; check the database"
                )
        return rows

    def touch(self) -> None:
        """Count a write to the project, which also lets its writers queue up on PostgreSQL."""
        if not self.update(Project, story_revision=col(Project.story_revision) + 1):
            raise UnknownProjectError(f"no project {self.project_id!r} is stored; create it first")

    def revision(self) -> int:
        """Return the number of the last write to the project, this transaction's own if it touched it."""
        return int(self.value(Project.story_revision))


Statement = TypeVar("Statement", bound="Any")


def _with_options(
    statement: Statement, *, order: Sequence[Any] = (), group: Sequence[Any] = (), limit: int | None = None
) -> Statement:
    # Each of these copies the statement, also where it adds nothing.
    if group:
        statement = statement.group_by(*group)
    if order:
        statement = statement.order_by(*order)
    return statement if limit is None else statement.limit(limit)


def table_of(model: type[Row]) -> sa.Table:
    """Return the table of a class, for the few statements of Core."""
    table: sa.Table = model.__table__  # type: ignore[attr-defined]
    return table


def table_name(model: type[Row]) -> str:
    """Return the name of the table of a class."""
    return str(model.__tablename__)


def tables_by_name() -> dict[str, type[Row]]:
    """Return every table's class by the name of the table."""
    classes = (mapper.class_ for mapper in default_registry.mappers)
    return {table_name(model): model for model in classes if issubclass(model, Row)}


def columns_of(model: Any, names: Iterable[str]) -> list[Any]:
    """Return some columns of a table's class."""
    return [getattr(model, name) for name in names]


@lru_cache(maxsize=512)
def _belongs(table: Any, project_id: str) -> sa.ColumnElement[bool]:
    # Nearly every statement has it, and an expression can stand in many of them.
    belongs: sa.ColumnElement[bool] = table.project_id == project_id
    return belongs


class Repository:
    """Base of repositories, each for one kind of row."""

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    @property
    def project_id(self) -> str:
        """The project of all rows."""
        return self._session.project_id


def parsed_integers(text: str | None) -> Integers:
    """Return comma-separated integers, empty for no text."""
    import numpy as np

    return np.fromstring(text or "", dtype=np.int64, sep=",")


def decoded_json(texts: Sequence[str]) -> list[Any]:
    """Return decoded JSON texts, unreadable ones empty."""
    try:
        values: list[Any] = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        values = []
    # A damaged text may hold a comma of its own.
    return values if len(values) == len(texts) else [read_damaged_json(text) for text in texts]


def batches(values: Iterable[Any], size: int = SQL_BATCH) -> list[list[Any]]:
    """Split values into lists of at most `size`."""
    listing = list(values)
    return [listing[start : start + size] for start in range(0, len(listing), size)]


Place = tuple[int | None, int | None]
"""Chapter and scene, as they are stored; None where there is none."""


def scene_ids_at(session: StorageSession, places: Iterable[Place]) -> dict[Place, str]:
    """Return scene ids at places, without empty places."""
    matches: dict[Place, str] = {}
    place = (col(Scene.chapter_index), col(Scene.scene_index))
    for batch in batches({place for place in places if None not in place}):
        rows = session.select([*place, col(Scene.scene_id)], sa.tuple_(*place).in_(batch))
        matches.update({(row[0], row[1]): row[2] for row in rows})
    return matches


def said_at(session: StorageSession, at: StoryPosition | Placed, *, follows_scene: bool) -> dict[str, Any]:
    """Return the columns that tell where an author says something.

    Args:
        session: The project's transaction.
        at: It holds after this place.
        follows_scene: It goes with the scene that stands there; else it keeps its place between the scenes.
    """
    place = (at.chapter_index, at.scene_index)
    scene_id = scene_ids_at(session, [place]).get(place) if follows_scene else None
    return {"scene_id": scene_id, "chapter_index": place[0], "scene_index": place[1], "origin": "author"}


def grouped(rows: Iterable[Any], name: str) -> defaultdict[Any, list[Any]]:
    """Return rows grouped by a column, in order."""
    rows_by_key: defaultdict[Any, list[AnyRow]] = defaultdict(list)
    for row in rows:
        rows_by_key[getattr(row, name)].append(row)
    return rows_by_key


def before(as_of: StoryPosition, table: Any) -> sa.ColumnElement[bool]:
    """Return the condition that a row lies strictly before a position, as `StoryPosition.admits` has it."""
    chapter, scene = table.chapter_index, table.scene_index
    if as_of.chapter_index is None:
        return sa.true()
    earlier_chapter = sa.or_(chapter.is_(None), chapter < as_of.chapter_index)
    if as_of.scene_index is None:
        return earlier_chapter
    earlier_scene = sa.and_(chapter == as_of.chapter_index, scene.is_not(None), scene < as_of.scene_index)
    return sa.or_(earlier_chapter, earlier_scene)


def within(since: StoryPosition, until: StoryPosition, table: Any) -> sa.ColumnElement[bool]:
    """Return the condition that a row lies before one position and not before another, earlier one."""
    return sa.and_(before(until, table), sa.not_(before(since, table)))


def story_order(table: Any) -> tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]:
    """Return the sort keys of story order: without a position first, a chapter as a whole before its scenes."""
    return table.chapter_index.asc().nulls_first(), table.scene_index.asc().nulls_first()


def alias_of(model: type[Row], name: str) -> Any:
    """Return the columns of a table under another name, made at once.

    Core: SQLAlchemy makes those of an alias when they are first asked for, and threads that come together there may
    each get their own, which no statement can join; those of a class's alias are adapted anew in each statement.
    """
    columns = table_of(model).alias(name).c
    columns.keys()
    return columns


def json_columns_of(model: type[Row], names: Iterable[str]) -> list[Any]:
    """Return columns of a table's class, the record of a scene as JSON."""
    return [SCENE_RECORD.label("record") if column is Scene.record else column for column in columns_of(model, names)]


_CONSOLIDATED = alias_of(MemoryRow, "consolidated")


def visible(project_id: str, as_of: StoryPosition) -> sa.ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a read at a position sees a memory of a project."""
    # Row ids of the sources of all consolidated memories before a position.
    links = ConsolidationSource
    return sa.and_(
        before(as_of, MemoryRow),
        col(MemoryRow.row_id).not_in(
            sa.select(col(links.source_row_id))
            .join(_CONSOLIDATED.row_id.table, _CONSOLIDATED.row_id == col(links.consolidated_row_id))
            .where(col(links.project_id) == project_id, before(as_of, _CONSOLIDATED))
        ),
    )


def unconsolidated(project_id: str, as_of: StoryPosition) -> sa.ColumnElement[bool]:
    """Return the condition without consolidation."""
    consolidated = sa.select(col(ConsolidationSource.consolidated_row_id)).where(
        col(ConsolidationSource.project_id) == project_id
    )
    return sa.and_(before(as_of, MemoryRow), col(MemoryRow.row_id).not_in(consolidated))


def filter_conditions(project_id: str, memory_filter: MemoryFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on `memory_chunks` that a filter stands for, the project's among them."""
    cut_function = unconsolidated if memory_filter.unconsolidated else visible
    conditions: list[Any] = [
        MemoryRow.project_id == project_id,
        col(MemoryRow.status).in_(memory_filter.statuses),
        cut_function(project_id, memory_filter.as_of),
    ]
    if memory_filter.content_types:
        conditions.append(col(MemoryRow.content_type).in_(memory_filter.content_types))
    if memory_filter.entities:
        conditions.append(linked_to(project_id, memory_filter.entities))
    if memory_filter.tags:
        tagged = sa.select(col(MemoryTag.chunk_row_id)).where(
            col(MemoryTag.project_id) == project_id, col(MemoryTag.tag).in_(memory_filter.tags)
        )
        conditions.append(col(MemoryRow.row_id).in_(tagged))
    if memory_filter.unverified_only:
        conditions.append(col(MemoryRow.verified).is_(False))
    return conditions


def linked_to(project_id: str, targets: Sequence[str]) -> sa.ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a memory is attached to one of some targets.

    A chapter has also what stands in it, and the book what is attached to nothing.
    """
    conditions: list[sa.ColumnElement[bool]] = [col(MemoryRow.row_id).in_(linked_rows(project_id, list(targets)))]
    chapters = [chapter for target_id in targets if (chapter := chapter_of_target(target_id)) is not None]
    if chapters:
        conditions.append(col(MemoryRow.chapter_index).in_(chapters))
    if BOOK in targets:
        links = sa.select(col(MemoryLink.chunk_row_id)).where(col(MemoryLink.chunk_row_id) == col(MemoryRow.row_id))
        conditions.append(~links.exists())
    return sa.or_(*conditions)


def linked_rows(project_id: str, entity_ids: list[str]) -> Any:
    """Return a query for the row ids of the chunks that are linked to one of the entities."""
    return sa.select(col(MemoryLink.chunk_row_id)).where(
        col(MemoryLink.project_id) == project_id, col(MemoryLink.entity_id).in_(entity_ids)
    )


def order_in_force(table: Any) -> tuple[Any, ...]:
    """Return the sort keys of events in the order in which they count: at one place the author's last.

    The same order as `novelgen.models.folds.in_force`; what was stored later comes later.
    """
    by_author = sa.case((table.origin == "author", 1), else_=0)
    return (*story_order(table), by_author, table.row_id)
