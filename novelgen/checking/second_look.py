"""The second look at findings: each with more of the text on both sides, and whether it stands."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from novelgen.checking.claims import Number, at_most
from novelgen.checking.prompt_lists import NotKnown, language_of
from novelgen.checking.story import Draft, StoryBefore
from novelgen.checking.verdicts import MAX_FINDINGS, Confidence, cited_lines
from novelgen.language.language import StoryLanguage, estimate_tokens, significant_words
from novelgen.language.sentences import Span, split_sentences
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.answer_parts import ModelPart, Text
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.prompt_data import as_data
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.position import StoryPosition

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

_WORDS: Mapping[StoryLanguage, Mapping[str, str]] = {
    "en": {"draft": "draft", "quote": "the words", "says": "said to be wrong", "evidence": "evidence", "more": "also"},
    "zh": {"quote": "所指字句", "says": "说它错在", "evidence": "证据", "more": "另有"},
}

_YES = frozenset({"true", "yes", "keep", "stands", "1", "是", "成立", "保留"})

_NO = frozenset({"false", "no", "drop", "dropped", "0", "否", "不成立", "删", "删去"})

_NUMBER = re.compile(r"\W*K?\s*(\d{1,4})", re.IGNORECASE)


def _stands(said: Any) -> Any:
    if isinstance(said, str):
        word = said.strip().casefold()
        return True if word in _YES else False if word in _NO else said
    return said


class ModelVerdict(ModelPart):
    """Whether one finding stands."""

    id: Number = Field(description="number of the finding: K1")
    stands: Annotated[bool, BeforeValidator(_stands)]
    reason: Text = Field(default="", description="in a few words")
    confidence: Confidence | None = Field(default=None, description="that the author has to change something")


class ModelVerdicts(ModelPart):
    """Which findings stand."""

    verdicts: Annotated[list[ModelVerdict], at_most(MAX_FINDINGS)] = Field(max_length=MAX_FINDINGS)


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What became of findings: those that stand, how many fell, and how many nobody looked at again."""

    issues: Sequence[ContinuityIssue]
    fallen: int = 0
    unjudged: int = 0


def draft_around(issues: Sequence[ContinuityIssue], draft: Draft) -> str:
    """Return the draft on one line; of a long one what stands around the findings."""
    if estimate_tokens(draft.text) <= MAX_DRAFT_TOKENS:
        return as_data(draft.text)
    around = (_around(draft.text, Span(*each.draft_span)) for each in issues)
    return "\n".join(as_data(each) for each in dict.fromkeys(around))


def finding_lines(
    issues: Sequence[ContinuityIssue],
    draft: Draft,
    story: StoryBefore,
    *,
    further: Callable[[Sequence[str]], Sequence[ContinuityEvidence]],
    max_tokens: int = MAX_LOOK_TOKENS,
) -> str:
    """Return the findings under K1, K2 …, each with its surroundings and what else the story says of the matter."""
    language = language_of(story)
    words = _WORDS[language]
    unknown = NotKnown(draft, story)
    blocks: list[list[str]] = []
    for number, issue in enumerate(issues, start=1):
        block = [
            f"K{number} | {words['quote']} | {as_data(issue.draft_quote)}",
            f"K{number} | {words['says']} | {as_data(issue.message)}",
        ]
        for each in issue.evidence:
            surroundings = _surroundings(each, story)
            # Of a passage the sentences around the quote are enough; a memory says it in words of its own.
            told = each.model_copy(update={"text": surroundings}) if surroundings and each.source == "passage" else each
            block.append(f"K{number} | {words['evidence']} | {_told(told, unknown)}")
            if surroundings and told is each:
                block.append(f"K{number} | {words['evidence']} | {as_data(surroundings)}")
        blocks.append(block)
    spent = sum(estimate_tokens(line) for block in blocks for line in block)
    for number, (issue, block) in enumerate(zip(issues, blocks, strict=True), start=1):
        known = {each.text for each in issue.evidence}
        room = FURTHER_TOKENS
        found = [one for one in further([issue.message]) if one.text not in known]
        for each in _nearest(issue, found)[:MAX_FURTHER]:
            line = f"K{number} | {words['more']} | {_told(each, unknown)}"
            cost = estimate_tokens(line)
            if cost <= room and spent + cost <= max_tokens:
                block.append(line)
                room -= cost
                spent += cost
    return "\n".join(line for block in blocks for line in block)


def read_verdicts(answer: ModelVerdicts, issues: Sequence[ContinuityIssue]) -> SecondLook:
    """Return which findings stand; one without a verdict stands where a rule found it, or it was sure."""
    verdicts: dict[int, ModelVerdict] = {}
    for each in answer.verdicts:
        number = _NUMBER.match(each.id)
        if number and 1 <= int(number.group(1)) <= len(issues):
            verdicts.setdefault(int(number.group(1)) - 1, each)
    if issues and not verdicts:
        raise UnusableAnswerError("ungrounded", f"it judges none of K1 to K{len(issues)}")
    kept = []
    for at, issue in enumerate(issues):
        verdict = verdicts.get(at)
        if verdict is None:
            kept += [issue] if _stands_alone(issue) else []
        elif verdict.stands:
            kept.append(_as_sure_as(issue, verdict))
    unjudged = len(issues) - len(verdicts)
    fallen = sum(not each.stands for each in verdicts.values())
    return SecondLook(kept, fallen=fallen, unjudged=unjudged)


def without_second_look(issues: Sequence[ContinuityIssue]) -> SecondLook:
    """Return what stands where the second look failed: what rules found, and what was sure."""
    return SecondLook([each for each in issues if _stands_alone(each)], unjudged=len(issues))


def _stands_alone(issue: ContinuityIssue) -> bool:
    return issue.by == "rule" or issue.confidence >= SURE


def _as_sure_as(issue: ContinuityIssue, verdict: ModelVerdict) -> ContinuityIssue:
    if verdict.confidence is None:
        return issue
    return issue.model_copy(update={"confidence": verdict.confidence})


def _nearest(issue: ContinuityIssue, found: Sequence[ContinuityEvidence]) -> list[ContinuityEvidence]:
    """Return what was gathered with what shares most words with a finding first, and nothing that shares none.

    Gathering serves the whole draft; of one finding only what speaks of its matter helps.
    """
    about = significant_words(" ".join((issue.message, issue.draft_quote, issue.evidence[0].text)))
    shares = []
    for rank, each in enumerate(found):
        words = significant_words(each.text)
        if shared := len(words & about):
            shares.append((-shared / math.sqrt(len(words)), rank, each))
    return [each for _, _, each in sorted(shares, key=lambda one: one[:2])]


def _told(evidence: ContinuityEvidence, unknown: NotKnown) -> str:
    place, text, quote = cited_lines([evidence])[0]
    told = (place, as_data(text), f"“{as_data(quote)}”" if quote else "", unknown.of(evidence))
    return " | ".join(part for part in told if part)


def _surroundings(evidence: ContinuityEvidence, story: StoryBefore) -> str:
    """Return the sentences of the scene around what proves a piece of evidence."""
    if evidence.chapter_index is None or evidence.scene_index is None:
        return ""
    position = StoryPosition(evidence.chapter_index, evidence.scene_index)
    scene = story.knowledge.story.scene_at.get(position)
    memory = next((each for each in story.knowledge.story.memories if each.source_id == evidence.source_id), None)
    if scene is None or not scene.text:
        return ""
    finder = QuoteFinder(scene.text)
    span = finder.find(evidence.quote) or (finder.find(memory.quote) if memory is not None else None)
    return _around(scene.text, span) if span is not None else ""


def _around(text: str, span: Span) -> str:
    """Return a quote with the sentences around it, not too much of them."""
    sentences = split_sentences(text)
    touched = [at for at, each in enumerate(sentences) if each.start < span.end and span.start < each.end]
    if not touched:
        return text[span.start : span.end]
    first = sentences[max(0, touched[0] - SENTENCES_AROUND)]
    last = sentences[min(len(sentences) - 1, touched[-1] + SENTENCES_AROUND)]
    start = max(first.start, span.start - MAX_SCENE_CHARACTERS)
    end = min(last.end, span.end + MAX_SCENE_CHARACTERS)
    return " ".join(text[start:end].split())
