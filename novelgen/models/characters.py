"""The characters of a project as its author wrote them down."""

from __future__ import annotations

from pydantic import Field

from novelgen.models.user_file import UserFileModel


class Character(UserFileModel):
    """One character's card."""

    name: str = Field(min_length=1)
    role: str = Field(
        default="", description="protagonist, antagonist, supporting, or in the author's words."
    )
    age: int | str | None = None
    gender: str | None = None
    appearance: str = ""
    personality: str = ""
    background: str = ""
    motivation: str = ""
    abilities: list[str] | None = None
    relationships: dict[str, str] | None = Field(default=None, description="Other character's name to text.")
    aliases: list[str] = Field(default_factory=list)


class CharactersConfig(UserFileModel):
    """All characters of a project."""

    protagonist: Character | None = None
    antagonist: Character | None = None
    supporting_characters: list[Character] = Field(default_factory=list)

    def everyone(self) -> list[Character]:
        """Return all characters: protagonist, antagonist, then the supporting ones in order."""
        leads = [character for character in (self.protagonist, self.antagonist) if character is not None]
        return leads + self.supporting_characters
