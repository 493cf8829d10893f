"""Showing the context of one planned scene, or what changed in it."""

from __future__ import annotations

import logging
from pathlib import Path

from novelgen.assembly.context_difference import compare_contexts
from novelgen.errors import InvalidFileError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ScenePlan
from runtime.cli.context_building import BuildOptions, ContextBuilder, opened_builder
from runtime.cli.output import print_json
from runtime.cli.parameters import CliSession
from runtime.cli.plan_files import find_scene_plan
from runtime.cli.views.context import print_context
from runtime.cli.views.context_difference import print_difference
from runtime.cli.views.explanation import print_explanation
from runtime.projects.context_files import load_context
from runtime.projects.paths import ProjectPaths

logger = logging.getLogger(__name__)


def show_context(
    session: CliSession,
    project_id: str,
    options: BuildOptions,
    *,
    place: tuple[int, int],
    plan_file: Path | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Build the context of a planned scene, write its file and show it.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When there is no plan, or a file is wrong.
    """
    with opened_builder(session, project_id, options) as builder:
        context, language = build_planned(builder, place, plan_file=plan_file)
    if as_json:
        print_json(context)
        return
    print_context(context, language=language, written_to=_written_file(context, builder.paths))
    if explain and context.report is not None:
        print_explanation(context.report, language=language)


def show_difference(
    session: CliSession,
    project_id: str,
    options: BuildOptions,
    *,
    place: tuple[int, int],
    plan_file: Path | None,
    as_json: bool,
) -> None:
    """Build the context of a planned scene and show in what it differs from its file, which stays as it is.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When there is no context file or no plan, or a file is wrong.
    """
    with opened_builder(session, project_id, options, write_files=False) as builder:
        was = _context_on_disk(builder.paths, place)
        now, language = build_planned(builder, place, plan_file=plan_file)
    difference = compare_contexts(was, now)
    if as_json:
        print_json(difference)
    else:
        print_difference(difference, language=language, file=builder.paths.context_file(*place))


def build_planned(
    builder: ContextBuilder, place: tuple[int, int], *, plan_file: Path | None
) -> tuple[SceneMemoryContext, str]:
    """Build the context of a scene for the plan that there is of it.

    Returns:
        The context and the language of its story.

    Raises:
        InvalidFileError: When there is no plan, or a file is wrong.
    """
    chapter_index, scene_index = place
    plan, chapter_plan = find_scene_plan(
        plan_file, builder.paths, chapter_index=chapter_index, scene_index=scene_index
    )
    _warn_of_another_number(plan, scene_index)
    builder.await_index()
    context = builder.build(
        plan, chapter_index=chapter_index, scene_index=scene_index, chapter_plan=chapter_plan
    )
    return context, builder.language(plan, chapter_index, scene_index)


def _context_on_disk(paths: ProjectPaths, place: tuple[int, int]) -> SceneMemoryContext:
    fix = f"write it with `novelgen context {paths.project_id} --chapter {place[0]} --scene {place[1]}`"
    try:
        context = load_context(paths, *place)
    except InvalidFileError as error:
        raise InvalidFileError(f"{error}; {fix}") from error
    if context is None:
        raise InvalidFileError(f"there is no {str(paths.context_file(*place))!r} to compare with; {fix}")
    return context


def _warn_of_another_number(plan: ScenePlan, scene_index: int) -> None:
    if plan.scene_number not in (None, scene_index):
        logger.warning(
            "the plan says scene_number %d, but --scene is %d, which counts", plan.scene_number, scene_index
        )


def _written_file(context: SceneMemoryContext, paths: ProjectPaths) -> Path | None:
    issues = context.report.issues if context.report else []
    if any(issue.stage == "write" for issue in issues):
        return None
    return paths.context_file(context.chapter_index, context.scene_index)
