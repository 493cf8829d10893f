"""Attachments of memories to entities, chapters and the book.

A memory is named by its chunk_id or source_id. A target is an entity's id, name or alias, a chapter as
`chapter:3`, or `book`. What is set here outlives a new ingest of the memory's scene.
"""

from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.language.resolver import NameResolver
from novelgen.models.memory import DISTILLED_TYPES, Attachment, StoryMemoryChunk, Target
from novelgen.models.position import END_OF_STORY
from novelgen.models.shown import Shown, ShownList
from runtime.storage.change import number_of
from runtime.storage.database import UnitOfWork
from runtime.storage.memories import AttachmentRepository
from runtime.storage.models import MemoryFilter
from runtime.story import base

_Linking = Callable[[AttachmentRepository, Sequence[str], Sequence[str]], list[str]]
"""Attaches memories to targets, or takes them off; see `AttachmentRepository`."""


class AttachmentChange(BaseModel):
    """The result of attaching or detaching memories."""

    changed: list[str] = Field(description="Chunk ids of the memories that changed, in the order asked.")
    attachments: dict[str, list[Attachment]] = Field(
        description="Memory as it was named, to everything that it is attached to now."
    )
    change_id: base.ChangeNumber = None


class MentionAttachment(BaseModel):
    """Memories that name an entity and were not attached to it."""

    target: str = Field(description="The entity as it was named.")
    memories: list[StoryMemoryChunk] = Field(description="In story order.")
    is_attached: bool = Field(description="False: this is a preview, and nothing was changed.")
    change_id: base.ChangeNumber = None


class MemoriesAbout(Shown, BaseModel):
    """Some memories about an entity."""

    entity_id: str
    memories: list[StoryMemoryChunk] = Field(
        description="What holds first, then what was replaced; the weightiest first."
    )
    more: int = Field(description="How many further ones there are.")

    def in_simpler_terms(self) -> ShownList[StoryMemoryChunk]:
        """Return the notebook representation."""
        return ShownList(self.memories)


MAX_BY_NAME = 200
"""So many memories are looked at that are attached to an entity, and as many that share words with its names."""


class StoryAttachments(base.StoryBase):
    """Attachments of memories to entities, chapters and the book."""

    def attach(self, memory_ids: Sequence[str], targets: Sequence[Target]) -> AttachmentChange:
        """Attach memories to entities, chapters or the book by hand.

        Args:
            memory_ids: chunk_id or source_id of each memory.
            targets: Entities by id or name, chapters as `chapter:3`, or `book`.
        """
        return self._link_memories(memory_ids, targets, AttachmentRepository.attach)

    def detach(self, memory_ids: Sequence[str], targets: Sequence[Target]) -> AttachmentChange:
        """Take memories off entities, chapters or the book, whether an author or an ingest attached them.

        The chapter in which a memory stands, and the book of a memory that is attached to nothing else, stay.

        Args:
            memory_ids: chunk_id or source_id of each memory.
            targets: Entities by id or name, chapters as `chapter:3`, or `book`.
        """
        return self._link_memories(memory_ids, targets, AttachmentRepository.detach)

    def attach_mentions(self, *, entity_id: base.Name, is_applied: bool = False) -> MentionAttachment:
        """Find every memory whose text names an entity and that is not attached to it; attach them when asked.

        Names and aliases count on word borders; a longer name that holds one does not, nor does what an author
        took off the entity.

        Args:
            entity_id: Id, name or alias.
            is_applied: Attach them; else they are only listed.
        """
        database = self._stores.database(self.project_id)
        with database.write() if is_applied else database.read() as unit:
            target_id = base.entity_of_exact_name(entity_id, base.known_entities(unit, None)).entity_id
            memories = unit.attachments.mentioning(target_id)
            change_id = None
            if memories and is_applied:
                ids = [chunk.chunk_id for chunk in memories]
                _, change_id = _link(unit, ids, [target_id], AttachmentRepository.attach)
        return MentionAttachment(target=entity_id, memories=memories, is_attached=is_applied, change_id=change_id)

    def list_about(self, entity_id: base.Name, *, limit: base.Count = 10, as_of: base.Place = None) -> MemoriesAbout:
        """Return what is remembered of an entity: what is attached to it, and what its names stand in.

        Args:
            entity_id: Id, name or alias.
            limit: At most so many, what holds and weighs most first.
            as_of: Only what lies strictly before this position.
        """
        as_of = base.position_of(as_of)
        position = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.shown_entities(unit, as_of)
            entity = base.entity_of_name(entity_id, known_entities)
            wanted_memory_filter = MemoryFilter(
                as_of=position, entities=[entity.entity_id], content_types=list(DISTILLED_TYPES)
            )
            attached_memories = unit.memories.by_entities(
                [entity.entity_id], as_of=position, content_types=DISTILLED_TYPES, limit=MAX_BY_NAME
            )
            by_words = MemoryFilter(as_of=position, content_types=list(DISTILLED_TYPES))
            hits = unit.lexical.search(" ".join(entity.names()), memory_filter=by_words, limit=MAX_BY_NAME)
            memories = unit.memories.by_ids([hit.chunk_id for hit in hits], as_of=position)
            count = unit.memories.count(wanted_memory_filter)
        own = {chunk.chunk_id for chunk in attached_memories}
        resolver = NameResolver(known_entities)
        named_memories = [
            chunk
            for chunk in memories
            if chunk.chunk_id not in own
            and entity.entity_id not in chunk.entities_mentioned
            and entity.entity_id in resolver.entity_ids_in(chunk.content)
        ]
        ranked_memories = sorted(
            [*attached_memories, *named_memories],
            key=lambda chunk: (chunk.superseded_by is not None, -chunk.importance),
        )
        return MemoriesAbout(
            entity_id=entity.entity_id,
            memories=ranked_memories[:limit],
            more=max(0, count + len(named_memories) - len(ranked_memories[:limit])),
        )

    def _link_memories(self, memory_ids: Sequence[str], targets: Sequence[Target], link: _Linking) -> AttachmentChange:
        if not memory_ids or not targets:
            raise UserInputError("name at least one memory and one target: an entity, a chapter as chapter:3, or book")
        with self._stores.database(self.project_id).write() as unit:
            meant_ids = base.resolved_targets(unit, targets, None, by_exact_name=True)
            changed, change_id = _link(unit, memory_ids, meant_ids, link)
            attachments = {memory_id: unit.attachments.attachments_of(memory_id) for memory_id in memory_ids}
        return AttachmentChange(changed=changed, attachments=attachments, change_id=change_id)

    alist_about = base.async_twin(list_about)
    aattach = base.async_twin(attach)
    adetach = base.async_twin(detach)
    aattach_mentions = base.async_twin(attach_mentions)


def _link(
    unit: UnitOfWork, memory_ids: Sequence[str], targets: Sequence[str], link: _Linking
) -> tuple[list[str], int | None]:
    """Attach or detach memories, and return changed ids and the change."""
    with unit.journal.recording_memories(memory_ids) as rows:
        changed = link(unit.attachments, memory_ids, targets)
    first = next(iter(changed), "")
    return changed, number_of(unit.journal.keep_of("memory", "edit", first, rows))
