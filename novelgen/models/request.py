"""The input of the memory context chain."""

from __future__ import annotations

from pydantic import BaseModel, Field

from novelgen.models.characters import CharactersConfig
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from novelgen.models.story_settings import Settings


class MemoryContextRequest(BaseModel):
    """A scene plan and where it stands; settings, chapter plan and hints are used where given."""

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: ScenePlan
    characters: CharactersConfig = Field(default_factory=CharactersConfig)
    settings: Settings | None = None
    chapter_plan: ChapterPlan | None = None
    hints: list[str] = Field(default_factory=list, description="Free remarks that the search should heed.")

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the planned scene; everything read lies strictly before it."""
        return StoryPosition(self.chapter_index, self.scene_index)
