"""What memories are attached to: links and chapters, derived and set by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_

from novelgen.errors import UnknownMemoryError, UnknownSceneError
from novelgen.language.matching import NameFinder
from novelgen.language.resolver import NameResolver
from novelgen.models.memory import BOOK, Attachment, StoryMemoryChunk, chapter_of_target, chapter_target
from novelgen.models.position import END_OF_STORY
from runtime.storage.chunks import ChunkWriter, require_not_consolidated
from runtime.storage.entities import EntityRepository
from runtime.storage.memories import MemoryRepository
from runtime.storage.session import AnyRow, Repository, linked_rows, story_order, unconsolidated
from runtime.storage.tables import CHUNK_ENTITIES, CHUNKS, SCENES
from runtime.storage.terms import searchable_text

SHOWN_NAMES = 3


@dataclass(frozen=True)
class _ByHand:
    """What an author set on a memory and took off it."""

    attached: tuple[str, ...]
    detached: tuple[str, ...]

    def attach(self, target: str, _is_derived: bool) -> _ByHand:
        return _ByHand((*self._without(target).attached, target), self._without(target).detached)

    def detach(self, target: str, is_derived: bool) -> _ByHand:
        rest = self._without(target)
        return _ByHand(rest.attached, (*rest.detached, target) if is_derived else rest.detached)

    def _without(self, target: str) -> _ByHand:
        attached, detached = (tuple(each for each in side if each != target) for side in (self.attached, self.detached))
        return _ByHand(attached, detached)


_Change = Callable[[_ByHand, str, bool], _ByHand]


class AttachmentRepository(Repository):
    """Reads and changes what memories are attached to.

    A memory is named by its chunk_id or source_id; a target is `book`, `chapter:3`, or an entity's id. What is set or
    taken off here outlives a new ingest of the scene, which replaces only what was derived from it.
    """

    def attach(self, memory_ids: Sequence[str], targets: Sequence[str]) -> list[str]:
        """Attach memories to targets by hand."""

        return self._change(memory_ids, targets, _ByHand.attach)

    def detach(self, memory_ids: Sequence[str], targets: Sequence[str]) -> list[str]:
        """Take memories off targets by hand, whatever attached them; see `attach`.

        The chapter in which a memory stands, and the book of a memory that is attached to nothing else,
        cannot be taken off.
        """
        return self._change(memory_ids, targets, _ByHand.detach)

    def beyond_entities(self, target: str) -> str | None:
        """Return `book` or `chapter:3` where a target means the book or a chapter; None where it means an entity."""
        wanted = target.strip()
        chapter = chapter_of_target(wanted)
        if chapter is not None:
            stored = sorted(set(self._session.values(SCENES.c.chapter_index)))
            if chapter not in stored:
                near = sorted(stored, key=lambda each: (abs(each - chapter), each))[:SHOWN_NAMES]
                listed = ", ".join(map(chapter_target, near)) or "none"
                raise UnknownSceneError(f"no scene of chapter {chapter} is stored; nearest: {listed}")
            return chapter_target(chapter)
        return BOOK if wanted == BOOK else None

    def attachments_of(self, memory_id: str) -> list[Attachment]:
        """Return what a memory is attached to: entities in order of id, then chapters, then the book."""
        (row,) = self._rows([memory_id])
        links = self._session.select(
            CHUNK_ENTITIES,
            CHUNK_ENTITIES.c.chunk_row_id == row.row_id,
            order=[func.length(CHUNK_ENTITIES.c.entity_id), CHUNK_ENTITIES.c.entity_id],
        )
        origins: dict[str, str] = {link.entity_id: link.kind for link in links} or {BOOK: "default"}
        if row.chapter_index is not None:
            origins.setdefault(chapter_target(row.chapter_index), "position")
        entities = {one.entity.entity_id: one.entity for one in EntityRepository(self._session).list_all()}
        found = []
        for target, origin in origins.items():
            entity = entities.get(target)
            kind = _kind_of(target) if entity is None else entity.entity_type
            name = "" if entity is None else entity.name
            if kind is not None:
                found.append(
                    Attachment.model_validate({"kind": kind, "target": target, "name": name, "origin": origin})
                )
        return sorted(found, key=lambda each: (each.kind == BOOK, each.kind == "chapter"))

    def mentioning(self, entity_id: str) -> list[StoryMemoryChunk]:
        """Return the active memories whose text names an entity and that are not attached to it yet.

        What an author took off the entity by hand is not among them. A name that may mean somebody else in
        the same text does not count.
        """
        entities = [one.entity for one in EntityRepository(self._session).list_all()]
        names = [name for one in entities if one.entity_id == entity_id for name in one.names()]
        finder, resolver = NameFinder(names), NameResolver(entities)
        found = []
        for row in self._session.select(
            [CHUNKS.c.chunk_id, CHUNKS.c.content, CHUNKS.c.short, CHUNKS.c.detached],
            CHUNKS.c.status == "active",
            unconsolidated(self._session.project_id, END_OF_STORY),
            CHUNKS.c.row_id.not_in(linked_rows(self._session.project_id, [entity_id])),
            order=[*story_order(CHUNKS), CHUNKS.c.row_id],
        ):
            text = searchable_text(row.content, row.short)
            is_named = finder.find(text) and entity_id in resolver.entity_ids_in(text)
            if is_named and entity_id not in row.detached:
                found.append(row.chunk_id)
        return MemoryRepository(self._session).by_ids(found, with_sources=True)

    def _change(self, memory_ids: Sequence[str], targets: Sequence[str], change: _Change) -> list[str]:
        self._session.touch()
        changed = []
        for row in self._rows(memory_ids):
            before_change = by_hand = _ByHand(tuple(row.attached), tuple(row.detached))
            for target in targets:
                by_hand = change(by_hand, target, target in row.entities_mentioned)
            if by_hand != before_change:
                self._write(row, by_hand)
                changed.append(row.chunk_id)
        return changed

    def _write(self, row: AnyRow, by_hand: _ByHand) -> None:
        require_not_consolidated(self._session, row.row_id, row.chunk_id)
        writer = ChunkWriter(self._session)
        writer.withdraw_consolidations([row.row_id])
        values = {"attached": list(by_hand.attached), "detached": list(by_hand.detached)}
        self._session.update(CHUNKS, CHUNKS.c.row_id == row.row_id, **values)
        writer.relink([{**row._mapping, **values}])

    def _rows(self, memory_ids: Sequence[str]) -> list[AnyRow]:
        """Rows by chunk_id, else by source_id, each once, in the order given."""
        wanted = or_(
            self._session.among(CHUNKS.c.chunk_id, memory_ids), self._session.among(CHUNKS.c.source_id, memory_ids)
        )
        rows = self._session.select(CHUNKS, wanted, order=[CHUNKS.c.row_id])
        by_id = {row.source_id: row for row in reversed(rows)} | {row.chunk_id: row for row in rows}
        unknown = [each for each in memory_ids if each not in by_id]
        if unknown:
            raise UnknownMemoryError(
                f"no memory {unknown[0]!r} is stored in project {self._session.project_id!r};"
                f" list them with `novelgen memory list {self._session.project_id}`"
            )
        return list({by_id[each].row_id: by_id[each] for each in memory_ids}.values())


def _kind_of(target: str) -> str | None:
    """The kind of a target that is no stored entity; None for an entity that is gone."""
    if target == BOOK:
        return BOOK
    return None if chapter_of_target(target) is None else "chapter"
