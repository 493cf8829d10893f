"""What all parts of a story for Python programs work on, and the forms in which they are given a point of it."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from novelgen.models.position import StoryPosition
from runtime.search.story_memory import StoryMemoryTools
from runtime.stores import MemoryStores
from runtime.story.indexing import StoryIndexing

Place = StoryPosition | tuple[int, int] | int | None
"""A point of the story: `(5, 4)` on entering scene 4 of chapter 5, `5` on entering chapter 5, None after the end."""


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
    """What every part of a `Story` works on; see there."""

    _stores: MemoryStores
    _chat_model: BaseChatModel | None
    _tools: StoryMemoryTools
    _is_awake: bool
    project_id: str

    def _awaken(self) -> None:
        """Let the vector index start before the first search, whose deadline its start would use up."""
        if not self._is_awake:
            StoryIndexing(self._stores, self.project_id).await_index()
            self._is_awake = True
