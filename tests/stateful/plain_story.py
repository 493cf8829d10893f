"""A story as plain dictionaries: what the stores must say, worked out the simplest way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Place = tuple[int, int]


@dataclass(frozen=True)
class PlainScene:
    """What one scene established: a number that all its facts carry, and what it changed."""

    number: int
    changes: dict[str, dict[str, Any]]

    @property
    def memory(self) -> str:
        """Its one memory."""
        return f"Anna hid ring {self.number} at the mill."


@dataclass
class PlainStory:
    """Scenes by place."""

    scenes: dict[Place, PlainScene] = field(default_factory=dict)

    def put(self, place: Place, scene: PlainScene) -> None:
        """Store a scene in place of what stands there."""
        self.scenes[place] = scene

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
        return [scene.memory for scene in self.before(cut)]

    def states_before(self, cut: Place) -> dict[str, dict[str, Any]]:
        """Return how each entity stands on entering a place; a cleared attribute is gone."""
        states: dict[str, dict[str, Any]] = {}
        for scene in self.before(cut):
            for entity_id, changes in scene.changes.items():
                states.setdefault(entity_id, {}).update(changes)
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
