"""The memories of one character as arrays: knowledge, validity and nearness."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from novelgen.characters.memory import CharacterMemory, GamePosition, KnownStoryMemory, Moment
from novelgen.language.language import significant_words
from novelgen.memory.query_scores import Mask, Vectors, unit_rows
from novelgen.models.position import packed_place

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class View:
    """A character's knowledge at a moment."""

    live: Mask
    superseded: Mask
    now: float


class Mind:
    """The immutable memories of one character."""

    def __init__(self, memories: Sequence[CharacterMemory], vectors: Vectors, has_vector: Mask) -> None:
        self.memories = tuple(memories)
        self.vectors = vectors
        self.has_vector = has_vector
        self._places = {memory.memory_id: place for place, memory in enumerate(self.memories)}

    def __len__(self) -> int:
        return len(self.memories)

    def place(self, memory_id: str | None) -> int:
        """Return the place of a memory among all, or `NOWHERE`."""
        return NOWHERE if memory_id is None else self._places.get(memory_id, NOWHERE)

    def view(self, as_of: Moment | None, *, clock_now: datetime, here: GamePosition | None = None) -> View:
        """Return the knowledge strictly before a moment, None meaning now.

        What has no session and turn is known at a position if it was learnt before the first memory that stands there
        or later. News that is still on its way at the moment is not known.
        """
        now = clock_now.timestamp()
        if isinstance(as_of, datetime):
            now = as_of.timestamp()
            known_mask = self.known_at < now
        elif as_of is not None:
            position = packed_place(as_of.session, as_of.turn)
            placed_mask = self.known_positions >= 0
            later = self.known_at[placed_mask & (self.known_positions >= position) & ~self._on_its_way]
            border = float(later.min()) if later.size else math.inf
            now = min(now, border)
            known_mask = np.where(placed_mask, self.known_positions < position, self.known_at < border)
        else:
            last = -1 if here is None else packed_place(here.session, here.turn)
            direct = self.known_positions[~self._on_its_way]
            last = max(last, int(direct.max()) if direct.size else -1)
            arrived = (self.known_at <= now) & ((self.known_positions < 0) | (self.known_positions <= last))
            known_mask = ~self._on_its_way | arrived
        known_mask = known_mask & self.not_deleted
        return View(
            live=known_mask & ~_at(known_mask, self._stood_for),
            superseded=known_mask & _at(known_mask, self._ended_by),
            now=now,
        )

    @cached_property
    def known_at(self) -> NDArray[np.float64]:
        """When the character learnt each memory, in seconds since 1970."""
        return np.array([memory.known_at.timestamp() for memory in self.memories], dtype=np.float64)

    @cached_property
    def known_positions(self) -> NDArray[np.int64]:
        """Session and turn of learning as one number, -1 without one."""
        positions = (memory.known_position for memory in self.memories)
        return np.array(
            [
                -1 if game_position is None else packed_place(game_position.session, game_position.turn)
                for game_position in positions
            ],
            dtype=np.int64,
        )

    def shared_with(self, other_id: str) -> list[CharacterMemory]:
        """Return the character's own experiences with another, without deleted ones."""
        return self._shared.get(other_id, [])

    @cached_property
    def _shared(self) -> dict[str, list[CharacterMemory]]:
        shared: dict[str, list[CharacterMemory]] = {}
        for memory in self.memories:
            if not memory.is_second_hand and memory.status != "deleted":
                for other_id in memory.participants:
                    shared.setdefault(other_id, []).append(memory)
        return shared

    @cached_property
    def not_deleted(self) -> Mask:
        """Which memories are not deleted."""
        return np.array([memory.status != "deleted" for memory in self.memories], dtype=bool)

    @cached_property
    def waits_for_turns(self) -> bool:
        """Whether some news reaches the character a number of turns after it happened."""
        return any(
            (memory.known_session, memory.known_turn) != (memory.session, memory.turn) for memory in self.memories
        )

    @cached_property
    def of_story(self) -> Mask:
        """Which memories are the story's: they have no date and do not fade."""
        return np.array([isinstance(memory, KnownStoryMemory) for memory in self.memories], dtype=bool)

    @cached_property
    def importances(self) -> NDArray[np.float64]:
        """Importance of each memory, 1 to 10."""
        return np.array([memory.importance for memory in self.memories], dtype=np.float64)

    def of_types(self, event_types: Sequence[str]) -> Mask:
        """Return which memories are of an event of one of these types, or of an interaction of one."""
        event, interaction = self._event_types
        return np.isin(event, event_types) | np.isin(interaction, event_types)

    def of_slots(self, slot_types: Sequence[str]) -> Mask:
        """Return which memories hold, or held, a slot of one of these types."""
        return np.isin(self._slot_types, slot_types)

    def word_relevance(self, text: str, among: Mask) -> NDArray[np.float64]:
        """Return each memory's share of the text's weighted words, from 0 to 1."""
        shares = np.zeros(len(self), dtype=np.float64)
        asked_words = significant_words(text)
        places = np.flatnonzero(among)
        weights = {word: math.log(1 + len(self) / (1 + self._word_counts[word])) for word in sorted(asked_words)}
        whole = sum(weights.values())
        if not whole:
            return shares
        for place in places.tolist():
            shares[place] = sum(weights[word] for word in sorted(asked_words & self._words[place])) / whole
        return shares

    @cached_property
    def _event_types(self) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
        events = [memory.event_type for memory in self.memories]
        interactions = [memory.interaction_type or "" for memory in self.memories]
        return np.array(events, dtype=np.str_), np.array(interactions, dtype=np.str_)

    @cached_property
    def in_slot(self) -> Mask:
        """Which memories hold, or held, the value of a slot."""
        return self._slot_types != ""

    @cached_property
    def _slot_types(self) -> NDArray[np.str_]:
        return np.array([memory.slot_type or "" for memory in self.memories], dtype=np.str_)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [significant_words(f"{memory.content} {memory.short or ''}") for memory in self.memories]

    @cached_property
    def _word_counts(self) -> Counter[str]:
        return Counter(word for words in self._words for word in words)

    @cached_property
    def _on_its_way(self) -> Mask:
        """Which memories were learnt later than they happened."""
        return np.array(
            [
                memory.known_at > memory.happened_at
                or (memory.known_session, memory.known_turn) != (memory.session, memory.turn)
                for memory in self.memories
            ],
            dtype=bool,
        )

    @cached_property
    def _ended_by(self) -> NDArray[np.int64]:
        return np.array([self.place(memory.superseded_by) for memory in self.memories], dtype=np.int64)

    @cached_property
    def _stood_for(self) -> NDArray[np.int64]:
        return np.array([self.place(memory.consolidated_into) for memory in self.memories], dtype=np.int64)


def _at(holds: Mask, places: NDArray[np.int64]) -> Mask:
    """Return per memory whether a condition holds at its place."""
    if not len(places):
        return np.zeros(0, dtype=bool)
    return np.where(places >= 0, holds[np.maximum(places, 0)], False)


LEAST_SPREAD = 0.02
"""Cosines nearer together than this tell nothing apart."""


class RelevanceScale:
    """A scale of an embedding model's cosines, calibrated on related pairs."""

    def __init__(self, remarks: Sequence[Sequence[float]], memories: Sequence[Sequence[float]]) -> None:
        self._remarks, self._memories = unit_rows(remarks), unit_rows(memories)
        cosines = self._remarks @ self._memories.T
        own = np.eye(len(cosines), dtype=bool)
        self.unrelated, self.related = float(cosines[~own].mean()), float(cosines[own].mean())
        others = np.where(own, np.nan, cosines).astype(np.float64)
        scaled = 2.0 * cosines - np.nanmean(others, axis=1)[:, None] - np.nanmean(others, axis=0)[None, :]
        self._unrelated_scaled, self._related_scaled = float(scaled[~own].mean()), float(scaled[own].mean())

    def of(self, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return how near each cosine is, below 0 and above 1 where it is beyond the known pairs."""
        return _between(cosines, self.unrelated, self.related)

    def topic_relevance(self, topic: Sequence[float], memories: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Return how much each memory is about a topic: 0 as strangers are, 1 as the known pairs are.

        The cosine is scaled by what topic and memory have in common with any text (cross-domain similarity local
        scaling, Conneau et al. 2018): a short text is near to everything.

        Args:
            topic: The vector of the topic.
            memories: The vectors of the memories.
        """
        row, rows = unit_rows([topic])[0], unit_rows(memories)
        of_memories = (rows @ self._remarks.T).mean(axis=1, dtype=np.float64)
        scaled = 2.0 * (rows @ row) - float((self._memories @ row).mean()) - of_memories
        return _between(scaled, self._unrelated_scaled, self._related_scaled)


def _between(values: NDArray[np.floating], zero: float, one: float) -> NDArray[np.float64]:
    return (np.asarray(values, dtype=np.float64) - zero) / max(one - zero, LEAST_SPREAD)
