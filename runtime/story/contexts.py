"""Contexts of planned scenes: finding the plan, building one or many, comparing, and rebuilding stale ones."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, Field

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.context_difference import compare_contexts
from novelgen.context.prompt_block import ContextLine, context_lines
from novelgen.context.scene_planning import known_story, language_of
from novelgen.deadlines import run_concurrently
from novelgen.errors import ContextWriteError, InvalidFileError, NovelgenError
from novelgen.language.normalise import is_visible_name
from novelgen.models.context import ContextDifference, MemoryContextRequest, SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.user_file import Character, CharactersConfig
from runtime.care.checks import judge_context_files
from runtime.context_chain import JsonContextWriter, build_context_chain, configured_chat_model, context_json
from runtime.files.file_reading import NumberedLine
from runtime.files.paths import ProjectPaths, write_text_atomically
from runtime.files.project_files import load_characters, load_context, load_settings_file, own_scene_plan
from runtime.memory_tools import StoryMemoryTools
from runtime.model_providers.token_counters import build_token_counter
from runtime.stores import MemoryStores
from runtime.story.base import Progress, StoryBase, await_index
from runtime.story.projects import StoryProjects
from runtime.story.scene_plans import PlanLine, PlannedScene, find_own_plan, read_plan_lines

logger = logging.getLogger(__name__)

_FATAL_STAGES = ("outline", "search", "states", "timeline")
"""Where one of these failed the story was not read whole: the stale context is the better one and stays."""


class ContextBounds(BaseModel):
    """Budgets of one context, None for the settings'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_budget: int | None = Field(
        default=None, ge=0, le=1_000_000, description="Tokens for memories and the story so far."
    )
    state_budget: int | None = Field(default=None, ge=0, le=1_000_000, description="Tokens for states.")
    timeline_budget: int | None = Field(default=None, ge=0, le=1_000_000, description="Tokens for the timeline.")
    full_report: bool | None = Field(default=None, description="Keep every score and every field.")


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How contexts are built."""

    characters_file: Path | None = None
    must_have_model: bool = False
    model: BaseChatModel | None = None
    pov: str = ""
    bounds: ContextBounds | None = None


class ContextLook(BaseModel):
    """A context to be looked at piece by piece."""

    context: SceneMemoryContext
    prompt: str = Field(description="The block as a writer gets it; empty where it holds nothing.")
    lines: list[ContextLine] = Field(default_factory=list, description="Of the block, by need.")
    budgets: dict[str, int] = Field(description="Tokens that each section may take.")


class BuiltContext(BaseModel):
    """A context, its story's language, and its file where it could be written."""

    context: SceneMemoryContext
    language: str
    file: Path | None = None


class ComparedContext(BaseModel):
    """The differences of a context file and the present context."""

    difference: ContextDifference
    language: str
    file: Path


class BatchReport(BaseModel):
    """The results of a batch of contexts, continuing after failures."""

    written: int = 0
    asked: int = 0
    failures: list[str] = Field(default_factory=list)


class StaleReport(BaseModel):
    """The stale context files and their rebuilt ones."""

    stale: int = 0
    compared: list[ComparedContext] = Field(default_factory=list)
    failures: list[str] = Field(default_factory=list)


class StoryContexts(StoryBase):
    """Contexts of planned scenes: finding the plan, building one or many, comparing, and rebuilding stale ones."""

    def build_context(self, *, scene: PlannedScene, options: ContextOptions | None = None) -> BuiltContext:
        """Build a planned scene's context and write its file.

        Failures are in its report.
        """
        builder = ContextBuilder(self._stores, self.project_id, options)
        await_index(self._stores, self.project_id)
        context = builder.build(scene)
        issues = context.report.issues
        is_written = not any(issue.stage == "write" for issue in issues)
        file = builder.paths.context_file(scene.chapter_index, scene.scene_index) if is_written else None
        return BuiltContext(context=context, language=builder.language(scene), file=file)

    def look_at_context(
        self, *, request: MemoryContextRequest, options: ContextOptions | None = None, write_file: bool = False
    ) -> ContextLook:
        """Build the context of a request to be looked at: with its whole report, and line by line."""
        chosen_options = options or ContextOptions()
        bounds = (chosen_options.bounds or ContextBounds()).model_copy(update={"full_report": True})
        builder = ContextBuilder(
            self._stores, self.project_id, replace(chosen_options, bounds=bounds), write_files=write_file
        )
        if request.chapter_plan is None:
            request = request.model_copy(update={"chapter_plan": _chapter_plan(builder.paths, request)})
        await_index(self._stores, self.project_id)
        context = builder.chain.invoke(builder.completed(request))
        memory = self._stores.settings.memory.model_copy(update=bounds.model_dump(exclude_none=True))
        return ContextLook(
            context=context,
            prompt=context.as_prompt(),
            lines=context_lines(context, count_tokens=build_token_counter(memory.token_counter).count_tokens),
            budgets={
                "states": memory.state_budget,
                **{name: memory.quotas.tokens(name, memory.memory_budget) for name in ("story_so_far", "left_off")},
                "timeline": memory.timeline_budget,
                "memories": memory.memory_budget,
                "hidden": memory.hidden_budget,
            },
        )

    def compare_context(self, *, scene: PlannedScene, options: ContextOptions | None = None) -> ComparedContext:
        """Compare a planned scene's context with its unchanged file."""
        builder = ContextBuilder(self._stores, self.project_id, options, write_files=False)
        fix = _fix(builder.paths.project_id, scene.chapter_index, scene.scene_index)
        try:
            was = load_context(builder.paths, scene.chapter_index, scene.scene_index)
        except InvalidFileError as error:
            raise InvalidFileError(f"{error}; {fix}") from error
        if was is None:
            file = str(builder.paths.context_file(scene.chapter_index, scene.scene_index))
            raise InvalidFileError(f"there is no {file!r} to compare with; {fix}")
        await_index(self._stores, self.project_id)
        return _compared(builder, was, builder.build(scene, as_was=was), scene)

    def build_contexts(
        self, *, plans_file: Path, folder: Path, options: ContextOptions | None = None, progress: Progress | None = None
    ) -> BatchReport:
        """Build a context per plan and write it as `<plan_id>.json` to a folder, beside its canonical file."""
        builder = ContextBuilder(self._stores, self.project_id, options)
        plans = read_plan_lines(plans_file)
        await_index(self._stores, self.project_id)
        folder.mkdir(parents=True, exist_ok=True)
        report = BatchReport(asked=len(plans))
        for done_count, numbered_line in enumerate(plans, start=1):
            problem = _batch_problem(builder, numbered_line, folder)
            if problem:
                report.failures.append(problem)
            else:
                report.written += 1
            if progress is not None:
                progress(done_count, len(plans))
        return report

    def rebuild_stale_contexts(
        self,
        *,
        plans_file: Path | None = None,
        write_files: bool = True,
        options: ContextOptions | None = None,
        progress: Progress | None = None,
    ) -> StaleReport:
        """Build every stale context of a project again, in story order, and write it over its file.

        A file stays as it is when its scene has no plan, or the story before it could not be read whole.
        """
        builder = ContextBuilder(self._stores, self.project_id, options, write_files=False)
        writer = JsonContextWriter(builder.paths.projects_dir, is_full=builder.is_full_report)
        judged = judge_context_files(self._stores, self.project_id)
        stale = [
            judged_context.context
            for judged_context in judged
            if judged_context.is_stale and judged_context.context is not None
        ]
        report = StaleReport(stale=len(stale))
        for judged_context in judged:
            if judged_context.problem:
                report.failures.append(
                    f"{judged_context.problem}; "
                    f"{_fix(self.project_id, judged_context.chapter_index, judged_context.scene_index)}"
                )
        plans_by_position = _plans_by_place(plans_file, report.failures)
        if stale:
            await_index(self._stores, self.project_id)
        for done_count, was in enumerate(stale, start=1):
            try:
                place = (was.chapter_index, was.scene_index)
                if place in plans_by_position:
                    plans = plans_by_position[place], _chapter_plan(builder.paths, was)
                else:
                    plans = find_own_plan(builder.paths, chapter_index=place[0], scene_index=place[1])
                scene = PlannedScene(*place, *plans)
                now = _whole(builder.build(scene, as_was=was))
                if write_files:
                    writer.write(now)
                report.compared.append(_compared(builder, was, now, scene))
            except NovelgenError as error:
                report.failures.append(str(error))
            if progress is not None:
                progress(done_count, len(stale))
        return report


class ContextBuilder:
    """Builds the contexts of one project."""

    def __init__(
        self, stores: MemoryStores, project_id: str, options: ContextOptions | None = None, *, write_files: bool = True
    ) -> None:
        StoryProjects(stores, project_id).require_project_files()
        chosen_options = options or ContextOptions()
        self.paths = stores.paths(project_id)
        self.is_full_report = stores.settings.memory.full_report
        self._stores = stores
        self._project_id = project_id
        self._story_settings = load_settings_file(self.paths.settings_file)
        self._characters = _characters_of_files(chosen_options.characters_file, self.paths.characters_file)
        self._tools = StoryMemoryTools(stores)
        self.chain = _chain(stores, chosen_options, write_files=write_files)
        self._pov = chosen_options.pov

    def build(self, scene: PlannedScene, *, as_was: SceneMemoryContext | None = None) -> SceneMemoryContext:
        """Build the context of a planned scene, with failures in its report."""
        request = self._request(scene)
        view = as_was.report.point_of_view if as_was and as_was.report else None
        if view is not None and view.name and not self._pov:
            mode_fields = {"knowledge": "exclude"} if view.mode == "exclude" else {}
            request = request.model_copy(update={"pov": view.name, **mode_fields})
        return self.chain.invoke(request)

    def language(self, scene: PlannedScene) -> str:
        """Return the language of the story: as settings.json says, as stored, else as the plan is written."""
        if self._story_settings is None or not self._story_settings.language:
            stored_language = self._within_deadline(StoryProjects(self._stores, self._project_id).language_of_project)
            if stored_language:
                return str(stored_language)
        request = self._request(scene)
        return language_of(request, known_story(request, None))

    def _request(self, scene: PlannedScene) -> MemoryContextRequest:
        request = MemoryContextRequest(
            project_id=self._project_id,
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            scene_plan=scene.plan,
            chapter_plan=scene.chapter_plan,
            pov=self._pov,
        )
        return self.completed(request)

    def completed(self, request: MemoryContextRequest) -> MemoryContextRequest:
        """Return a request with the project's characters and settings where it has none."""
        own: dict[str, Any] = {"characters": self._characters, "settings": self._story_settings}
        if own["characters"] is None and "characters" not in request.model_fields_set:
            # The characters that the story has shown; none where it cannot be read, as the chain reports.

            def read() -> list[Entity]:
                with self._stores.database(self._project_id).read() as unit:
                    return unit.entities.list_as_of(as_of=request.position)

            own["characters"] = characters_of_entities(self._within_deadline(read) or [])
        # Files that were read, and warned of, already: a field of theirs that is misspelt must not cost every context.
        left_out = {name: value for name, value in own.items() if name not in request.model_fields_set}
        return request.model_copy(update=left_out)

    def _within_deadline(self, read_function: Callable[[], Any]) -> Any:
        """Return a read's result, None after the tool's deadline."""
        timeouts_s = {"read": self._stores.settings.memory.tool_timeout_s}
        outcome = run_concurrently({"read": read_function}, timeouts_s=timeouts_s)["read"]
        if outcome.error is not None:
            logger.info("not read: %s", outcome.error)
        return outcome.value


def characters_of_entities(entities: list[Entity]) -> CharactersConfig:
    """Return the characters among entities, as the story has shown them, in their order.

    The first whose role says so is the protagonist, likewise the antagonist. A card whose name nobody can see, which
    no plan can mean, is left out; `novelgen doctor` names it.
    """
    people = [
        Character(
            name=entity.name,
            role=entity.role,
            background=entity.description,
            aliases=[alias.alias for alias in entity.aliases],
        )
        for entity in entities
        if entity.entity_type == "character" and is_visible_name(entity.name)
    ]
    leads = {
        role: next((character for character in people if character.role.strip().lower() in words), None)
        for role, words in _LEADS.items()
    }
    others = [character for character in people if all(character is not lead for lead in leads.values())]
    return CharactersConfig(
        protagonist=leads["protagonist"], antagonist=leads["antagonist"], supporting_characters=others
    )


_LEADS = {"protagonist": ("protagonist", "主角", "主人公"), "antagonist": ("antagonist", "反派", "对手")}


def _chain(stores: MemoryStores, options: ContextOptions, *, write_files: bool) -> MemoryContextChain:
    model = options.model
    if model is None and options.must_have_model:
        model = configured_chat_model(stores.settings)
    bounds = options.bounds.model_dump(exclude_none=True) if options.bounds else None
    return build_context_chain(stores, model=model, write_files=write_files, bounds=bounds)


def _characters_of_files(path: Path | None, own: Path) -> CharactersConfig | None:
    if path is None:
        return load_characters(own)
    characters = load_characters(path)
    if characters is None:
        raise InvalidFileError(
            f"there is no file {str(path)!r} with characters; correct --characters, or say who appears with --with"
        )
    return characters


def _chapter_plan(paths: ProjectPaths, scene: MemoryContextRequest | SceneMemoryContext) -> ChapterPlan | None:
    return own_scene_plan(paths, chapter_index=scene.chapter_index, scene_index=scene.scene_index)[1]


def _fix(project_id: str, chapter_index: int, scene_index: int) -> str:
    return f"write it with `novelgen context {project_id} --chapter {chapter_index} --scene {scene_index}`"


def _compared(
    builder: ContextBuilder, was: SceneMemoryContext, now: SceneMemoryContext, scene: PlannedScene
) -> ComparedContext:
    return ComparedContext(
        difference=compare_contexts(was, now),
        language=builder.language(scene),
        file=builder.paths.context_file(scene.chapter_index, scene.scene_index),
    )


def _batch_problem(builder: ContextBuilder, numbered_line: NumberedLine[PlanLine], folder: Path) -> str:
    """Build and write one context, returning its error, if any."""
    plan = numbered_line.value
    if plan is None:
        return numbered_line.problem
    try:
        context = builder.build(PlannedScene(plan.chapter_index, plan.scene_index, plan.scene_plan))
        text = context_json(context, is_full=builder.is_full_report)
        write_text_atomically(folder / f"{plan.plan_id}.json", text, root=folder)
    except NovelgenError as error:
        return f"line {numbered_line.number}, plan {plan.plan_id!r}: {error}"
    return ""


def _plans_by_place(plans_file: Path | None, failures: list[str]) -> dict[tuple[int, int], ScenePlan]:
    """Return a file's plans by scene, with bad lines as failures."""
    plans: dict[tuple[int, int], ScenePlan] = {}
    for numbered_line in read_plan_lines(plans_file) if plans_file else []:
        line = numbered_line.value
        if line is None:
            failures.append(numbered_line.problem)
            continue
        place = (line.chapter_index, line.scene_index)
        if place in plans:
            failures.append(
                f"line {numbered_line.number}, plan {line.plan_id!r}: scene {place[0]}:{place[1]} has a plan on an "
                "earlier line, which counts; keep one"
            )
        plans.setdefault(place, line.scene_plan)
    return plans


def _whole(context: SceneMemoryContext) -> SceneMemoryContext:
    """Return a context for which the story was read whole."""
    for issue in context.report.issues:
        if issue.stage in _FATAL_STAGES:
            scene = f"{context.chapter_index}:{context.scene_index}"
            raise ContextWriteError(f"the context of scene {scene} stays as it is: {issue.message}")
    return context
