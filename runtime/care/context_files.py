"""Checks of context files: whether the story before their scene has changed since they were written."""

from __future__ import annotations

from dataclasses import dataclass

from novelgen.errors import InvalidFileError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from runtime.care.checks import Finding
from runtime.files.paths import ProjectPaths
from runtime.files.scene_plans import context_places, load_context, own_scene_plan
from runtime.stores import MemoryStores


@dataclass(frozen=True, slots=True)
class JudgedContext:
    """A context file: what it holds and whether it is stale, or why it cannot be read."""

    chapter_index: int
    scene_index: int
    context: SceneMemoryContext | None = None
    is_stale: bool = False
    problem: str = ""


def judge_context_files(stores: MemoryStores, project_id: str) -> list[JudgedContext]:
    """Judge all context files of a project, in story order; empty where there are none."""
    places = context_places(stores.paths(project_id))
    return [_judged(stores, project_id, *place) for place in places]


def check_context_files(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Tell of the context files of a project."""
    judged = judge_context_files(stores, project_id)
    findings = [_finding(stores.paths(project_id), each) for each in judged if each.is_stale or each.problem]
    fresh = len(judged) - len(findings)
    return [
        *findings,
        Finding(
            level="ok",
            what="context files",
            message=f"{fresh} of {len(judged)} are up to date",
            kind="context_files",
            values={"fresh": fresh, "count": len(judged)},
        ),
    ]


def _judged(stores: MemoryStores, project_id: str, chapter_index: int, scene_index: int) -> JudgedContext:
    try:
        context = load_context(stores.paths(project_id), chapter_index, scene_index)
    except InvalidFileError as error:
        return JudgedContext(chapter_index, scene_index, problem=str(error))
    if context is None:
        return JudgedContext(chapter_index, scene_index)
    with stores.database(project_id).read() as unit:
        now = unit.story_version(StoryPosition(chapter_index, scene_index))
    is_stale = context.report is None or context.report.story_version != now
    return JudgedContext(chapter_index, scene_index, context, is_stale=is_stale)


def _finding(paths: ProjectPaths, judged: JudgedContext) -> Finding:
    again = f"novelgen context {paths.project_id} --chapter {judged.chapter_index} --scene {judged.scene_index}"
    has_plan = _has_plan(paths, judged)
    fix = f"novelgen context {paths.project_id} --stale" if judged.is_stale else again
    return Finding(
        level="degraded",
        what=paths.context_file(judged.chapter_index, judged.scene_index).name,
        message=judged.problem or "stale: what lies before its scene has changed since it was written",
        fix=fix if has_plan else f"{again} --plan FILE (the project has no plan of it)",
        kind="context_unreadable" if judged.problem else "context_stale",
        values={
            "problem": judged.problem,
            "command": fix if has_plan else f"{again} --plan FILE",
            "file": paths.context_file(judged.chapter_index, judged.scene_index).name,
        },
    )


def _has_plan(paths: ProjectPaths, judged: JudgedContext) -> bool:
    try:
        found, _ = own_scene_plan(paths, chapter_index=judged.chapter_index, scene_index=judged.scene_index)
    except InvalidFileError:
        return False
    return found is not None
