"""Two small stories, one in English and one in Chinese, that a memory under test is filled with.

Both tell the same: same ids, same places, so that every case holds for both.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord


class SampleScene(BaseModel):
    """A finished scene."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(description="Its prose; every name that is introduced there stands in it.")
    record: SceneRecord = Field(description="What it established.")

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the scene."""
        return StoryPosition(self.record.chapter_index, self.record.scene_index)


class SampleStory(BaseModel):
    """A story to fill a memory with."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    language: str = Field(description="`en` or `zh`.")
    entities: Sequence[Entity] = Field(description="All entities, each with the place where it first appears.")
    scenes: Sequence[SampleScene] = Field(description="In story order.")
    canon: str = Field(description="A note without a place: what holds everywhere.")
    queries: Mapping[str, str] = Field(description="Memory id to a question that this memory answers best.")
    aliases: Mapping[str, str] = Field(description="Entity id to another name of it.")

    @property
    def records(self) -> list[SceneRecord]:
        """The records of all scenes."""
        return [scene.record for scene in self.scenes]

    @property
    def positions(self) -> list[StoryPosition]:
        """Every position worth reading at: on entering each scene and each chapter, and after the end."""
        chapters = {scene.record.chapter_index for scene in self.scenes}
        entering = [StoryPosition(number) for number in sorted({*chapters, max(chapters) + 1})]
        return [*entering, *(scene.position for scene in self.scenes), StoryPosition()]


def _story(language: str) -> SampleStory:
    file = resources.files("novelgen.testing").joinpath(f"sample_story.{language}.json")
    return SampleStory.model_validate_json(file.read_text(encoding="utf-8"))


ENGLISH_STORY = _story("en")
"""Five scenes on an island, from a prologue in chapter 0 to chapter 3."""

CHINESE_STORY = _story("zh")
"""The same five scenes in Chinese."""


def sample_context(
    chapter_index: int, scene_index: int, *, project_id: str = "story", **fields: Any
) -> SceneMemoryContext:
    """Return a sample context for tests, equal for equal places.

    Args:
        chapter_index: Of the planned scene.
        scene_index: Its number within the chapter.
        project_id: The project.
        **fields: Any other fields of the context; `retrieval_timestamp` is the beginning of 2000 unless given.
    """
    context_fields = {"retrieval_timestamp": datetime(2000, 1, 1, tzinfo=UTC)} | fields
    return SceneMemoryContext(
        project_id=project_id, chapter_index=chapter_index, scene_index=scene_index, **context_fields
    )
