"""The memories of characters kept at hand between recalls, and brought up to date by what was written since."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from novelgen.characters.memory import CharacterMemory
from novelgen.characters.mind import Mind
from novelgen.characters.relevance import unit_rows
from runtime.storage.character.memories import MindState, StoredMemories, Vector
from runtime.storage.unit import UnitOfWork

MAX_MINDS = 64
"""Characters whose memories stay at hand: 3,000 memories of 384 dimensions are 5 MB of vectors."""


class _Kept(NamedTuple):
    mind: Mind
    state: MindState
    model: str | None


class MindCache:
    """Keeps minds, each for one project, character and embedding model; safe to share between threads.

    The database is asked each time whether something was written, so that what other programs write is seen at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def mind(self, unit: UnitOfWork, project_id: str, character_id: str, *, model: str | None) -> Mind:
        """Return the memories of a character as the transaction sees them."""
        key = (project_id, character_id)
        state = unit.characters.state(character_id)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept.model == model and kept.state == state:
            mind = kept.mind
        else:
            mind = self._followed(unit, character_id, kept, state, model)
        with self._lock:
            self._kept[key] = _Kept(mind, state, model)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_MINDS:
                self._kept.popitem(last=False)
        return mind

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()

    def _followed(
        self, unit: UnitOfWork, character_id: str, kept: _Kept | None, state: MindState, model: str | None
    ) -> Mind:
        if kept is not None and kept.model == model:
            new = unit.characters.read(character_id, model=model, changed_after=kept.state.changed)
            mind = _patched(kept.mind, new)
            # Fewer or more than there should be: a merge or its undo moved some from or to somebody else.
            if len(mind) == state.memories:
                return mind
        return _patched(_EMPTY, unit.characters.read(character_id, model=model))


_EMPTY = Mind([], np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=bool))


def _patched(mind: Mind, new: StoredMemories) -> Mind:
    """Return a mind with memories that are new or changed."""
    if not new.memories:
        return mind
    memories: list[CharacterMemory] = list(mind.memories)
    vectors, has_vector = _room_for(mind, new)
    for memory in new.memories:
        place = mind.place(memory.memory_id)
        if place < 0:
            place = len(memories)
            memories.append(memory)
        else:
            memories[place] = memory
        vector = new.vectors.get(memory.memory_id)
        # A model that changed its dimension under the same name: what it made before is of no use.
        has_vector[place] = vector is not None and vector.shape == vectors.shape[1:]
        if vector is not None and has_vector[place]:
            vectors[place] = unit_rows(vector)[0]
    return Mind(memories, vectors, has_vector)


def _room_for(mind: Mind, new: StoredMemories) -> tuple[Vector, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    added = sum(mind.place(each.memory_id) < 0 for each in new.memories)
    latest = next(reversed(new.vectors.values()), None)
    dimension = mind.vectors.shape[1] or (0 if latest is None else len(latest))
    vectors = np.zeros((len(mind) + added, dimension), dtype=np.float32)
    has_vector = np.zeros(len(mind) + added, dtype=bool)
    if mind.vectors.shape[1]:
        vectors[: len(mind)] = mind.vectors
        has_vector[: len(mind)] = mind.has_vector
    return vectors, has_vector
