"""A memory, its bullet and its passage say the same thing: they count once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from novelgen.language.language import CJK_RANGES, is_cjk
from novelgen.memory.search import Candidate, SceneKey
from novelgen.models.memory import StoryMemoryChunk

KIND_ORDER = {"note": 0, "memory": 1, "summary": 2}
"""The kind that stands for its duplicates, best first; passages of any kind come last."""

PASSAGE_ORDER = 3
SAME_KIND_OVERLAP = 0.85
"""Two memories of one kind are told apart on purpose: only nearly equal ones are one."""

_ASCII_WORDS = re.compile(r"[a-z0-9]{3,}|(?<![a-z0-9])\d{1,2}(?![a-z0-9])")
_RUNS = re.compile(rf"[{CJK_RANGES}]+|[^\W_]+")


def content_words(text: str) -> frozenset[str]:
    """Reduce a text to its words: numbers, Latin words of three letters and more, pairs of Chinese
    characters."""
    plain = _plain(text)
    if plain.isascii():
        return frozenset(_ASCII_WORDS.findall(plain))
    found: set[str] = set()
    for run in _RUNS.findall(plain):
        if is_cjk(run[0]):
            found.update(run[i : i + 2] for i in range(len(run) - 1))
        elif len(run) > 2 or run.isdigit():
            found.add(run)
    return frozenset(found)


class DuplicateFinder:
    """Tells, while a budget is filled best first, whether another text already stands for a candidate.

    Compared are texts of one scene by their words, and all texts for being equal but for case and
    punctuation. Of different kinds the distilled one stands, taken or not; of one kind the one taken.
    """

    def __init__(self, candidates: Iterable[Candidate], overlap: float) -> None:
        self._overlap = overlap
        self._chunks: dict[str, StoryMemoryChunk] = {}
        self._scenes: dict[str, SceneKey | None] = {}
        self._mates: dict[SceneKey | None, list[str]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        self._taken: set[str] = set()
        self._texts: dict[str, str] = {}
        for candidate in sorted(candidates, key=lambda c: (_kind(c.chunk), c.chunk.chunk_id)):
            chunk_id = candidate.chunk.chunk_id
            self._chunks[chunk_id] = candidate.chunk
            self._scenes[chunk_id] = candidate.scene_key
            self._mates[candidate.scene_key].append(chunk_id)

    def take(self, chunk_id: str) -> str | None:
        """Take a candidate unless another stands for it."""
        text = "".join(_RUNS.findall(_plain(self._chunks[chunk_id].content)))
        twin = self._texts.get(text) or self._twin(chunk_id)
        if twin is None:
            self._taken.add(chunk_id)
            self._texts[text] = chunk_id
        return twin

    def _twin(self, chunk_id: str) -> str | None:
        kind = _kind(self._chunks[chunk_id])
        for other in self._mates[self._scenes[chunk_id]]:
            other_kind = _kind(self._chunks[other])
            stands = other in self._taken or other_kind < kind
            if other != chunk_id and stands and self._same(chunk_id, other, one_kind=kind == other_kind):
                return other
        return None

    def _same(self, chunk_id: str, other_id: str, *, one_kind: bool) -> bool:
        words, other = self._words_of(chunk_id), self._words_of(other_id)
        shared = len(words & other)
        if one_kind:
            return shared > 0 and shared >= SAME_KIND_OVERLAP * len(words | other)
        return shared > 0 and shared >= self._overlap * min(len(words), len(other))

    def _words_of(self, chunk_id: str) -> frozenset[str]:
        if chunk_id not in self._words:
            self._words[chunk_id] = content_words(self._chunks[chunk_id].content)
        return self._words[chunk_id]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def _kind(chunk: StoryMemoryChunk) -> int:
    return KIND_ORDER.get(chunk.content_type, PASSAGE_ORDER)
