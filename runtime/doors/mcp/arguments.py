"""What the tools take, as a model fills it in; the project is never more than an id."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from novelgen.chains.question_chains import MAX_SCENE_CHARACTERS
from novelgen.errors import UserInputError
from novelgen.models.position import GREATEST_INDEX, StoryPosition

POSITION_PATTERN = r"^[0-9]{1,7}(:[0-9]{1,7})?$"

MAX_RESULTS = 50

MAX_SCENES = 500

LONGEST_PART = 20_000
"""Characters of a scene's text that are told at once, unless more are asked for."""

Chapter = Annotated[int, Field(ge=0, le=GREATEST_INDEX, description="Chapter of the scene.")]
Scene = Annotated[int, Field(ge=0, le=GREATEST_INDEX, description="Number of the scene within its chapter.")]
AsOf = Annotated[
    str | None,
    Field(
        pattern=POSITION_PATTERN,
        description="Scene that is being written, such as 3:2 (scene 2 of chapter 3): only what lies before it is read."
        " Default: all that is stored.",
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Names = Annotated[list[Name], Field(max_length=100)]
EntityName = Annotated[str, Field(min_length=1, max_length=400, description="Id, name or alias.")]
Fact = Annotated[str, Field(min_length=1, max_length=20_000)]
Limit = Annotated[int, Field(ge=1, le=MAX_RESULTS, description="At most so many.")]
Draft = Annotated[
    str, Field(min_length=1, max_length=MAX_SCENE_CHARACTERS, description="The whole draft of the scene.")
]
PointOfView = Annotated[
    str,
    Field(
        max_length=400, description="From whose point of view it is told: id, name or alias. Default: as the plan says."
    ),
]


class PlanOfScene(BaseModel):
    """What the next scene is to do; the fuller, the better the memory knows what matters."""

    # A plan of the project goes in whole, with its other fields: the story reads it as it does at every door.
    model_config = ConfigDict(extra="allow")

    location: str = Field(default="", max_length=2_000, description="Where it plays.")
    characters: Names = Field(default_factory=list, description="Who appears: names, aliases or ids.")
    purpose: str = Field(default="", max_length=20_000, description="What the scene is for.")
    key_actions: list[Fact] = Field(default_factory=list, max_length=100, description="What happens, in order.")


Plan = Annotated[
    PlanOfScene | None,
    Field(description="What the scene is to do. Default: the project's own plan of it, where there is one."),
]


def position(text: str | None) -> StoryPosition | None:
    """Return the position that a call names, or None."""
    if text is None:
        return None
    parts = text.split(":")
    if len(parts) > 2 or not all(each.isdecimal() and len(each) < 8 for each in parts):
        raise UserInputError(f"{text[:80]!r} is no position; write chapter:scene such as 3:2, or a chapter")
    return StoryPosition(*(int(each) for each in parts))
