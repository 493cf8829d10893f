"""Attaching memories to entities, chapters and the book, for code and the command line.

A memory is named by its chunk_id or source_id. A target is an entity's id, name or alias, a chapter as
`chapter:3`, or `book`. What is set here outlives a new ingest of the memory's scene. Each function takes its
stores as a keyword; without them it opens those of the settings for the one call.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.models.memory import Attachment, StoryMemoryChunk
from novelgen.models.position import require_project_id
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores, stores_or_default


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


def memory_attach(
    project_id: str,
    memory_ids: Sequence[str],
    attached_to: Sequence[str],
    *,
    stores: MemoryStores | None = None,
) -> AttachmentChange:
    """Attach memories to entities, chapters or the book by hand.

    Args:
        project_id: The project, a plain string.
        memory_ids: Memories, at least one; each is attached to every target.
        attached_to: Targets, at least one.
        stores: Stores to use; None opens those of the settings.

    Returns:
        What changed; memories that were so attached by hand before are not among `changed`.

    Raises:
        UserInputError: When no memory or no target is given.
        UnknownMemoryError: When a memory is not stored; nothing is changed.
        UnknownEntityError: When an entity is not stored, with the nearest names; nothing is changed.
        UnknownSceneError: When no scene of a chapter is stored; nothing is changed.
        UnknownProjectError: When no such project is stored.
    """
    _require_given(memory_ids, attached_to)
    with stores_or_default(stores) as lent, lent.database(require_project_id(project_id)).write() as unit:
        changed = unit.attachments.attach(memory_ids, attached_to)
        return _change(unit, project_id, memory_ids, changed)


def memory_detach(
    project_id: str,
    memory_ids: Sequence[str],
    attached_to: Sequence[str],
    *,
    stores: MemoryStores | None = None,
) -> AttachmentChange:
    """Take memories off entities, chapters or the book, whether an author or an ingest attached them.

    The chapter in which a memory stands, and the book of a memory that is attached to nothing else, stay.
    Arguments and errors are those of `memory_attach`.
    """
    _require_given(memory_ids, attached_to)
    with stores_or_default(stores) as lent, lent.database(require_project_id(project_id)).write() as unit:
        changed = unit.attachments.detach(memory_ids, attached_to)
        return _change(unit, project_id, memory_ids, changed)


def memory_attach_by_mention(
    project_id: str, entity: str, *, preview: bool = True, stores: MemoryStores | None = None
) -> MentionAttachment:
    """Attach every memory whose text names an entity to it.

    Names and aliases count on word borders; a longer name that holds one does not, nor does what an author
    took off the entity.

    Args:
        project_id: The project, a plain string.
        entity: Id, name or alias.
        preview: Only tell which memories these are; nothing is changed.
        stores: Stores to use; None opens those of the settings.

    Raises:
        UnknownEntityError: When the entity is not stored, with the nearest names.
        UnknownProjectError: When no such project is stored.
    """
    with stores_or_default(stores) as lent:
        database = lent.database(require_project_id(project_id))
        with database.read() if preview else database.write() as unit:
            found = unit.attachments.mentioning(entity)
            if found and not preview:
                unit.attachments.attach([chunk.chunk_id for chunk in found], [entity])
    return MentionAttachment(target=entity, memories=found, is_attached=not preview)


def _require_given(memory_ids: Sequence[str], targets: Sequence[str]) -> None:
    if not memory_ids or not targets:
        raise UserInputError(
            "name at least one memory and one target: an entity, a chapter as chapter:3, or book"
        )


def _change(
    unit: UnitOfWork, project_id: str, memory_ids: Sequence[str], changed: list[str]
) -> AttachmentChange:
    attachments = {each: unit.attachments.attachments_of(each) for each in memory_ids}
    return AttachmentChange(changed=changed, attachments=attachments)
