"""Participants of a scene and listeners to a part of its text."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from novelgen.language.language import CJK_RANGES, has_cjk, wording
from novelgen.language.sentences import Span, chunk_text
from novelgen.language.speech import IS_AWAY, QUOTED, is_first_person
from novelgen.memory.knowledge_story import KnowledgeScene

PIECE_CHARACTERS = (400, 150)
"""Length of the pieces of an English and of a Chinese text in which a name is looked for."""

SHARE_TAKING_PART = 0.75
"""Least share of a scene's pieces that name somebody who takes part in all of it.

In two judged books 10 of 17 memories of such scenes are known to them, of who is named less 14 of 47.
"""

EARSHOT_CHARACTERS = (2_400, 200)
"""How far from what is told an English and a Chinese text names who hears it: English says he and she."""

SPEECH_CHARACTERS = (600, 200)
"""How far from what is told an English and a Chinese text holds what is said, where anybody tells it."""

_MOVES_ELSEWHERE = re.compile(
    rf"^[^\S\n]*(?:[^\w\s“”‘’「」『』\"'…，。！？][^\w\n]*|(?:{wording('earshot_elsewhere')}).*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of signs alone, or a paragraph that begins at another place."""

_PRONOUN = r"\b[Hh]e\b|\b[Ss]he\b|\b[Hh]is\b|\b[Hh]er\b|[他她]"

_TELLS = re.compile(wording("earshot_tells"), re.IGNORECASE)

_BEGINS_CLAUSE = re.compile(
    rf"(?:^|[.!?;:。！？；：…”」』\"]\s*|\n\s*|，)(?:{wording('earshot_leading')})?$", re.IGNORECASE
)
_GOES_ON = re.compile(rf"[{CJK_RANGES}](?<![的把被对向跟给替让将之和与同及是])|，|,? [a-z]")
"""Before and after the name of whom a sentence or clause tells what they do."""

LONGEST_LEAD_IN = 24
"""Characters before a name in which its sentence may begin."""

_MARKS = '“”「」『』"'
_YOU = r"[^，。！？”」』]{0,4}[你您]|you\b|your\b|sir\b"
"""What follows a name at the head of a speech where it calls somebody."""

REMEMBERED_SCENES = 10_000
"""So many scenes keep their pieces in memory; a story is read anew after every write, its texts are the same."""


def takes_part(scene: KnowledgeScene, character_id: str, names: Sequence[str]) -> bool:
    """Tell whether somebody is there through a whole scene, as far as its text names them."""
    if character_id not in scene.present:
        return False
    pieces = _pieces(scene.text)
    if len(pieces) <= 1:
        return True
    is_seen_through = character_id == scene.pov
    if is_seen_through and _is_told_by_i(scene.text):
        return True
    words = "|".join(map(re.escape, names))
    pattern = re.compile(f"{words}|{_PRONOUN}" if is_seen_through and words else words or "(?!)")
    narrated = _narration(scene.text) if is_seen_through else scene.text
    named_count = sum(pattern.search(narrated, *piece) is not None for piece in pieces)
    return named_count >= SHARE_TAKING_PART * len(pieces)


def is_subject(text: str, names: Sequence[str], longer_names: Iterable[str] = ()) -> bool:
    """Tell whether a name begins a sentence or clause of the narration, as of who does something in it.

    Args:
        text: The scene.
        names: The names of somebody.
        longer_names: Names of others, which may have one of these in them: 观音院 is not 观音.
    """
    narrated = _narration(text)
    longer = [name for name in longer_names if any(part in name for part in names)]
    pattern = "|".join(sorted(map(_as_pattern, {*names, *longer}), key=len, reverse=True)) or "(?!)"
    return any(
        match.group() not in longer
        and _BEGINS_CLAUSE.search(narrated, max(0, match.start() - LONGEST_LEAD_IN), match.start()) is not None
        and _GOES_ON.match(narrated, match.end()) is not None
        and IS_AWAY.match(narrated, match.end()) is None
        for match in re.finditer(pattern, narrated)
    )


def is_addressed(text: str, names: Sequence[str]) -> bool:
    """Tell whether somebody in direct speech calls a person by a name: “Good morning, Miss Penrose.”"""
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or "(?!)"
    after = rf"[.。!！?？…—]|[,，]?[{_MARKS}]|[,，]\s*(?:{_YOU})"
    call = re.compile(rf"(?:^[{_MARKS}]?|[,，!！]\s*)(?:{pattern})(?:{after})", re.IGNORECASE)
    return any(call.search(match.group()) is not None for match in QUOTED.finditer(text))


def _as_pattern(name: str) -> str:
    """Return the pattern of a name, which is a whole word where words have blanks between them."""
    return re.escape(name) if has_cjk(name) else rf"\b{re.escape(name)}\b"


def hears(scene: KnowledgeScene, at: Span, character_id: str, names: Sequence[str]) -> bool:
    """Tell whether somebody is named near a part of a scene, or tells it, and that at the same place."""
    text = scene.text
    if character_id == scene.pov and _is_told_by_i(text):
        return True
    reach = EARSHOT_CHARACTERS[_has_cjk(text)]
    place = _place(text, at.start)
    if place.end - place.start == len(text) <= reach:
        return character_id in scene.present
    start, end = max(place.start, at.start - reach), min(place.end, at.end + reach)
    return any(text.find(name, start, end) >= 0 for name in names)


def has_words_of_telling(text: str) -> bool:
    """Tell whether a text says that anything is told."""
    return _TELLS.search(text) is not None


def is_said(text: str, at: Span) -> bool:
    """Tell whether anything is said aloud, or told in other words, in a part of a text."""
    reach = SPEECH_CHARACTERS[_has_cjk(text)]
    start, end = max(0, at.start - reach), at.end + reach
    return any(begin < end and stop > start for begin, stop in _speeches(text)) or any(
        begin >= start and stop <= end for begin, stop in _tellings(text)
    )


_has_cjk = lru_cache(REMEMBERED_SCENES)(has_cjk)


def _place(text: str, position: int) -> Span:
    """Return the part of a text around a position that plays at one place."""
    borders = _borders(text)
    at = bisect_right(borders, position)
    return Span(borders[at - 1] if at else 0, borders[at] if at < len(borders) else len(text))


@lru_cache(REMEMBERED_SCENES)
def _borders(text: str) -> tuple[int, ...]:
    return tuple(match.start() for match in _MOVES_ELSEWHERE.finditer(text))


@lru_cache(REMEMBERED_SCENES)
def _pieces(text: str) -> tuple[Span, ...]:
    return tuple(chunk_text(text, target_characters=PIECE_CHARACTERS[has_cjk(text)]))


@lru_cache(REMEMBERED_SCENES)
def _speeches(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in QUOTED.finditer(text))


@lru_cache(REMEMBERED_SCENES)
def _tellings(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in _TELLS.finditer(text))


@lru_cache(REMEMBERED_SCENES)
def _narration(text: str) -> str:
    """Return a text with blanks in place of direct speech."""
    return QUOTED.sub(lambda match: " " * len(match.group()), text)


@lru_cache(REMEMBERED_SCENES)
def _is_told_by_i(text: str) -> bool:
    return is_first_person(text)
