"""`novelgen new`, `init` and `projects`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.labels import in_words, view_labels_for
from runtime.doors.cli.opening import opened_stores
from runtime.doors.cli.output import print_json, print_result, print_table, print_text
from runtime.doors.cli.parameters import CliSession, json_option, project_argument, require_confirmation, yes_option

if TYPE_CHECKING:
    from runtime.story.projects import MadeFiles, ProjectOverview

_LANGUAGE = click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    help="Language of the story, for settings.json.  [default: that of the name if it is Chinese, else of the first"
    " text]",
)


@click.command(epilog="\b\nExample:\n  novelgen new my-novel\n  novelgen new 我的小说")
@click.argument("name")
@_LANGUAGE
@json_option
@click.pass_obj
def new(session: CliSession, name: str, language: str | None, as_json: bool) -> None:
    """Make a new project with an empty memory.

    As `init`, it makes the folder with a commented config.yaml; the memory is there at once, so that characters,
    places, relationships and loops can be added before the first scene.
    """
    from runtime.story.projects import StoryProjects

    with opened_stores(session, name) as stores:
        files = StoryProjects(stores, name).create_project(language=language)
    hint = f"\nIts memory is empty: add to it by `novelgen character add {name} NAME` and the like."
    print_result(files, *_made_lines(files), hint, as_json=as_json)


@click.command(epilog="\b\nExamples:\n  novelgen init my-novel\n  novelgen --projects-dir ~/novels init 我的小说")
@project_argument
@_LANGUAGE
@json_option
@click.pass_obj
def init(session: CliSession, project: str, language: str | None, as_json: bool) -> None:
    """Make a project's folder, with a commented config.yaml.

    It holds settings.json, characters.json, config.yaml and chapters/. Files that are there already are left
    as they are.
    """
    from runtime.story.projects import StoryProjects

    with opened_stores(session, project) as stores:
        files = StoryProjects(stores, project).make_project_files(language=language)
    print_result(files, *_made_lines(files), as_json=as_json)


@click.command(epilog="\b\nExample:\n  novelgen --projects-dir ~/novels projects")
@json_option
@click.pass_obj
def projects(session: CliSession, as_json: bool) -> None:
    """List the stored projects with what they hold."""
    from runtime.story.projects import list_project_ids

    with opened_stores(session) as stores:
        project_ids = list_project_ids(stores)
    overviews = [_overview(session, project_id) for project_id in project_ids]
    if as_json:
        print_json(overviews)
    elif not overviews:
        print_text(in_words(f"no projects in {str(session.projects_dir)!r}; make one with `novelgen init NAME`"))
    else:
        headings = ("project", "language", "scenes", "memories", "entities", "title")
        rows = [
            (each.project_id, each.language, each.scenes, each.memories, each.entities, _title(each))
            for each in overviews
        ]
        print_table(headings, rows, labels=view_labels_for())


@click.command(epilog="\b\nExample:\n  novelgen delete my-novel")
@project_argument
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, is_confirmed: bool, as_json: bool) -> None:
    """Delete a project for good, with all of its files.

    What is stored of it and its index go as well; nothing of any other project is touched. Where a server has the
    projects, delete it there.
    """
    from novelgen.errors import ConfigurationError
    from runtime.doors.http.settings import running_server
    from runtime.story.projects import StoryProjectDeletion

    url = running_server(session.projects_dir)
    if url is not None:
        raise ConfigurationError(f"a server has these projects ({url}); delete {project!r} there, or end it first")
    with opened_stores(session, project) as stores:
        folder = stores.paths(project).folder
        require_confirmation(
            f"delete project {project!r} with all that is stored of it and all files in {str(folder)!r}",
            is_confirmed=is_confirmed,
        )
        deleted = StoryProjectDeletion(stores, project).delete_project(confirm=project)
    told = f"deleted {deleted.project_id}: {deleted.scenes} scenes, {deleted.memories} memories, {deleted.files} files"
    print_result(deleted, told, as_json=as_json)


def _overview(session: CliSession, project_id: str) -> ProjectOverview:
    """Describe a project by its own settings; one that cannot be read says why and does not stop the others."""
    from novelgen.errors import NovelgenError, UnknownProjectError
    from runtime.story.projects import ProjectOverview, StoryProjects

    try:
        with opened_stores(session, project_id) as stores:
            return StoryProjects(stores, project_id).describe_project()
    except UnknownProjectError:
        return ProjectOverview(project_id=project_id, problem="nothing stored yet: run `novelgen ingest`")
    except NovelgenError as error:
        return ProjectOverview(project_id=project_id, problem=f"cannot be read: {error}")


def _title(overview: ProjectOverview) -> str:
    return in_words(overview.problem) if overview.problem else overview.name


def _made_lines(files: MadeFiles) -> list[str]:
    made = [f"made  {file}" for file in files.made] + [f"kept  {file}" for file in files.kept]
    told = f"\nPut finished chapters into {files.chapters} as chapter_001.json, .txt or .md, then run:"
    return [*made, told, f"  novelgen ingest {files.project_id}"]
