"""Which chapters make a part: as the author says, else so many at a time."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from novelgen.models.position import StoryPosition
from novelgen.models.story_part import StoryPart

CHAPTERS_PER_PART = 10


class NumberedPart(BaseModel):
    """A part with its number in the story."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    title: str = ""
    first_chapter: int
    last_chapter: int

    def holds(self, chapter_index: int) -> bool:
        """Tell whether a chapter lies in this part."""
        return self.first_chapter <= chapter_index <= self.last_chapter


def story_parts(
    stated: Sequence[StoryPart], *, last_chapter: int, chapters_per_part: int = CHAPTERS_PER_PART
) -> list[NumberedPart]:
    """Number the parts of a story.

    Args:
        stated: The author's parts, in order; where there are any, chapters outside of them are in none.
        last_chapter: Last stored chapter; parts that begin after it are left out.
        chapters_per_part: Length of a part where the author says nothing; the first also holds chapter 0.

    Returns:
        Parts in story order; the last may have chapters that are not stored yet.
    """
    said = stated or [
        StoryPart(first_chapter=0 if first == 1 else first, last_chapter=first + chapters_per_part - 1)
        for first in range(1, max(last_chapter, 1) + 1, chapters_per_part)
    ]
    return [
        NumberedPart(number=number, **part.model_dump(exclude={"extra"}))
        for number, part in enumerate(said, start=1)
        if part.first_chapter <= last_chapter
    ]


def finished_parts(
    parts: Sequence[NumberedPart], *, as_of: StoryPosition, last_chapter: int
) -> list[NumberedPart]:
    """Return the parts that are over at a position.

    Args:
        parts: As `story_parts` returned them.
        as_of: Position of the read; a part is over in a chapter after its last. After the end of the story it
            is over when its last chapter is stored.
        last_chapter: Last stored chapter.
    """
    if as_of.chapter_index is None:
        return [part for part in parts if part.last_chapter <= last_chapter]
    return [part for part in parts if part.last_chapter < as_of.chapter_index]
