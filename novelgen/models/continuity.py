"""Results of a draft check: contradictions with quotes of both sides."""

from __future__ import annotations

from hashlib import sha256
from operator import not_
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue
from novelgen.models.position import Place, Placed
from novelgen.models.shown import Shown

ContinuityKind = Literal[
    "dead_or_absent",
    "object_holder",
    "place",
    "identity",
    "knowledge_leak",
    "promise",
    "injury_or_body",
    "relationship",
    "canon_rule",
    "story_time",
    "invented",
]
"""Of a contradiction: the dead or absent act; a thing is in wrong hands, lost or broken; a place is otherwise; who
somebody is, or a name before it is known; somebody knows what they cannot; a promise or an order is broken or
forgotten; wounds, age and looks; kin, rank, friend and enemy; rules of the world, numbers and counts; dates and the
order of days; a past event, person or conversation that never was."""

CONTINUITY_KINDS: tuple[ContinuityKind, ...] = get_args(ContinuityKind)
Severity = Literal["low", "medium", "high"]
EvidenceSource = Literal["memory", "note", "passage", "state", "relationship", "thread", "knowledge", "presence"]


class UnknownTo(BaseModel):
    """The point of view from which something is hidden."""

    entity_id: str
    name: str
    is_guess: bool = Field(
        default=False, exclude_if=not_, description="Only a guess has them away: nobody says who was in its scene."
    )


class ContinuityEvidence(BaseModel):
    """One thing that the story established before the draft."""

    source: EvidenceSource = "memory"
    source_id: str = Field(
        default="", description="Of a memory or note its source_id; of anything else what tells it: C3.status, …"
    )
    chapter_index: int | None = None
    scene_index: int | None = None
    said_from: Place | None = Field(
        default=None, exclude_if=not_, description="Of a thread: from where on it waits, where its author said that."
    )
    by_author: bool = Field(default=False, exclude_if=not_, description="No scene says it: it holds after that scene.")
    is_guess: bool = Field(default=False, exclude_if=not_, description="Rules inferred it, no record and no author.")
    unknown_to: UnknownTo | None = Field(
        default=None,
        exclude_if=not_,
        description="In `touched`: the point of view, where it does not know it, or the note that sets it.",
    )
    text: str
    quote: str = Field(default="", description="What of the scene's text, or of `text`, proves it, verbatim.")
    entity_ids: list[str] = Field(default_factory=list)
    score: float = Field(default=0.0, description="By which the evidence of one draft is ordered.")

    @classmethod
    def at(cls, place: Placed, source: EvidenceSource, source_id: str, text: str, **more: Any) -> ContinuityEvidence:
        """Return evidence that stands where something of the story does."""
        where = {"chapter_index": place.chapter_index, "scene_index": place.scene_index}
        return cls(source=source, source_id=source_id, **where, text=text, **more)


class ContinuityFinding(Shown, BaseModel):
    """A contradiction between a draft and the story before it."""

    finding_id: str = Field(default="", description="Lasts as long as the draft's words and the evidence stand.")
    kind: ContinuityKind
    severity: Severity = "medium"
    draft_quote: str = Field(description="Verbatim from the draft.")
    draft_span: tuple[int, int] = Field(description="Characters [start, end) of the quote in the draft.")
    message: str = Field(description="What contradicts what, in the story's language.")
    entity_ids: list[str] = Field(default_factory=list)
    evidence: list[ContinuityEvidence] = Field(default_factory=list, description="Best first; at least one.")
    confidence: float = Field(default=1.0, ge=0, le=1)
    fix: str = Field(default="", description="What the writer might do about it, in the story's language.")
    waived_note: str | None = Field(
        default=None, description="The author's note where it is meant to be so; None where it is not waived."
    )


def continuity_finding_id(kind: str, draft_quote: str, evidence: list[ContinuityEvidence]) -> str:
    """Return a finding's id, stable while the quoted words stay the same."""
    first = evidence[0] if evidence else ContinuityEvidence(text="")
    parts = (kind, " ".join(draft_quote.split()), first.source_id, first.text)
    digest = sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"K{digest[:12]}"


TouchedKind = Literal["person", "thing", "place", "group", "term", "promise", "question", "number"]


class TouchedMatter(BaseModel):
    """A subject of a draft, and the story's statements before the scene."""

    kind: TouchedKind
    name: str
    entity_id: str = ""
    draft_quote: str = Field(description="Verbatim from the draft.")
    draft_span: tuple[int, int] = Field(description="Characters [start, end) of the quote in the draft.")
    sayings: list[ContinuityEvidence] = Field(description="What the story says, most decisive first.")


class CheckedDraft(BaseModel):
    """The material of a check."""

    sentences: int = 0
    entities: list[str] = Field(default_factory=list, description="Ids of whom and what the draft names.")
    is_judged: bool = Field(default=False, description="Whether a model judged it; else nobody did.")
    candidates: int = Field(default=0, description="Findings of a model before quotes and the second look.")
    dropped: dict[str, int] = Field(
        default_factory=dict, description="Why findings of a model were dropped, and how many."
    )
    scenes_before: int = 0
    memories_before: int = 0
    facts_before: int = Field(
        default=0, description="What there was to compare with: memories, notes, stated states, threads, relationships."
    )
    model_calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0


class ContinuityReport(BaseModel):
    """The issues of a check, and the duration of its stages."""

    issues: list[ReportIssue] = Field(default_factory=list)
    timings_s: dict[str, float] = Field(default_factory=dict)


class AvoidedWord(BaseModel):
    """A word of the author's own list of those to avoid, and where the draft has it."""

    word: str
    spans: list[tuple[int, int]] = Field(description="Characters [start, end) of each place in the draft.")
    quotes: list[str] = Field(description="Words around the first of them.")


class DraftCheck(Shown, BaseModel):
    """The check of one draft against everything strictly before its scene."""

    project_id: str
    chapter_index: int
    scene_index: int
    language: str = ""
    point_of_view: str = Field(
        default="", exclude_if=not_, description="The name of whose knowledge is asked: `pov`, or the plan's."
    )
    plan_file: str = Field(
        default="",
        exclude_if=not_,
        description="The project's own file from which the plan was taken: its chapter's plan, or the last context.",
    )
    findings: list[ContinuityFinding] = Field(default_factory=list, description="Worst first.")
    waived: list[ContinuityFinding] = Field(default_factory=list, description="What the author means to be so.")
    touched: list[TouchedMatter] = Field(
        default_factory=list,
        description="Where nobody judged: what the draft touches and what the story says of it, most decisive first.",
    )
    evidence: list[ContinuityEvidence] = Field(default_factory=list, description="What was gathered, best first.")
    avoided: list[AvoidedWord] = Field(
        default_factory=list, description="Words of the project's `avoid.txt` that the draft has, most often first."
    )
    checked: CheckedDraft = Field(default_factory=CheckedDraft)
    report: ContinuityReport = Field(default_factory=ContinuityReport)

    @property
    def compared_with(self) -> Literal["facts", "text", "unjudged", "nothing_stored", "nothing_read"]:
        """The basis of the check.

        Without a judge, missing findings prove nothing.
        """
        if not self.checked.sentences:
            return "nothing_read"
        if self.checked.is_judged:
            return "facts" if self.checked.facts_before else "text"
        return "unjudged" if self.checked.facts_before or self.checked.scenes_before else "nothing_stored"
