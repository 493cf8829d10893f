"""The stories that a server of tools reaches: one that the start fixed, or all of a folder, by id and never by path."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from langchain_core.language_models import BaseChatModel

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.language.language import StoryLanguage, story_language
from runtime.doors.answers import refusal, told
from runtime.doors.offers import MCP_NAMES
from runtime.stores import MemoryStores
from runtime.story.projects import ProjectStores, StoryProjects
from runtime.story.story import Story

Result = TypeVar("Result")

CALLS_AT_ONCE = 16


class Shelf:
    """The stories that a server of tools reaches; safe to share between threads."""

    def __init__(
        self, stores: ProjectStores, *, project_id: str | None = None, chat_model: BaseChatModel | None = None
    ) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._lock = threading.Lock()
        self._threads: CapacityLimiter | None = None
        self._opened: dict[str, tuple[MemoryStores, Story]] = {}
        self.project_id = project_id
        self.folders = (stores.settings.projects_dir,)
        """Folders of this machine of which nobody is told even the name."""

    def story(self, project_id: str | None = None) -> Story:
        """Return a story."""
        name = self.project_id if project_id is None else project_id
        if name is None:
            raise UserInputError("no project is named; pass the id of one")
        if self.project_id not in (None, name):
            raise UnknownProjectError(f"this server has project {self.project_id!r} alone, not {name!r}")
        stores = self._stores.of(name)
        StoryProjects(stores, name).require_project_files()
        with self._lock:
            of, story = self._opened.get(name, (None, None))
            if story is None or of is not stores:
                story = Story(stores, name, chat_model=self._chat_model)
                self._opened[name] = stores, story
        return story

    def language(self, story: Story) -> StoryLanguage:
        """Return the language in which an author of the story is spoken to."""
        language = StoryProjects(self._stores.of(story.project_id), story.project_id).language_of_project()
        if not language:
            return story_language(story.project_id)
        return "zh" if language.lower().startswith("zh") else "en"

    async def run(self, body: Callable[[], Result]) -> Result:
        """Run what blocks in a thread; a bounded number runs at once, whoever still waits for it."""
        if self._threads is None:
            self._threads = CapacityLimiter(CALLS_AT_ONCE)
        return await to_thread.run_sync(body, limiter=self._threads)

    def projects(self) -> dict[str, Any]:
        """Return what each project that can be reached holds, as JSON."""
        listed = [each for each in self._stores.overviews() if self.project_id in (None, each.project_id)]
        return {
            "projects": [each.model_dump(mode="json", exclude_none=True) for each in told(listed, folders=self.folders)]
        }

    def refusal(self, error: Exception) -> dict[str, Any]:
        """Return what a model is told of an error, without paths of this machine."""
        return refusal(error, names=MCP_NAMES, folders=self.folders)

    def told(self, error: Exception) -> str:
        """Return the same in words."""
        refused = self.refusal(error)["error"]
        return f"{refused['message']}. {refused['fix']}"
