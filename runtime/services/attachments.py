"""What users do with the links of memories to what they are about: entities, chapters and the whole book.

A memory is named by its chunk_id or source_id. A target is an entity's id, name or alias, a chapter as
`chapter:3`, or `book`. What is set here outlives a new ingest of the memory's scene.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.models.memory import Attachment, StoryMemoryChunk
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores


class AttachmentChange(BaseModel):
    """What became of memories that were attached or taken off."""

    changed: list[str] = Field(description="Chunk ids of the memories that changed, in the order asked.")
    attachments: dict[str, list[Attachment]] = Field(
        description="Memory as it was named, to everything that it is attached to now."
    )


class MentionAttachment(BaseModel):
    """Memories that name an entity and were not attached to it."""

    target: str = Field(description="The entity as it was named.")
    memories: list[StoryMemoryChunk] = Field(description="In story order.")
    is_attached: bool = Field(description="False: this is a preview, and nothing was changed.")


def attach_memories(
    stores: MemoryStores, project_id: str, *, memory_ids: Sequence[str], targets: Sequence[str]
) -> AttachmentChange:
    """Attach memories to entities, chapters or the book by hand.

    Args:
        stores: The stores.
        project_id: The project.
        memory_ids: Memories, at least one; each is attached to every target.
        targets: Targets, at least one.

    Returns:
        What changed; memories that were so attached by hand before are not among `changed`.

    Raises:
        UserInputError: When no memory or no target is given.
        UnknownMemoryError: When a memory is not stored; nothing is changed.
        UnknownEntityError: When an entity is not stored, with the nearest names; nothing is changed.
        UnknownSceneError: When no scene of a chapter is stored; nothing is changed.
        UnknownProjectError: When no such project is stored.
    """
    _require_given(memory_ids, targets)
    with stores.database(project_id).write() as unit:
        changed = unit.attachments.attach(memory_ids, targets)
        return _change(unit, memory_ids, changed)


def detach_memories(
    stores: MemoryStores, project_id: str, *, memory_ids: Sequence[str], targets: Sequence[str]
) -> AttachmentChange:
    """Take memories off entities, chapters or the book, whether an author or an ingest attached them.

    The chapter in which a memory stands, and the book of a memory that is attached to nothing else, stay.
    Arguments and errors are those of `attach_memories`.
    """
    _require_given(memory_ids, targets)
    with stores.database(project_id).write() as unit:
        changed = unit.attachments.detach(memory_ids, targets)
        return _change(unit, memory_ids, changed)


def attach_mentions(
    stores: MemoryStores, project_id: str, *, entity: str, is_applied: bool = False
) -> MentionAttachment:
    """Find every memory whose text names an entity and that is not attached to it; attach them when asked.

    Names and aliases count on word borders; a longer name that holds one does not, nor does what an author
    took off the entity.

    Args:
        stores: The stores.
        project_id: The project.
        entity: Id, name or alias.
        is_applied: Attach them; else only tell which memories these are.

    Raises:
        UnknownEntityError: When the entity is not stored, with the nearest names.
        UnknownProjectError: When no such project is stored.
    """
    database = stores.database(project_id)
    with database.write() if is_applied else database.read() as unit:
        found = unit.attachments.mentioning(entity)
        if found and is_applied:
            unit.attachments.attach([chunk.chunk_id for chunk in found], [entity])
    return MentionAttachment(target=entity, memories=found, is_attached=is_applied)


def _require_given(memory_ids: Sequence[str], targets: Sequence[str]) -> None:
    if not memory_ids or not targets:
        raise UserInputError(
            "name at least one memory and one target: an entity, a chapter as chapter:3, or book"
        )


def _change(unit: UnitOfWork, memory_ids: Sequence[str], changed: list[str]) -> AttachmentChange:
    attachments = {each: unit.attachments.attachments_of(each) for each in memory_ids}
    return AttachmentChange(changed=changed, attachments=attachments)
