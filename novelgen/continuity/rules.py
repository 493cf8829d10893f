"""The rules of a draft's continuity that need no model, applied to one draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from novelgen.continuity.absent import absent_act, dead_act, dead_met, gone_act
from novelgen.continuity.body import contradicted_bodies
from novelgen.continuity.figures import contradicted_quantities
from novelgen.continuity.holders import wrong_hands
from novelgen.continuity.story import Draft, StoryBefore
from novelgen.continuity.story_time import impossible_opening_time
from novelgen.continuity.telling import contradicted_relations, leaked_knowledge
from novelgen.models.continuity import ContinuityIssue, continuity_issue_id

Rule = Callable[[Draft, StoryBefore], Iterable[ContinuityIssue]]

RULES: tuple[Rule, ...] = (
    dead_act,
    dead_met,
    absent_act,
    gone_act,
    wrong_hands,
    contradicted_quantities,
    contradicted_bodies,
    contradicted_relations,
    leaked_knowledge,
    impossible_opening_time,
)

_SEVERITIES = ("high", "medium", "low")


def find_by_rules(draft: Draft, story: StoryBefore) -> list[ContinuityIssue]:
    """Return what a draft certainly contradicts of the story before it, worst first, one finding per place.

    Args:
        draft: The draft.
        story: The story strictly before it.

    Returns:
        The findings with their ids; of several that overlap in the draft the worst.
    """
    found = [each for rule in RULES for each in rule(draft, story)]
    found.sort(key=lambda each: (_SEVERITIES.index(each.severity), -each.confidence, each.draft_span))
    kept: list[ContinuityIssue] = []
    for each in found:
        start, end = each.draft_span
        if all(end <= other.draft_span[0] or other.draft_span[1] <= start for other in kept):
            kept.append(
                each.model_copy(
                    update={"issue_id": continuity_issue_id(each.kind, each.draft_quote, each.evidence)}
                )
            )
    return kept
