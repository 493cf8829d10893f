"""What runs through a story: relationships, who knows what, and contradictions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.memory.conflict import Conflict
from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeSource
from novelgen.models.state import Relationship
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import AsOf, Body, EntityName, MemoryId, PositionText, Project, position
from runtime.story.conflicts import ListedConflict, SettledConflict, Side, StoryConflicts
from runtime.story.consolidation import ConsolidationReport, StoryConsolidation
from runtime.story.knowledge import MemoryKnowers, SharedLife, StoredKnowledge, StoryKnowledge
from runtime.story.knowledge_table import KnowledgeTable, Narrowing, StoryKnowledgeTable
from runtime.story.relationships import RelationshipCourse, StoryRelationships

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["story"])

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Names = Annotated[list[Name], Field(max_length=100)]


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


@router.get("/relationships")
def list_relationships(
    project: Project,
    character: Annotated[str | None, Query(max_length=400, description="Only pairs of this character.")] = None,
    status: Annotated[str | None, Query(max_length=400)] = None,
    as_of: AsOf = None,
) -> RelationshipList:
    """Tell how pairs of characters stand."""
    found = StoryRelationships(project.stores, project.project_id).relationships(
        character=character, status=status, as_of=position(as_of)
    )
    return RelationshipList(relationships=found)


@router.get("/relationships/course")
def get_relationship_course(
    project: Project,
    first: Annotated[str, Query(min_length=1, max_length=400)],
    second: Annotated[str, Query(min_length=1, max_length=400)],
    as_of: AsOf = None,
) -> RelationshipCourse:
    """Tell how two characters stood after each change of their relationship."""
    return StoryRelationships(project.stores, project.project_id).relationship_course(
        first=first, second=second, as_of=position(as_of)
    )


@router.post("/relationships", status_code=201)
def add_relationship(project: Project, body: NewRelationship) -> Relationship:
    """Say how two characters stand who have no relationship yet."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return StoryRelationships(project.stores, project.project_id).add_relationship(**given)


@router.patch("/relationships")
def edit_relationship(project: Project, body: RelationshipEdit) -> Relationship:
    """Change how two characters stand."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return StoryRelationships(project.stores, project.project_id).edit_relationship(**given).relationship


@router.get("/knowledge")
def get_knowledge_table(
    project: Project,
    about: Annotated[str | None, Query(max_length=2000)] = None,
    narrowing: Narrowing = "all",
    of: Annotated[
        str | None, Query(max_length=400, description="Whose knowledge is asked; `reader` is whoever reads.")
    ] = None,
    is_of_one: Annotated[bool, Query(description="Nobody else stands in the table.")] = False,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 40,
    as_of: AsOf = None,
) -> KnowledgeTable:
    """Tell of each memory who of the cast knows it, the latest first."""
    return StoryKnowledgeTable(project.stores, project.project_id).knowledge_table(
        as_of=position(as_of), about=about, narrowing=narrowing, of=of, is_of_one=is_of_one, offset=offset, limit=limit
    )


@router.get("/knowledge/{character}")
def list_knowledge(
    project: Project,
    character: EntityName,
    about: Annotated[str | None, Query(max_length=2000)] = None,
    as_of: AsOf = None,
) -> CharacterKnowledge:
    """Tell what a character knows and what not; `reader` is whoever reads the book."""
    return StoryKnowledge(project.stores, project.project_id).knowledge(
        character=character, as_of=position(as_of), about=about
    )


@router.put("/knowledge/{character}/{memory_id}")
def set_knowledge(project: Project, character: EntityName, memory_id: MemoryId, body: KnowledgeWord) -> StoredKnowledge:
    """Say whether a character knows a memory; it outranks the record and all rules."""
    given: dict[str, Any] = dict(body) | {"start": position(body.start)}
    return StoryKnowledge(project.stores, project.project_id).set_knowledge(
        character=character, memory_id=memory_id, **given
    )


@router.delete("/knowledge/{character}/{memory_id}")
def forget_knowledge(project: Project, character: EntityName, memory_id: MemoryId) -> KnowledgeTakenBack:
    """Take back all that the author said of a character and a memory."""
    forgotten = StoryKnowledge(project.stores, project.project_id).forget_knowledge(
        character=character, memory_id=memory_id
    )
    return KnowledgeTakenBack(forgotten=forgotten)


@router.get("/who-knows/{memory_id}")
def who_knows(project: Project, memory_id: MemoryId, as_of: AsOf = None) -> MemoryKnowers:
    """Tell who knows a memory, since when and how, and who does not and might have been told."""
    return StoryKnowledge(project.stores, project.project_id).who_knows(memory_id=memory_id, as_of=position(as_of))


@router.get("/lived-together")
def list_shared_scenes(
    project: Project,
    first: Annotated[str, Query(min_length=1, max_length=400)],
    second: Annotated[str, Query(min_length=1, max_length=400)],
    as_of: AsOf = None,
) -> SharedLife:
    """List the scenes that two characters were in together, and which of them alone."""
    return StoryKnowledge(project.stores, project.project_id).lived_together(
        first=first, second=second, as_of=position(as_of)
    )


@router.get("/conflicts")
def list_conflicts(project: Project, with_waived: bool = False) -> ConflictList:
    """Find where the story contradicts itself."""
    found = StoryConflicts(project.stores, project.project_id).conflicts(with_waived=with_waived)
    return ConflictList(conflicts=found)


@router.post("/conflicts/{conflict_id}/waive")
def waive_conflict(project: Project, conflict_id: MemoryId, body: Waiver) -> Conflict:
    """Mark a contradiction as meant by the author."""
    return StoryConflicts(project.stores, project.project_id).waive_conflict(conflict_id=conflict_id, note=body.note)


@router.post("/conflicts/{conflict_id}/settle")
def settle_conflict(project: Project, conflict_id: MemoryId, body: Settlement) -> SettledConflict:
    """Let one side of a contradiction hold, by the author's word."""
    return StoryConflicts(project.stores, project.project_id).settle_conflict(conflict_id=conflict_id, keep=body.keep)


@router.post("/consolidate")
def consolidate_memories(project: Project, body: ConsolidationRequest) -> ConsolidationReport:
    """Let one memory stand for several small ones where an entity has more than a limit."""
    return StoryConsolidation(project.stores, project.project_id).consolidate_memories(
        limit=body.limit, with_model=body.with_model, dry_run=body.dry_run
    )


@router.delete("/consolidate")
def undo_consolidations(
    project: Project,
    chunk_id: Annotated[str | None, Query(max_length=400, description="Only this one; without it all.")] = None,
) -> ConsolidationsTakenBack:
    """Take consolidated memories back; what they stood for stands for itself again."""
    gone = StoryConsolidation(project.stores, project.project_id).undo_consolidations(chunk_id=chunk_id)
    return ConsolidationsTakenBack(gone=gone)
