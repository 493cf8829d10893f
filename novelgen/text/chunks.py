"""Cutting a scene into passages along its paragraphs and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from novelgen.errors import UserInputError
from novelgen.text.sentences import Span, split_sentences

TARGET_CHARACTERS = 500
PARAGRAPH_BREAK_FROM = 0.6
"""Share of the target from which on a new paragraph starts a new chunk."""

_CLAUSE_END = re.compile(r"[，、；：,;:—]+[”’」』\"']*\s*")


def chunk_text(
    text: str,
    *,
    target_characters: int = TARGET_CHARACTERS,
    maximum_characters: int | None = None,
    overlap_sentences: int = 0,
) -> list[Span]:
    """Cut a text into chunks of whole sentences.

    A chunk is closed before it would outgrow the target, and already at the end of a paragraph when it has
    reached `PARAGRAPH_BREAK_FROM` of it. A sentence is cut only when it alone exceeds the maximum: at clause
    marks, and where there are none, anywhere.

    Args:
        text: English or Chinese text.
        target_characters: Length that a chunk of several sentences does not exceed.
        maximum_characters: Length that no chunk exceeds; twice the target by default.
        overlap_sentences: How many of a chunk's last sentences the next one repeats, where the target
            leaves room for them.

    Returns:
        Spans in order of their start, none empty; together they hold everything but white space. Empty for
        a text without content.

    Raises:
        UserInputError: The target is below 1, the maximum below the target, or the overlap negative.
    """
    maximum = 2 * target_characters if maximum_characters is None else maximum_characters
    if target_characters < 1 or maximum < target_characters or overlap_sentences < 0:
        raise UserInputError(
            f"target_characters={target_characters!r}, maximum_characters={maximum!r} and"
            f" overlap_sentences={overlap_sentences!r} do not fit: use 1 <= target <= maximum, 0 <= overlap"
        )
    chunks: list[Span] = []
    current: list[Span] = []
    for unit in _units(text, maximum):
        if current and _must_close(text, Span(current[0].start, current[-1].end), unit, target_characters):
            chunks.append(Span(current[0].start, current[-1].end))
            current = _overlap(current, unit, overlap_sentences, target_characters)
        current.append(unit)
    return [*chunks, Span(current[0].start, current[-1].end)] if current else chunks


def _must_close(text: str, chunk: Span, unit: Span, target: int) -> bool:
    if unit.end - chunk.start > target:
        return True
    starts_paragraph = "\n" in text[chunk.end : unit.start]
    return starts_paragraph and chunk.end - chunk.start >= PARAGRAPH_BREAK_FROM * target


def _overlap(closed: list[Span], unit: Span, sentences: int, target: int) -> list[Span]:
    """At least one sentence of the closed chunk is left behind, so that chunks always move on."""
    kept = closed[max(1, len(closed) - sentences) :] if sentences else []
    while kept and unit.end - kept[0].start > target:
        kept = kept[1:]
    return kept


def _units(text: str, maximum: int) -> Iterator[Span]:
    for sentence in split_sentences(text):
        if sentence.end - sentence.start <= maximum:
            yield sentence
        else:
            yield from _pieces(text, sentence, maximum)


def _pieces(text: str, sentence: Span, maximum: int) -> Iterator[Span]:
    start = sentence.start
    while sentence.end - start > maximum:
        ends = [match.end() for match in _CLAUSE_END.finditer(text, start, start + maximum)]
        cut = ends[-1] if ends else start + maximum
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, sentence.end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    left, right = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    if left < right:
        yield Span(left, right)
