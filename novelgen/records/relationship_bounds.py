"""How far one scene may move a relationship, and how far relationships reach."""

from __future__ import annotations

from collections.abc import Mapping

from novelgen.models.relationship import DIMENSION_RANGES, RelationshipDimension

DELTA_BOUNDS: dict[RelationshipDimension, int] = {
    "trust": 15,
    "affection": 10,
    "fear": 10,
    "respect": 10,
    "familiarity": 10,
}
"""Most that a model may move a dimension within one scene, up or down."""


def clamp_deltas(deltas: Mapping[RelationshipDimension, int]) -> dict[RelationshipDimension, int]:
    """Return proposed changes cut to `DELTA_BOUNDS`; changes of 0 are left out."""
    clamped = {
        name: max(-DELTA_BOUNDS[name], min(DELTA_BOUNDS[name], delta)) for name, delta in deltas.items()
    }
    return {name: delta for name, delta in clamped.items() if delta}


def dimensions_after(
    before: Mapping[RelationshipDimension, int], deltas: Mapping[RelationshipDimension, int]
) -> dict[RelationshipDimension, int]:
    """Return the dimensions that a scene's clamped changes move, within `DIMENSION_RANGES`.

    Args:
        before: The dimensions on entering the scene; one that is missing counts as 0.
        deltas: What a model proposes.

    Returns:
        The new value of every dimension that moved; the others are left out.
    """
    moved = {}
    for name, delta in clamp_deltas(deltas).items():
        lowest, highest = DIMENSION_RANGES[name]
        moved[name] = max(lowest, min(highest, before.get(name, 0) + delta))
    return moved
