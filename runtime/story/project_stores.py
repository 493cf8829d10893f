"""The open stores of many projects: each with its own settings, shared by all that have the same ones."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from novelgen.errors import NovelgenError, UnknownProjectError
from runtime.files.paths import ProjectPaths
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from runtime.story.projects import ProjectOverview, StoryProjects, list_project_ids, project_settings

_FileMark = tuple[int, int] | None
"""When a file was written and how long it is; None where there is none."""


class ProjectStores:
    """Opens stores for projects as they are asked for; safe to share between threads."""

    def __init__(self, given: Mapping[str, Any], *, embeddings: Embeddings | None = None) -> None:
        self._given = {name: value for name, value in given.items() if value is not None}
        self._embeddings = embeddings
        self._lock = threading.Lock()
        own = load_settings(**self._given)
        # A project's config.yaml may say otherwise; projects whose settings are the same share what is open.
        self._opened: list[tuple[NovelgenSettings, MemoryStores]] = [(own, MemoryStores(own, embeddings=embeddings))]
        self._read: dict[str, tuple[_FileMark, MemoryStores]] = {}

    @property
    def settings(self) -> NovelgenSettings:
        """The settings that hold where no project's config.yaml says otherwise."""
        return self._opened[0][0]

    @property
    def common(self) -> MemoryStores:
        """The stores with those settings."""
        return self._opened[0][1]

    def of(self, project_id: str) -> MemoryStores:
        """Return the stores with a project's settings."""
        projects_dir = self.settings.projects_dir
        mark = _mark_of(ProjectPaths(projects_dir, project_id).config_file)
        known = self._read.get(project_id)
        if known is not None and known[0] == mark:
            return known[1]
        given = {name: value for name, value in self._given.items() if name != "projects_dir"}
        stores = self._sharing(project_settings(projects_dir, project_id, **given))
        self._read[project_id] = mark, stores
        return stores

    def overviews(self) -> list[ProjectOverview]:
        """Return what each project of the folder holds; one that cannot be read says why in `problem`."""
        return [self._overview(each) for each in list_project_ids(self.common)]

    def close(self) -> None:
        """Close everything that was opened; what is asked for afterwards is opened again."""
        with self._lock:
            opened = [stores for _, stores in self._opened]
        for stores in opened:
            stores.close()

    def _overview(self, project_id: str) -> ProjectOverview:
        try:
            return StoryProjects(self.of(project_id), project_id).describe_project()
        except UnknownProjectError:
            return ProjectOverview(project_id=project_id, problem="nothing stored yet; ingest it")
        except NovelgenError as error:
            return ProjectOverview(project_id=project_id, problem=f"cannot be read: {error}")

    def _sharing(self, settings: NovelgenSettings) -> MemoryStores:
        with self._lock:
            for known, stores in self._opened:
                if known == settings:
                    return stores
            self._opened.append((settings, MemoryStores(settings, embeddings=self._embeddings)))
            return self._opened[-1][1]


def _mark_of(file: Path) -> _FileMark:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
