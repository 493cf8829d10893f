"""One scene end to end: memory context, the caller's scene writer, ingest."""

from __future__ import annotations

import logging
from collections.abc import Callable

from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.memory_context_chain import ContextInput
from novelgen.errors import NovelgenError
from novelgen.models.context import MemoryContextRequest, ReportIssue, SceneMemoryContext
from novelgen.models.plan import GeneratedScene
from novelgen.models.record import SceneRecord
from runtime.services.ingest import IngestResult, store_scene
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)


class SceneBrief(BaseModel):
    """What a scene writer gets: the request with its plan, and the memory context."""

    request: MemoryContextRequest
    context: SceneMemoryContext


class WrittenScene(BaseModel):
    """What a scene writer returns: the scene, and its record where the writer makes one."""

    scene: GeneratedScene
    record: SceneRecord | None = None


class SceneOutcome(BaseModel):
    """A scene that was planned, remembered for, written and taken in.

    `ingest` is None when the scene could not be stored; `issues` then says why, and the scene is here.
    """

    context: SceneMemoryContext
    scene: GeneratedScene
    ingest: IngestResult | None = None
    issues: list[ReportIssue] = Field(default_factory=list)


SceneWriter = Callable[[SceneBrief], WrittenScene] | Runnable[SceneBrief, WrittenScene]


def build_scene_pipeline(
    stores: MemoryStores, context_chain: Runnable[ContextInput, SceneMemoryContext], write_scene: SceneWriter
) -> Runnable[MemoryContextRequest, SceneOutcome]:
    """Compose the steps of one scene: context, writing, ingest.

    Memory never breaks the pipeline: a context that lacks something says so and the writer still runs; a
    scene that cannot be stored is returned with the reason. What the writer raises is the caller's own and
    is raised on. The project is created at its first scene.

    Args:
        stores: Where the finished scene goes.
        context_chain: A `MemoryContextChain`, or anything that makes contexts of requests.
        write_scene: Function or Runnable that writes the scene.

    Returns:
        A Runnable over `MemoryContextRequest`, usable as a step of any chain.
    """
    writer = write_scene if isinstance(write_scene, Runnable) else RunnableLambda(write_scene)

    def remember(request: MemoryContextRequest) -> SceneBrief:
        return SceneBrief(request=request, context=context_chain.invoke(request))

    def write_and_store(brief: SceneBrief) -> SceneOutcome:
        return _stored(stores, brief, writer.invoke(brief))

    steps = RunnableLambda(remember).with_config(run_name="remember")
    return steps | RunnableLambda(write_and_store).with_config(run_name="write_and_store")


def _stored(stores: MemoryStores, brief: SceneBrief, written: WrittenScene) -> SceneOutcome:
    request = brief.request
    try:
        result = store_scene(
            stores,
            request.project_id,
            chapter_index=request.chapter_index,
            scene_index=request.scene_index,
            text=written.scene.content,
            record=written.record,
        )
    except NovelgenError as error:
        issue = ReportIssue(stage="ingest", kind="not_written", message=str(error))
        logger.error("scene %s of %r was not stored: %s", request.position, request.project_id, error)
        return SceneOutcome(context=brief.context, scene=written.scene, issues=[issue])
    return SceneOutcome(context=brief.context, scene=written.scene, ingest=result, issues=list(result.issues))
