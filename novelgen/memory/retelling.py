"""Retellings: duplicate texts of a scene, and later scenes that repeat a memory."""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from novelgen.language.language import CJK_RANGES, FUNCTION_WORDS, is_cjk, rarity_of, significant_words
from novelgen.language.sentences import Span, chunk_text
from novelgen.memory.knowledge_story import KnowledgeScene
from novelgen.memory.search import Candidate
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, StoryPosition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND_ORDER = {"note": 0, "memory": 1, "summary": 2}
"""The kind that stands for its duplicates, best first; passages of any kind come last."""

PASSAGE_ORDER = 3
SAME_KIND_OVERLAP = 0.85
"""Two memories of one kind are told apart on purpose: only nearly equal ones are one."""

_ASCII_WORDS = re.compile(r"[a-z0-9]{3,}|(?<![a-z0-9])\d{1,2}(?![a-z0-9])")
_RUNS = re.compile(rf"[{CJK_RANGES}]+|[^\W_]+")


def content_words(text: str) -> frozenset[str]:
    """Reduce a text to its words: numbers, Latin words of three letters and more, pairs of Chinese characters."""
    plain = _plain(text)
    if plain.isascii():
        return frozenset(_ASCII_WORDS.findall(plain))
    found_names: set[str] = set()
    for run in _RUNS.findall(plain):
        if is_cjk(run[0]):
            found_names.update(run[i : i + 2] for i in range(len(run) - 1))
        elif len(run) > 2 or run.isdigit():
            found_names.add(run)
    return frozenset(found_names)


class DuplicateFinder:
    """Detects duplicates of a scene's text while a budget is filled."""

    def __init__(self, candidates: Iterable[Candidate], overlap: float) -> None:
        self._overlap = overlap
        self._chunks: dict[str, StoryMemoryChunk] = {}
        self._mates: dict[Place | None, list[str]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        self._taken: set[str] = set()
        self._texts: dict[str, str] = {}
        for candidate in sorted(candidates, key=lambda c: (_kind(c.chunk), c.chunk.chunk_id)):
            self._chunks[candidate.chunk.chunk_id] = candidate.chunk
            self._mates[candidate.chunk.place].append(candidate.chunk.chunk_id)

    def take(self, chunk_id: str, *, by_words: bool = True) -> str | None:
        """Take a candidate unless another stands for it.

        Args:
            chunk_id: One of the candidates.
            by_words: Whether one stands for it that has most of its words, not only one with the same text.
        """
        text = "".join(_RUNS.findall(_plain(self._chunks[chunk_id].content)))
        twin = self._texts.get(text) or (self._twin(chunk_id) if by_words else None)
        if twin is None:
            self._taken.add(chunk_id)
            self._texts[text] = chunk_id
        return twin

    def _twin(self, chunk_id: str) -> str | None:
        kind = _kind(self._chunks[chunk_id])
        for other in self._mates[self._chunks[chunk_id].place]:
            other_kind = _kind(self._chunks[other])
            if other == chunk_id or not (other in self._taken or other_kind < kind):
                continue
            words, others = self._words_of(chunk_id), self._words_of(other)
            enough = SAME_KIND_OVERLAP * len(words | others)
            if kind != other_kind:
                enough = self._overlap * min(len(words), len(others))
            if 0 < len(words & others) >= enough:
                return other
        return None

    def _words_of(self, chunk_id: str) -> frozenset[str]:
        if chunk_id not in self._words:
            self._words[chunk_id] = content_words(self._chunks[chunk_id].content)
        return self._words[chunk_id]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def _kind(chunk: StoryMemoryChunk) -> int:
    return KIND_ORDER.get(chunk.content_type, PASSAGE_ORDER)


PIECE_CHARACTERS = 600
"""Length of the pieces of text that are looked at, whole sentences each, however a text is broken into lines."""

REMEMBERED_TEXTS = 10_000
"""The words of so many scenes are kept in memory; those of a scene take about as much as its text."""

REMEMBERED_WEIGHTS = 2_000
"""Of so many memories the weighed words are kept, for one is asked about at every position."""

REMEMBERED_SHARES = 8
"""Of so many memories what each piece holds is kept, for one is asked about for one person after another."""

MIN_RETOLD = 0.05
"""Least share of a memory's words, by their rarity, that one piece must hold to tell it again.

Little, since a memory says in other words what a scene says; that somebody is there who knows it counts, too.
"""


PIECES_TRIED = 8
"""Of a memory so many of the pieces that tell it most plainly are looked at for who hears them."""

MANY_PIECES = 1_000
"""From so many pieces on numpy finds the best in less time than it takes to be loaded; where it is, always."""


class Retelling(NamedTuple):
    """A piece of a scene that tells a memory, and how plainly, 0-1."""

    position: StoryPosition
    piece: Span
    share: float


@dataclass
class Retellings:
    """Finds the scenes in which a memory is told again."""

    scenes: Sequence[KnowledgeScene]
    _pieces_with: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    _scene_of: array[int] = field(default_factory=lambda: array("q"))
    _first_piece: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for index, scene in enumerate(self.scenes):
            self._first_piece.append(len(self._scene_of))
            for _, words in _words_of_pieces(scene.text):
                piece = len(self._scene_of)
                for word in words:
                    self._pieces_with[word].append(piece)
                self._scene_of.append(index)
        self._rarities = lru_cache(maxsize=REMEMBERED_WEIGHTS)(self._rarities)  # type: ignore[method-assign]
        self._shares = lru_cache(maxsize=REMEMBERED_SHARES)(self._shares)  # type: ignore[method-assign]

    def best(
        self, content: str, limit: int, *, counts: Callable[[KnowledgeScene, Span], bool] = lambda scene, piece: True
    ) -> Retelling | None:
        """Return the piece of the wanted scenes, a bit each, that tells a memory most plainly.

        Args:
            content: The memory.
            limit: The scenes to look in.
            counts: Tells whether a piece that tells it counts; asked of the plainest ones.
        """
        rarities = self._rarities(content)
        whole = sum(rarities.values())
        if not whole or not len(self._scene_of):
            return None
        is_light = len(self._scene_of) < MANY_PIECES and "numpy" not in sys.modules
        plainest = (_best_of_few if is_light else _best_of_many)(
            self._shares(content, is_light), self._scene_of, limit, MIN_RETOLD * whole
        )
        for piece, share in plainest:
            scene = self._scene_of[piece]
            span, _ = _words_of_pieces(self.scenes[scene].text)[piece - self._first_piece[scene]]
            if counts(self.scenes[scene], span):
                return Retelling(self.scenes[scene].position, span, share / whole)
        return None

    def first_known(
        self, content: str, learnings: Iterable[tuple[StoryPosition, frozenset[str]]], *, min_share: float
    ) -> tuple[StoryPosition, float] | None:
        """Return the first scene since which somebody's knowledge holds a memory, and how much of it (0-1)."""
        rarities = self._rarities(content)
        whole = sum(rarities.values())
        for position, words in learnings if whole else ():
            share = sum(weight for word, weight in rarities.items() if word in words) / whole
            if share >= min_share:
                return position, share
        return None

    def share_told(self, content: str, text: str, *, leaving_out: Iterable[str] = ()) -> float:
        """Return a text's share of a memory, 0 to 1, weighted by rarity."""
        weights = self.weights(content, leaving_out=leaving_out)
        words = significant_words(text)
        return sum(weight for word, weight in weights.items() if word in words)

    def share_retold(self, content: str, text: str, *, leaving_out: Iterable[str] = ()) -> float:
        """Return the same of the one piece of a text that says most of it."""
        weights = self.weights(content, leaving_out=leaving_out)
        return max((sum(weights.get(word, 0.0) for word in words) for _, words in _words_of_pieces(text)), default=0.0)

    def weights(self, content: str, *, leaving_out: Iterable[str] = ()) -> dict[str, float]:
        """Return a memory's words with their shares, by rarity."""
        rarities = self._rarities(content)
        if leaving_out:
            for name in sorted(leaving_out, key=len, reverse=True):
                # `the brass key` begins a sentence with a capital.
                content = content.replace(name, " ").replace(name[:1].upper() + name[1:], " ")
            said_words = significant_words(content) - FUNCTION_WORDS
            rarities = {word: rarity for word, rarity in rarities.items() if word in said_words}
        whole = sum(rarities.values())
        return {word: rarity / whole for word, rarity in rarities.items()} if whole else {}

    def _shares(self, content: str, is_light: bool) -> Any:
        """Return what each piece holds of a memory's words: a list where it is light, else an array."""
        rarities = self._rarities(content)
        words = [(self._pieces_with[word], weight) for word, weight in rarities.items() if word in self._pieces_with]
        return (_shares_of_few if is_light else _shares_of_many)(words, len(self._scene_of))

    def _rarities(self, content: str) -> dict[str, float]:
        # Sorted, for sums of floats depend on their order.
        return {
            word: rarity_of(len(self._pieces_with.get(word, ())), len(self._scene_of))
            for word in sorted(significant_words(content))
        }


def _shares_of_few(words: Iterable[tuple[array[int], float]], piece_count: int) -> list[float]:
    shares = [0.0] * piece_count
    for pieces, weight in words:
        for piece in pieces:
            shares[piece] += weight
    return shares


def _best_of_few(
    shared: Sequence[float], scene_of: array[int], scene_bits: int, least: float
) -> list[tuple[int, float]]:
    """Return the pieces of the wanted scenes with the greatest shares, and these."""
    lines = [share if scene_bits >> scene & 1 else 0.0 for share, scene in zip(shared, scene_of, strict=True)]
    enough = [piece for piece, share in enumerate(lines) if share >= least]
    return [(piece, lines[piece]) for piece in sorted(enough, key=lambda piece: -lines[piece])[:PIECES_TRIED]]


def _shares_of_many(words: Iterable[tuple[array[int], float]], piece_count: int) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415

    shares = np.zeros(piece_count)
    for pieces, weight in words:
        shares[np.frombuffer(pieces, dtype=np.int64)] += weight
    return shares


def _best_of_many(
    shares: NDArray[np.float64], scene_of: array[int], scene_bits: int, least: float
) -> list[tuple[int, float]]:
    """Return the same of a long story."""
    import numpy as np  # noqa: PLC0415

    bits = np.frombuffer(
        scene_bits.to_bytes(max(scene_of[-1], scene_bits.bit_length()) // 8 + 1, "little"), dtype=np.uint8
    )
    shared = shares * np.unpackbits(bits, bitorder="little")[np.frombuffer(scene_of, dtype=np.int64)]
    enough = np.flatnonzero(shared >= least)
    first = enough[np.argsort(-shared[enough], kind="stable")[:PIECES_TRIED]]
    return [(int(piece), float(shared[piece])) for piece in first]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words_of_pieces(text: str) -> tuple[tuple[Span, tuple[str, ...]], ...]:
    """Return the words of each scene piece, cached by text."""
    return tuple(
        (piece, tuple(map(sys.intern, significant_words(text[piece.start : piece.end]))))
        for piece in chunk_text(text, target_characters=PIECE_CHARACTERS)
    )
