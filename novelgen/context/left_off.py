"""Where the story left off: which scene the planned one follows, and its end, word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from novelgen.language.language import TokenCounter
from novelgen.language.sentences import split_sentences
from novelgen.memory.outline import OutlineScene
from novelgen.models.context import LeftOff, PointOfView

MOST_CHARACTERS_PER_TOKEN = 10
"""Of a long scene no more is looked at than could fit; English has four to five, Chinese one or two."""

_PARAGRAPH_BEGINS = re.compile(r"(?:^|\n)\s*$")


def scene_before(scenes: Sequence[OutlineScene], view: PointOfView | None) -> OutlineScene | None:
    """Return the scene that a planned one follows: the last, for a point of view the last that they were in.

    Args:
        scenes: Strictly before the planned scene, in story order.
        view: From whose point of view, where what that one does not know is set apart.
    """
    if view is None or view.mode == "mark":
        return scenes[-1] if scenes else None
    return next((each for each in reversed(scenes) if view.character_id in each.participants), None)


def left_off(scene: OutlineScene, text: str, *, budget_tokens: int, count_tokens: TokenCounter) -> LeftOff | None:
    """Return the end of a scene from the first sentence on that fits a budget; None where not even the last fits."""
    tail = text[-budget_tokens * MOST_CHARACTERS_PER_TOKEN :]
    # Where the text was cut no sentence begins.
    spans = split_sentences(tail)[len(tail) < len(text) :]
    ends: list[tuple[int, str]] = []
    paragraphs: list[tuple[int, str]] = []
    for span in reversed(spans):
        end = tail[span.start :].strip()
        cost = count_tokens(end)
        if cost > budget_tokens:
            break
        ends.append((cost, end))
        if _PARAGRAPH_BEGINS.search(tail, 0, span.start):
            paragraphs.append((cost, end))
    if not ends:
        return None
    # What begins in the middle of somebody's speech reads as nobody's; half of the room is enough for paragraphs.
    is_enough = bool(paragraphs) and paragraphs[-1][0] * 2 >= budget_tokens
    tokens, end = paragraphs[-1] if is_enough else ends[-1]
    return LeftOff(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        location_id=scene.location_id,
        present=list(scene.participants),
        text=end,
        tokens=tokens,
    )
