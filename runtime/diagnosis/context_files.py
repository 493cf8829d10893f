"""Checks of context files: whether the story before their scene has changed since they were written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from novelgen.errors import InvalidFileError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from runtime.diagnosis.findings import Finding
from runtime.projects.file_reading import read_json_file, validated
from runtime.stores import MemoryStores

CONTEXT_FILES = "scene_*_*_memory.json"


def check_context_files(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Judge all context files of a project.

    Returns:
        One finding per file that is stale or cannot be read, in order of name, and one that counts the rest.

    Raises:
        DatabaseError: When the database fails.
    """
    files = sorted(stores.paths(project_id).folder.glob(CONTEXT_FILES))
    findings = list(_problems(stores, project_id, files))
    fresh = len(files) - len(findings)
    return [
        *findings,
        Finding(level="ok", what="context files", message=f"{fresh} of {len(files)} are up to date"),
    ]


def _problems(stores: MemoryStores, project_id: str, files: list[Path]) -> Iterator[Finding]:
    for file in files:
        try:
            context = validated(SceneMemoryContext, read_json_file(file), where=repr(str(file)))
        except InvalidFileError as error:
            yield Finding(level="degraded", what=file.name, message=str(error), fix="build the context again")
            continue
        if not _is_fresh(stores, project_id, context):
            yield Finding(
                level="degraded",
                what=file.name,
                message="stale: what lies before its scene has changed since it was written",
                fix=f"novelgen context {project_id} --chapter {context.chapter_index} "
                f"--scene {context.scene_index}",
            )


def _is_fresh(stores: MemoryStores, project_id: str, context: SceneMemoryContext) -> bool:
    position = StoryPosition(context.chapter_index, context.scene_index)
    with stores.database(project_id).read() as unit:
        now = unit.story_version(project_id, position)
    return context.report is not None and context.report.story_version == now
