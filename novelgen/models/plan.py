"""Plans of scenes and chapters, and what a writer made of them."""

import logging
from typing import Any

from pydantic import Field, field_validator

from novelgen.models.record import is_unsaid
from novelgen.models.user_file import UserFileModel

logger = logging.getLogger(__name__)

SCENE_TYPES = frozenset(
    {"日常", "对话", "战斗", "发展", "高潮", "结局"}
    | {"daily", "dialogue", "battle", "development", "climax", "ending"}
)
INTENSITIES = frozenset({"低", "中", "高", "low", "medium", "high"})


class ScenePlan(UserFileModel):
    """What the next scene is to do, before it is written."""

    scene_number: int | None = Field(
        default=None, ge=0, description="Number of the scene within its chapter, from 1; None: whichever is planned."
    )
    location: str = Field(default="", description="Where the scene plays, in the author's words.")
    characters: list[str] = Field(default_factory=list, description="Who appears: names, aliases or ids.")
    purpose: str = Field(default="", description="What the scene is for.")
    key_actions: list[str] = Field(default_factory=list, description="What happens, in order.")
    estimated_words: int | None = Field(default=None, ge=0, description="Planned length in words.")
    scene_type: str = Field(default="", description="One of SCENE_TYPES; others are accepted with a warning.")
    intensity: str = Field(default="", description="One of INTENSITIES; others are accepted with a warning.")
    pov: str = Field(
        default="", exclude_if=is_unsaid, description="From whose point of view: a name, an alias or an id."
    )

    @field_validator("pov", mode="before")
    @classmethod
    def _nobody_in_particular(cls, value: Any) -> Any:
        return "" if value is None else value

    @field_validator("scene_type")
    @classmethod
    def _warn_unknown_scene_type(cls, value: str) -> str:
        if value and value not in SCENE_TYPES:
            logger.warning("scene_type %r is not one of %s; kept as it is", value, sorted(SCENE_TYPES))
        return value

    @field_validator("intensity")
    @classmethod
    def _warn_unknown_intensity(cls, value: str) -> str:
        if value and value not in INTENSITIES:
            logger.warning("intensity %r is not one of %s; kept as it is", value, sorted(INTENSITIES))
        return value


class ChapterPlan(UserFileModel):
    """The plans of a chapter's scenes, in order."""

    chapter_number: int = Field(ge=0)
    chapter_title: str = ""
    scenes: list[ScenePlan] = Field(default_factory=list)

    @field_validator("scenes", mode="before")
    @classmethod
    def _require_numbers(cls, scenes: Any) -> Any:
        for index, scene in enumerate(scenes if isinstance(scenes, list) else []):
            if isinstance(scene, dict) and scene.get("scene_number") is None:
                raise ValueError(f"scenes[{index}].scene_number is missing in {scene!r:.200}")
        return scenes

    def scene(self, scene_number: int) -> ScenePlan | None:
        """Return the plan of that scene, or None when the chapter plan has none."""
        return next((scene for scene in self.scenes if scene.scene_number == scene_number), None)


class GeneratedScene(UserFileModel):
    """A finished scene."""

    scene_number: int = Field(ge=0)
    content: str
    word_count: int = Field(default=0, ge=0, description="Words (English) or characters (Chinese).")


class GeneratedChapter(UserFileModel):
    """The finished scenes of a chapter, in order."""

    chapter_number: int = Field(ge=0)
    chapter_title: str = ""
    scenes: list[GeneratedScene] = Field(default_factory=list)
    total_words: int = Field(default=0, ge=0)
