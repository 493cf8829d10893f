"""Threads: planting, moving, changing and ending them, opening one again, and where each stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.memory.ledger import ThreadLedger
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance, LoopStatus
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import AsOf, Body, MemoryId, PositionText, Project, position
from runtime.story import threads as thread_services
from runtime.story.deletion import DeletionResult, StoryDeletion
from runtime.story.thread_ledger import StoryThreadLedger
from runtime.story.threads import ListedThread, StoryThreads

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["threads"])

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=400)]], Field(max_length=100)]


class NewThread(Body):
    """A question, promise or threat that the story leaves open."""

    description: Text
    category: str = Field(default="", max_length=400)
    importance: LoopImportance = "medium"
    characters: Names = Field(default_factory=list)
    locations: Names = Field(default_factory=list)
    items: Names = Field(default_factory=list)
    notes: str = Field(default="", max_length=20_000)
    start: PositionText | None = None


class ThreadEdit(Body):
    """Changes of a thread; what is left out stays."""

    description: Text | None = None
    category: str | None = Field(default=None, max_length=400)
    importance: LoopImportance | None = None
    notes: str | None = Field(default=None, max_length=20_000)
    pay_off: str | None = Field(default=None, max_length=20_000)
    due_from: PositionText | None = None
    due_by: PositionText | None = None
    parts: int | None = Field(default=None, ge=1, le=1000, description="In so many parts it is paid.")


class ThreadMove(Body):
    """How a thread moved."""

    note: Text
    pays_part: bool = False
    start: PositionText | None = None


class ThreadEnd(Body):
    """How a thread ended."""

    summary: Text
    ending: ThreadEnding | None = None
    start: PositionText | None = None


class ThreadList(BaseModel):
    """Threads in the order of their planting."""

    threads: list[ListedThread]


class ThreadReopening(Body):
    """Where a thread is over that shall be open again."""

    start: PositionText | None = None


class ReopenableThreads(BaseModel):
    """Ids of threads that the author ended."""

    thread_ids: list[str]


@router.get("/threads")
def list_threads(
    project: Project, status: Annotated[tuple[LoopStatus, ...], Query(max_length=4)] = (), as_of: AsOf = None
) -> ThreadList:
    """List the threads of these statuses, without any those that wait for an answer."""
    found = StoryThreads(project.stores, project.project_id).threads(
        statuses=status or thread_services.WAITING, as_of=position(as_of)
    )
    return ThreadList(threads=found)


@router.post("/threads", status_code=201)
def add_thread(project: Project, body: NewThread) -> ListedThread:
    """Plant a thread."""
    given = dict(body) | {"start": position(body.start)}
    return StoryThreads(project.stores, project.project_id).add_thread(**given)


@router.get("/threads/ledger")
def get_thread_ledger(
    project: Project, on_stage: Annotated[tuple[str, ...], Query(max_length=100)] = (), as_of: AsOf = None
) -> ThreadLedger:
    """Tell where every thread stands: planted, moved, due, overdue or over, and which presses most."""
    return StoryThreadLedger(project.stores, project.project_id).thread_ledger(as_of=position(as_of), on_stage=on_stage)


@router.get("/threads/reopenable")
def list_reopenable_threads(project: Project, as_of: AsOf = None) -> ReopenableThreads:
    """List the threads that are over because the author said so: those that can be opened again."""
    found = StoryThreads(project.stores, project.project_id).reopenable_threads(as_of=position(as_of))
    return ReopenableThreads(thread_ids=sorted(found))


@router.get("/threads/{thread_id}")
def get_thread(project: Project, thread_id: MemoryId, as_of: AsOf = None) -> ListedThread:
    """Return a thread as it stands at a position."""
    return StoryThreads(project.stores, project.project_id).get_thread(thread_id=thread_id, as_of=position(as_of))


@router.patch("/threads/{thread_id}")
def edit_thread(project: Project, thread_id: MemoryId, body: ThreadEdit) -> ListedThread:
    """Change how a thread is described and what is noted of it."""
    places = {"due_from": position(body.due_from), "due_by": position(body.due_by)}
    return StoryThreads(project.stores, project.project_id).edit_thread(thread_id=thread_id, **(dict(body) | places))


@router.post("/threads/{thread_id}/advance")
def advance_thread(project: Project, thread_id: MemoryId, body: ThreadMove) -> ListedThread:
    """Say that a thread moved."""
    return StoryThreads(project.stores, project.project_id).advance_thread(
        thread_id=thread_id, **(dict(body) | {"start": position(body.start)})
    )


@router.post("/threads/{thread_id}/resolve")
def resolve_thread(project: Project, thread_id: MemoryId, body: ThreadEnd) -> ListedThread:
    """Say that a thread was answered."""
    return StoryThreads(project.stores, project.project_id).resolve_thread(
        thread_id=thread_id, summary=body.summary, ending=body.ending, start=position(body.start)
    )


@router.post("/threads/{thread_id}/abandon")
def abandon_thread(project: Project, thread_id: MemoryId, body: ThreadEnd) -> ListedThread:
    """Say that a thread was dropped without an answer, and why."""
    return StoryThreads(project.stores, project.project_id).abandon_thread(
        thread_id=thread_id, summary=body.summary, ending=body.ending, start=position(body.start)
    )


@router.post("/threads/{thread_id}/reopen")
def reopen_thread(project: Project, thread_id: MemoryId, body: ThreadReopening) -> ListedThread:
    """Take back that a thread ended."""
    return StoryThreads(project.stores, project.project_id).reopen_thread(
        thread_id=thread_id, start=position(body.start)
    )


@router.delete("/threads/{thread_id}")
def delete_thread(project: Project, thread_id: MemoryId) -> DeletionResult:
    """Delete a thread with its history; undo brings it back."""
    return StoryDeletion(project.stores, project.project_id).delete_thread(thread_id=thread_id)
