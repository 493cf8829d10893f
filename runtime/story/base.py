"""What all parts of a story work on, and the forms in which they are given a point of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from novelgen.deadlines import run_concurrently
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from runtime.story.async_twins import async_twin

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from runtime.search.story_memory import StoryMemoryTools

Place = StoryPosition | tuple[int, int] | int | None
"""A point of the story: `(5, 4)` on entering scene 4 of chapter 5, `5` on entering chapter 5, None after the end."""

Name = Annotated[str, Field(min_length=1, max_length=400)]
"""Of an entity, a kind or a number that is called by a word."""

Text = Annotated[str, Field(min_length=1, max_length=20_000)]

SceneText = Annotated[str, Field(min_length=1, max_length=2_000_000)]
"""The whole text of a scene, or a draft of one."""

DRAFT_CHARACTERS = 100_000
"""So long may a scene be that is checked before it is stored: a check takes seconds, and longer for more."""

Draft = Annotated[str, Field(min_length=1, max_length=DRAFT_CHARACTERS)]

Passage = Annotated[str, Field(min_length=1, max_length=200_000)]
"""A paragraph to a few pages."""

Given = Mapping[str, Any] | Any
"""A mapping, or a model or dataclass of the caller's own that has its fields."""

Count = Annotated[int, Field(ge=1, le=20_000)]
"""At most so many are listed."""

Number = Annotated[int, Field(ge=0, le=1_000_000)]
"""Of a chapter, a scene or a change."""

Weight = Annotated[int, Field(ge=1, le=10)]

Intensity = Annotated[int, Field(ge=0, le=10)]

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

Progress = Callable[[int, int], Any]
"""Called with how much is done and how much there is in all."""


def position_of(place: Place) -> StoryPosition | None:
    """Return the position that is meant; None means none in particular."""
    return None if place is None else required_position(place)


def required_position(place: StoryPosition | tuple[int, int] | int) -> StoryPosition:
    """Return the position that is meant.

    Raises:
        InvalidPositionError: When chapter or scene is out of bounds.
    """
    if isinstance(place, StoryPosition):
        return place
    return StoryPosition(*place) if isinstance(place, tuple) else StoryPosition(place)


class StoryBase:
    """What every part of a `Story` works on; a part can be used alone.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        chat_model: Chat model in place of the setting's.
    """

    def __init__(self, stores: MemoryStores, project_id: str, *, chat_model: BaseChatModel | None = None) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._is_awake = False
        self.project_id = project_id

    @cached_property
    def _tools(self) -> StoryMemoryTools:
        """The three tools of memory; what they search with is heavy to import, and most parts do without."""
        from runtime.search.story_memory import StoryMemoryTools  # noqa: PLC0415

        return StoryMemoryTools(self._stores)

    def await_index(self) -> None:
        """Let the vector index load its libraries before a search with a short deadline asks it.

        Waits for as long as one retrieval tool may take. What fails here is left to the search to report.
        """
        timeout_s = self._stores.settings.memory.tool_timeout_s

        def start() -> None:
            self._stores.vectors(self.project_id).wait_started(timeout_s=timeout_s)

        run_concurrently({"start": start}, timeouts_s={"start": timeout_s})

    def _awaken(self) -> None:
        """Let the vector index start before the first search, whose deadline its start would use up."""
        if not self._is_awake:
            self.await_index()
            self._is_awake = True

    aawait_index = async_twin(await_index)
