"""What a project says of itself."""

from __future__ import annotations

from pydantic import Field

from novelgen.models.story_part import StoryParts
from novelgen.models.user_file import UserFileModel


class Settings(UserFileModel):
    """The settings of a story (not of the program): title, language, world, theme."""

    project_name: str = ""
    author: str = ""
    language: str = ""
    genre: str = ""
    world_description: str = ""
    theme_description: str = ""
    parts: StoryParts = Field(
        default_factory=list, description="Without any, parts are as long as the program's settings say."
    )
