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
    """Return all findings worst first, one for each place of the draft, with its id, the waived ones apart.

    Of findings that overlap in the draft the surest stays, with the evidence of all. A finding whose evidence does not
    lie strictly before the position is none.

    Args:
        by_rules: What the rules found.
        by_model: What the model found.
        as_of: Position of the draft's scene.
        waived: Id of a finding to the author's note.
    """
    found = [told for each in (*by_rules, *by_model) if (told := _finding(each, as_of)) is not None]
    meant = {each.issue_id: each for each in found if each.issue_id in waived}
    kept: list[ContinuityIssue] = []
    for each in sorted(found, key=lambda issue: -issue.confidence):
        if each.issue_id in meant:
            continue
        place = next((number for number, other in enumerate(kept) if _overlap(each, other)), None)
        if place is None:
            kept.append(each)
        else:
            kept[place] = _proved_by_both(kept[place], each)
    return Conclusion(
        issues=_in_order(kept),
        waived=_in_order(
            each.model_copy(update={"waived_note": waived[each.issue_id]}) for each in meant.values()
        ),
    )


def _in_order(issues: Iterable[ContinuityIssue]) -> list[ContinuityIssue]:
    return sorted(
        issues,
        key=lambda each: (_WORST_FIRST[each.severity], -each.confidence, each.draft_span, each.issue_id),
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


def _overlap(first: ContinuityIssue, second: ContinuityIssue) -> bool:
    return first.draft_span[0] < second.draft_span[1] and second.draft_span[0] < first.draft_span[1]


def _proved_by_both(surest: ContinuityIssue, other: ContinuityIssue) -> ContinuityIssue:
    known = {(each.source_id, each.text) for each in surest.evidence}
    more = [each for each in other.evidence if (each.source_id, each.text) not in known]
    return surest.model_copy(update={"evidence": [*surest.evidence, *more]})
