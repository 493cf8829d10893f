"""Check a draft, and let the writer's model repair it on request."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.checking.prompt_lists import told
from novelgen.errors import UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.language.matching import QuoteFinder
from novelgen.language.normalise import scrub_text
from novelgen.language.sentences import Span
from novelgen.model_calls.answers import AtMost, ModelPart, Texts, UnusableAnswerError, as_list
from novelgen.model_calls.json_model import Question
from novelgen.model_calls.prompt_data import as_data, as_data_lines, place_in_words
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import ReportIssue
from novelgen.models.continuity import ContinuityFinding, DraftCheck, Severity
from novelgen.models.plan import GeneratedScene, ScenePlan
from novelgen.models.position import ChapterIndex, SceneIndex

REPAIR_STAGE = "repair"
MAX_PASSAGES = 16
MAX_PASSAGE_CHARACTERS = 4000

SHORTEST_PASSAGE = (2, 1)
"""Least characters of an English and a Chinese passage: a number alone may be what is wrong."""

Passage = Annotated[str, AfterValidator(lambda value: value.strip()[:MAX_PASSAGE_CHARACTERS])]


class ModelPassage(ModelPart):
    """A passage of the draft that changes."""

    id: Annotated[Texts, as_list, AtMost(MAX_PASSAGES)] = Field(
        default_factory=list, description="numbers of the findings: K1"
    )
    old: Passage = Field(description="words copied from the draft")
    new: Passage = Field(default="", description="what takes their place")


class ModelPassages(ModelPart):
    """What of the draft changes."""

    passages: Annotated[list[ModelPassage], AtMost(MAX_PASSAGES)]


def repair_lines(findings: Sequence[ContinuityFinding]) -> str:
    """Return findings under K1, K2 …, a line each, as a writer is shown them."""
    lines = []
    for number, finding in enumerate(findings, start=1):
        parts = (
            f"K{number}",
            finding.draft_quote,
            finding.message,
            "; ".join(map(told, finding.evidence)),
            finding.fix,
        )
        lines.append(as_data(" | ".join(part for part in parts if part)))
    return "\n".join(lines)


def repaired_text(answer: ModelPassages, text: str) -> str:
    """Return a draft with the passages of an answer in their places."""
    finder = QuoteFinder(text, min_characters=SHORTEST_PASSAGE)
    placed_spans: list[tuple[Span, str]] = []
    for model_passage in answer.passages:
        new = scrub_text(model_passage.new)
        span = _exact(model_passage.old, text) or finder.find(model_passage.old)
        is_free = span is not None and all(
            span.end <= other.start or other.end <= span.start for other, _ in placed_spans
        )
        if span is not None and is_free and text[span.start : span.end] != new:
            placed_spans.append((span, new))
    if not placed_spans:
        raise UnusableAnswerError("ungrounded", "none of its passages stands in the draft and changes it")
    repaired = text
    for span, new in sorted(placed_spans, reverse=True):
        repaired = repaired[: span.start] + new + repaired[span.end :]
    if not repaired.strip():
        raise UnusableAnswerError("empty", "it leaves nothing of the draft")
    return repaired


def _exact(quote: str, text: str) -> Span | None:
    """Find a passage including its own quotation marks and stops."""
    at = text.find(quote) if quote else -1
    return Span(at, at + len(quote)) if at >= 0 else None


_WEIGHTS: Mapping[Severity, int] = {"high": 3, "medium": 2, "low": 1}


class WrittenDraft(BaseModel):
    """A draft and its scene.

    Other keys of a mapping belong to the surrounding chain.

    `draft` may be a text, a LangChain message, a GeneratedScene, or a mapping with `content`.
    """

    model_config = ConfigDict(extra="ignore")

    chapter_index: ChapterIndex
    scene_index: SceneIndex
    draft: str = Field(min_length=1)
    scene_plan: ScenePlan | None = None
    pov: str = ""

    @field_validator("draft", mode="before")
    @classmethod
    def _text_of(cls, value: Any) -> Any:
        if isinstance(value, BaseMessage):
            return str(value.text)
        if isinstance(value, GeneratedScene):
            return value.content
        return value["content"] if isinstance(value, Mapping) and "content" in value else value


class CheckedWriting(BaseModel):
    """A draft and its check."""

    draft: str = Field(description="As it stands now: repaired, where that made it better.")
    check: DraftCheck = Field(description="Of that draft.")
    written: str = Field(description="As the writer wrote it.")
    first_check: DraftCheck | None = Field(
        default=None, description="Of the draft as it was written, where a repair was tried."
    )
    is_repaired: bool = False
    issues: list[ReportIssue] = Field(default_factory=list, description="Why a repair failed or was not kept.")
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="Of the repair; a check tells its own.")


WritingInput = WrittenDraft | Mapping[str, Any]
Check = Callable[[WrittenDraft], DraftCheck]


class CheckedWritingChain(StepwiseChain[WritingInput, CheckedWriting]):
    """Runnable that checks a draft and may have it repaired once.

    Nothing that the model or its server does is raised; what the check raises is.
    """

    def __init__(self, check: Check, *, writer: BaseChatModel | None = None, timeout_s: float = 120.0) -> None:
        self._check = check
        self._question = (
            None
            if writer is None
            else Question(
                writer,
                ModelPassages,
                prompt="repair_draft",
                repair="repair_check",
                stage=REPAIR_STAGE,
                keys=("passages",),
                repair_values={"key": "passages"},
            )
        )
        self._timeout_s = timeout_s
        super().__init__(
            RunnableLambda(self._checked).with_config(run_name="check_draft")
            | RunnableLambda(self._repaired).with_config(run_name="repair_draft")
        )

    def _checked(self, value: WritingInput) -> tuple[WrittenDraft, CheckedWriting]:
        written_draft = WrittenDraft.model_validate(value)
        return written_draft, CheckedWriting(
            draft=written_draft.draft, written=written_draft.draft, check=self._check(written_draft)
        )

    def _repaired(self, before: tuple[WrittenDraft, CheckedWriting]) -> CheckedWriting:
        written_draft, checked = before
        if self._question is None or not checked.check.findings:
            return checked
        language = _language_of(written_draft, checked.check)
        text, work = self._question.answer(
            language,
            {
                "place": _place_text(written_draft, language),
                "findings": repair_lines(checked.check.findings),
                "draft": as_data_lines(written_draft.draft).strip(),
            },
            accept=lambda answer: repaired_text(answer, written_draft.draft),
            timeout_s=self._timeout_s,
            failure="the draft was not repaired",
        )
        del work["elapsed_s"]
        if text is None:
            return checked.model_copy(update=work)
        again = self._check(written_draft.model_copy(update={"draft": text}))
        work["first_check"] = checked.check
        reason = _why_not_kept(checked.check, again)
        if reason:
            issue = ReportIssue(stage=REPAIR_STAGE, kind="degraded", message=f"the repair was not kept: {reason}")
            return checked.model_copy(update={**work, "issues": [*work["issues"], issue]})
        return checked.model_copy(update={**work, "draft": text, "check": again, "is_repaired": True})


def check_after_writing(
    check: Check, *, writer: BaseChatModel | None = None, repair: bool = False, timeout_s: float = 120.0
) -> CheckedWritingChain:
    """Return the chain step that checks a draft after the writer.

    The step takes a mapping with `chapter_index`, `scene_index` and `draft` (`scene_plan` and `pov` where given), as
    `RunnablePassthrough.assign(draft=writer)` makes it.
    """
    if repair and writer is None:
        raise UserInputError("repair=True needs the chat model that repairs; pass writer=…")
    return CheckedWritingChain(check, writer=writer if repair else None, timeout_s=timeout_s)


def _why_not_kept(before: DraftCheck, after: DraftCheck) -> str:
    """Return the reason for rejecting a repaired draft, or an empty text."""
    failed = {issue.stage for issue in after.report.issues} - {issue.stage for issue in before.report.issues}
    if failed:
        # Fewer findings of half a check say nothing.
        return f"its check failed in {', '.join(sorted(failed))}"
    if _weight(after.findings) >= _weight(before.findings):
        return f"{len(after.findings)} findings after it, {len(before.findings)} before"
    return ""


def _weight(findings: Sequence[ContinuityFinding]) -> int:
    return sum(_WEIGHTS[finding.severity] for finding in findings)


def _language_of(written_draft: WrittenDraft, check: DraftCheck) -> StoryLanguage:
    return stated_language(check.language or "") or story_language(written_draft.draft)


def _place_text(written_draft: WrittenDraft, language: StoryLanguage) -> str:
    place = place_in_words(written_draft.chapter_index, written_draft.scene_index, language)
    if written_draft.scene_plan is None:
        return place
    plan = written_draft.scene_plan
    text = " | ".join(as_data(part) for part in (plan.location, plan.purpose, *plan.key_actions) if part.strip())
    return f"{place}\n{text}" if text else place
