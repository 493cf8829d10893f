"""Sentences of English and Chinese prose, and passages and windows of whole sentences."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from novelgen.language.language import CJK_RANGES, is_cjk, story_language, word_list

SENTENCE_ENDS = "。！？!?.…”’」』）)\"'"
"""Characters that a whole sentence may end with."""


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int


_CLOSING = "”’」』》〉）)\\]】\"'"
_OPENING = "“‘「『《〈（([【\"'—*_"

_CANDIDATE = re.compile(
    rf"(?P<chinese>[。！？｡]+[…。！？!?]*)(?P<close_chinese>[{_CLOSING}]*)"
    rf"|(?P<western>[!?]+|\.+|…+)[.!?…]*(?P<close>[{_CLOSING}]*)"
    r"|(?P<line>[^\S\n]*\n\s*)"
)

_CHINESE_CONTINUES = frozenset("，、；：,;:—…～）")
_ENDS_LIKE_CHINESE = re.compile(rf"[{CJK_RANGES}，。、；：！？…—“”‘’「」『』《》（）]")
_WORD_BEFORE = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)$")
ABBREVIATIONS = frozenset(word_list("sentences_abbreviations"))
_GOES_ON = re.compile(r"\s*(?P<first>\S)")
_NUMBERED_WORDS = frozenset({"no", "nos", "p", "art", "sec", "ch"})
_LONGEST_WORD = 24


def split_sentences(text: str) -> list[Span]:
    """Split prose into sentences.

    A closing quotation mark stays with its sentence; a reporting clause in lower case does too (“Stop!” he
    cried.). Abbreviations, initials, decimals and an ellipsis in mid-sentence end nothing. A blank line
    always ends a sentence, a single line break only in Chinese text.
    """
    borders = [0, *_borders(text), len(text)]
    return [span for start, end in pairwise(borders) for span in _trimmed(text, start, end)]


def as_sentence(text: str) -> str:
    """Return a text with its language's full stop, empty text unchanged."""
    # A bracket closes a remark, not a sentence.
    last = text.rstrip("）)")[-1:]
    if not text or (last and last in SENTENCE_ENDS):
        return text
    return text + ("。" if story_language(text) == "zh" else ".")


def join_sentences(sentences: Iterable[str]) -> str:
    """Join whole sentences, with a space only between non-Chinese ones."""
    text = ""
    previous = ""
    for sentence in sentences:
        is_chinese = "zh" in (story_language(previous), story_language(sentence))
        text += sentence if not text or is_chinese else f" {sentence}"
        previous = sentence
    return text


def _borders(text: str) -> Iterator[int]:
    for match in _CANDIDATE.finditer(text):
        if match["line"]:
            ends = match["line"].count("\n") > 1 or _is_chinese_line(text, match.start(), match.end())
        elif match["chinese"]:
            ends = text[match.end() : match.end() + 1] not in _CHINESE_CONTINUES
        else:
            ends = _ends_western(text, match)
        if ends:
            yield match.end()


def _is_chinese_line(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return any(_ENDS_LIKE_CHINESE.match(character) for character in around if character not in "“”‘’—…")


def _ends_western(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 1]
    is_ellipsis = match["western"].startswith(("…", ".."))
    if not following:
        return True
    if is_cjk(following):
        before = text[max(0, match.start() - 1) : match.start()]
        return bool(match["close"]) if is_ellipsis else not before.isdigit()
    if not following.isspace():
        return following in _OPENING and not is_ellipsis and match["western"] != "." and not match["close"]
    goes_on = _GOES_ON.match(text, match.end(), match.end() + 200)
    rest = goes_on["first"] if goes_on else ""
    if rest.islower() or rest in tuple(",;:"):
        return False
    return match["western"] != "." or bool(match["close"]) or not _is_abbreviation(text, match.start(), rest)


def _is_abbreviation(text: str, stop: int, rest: str) -> bool:
    match = _WORD_BEFORE.search(text, max(0, stop - _LONGEST_WORD), stop)
    if match is None:
        return False
    word = match.group(1)
    if len(word) == 1 and word.isupper() and word != "I":
        return True
    if word.casefold() in _NUMBERED_WORDS and rest.isdigit():
        return True
    return word.casefold() in ABBREVIATIONS and bool(rest)


TARGET_CHARACTERS = 500

PARAGRAPH_BREAK_FROM = 0.6
"""Share of the target from which on a new paragraph starts a new chunk."""

_CLAUSE_END = re.compile(r"[，、；：,;:—]+[”’」』\"']*\s*")


def chunk_text(
    text: str, *, target_characters: int = TARGET_CHARACTERS, maximum_characters: int | None = None
) -> list[Span]:
    """Cut a text into chunks of whole sentences.

    A chunk is closed before it would outgrow the target, and already at the end of a paragraph when it has
    reached `PARAGRAPH_BREAK_FROM` of it. A sentence is cut only when it alone exceeds the maximum: at clause
    marks, and where there are none, anywhere.
    """
    chunks: list[Span] = []
    for unit in _units(text, maximum_characters or 2 * target_characters):
        if chunks and not _must_close(text, chunks[-1], unit, target_characters):
            chunks[-1] = Span(chunks[-1].start, unit.end)
        else:
            chunks.append(unit)
    return chunks


def _must_close(text: str, chunk: Span, unit: Span, target: int) -> bool:
    if unit.end - chunk.start > target:
        return True
    starts_paragraph = "\n" in text[chunk.end : unit.start]
    return starts_paragraph and chunk.end - chunk.start >= PARAGRAPH_BREAK_FROM * target


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
        cut_index = ends[-1] if ends else start + maximum
        yield from _trimmed(text, start, cut_index)
        start = cut_index
    yield from _trimmed(text, start, sentence.end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    remaining_count, right = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    if remaining_count < right:
        yield Span(remaining_count, right)


WINDOW_CHARACTERS = 6000
OVERLAP_SENTENCES = 3

SHARE_OF_A_TAIL = 1 / 6
"""A last window that is shorter than this share of the size is read with the one before it."""

SHARE_OF_CONTEXT = 1 / 6
"""Most of a window's size that sentences of the window before may take beside it."""


class ReadingWindow(NamedTuple):
    """A piece [start, end) of a scene.

    [context_start, start) overlaps the previous window.
    """

    start: int
    end: int
    context_start: int


def reading_windows(text: str, *, window_characters: int = WINDOW_CHARACTERS) -> list[ReadingWindow]:
    """Cut a scene into windows of whole sentences."""
    if len(text) <= window_characters:
        return [ReadingWindow(0, len(text), 0)] if text.strip() else []
    pieces = chunk_text(text, target_characters=window_characters, maximum_characters=window_characters)
    if len(pieces) > 1 and pieces[-1].end - pieces[-1].start < SHARE_OF_A_TAIL * window_characters:
        pieces[-2:] = [Span(pieces[-2].start, pieces[-1].end)]
    room = int(SHARE_OF_CONTEXT * window_characters)
    windows = [ReadingWindow(piece.start, piece.end, piece.start) for piece in pieces[:1]]
    for before, piece in pairwise(pieces):
        last = split_sentences(text[before.start : before.end])[-OVERLAP_SENTENCES:]
        fitting = [span for span in last if before.end - before.start - span.start <= room]
        context = before.start + fitting[0].start if fitting else piece.start
        windows.append(ReadingWindow(piece.start, piece.end, context))
    return windows
