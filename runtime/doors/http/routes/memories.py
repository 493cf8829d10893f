"""Single memories: looking at them, adding notes, editing, pinning, banning and deleting them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from novelgen.models.memory import ContentType
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import AsOf, Body, MemoryId, PositionText, Project, position
from runtime.story import memories as memory_services
from runtime.story.memories import AddedNote, MemoryCard, MemoryChange, MemoryListing, MemoryStatus, StoryMemories

router = AnsweringRouter(prefix="/v1/projects/{project_id}/memories", tags=["memories"])

Importance = Annotated[int, Field(ge=1, le=10)]
LongText = Annotated[str, Field(min_length=1, max_length=20_000)]
Names = Annotated[list[str], Field(max_length=100)]


class NewNote(Body):
    """A fact of the author."""

    text: LongText
    entities: Names = Field(default_factory=list, description="Whom it is about.")
    attached_to: Names = Field(
        default_factory=list, description="Besides: entities, chapters as `chapter:3`, or `book`."
    )
    start: PositionText | None = Field(default=None, description="It is read from here on; null: everywhere.")
    short: str | None = Field(default=None, max_length=2000)
    importance: Importance | None = None
    tags: Names = Field(default_factory=list)


class MemoryEdit(Body):
    """Changes of a memory; what is left out stays."""

    content: LongText | None = None
    short: str | None = Field(default=None, max_length=2000)
    importance: Importance | None = None
    tags: Names | None = Field(default=None, description="All of them.")
    attach: Names = Field(default_factory=list, description="Entities, chapters as `chapter:3`, or `book`.")
    detach: Names = Field(default_factory=list)
    attached_to: Names | None = Field(default=None, description="All that it shall be attached to.")


@router.get("")
def list_memories(
    project: Project,
    attached_to: Annotated[
        tuple[str, ...], Query(max_length=100, description="Entities, `chapter:3`, or `book`.")
    ] = (),
    content_type: Annotated[tuple[ContentType, ...], Query(max_length=10)] = (),
    status: MemoryStatus = "active",
    limit: Annotated[int, Query(ge=1, le=20_000)] = memory_services.DEFAULT_LIMIT,
    as_of: AsOf = None,
) -> MemoryListing:
    """List memories in story order, and say how many there are in all."""
    return StoryMemories(project.stores, project.project_id).memories(
        attached_to=attached_to, content_types=content_type, status=status, limit=limit, as_of=position(as_of)
    )


@router.post("", status_code=201)
def add_note(project: Project, body: NewNote) -> AddedNote:
    """Store a fact of the author, attached to what is said and to whom its text names."""
    return StoryMemories(project.stores, project.project_id).note(
        text=body.text,
        entities=body.entities,
        attached_to=body.attached_to,
        start=position(body.start),
        short=body.short,
        importance=body.importance,
        tags=body.tags,
    )


@router.get("/{memory_id}")
def get_memory(project: Project, memory_id: MemoryId) -> MemoryCard:
    """Return a memory whole, with all that it is attached to, whatever was decided about it."""
    return StoryMemories(project.stores, project.project_id).find_memory(memory_id=memory_id)


@router.patch("/{memory_id}")
def edit_memory(project: Project, memory_id: MemoryId, body: MemoryEdit) -> MemoryChange:
    """Change a memory, what it is attached to included; no ingest takes that back."""
    return StoryMemories(project.stores, project.project_id).edit_memory(memory_id=memory_id, **dict(body))


@router.delete("/{memory_id}")
def delete_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Delete a memory; no ingest brings it back."""
    return StoryMemories(project.stores, project.project_id).delete_memory(memory_id=memory_id)


@router.put("/{memory_id}/confirm")
def confirm_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Say that a memory is true as it stands: it is the author's then, and no ingest touches it."""
    return StoryMemories(project.stores, project.project_id).confirm_memory(memory_id=memory_id)


@router.put("/{memory_id}/pin")
def pin_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Let a memory stand in every context of whom it is about."""
    return StoryMemories(project.stores, project.project_id).pin_memory(memory_id=memory_id)


@router.delete("/{memory_id}/pin")
def unpin_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Take a pin back."""
    return StoryMemories(project.stores, project.project_id).unpin_memory(memory_id=memory_id)


@router.put("/{memory_id}/ban")
def ban_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Keep a memory out of every context and search."""
    return StoryMemories(project.stores, project.project_id).ban_memory(memory_id=memory_id)


@router.delete("/{memory_id}/ban")
def unban_memory(project: Project, memory_id: MemoryId) -> MemoryChange:
    """Take a ban back."""
    return StoryMemories(project.stores, project.project_id).unban_memory(memory_id=memory_id)
