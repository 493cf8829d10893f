"""Short forms of stored memories, written anew: what a model is shown of them, and which of its answers stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.answers import AtMost, ModelPart, Text, UnusableAnswerError, require_grounded
from novelgen.model_calls.prompt_data import as_data, piped
from novelgen.models.record import SHORT_FORM_LIMIT, RecordedMemory

SHORTS_STAGE = "short forms"


class ShortFormsRequest(BaseModel):
    """Memories of a scene, of which the short forms are to be written anew."""

    chapter_index: int
    scene_index: int
    language: StoryLanguage
    memories: list[RecordedMemory] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")

    def numbered(self) -> dict[str, RecordedMemory]:
        """Return the memories by the numbers that they have in the prompt."""
        return {f"M{number}": each for number, each in enumerate(self.memories, start=1)}

    def values(self) -> dict[str, str]:
        """Return what the prompt tells."""
        lines = [piped(number, as_data(each.content), as_data(each.short)) for number, each in self.numbered().items()]
        return {"memories": "\n".join(lines)}


class ModelShort(ModelPart):
    """The short form of one memory."""

    id: Text = Field(description="number of the memory: M4")
    short: Text


class ModelShorts(ModelPart):
    """The short forms of all memories of the list."""

    shorts: Annotated[list[ModelShort], AtMost(99)]


def accepted_shorts(answer: ModelShorts, *, request: ShortFormsRequest) -> dict[str, str]:
    """Return the short forms that stand, by memory_id: short enough, and without a name that the memory has not.

    An answer of which nothing stands is refused.
    """
    numbered = request.numbered()
    found = {
        numbered[number].memory_id: each.short
        for each in answer.shorts
        if (number := each.id.strip().upper()) in numbered
        and 0 < len(each.short) <= SHORT_FORM_LIMIT
        and _says_no_more(each.short, numbered[number], request.names)
    }
    if request.memories and not found:
        raise UnusableAnswerError("ungrounded", "no short form fits its memory")
    return found


def _says_no_more(short: str, memory: RecordedMemory, names: Sequence[str]) -> bool:
    try:
        require_grounded(short, shown=f"{memory.content} {memory.short}", names=names)
    except UnusableAnswerError:
        return False
    return True
