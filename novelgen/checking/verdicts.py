"""What a model holds to be contradictions, and which of that quotes of both sides prove."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from novelgen.checking.claims import KindWord, Number, at_most, find_in_draft
from novelgen.checking.conclusion import merge_issues
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.sentences import Span, split_sentences
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.answer_parts import ModelPart, Text
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue, Severity
from novelgen.models.position import StoryPosition

MAX_FINDINGS = 12

MAX_CITED = 4

DEFAULT_CONFIDENCE = 0.7
"""Of a finding of which the model does not say how sure it is."""

SHORTEST_EVIDENCE_QUOTE = (5, 2)
"""Least characters of an English and a Chinese quote of evidence; it stands in one short line that is named."""

SHORTEST_SCENE_QUOTE = (8, 4)
"""The same where it is looked for in a whole scene: shorter words stand in any."""


_SEVERITY_WORDS: dict[str, Severity] = {
    **dict.fromkeys(("high", "critical", "major", "severe", "serious", "高", "严重", "重大"), "high"),
    **dict.fromkeys(("medium", "moderate", "middle", "中", "中等", "一般"), "medium"),
    **dict.fromkeys(("low", "minor", "trivial", "trifle", "低", "轻微", "小"), "low"),
}

_NUMBER = re.compile(r"\W*([EFef])\s*(\d{1,4})")


def _severity(said: Any) -> Severity:
    return _SEVERITY_WORDS.get(str(said).strip().casefold(), "medium")


_CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.7, "low": 0.4, "高": 0.9, "中": 0.7, "低": 0.4}


def _confidence(said: Any) -> Any:
    if isinstance(said, str):
        word = said.strip().casefold()
        return _CONFIDENCE_WORDS.get(word, float(word.rstrip("%")) / 100 if word.endswith("%") else said)
    return said


def _within_one(value: float) -> float:
    """Read 90 as .9: models say percents where a share is asked for."""
    return max(0.0, min(1.0, value / 100 if value > 1 else value))


Confidence = Annotated[float, BeforeValidator(_confidence), AfterValidator(_within_one)]

SeverityWord = Annotated[Severity, BeforeValidator(_severity)]


class ModelCited(ModelPart):
    """A line of the lists, and the words of it that count."""

    id: Number = Field(description="number of the line: E3 or F1")
    quote: Text = Field(default="", description="words copied from that line")


class ModelFinding(ModelPart):
    """A contradiction between the draft and what was established."""

    quote: Text = Field(description="words copied from the draft")
    evidence: Annotated[list[ModelCited], at_most(MAX_CITED)] = Field(
        description="what decides first", max_length=MAX_CITED
    )
    kind: KindWord = "invented"
    why: Text = Field(default="", description="one sentence in the language of the story")
    severity: SeverityWord = "medium"
    confidence: Confidence = DEFAULT_CONFIDENCE
    fix: Text = Field(default="", description="what to change, in a few words")


class ModelFindings(ModelPart):
    """What of a draft contradicts the story."""

    contradictions: Annotated[list[ModelFinding], at_most(MAX_FINDINGS)] = Field(
        description="empty where there is none", max_length=MAX_FINDINGS
    )


class FindingReader:
    """Reads findings, and keeps those that a quote of the draft and one of the story prove."""

    def __init__(self, draft: Draft, story: StoryBefore, shown: Mapping[str, ContinuityEvidence]) -> None:
        self._draft = draft
        self._story = story
        self._shown = shown
        self._scenes = {scene.position: scene for scene in story.scenes}
        self.dropped: Counter[str] = Counter()

    def read(self, answer: ModelFindings) -> list[ContinuityIssue]:
        """Return the findings that hold, worst first; `dropped` counts the others by what they lack."""
        found = [issue for each in answer.contradictions if (issue := self._read(each)) is not None]
        merged = merge_issues(found)
        if len(merged) < len(found):
            self.dropped["duplicate"] += len(found) - len(merged)
        return merged

    def _read(self, finding: ModelFinding) -> ContinuityIssue | None:
        span = find_in_draft(finding.quote, self._draft)
        if span is None:
            self.dropped["draft_quote"] += 1
            return None
        evidence = [found for each in finding.evidence if (found := self._proved(each)) is not None]
        if not evidence:
            self.dropped["evidence_quote"] += 1
            return None
        quote = self._draft.text[span.start : span.end]
        evidence = list({(each.source_id, each.text): each for each in evidence}.values())
        return ContinuityIssue(
            kind=finding.kind,
            severity=finding.severity,
            draft_quote=quote,
            draft_span=(span.start, span.end),
            message=finding.why or quote,
            entity_ids=entities_at(span, self._draft) or evidence[0].entity_ids,
            evidence=evidence,
            by="model",
            confidence=finding.confidence,
            fix=finding.fix,
        )

    def _proved(self, cited: ModelCited) -> ContinuityEvidence | None:
        """Return the evidence that words prove: the line that is named, another that holds them, or their scene."""
        number = _NUMBER.match(cited.id)
        named = self._shown.get(f"{number.group(1).upper()}{number.group(2)}") if number else None
        if named is None:
            return self._proved_elsewhere(cited.quote)
        in_line = _with_quote(named, cited.quote)
        if in_line is not None:
            return in_line
        text = self._scene_text(named)
        span = _find_in_scene(text, cited.quote)
        if span is None:
            return self._proved_elsewhere(cited.quote)
        return named.model_copy(update={"quote": text[span.start : span.end]})

    def _proved_elsewhere(self, quote: str) -> ContinuityEvidence | None:
        """Return a line that holds words which stand under no such number, else the words as their scene has them."""
        for each in self._shown.values():
            if (found := _with_quote(each, quote)) is not None:
                return found
        for each in self._shown.values():
            text = self._scene_text(each)
            if (span := _find_in_scene(text, quote)) is not None:
                return _passage(each, text, span)
        return None

    def _scene_text(self, evidence: ContinuityEvidence) -> str:
        """Return the text of the scene that evidence comes from, which lies before the draft."""
        if evidence.chapter_index is None or evidence.scene_index is None:
            return ""
        scene = self._scenes.get(StoryPosition(evidence.chapter_index, evidence.scene_index))
        return scene.text if scene is not None else ""


def _with_quote(evidence: ContinuityEvidence, quote: str) -> ContinuityEvidence | None:
    for text in (evidence.text, evidence.quote):
        span = QuoteFinder(text, min_characters=SHORTEST_EVIDENCE_QUOTE).find(quote)
        if span is not None:
            return evidence.model_copy(update={"quote": text[span.start : span.end]})
    return None


def _find_in_scene(text: str, quote: str) -> Span | None:
    return QuoteFinder(text, min_characters=SHORTEST_SCENE_QUOTE).find(quote) if text else None


def _passage(shown: ContinuityEvidence, text: str, span: Span) -> ContinuityEvidence:
    """Return the sentences in which a quote stands as evidence of their own."""
    touched = [each for each in split_sentences(text) if each.start < span.end and span.start < each.end]
    start = min((each.start for each in touched), default=span.start)
    end = max((each.end for each in touched), default=span.end)
    return ContinuityEvidence(
        source="passage",
        source_id=f"{shown.chapter_index}:{shown.scene_index}:passage:{start}",
        chapter_index=shown.chapter_index,
        scene_index=shown.scene_index,
        text=" ".join(text[start:end].split()),
        quote=text[span.start : span.end],
    )


def entities_at(span: Span, draft: Draft) -> list[str]:
    """Return whom and what the sentences name in which a quote stands, in order."""
    touched = [each for each in draft.sentences if each.start < span.end and span.start < each.end]
    start = min((each.start for each in touched), default=span.start)
    end = max((each.end for each in touched), default=span.end)
    return list(dict.fromkeys(each.entity_id for each in draft.mentions if start <= each.start < end))


def cited_lines(evidence: Sequence[ContinuityEvidence]) -> list[tuple[str, str, str]]:
    """Return place, text and quote of each piece, as a prompt or a message shows them."""
    return [
        (
            "" if each.chapter_index is None else f"{each.chapter_index}:{each.scene_index}",
            " ".join(each.text.split()),
            "" if each.quote in each.text else " ".join(each.quote.split()),
        )
        for each in evidence
    ]
