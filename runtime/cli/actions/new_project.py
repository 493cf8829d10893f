"""Making a new project with an empty memory."""

from __future__ import annotations

from novelgen.errors import UnknownProjectError, UserInputError
from runtime.cli.actions.init_project import init_project
from runtime.cli.opening import opened_stores
from runtime.cli.output import print_text
from runtime.cli.session import CliSession


def new_project(session: CliSession, project_id: str, *, language: str) -> None:
    """Make a project's folder and its memory, and say what was made.

    Raises:
        InvalidProjectIdError: When the id is not a plain, path-free string.
        UserInputError: When the project is stored already.
    """
    with opened_stores(session, project_id) as stores:
        try:
            stores.database(project_id)
        except UnknownProjectError:
            init_project(session, project_id, language=language)
            stores.create_project(project_id, language=language)
        else:
            raise UserInputError(f"project {project_id!r} exists already; choose another name")
        print_text(
            f"\nIts memory is empty: add to it by `novelgen character add {project_id} NAME` and the like."
        )
