"""Showing the context of one planned scene."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ScenePlan
from runtime.cli.context_building import ContextBuilder
from runtime.cli.opening import await_index, opened_stores, require_project_files
from runtime.cli.output import print_json
from runtime.cli.plan_files import find_scene_plan
from runtime.cli.session import CliSession
from runtime.cli.views.context import print_context
from runtime.cli.views.explanation import print_explanation
from runtime.projects.paths import ProjectPaths

logger = logging.getLogger(__name__)


def show_context(
    session: CliSession,
    project_id: str,
    *,
    place: tuple[int, int],
    plan_file: Path | None,
    characters_file: Path | None,
    budgets: Mapping[str, int | None],
    model: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Build the context of a planned scene, write its file and show it.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When there is no plan, or a file is wrong.
    """
    chapter_index, scene_index = place
    with opened_stores(session, project_id, model=model, memory=given_budgets(budgets)) as stores:
        require_project_files(stores, project_id)
        paths = stores.paths(project_id)
        plan, chapter_plan = find_scene_plan(
            plan_file, paths, chapter_index=chapter_index, scene_index=scene_index
        )
        _warn_of_another_number(plan, scene_index)
        builder = ContextBuilder(
            stores, project_id, characters_file=characters_file, must_have_model=model is not None
        )
        await_index(stores, project_id)
        context = builder.build(
            plan, chapter_index=chapter_index, scene_index=scene_index, chapter_plan=chapter_plan
        )
        language = builder.language(plan, chapter_index, scene_index)
    if as_json:
        print_json(context)
        return
    print_context(context, language=language, written_to=_written_file(context, paths))
    if explain and context.report is not None:
        print_explanation(context.report, language=language)


def given_budgets(budgets: Mapping[str, int | None]) -> dict[str, int] | None:
    """Return the budgets that the command line sets, or None when it sets none."""
    return {name: tokens for name, tokens in budgets.items() if tokens is not None} or None


def _warn_of_another_number(plan: ScenePlan, scene_index: int) -> None:
    if plan.scene_number != scene_index:
        logger.warning(
            "the plan says scene_number %d, but --scene is %d, which counts", plan.scene_number, scene_index
        )


def _written_file(context: SceneMemoryContext, paths: ProjectPaths) -> Path | None:
    issues = context.report.issues if context.report else []
    if any(issue.stage == "write" for issue in issues):
        return None
    return paths.context_file(context.chapter_index, context.scene_index)
