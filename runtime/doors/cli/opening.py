"""Opening a project for a command: its settings, its stores, and the words of its language."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from runtime.doors.cli.labels import ViewLabels, speak, view_labels_for
from runtime.doors.cli.parameters import CliSession

if TYPE_CHECKING:
    from runtime.stores import MemoryStores


@contextmanager
def opened_stores(session: CliSession, project_id: str | None = None, **overrides: Any) -> Iterator[MemoryStores]:
    """Give stores and close them at the end; nothing is opened yet."""
    from runtime.settings import load_settings
    from runtime.stores import MemoryStores
    from runtime.story.projects import project_settings

    settle_imports()
    if project_id is None:
        settings = load_settings(projects_dir=session.projects_dir, **overrides)
    else:
        settings = project_settings(session.projects_dir, project_id, **overrides)
    with MemoryStores(settings) as stores:
        if project_id is not None:
            speak(_language_where_stored(stores, project_id))
        yield stores


@contextmanager
def opened_project(session: CliSession, project_id: str, **overrides: Any) -> Iterator[MemoryStores]:
    """Give the stores of a project that must be stored."""
    from runtime.story.projects import StoryProjects

    with opened_stores(session, project_id, **overrides) as stores:
        StoryProjects(stores, project_id).require_stored()
        yield stores


def story_language(stores: MemoryStores, project_id: str) -> str:
    """Return the language of a stored project's story; empty where nothing says it."""
    from runtime.story.projects import StoryProjects

    return StoryProjects(stores, project_id).language_of_project()


def _language_where_stored(stores: MemoryStores, project_id: str) -> str:
    """Return the language of a stored story, of any other that of its name where it is Chinese, else none."""
    from novelgen.errors import NovelgenError
    from novelgen.language.language import story_language as language_of

    try:
        if project_id in stores.project_ids():
            return story_language(stores, project_id)
    except NovelgenError:
        pass
    return "zh" if language_of(project_id) == "zh" else ""


def story_labels(stores: MemoryStores, project_id: str) -> ViewLabels:
    """Return the words of a stored project's views, in the language of its story."""
    return view_labels_for(story_language(stores, project_id))


def labels_where_stored(stores: MemoryStores, project_id: str, *, else_of: str = "") -> ViewLabels:
    """Return the words of a stored project's views; of one that is not stored those of a text's language."""
    from novelgen.errors import NovelgenError
    from novelgen.language.language import story_language as language_of

    try:
        return story_labels(stores, project_id)
    except NovelgenError:
        return view_labels_for(language_of(else_of) if else_of else "")


YOUNG_OBJECTS = 50_000
"""After so many new objects the collector looks; Python's 700 cost a context of 100,000 memories a tenth more."""


@cache
def settle_imports() -> None:
    """Let the garbage collector pass over what a command has imported: it stays until the program ends. Works once.

    Else it looks through half a million objects of the libraries again and again while a context of a large
    project is built. And it looks less often: reading 100,000 memories makes nothing but what stays.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    gc.enable()
