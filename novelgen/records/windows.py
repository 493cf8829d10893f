"""Reading a long scene in overlapping windows."""

from __future__ import annotations

from novelgen.text.chunks import chunk_text
from novelgen.text.sentences import Span

WINDOW_CHARACTERS = 6000
OVERLAP_SENTENCES = 3


def reading_windows(
    text: str,
    *,
    window_characters: int = WINDOW_CHARACTERS,
    overlap_sentences: int = OVERLAP_SENTENCES,
) -> list[Span]:
    """Cut a scene into windows of whole sentences, each small enough to be read at once.

    Args:
        text: The scene.
        window_characters: Most characters of a window.
        overlap_sentences: Sentences of a window that the next one repeats, so that what is told across the
            border is read whole.

    Returns:
        Windows in order, the whole scene as one where it fits; empty for a scene without content.

    Raises:
        UserInputError: When the size is below 1 or the overlap negative.
    """
    if len(text) <= window_characters:
        return [Span(0, len(text))] if text.strip() else []
    return chunk_text(
        text,
        target_characters=window_characters,
        maximum_characters=window_characters,
        overlap_sentences=overlap_sentences,
    )
