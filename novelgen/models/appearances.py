"""Counts that a card is told from the scenes before a position: how often, and where last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from novelgen.models.entity import EntityType

METADATA = "metadata"
"""Key of a profile: what an author or another program notes of an entity beside its card."""


class SceneCast(NamedTuple):
    """Who and what is in a scene: its label, point of view, cast, place, and those that its text names."""

    label: str
    pov: str | None
    participants: Sequence[str]
    location_id: str | None
    named: frozenset[str] = frozenset()

    def has(self, character_id: str) -> bool:
        """Tell whether a character is on stage."""
        return character_id == self.pov or character_id in self.participants


_CHARACTER_COUNTS = ("pov_count", "scene_count", "last_appeared")
_LOCATION_COUNTS = ("scene_count", "last_used")
_OTHER_COUNTS = ("scene_count", "last_appeared")
PAIR_COUNTS = ("interaction_count", "last_interaction")
"""What is computed of a relationship."""


def computed_names(entity_type: EntityType) -> tuple[str, ...]:
    """Return the names of what is computed of an entity of that type."""
    if entity_type == "character":
        return _CHARACTER_COUNTS
    return _LOCATION_COUNTS if entity_type == "location" else _OTHER_COUNTS


def entity_counts(entity_id: str, entity_type: EntityType, scenes: Sequence[SceneCast]) -> dict[str, Any]:
    """Return how often an entity appears in scenes, and the label of the last one where it does.

    A character appears where it is on stage or the scene is told from its point of view, a place where the scene
    plays there, anything else where the text names it.
    """
    if entity_type == "character":
        counts: dict[str, Any] = {"pov_count": sum(scene.pov == entity_id for scene in scenes)}
        return counts | _counted(scenes, lambda scene: scene.has(entity_id), *_CHARACTER_COUNTS[1:])
    if entity_type == "location":
        return _counted(scenes, lambda scene: scene.location_id == entity_id, *_LOCATION_COUNTS)
    return _counted(scenes, lambda scene: entity_id in scene.named or entity_id in scene.participants, *_OTHER_COUNTS)


def pair_counts(first: str, second: str, scenes: Sequence[SceneCast]) -> dict[str, Any]:
    """Return in how many scenes two characters are on stage together, and the label of the last of them."""
    return _counted(scenes, lambda scene: scene.has(first) and scene.has(second), *PAIR_COUNTS)


def without_computed(profile: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a profile whose metadata say nothing of what is computed: such a note may tell what is to come."""
    noted = profile.get(METADATA)
    if not isinstance(noted, Mapping):
        return dict(profile)
    left = {name: value for name, value in noted.items() if name not in names}
    rest = {name: value for name, value in profile.items() if name != METADATA}
    return {**rest, METADATA: left} if left else rest


def _counted(scenes: Sequence[SceneCast], counts: Callable[[SceneCast], bool], count: str, last: str) -> dict[str, Any]:
    labels = [scene.label for scene in scenes if counts(scene)]
    return {count: len(labels), **({last: labels[-1]} if labels else {})}
