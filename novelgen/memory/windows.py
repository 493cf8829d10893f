"""Cutting a long scene into windows, each small enough to be read at once."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from novelgen.language.sentences import Span, chunk_text, split_sentences

WINDOW_CHARACTERS = 6000

OVERLAP_SENTENCES = 3

SHARE_OF_A_TAIL = 1 / 6
"""A last window that is shorter than this share of the size is read with the one before it."""

SHARE_OF_CONTEXT = 1 / 6
"""Most of a window's size that sentences of the window before may take beside it."""


class ReadingWindow(NamedTuple):
    """A piece [start, end) of a scene; [context_start, start) was read with the window before it."""

    start: int
    end: int
    context_start: int


def reading_windows(
    text: str, *, window_characters: int = WINDOW_CHARACTERS, overlap_sentences: int = OVERLAP_SENTENCES
) -> list[ReadingWindow]:
    """Cut a scene into windows of whole sentences."""
    if len(text) <= window_characters:
        return [ReadingWindow(0, len(text), 0)] if text.strip() else []
    pieces = chunk_text(
        text,
        target_characters=window_characters,
        maximum_characters=window_characters,
        # No piece overlaps; asked for so that a negative number is refused.
        overlap_sentences=min(0, overlap_sentences),
    )
    if len(pieces) > 1 and pieces[-1].end - pieces[-1].start < SHARE_OF_A_TAIL * window_characters:
        pieces[-2:] = [Span(pieces[-2].start, pieces[-1].end)]
    room = int(SHARE_OF_CONTEXT * window_characters)
    windows = [ReadingWindow(piece.start, piece.end, piece.start) for piece in pieces[:1]]
    for before, piece in pairwise(pieces):
        context = _context_start(text, before, overlap_sentences, room)
        windows.append(ReadingWindow(piece.start, piece.end, piece.start if context is None else context))
    return windows


def _context_start(text: str, before: Span, sentences: int, room: int) -> int | None:
    """Where the last sentences of a window begin, as many as there is room for; None when there is none."""
    last = split_sentences(text[before.start : before.end])[-sentences:] if sentences else []
    fitting = [each for each in last if before.end - before.start - each.start <= room]
    return before.start + fitting[0].start if fitting else None
