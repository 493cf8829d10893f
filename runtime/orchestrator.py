"""One scene end to end: memory context, scene writer, ingest and extraction.

The pipeline needs a writer, so that it is a function for programs:

    from runtime.orchestrator import build_scene_pipeline

Its steps are commands too:

    novelgen context PROJECT PLAN.json --chapter N --scene M    the memory context, before you write
    novelgen ingest PROJECT                                     the finished scene, after it
    novelgen extract PROJECT                                    its record, read by a model
"""

import logging
import sys
from collections.abc import Callable

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.memory_context_chain import ContextInput
from novelgen.errors import NovelgenError
from novelgen.models.context import MemoryContextRequest, ReportIssue, SceneMemoryContext
from novelgen.models.plan import GeneratedScene
from novelgen.models.record import SceneRecord
from runtime.stores import MemoryStores
from runtime.story.extraction import ExtractionReport, StoryExtraction, is_extraction_model_set
from runtime.story.ingest import IngestResult, ProjectIngest

logger = logging.getLogger(__name__)


class SceneBrief(BaseModel):
    """A scene writer's input: the planned request and its context."""

    request: MemoryContextRequest
    context: SceneMemoryContext


class WrittenScene(BaseModel):
    """A scene writer's output: the scene, optionally with a record."""

    scene: GeneratedScene
    record: SceneRecord | None = None


class SceneOutcome(BaseModel):
    """A scene that was planned, remembered for, written and taken in.

    `ingest` is None when the scene could not be stored; `issues` then says why, and the scene is here.
    `extraction` is None where no model read the scene.
    """

    context: SceneMemoryContext
    scene: GeneratedScene
    ingest: IngestResult | None = None
    extraction: ExtractionReport | None = None
    issues: list[ReportIssue] = Field(default_factory=list)


SceneWriter = Callable[[SceneBrief], WrittenScene] | Runnable[SceneBrief, WrittenScene]


def build_scene_pipeline(
    stores: MemoryStores,
    context_chain: Runnable[ContextInput, SceneMemoryContext],
    write_scene: SceneWriter,
    *,
    model: str | BaseChatModel | None = None,
) -> Runnable[MemoryContextRequest, SceneOutcome]:
    """Compose the steps of one scene: context, writing, ingest, extraction.

    Where a model is set, it reads what was written, unless the writer gave a record; so the next scene knows what
    this one established. Memory never breaks the pipeline: a context that lacks something says so and the
    writer still runs; a scene that cannot be stored or read is returned with the reason. What the writer
    raises is the caller's own and is raised on. A project that is not stored is created before its first scene, with
    what its folder holds.

    Args:
        stores: Where the finished scene goes.
        context_chain: A `MemoryContextChain`, or anything that makes contexts of requests.
        write_scene: Function or Runnable that writes the scene.
        model: The chat model that reads the scene, or its name; None takes that of the settings, where one is set.

    Returns:
        A Runnable over `MemoryContextRequest`, usable as a step of any chain.
    """
    writer = write_scene if isinstance(write_scene, Runnable) else RunnableLambda(write_scene)

    def remember(request: MemoryContextRequest) -> SceneBrief:
        # A project that is not stored is made, so that its first scene knows the cards that its folder holds.
        try:
            if not stores.is_stored(request.project_id) and stores.paths(request.project_id).folder.is_dir():
                ProjectIngest(stores, request.project_id).ingest_project()
            stores.ensure_project(request.project_id)
        except NovelgenError as error:
            # The context says what it lacks, and the writer still runs.
            logger.error("project %r was not created: %s", request.project_id, error)
        return SceneBrief(request=request, context=context_chain.invoke(request))

    def write_and_store(brief: SceneBrief) -> SceneOutcome:
        written_scene = writer.invoke(brief)
        outcome = _stored(stores, brief, written_scene)
        return outcome if written_scene.record else _with_extraction(stores, brief.request, outcome, model)

    steps = RunnableLambda(remember).with_config(run_name="remember")
    return steps | RunnableLambda(write_and_store).with_config(run_name="write_and_store")


def _stored(stores: MemoryStores, brief: SceneBrief, written_scene: WrittenScene) -> SceneOutcome:
    request = brief.request
    try:
        result = ProjectIngest(stores, request.project_id).store_scene(
            chapter_index=request.chapter_index,
            scene_index=request.scene_index,
            text=written_scene.scene.content,
            record=written_scene.record,
        )
    except NovelgenError as error:
        issue = ReportIssue(stage="ingest", kind="not_written", message=str(error))
        logger.error("scene %s of %r was not stored: %s", request.position, request.project_id, error)
        return SceneOutcome(context=brief.context, scene=written_scene.scene, issues=[issue])
    return SceneOutcome(context=brief.context, scene=written_scene.scene, ingest=result, issues=list(result.issues))


def _with_extraction(
    stores: MemoryStores, request: MemoryContextRequest, outcome: SceneOutcome, model: str | BaseChatModel | None
) -> SceneOutcome:
    """Let a model read a stored scene, with its failures as issues."""
    if outcome.ingest is None or (model is None and not is_extraction_model_set(stores.settings)):
        return outcome
    try:
        report = StoryExtraction(stores, request.project_id).extract(scenes=[request.position], model=model)
    except NovelgenError as error:
        logger.error("scene %s of %r was not read: %s", request.position, request.project_id, error)
        issue = ReportIssue(stage="extract", kind="unavailable", message=str(error))
        return outcome.model_copy(update={"issues": [*outcome.issues, issue]})
    issues = [issue for work in (*report.scenes, *report.chapters) for issue in work.issues]
    if report.stopped is not None:
        issues.append(ReportIssue(stage="extract", kind="unavailable", message=report.stopped))
    return outcome.model_copy(update={"extraction": report, "issues": [*outcome.issues, *issues]})


if __name__ == "__main__":
    sys.stderr.write(f"usage: runtime.orchestrator is no program.\n\n{__doc__}")
    sys.exit(2)
