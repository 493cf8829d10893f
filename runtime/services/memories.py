"""What users do with single memories: look at them, add notes, edit, pin, ban and delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.models.memory import CONTENT_TYPES, Attachment, ContentType, StoryMemoryChunk, is_entity_target
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.names.resolver import NameResolver
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.services.references import known_entities, resolved_ids, resolved_targets
from runtime.storage.memory.memories import MemoryRepository
from runtime.storage.records import MemoryEdit, MemoryFilter, MemoryStatus, StoredMemory
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

DEFAULT_LIMIT = 50


class MemoryListing(BaseModel):
    """Some memories, and how many there are in all."""

    memories: list[StoredMemory] = Field(description="In story order.")
    total: int


class MemoryCard(StoredMemory):
    """A memory with all that it is attached to."""

    attachments: list[Attachment]
    occurs_nowhere: bool = Field(
        default=False, description="Whom it is about occurs in no stored scene, or is not known at all."
    )


class MemoryChange(BaseModel):
    """A memory after an author's decision."""

    memory: StoredMemory
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class AddedNote(BaseModel):
    """A note that was stored, and whom it concerns."""

    note: StoryMemoryChunk
    named: list[str] = Field(description="Ids of the entities that its text names or that were given.")
    occurs_nowhere: bool = Field(
        description="It was given to somebody, and whom it is about occurs in no stored scene."
    )
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def list_memories(
    stores: MemoryStores,
    project_id: str,
    *,
    attached_to: Sequence[str] = (),
    entities: Sequence[str] = (),
    content_types: Sequence[str] = (),
    status: MemoryStatus = "active",
    limit: int | None = DEFAULT_LIMIT,
    as_of: StoryPosition | None = None,
) -> MemoryListing:
    """List memories in story order.

    A chapter has what was attached to it and what stands in it; the book, what was attached to it and what is
    attached to nothing else.

    Args:
        stores: The stores.
        project_id: The project.
        attached_to: Only memories attached to one of these: entities by id, name or alias, chapters as `chapter:3`,
            or `book`.
        entities: The same, by its older name; a memory of either list is listed.
        content_types: Only memories of these kinds.
        status: What was decided about them.
        limit: At most so many; None means all.
        as_of: Position of the read; None means the end of the story.

    Raises:
        UnknownEntityError: When nobody bears a name by then, or several do.
        UnknownSceneError: When no scene of a chapter is stored.
        UserInputError: When there is no such kind.
    """
    with stores.database(project_id).read() as unit:
        wanted = MemoryFilter(
            as_of=as_of or END_OF_STORY,
            entities=resolved_targets(unit, [*attached_to, *entities], as_of),
            content_types=_content_types(content_types),
            statuses=[status],
        )
        found = unit.memories.list_matching(wanted, limit=limit)
        return MemoryListing(memories=found, total=unit.memories.count(wanted))


def find_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryCard:
    """Return a memory whole, whatever was decided about it.

    Args:
        stores: The stores.
        project_id: The project.
        memory_id: Its chunk_id or source_id.

    Raises:
        UnknownMemoryError: When there is none of that id.
    """
    with stores.database(project_id).read() as unit:
        memory = _found(unit, project_id, memory_id)
        attachments = unit.attachments.attachments_of(memory.chunk.chunk_id)
        occurs_nowhere = _occurs_nowhere(unit, _about(memory, attachments))
    return MemoryCard(**dict(memory), attachments=attachments, occurs_nowhere=occurs_nowhere)


def add_note(
    stores: MemoryStores,
    project_id: str,
    *,
    text: str,
    entities: Sequence[str] = (),
    start: StoryPosition | None = None,
) -> AddedNote:
    """Store a fact of the author.

    Args:
        stores: The stores.
        project_id: The project.
        text: What holds in the story.
        entities: Whom it is about, by id, name or alias.
        start: It is read from this position on; None means everywhere.

    Raises:
        UserInputError: When the text is empty.
        UnknownEntityError: When it is about somebody unknown.
    """
    if not text.strip():
        raise UserInputError("the note is empty; write what holds in the story")
    with stores.database(project_id).write() as unit:
        known = known_entities(unit, None)
        ids = resolved_ids(entities, known)
        note = unit.memories.add_note(text.strip(), at=place_before(start), entities=ids)
        named = list(dict.fromkeys([*ids, *NameResolver(known).entity_ids_in(text)]))
        occurs_nowhere = _occurs_nowhere(unit, ids)
    indexing = drain_outbox(stores, project_id)
    return AddedNote(note=note, named=named, occurs_nowhere=occurs_nowhere, indexing=indexing)


def edit_memory(
    stores: MemoryStores,
    project_id: str,
    *,
    memory_id: str,
    content: str | None = None,
    short: str | None = None,
    importance: int | None = None,
    tags: Sequence[str] | None = None,
) -> MemoryChange:
    """Change a memory; from then on it is the author's, and no ingest touches it.

    Args:
        stores: The stores.
        project_id: The project.
        memory_id: Its chunk_id or source_id.
        content: New text; without a new short form the old one is dropped. None leaves it, as for all.
        short: New short form.
        importance: New weight, 1 to 10.
        tags: New tags, all of them.

    Raises:
        UserInputError: When nothing is to be changed, the new text is empty, or a greater weight is asked for
            a memory whose people occur nowhere.
        UnknownMemoryError: When there is none of that id.
    """
    edit = MemoryEdit(
        content=content or None, short=short, importance=importance, tags=None if tags is None else list(tags)
    )
    if content is not None and not content.strip():
        raise UserInputError("the new text is empty; delete the memory instead: `novelgen memory delete`")
    if not edit.model_dump(exclude_none=True):
        raise UserInputError("nothing to change; give a text, a short form, an importance or tags")

    def change(unit: UnitOfWork, memory: StoredMemory) -> StoredMemory:
        if importance is not None and importance > memory.chunk.importance:
            _refuse_boost(unit, project_id, memory)
        return unit.memories.edit(memory.chunk.chunk_id, edit)

    return _changed(stores, project_id, memory_id, change)


def pin_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryChange:
    """Pin a memory: it outranks the others.

    Args:
        stores: The stores.
        project_id: The project.
        memory_id: Its chunk_id or source_id.

    Raises:
        UnknownMemoryError: When there is none of that id.
        UserInputError: When whom it is about occurs nowhere in the story.
    """

    def pin(unit: UnitOfWork, memory: StoredMemory) -> StoredMemory:
        _refuse_boost(unit, project_id, memory)
        return unit.memories.pin(memory.chunk.chunk_id)

    return _changed(stores, project_id, memory_id, pin)


def unpin_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryChange:
    """Take a pin off; raises as `ban_memory`."""
    return _decided(stores, project_id, memory_id, MemoryRepository.unpin)


def ban_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryChange:
    """Ban a memory: it is kept, but no search and no context brings it.

    Args:
        stores: The stores.
        project_id: The project.
        memory_id: Its chunk_id or source_id.

    Raises:
        UnknownMemoryError: When there is none of that id.
        UserInputError: When it is a consolidated memory.
    """
    return _decided(stores, project_id, memory_id, MemoryRepository.ban)


def unban_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryChange:
    """Lift a ban, or bring a deleted memory back; raises as `ban_memory`."""
    return _decided(stores, project_id, memory_id, MemoryRepository.unban)


def delete_memory(stores: MemoryStores, project_id: str, *, memory_id: str) -> MemoryChange:
    """Delete a memory, which a new ingest does not bring back; raises as `ban_memory`."""
    return _decided(stores, project_id, memory_id, MemoryRepository.delete)


def place_before(start: StoryPosition | None) -> StoryPosition:
    """Return the place at which a note must stand to be read from a position on, and not before.

    What stands at a place is read strictly after it, and at the end of a chapter from the next one on.
    """
    if start is None or start.chapter_index is None:
        return END_OF_STORY
    if start.scene_index:
        return StoryPosition(start.chapter_index, start.scene_index - 1)
    return StoryPosition(start.chapter_index - 1) if start.chapter_index else END_OF_STORY


def _decided(
    stores: MemoryStores,
    project_id: str,
    memory_id: str,
    decide: Callable[[MemoryRepository, str], StoredMemory],
) -> MemoryChange:
    return _changed(
        stores,
        project_id,
        memory_id,
        lambda unit, memory: decide(unit.memories, memory.chunk.chunk_id),
    )


def _changed(
    stores: MemoryStores,
    project_id: str,
    memory_id: str,
    change: Callable[[UnitOfWork, StoredMemory], StoredMemory],
) -> MemoryChange:
    with stores.database(project_id).write() as unit:
        memory = change(unit, _found(unit, project_id, memory_id))
    return MemoryChange(memory=memory, indexing=drain_outbox(stores, project_id))


def _found(unit: UnitOfWork, project_id: str, memory_id: str) -> StoredMemory:
    memory = unit.memories.find(memory_id)
    if memory is None:
        raise UnknownMemoryError(
            f"no memory {memory_id!r} in project {project_id!r}; list them with `novelgen memory list {project_id}`"
        )
    return memory


def _refuse_boost(unit: UnitOfWork, project_id: str, memory: StoredMemory) -> None:
    attachments = unit.attachments.attachments_of(memory.chunk.chunk_id)
    about = _about(memory, attachments)
    if _occurs_nowhere(unit, about):
        raise UserInputError(
            f"memory {memory.chunk.chunk_id!r} is about {', '.join(about)}, who occurs in no stored scene, and must not"
            f" outrank the story; attach it to whom it concerns: `novelgen memory attach {project_id}"
            f" {memory.chunk.chunk_id} NAME`"
        )


def _about(memory: StoredMemory, attachments: Sequence[Attachment]) -> list[str]:
    """Ids of the entities that a memory is about, those included that are not stored."""
    attached = [each.target for each in attachments if is_entity_target(each.target)]
    return attached or list(memory.chunk.entities_mentioned)


def _occurs_nowhere(unit: UnitOfWork, entity_ids: Sequence[str]) -> bool:
    """Tell whether none of some entities occurs in the stored scenes; before the first scene nobody does.

    What an author said of an entity is not asked: it makes nobody occur.
    """
    if not entity_ids or not unit.scenes.list_as_of(last=1):
        return False
    if any(entity_id in entity_ids for entity_id, _ in unit.entities.first_mentions()):
        return False
    linked = unit.memories.list_matching(MemoryFilter(entities=list(entity_ids)))
    if any(memory.from_scene for memory in linked):
        return False
    scenes = unit.scenes.list_as_of()
    return not any({*scene.participants, scene.location_id} & set(entity_ids) for scene in scenes)


def _content_types(names: Sequence[str]) -> list[ContentType]:
    kinds = {each: each for each in CONTENT_TYPES}
    wrong = [name for name in names if name not in kinds]
    if wrong:
        raise UserInputError(f"{wrong[0]!r} is none of {', '.join(CONTENT_TYPES)}")
    return [kinds[name] for name in names]  # type: ignore[index]
