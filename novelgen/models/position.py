"""Story position: the clock of the whole system."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from novelgen.errors import InvalidPositionError

GREATEST_INDEX = 1_000_000
ChapterIndex = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]
SceneIndex = Annotated[int, Field(ge=0, le=GREATEST_INDEX)]


@functools.total_ordering
@dataclass(frozen=True, eq=False)
class StoryPosition:
    """A point in the story at which something is read: on entering a scene, a chapter, or after the end.

    `StoryPosition(3, 2)` is the moment of entering scene 2 of chapter 3, `StoryPosition(3)` of entering
    chapter 3, `StoryPosition()` the moment after the last stored scene. What is read at a position lies
    strictly before it. Positions are ordered; the end of the story is the greatest.

    Args:
        chapter_index: Chapter, from 0 up; None means after the last stored scene.
        scene_index: Scene within the chapter, from 0 up; None means on entering the chapter.

    Raises:
        InvalidPositionError: When a number is out of 0..1,000,000, or a scene comes without its chapter.
    """

    chapter_index: int | None = None
    scene_index: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("chapter_index", self.chapter_index), ("scene_index", self.scene_index)):
            if value is not None and not (type(value) is int and 0 <= value <= GREATEST_INDEX):
                raise InvalidPositionError(
                    f"{name}={value!r} is not a whole number from 0 to {GREATEST_INDEX:,}"
                )
        if self.chapter_index is None and self.scene_index is not None:
            raise InvalidPositionError(
                f"scene_index={self.scene_index!r} was given without chapter_index; pass both, or neither"
            )

    @property
    def key(self) -> tuple[float, float]:
        """Sort key: entering a chapter comes before its first scene, the end after everything."""
        if self.chapter_index is None:
            return (math.inf, math.inf)
        return (self.chapter_index, -1 if self.scene_index is None else self.scene_index)

    def __lt__(self, other: StoryPosition) -> bool:
        return self.key < other.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoryPosition) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        if self.chapter_index is None:
            return "end"
        return (
            str(self.chapter_index)
            if self.scene_index is None
            else f"{self.chapter_index}:{self.scene_index}"
        )

    def admits(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Tell whether something that the story established there may be read at this position.

        Args:
            chapter_index: Chapter of the thing; None means that it has no position and is visible everywhere.
            scene_index: Scene of the thing; None means that it is known at the end of its chapter only.

        Returns:
            True when the thing lies strictly before this position.
        """
        if chapter_index is None or self.chapter_index is None:
            return True
        if scene_index is None or self.scene_index is None:
            return chapter_index < self.chapter_index
        return (chapter_index, scene_index) < (self.chapter_index, self.scene_index)


END_OF_STORY = StoryPosition()
