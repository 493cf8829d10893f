"""Evidence of findings and their order in a check."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from novelgen.checking.story import StoryBefore
from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import render_value
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
    labels, subject_words = labels_of(story), words(SUBJECT, story.language)
    names_by_id = names or {entity.entity_id: entity.name for entity in story.entities}
    label, value = (
        labels.attribute(change.attribute, change.entity_type),
        render_value(change.value, names_by_id, labels)[:MAX_VALUE_CHARACTERS],
    )
    if change.value is None or change.value == "":
        value = subject_words["state.nowhere"]
    elif is_death(change.attribute, change.value) and not isinstance(change.value, str):
        label, value = "", subject_words["state.dead"]
    elif labels.language == "zh" and _CODE.fullmatch(label):
        label = ""
    name = names_by_id.get(change.entity_id, change.entity_id)
    text = labels.colon.join(part for part in (name, label, value) if part)
    slot = slot_of(change.entity_id, change.attribute)
    return continuity.ContinuityEvidence.at(
        change, "state", slot, text, entity_ids=[change.entity_id], by_author=change.by_author
    )


def place_of(source: StateChange | StoryMemoryChunk) -> StoryPosition:
    """Return the place of a state or memory, timeless ones first."""
    return StoryPosition(source.chapter_index or 0, source.scene_index or 0)


def where_told(evidence: continuity.ContinuityEvidence, language: str) -> str:
    """Return the place of evidence: 3:2, 14:1 for author's notes, a word for timeless."""
    if evidence.chapter_index is not None and evidence.scene_index == 0:
        return str(read_from(evidence.chapter_index, 0))
    labels = labels_for(language)
    return memory_place_text(evidence, always=labels.everywhere, after=labels.after)


# --- What a check says ---


class Conclusion(NamedTuple):
    """The findings against a draft, and the author's waivers."""

    findings: list[continuity.ContinuityFinding]
    waived: list[continuity.ContinuityFinding]


def conclude(
    raw_findings: Iterable[continuity.ContinuityFinding], *, as_of: StoryPosition, waivers: Mapping[str, str]
) -> Conclusion:
    """Return all findings worst first, one for each place of the draft, with its id, the waived ones apart."""
    findings = []
    for finding in raw_findings:
        if evidence := evidence_before(finding.evidence, as_of):
            finding_id = continuity.continuity_finding_id(finding.kind, finding.draft_quote, evidence)
            findings.append(finding.model_copy(update={"evidence": evidence, "finding_id": finding_id}))
    findings_by_id = {finding.finding_id: finding for finding in findings if finding.finding_id in waivers}
    told_off = (
        finding.model_copy(update={"waived_note": waivers[finding.finding_id]}) for finding in findings_by_id.values()
    )
    return Conclusion(
        findings=merge_findings(finding for finding in findings if finding.finding_id not in findings_by_id),
        waived=sorted(told_off, key=_worst_first),
    )


def merge_findings(findings: Iterable[continuity.ContinuityFinding]) -> list[continuity.ContinuityFinding]:
    """Return findings worst first, those about the same words of the draft as one with the evidence of all."""
    merged_findings: list[continuity.ContinuityFinding] = []
    for finding in sorted(findings, key=_worst_first):
        at = next((at for at, other in enumerate(merged_findings) if _overlap(other, finding)), None)
        if at is None:
            merged_findings.append(finding)
            continue
        evidence_keys = {
            (evidence_item.source_id, evidence_item.text) for evidence_item in merged_findings[at].evidence
        }
        more = [
            evidence_item
            for evidence_item in finding.evidence
            if (evidence_item.source_id, evidence_item.text) not in evidence_keys
        ]
        merged_findings[at] = merged_findings[at].model_copy(
            update={"evidence": [*merged_findings[at].evidence, *more]}
        )
    return merged_findings


def evidence_before(
    evidence: Iterable[continuity.ContinuityEvidence], as_of: StoryPosition
) -> list[continuity.ContinuityEvidence]:
    """Return the evidence strictly before a position, in order."""
    return [
        evidence_item
        for evidence_item in evidence
        if as_of.admits(evidence_item.chapter_index, evidence_item.scene_index)
    ]


def _worst_first(finding: continuity.ContinuityFinding) -> tuple[int, float, tuple[int, int]]:
    return SEVERITY_ORDER[finding.severity], -finding.confidence, finding.draft_span


def _overlap(one: continuity.ContinuityFinding, other: continuity.ContinuityFinding) -> bool:
    """Tell whether two findings share at least half of the shorter one's words."""
    shared = min(one.draft_span[1], other.draft_span[1]) - max(one.draft_span[0], other.draft_span[0])
    shorter = min(finding.draft_span[1] - finding.draft_span[0] for finding in (one, other))
    return 2 * shared >= shorter
