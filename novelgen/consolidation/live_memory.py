"""A memory as consolidation sees it."""

from __future__ import annotations

from dataclasses import dataclass

from novelgen.models.memory import StoryMemoryChunk


@dataclass(frozen=True, slots=True)
class LiveMemory:
    """A distilled memory that a read at the end of the story sees.

    Args:
        chunk: The memory, `superseded_by` as of the end of the story.
        is_authors: Whether an author wrote, edited, pinned or attached it.
    """

    chunk: StoryMemoryChunk
    is_authors: bool = False

    @property
    def is_consolidated(self) -> bool:
        """Whether it stands for others already."""
        return self.chunk.is_consolidated

    @property
    def place(self) -> tuple[int, int] | None:
        """Chapter and scene; None where it lacks one of them."""
        chapter, scene = self.chunk.chapter_index, self.chunk.scene_index
        return None if chapter is None or scene is None else (chapter, scene)
