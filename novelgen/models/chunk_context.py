"""The context of a translator's or editor's text: names and memories."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from novelgen.models.base import Model
from novelgen.models.context import ReportIssue, SelectorReport
from novelgen.models.entity import EntityType
from novelgen.models.memory import BOOK, StoryMemoryChunk, chapter_target
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from novelgen.models.record import is_unsaid

MAX_CHUNK_CHARACTERS = 100_000

FIRST_SCENE = 1
"""Chapters begin with it, unless a scene 0 is stored."""

MemoryPriority = Literal["score", "least_recently_read"]


class ChunkContextRequest(Model):
    """A piece of text for a chunk context."""

    model_config = ConfigDict(extra="forbid")

    project_id: str = Field(min_length=1)
    text: str = Field(max_length=MAX_CHUNK_CHARACTERS, description="A paragraph to a few pages.")
    chapter_index: ChapterIndex | None = Field(
        default=None, description="The chapter that it stands in: only what lies before counts. None: the book."
    )
    scene_index: SceneIndex | None = Field(
        default=None, description="The scene of the chapter: what its earlier scenes established counts, too."
    )
    limit: int = Field(default=10, ge=0, le=200, description="At most so many memories.")
    language: str | None = Field(default=None, description="Of the headings; None: that of the story.")
    to: str = Field(
        default="",
        max_length=20,
        description="Language of the translations, such as en; empty takes the first of each.",
    )
    with_left_out: bool = Field(default=False, description="List the memories that fit beyond the limit, too.")
    priority: MemoryPriority = Field(
        default="score", description="Which of the memories that fit come first; see the settings."
    )
    selector: Literal["rules", "model"] = Field(
        default="rules", description="model: a chat model chooses from the list of all memories before the text."
    )

    @property
    def targets(self) -> list[str]:
        """The attachment targets of the text: its chapter and the book."""
        return [*([] if self.chapter_index is None else [chapter_target(self.chapter_index)]), BOOK]

    @property
    def position(self) -> StoryPosition:
        """Where the memory is read: on entering the scene, of a chapter its first one."""
        is_whole_chapter = self.chapter_index is not None and self.scene_index is None
        return StoryPosition(self.chapter_index, FIRST_SCENE if is_whole_chapter else self.scene_index)

    @property
    def end(self) -> StoryPosition:
        """Where the text is over."""
        if self.chapter_index is None:
            return StoryPosition()
        if self.scene_index is None:
            return StoryPosition(self.chapter_index + 1)
        return StoryPosition(self.chapter_index, self.scene_index + 1)

    @model_validator(mode="after")
    def _is_in_the_story(self) -> Self:
        # Refuses a scene without its chapter.
        StoryPosition(self.chapter_index, self.scene_index)
        return self


class GlossaryName(Model):
    """A name, its translation if known, and its speaker if told."""

    name: str
    translation: str = ""
    language: str = Field(default="", exclude_if=is_unsaid)
    speaker: str = Field(default="", exclude_if=is_unsaid, description="Name of who calls them so.")


class GlossaryEntry(Model):
    """Somebody or something that the text names.

    Of names that the story first shows in the text's own chapter it has those that stand in the text.
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
    retriever_ranks: dict[str, int] = Field(default_factory=dict, description="Best rank per retriever, from 1.")


class ChunkContext(Model):
    """The context of a piece of text: glossary, memories, and both as a block of a prompt."""

    project_id: str
    chapter_index: int | None = None
    glossary: list[GlossaryEntry] = Field(default_factory=list, description="In the order of the text.")
    memories: list[ChunkMemory] = Field(default_factory=list, description="Best first, at most `limit`.")
    more: int = Field(default=0, ge=0, description="How many further memories fit and are not shown.")
    left_out: list[ChunkMemory] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Those of them that were retrieved, best first; only where they are asked for.",
    )
    text: str = Field(default="", description="Block for a prompt; empty when there is nothing to say.")
    selector: SelectorReport | None = Field(
        default=None, exclude_if=is_unsaid, description="Only where a model chose from the memories."
    )
    issues: list[ReportIssue] = Field(default_factory=list)

    def as_prompt(self) -> str:
        """Return the block for a prompt, as every other context does."""
        return self.text
