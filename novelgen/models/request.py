"""The input of the memory context chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, model_validator

from novelgen.models.characters import CharactersConfig
from novelgen.models.given_plan import (
    given_chapter_plan,
    given_characters,
    given_scene_plan,
    given_settings,
)
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from novelgen.models.story_settings import Settings


class MemoryContextRequest(BaseModel):
    """A scene plan and where it stands; settings, chapter plan and hints are used where given.

    Plans, characters and settings may be mappings, our models, or Pydantic models and dataclasses of the caller
    with those fields. Numbers in a plan that only repeat `chapter_index` and `scene_index` may be left out.
    """

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_plan: ScenePlan
    characters: CharactersConfig = Field(default_factory=CharactersConfig)
    settings: Settings | None = None
    chapter_plan: ChapterPlan | None = None
    hints: list[str] = Field(default_factory=list, description="Free remarks that the search should heed.")

    @model_validator(mode="before")
    @classmethod
    def _read_what_callers_hold(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        readers: dict[str, Callable[[object], object]] = {
            "scene_plan": partial(given_scene_plan, scene_index=given.get("scene_index")),
            "chapter_plan": partial(given_chapter_plan, chapter_index=given.get("chapter_index")),
            "characters": given_characters,
            "settings": given_settings,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return {name: readers[name](value) if name in readers else value for name, value in said.items()}

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the planned scene; everything read lies strictly before it."""
        return StoryPosition(self.chapter_index, self.scene_index)
