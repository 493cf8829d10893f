"""Listing the projects."""

from __future__ import annotations

from pydantic import BaseModel

from novelgen.errors import NovelgenError, UnknownProjectError, UserInputError
from runtime.cli.opening import has_project_files, opened_stores
from runtime.cli.output import print_json, print_table, print_text
from runtime.cli.session import CliSession
from runtime.projects.paths import ProjectPaths
from runtime.settings import load_settings
from runtime.stores import MemoryStores


class ProjectOverview(BaseModel):
    """What a project holds; `problem` says why nothing could be read."""

    project_id: str
    name: str = ""
    language: str = ""
    scenes: int = 0
    memories: int = 0
    entities: int = 0
    problem: str = ""


def list_projects(session: CliSession, *, as_json: bool) -> None:
    """Show every project with what it holds; one that cannot be read does not stop the others."""
    overviews = [_overview(session, project_id) for project_id in _project_ids(session)]
    if as_json:
        print_json(overviews)
    elif not overviews:
        print_text(f"no projects in {str(session.projects_dir)!r}; make one with `novelgen init NAME`")
    else:
        rows = [
            (
                each.project_id,
                each.language,
                each.scenes,
                each.memories,
                each.entities,
                each.problem or each.name,
            )
            for each in overviews
        ]
        print_table(("project", "language", "scenes", "memories", "entities", "title"), rows, wide=5)


def _project_ids(session: CliSession) -> list[str]:
    """Return the ids of the stored projects, and of folders that wait for their first ingest, sorted."""
    with MemoryStores(load_settings(projects_dir=session.projects_dir)) as stores:
        stored = set(stores.project_ids())
    folders = session.projects_dir.iterdir() if session.projects_dir.is_dir() else ()
    return sorted(stored | {each.name for each in folders if _is_project_folder(session, each.name)})


def _is_project_folder(session: CliSession, name: str) -> bool:
    try:
        return has_project_files(ProjectPaths(session.projects_dir, name))
    except UserInputError:
        return False


def _overview(session: CliSession, project_id: str) -> ProjectOverview:
    try:
        with opened_stores(session, project_id) as stores, stores.database(project_id).read() as unit:
            project = unit.projects.require()
            return ProjectOverview(
                project_id=project_id,
                name=project.name,
                language=project.language,
                scenes=len(unit.scenes.list_as_of()),
                memories=unit.memories.count(),
                entities=len(unit.entities.list_all()),
            )
    except UnknownProjectError:
        return ProjectOverview(project_id=project_id, problem="nothing stored yet: run `novelgen ingest`")
    except NovelgenError as error:
        return ProjectOverview(project_id=project_id, problem=f"cannot be read: {error}")
