"""Evidence of findings and their order in a check."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from novelgen.checking.story import StoryBefore
from novelgen.context.lines import Labels, labels_for, render_value
from novelgen.memory.attributes import is_death, slot_of
from novelgen.models import continuity
from novelgen.models.memory import StoryMemoryChunk, memory_place_text, read_from
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange
from novelgen.words import words

SEVERITY_ORDER: Mapping[continuity.Severity, int] = {"high": 0, "medium": 1, "low": 2}

SUBJECT = "checking"
"""Of the catalogue."""

MAX_VALUE_CHARACTERS = 160

_CODE = re.compile(r"[a-z][a-z_]*")
"""An attribute that has no word in the story's language."""


def labels_of(story: StoryBefore) -> Labels:
    """Return the words of the story's language."""
    return labels_for(story.language)


# --- What proves a finding ---


def of_memory(memory: StoryMemoryChunk, story: StoryBefore) -> continuity.ContinuityEvidence:
    """Return a memory as evidence, with its proof from the scene's text."""
    source_id = memory.memory_id
    source: continuity.EvidenceSource = "note" if memory.content_type == "note" else "memory"
    quote, about = story.quotes.get(source_id, ""), list(memory.entities_mentioned)
    return continuity.ContinuityEvidence.at(memory, source, source_id, memory.content, quote=quote, entity_ids=about)


def of_change(
    change: StateChange, story: StoryBefore, names: Mapping[str, str] | None = None
) -> continuity.ContinuityEvidence:
    """Return a state as evidence in words, a death always in one form."""
    labels, told = labels_of(story), words(SUBJECT, story.language)
    shown = names or {each.entity_id: each.name for each in story.entities}
    label, value = labels.attribute(change.attribute), render_value(change.value, shown, labels)[:MAX_VALUE_CHARACTERS]
    if change.value is None:
        value = told["state.nowhere"]
    elif is_death(change.attribute, change.value) and not isinstance(change.value, str):
        label, value = "", told["state.dead"]
    elif labels.language == "zh" and _CODE.fullmatch(label):
        label = ""
    name = shown.get(change.entity_id, change.entity_id)
    text = labels.colon.join(part for part in (name, label, value) if part)
    slot = slot_of(change.entity_id, change.attribute)
    return continuity.ContinuityEvidence.at(
        change, "state", slot, text, entity_ids=[change.entity_id], by_author=change.by_author
    )


def place_of(told: StateChange | StoryMemoryChunk) -> StoryPosition:
    """Return the place of a state or memory, timeless ones first."""
    return StoryPosition(told.chapter_index or 0, told.scene_index or 0)


def where_told(evidence: continuity.ContinuityEvidence, language: str) -> str:
    """Return the place of evidence: 3:2, 14:1 for author's notes, a word for timeless."""
    if evidence.chapter_index is not None and evidence.scene_index == 0:
        return str(read_from(evidence.chapter_index, 0))
    labels = labels_for(language)
    return memory_place_text(evidence, always=labels.everywhere, after=labels.after)


# --- What a check says ---


class Conclusion(NamedTuple):
    """The findings against a draft, and the author's waivers."""

    issues: list[continuity.ContinuityIssue]
    waived: list[continuity.ContinuityIssue]


def conclude(
    issues: Iterable[continuity.ContinuityIssue], *, as_of: StoryPosition, waived: Mapping[str, str]
) -> Conclusion:
    """Return all findings worst first, one for each place of the draft, with its id, the waived ones apart."""
    found = []
    for each in issues:
        if evidence := evidence_before(each.evidence, as_of):
            issue_id = continuity.continuity_issue_id(each.kind, each.draft_quote, evidence)
            found.append(each.model_copy(update={"evidence": evidence, "issue_id": issue_id}))
    meant = {each.issue_id: each for each in found if each.issue_id in waived}
    told_off = (each.model_copy(update={"waived_note": waived[each.issue_id]}) for each in meant.values())
    return Conclusion(
        issues=merge_issues(each for each in found if each.issue_id not in meant),
        waived=sorted(told_off, key=_worst_first),
    )


def merge_issues(issues: Iterable[continuity.ContinuityIssue]) -> list[continuity.ContinuityIssue]:
    """Return findings worst first, those about the same words of the draft as one with the evidence of all."""
    merged: list[continuity.ContinuityIssue] = []
    for issue in sorted(issues, key=_worst_first):
        at = next((at for at, each in enumerate(merged) if _overlap(each, issue)), None)
        if at is None:
            merged.append(issue)
            continue
        known = {(each.source_id, each.text) for each in merged[at].evidence}
        more = [each for each in issue.evidence if (each.source_id, each.text) not in known]
        merged[at] = merged[at].model_copy(update={"evidence": [*merged[at].evidence, *more]})
    return merged


def evidence_before(
    evidence: Iterable[continuity.ContinuityEvidence], as_of: StoryPosition
) -> list[continuity.ContinuityEvidence]:
    """Return the evidence strictly before a position, in order."""
    return [each for each in evidence if as_of.admits(each.chapter_index, each.scene_index)]


def _worst_first(issue: continuity.ContinuityIssue) -> tuple[int, float, tuple[int, int]]:
    return SEVERITY_ORDER[issue.severity], -issue.confidence, issue.draft_span


def _overlap(one: continuity.ContinuityIssue, other: continuity.ContinuityIssue) -> bool:
    """Tell whether two findings share at least half of the shorter one's words."""
    shared = min(one.draft_span[1], other.draft_span[1]) - max(one.draft_span[0], other.draft_span[0])
    shorter = min(each.draft_span[1] - each.draft_span[0] for each in (one, other))
    return 2 * shared >= shorter
