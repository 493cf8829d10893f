"""A model's contradictions, their proof by quotes, and the second look."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from novelgen.checking.findings import SUBJECT, merge_findings
from novelgen.checking.prompt_lists import KeptFrom, told
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import estimate_tokens, significant_words, synonyms
from novelgen.language.matching import QuoteFinder
from novelgen.language.sentences import Span, split_sentences
from novelgen.model_calls.answers import AtMost, ModelPart, Text, UnusableAnswerError
from novelgen.model_calls.prompt_data import as_data
from novelgen.models.continuity import CONTINUITY_KINDS, ContinuityEvidence, ContinuityFinding, ContinuityKind, Severity
from novelgen.models.position import StoryPosition
from novelgen.words import words

MAX_FINDINGS = 12
MAX_CITED = 4

DEFAULT_CONFIDENCE = 0.7
"""Of a finding of which the model does not say how sure it is."""

SHORTEST_DRAFT_QUOTE = (4, 2)
"""Least characters of an English and a Chinese quote of a draft: it must tell where, not prove anything."""

SHORTEST_EVIDENCE_QUOTE = (5, 2)
"""Least characters of an English and a Chinese quote of evidence; it stands in one short line that is named."""

SHORTEST_SCENE_QUOTE = (8, 4)
"""The same where it is looked for in a whole scene: shorter words stand in any."""

MAX_FURTHER = 4
"""Pieces of further evidence that are shown with a finding."""

FURTHER_TOKENS = 250
MAX_LOOK_TOKENS = 3000

MAX_DRAFT_TOKENS = 1500
"""Up to here the whole draft is shown again."""

SENTENCES_AROUND = 2
"""So many sentences are shown before and after a quote of a scene, or of a draft that is longer."""

MAX_SCENE_CHARACTERS = 500

SURE = 0.8
"""A finding of this confidence stands where nobody took a second look at it."""

_KIND_WORDS: Mapping[str, Any] = synonyms("continuity_kinds")


def read_kind(value: Any) -> ContinuityKind:
    """Return the finding kind for a model's word, invented_past by default."""
    word = "_".join(str(value).casefold().replace("-", " ").replace("_", " ").split())
    kinds_by_name = {continuity_kind: continuity_kind for continuity_kind in CONTINUITY_KINDS}
    if word in kinds_by_name:
        return kinds_by_name[word]
    parts = [word, *word.split("_")]
    return next((_KIND_WORDS[part] for part in parts if part in _KIND_WORDS), "invented")


KindWord = Annotated[ContinuityKind, BeforeValidator(read_kind)]


Number = Annotated[Text, BeforeValidator(str)]
"""Of a line that was shown: E3, K1, or a bare 1."""


_SEVERITY_WORDS: Mapping[str, Any] = synonyms("severities")
_NUMBER = re.compile(r"\W*([EFef])\s*(\d{1,4})")


def _severity(statement: Any) -> Severity:
    return _SEVERITY_WORDS.get(str(statement).strip().casefold(), "medium")


_CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.7, "low": 0.4, "高": 0.9, "中": 0.7, "低": 0.4}


def _confidence(statement: Any) -> Any:
    if isinstance(statement, str):
        word = statement.strip().casefold()
        return _CONFIDENCE_WORDS.get(word, float(word.rstrip("%")) / 100 if word.endswith("%") else statement)
    return statement


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
    evidence: Annotated[list[ModelCited], AtMost(MAX_CITED)] = Field(description="what decides first")
    kind: KindWord = "invented"
    why: Text = Field(default="", description="one sentence in the language of the story")
    severity: SeverityWord = "medium"
    confidence: Confidence = DEFAULT_CONFIDENCE
    fix: Text = Field(default="", description="what to change, in a few words")


class ModelFindings(ModelPart):
    """What of a draft contradicts the story."""

    contradictions: Annotated[list[ModelFinding], AtMost(MAX_FINDINGS)] = Field(description="empty where there is none")


class FindingReader:
    """Reads findings, and keeps those that a quote of the draft and one of the story prove."""

    def __init__(self, draft: Draft, story: StoryBefore, evidence: Mapping[str, Sequence[ContinuityEvidence]]) -> None:
        self._draft = draft
        self._shown = evidence
        self._scenes = {scene.position: scene for scene in story.scenes}
        self.dropped: Counter[str] = Counter()

    def read(self, answer: ModelFindings) -> list[ContinuityFinding]:
        """Return the proven findings, worst first.

        `dropped` counts the others by the missing proof.
        """
        findings = [
            finding for model_finding in answer.contradictions if (finding := self._read(model_finding)) is not None
        ]
        merged_findings = merge_findings(findings)
        if len(merged_findings) < len(findings):
            self.dropped["duplicate"] += len(findings) - len(merged_findings)
        return merged_findings

    def _read(self, finding: ModelFinding) -> ContinuityFinding | None:
        span = find_in_draft(finding.quote, self._draft)
        if span is None:
            self.dropped["draft_quote"] += 1
            return None
        evidence = [
            evidence_item
            for model_cited in finding.evidence
            if (evidence_item := self._proved(model_cited)) is not None
        ]
        if not evidence:
            self.dropped["evidence_quote"] += 1
            return None
        quote = self._draft.text[span.start : span.end]
        evidence = list(
            {(evidence_item.source_id, evidence_item.text): evidence_item for evidence_item in evidence}.values()
        )
        return ContinuityFinding(
            kind=finding.kind,
            severity=finding.severity,
            draft_quote=quote,
            draft_span=(span.start, span.end),
            message=finding.why or quote,
            entity_ids=entities_at(span, self._draft) or evidence[0].entity_ids,
            evidence=evidence,
            confidence=finding.confidence,
            fix=finding.fix,
        )

    def _proved(self, cited: ModelCited) -> ContinuityEvidence | None:
        """Return the proven quote from the named line, its scene or another one."""
        number = _NUMBER.match(cited.id)
        evidence_items = self._shown.get(f"{number.group(1).upper()}{number.group(2)}", ()) if number else ()
        every = [evidence_item for pieces in self._shown.values() for evidence_item in pieces]
        for pieces, is_meant in ((evidence_items, True), (every, False)):
            for evidence_item in pieces:
                if (matching_evidence_item := _with_quote(evidence_item, cited.quote)) is not None:
                    return matching_evidence_item
            for evidence_item in pieces:
                text = self._scene_text(evidence_item)
                span = QuoteFinder(text, min_characters=SHORTEST_SCENE_QUOTE).find(cited.quote) if text else None
                if span is not None:
                    quote = text[span.start : span.end]
                    return (
                        evidence_item.model_copy(update={"quote": quote})
                        if is_meant
                        else _passage(evidence_item, text, span)
                    )
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


def _passage(evidence_item: ContinuityEvidence, text: str, span: Span) -> ContinuityEvidence:
    """Return the sentences in which a quote stands as evidence of their own."""
    start, end = _whole(span, split_sentences(text))
    source_id = f"{evidence_item.chapter_index}:{evidence_item.scene_index}:passage:{start}"
    told_text = " ".join(text[start:end].split())
    return ContinuityEvidence.at(evidence_item, "passage", source_id, told_text, quote=text[span.start : span.end])


def _whole(span: Span, sentences: Iterable[Span]) -> Span:
    """Return a span with the whole of the sentences that it touches."""
    touched_spans = [
        other_span for other_span in sentences if other_span.start < span.end and span.start < other_span.end
    ]
    start = min((span.start for span in touched_spans), default=span.start)
    return Span(start, max((span.end for span in touched_spans), default=span.end))


def entities_at(span: Span, draft: Draft) -> list[str]:
    """Return the entities in the sentences of a quote, in order."""
    start, end = _whole(span, draft.sentences)
    return list(dict.fromkeys(mention.entity_id for mention in draft.mentions if start <= mention.start < end))


def find_in_draft(quote: str, draft: Draft) -> Span | None:
    """Return the span of a quote in a draft, ignoring spelling variants."""
    return QuoteFinder(draft.text, min_characters=SHORTEST_DRAFT_QUOTE).find(quote)


# --- The second look ---

_YES = frozenset({"true", "yes", "keep", "stands", "1", "是", "成立", "保留"})
_NO = frozenset({"false", "no", "drop", "dropped", "0", "否", "不成立", "删", "删去"})
_FINDING_NUMBER = re.compile(r"\W*K?\s*(\d{1,4})", re.IGNORECASE)


def _stands(statement: Any) -> Any:
    if isinstance(statement, str):
        word = statement.strip().casefold()
        return True if word in _YES else False if word in _NO else statement
    return statement


class ModelVerdict(ModelPart):
    """Whether one finding stands."""

    id: Number = Field(description="number of the finding: K1")
    stands: Annotated[bool, BeforeValidator(_stands)]
    reason: Text = Field(default="", description="in a few words")
    confidence: Confidence | None = Field(default=None, description="that the author has to change something")


class ModelVerdicts(ModelPart):
    """Which findings stand."""

    verdicts: Annotated[list[ModelVerdict], AtMost(MAX_FINDINGS)]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The result of a second look: confirmed findings and unchecked ones."""

    findings: Sequence[ContinuityFinding]
    unjudged: int = 0


def draft_around(findings: Sequence[ContinuityFinding], draft: Draft) -> str:
    """Return the draft on one line, or only the surroundings of findings."""
    if estimate_tokens(draft.text) <= MAX_DRAFT_TOKENS:
        return as_data(draft.text)
    around = (_around(draft.text, Span(*finding.draft_span)) for finding in findings)
    return "\n".join(as_data(key) for key in dict.fromkeys(around))


def finding_lines(
    findings: Sequence[ContinuityFinding], draft: Draft, story: StoryBefore, *, further: Sequence[ContinuityEvidence]
) -> str:
    """Return numbered findings with their surroundings and related evidence."""
    word = words(SUBJECT, story.language).table("look")
    hidden_marks = KeptFrom(draft, story)
    blocks: list[list[str]] = []
    for number, finding in enumerate(findings, start=1):
        block = [
            f"K{number} | {word['quote']} | {as_data(finding.draft_quote)}",
            f"K{number} | {word['says']} | {as_data(finding.message)}",
        ]
        for evidence_item in finding.evidence:
            surroundings = _surroundings(evidence_item, story)
            # Of a passage the sentences around the quote are enough; a memory says it in words of its own.
            is_passage = bool(surroundings) and evidence_item.source == "passage"
            shown_evidence_item = (
                evidence_item.model_copy(update={"text": surroundings}) if is_passage else evidence_item
            )
            block.append(
                f"K{number} | {word['evidence']} | {told(shown_evidence_item) + hidden_marks.of(evidence_item)}"
            )
            if surroundings and not is_passage:
                block.append(f"K{number} | {word['evidence']} | {as_data(surroundings)}")
        blocks.append(block)
    used_tokens = sum(estimate_tokens(line) for block in blocks for line in block)
    for number, (finding, block) in enumerate(zip(findings, blocks, strict=True), start=1):
        known_texts = {evidence_item.text for evidence_item in finding.evidence}
        room = FURTHER_TOKENS
        evidence_items = [one for one in further if one.text not in known_texts]
        for evidence_item in _nearest(finding, evidence_items)[:MAX_FURTHER]:
            line = f"K{number} | {word['more']} | {told(evidence_item) + hidden_marks.of(evidence_item)}"
            cost = estimate_tokens(line)
            if cost <= room and used_tokens + cost <= MAX_LOOK_TOKENS:
                block.append(line)
                room -= cost
                used_tokens += cost
    return "\n".join(line for block in blocks for line in block)


def read_verdicts(answer: ModelVerdicts, findings: Sequence[ContinuityFinding]) -> SecondLook:
    """Return the confirmed findings.

    Without a verdict only certain ones stand.
    """
    verdicts: dict[int, ModelVerdict] = {}
    for model_verdict in answer.verdicts:
        number = _FINDING_NUMBER.match(model_verdict.id)
        if number and 1 <= int(number.group(1)) <= len(findings):
            verdicts.setdefault(int(number.group(1)) - 1, model_verdict)
    if findings and not verdicts:
        raise UnusableAnswerError("ungrounded", f"it judges none of K1 to K{len(findings)}")
    kept_findings = []
    for at, finding in enumerate(findings):
        verdict = verdicts.get(at)
        if verdict is None:
            kept_findings += [finding] if _stands_alone(finding) else []
        elif verdict.stands:
            kept_findings.append(
                finding if verdict.confidence is None else finding.model_copy(update={"confidence": verdict.confidence})
            )
    return SecondLook(kept_findings, unjudged=len(findings) - len(verdicts))


def without_second_look(findings: Sequence[ContinuityFinding]) -> SecondLook:
    """Return the certain findings when the second look failed."""
    return SecondLook([finding for finding in findings if _stands_alone(finding)], unjudged=len(findings))


def _stands_alone(finding: ContinuityFinding) -> bool:
    return finding.confidence >= SURE


def _nearest(finding: ContinuityFinding, evidence_items: Sequence[ContinuityEvidence]) -> list[ContinuityEvidence]:
    """Return the gathered evidence about a finding, most shared words first."""
    about = significant_words(" ".join((finding.message, finding.draft_quote, finding.evidence[0].text)))
    shares = []
    for rank, evidence_item in enumerate(evidence_items):
        words = significant_words(evidence_item.text)
        if shared := len(words & about):
            shares.append((-shared / math.sqrt(len(words)), rank, evidence_item))
    return [evidence_item for _, _, evidence_item in sorted(shares, key=lambda one: one[:2])]


def _surroundings(evidence: ContinuityEvidence, story: StoryBefore) -> str:
    """Return the scene's sentences around the proof of a piece of evidence."""
    if evidence.chapter_index is None or evidence.scene_index is None:
        return ""
    position = StoryPosition(evidence.chapter_index, evidence.scene_index)
    scene = story.knowledge.story.scene_at.get(position)
    memory = next((memory for memory in story.knowledge.story.memories if memory.source_id == evidence.source_id), None)
    if scene is None or not scene.text:
        return ""
    finder = QuoteFinder(scene.text)
    span = finder.find(evidence.quote) or (finder.find(memory.quote) if memory is not None else None)
    return _around(scene.text, span) if span is not None else ""


def _around(text: str, span: Span) -> str:
    """Return a quote with the sentences around it, not too much of them."""
    sentences = split_sentences(text)
    touched_numbers = [
        at for at, other_span in enumerate(sentences) if other_span.start < span.end and span.start < other_span.end
    ]
    if not touched_numbers:
        return text[span.start : span.end]
    first = sentences[max(0, touched_numbers[0] - SENTENCES_AROUND)]
    last = sentences[min(len(sentences) - 1, touched_numbers[-1] + SENTENCES_AROUND)]
    start = max(first.start, span.start - MAX_SCENE_CHARACTERS)
    end = min(last.end, span.end + MAX_SCENE_CHARACTERS)
    return " ".join(text[start:end].split())
