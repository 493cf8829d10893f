"""From what rules and a model found to what a check says: ids, order, the author's waivers, and nothing of later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue, Severity, continuity_issue_id
from novelgen.models.position import StoryPosition

SEVERITY_ORDER: Mapping[Severity, int] = {"high": 0, "medium": 1, "low": 2}


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
    """Return all findings worst first, one for each place of the draft, with its id, the waived ones apart.

    Of findings about the same words the worst stays, and of equals the surest, with the evidence of all. A finding
    whose evidence does not lie strictly before the position is none.
    """
    found = [told for each in (*by_rules, *by_model) if (told := _finding(each, as_of)) is not None]
    meant = {each.issue_id: each for each in found if each.issue_id in waived}
    told_off = (each.model_copy(update={"waived_note": waived[each.issue_id]}) for each in meant.values())
    return Conclusion(
        issues=merge_issues(each for each in found if each.issue_id not in meant),
        waived=sorted(told_off, key=_worst_first),
    )


def merge_issues(issues: Iterable[ContinuityIssue]) -> list[ContinuityIssue]:
    """Return findings worst first, those about the same words of the draft as one with the evidence of all."""
    merged: list[ContinuityIssue] = []
    for issue in sorted(issues, key=_worst_first):
        at = next((at for at, each in enumerate(merged) if _overlap(each, issue)), None)
        if at is None:
            merged.append(issue)
            continue
        known = {(each.source_id, each.text) for each in merged[at].evidence}
        more = [each for each in issue.evidence if (each.source_id, each.text) not in known]
        merged[at] = merged[at].model_copy(update={"evidence": [*merged[at].evidence, *more]})
    return merged


def _worst_first(issue: ContinuityIssue) -> tuple[int, float, tuple[int, int]]:
    return SEVERITY_ORDER[issue.severity], -issue.confidence, issue.draft_span


def _overlap(one: ContinuityIssue, other: ContinuityIssue) -> bool:
    """Tell whether two findings share at least half of the shorter one's words."""
    shared = min(one.draft_span[1], other.draft_span[1]) - max(one.draft_span[0], other.draft_span[0])
    shorter = min(each.draft_span[1] - each.draft_span[0] for each in (one, other))
    return 2 * shared >= shorter


def evidence_before(evidence: Iterable[ContinuityEvidence], as_of: StoryPosition) -> list[ContinuityEvidence]:
    """Return what of the evidence lies strictly before a position, in its order."""
    return [each for each in evidence if as_of.admits(each.chapter_index, each.scene_index)]


def _finding(issue: ContinuityIssue, as_of: StoryPosition) -> ContinuityIssue | None:
    evidence = evidence_before(issue.evidence, as_of)
    if not evidence:
        return None
    issue_id = continuity_issue_id(issue.kind, issue.draft_quote, evidence)
    return issue.model_copy(update={"evidence": evidence, "issue_id": issue_id})
