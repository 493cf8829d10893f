"""What a project says of itself."""

from __future__ import annotations

from novelgen.models.user_file import UserFileModel


class Settings(UserFileModel):
    """The settings of a story (not of the program): title, language, world, theme."""

    project_name: str = ""
    author: str = ""
    language: str = ""
    genre: str = ""
    world_description: str = ""
    theme_description: str = ""
