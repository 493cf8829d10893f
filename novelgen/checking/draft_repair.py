"""Repairing a draft by what a check found: the passages that a writer changes, put in their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from novelgen.checking.claims import at_most
from novelgen.checking.verdicts import cited_lines
from novelgen.language.scrub import scrub_text
from novelgen.language.sentences import Span
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.answer_parts import ModelPart, Texts
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.prompt_data import as_data
from novelgen.models.continuity import ContinuityIssue

MAX_PASSAGES = 16

MAX_PASSAGE_CHARACTERS = 4000

SHORTEST_PASSAGE = (2, 1)
"""Least characters of an English and a Chinese passage: a number alone may be what is wrong."""

Passage = Annotated[str, AfterValidator(lambda value: value.strip()[:MAX_PASSAGE_CHARACTERS])]


class ModelPassage(ModelPart):
    """A passage of the draft that changes."""

    id: Annotated[Texts, at_most(MAX_PASSAGES)] = Field(
        default_factory=list, description="numbers of the findings: K1", max_length=MAX_PASSAGES
    )
    old: Passage = Field(description="words copied from the draft")
    new: Passage = Field(default="", description="what takes their place")


class ModelPassages(ModelPart):
    """What of the draft changes."""

    passages: Annotated[list[ModelPassage], at_most(MAX_PASSAGES)] = Field(max_length=MAX_PASSAGES)


def repair_lines(issues: Sequence[ContinuityIssue]) -> str:
    """Return findings under K1, K2 …, a line each, as a writer is shown them."""
    lines = []
    for number, issue in enumerate(issues, start=1):
        cited = [
            " ".join(part for part in (f"[{place}]" if place else "", text, f"“{quote}”" if quote else "") if part)
            for place, text, quote in cited_lines(issue.evidence)
        ]
        parts = (f"K{number}", issue.draft_quote, issue.message, "; ".join(cited), issue.fix)
        lines.append(as_data(" | ".join(part for part in parts if part)))
    return "\n".join(lines)


def repaired_text(answer: ModelPassages, text: str) -> str:
    """Return a draft with the passages of an answer in their places."""
    finder = QuoteFinder(text, min_characters=SHORTEST_PASSAGE)
    placed: list[tuple[Span, str]] = []
    for each in answer.passages:
        new = scrub_text(each.new)
        span = _exact(each.old, text) or finder.find(each.old)
        is_free = span is not None and all(span.end <= other.start or other.end <= span.start for other, _ in placed)
        if span is not None and is_free and text[span.start : span.end] != new:
            placed.append((span, new))
    if not placed:
        raise UnusableAnswerError("ungrounded", "none of its passages stands in the draft and changes it")
    repaired = text
    for span, new in sorted(placed, reverse=True):
        repaired = repaired[: span.start] + new + repaired[span.end :]
    if not repaired.strip():
        raise UnusableAnswerError("empty", "it leaves nothing of the draft")
    return repaired


def _exact(quote: str, text: str) -> Span | None:
    """Find a passage with its own quotation marks and stops, which are a part of what is replaced."""
    at = text.find(quote) if quote else -1
    return Span(at, at + len(quote)) if at >= 0 else None
