"""Plans of scenes that a project has of its own."""

from __future__ import annotations

import logging

from novelgen.errors import InvalidFileError
from novelgen.models.plan import ChapterPlan, ScenePlan
from runtime.projects.context_files import load_context
from runtime.projects.files import load_chapter_plan
from runtime.projects.paths import ProjectPaths

logger = logging.getLogger(__name__)


def own_scene_plan(
    paths: ProjectPaths, *, chapter_index: int, scene_index: int
) -> tuple[ScenePlan | None, ChapterPlan | None]:
    """Return the plan that a project has of a scene: its chapter's, else the one that its context was built for.

    Args:
        paths: The project's files.
        chapter_index: Chapter of the scene.
        scene_index: Scene within the chapter.

    Returns:
        The scene's plan, and the plan of its chapter; None for what there is not.

    Raises:
        InvalidFileError: When the chapter's plan is wrong.
    """
    chapter_plan = load_chapter_plan(paths.chapter_plan_file(chapter_index))
    found = chapter_plan.scene(scene_index) if chapter_plan is not None else None
    return found or _kept_plan(paths, chapter_index, scene_index), chapter_plan


def _kept_plan(paths: ProjectPaths, chapter_index: int, scene_index: int) -> ScenePlan | None:
    try:
        context = load_context(paths, chapter_index, scene_index)
    except InvalidFileError as error:
        logger.info("no plan is taken from a context file: %s", error)
        return None
    return context.report.scene_plan if context and context.report else None
