"""Plans of scenes: the next scene, and plan files."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from novelgen.errors import InvalidFileError
from novelgen.models.plan import ChapterPlan, ScenePlan, given_fields
from novelgen.models.position import ChapterIndex, SceneIndex
from runtime.files.file_reading import (
    NumberedLine,
    parse_json,
    read_json_file,
    read_numbered_lines,
    read_text_file,
    validated,
)
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import in_first_shape, load_chapter_plan, own_scene_plan, planned_places
from runtime.story.base import chapter_names_of
from runtime.story.projects import StoryProjects


@dataclass(frozen=True, slots=True)
class PlannedScene:
    """A scene that is to be written: where, its plan, and the plan of its chapter where there is one."""

    chapter_index: int
    scene_index: int
    plan: ScenePlan
    chapter_plan: ChapterPlan | None = None


class PlanLine(BaseModel):
    """A line of a plans file, without whatever else is on it."""

    model_config = ConfigDict(strict=True)

    plan_id: str
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: ScenePlan


class StoryScenePlans(StoryProjects):
    """Plans of scenes: the next scene, and plan files."""

    def find_planned_scene(
        self,
        *,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        plan_file: Path | None = None,
        spoken_plan: Mapping[str, Any] | None = None,
    ) -> PlannedScene:
        """Find the scene that is to be written next, and its plan."""
        self.require_project_files()
        paths = self._stores.paths(self.project_id)
        plan_value = _read_plan_file(plan_file, paths) if plan_file is not None else None
        if chapter_index is None and isinstance(plan_value, ChapterPlan):
            chapter_index = plan_value.chapter_number
        chapter_index, scene_index = self.scene_to_write(chapter_index, scene_index)
        place = {"chapter_index": chapter_index, "scene_index": scene_index}
        if spoken_plan is not None:
            plan_value = validated(ScenePlan, {"scene_number": scene_index, **spoken_plan}, where="the plan")
        if isinstance(plan_value, ChapterPlan):
            if plan_value.chapter_number != chapter_index:
                raise InvalidFileError(
                    f"{str(plan_file)!r} plans chapter {plan_value.chapter_number}, not {chapter_index}; "
                    "leave out --chapter"
                )
            scene = plan_value.scene(scene_index)
            if scene is None:
                planned_text = ", ".join(str(plan.scene_number) for plan in plan_value.scenes) or "none"
                raise InvalidFileError(f"{str(plan_file)!r} plans no scene {scene_index}; it plans: {planned_text}")
            return PlannedScene(**place, plan=scene, chapter_plan=plan_value)
        if plan_value is not None:
            chapter_plan = load_chapter_plan(paths.chapter_plan_file(chapter_index))
            return PlannedScene(**place, plan=plan_value, chapter_plan=chapter_plan)
        plan, chapter_plan = find_own_plan(paths, **place)
        return PlannedScene(**place, plan=plan, chapter_plan=chapter_plan)

    def list_own_plans(self, *, until: tuple[int, int], last: int = 50) -> list[PlannedScene]:
        """List the plans of a project in story order, from chapter plans and context files."""
        self.require_project_files()
        paths = self._stores.paths(self.project_id)
        places = [place for place in planned_places(paths) if place <= until]
        plans: list[PlannedScene] = []
        for place in reversed(places):
            if len(plans) == last:
                break
            with contextlib.suppress(InvalidFileError):
                plan, chapter_plan = own_scene_plan(paths, chapter_index=place[0], scene_index=place[1])
                if plan is not None:
                    plans.append(PlannedScene(*place, plan=plan, chapter_plan=chapter_plan))
        return plans[::-1]

    def scene_to_write(self, chapter_index: int | None, scene_index: int | None) -> tuple[int, int]:
        """Return the planned scene, by default after the last stored one.

        番外 and afterwords at the end do not count: what is written next stands before them. Where each chapter is one
        scene, a chapter means that.
        """
        if chapter_index is not None and scene_index is not None:
            return chapter_index, scene_index
        names = chapter_names_of(self._stores, self.project_id)
        if chapter_index is None:
            return names.next_chapter, 1 if scene_index is None else scene_index
        places = names.places
        if len(places) > 2 and all(scene == 1 for _, scene in places):
            return chapter_index, 1
        return chapter_index, max((scene for chapter, scene in places if chapter == chapter_index), default=0) + 1


def find_own_plan(paths: ProjectPaths, *, chapter_index: int, scene_index: int) -> tuple[ScenePlan, ChapterPlan | None]:
    """Return the plan that a project has of a scene, and that of its chapter where there is one."""
    plan, chapter_plan = own_scene_plan(paths, chapter_index=chapter_index, scene_index=scene_index)
    if plan is None:
        chapter_file = str(paths.chapter_plan_file(chapter_index))
        problem = "there is no" if chapter_plan is None else f"no scene {scene_index} in"
        raise InvalidFileError(
            f"no plan of scene {chapter_index}:{scene_index}: {problem} {chapter_file!r}, and no --plan was given; "
            'write one of them, --plan FILE being a ScenePlan as JSON, or say it: --purpose "…" --with NAME --at PLACE'
        )
    return plan, chapter_plan


def read_plan_text(text: str) -> ScenePlan | ChapterPlan:
    """Read a plan file: a scene's plan, or a chapter's in novel-gen's forms."""
    return _plan_of(parse_json(text, where="the plan"), where="the plan")


def read_plan_lines(file: Path) -> list[NumberedLine[PlanLine]]:
    """Read a file of plans: one JSON object per line, or the plan of one chapter as JSON.

    Only plan_id, chapter_index, scene_index and scene_plan of a line are read. What else is there, such
    as an answer key, is dropped before anything looks at the line.
    """
    text = read_text_file(file)
    lines = read_numbered_lines(text, PlanLine, file=file, id_fields=("plan_id",), example="P001")
    plans = _plans_of_chapter(text, file) or list(lines)
    if not plans:
        raise InvalidFileError(f"{str(file)!r} holds no plan; write one JSON object per line")
    return plans


def _read_plan_file(file: Path, paths: ProjectPaths) -> ScenePlan | ChapterPlan:
    if not file.exists():
        raise InvalidFileError(
            f"there is no plan at {str(file)!r}; write a ScenePlan there, or leave out --plan to take the scene of "
            f"{str(paths.chapters / 'chapter_NNN_plan.json')!r}"
        )
    return _plan_of(read_json_file(file), where=repr(str(file)))


def _plan_of(data: Any, *, where: str) -> ScenePlan | ChapterPlan:
    is_chapter = isinstance(data, dict) and "scenes" in data
    model: type[ScenePlan | ChapterPlan] = ChapterPlan if is_chapter else ScenePlan
    try:
        # A misspelt field is refused, as where a program gives the plan: kept under `extra`, nothing would heed it.
        fields = given_fields(in_first_shape(data) if is_chapter else data, model, where="plan")
    except ValueError as error:
        raise InvalidFileError(f"{where}: {error}") from error
    return validated(model, fields, where=where)


def _plans_of_chapter(text: str, file: Path) -> list[NumberedLine[PlanLine]]:
    """Return the scenes of a chapter plan, empty for other files."""
    where = repr(str(file))
    try:
        data = parse_json(text, where=where)
    except InvalidFileError:
        return []
    if not isinstance(data, dict) or "scenes" not in data:
        return []
    chapter = validated(ChapterPlan, in_first_shape(data), where=where)
    place = chapter.chapter_number
    return [
        NumberedLine(
            number,
            PlanLine(
                plan_id=f"{place}_{scene.scene_number}",
                chapter_index=place,
                scene_index=scene.scene_number or 0,
                scene_plan=scene,
            ),
        )
        for number, scene in enumerate(chapter.scenes, start=1)
    ]
