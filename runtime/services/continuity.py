"""Whether drafts and stored scenes hold: their contradictions of what lies strictly before them, and waivers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import issue_of
from novelgen.continuity.conclusion import conclude, evidence_before
from novelgen.continuity.evidence import gather_evidence
from novelgen.continuity.rules import find_by_rules
from novelgen.continuity.story import Draft, StoryBefore, read_draft
from novelgen.deadlines import CallOutcome, Deadline, run_concurrently
from novelgen.errors import (
    InvalidFileError,
    UnknownProjectError,
    UnknownSceneError,
    UserInputError,
)
from novelgen.models.context import ReportIssue
from novelgen.models.continuity import CheckedDraft, ContinuityReport, DraftCheck
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.text.scrub import require_size, scrub_text
from novelgen.text.sentences import split_sentences
from runtime.files.scene_plans import own_scene_plan
from runtime.providers.token_counters import build_token_counter
from runtime.retrieval.continuity import SentenceHits, find_by_sentences, story_before
from runtime.services.indexing import await_index
from runtime.services.projects import require_project_files
from runtime.stores import MemoryStores

_FINDING_ID = re.compile(r"K[0-9a-f]{12}")

Progress = Callable[[int, int], Any]
"""Called with how many are checked and how many there are in all."""

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How drafts are checked.

    Args:
        model: Chat model, or its name, which must be had; None takes that of the settings, where there is one.
        uses_model: False lets rules alone check.
        workers: So many drafts are checked side by side; None takes that of the settings.
    """

    model: BaseChatModel | str | None = None
    uses_model: bool = True
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class DraftScene:
    """A draft and the scene that it is to become.

    Args:
        text: The draft.
        chapter_index: Its chapter.
        scene_index: The scene within the chapter.
        plan: What it is meant to do; None takes the project's own plan of the scene, where there is one.
        pov: From whose point of view: a name, an alias or an id; empty takes the plan's.
    """

    text: str
    chapter_index: int
    scene_index: int
    plan: ScenePlan | None = None
    pov: str = ""


class StoredCheck(BaseModel):
    """The checks of stored scenes, each against what came before it, in story order."""

    checks: list[DraftCheck] = Field(default_factory=list)
    without_text: int = Field(default=0, description="Scenes that were chosen and have no text.")


class Waiver(BaseModel):
    """A finding that the author means to be so."""

    issue_id: str
    note: str = ""


def check_draft(
    stores: MemoryStores,
    project_id: str,
    *,
    text: str,
    chapter_index: int,
    scene_index: int,
    plan: ScenePlan | None = None,
    pov: str | None = None,
    model: BaseChatModel | str | None = None,
    uses_model: bool = True,
) -> DraftCheck:
    """Check a draft against everything strictly before its scene; nothing is stored.

    What fails inside (index, database, model) is in the report's issues, and the check says what it could find.

    Args:
        stores: The stores.
        project_id: The project.
        text: The draft.
        chapter_index: Chapter of the scene that it is to become.
        scene_index: The scene within the chapter.
        plan: What the scene is meant to do, which is no contradiction; None takes the project's own plan of it.
        pov: From whose point of view: a name, an alias or an id; None takes the plan's.
        model: Chat model, or its name, which must be had; None takes that of the settings, where there is one.
        uses_model: False lets rules alone check.

    Raises:
        UnknownProjectError: When no such project is stored.
        UserInputError: When the text is empty or too long.
        InvalidPositionError: When chapter or scene is out of bounds.
        ConfigurationError: When a model that is named cannot be built.
    """
    checker = DraftChecker(stores, project_id, CheckOptions(model=model, uses_model=uses_model))
    await_index(stores, project_id)
    return checker.check(DraftScene(text, chapter_index, scene_index, plan=plan, pov=pov or ""))


def check_stored(
    stores: MemoryStores,
    project_id: str,
    *,
    chapter_index: int | None = None,
    scene_index: int | None = None,
    options: CheckOptions | None = None,
    progress: Progress | None = None,
) -> StoredCheck:
    """Check stored scenes as they are written, each against what came before it.

    Args:
        stores: The stores.
        project_id: The project.
        chapter_index: Only this chapter; None means the whole book.
        scene_index: Only this scene of the chapter.
        options: How scenes are checked.
        progress: Called after each scene.

    Raises:
        UnknownProjectError: When no such project is stored.
        UnknownSceneError: When no scene is stored there.
        UserInputError: When a scene is named without its chapter.
        ConfigurationError: When a model that is named cannot be built.
        DatabaseError: When the scenes cannot be read.
    """
    if scene_index is not None and chapter_index is None:
        raise UserInputError(f"scene {scene_index!r} was named without its chapter; name both")
    checker = DraftChecker(stores, project_id, options)
    with stores.database(project_id).read() as unit:
        scenes = [
            each
            for each in unit.scenes.list_as_of(with_text=True)
            if chapter_index in (None, each.chapter_index) and scene_index in (None, each.scene_index)
        ]
    if not scenes and chapter_index is not None:
        where = str(StoryPosition(chapter_index, scene_index))
        raise UnknownSceneError(f"no scene is stored at {where!r}; see `novelgen scene list {project_id}`")
    drafts = [
        DraftScene(each.text, each.chapter_index, each.scene_index, pov=each.pov or "")
        for each in scenes
        if each.text and each.text.strip()
    ]
    await_index(stores, project_id)
    checks = list(checker.in_order(checker.check, drafts, progress=progress))
    return StoredCheck(checks=checks, without_text=len(scenes) - len(drafts))


def scene_of_draft(stores: MemoryStores, project_id: str, as_of: StoryPosition) -> tuple[int, int]:
    """Return chapter and scene of a draft that continues the story at a position.

    Args:
        stores: The stores.
        project_id: The project.
        as_of: Nothing at or after it may be seen; the end of the story means the scene after the last stored one.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    if as_of.chapter_index is not None:
        # On entering a chapter nothing of it is known, whatever number its first scene has.
        return as_of.chapter_index, as_of.scene_index or 0
    with stores.database(project_id).read() as unit:
        last = next(iter(unit.scenes.list_as_of(last=1)), None)
    return (1, 1) if last is None else (last.chapter_index, last.scene_index + 1)


class DraftChecker:
    """Checks drafts of one project; safe to share between threads.

    Args:
        stores: The project's stores.
        project_id: The project.
        options: Model and workers.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        ConfigurationError: When a model that is named cannot be built.
    """

    def __init__(self, stores: MemoryStores, project_id: str, options: CheckOptions | None = None) -> None:
        require_project_files(stores, project_id)
        chosen = options or CheckOptions()
        self._stores = stores
        self._project_id = project_id
        self._settings = stores.settings.memory.continuity
        self._workers = chosen.workers or self._settings.workers
        counting = build_token_counter(stores.settings.memory.token_counter)
        self._count_tokens = counting.count_tokens
        self._known_issues = [counting.issue] if counting.issue else []

    def check(self, scene: DraftScene) -> DraftCheck:
        """Check a draft; what fails inside is in its report.

        Raises:
            UnknownProjectError: When no such project is stored.
            UserInputError: When the text is empty or too long.
            InvalidPositionError: When chapter or scene is out of bounds.
        """
        as_of = StoryPosition(scene.chapter_index, scene.scene_index)
        text = _draft_text(scene)
        report = _Reporting(issues=list(self._known_issues))
        deadline = Deadline.after(self._settings.timeout_s, stage="check")
        read, hits = self._read(scene, text, as_of, report, deadline=deadline)
        check = DraftCheck(
            project_id=self._project_id, chapter_index=scene.chapter_index, scene_index=scene.scene_index
        )
        if read is None:
            check.report = report.report()
            return check
        story, draft = read.story, read.draft
        by_rules = report.run("rules", partial(find_by_rules, draft, story), deadline) or []
        gather = partial(
            gather_evidence,
            draft,
            story,
            similar=hits.similar(),
            limit=self._settings.max_evidence,
            max_tokens=self._settings.evidence_tokens,
            count_tokens=self._count_tokens,
        )
        evidence = evidence_before(report.run("evidence", gather, deadline) or [], as_of)
        concluded = conclude(by_rules, [], as_of=as_of, waived=read.waived)
        check.language = story.language
        check.issues, check.waived, check.evidence = concluded.issues, concluded.waived, evidence
        check.checked = CheckedDraft(
            sentences=len(draft.sentences),
            entities=list(dict.fromkeys(each.entity_id for each in draft.mentions)),
            scenes_before=len(story.scenes),
            memories_before=len(story.memories),
        )
        check.report = report.report()
        return check

    def in_order(
        self, call: Callable[[Item], Done], items: Sequence[Item], *, progress: Progress | None = None
    ) -> Iterator[Done]:
        """Yield what a call makes of each item, in their order, as many side by side as there are workers."""
        pool = ThreadPoolExecutor(max_workers=self._workers, thread_name_prefix="novelgen-check")
        try:
            futures = [pool.submit(call, each) for each in items]
            for done, future in enumerate(futures, start=1):
                yield future.result()
                if progress is not None:
                    progress(done, len(items))
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(
        self, scene: DraftScene, text: str, as_of: StoryPosition, report: _Reporting, *, deadline: Deadline
    ) -> tuple[_ReadStory | None, SentenceHits]:
        """Read the story before the draft while the draft's sentences are searched for."""
        plan = scene.plan or self._own_plan(scene, report)
        sentences = [text[start:end] for start, end in split_sentences(text)]
        within_s = deadline.share("story").remaining_s
        outcomes = run_concurrently(
            {
                "story": partial(self._read_story, text, as_of, plan, scene.pov),
                "meaning": partial(
                    find_by_sentences,
                    self._stores,
                    self._project_id,
                    sentences,
                    as_of=as_of,
                    timeout_s=deadline.share("meaning").remaining_s,
                ),
            },
            timeouts_s={"story": within_s, "meaning": within_s},
        )
        for outcome in outcomes.values():
            if isinstance(outcome.error, UnknownProjectError):
                raise outcome.error
        read: _ReadStory | None = report.take("story", outcomes["story"])
        hits: SentenceHits = report.take("meaning", outcomes["meaning"]) or SentenceHits()
        report.issues += [*(read.issues if read else ()), *hits.issues]
        return read, hits

    def _own_plan(self, scene: DraftScene, report: _Reporting) -> ScenePlan | None:
        try:
            return own_scene_plan(
                self._stores.paths(self._project_id),
                chapter_index=scene.chapter_index,
                scene_index=scene.scene_index,
            )[0]
        except InvalidFileError as error:
            report.issues.append(
                ReportIssue(stage="plan", kind="malformed", message=f"checked without a plan: {error}")
            )
            return None

    def _read_story(self, text: str, as_of: StoryPosition, plan: ScenePlan | None, pov: str) -> _ReadStory:
        story = story_before(self._stores, self._project_id, as_of=as_of, plan=plan)
        with self._stores.database(self._project_id).read() as unit:
            waived = unit.projects.waived("findings")
        issues: list[ReportIssue] = []
        name = (pov or (plan.pov if plan else "")).strip()
        if name:
            pov_id = story.resolver.resolve(name).entity_id
            story = replace(story, pov=pov_id)
            if pov_id is None:
                message = f"nobody is known as {name!r} at this position, so no point of view was checked"
                issues.append(ReportIssue(stage="plan", kind="unresolved", message=message))
        return _ReadStory(story, read_draft(text, story), waived, tuple(issues))


class _ReadStory(NamedTuple):
    """The story before a draft, the draft read with it, and what the author waived."""

    story: StoryBefore
    draft: Draft
    waived: dict[str, str]
    issues: tuple[ReportIssue, ...]


@dataclass
class _Reporting:
    """What goes wrong in a check, and how long its stages take."""

    issues: list[ReportIssue] = field(default_factory=list)
    timings_s: dict[str, float] = field(default_factory=dict)

    def run(self, stage: str, call: Callable[[], Done], deadline: Deadline) -> Done | None:
        """Run a stage within its share of the time; None where it failed."""
        timeouts_s = {stage: deadline.share(stage).remaining_s}
        return self.take(stage, run_concurrently({stage: call}, timeouts_s=timeouts_s)[stage])

    def take(self, stage: str, outcome: CallOutcome[Any]) -> Any:
        """Return what a stage gave, or None and one more issue."""
        self.timings_s[stage] = outcome.elapsed_s
        issue = issue_of(stage, outcome, propagate_bugs=False)
        if issue is not None:
            self.issues.append(issue)
        return outcome.value

    def report(self) -> ContinuityReport:
        """Return it as a check tells it."""
        return ContinuityReport(issues=self.issues, timings_s=self.timings_s)


def waive_finding(stores: MemoryStores, project_id: str, *, issue_id: str, note: str = "") -> Waiver:
    """Mark a finding as meant by the author; it is silent for as long as the draft's words and the evidence stand.

    Raises:
        UserInputError: When that is no id of a finding.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    if not _FINDING_ID.fullmatch(issue_id):
        raise UserInputError(
            f"{issue_id!r} is no id of a finding; use one that `novelgen check {project_id} …` shows, such as "
            "K0123456789ab"
        )
    with stores.database(project_id).write() as unit:
        unit.projects.set_waived("findings", {**unit.projects.waived("findings"), issue_id: note})
    return Waiver(issue_id=issue_id, note=note)


def unwaive_finding(stores: MemoryStores, project_id: str, *, issue_id: str) -> Waiver:
    """Take a waiver back: the finding is told again.

    Raises:
        UserInputError: When the finding is not waived; lists those that are.
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with stores.database(project_id).write() as unit:
        waived = unit.projects.waived("findings")
        if issue_id not in waived:
            listed = ", ".join(waived) or "none"
            raise UserInputError(f"finding {issue_id!r} is not waived; waived are: {listed}")
        note = waived.pop(issue_id)
        unit.projects.set_waived("findings", waived)
    return Waiver(issue_id=issue_id, note=note)


def list_waivers(stores: MemoryStores, project_id: str) -> list[Waiver]:
    """Return all findings that the author waived.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    with stores.database(project_id).read() as unit:
        return [Waiver(issue_id=name, note=note) for name, note in unit.projects.waived("findings").items()]


def _draft_text(scene: DraftScene) -> str:
    text = scrub_text(scene.text)
    if not text.strip():
        raise UserInputError(f"the draft of scene {scene.chapter_index}:{scene.scene_index} is empty")
    require_size(text, f"the draft of scene {scene.chapter_index}:{scene.scene_index}")
    return text
