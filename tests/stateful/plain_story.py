"""A story as plain dictionaries: what the stores must say, worked out the simplest way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

Place = tuple[int, int]


@dataclass(frozen=True)
class PlainMemory:
    """What a scene remembers; one that its author edited outlives the scene's next version."""

    content: str
    is_authors: bool = False


@dataclass(frozen=True)
class PlainScene:
    """What one scene established: a number that all its facts carry, what it changed, and its memories."""

    number: int
    changes: dict[str, dict[str, Any]]
    memories: tuple[PlainMemory, ...]

    @classmethod
    def told(cls, number: int, changes: dict[str, dict[str, Any]]) -> PlainScene:
        """A new version with its one memory."""
        return cls(number, changes, (PlainMemory(memory_of(number)),))


def memory_of(number: int) -> str:
    """Return the memory that a version of a scene brings."""
    return f"Anna hid ring {number} at the mill."


@dataclass
class PlainStory:
    """Scenes by place, and which entity is taken for another by now."""

    scenes: dict[Place, PlainScene] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)

    def put(self, place: Place, scene: PlainScene) -> None:
        """Store a scene in place of what stands there, whose edited memories stay."""
        before = self.scenes[place].memories if place in self.scenes else ()
        kept = tuple(memory for memory in before if memory.is_authors)
        self.scenes[place] = replace(scene, memories=(*kept, *scene.memories))

    def correct(self, place: Place, changes: dict[str, dict[str, Any]]) -> None:
        """Give a scene another record; its memories stay."""
        self.scenes[place] = replace(self.scenes[place], changes=changes)

    def edit(self, place: Place, old: str, new: str) -> None:
        """Reword a memory."""
        scene = self.scenes[place]
        memories = (PlainMemory(new, True) if each.content == old else each for each in scene.memories)
        self.scenes[place] = replace(scene, memories=tuple(memories))

    def merge(self, kept: str, gone: str) -> None:
        """Take one entity for another from now on, whatever scenes said of it."""
        self.merged = {gone: kept}

    def undo_merge(self) -> None:
        """Take both for themselves again."""
        self.merged = {}

    def delete(self, place: Place) -> None:
        """Remove a scene; nothing moves."""
        del self.scenes[place]

    def move(self, source: Place, target: Place) -> None:
        """Take a scene out, close the gap in its chapter, open one at the target where something stands."""
        moved = self.scenes.pop(source)
        self.scenes = {self._closed(place, source): scene for place, scene in self.scenes.items()}
        if target in self.scenes:
            self.scenes = {self._opened(place, target): scene for place, scene in self.scenes.items()}
        self.scenes[target] = moved

    def before(self, cut: Place) -> list[PlainScene]:
        """Return the scenes strictly before a place, in story order."""
        return [self.scenes[place] for place in sorted(self.scenes) if place < cut]

    def memories_before(self, cut: Place) -> list[str]:
        """Return the memories strictly before a place, in story order."""
        return [memory.content for scene in self.before(cut) for memory in scene.memories]

    def states_before(self, cut: Place) -> dict[str, dict[str, Any]]:
        """Return how each entity stands on entering a place; a cleared attribute is gone."""
        states: dict[str, dict[str, Any]] = {}
        for scene in self.before(cut):
            for entity_id, changes in scene.changes.items():
                states.setdefault(self.merged.get(entity_id, entity_id), {}).update(changes)
        return {
            entity_id: {name: value for name, value in state.items() if value is not None}
            for entity_id, state in states.items()
        }

    @staticmethod
    def _closed(place: Place, source: Place) -> Place:
        return (place[0], place[1] - 1) if place[0] == source[0] and place[1] > source[1] else place

    @staticmethod
    def _opened(place: Place, target: Place) -> Place:
        return (place[0], place[1] + 1) if place[0] == target[0] and place[1] >= target[1] else place
