"""What runs through a story: threads, relationships, who knows what, and contradictions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeSource
from novelgen.models.record import ThreadEnding
from novelgen.models.state import LoopImportance, LoopStatus, Relationship
from novelgen.records.conflict import Conflict
from novelgen.threads.ledger import ThreadLedger
from runtime.server.answering import AnsweringRouter
from runtime.server.house import AsOf, Body, EntityName, MemoryId, PositionText, Project, position
from runtime.services import conflicts as conflict_services
from runtime.services import consolidation as consolidation_services
from runtime.services import deletion as deletion_services
from runtime.services import knowledge as knowledge_services
from runtime.services import relationships as relationship_services
from runtime.services import threads as thread_services
from runtime.services.conflicts import ListedConflict, SettledConflict, Side
from runtime.services.consolidation import ConsolidationReport
from runtime.services.deletion import DeletionResult
from runtime.services.knowledge import MemoryKnowers, SharedLife, StoredKnowledge
from runtime.services.thread_ledger import thread_ledger
from runtime.services.threads import ListedThread

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["story"])

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Names = Annotated[list[Name], Field(max_length=100)]


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


class NewRelationship(Body):
    """How two characters stand."""

    first: Name
    second: Name
    relationship_type: Name
    perspective_a: str = Field(default="", max_length=2000, description="How the first sees the second.")
    perspective_b: str = Field(default="", max_length=2000)
    status: str = Field(default="neutral", max_length=400)
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: dict[str, int] | None = None
    start: PositionText | None = None


class RelationshipEdit(Body):
    """Changes of how two characters stand; what is left out stays."""

    first: Name
    second: Name
    relationship_type: str | None = Field(default=None, max_length=400)
    perspective_a: str | None = Field(default=None, max_length=2000)
    perspective_b: str | None = Field(default=None, max_length=2000)
    status: str | None = Field(default=None, max_length=400)
    event: str | None = Field(default=None, max_length=2000)
    intensity: int | None = Field(default=None, ge=0, le=10)
    dimensions: dict[str, int] | None = None
    mutual_dimensions: dict[str, int] | None = None
    start: PositionText | None = None


class RelationshipList(BaseModel):
    """How pairs of characters stand."""

    relationships: list[Relationship]


class KnowledgeWord(Body):
    """The author's word on who knows a memory."""

    kind: KnowledgeKind = "knows"
    how: KnowledgeSource = "author"
    learned_from: Name | None = None
    certainty: float = Field(default=1.0, ge=0, le=1, allow_inf_nan=False)
    start: PositionText | None = None


class KnowledgeTakenBack(BaseModel):
    """What the author said and says no more."""

    forgotten: list[StoredKnowledge]


class ConflictList(BaseModel):
    """Where the story contradicts itself, in story order."""

    conflicts: list[ListedConflict]


class Waiver(Body):
    """Why a contradiction is meant to be."""

    note: str = Field(default="", max_length=2000)


class Settlement(Body):
    """Which side of a contradiction holds."""

    keep: Side


class ConsolidationRequest(Body):
    """When one memory shall stand for several."""

    limit: int | None = Field(default=None, ge=1, le=100_000, description="Most memories per entity.")
    with_model: bool = True
    dry_run: bool = False


class ConsolidationsTakenBack(BaseModel):
    """Memories that stood for others and are gone."""

    gone: list[str]


@router.get("/threads")
def list_threads(
    project: Project, status: Annotated[tuple[LoopStatus, ...], Query(max_length=4)] = (), as_of: AsOf = None
) -> ThreadList:
    """List the threads of these statuses, without any those that wait for an answer."""
    found = thread_services.list_threads(
        project.stores,
        project.project_id,
        statuses=status or thread_services.WAITING,
        as_of=position(as_of),
    )
    return ThreadList(threads=found)


@router.post("/threads", status_code=201)
def add_thread(project: Project, body: NewThread) -> ListedThread:
    """Plant a thread."""
    given = dict(body) | {"start": position(body.start)}
    return thread_services.add_thread(project.stores, project.project_id, **given)


@router.get("/threads/ledger")
def get_thread_ledger(
    project: Project, on_stage: Annotated[tuple[str, ...], Query(max_length=100)] = (), as_of: AsOf = None
) -> ThreadLedger:
    """Tell where every thread stands: planted, moved, due, overdue or over, and which presses most."""
    return thread_ledger(project.stores, project.project_id, as_of=position(as_of), on_stage=on_stage)


@router.get("/threads/{thread_id}")
def get_thread(project: Project, thread_id: MemoryId, as_of: AsOf = None) -> ListedThread:
    """Return a thread as it stands at a position."""
    return thread_services.get_thread(
        project.stores, project.project_id, thread_id=thread_id, as_of=position(as_of)
    )


@router.patch("/threads/{thread_id}")
def edit_thread(project: Project, thread_id: MemoryId, body: ThreadEdit) -> ListedThread:
    """Change how a thread is described and what is noted of it."""
    places = {"due_from": position(body.due_from), "due_by": position(body.due_by)}
    return thread_services.edit_thread(
        project.stores, project.project_id, thread_id=thread_id, **(dict(body) | places)
    )


@router.post("/threads/{thread_id}/advance")
def advance_thread(project: Project, thread_id: MemoryId, body: ThreadMove) -> ListedThread:
    """Say that a thread moved."""
    return thread_services.advance_thread(
        project.stores,
        project.project_id,
        thread_id=thread_id,
        **(dict(body) | {"start": position(body.start)}),
    )


@router.post("/threads/{thread_id}/resolve")
def resolve_thread(project: Project, thread_id: MemoryId, body: ThreadEnd) -> ListedThread:
    """Say that a thread was answered."""
    return thread_services.resolve_thread(
        project.stores,
        project.project_id,
        thread_id=thread_id,
        summary=body.summary,
        ending=body.ending,
        start=position(body.start),
    )


@router.post("/threads/{thread_id}/abandon")
def abandon_thread(project: Project, thread_id: MemoryId, body: ThreadEnd) -> ListedThread:
    """Say that a thread was dropped without an answer, and why."""
    return thread_services.abandon_thread(
        project.stores,
        project.project_id,
        thread_id=thread_id,
        summary=body.summary,
        ending=body.ending,
        start=position(body.start),
    )


@router.delete("/threads/{thread_id}")
def delete_thread(project: Project, thread_id: MemoryId) -> DeletionResult:
    """Delete a thread with its history; undo brings it back."""
    return deletion_services.delete_thread(project.stores, project.project_id, thread_id=thread_id)


@router.get("/relationships")
def list_relationships(
    project: Project,
    character: Annotated[
        str | None, Query(max_length=400, description="Only pairs of this character.")
    ] = None,
    status: Annotated[str | None, Query(max_length=400)] = None,
    as_of: AsOf = None,
) -> RelationshipList:
    """Tell how pairs of characters stand."""
    found = relationship_services.list_relationships(
        project.stores, project.project_id, character=character, status=status, as_of=position(as_of)
    )
    return RelationshipList(relationships=found)


@router.post("/relationships", status_code=201)
def add_relationship(project: Project, body: NewRelationship) -> Relationship:
    """Say how two characters stand who have no relationship yet."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return relationship_services.add_relationship(project.stores, project.project_id, **given)


@router.patch("/relationships")
def edit_relationship(project: Project, body: RelationshipEdit) -> Relationship:
    """Change how two characters stand."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return relationship_services.edit_relationship(project.stores, project.project_id, **given).relationship


@router.get("/knowledge/{character}")
def list_knowledge(
    project: Project,
    character: EntityName,
    about: Annotated[str | None, Query(max_length=2000)] = None,
    as_of: AsOf = None,
) -> CharacterKnowledge:
    """Tell what a character knows and what not; `reader` is whoever reads the book."""
    return knowledge_services.character_knowledge(
        project.stores, project.project_id, character=character, as_of=position(as_of), about=about
    )


@router.put("/knowledge/{character}/{memory_id}")
def set_knowledge(
    project: Project, character: EntityName, memory_id: MemoryId, body: KnowledgeWord
) -> StoredKnowledge:
    """Say whether a character knows a memory; it outranks the record and all rules."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return knowledge_services.set_knowledge(
        project.stores, project.project_id, character=character, memory_id=memory_id, **given
    )


@router.delete("/knowledge/{character}/{memory_id}")
def forget_knowledge(project: Project, character: EntityName, memory_id: MemoryId) -> KnowledgeTakenBack:
    """Take back all that the author said of a character and a memory."""
    forgotten = knowledge_services.forget_knowledge(
        project.stores, project.project_id, character=character, memory_id=memory_id
    )
    return KnowledgeTakenBack(forgotten=forgotten)


@router.get("/who-knows/{memory_id}")
def who_knows(project: Project, memory_id: MemoryId, as_of: AsOf = None) -> MemoryKnowers:
    """Tell who knows a memory, since when and how, and who does not and might have been told."""
    return knowledge_services.who_knows(
        project.stores, project.project_id, memory_id=memory_id, as_of=position(as_of)
    )


@router.get("/lived-together")
def list_shared_scenes(
    project: Project,
    first: Annotated[str, Query(min_length=1, max_length=400)],
    second: Annotated[str, Query(min_length=1, max_length=400)],
    as_of: AsOf = None,
) -> SharedLife:
    """List the scenes that two characters were in together, and which of them alone."""
    return knowledge_services.lived_together(
        project.stores, project.project_id, first=first, second=second, as_of=position(as_of)
    )


@router.get("/conflicts")
def list_conflicts(project: Project, with_waived: bool = False) -> ConflictList:
    """Find where the story contradicts itself."""
    found = conflict_services.list_conflicts(project.stores, project.project_id, with_waived=with_waived)
    return ConflictList(conflicts=found)


@router.post("/conflicts/{conflict_id}/waive")
def waive_conflict(project: Project, conflict_id: MemoryId, body: Waiver) -> Conflict:
    """Mark a contradiction as meant by the author."""
    return conflict_services.waive_conflict(
        project.stores, project.project_id, conflict_id=conflict_id, note=body.note
    )


@router.post("/conflicts/{conflict_id}/settle")
def settle_conflict(project: Project, conflict_id: MemoryId, body: Settlement) -> SettledConflict:
    """Let one side of a contradiction hold, by the author's word."""
    return conflict_services.settle_conflict(
        project.stores, project.project_id, conflict_id=conflict_id, keep=body.keep
    )


@router.post("/consolidate")
def consolidate_memories(project: Project, body: ConsolidationRequest) -> ConsolidationReport:
    """Let one memory stand for several small ones where an entity has more than a limit."""
    return consolidation_services.consolidate_memories(
        project.stores,
        project.project_id,
        limit=body.limit,
        with_model=body.with_model,
        dry_run=body.dry_run,
    )


@router.delete("/consolidate")
def undo_consolidations(
    project: Project,
    chunk_id: Annotated[
        str | None, Query(max_length=400, description="Only this one; without it all.")
    ] = None,
) -> ConsolidationsTakenBack:
    """Take consolidated memories back; what they stood for stands for itself again."""
    gone = consolidation_services.undo_consolidations(project.stores, project.project_id, chunk_id=chunk_id)
    return ConsolidationsTakenBack(gone=gone)
