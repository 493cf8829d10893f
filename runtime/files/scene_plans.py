"""Plans of scenes that a project has of its own: its chapters' plans and its context files."""

from __future__ import annotations

import contextlib
import logging
import re

from pydantic import BaseModel, Field

from novelgen.errors import InvalidFileError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ChapterPlan, ScenePlan
from runtime.files.file_reading import read_json_file, validated
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import load_chapter_plan

_CONTEXT_FILE = re.compile(r"^scene_(?P<chapter>\d{1,7})_(?P<scene>\d{1,7})_memory\.json$")


class _Loop(BaseModel):
    loop_id: str
    description: str


class _Relationship(BaseModel):
    relationship_id: str
    character_a: str
    character_b: str
    relationship_type: str
    status: str


class _Snapshot(BaseModel):
    entity_id: str
    state_data: dict[str, object]


class _Timeline(BaseModel):
    """What an entry of each section must hold to be shown; a file may have been edited by hand."""

    open_loops: list[_Loop] = Field(default_factory=list)
    relationships: list[_Relationship] = Field(default_factory=list)
    snapshots: list[_Snapshot] = Field(default_factory=list)


class _ContextFile(BaseModel):
    timeline_context: _Timeline | None = None


def context_places(paths: ProjectPaths) -> list[tuple[int, int]]:
    """Return chapter and scene of each context file of a project, in story order; empty where there are none."""
    names = [file.name for file in paths.folder.iterdir()] if paths.folder.is_dir() else []
    matches = [match for name in names if (match := _CONTEXT_FILE.match(name))]
    places = {(int(match["chapter"]), int(match["scene"])): match.string for match in matches}
    return sorted(place for place, name in places.items() if name == paths.context_file(*place).name)


def planned_places(paths: ProjectPaths) -> list[tuple[int, int]]:
    """Return chapter and scene of each plan of a project, in story order; files that cannot be read have none."""
    places = set(context_places(paths))
    for file in paths.chapters.glob("chapter_*_plan.json"):
        with contextlib.suppress(InvalidFileError):
            chapter = load_chapter_plan(file)
            scenes = chapter.scenes if chapter else []
            places |= {(chapter.chapter_number, each.scene_number or 0) for each in scenes if chapter}
    return sorted(places)


def load_context(paths: ProjectPaths, chapter_index: int, scene_index: int) -> SceneMemoryContext | None:
    """Read the context of a scene, or None where there is no file."""
    file = paths.context_file(chapter_index, scene_index)
    if not file.exists():
        return None
    data, where = read_json_file(file), repr(str(file))
    context = validated(SceneMemoryContext, data, where=where)
    validated(_ContextFile, data, where=where)
    found = (context.project_id, context.chapter_index, context.scene_index)
    if found != (paths.project_id, chapter_index, scene_index):
        raise InvalidFileError(
            f"{where} holds the context of scene {found[1]}:{found[2]} of project {found[0]!r}, not its own"
        )
    return context


logger = logging.getLogger(__name__)


def own_scene_plan(
    paths: ProjectPaths, *, chapter_index: int, scene_index: int
) -> tuple[ScenePlan | None, ChapterPlan | None]:
    """Return the plan that a project has of a scene: its chapter's, else the one that its context was built for."""
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
