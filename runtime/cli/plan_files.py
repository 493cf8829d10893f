"""Plans of scenes, as the command `context` takes them: one plan, or a file of many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from novelgen.errors import InvalidFileError, InvalidProjectIdError
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.position import ChapterIndex, SceneIndex, require_project_id
from runtime.projects.file_reading import parse_json, read_text_file, shown, validated
from runtime.projects.files import load_chapter_plan, load_scene_plan
from runtime.projects.paths import ProjectPaths
from runtime.projects.scene_plans import own_scene_plan


class PlanLine(BaseModel):
    """A line of a plans file, without whatever else stands on it."""

    model_config = ConfigDict(strict=True)

    plan_id: str
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: ScenePlan


@dataclass(frozen=True, slots=True)
class NumberedPlan:
    """A line of a plans file: its number, and the plan or why there is none."""

    number: int
    plan: PlanLine | None = None
    problem: str = ""


def find_scene_plan(
    plan_file: Path | None, paths: ProjectPaths, *, chapter_index: int, scene_index: int
) -> tuple[ScenePlan, ChapterPlan | None]:
    """Find the plan of a scene: the file that was given, else the project's own.

    Args:
        plan_file: A ScenePlan as JSON; None looks into the project, as `own_scene_plan` does.
        paths: The project's files.
        chapter_index: Chapter of the scene.
        scene_index: Scene within the chapter.

    Returns:
        The scene's plan, and the plan of its chapter where the project has one.

    Raises:
        InvalidFileError: When there is no plan at any of these places, or a file is wrong.
    """
    chapter_file = paths.chapter_plan_file(chapter_index)
    if plan_file is not None:
        plan = load_scene_plan(plan_file)
        if plan is None:
            raise InvalidFileError(
                f"there is no plan at {str(plan_file)!r}; write a ScenePlan there, or leave out --plan to take "
                f"scene {scene_index} of {str(chapter_file)!r}"
            )
        return plan, load_chapter_plan(chapter_file)
    found, chapter_plan = own_scene_plan(paths, chapter_index=chapter_index, scene_index=scene_index)
    if found is None:
        problem = "there is no" if chapter_plan is None else f"no scene {scene_index} in"
        raise InvalidFileError(
            f"no plan of scene {chapter_index}:{scene_index}: {problem} {str(chapter_file)!r}, and no --plan was "
            "given; write one of them, --plan FILE being a ScenePlan as JSON"
        )
    return found, chapter_plan


def read_plan_lines(file: Path) -> list[NumberedPlan]:
    """Read a file of plans, one JSON object per line.

    Only plan_id, chapter_index, scene_index and scene_plan of a line are read. What else stands there, such
    as an answer key, is dropped before anything looks at the line.

    Args:
        file: The file; empty lines are passed over.

    Returns:
        One entry per line, in the order of the file; a bad line has its problem in place of a plan.

    Raises:
        InvalidFileError: When the file cannot be read or holds no line.
    """
    plans = list(_numbered_plans(file))
    if not plans:
        raise InvalidFileError(f"{str(file)!r} holds no plan; write one JSON object per line")
    return plans


def _numbered_plans(file: Path) -> Iterator[NumberedPlan]:
    taken: dict[str, int] = {}
    for number, line in enumerate(read_text_file(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{str(file)!r} line {number}"
        try:
            plan = _plan_of(line, where=where)
        except InvalidFileError as error:
            yield NumberedPlan(number, problem=str(error))
            continue
        first = taken.setdefault(plan.plan_id.casefold(), number)
        if first == number:
            yield NumberedPlan(number, plan)
        else:
            yield NumberedPlan(
                number, problem=f"{where}: plan_id {plan.plan_id!r} stands on line {first}, too"
            )


def _plan_of(line: str, *, where: str) -> PlanLine:
    data = _four_keys(parse_json(line, where=where), where=where)
    plan = validated(PlanLine, data, where=where)
    try:
        require_project_id(plan.plan_id)
    except InvalidProjectIdError as error:
        raise InvalidFileError(
            f"{where}: plan_id {plan.plan_id!r} is not a safe file name; use one such as 'P001'"
        ) from error
    return plan


def _four_keys(data: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InvalidFileError(f"{where} must hold an object, not {shown(data)}")
    return {name: data[name] for name in PlanLine.model_fields if name in data}
