"""Looking at memories, and what an author decides about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from novelgen.errors import UnknownMemoryError, UserInputError
from novelgen.models.memory import CONTENT_TYPES, ContentType
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.cli.actions.attachments import attachments_text
from runtime.cli.actions.entities import known_entities, resolved_entity
from runtime.cli.actions.search import print_memories
from runtime.cli.index_following import follow_index
from runtime.cli.labels import place_text, view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_pairs, print_text
from runtime.cli.session import CliSession
from runtime.storage.records import MemoryEdit, MemoryFilter, MemoryStatus, StoredMemory
from runtime.storage.unit import UnitOfWork

_ALL_STATUSES: list[MemoryStatus] = ["active", "banned", "deleted"]


def list_memories(
    session: CliSession,
    project_id: str,
    *,
    entities: Sequence[str],
    content_types: Sequence[str],
    status: str,
    limit: int,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show memories in story order."""
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            wanted = MemoryFilter(
                as_of=as_of or END_OF_STORY,
                entities=_entity_ids(unit, project_id, entities, as_of),
                content_types=_content_types(content_types),
                statuses=[cast(MemoryStatus, status)],
            )
            found = unit.memories.list_matching(wanted, limit=limit)
            total = unit.memories.count(wanted)
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json(found)
        return
    print_memories([memory.chunk for memory in found], labels)
    if total > len(found):
        print_text(f"… {total - len(found)} more; raise --limit")


def show_memory(session: CliSession, project_id: str, memory_id: str, *, as_json: bool) -> None:
    """Show a memory whole, with all that it is attached to.

    Raises:
        UnknownMemoryError: When there is none of that id.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).read() as unit:
            memory = found_memory(unit, project_id, memory_id)
            attachments = unit.attachments.attachments_of(memory.chunk.chunk_id)
        labels = view_labels_for(story_language(stores, project_id))
    if as_json:
        print_json({**memory.model_dump(mode="json"), "attachments": attachments})
        return
    chunk = memory.chunk
    print_pairs(
        {
            "chunk_id": chunk.chunk_id,
            "source_id": chunk.source_id,
            labels.place: place_text(chunk.chapter_index, chunk.scene_index, labels),
            labels.kind: chunk.content_type,
            labels.status: memory.status + (", pinned" if memory.pinned else ""),
            labels.importance: chunk.importance,
            labels.origin: chunk.origin,
            "attached to": attachments_text(attachments),
            "verified": "" if chunk.verified else "no: its quote is not in the scene",
            "tags": ", ".join(chunk.tags),
            labels.forms["short"]: chunk.short,
            labels.text: chunk.content,
        }
    )


def edit_memory(session: CliSession, project_id: str, memory_id: str, **changes: Any) -> None:
    """Change a memory; a change of None leaves a field as it is.

    Raises:
        UserInputError: When nothing is to be changed, or the new text is empty.
        UnknownMemoryError: When there is none of that id.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise UserInputError("nothing to change; give --text, --short, --importance or --tag")
    if not given.get("content", "x").strip():
        raise UserInputError("--text is empty; delete the memory instead: `novelgen memory delete`")
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            chunk_id = found_memory(unit, project_id, memory_id).chunk.chunk_id
            unit.memories.edit(chunk_id, MemoryEdit(**given))
        follow_index(stores, project_id)
    print_text(f"edited {memory_id}; no ingest touches it from now on")


def decide_memory(session: CliSession, project_id: str, memory_id: str, *, decision: str) -> None:
    """Pin, unpin, ban, unban or delete a memory.

    Args:
        session: The program's own options.
        project_id: The project.
        memory_id: Its chunk_id or source_id.
        decision: Name of the step.

    Raises:
        UnknownMemoryError: When there is none of that id.
    """
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            chunk_id = found_memory(unit, project_id, memory_id).chunk.chunk_id
            steps = {
                "pin": unit.memories.pin,
                "unpin": unit.memories.unpin,
                "ban": unit.memories.ban,
                "unban": unit.memories.unban,
                "delete": unit.memories.delete,
            }
            memory = steps[decision](project_id, chunk_id)
        follow_index(stores, project_id)
    print_text(f"{memory_id}: {memory.status}{', pinned' if memory.pinned else ''}")


def add_note(
    session: CliSession,
    project_id: str,
    text: str,
    *,
    start: StoryPosition | None,
    entities: Sequence[str],
) -> None:
    """Store a fact of the author.

    Raises:
        UserInputError: When the text is empty.
        UnknownEntityError: When it is about somebody unknown.
    """
    if not text.strip():
        raise UserInputError("the note is empty; write what holds in the story")
    with opened_project(session, project_id) as stores:
        with stores.database(project_id).write() as unit:
            ids = _entity_ids(unit, project_id, entities, None)
            note = unit.memories.add_note(text.strip(), at=place_before(start), entities=ids)
        follow_index(stores, project_id)
    print_text(f"noted as {note.chunk_id}, read {f'from {start} on' if start else 'everywhere'}")


def place_before(start: StoryPosition | None) -> StoryPosition:
    """Return the place at which a note must stand to be read from a position on, and not before.

    What stands at a place is read strictly after it, and at the end of a chapter from the next one on.
    """
    if start is None or start.chapter_index is None:
        return END_OF_STORY
    if start.scene_index:
        return StoryPosition(start.chapter_index, start.scene_index - 1)
    return StoryPosition(start.chapter_index - 1) if start.chapter_index else END_OF_STORY


def found_memory(unit: UnitOfWork, project_id: str, memory_id: str) -> StoredMemory:
    """Return a memory by its chunk_id, else by its source_id.

    Raises:
        UnknownMemoryError: When there is none of that id.
    """
    memory = unit.memories.get(memory_id)
    if memory is not None:
        return memory
    every = unit.memories.list_matching(MemoryFilter(statuses=_ALL_STATUSES, unconsolidated=True))
    for each in every:
        if each.chunk.source_id == memory_id:
            return each
    raise UnknownMemoryError(
        f"no memory {memory_id!r} in project {project_id!r}; list them with `novelgen memory list {project_id}`"
    )


def _entity_ids(
    unit: UnitOfWork, project_id: str, names: Sequence[str], as_of: StoryPosition | None
) -> list[str]:
    entities = known_entities(unit, project_id, as_of) if names else []
    return [resolved_entity(name, entities).entity_id for name in names]


def _content_types(names: Sequence[str]) -> list[ContentType]:
    wrong = [name for name in names if name not in CONTENT_TYPES]
    if wrong:
        raise UserInputError(f"--type {wrong[0]!r} is none of {', '.join(CONTENT_TYPES)}")
    return [cast(ContentType, name) for name in names]
