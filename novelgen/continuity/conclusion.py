"""From what rules and a model found to what a check says: ids, order, the author's waivers, and nothing of later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, get_args

from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue, Severity, continuity_issue_id
from novelgen.models.position import StoryPosition

_WORST_FIRST: dict[str, int] = {severity: rank for rank, severity in enumerate(reversed(get_args(Severity)))}


class Conclusion(NamedTuple):
    """What stands against a draft, and what of it the author means to be so."""

    issues: list[ContinuityIssue]
    waived: list[ContinuityIssue]


def conclude(
    by_rules: Iterable[ContinuityIssue],
    by_model: Iterable[ContinuityIssue],
    *,
    as_of: StoryPosition,
    waived: Mapping[str, str],
) -> Conclusion:
    """Return all findings worst first, each once, with its id, the waived ones apart.

    Where rule and model find the same kind of contradiction in the same words, the rule's finding stays. A finding
    whose evidence does not lie strictly before the position is none.

    Args:
        by_rules: What the rules found.
        by_model: What the model found.
        as_of: Position of the draft's scene.
        waived: Id of a finding to the author's note.
    """
    certain = [found for each in by_rules if (found := _finding(each, as_of)) is not None]
    read = [found for each in by_model if (found := _finding(each, as_of)) is not None]
    beyond = [each for each in read if not any(_is_same(each, known) for known in certain)]
    once = {each.issue_id: each for each in reversed([*certain, *beyond])}
    ordered = sorted(
        once.values(),
        key=lambda each: (_WORST_FIRST[each.severity], -each.confidence, each.draft_span, each.issue_id),
    )
    return Conclusion(
        issues=[each for each in ordered if each.issue_id not in waived],
        waived=[
            each.model_copy(update={"waived_note": waived[each.issue_id]})
            for each in ordered
            if each.issue_id in waived
        ],
    )


def evidence_before(evidence: Iterable[ContinuityEvidence], as_of: StoryPosition) -> list[ContinuityEvidence]:
    """Return what of the evidence lies strictly before a position, in its order."""
    return [each for each in evidence if as_of.admits(each.chapter_index, each.scene_index)]


def _finding(issue: ContinuityIssue, as_of: StoryPosition) -> ContinuityIssue | None:
    evidence = evidence_before(issue.evidence, as_of)
    if not evidence:
        return None
    issue_id = continuity_issue_id(issue.kind, issue.draft_quote, evidence)
    return issue.model_copy(update={"evidence": evidence, "issue_id": issue_id})


def _is_same(first: ContinuityIssue, second: ContinuityIssue) -> bool:
    overlaps = first.draft_span[0] < second.draft_span[1] and second.draft_span[0] < first.draft_span[1]
    return overlaps and first.kind == second.kind
