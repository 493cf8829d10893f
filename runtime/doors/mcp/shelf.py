"""The stories that a server of tools reaches: one that the start fixed, or all of a folder, by id and never by path."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from langchain_core.language_models import BaseChatModel

from novelgen.errors import (
    ConfigurationError,
    DeadlineExceededError,
    InvalidProjectIdError,
    ModelError,
    NovelgenError,
    StoreError,
    UnknownEntityError,
    UnknownMemoryError,
    UnknownProjectError,
    UnknownSceneError,
    UserInputError,
)
from runtime.files.machine_paths import without_paths
from runtime.stores import MemoryStores
from runtime.story.project_stores import ProjectStores
from runtime.story.projects import ProjectOverview, StoryProjects
from runtime.story.story import Story

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

CALLS_AT_ONCE = 16

_FIXES: tuple[tuple[type[NovelgenError], str], ...] = (
    (UnknownProjectError, "Call again with an id that list_projects tells."),
    (InvalidProjectIdError, "Call again with an id that list_projects tells."),
    (UnknownEntityError, "Call again with an id or name that list_entities tells."),
    (UnknownMemoryError, "Call again with a memory_id that search_story_memory tells."),
    (UnknownSceneError, "Call again with a scene that list_scenes tells."),
    (ConfigurationError, "Tell the user; another call will not help."),
    (UserInputError, "Correct the argument that the error names and call again."),
    (ModelError, "The language model behind the memory failed, not your call; try once more later."),
    (DeadlineExceededError, "The memory was too slow; try once more, or go on without it."),
    (StoreError, "The memory is out of order, not your call; go on without it, or try once more later."),
    (NovelgenError, "Tell the user; another call will not help."),
)
"""What a model may do about an error: of the first class that fits."""


@dataclass(frozen=True, slots=True)
class OpenStory:
    """A story whose stores are open."""

    stores: MemoryStores
    project_id: str
    story: Story

    @property
    def place(self) -> tuple[MemoryStores, str]:
        """What every service takes first."""
        return self.stores, self.project_id


class Shelf:
    """The stories that a server of tools reaches; safe to share between threads."""

    def __init__(
        self, stores: ProjectStores, *, project_id: str | None = None, chat_model: BaseChatModel | None = None
    ) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._lock = threading.Lock()
        self._threads: CapacityLimiter | None = None
        self._opened: dict[str, OpenStory] = {}
        self.project_id = project_id

    def story(self, project_id: str | None = None) -> OpenStory:
        """Return a story."""
        name = self.project_id if project_id is None else project_id
        if name is None:
            raise UserInputError("no project is named; pass the id of one")
        if self.project_id not in (None, name):
            raise UnknownProjectError(f"this server has project {self.project_id!r} alone, not {name!r}")
        stores = self._stores.of(name)
        StoryProjects(stores, name).require_project_files()
        with self._lock:
            known = self._opened.get(name)
            if known is None or known.stores is not stores:
                story = Story(stores, name, chat_model=self._chat_model)
                known = self._opened[name] = OpenStory(stores, name, story)
        return known

    async def run(self, body: Callable[[], Result]) -> Result:
        """Run what blocks in a thread; a bounded number runs at once, whoever still waits for it."""
        if self._threads is None:
            self._threads = CapacityLimiter(CALLS_AT_ONCE)
        return await to_thread.run_sync(body, limiter=self._threads)

    def overviews(self) -> list[ProjectOverview]:
        """Return what each project that can be reached holds."""
        listed = self._stores.overviews()
        return [
            each.model_copy(update={"problem": self._without_paths(each.problem)})
            for each in listed
            if self.project_id in (None, each.project_id)
        ]

    def told(self, error: NovelgenError) -> str:
        """Return what a model is told of an error: what was wrong, and what to do, without paths of this machine."""
        if not isinstance(error, UserInputError):
            logger.warning("a call failed: %s", error)
        fix = next(text for kind, text in _FIXES if isinstance(error, kind))
        return f"{self._without_paths(str(error))}. {fix}"

    def _without_paths(self, message: str) -> str:
        return without_paths(message, folders=[self._stores.settings.projects_dir])
