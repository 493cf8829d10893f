"""Where the story left off: which scene the planned one follows, and its end, word for word."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from novelgen.language.language import TokenCounter
from novelgen.language.sentences import split_sentences
from novelgen.memory.outline import OutlineScene
from novelgen.models.context import LeftOff, PointOfView
from novelgen.models.position import StoryPosition

MOST_CHARACTERS_PER_TOKEN = 10
"""Of a long scene no more is looked at than could fit; English has four to five, Chinese one or two."""


def scene_before(
    scenes: Sequence[OutlineScene], view: PointOfView | None, *, as_of: StoryPosition
) -> OutlineScene | None:
    """Return the scene that a planned one follows: the last, for a point of view the last that they were in.

    Args:
        scenes: In story order.
        view: From whose point of view, where what that one does not know is set apart.
        as_of: The planned scene; whatever lies at or after it is passed over, whoever let it through.
    """
    is_cut = view is not None and view.mode != "mark"
    character_id = view.character_id if view is not None else None
    return next(
        (
            each
            for each in reversed(scenes)
            if as_of.admits(each.chapter_index, each.scene_index) and (not is_cut or character_id in each.participants)
        ),
        None,
    )


def left_off(scene: OutlineScene, text: str, *, budget_tokens: int, count_tokens: TokenCounter) -> LeftOff | None:
    """Return the end of a scene from the first sentence on that fits a budget; None where not even the last fits."""
    tail = text[-budget_tokens * MOST_CHARACTERS_PER_TOKEN :]
    spans = split_sentences(tail)
    # Where the text was cut no sentence begins.
    first = 1 if len(tail) < len(text) else 0

    def cost_from(number: int) -> int:
        return count_tokens(tail[spans[number].start :].strip())

    def begins_paragraph(number: int) -> bool:
        return number == 0 or "\n" in tail[spans[number - 1].end : spans[number].start]

    begin = bisect_left(range(len(spans)), True, lo=first, key=lambda number: cost_from(number) <= budget_tokens)
    if begin >= len(spans):
        return None
    # What begins in the middle of somebody's speech reads as nobody's; half of the room is enough for paragraphs.
    paragraph = next((each for each in range(begin, len(spans)) if begins_paragraph(each)), begin)
    if cost_from(paragraph) * 2 >= budget_tokens:
        begin = paragraph
    return LeftOff(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        location_id=scene.location_id,
        present=list(scene.participants),
        text=tail[spans[begin].start :].strip(),
        tokens=cost_from(begin),
    )
