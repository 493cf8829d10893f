"""Parts of a story: runs of chapters that the author, or a fixed length, puts together."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from novelgen.models.position import ChapterIndex
from novelgen.models.user_file import UserFileModel


class StoryPart(UserFileModel):
    """A part as the author says it, from its first to its last chapter."""

    title: str = ""
    first_chapter: ChapterIndex
    last_chapter: ChapterIndex = Field(description="Belongs to the part.")

    @model_validator(mode="after")
    def _ends_after_its_beginning(self) -> Self:
        if self.last_chapter < self.first_chapter:
            raise ValueError(
                f"last_chapter {self.last_chapter!r} lies before first_chapter {self.first_chapter!r}"
            )
        return self


def _in_order(parts: list[StoryPart]) -> list[StoryPart]:
    for earlier, later in pairwise(parts):
        if later.first_chapter <= earlier.last_chapter:
            raise ValueError(
                f"a part that begins with chapter {later.first_chapter!r} follows one that ends with chapter "
                f"{earlier.last_chapter!r}; write the parts in order, no chapter in two of them"
            )
    return parts


StoryParts = Annotated[list[StoryPart], AfterValidator(_in_order)]
"""Parts in order, no chapter in two of them."""
