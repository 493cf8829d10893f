"""Characters, places, things, factions and terms: cards, merging and splitting, and names that nobody bears yet."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.language.candidates import NameCandidate
from novelgen.models.entity import Entity, EntityType
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import AsOf, Body, EntityName, PositionText, Project, position
from runtime.story import attachments as attachment_services
from runtime.story.appearances import Appearance, MergePreview, Order, StoryAppearances
from runtime.story.attachments import MemoriesAbout, StoryAttachments
from runtime.story.deletion import DeletionResult, StoryDeletion
from runtime.story.entities import EditedEntity, EntityCard, EntityChangeResult, StoryEntities

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["entities"])

OfType = Annotated[EntityType | None, Query(description="Only one of this type is meant.")]
Name = Annotated[str, Field(min_length=1, max_length=400)]


class EntityChanges(Body):
    """Changes of a card and of a state."""

    changes: dict[str, Any] = Field(
        default_factory=dict, description="Fields of the card and profile, or attributes of the state, to new values."
    )
    state: dict[str, Any] | None = Field(
        default=None, description="Attributes of the state, whatever their names look like; null clears one."
    )
    start: PositionText | None = Field(default=None, description="Without it after the last stored scene.")


class EntityMerge(Body):
    """Two entities that are one."""

    keep: Name = Field(description="Who stays.")
    gone: Name = Field(description="Who becomes an alias of it.")


class EntitySplit(Body):
    """An entity that is two."""

    new_name: Name
    aliases: list[Name] = Field(default_factory=list, max_length=100, description="Aliases that go with it.")


class EntityList(BaseModel):
    """Entities in the order of their ids."""

    entities: list[Entity]


class AppearanceList(BaseModel):
    """Entities, and how much the story has of them."""

    appearances: list[Appearance]


class CandidateList(BaseModel):
    """Names of the text that no entity bears; no facts."""

    candidates: list[NameCandidate]


@router.get("/entities")
def list_entities(project: Project, entity_type: OfType = None, as_of: AsOf = None) -> EntityList:
    """List characters, places, things, factions and terms, as far as the story has shown them by then."""
    found = StoryEntities(project.stores, project.project_id).entities(entity_type=entity_type, as_of=position(as_of))
    return EntityList(entities=found)


@router.get("/appearances")
def list_appearances(project: Project, order: Order = "weight", as_of: AsOf = None) -> AppearanceList:
    """List entities with how much the story before a position has of them."""
    found = StoryAppearances(project.stores, project.project_id).list_appearances(order=order, as_of=position(as_of))
    return AppearanceList(appearances=found)


@router.get("/entities/merge/preview")
def preview_merge(
    project: Project,
    keep: Annotated[str, Query(min_length=1, max_length=400, description="Who would stay.")],
    gone: Annotated[str, Query(min_length=1, max_length=400, description="Who would be part of it.")],
    as_of: AsOf = None,
) -> MergePreview:
    """Tell what a merge would join; nothing is changed."""
    return StoryAppearances(project.stores, project.project_id).preview_merge(
        keep=keep, gone=gone, as_of=position(as_of)
    )


@router.get("/entities/{entity}")
def get_entity(project: Project, entity: EntityName, entity_type: OfType = None, as_of: AsOf = None) -> EntityCard:
    """Return an entity with its state, its scenes, and when its card was made and changed."""
    return StoryEntities(project.stores, project.project_id).entity(
        name=entity, entity_type=entity_type, as_of=position(as_of)
    )


@router.get("/entities/{entity}/memories")
def list_memories_about(
    project: Project,
    entity: EntityName,
    limit: Annotated[int, Query(ge=1, le=1000)] = attachment_services.DEFAULT_ABOUT,
    as_of: AsOf = None,
) -> MemoriesAbout:
    """List what is remembered of an entity: what is attached to it, and what its names stand in."""
    return StoryAttachments(project.stores, project.project_id).memories_about(
        entity=entity, limit=limit, as_of=position(as_of)
    )


@router.patch("/entities/{entity}")
def edit_entity(project: Project, entity: EntityName, body: EntityChanges, entity_type: OfType = None) -> EditedEntity:
    """Change fields of an entity's card and profile, and attributes of its state."""
    return StoryEntities(project.stores, project.project_id).edit_entity(
        name=entity, changes=body.changes, state=body.state, entity_type=entity_type, start=position(body.start)
    )


@router.delete("/entities/{entity}")
def delete_entity(project: Project, entity: EntityName, entity_type: OfType = None) -> DeletionResult:
    """Delete an entity with its names, states and relationships; memories stay, and undo brings it back."""
    return StoryDeletion(project.stores, project.project_id).delete_entity(name=entity, entity_type=entity_type)


@router.post("/entities/merge")
def merge_entities(project: Project, body: EntityMerge) -> EntityChangeResult:
    """Let two entities be one from now on."""
    return StoryEntities(project.stores, project.project_id).merge_entities(keep=body.keep, gone=body.gone)


@router.post("/entities/{entity}/split")
def split_entity(project: Project, entity: EntityName, body: EntitySplit) -> EntityChangeResult:
    """Let an entity be two from now on."""
    return StoryEntities(project.stores, project.project_id).split_entity(
        name=entity, new_name=body.new_name, aliases=body.aliases
    )


@router.post("/changes/{change_id}/undo")
def undo_change(project: Project, change_id: int) -> EntityChangeResult:
    """Undo a deletion, a merge, a split or a decision on a candidate, exactly."""
    return StoryEntities(project.stores, project.project_id).undo(change_id=change_id)


@router.get("/candidates")
def list_candidates(
    project: Project, min_count: Annotated[int, Query(ge=1, le=1000)] = 3, as_of: AsOf = None
) -> CandidateList:
    """List who and what the text names that no entity is, told by rules; they are no facts."""
    return CandidateList(candidates=project.story.candidates(min_count=min_count, as_of=position(as_of)))
