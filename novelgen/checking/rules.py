"""The rules of a draft's continuity that need no model, applied to one draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from novelgen.checking.absent import absent_act, dead_act, dead_met, gone_act
from novelgen.checking.body import contradicted_bodies
from novelgen.checking.conclusion import merge_issues
from novelgen.checking.figures import contradicted_quantities
from novelgen.checking.holders import wrong_hands
from novelgen.checking.story import Draft, StoryBefore
from novelgen.checking.story_time import impossible_opening_time
from novelgen.checking.telling import contradicted_relations, leaked_knowledge
from novelgen.models.continuity import ContinuityIssue

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


def find_by_rules(draft: Draft, story: StoryBefore) -> list[ContinuityIssue]:
    """Return what a draft certainly contradicts of the story before it, worst first, one finding per place."""
    return merge_issues(each for rule in RULES for each in rule(draft, story))
