"""What a translator or editor of a piece of text must know: its names, and the memories about them."""

from typing import Literal

from pydantic import ConfigDict, Field

from novelgen.models.base import Model
from novelgen.models.context import ReportIssue
from novelgen.models.entity import EntityType
from novelgen.models.memory import BOOK, StoryMemoryChunk, chapter_target
from novelgen.models.position import ChapterIndex, StoryPosition
from novelgen.models.record import is_unsaid

MAX_CHUNK_CHARACTERS = 100_000
MemoryPriority = Literal["score", "least_recently_read"]


class ChunkContextRequest(Model):
    """A piece of text whose context is wanted."""

    model_config = ConfigDict(extra="forbid")

    project_id: str = Field(min_length=1)
    text: str = Field(max_length=MAX_CHUNK_CHARACTERS, description="A paragraph to a few pages.")
    chapter_index: ChapterIndex | None = Field(
        default=None, description="The chapter that it stands in: only what lies before counts. None: the book."
    )
    limit: int = Field(default=10, ge=0, le=200, description="At most so many memories.")
    language: str | None = Field(default=None, description="Of the headings; None: that of the story.")
    priority: MemoryPriority = Field(
        default="score", description="Which of the memories that fit come first; see the settings."
    )

    @property
    def targets(self) -> list[str]:
        """What the text stands in, as memories are attached to it: its chapter, and the book."""
        return [*([] if self.chapter_index is None else [chapter_target(self.chapter_index)]), BOOK]

    @property
    def position(self) -> StoryPosition:
        """Where the memory is read."""
        return StoryPosition(self.chapter_index)


class GlossaryName(Model):
    """A name and its translation, which is empty where none is known, and who uses it, where that is told."""

    name: str
    translation: str = ""
    language: str = Field(default="", exclude_if=is_unsaid)
    speaker: str = Field(default="", exclude_if=is_unsaid, description="Name of who calls them so.")


class GlossaryEntry(Model):
    """Somebody or something that the text names.

    One that the story first shows in the text's own chapter has only the names that stand in the text, and no
    description.
    """

    entity_id: str
    entity_type: EntityType
    name: str
    translation: str = ""
    aliases: list[GlossaryName] = Field(default_factory=list)
    description: str = ""


class ChunkMemory(Model):
    """A memory that the text needs, and why."""

    chunk: StoryMemoryChunk
    score: float
    attached_to: list[str] = Field(
        default_factory=list, description="Which of the text's entities, by id, its chapter as chapter:3, or book."
    )
    names: list[str] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Which of the text's entities its words name, where it is attached to none of them.",
    )
    arm_ranks: dict[str, int] = Field(default_factory=dict, description="Best rank per retriever, from 1.")


class ChunkContext(Model):
    """The context of a piece of text: glossary, memories, and both as a block of a prompt."""

    project_id: str
    chapter_index: int | None = None
    glossary: list[GlossaryEntry] = Field(default_factory=list, description="In the order of the text.")
    memories: list[ChunkMemory] = Field(default_factory=list, description="Best first, at most `limit`.")
    more: int = Field(default=0, ge=0, description="How many further memories fit and are not shown.")
    text: str = Field(default="", description="Block for a prompt; empty when there is nothing to say.")
    issues: list[ReportIssue] = Field(default_factory=list)

    def as_prompt(self) -> str:
        """Return the block for a prompt, as every other context does."""
        return self.text
