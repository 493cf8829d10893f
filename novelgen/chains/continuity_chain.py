"""Runnable that finds and proves contradictions between a draft and the story."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.checking import judging, prompt_lists
from novelgen.checking.findings import merge_findings
from novelgen.checking.story import Draft, StoryBefore, part_of
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError, ModelRefusedError, StoreError
from novelgen.language.language import StoryLanguage, TokenCounter, estimate_tokens
from novelgen.language.normalise import require_size
from novelgen.language.sentences import reading_windows
from novelgen.model_calls.json_model import Question, issue_kind_of
from novelgen.model_calls.usage import ModelUsage, total_usage
from novelgen.models.context import ReportIssue
from novelgen.models.continuity import CONTINUITY_KINDS, CheckedDraft, ContinuityEvidence, ContinuityFinding

logger = logging.getLogger(__name__)
EVIDENCE_STAGE = "evidence"
JUDGE_STAGE = "judge"
SECOND_LOOK_STAGE = "second_look"


PART_CHARACTERS: Mapping[StoryLanguage, int] = {"en": 12_000, "zh": 4_000}
"""A longer draft is read in parts of so many characters: each two prompts."""

MAX_PARTS = 8

JUDGE_SHARE = 0.7
"""Of the time that is left when it begins: the second look still has its turn after a call that hangs."""

Gather = Callable[[Draft], Sequence[ContinuityEvidence]]
"""Gathers evidence for a draft or a part of one, best first."""


@dataclass(frozen=True, slots=True)
class ContinuityRequest:
    """A draft, the story strictly before it, and how evidence is gathered."""

    draft: Draft
    story: StoryBefore
    gather: Gather
    evidence: Sequence[ContinuityEvidence] | None = None


ContinuityInput = ContinuityRequest | Mapping[str, Any]


class ModelCheck(BaseModel):
    """Findings of a model in a draft, and the issues on the way."""

    findings: list[ContinuityFinding] = Field(
        default_factory=list, description="Worst first: what the second look left standing."
    )
    evidence: list[ContinuityEvidence] = Field(
        default_factory=list, description="What the judge saw of earlier scenes, best first."
    )
    is_judged: bool = Field(default=False, description="Whether the model answered for a part of the draft.")
    candidates: int = 0
    dropped: dict[str, int] = Field(default_factory=dict)
    issues: list[ReportIssue] = Field(default_factory=list)
    timings_s: dict[str, float] = Field(default_factory=dict)
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")

    def told_in(self, checked: CheckedDraft) -> CheckedDraft:
        """Return the looked-at material, including the model's part."""
        return checked.model_copy(
            update={
                "is_judged": self.is_judged,
                "candidates": self.candidates,
                "dropped": self.dropped,
                "model_calls": self.model_calls,
                "prompt_tokens": self.usage.input_tokens,
                "answer_tokens": self.usage.output_tokens,
            }
        )


@dataclass(slots=True)
class _Run:
    """The state of one draft check.

    After a refusal no further call is made.
    """

    request: ContinuityRequest
    deadline: Deadline
    check: ModelCheck
    is_whole: bool
    exhibits: prompt_lists.Exhibits = field(default_factory=prompt_lists.Exhibits)
    is_refused: bool = False

    def failed(self, stage: str, error: ModelError | DeadlineExceededError | StoreError, told: str) -> None:
        """Say a failure aloud."""
        message = f"{told}: {error}"
        logger.warning("%s", message)
        kind = "unavailable" if isinstance(error, StoreError) else issue_kind_of(error)
        self.check.issues.append(ReportIssue(stage=stage, kind=kind, message=message))
        self.is_refused = self.is_refused or isinstance(error, ModelRefusedError)

    def keep(self, look: judging.SecondLook) -> None:
        """Keep only the findings that a second look confirmed."""
        if fallen := len(self.check.findings) - len(look.findings):
            self.check.dropped[SECOND_LOOK_STAGE] = fallen
        self.check.findings = list(look.findings)


Shape = TypeVar("Shape", bound=BaseModel)
Reading = TypeVar("Reading")


class ContinuityChain(StepwiseChain[ContinuityInput, ModelCheck]):
    """Runnable that finds contradictions between a draft and the story.

    At most two prompts with one repair each, for every part of a long draft. Nothing that the model or its server
    does is raised.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        timeout_s: float = 180.0,
        fact_tokens: int = prompt_lists.MAX_FACT_TOKENS,
        count_tokens: TokenCounter = estimate_tokens,
    ) -> None:
        self._judge = _question(model, judging.ModelFindings, "check_judge", JUDGE_STAGE, key="contradictions")
        self._looker = _question(model, judging.ModelVerdicts, "check_second_look", SECOND_LOOK_STAGE, key="verdicts")
        self._timeout_s = timeout_s
        self._fact_tokens = fact_tokens
        self._count_tokens = count_tokens
        self._steps_of_a_part: Runnable[_Run, _Run] = (
            RunnableLambda(self._gather).with_config(run_name="gather_evidence")
            | RunnableLambda(self._find).with_config(run_name="judge")
            | RunnableLambda(self._look_again).with_config(run_name="second_look")
        )
        super().__init__(RunnableLambda(self._in_parts).with_config(run_name="check_parts"))

    def _in_parts(self, value: ContinuityInput, config: RunnableConfig) -> ModelCheck:
        """Check a draft, part by part where it is long.

        A model that reads too much at once overlooks details.
        """
        request = value if isinstance(value, ContinuityRequest) else ContinuityRequest(**value)
        as_of = request.story.as_of
        require_size(request.draft.text, f"the draft of scene {as_of.scene_index} of chapter {as_of.chapter_index}")
        deadline = Deadline.after(self._timeout_s)
        windows = reading_windows(request.draft.text, window_characters=PART_CHARACTERS[request.story.language])
        checks = []
        for window in windows[:MAX_PARTS]:
            part = replace(request, draft=part_of(request.draft, window.start, window.end))
            run = self._steps_of_a_part.invoke(_Run(part, deadline, ModelCheck(), is_whole=len(windows) == 1), config)
            findings = [moved(finding, by=window.start) for finding in run.check.findings]
            checks.append(run.check.model_copy(update={"findings": findings}))
            if run.is_refused:
                break
        if len(windows) > MAX_PARTS:
            message = f"only the first {MAX_PARTS} of {len(windows)} parts of the draft were read; check it by scenes"
            issue = ReportIssue(stage=JUDGE_STAGE, kind="over_limit", message=message)
            checks.append(ModelCheck(issues=[issue]))
        return joined_checks(checks)

    def _gather(self, run: _Run) -> _Run:
        started_s = time.monotonic()
        request = run.request
        evidence: Sequence[ContinuityEvidence] = request.evidence or ()
        try:
            # What was gathered for a long draft says little of one part of it.
            if request.evidence is None or not run.is_whole:
                evidence = request.gather(request.draft)
        except StoreError as error:
            run.failed(EVIDENCE_STAGE, error, "evidence is missing")
        lines = prompt_lists.evidence_by_subject(
            evidence, request.draft, request.story, count_tokens=self._count_tokens
        )
        facts = prompt_lists.hard_facts(
            request.draft, request.story, max_tokens=self._fact_tokens, count_tokens=self._count_tokens
        )
        run.check.evidence = list(evidence)
        run.check.timings_s[EVIDENCE_STAGE] = time.monotonic() - started_s
        run.exhibits = prompt_lists.Exhibits(lines, facts)
        return run

    def _find(self, run: _Run) -> _Run:
        if run.is_refused or not (run.exhibits.facts or run.exhibits.evidence):
            return run
        request = run.request
        reader = judging.FindingReader(request.draft, request.story, run.exhibits.by_number())
        answer_parts = self._ask_question(
            run,
            self._judge,
            {
                "kinds": ", ".join(CONTINUITY_KINDS),
                "facts": run.exhibits.fact_lines(request.story),
                "evidence": run.exhibits.evidence_lines(request.draft, request.story),
                "draft": prompt_lists.draft_lines(request.draft),
            },
            stage=JUDGE_STAGE,
            share=JUDGE_SHARE,
            accept=lambda answer: (len(answer.contradictions), reader.read(answer)),
            text="no model judged the draft",
        )
        if answer_parts is not None:
            run.check.is_judged = True
            run.check.candidates, run.check.findings = answer_parts
            run.check.dropped = dict(reader.dropped)
        return run

    def _look_again(self, run: _Run) -> _Run:
        findings, request = run.check.findings, run.request
        if run.is_refused or not findings:
            return run
        look = self._ask_question(
            run,
            self._looker,
            {
                "draft": judging.draft_around(findings, request.draft),
                "findings": judging.finding_lines(findings, request.draft, request.story, further=run.check.evidence),
                "numbers": ", ".join(f"K{number}" for number in range(1, len(findings) + 1)),
            },
            stage=SECOND_LOOK_STAGE,
            share=1.0,
            accept=lambda answer: judging.read_verdicts(answer, findings),
            text="nobody looked at the findings again, only sure ones are kept",
        )
        if look is None:
            look = judging.without_second_look(findings)
        elif look.unjudged:
            message = f"{look.unjudged} findings were not looked at again, only sure ones of them are kept"
            run.check.issues.append(ReportIssue(stage=SECOND_LOOK_STAGE, kind="degraded", message=message))
        run.keep(look)
        return run

    def _ask_question(
        self,
        run: _Run,
        question: Question[Shape],
        values: Mapping[str, str],
        *,
        stage: str,
        share: float,
        accept: Callable[[Shape], Reading],
        text: str,
    ) -> Reading | None:
        """Ask for one answer with one repair, and report a failure."""
        story = run.request.story
        conversation = question.begin(share * run.deadline.remaining_s)
        reading: Reading | None = None
        try:
            values = {**values, "place": prompt_lists.place_text(run.request.draft, story)}
            reading = question.ask(conversation, story.language, values, accept=accept)
        except (ModelError, DeadlineExceededError) as error:
            run.failed(stage, error, text)
        check = run.check
        check.issues += conversation.issues(stage)
        check.model_calls += conversation.requests
        check.usage = check.usage.plus(conversation.usage)
        check.timings_s[stage] = conversation.work()["elapsed_s"]
        return reading


def _question(model: BaseChatModel, shape: type[Shape], prompt: str, stage: str, *, key: str) -> Question[Shape]:
    return Question(
        model, shape, prompt=prompt, repair="repair_check", stage=stage, keys=(key,), repair_values={"key": key}
    )


def moved(finding: ContinuityFinding, *, by: int) -> ContinuityFinding:
    """Return a finding with its span shifted from a part to the draft."""
    start, end = finding.draft_span
    return finding.model_copy(update={"draft_span": (start + by, end + by)})


def joined_checks(checks: Sequence[ModelCheck]) -> ModelCheck:
    """Return the checks of a draft's parts as one: findings worst first, evidence of each part in turn."""
    if len(checks) == 1:
        return checks[0]
    dropped: Counter[str] = Counter()
    timings_s: Counter[str] = Counter()
    for model_check in checks:
        dropped.update(model_check.dropped)
        timings_s.update(model_check.timings_s)
    return ModelCheck(
        findings=merge_findings(finding for model_check in checks for finding in model_check.findings),
        is_judged=any(model_check.is_judged for model_check in checks),
        evidence=list(
            {(one.source_id, one.text): one for model_check in checks for one in model_check.evidence}.values()
        ),
        candidates=sum(model_check.candidates for model_check in checks),
        dropped=dict(dropped),
        issues=[issue for model_check in checks for issue in model_check.issues],
        timings_s=dict(timings_s),
        model_calls=sum(model_check.model_calls for model_check in checks),
        usage=total_usage(model_check.usage for model_check in checks),
    )
