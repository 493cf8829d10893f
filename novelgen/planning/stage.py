"""Whose state a planned scene needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from novelgen.memory.outline import StoryOutline
from novelgen.planning.retrieval_plan import RetrievalPlan

MOST_INFERRED = 3
"""States of so many entities that only a model picked; a bad pick must not push the stage out."""
RECENT_SCENES = 3


def entities_for_states(plan_entity_ids: Sequence[str], outline: StoryOutline, *, limit: int) -> list[str]:
    """Choose the entities whose state is read for a planned scene.

    First the plan's own, then who was on stage in the last three scenes and what they and the plan's
    characters hold, then everyone else; after the plan's own, whose state changed last comes first. Entities
    of which no scene stated anything come after all others: their state is no more than where they were seen.

    Args:
        plan_entity_ids: Entities that the plan resolves to, most important first.
        outline: The story before the scene.
        limit: Most ids to return.

    Returns:
        Entity ids without repeats, most needed first, at most `limit`.
    """
    about = [*recently_on_stage(outline), *_held_by(plan_entity_ids, outline)]
    about += _held_by(about, outline)
    last_changed_first = [entity_id for entity_id in outline.stated_ids if entity_id in about]
    stated = set(outline.stated_ids)
    wanted = _unique([*plan_entity_ids, *last_changed_first, *outline.stated_ids, *about])
    return sorted(wanted, key=lambda entity_id: entity_id not in stated)[:limit]


def state_candidates(plan: RetrievalPlan) -> list[str]:
    """Return the plan's entities with no more than `MOST_INFERRED` of those that only a model picked, last."""
    named = [each for each in plan.entity_ids if each not in plan.inferred_ids]
    return [*named, *plan.inferred_ids[:MOST_INFERRED]]


def recently_on_stage(outline: StoryOutline, *, scenes: int = RECENT_SCENES) -> list[str]:
    """Return who took part in the last scenes, those of the latest scene first, without repeats.

    Args:
        outline: The story before the scene.
        scenes: How many of the last scenes count.
    """
    latest_first = reversed(outline.scenes[-scenes:] if scenes > 0 else [])
    return _unique(entity_id for scene in latest_first for entity_id in scene.participants)


def _held_by(holder_ids: Iterable[str], outline: StoryOutline) -> list[str]:
    return [item_id for holder_id in holder_ids for item_id in outline.holders.get(holder_id, ())]


def _unique(entity_ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(entity_ids))
