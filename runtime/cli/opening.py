"""Opening a project for a command: its settings, its stores, and whether it is known."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from novelgen.deadlines import run_concurrently
from novelgen.errors import UnknownProjectError
from runtime.cli.session import CliSession
from runtime.projects.files import load_settings_file
from runtime.projects.paths import ProjectPaths
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)


def project_settings(session: CliSession, project_id: str, **overrides: Any) -> NovelgenSettings:
    """Return the settings of a project: its config.yaml, the environment and what the command line says.

    Args:
        session: The program's own options.
        project_id: The project.
        **overrides: Values that win; None is ignored.

    Raises:
        InvalidProjectIdError: When the id is not a plain, path-free string.
        ConfigurationError: When a setting is wrong.
    """
    config_file = ProjectPaths(session.projects_dir, project_id).config_file
    return load_settings(config_file, projects_dir=session.projects_dir, **overrides)


@contextmanager
def opened_stores(session: CliSession, project_id: str, **overrides: Any) -> Iterator[MemoryStores]:
    """Give the stores with a project's settings and close them at the end; nothing is opened yet."""
    settle_imports()
    with MemoryStores(project_settings(session, project_id, **overrides)) as stores:
        yield stores


@cache
def settle_imports() -> None:
    """Let the garbage collector pass over what a command has imported: it stays until the program ends. Works once.

    Else it looks through half a million objects of the libraries again and again while a context of a large
    project is built.
    """
    gc.freeze()


@contextmanager
def opened_project(session: CliSession, project_id: str) -> Iterator[MemoryStores]:
    """Give the stores of a project that must be stored.

    Raises:
        UnknownProjectError: When no such project is stored; says how to fill a folder that is there.
        DatabaseError: When the database cannot be opened.
    """
    with opened_stores(session, project_id) as stores:
        try:
            stores.database(project_id)
        except UnknownProjectError as error:
            if not has_project_files(stores.paths(project_id)):
                raise
            raise UnknownProjectError(
                f"nothing of project {project_id!r} is stored yet; run `novelgen ingest {project_id}`"
            ) from error
        yield stores


def has_project_files(paths: ProjectPaths) -> bool:
    """Tell whether a folder looks like a project, stored or not."""
    signs = (paths.settings_file, paths.config_file, paths.characters_file, paths.chapters, paths.data)
    return any(sign.exists() for sign in signs)


def require_project_files(stores: MemoryStores, project_id: str) -> None:
    """Refuse a project that is neither a folder nor stored; a folder whose stores fail is let through.

    Raises:
        UnknownProjectError: When there is no such project.
        DatabaseError: When there is no folder and the database cannot say.
    """
    paths = stores.paths(project_id)
    if not has_project_files(paths):
        stores.database(project_id)
    elif stores.settings.database_url is None and not paths.database.exists():
        logger.warning("nothing of project %r is stored; run `novelgen ingest %s`", project_id, project_id)


def await_index(stores: MemoryStores, project_id: str) -> None:
    """Let the vector index load its libraries before a search with a short deadline asks it.

    Waits for as long as one retrieval tool may take. What fails here is left to the search to report.
    """
    timeout_s = stores.settings.memory.tool_timeout_s

    def start() -> None:
        stores.vectors(project_id).wait_started(timeout_s=timeout_s)

    outcome = run_concurrently({"start": start}, timeouts_s={"start": timeout_s})["start"]
    if outcome.error is not None:
        logger.info("the vector index has not started: %s", outcome.error)


def story_language(stores: MemoryStores, project_id: str) -> str:
    """Return the language of a stored project, by its database, else by its settings.json; else empty."""
    with stores.database(project_id).read() as unit:
        stored = unit.projects.require().language
    if stored:
        return stored
    settings = load_settings_file(stores.paths(project_id).settings_file)
    return settings.language if settings is not None else ""
