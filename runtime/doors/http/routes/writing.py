"""Writing the next scene: its context, and looking up what was established."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, Field

from novelgen.models.chunk_context import ChunkContext, MemoryPriority
from novelgen.models.context import SceneMemoryContext
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.state import EntityStateSnapshot
from runtime.doors.answers import told
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import READS, AsOf, Body, EntityName, Project, position
from runtime.story.scene_summary import SceneSummary
from runtime.writer import context_json

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["writing"])

PROMPT_TYPE = "text/plain"


class ContextRequest(Body):
    """A planned scene."""

    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: dict[str, Any] | None = Field(
        default=None,
        description="Location, characters, purpose, key_actions, …; without it the scene of `chapter_plan`, else the "
        "project's own plan.",
    )
    chapter_plan: dict[str, Any] | None = Field(default=None, description="The plan of the whole chapter.")
    characters: dict[str, Any] | None = Field(default=None, description="Without them those of the project.")
    settings: dict[str, Any] | None = Field(default=None, description="What the story says of itself.")
    hints: list[str] = Field(default_factory=list, max_length=50, description="What the search should heed.")
    pov: str = Field(default="", max_length=400, description="From whose point of view; over the plan's own.")
    knowledge: KnowledgeMode | None = Field(default=None, description="What becomes of what that one does not know.")
    top_k: int | None = Field(default=None, ge=1, le=1000, description="At most so many memories.")


class ChunkContextRequest(Body):
    """A piece of text that is translated or edited."""

    text: str = Field(min_length=1, max_length=200_000)
    chapter_index: ChapterIndex | None = None
    limit: int | None = Field(default=None, ge=1, le=200)
    language: str | None = Field(default=None, max_length=20)
    priority: MemoryPriority | None = None


class SceneSummaryRequest(Body):
    """A scene to sum up."""

    text: str = Field(min_length=1, max_length=200_000)
    max_bullets: int | None = Field(default=None, ge=1, le=20)


class EntityState(BaseModel):
    """How an entity stands at a position; null where nothing is known of it by then."""

    state: EntityStateSnapshot | None


@router.post(
    "/context",
    response_model=SceneMemoryContext,
    openapi_extra=READS,
    responses={200: {"content": {PROMPT_TYPE: {"schema": {"type": "string"}}}}},
)
def build_context(project: Project, request: Request, body: ContextRequest) -> Response:
    """Build the memory context of a planned scene: what it must not contradict and should pick up.

    The JSON is that of the context file. With `Accept: text/plain` the answer is the block for a prompt.
    """
    context = project.story.context(
        body.chapter_index,
        body.scene_index,
        body.scene_plan,
        chapter_plan=body.chapter_plan,
        characters=body.characters,
        settings=body.settings,
        hints=body.hints,
        pov=body.pov,
        knowledge=body.knowledge,
        top_k=body.top_k,
    )
    if wants_prompt(request):
        return Response(context.as_prompt(), media_type=f"{PROMPT_TYPE}; charset=utf-8")
    headers = {}
    if context.report is not None and context.report.story_version is not None:
        headers["ETag"] = f'"{context.report.story_version}"'
    context = told(context, folders=project.house.secret_folders)
    return Response(context_json(context), media_type="application/json", headers=headers)


@router.post("/chunk-context", openapi_extra=READS)
def build_chunk_context(project: Project, body: ChunkContextRequest) -> ChunkContext:
    """Build the glossary and memories that a translator or editor of a piece of text must know."""
    return project.story.chunk_context(
        body.text,
        chapter_index=body.chapter_index,
        limit=body.limit,
        language=body.language,
        priority=body.priority,
        touch=False,
    )


@router.post("/summarize", openapi_extra=READS)
def summarize_scene(project: Project, body: SceneSummaryRequest) -> SceneSummary:
    """Sum a scene up, by the model where there is one, else in its own sentences; nothing is stored."""
    return project.story.sum_up_scene(body.text, max_bullets=body.max_bullets)


@router.get("/states/{entity}")
def get_entity_state(project: Project, entity: EntityName, as_of: AsOf = None) -> EntityState:
    """Tell how an entity stands at a position: where it is, what it holds, wants and knows."""
    return EntityState(state=project.story.state(entity, as_of=position(as_of)))


def wants_prompt(request: Request) -> bool:
    """Tell whether the block for a prompt is asked for, and not JSON."""
    accepted = [each.partition(";")[0].strip() for each in request.headers.get("accept", "").split(",")]
    return PROMPT_TYPE in accepted and "application/json" not in accepted
