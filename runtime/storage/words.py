"""Everything an author or a model wrote that no scene's record brings, so that a name can be said otherwise in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, or_

from runtime.storage.journal import RowChange
from runtime.storage.outline import scene_hashes, source_hash
from runtime.storage.session import Repository
from runtime.storage.tables import (
    CHARACTER_MEMORIES,
    CHUNKS,
    ENTITIES,
    LOOP_EVENTS,
    RELATIONSHIP_CHANGES,
    STATES,
    SUMMARIES,
)

Words = Callable[[str], str]
"""Says a text in other words."""


class _Written(NamedTuple):
    """A table with words of its own: its key, the columns that hold them, and which rows no scene derives anew."""

    table: Table
    key: str
    columns: tuple[str, ...]
    own: ColumnElement[bool] | None = None


def _by_hand(table: Table) -> ColumnElement[bool]:
    own: ColumnElement[bool] = table.c.origin == "author"
    return own


_WRITTEN = (
    _Written(ENTITIES, "entity_id", ("role", "description", "profile")),
    _Written(
        CHUNKS,
        "chunk_id",
        ("content", "short"),
        or_(~CHUNKS.c.from_scene, CHUNKS.c.origin == "author", CHUNKS.c.pinned, CHUNKS.c.status != "active")
        & ~CHUNKS.c.is_consolidated
        & (CHUNKS.c.content_type != "scene"),
    ),
    _Written(STATES, "row_id", ("value",), _by_hand(STATES)),
    _Written(LOOP_EVENTS, "row_id", ("note", "detail"), _by_hand(LOOP_EVENTS)),
    _Written(
        RELATIONSHIP_CHANGES,
        "row_id",
        ("relationship_type", "status", "perspective_a", "perspective_b", "event"),
        _by_hand(RELATIONSHIP_CHANGES),
    ),
    _Written(SUMMARIES, "row_id", ("text",)),
    _Written(CHARACTER_MEMORIES, "memory_id", ("content", "short")),
)
"""What scenes bring by their records is derived anew from these, and passages from the text."""


class WordRepository(Repository):
    """Reads all that was written by hand, and says it in other words."""

    def changes(self, words: Words) -> list[RowChange]:
        """Return what would differ where every text were said in other words; nothing is written."""
        return [each for written in _WRITTEN for each in self._changes_of(written, words)]

    def memories_by_hand(self) -> set[str]:
        """Return the source ids of those memories of scenes that an author touched: no record tells them any more."""
        touched = or_(CHUNKS.c.origin == "author", CHUNKS.c.pinned, CHUNKS.c.status != "active")
        found = self._session.select([CHUNKS.c.source_id], CHUNKS.c.from_scene, touched)
        return {row.source_id for row in found if row.source_id}

    def current_summaries(self) -> list[int]:
        """Return the numbers of the rows of written summaries that are as new as their scenes."""
        hashes = scene_hashes(self._session)
        return [
            row.row_id
            for row in self._session.select(SUMMARIES)
            if row.source_hash == source_hash(hashes, row.first_chapter, row.last_chapter)
        ]

    def keep_current(self, row_ids: list[int]) -> list[RowChange]:
        """Let written summaries count as new as their scenes, which say the same otherwise; return what differs."""
        hashes = scene_hashes(self._session)
        changes = []
        for row in self._session.select(SUMMARIES, SUMMARIES.c.row_id.in_(row_ids)):
            now = source_hash(hashes, row.first_chapter, row.last_chapter)
            before, after = {"source_hash": row.source_hash}, {"source_hash": now}
            if before != after:
                self._session.update(SUMMARIES, SUMMARIES.c.row_id == row.row_id, **after)
                changes.append(RowChange(table=SUMMARIES.name, key={"row_id": row.row_id}, before=before, after=after))
        return changes

    def _changes_of(self, written: _Written, words: Words) -> Iterator[RowChange]:
        conditions = [] if written.own is None else [written.own]
        is_memory = written.table is CHUNKS
        columns = [
            written.table.c[name] for name in (written.key, *written.columns, *(["origin"] if is_memory else []))
        ]
        for row in self._session.select(columns, *conditions):
            old = {name: getattr(row, name) for name in written.columns}
            new = {name: reworded(value, words) for name, value in old.items()}
            changed = [name for name in written.columns if new[name] != old[name]]
            if changed and is_memory:
                # What the record says of it still says the old words: it is the author's from now on.
                changed, old, new = ([*changed, "origin"], {**old, "origin": row.origin}, {**new, "origin": "author"})
            if changed:
                yield RowChange(
                    table=written.table.name,
                    key={written.key: getattr(row, written.key)},
                    before={name: old[name] for name in changed},
                    after={name: new[name] for name in changed},
                )


def reworded(value: Any, words: Words) -> Any:
    """Return a value of JSON whose texts are said in other words; names of its fields stay."""
    if isinstance(value, str):
        return words(value)
    if isinstance(value, list):
        return [reworded(each, words) for each in value]
    if isinstance(value, Mapping):
        return {name: reworded(each, words) for name, each in value.items()}
    return value
