"""Checks of drafts and stored scenes, and waivers."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Annotated

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.checked_writing_chain import CheckedWritingChain, WrittenDraft, check_after_writing
from novelgen.errors import InvalidFileError, NovelgenError, UnknownIdError, UnknownSceneError, UserInputError
from novelgen.language.normalise import require_size
from novelgen.models.continuity import DraftCheck
from novelgen.models.plan import ScenePlan, given_fields
from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from runtime.files.file_reading import NumberedLine, read_json_file, read_numbered_lines, read_text_file, validated
from runtime.files.paths import write_text_atomically
from runtime.story.base import (
    DRAFT_CHARACTERS,
    CallerObject,
    ChangeNumber,
    Draft,
    Number,
    Progress,
    StoryBase,
    async_twin,
    await_index,
)
from runtime.story.changes import say_meant
from runtime.story.draft_checker import CheckOptions, DraftChecker, DraftScene
from runtime.story.ingest import read_given

_FINDING_ID = re.compile(r"K[0-9a-f]{12}")


class StoredCheck(BaseModel):
    """Checks of stored scenes, in story order."""

    checks: list[DraftCheck] = Field(default_factory=list)
    without_text: int = Field(default=0, description="Scenes that were chosen and have no text.")


class Waiver(BaseModel):
    """A finding that the author means to be so."""

    finding_id: str
    note: str = ""
    change_id: ChangeNumber = None


class DraftLine(DraftScene):
    """A line of a file of drafts, without whatever else is on it."""

    id: str
    chapter_index: ChapterIndex
    scene_index: SceneIndex


class DraftsReport(BaseModel):
    """The results of a batch of drafts, continuing after failures."""

    asked: int = 0
    written: int = 0
    kept: int = Field(default=0, description="Drafts whose check was there already.")
    findings: int = Field(default=0, description="In the checks that were written, without the waived ones.")
    failures: list[str] = Field(default_factory=list)
    has_model: bool = Field(default=True, description="Whether a model was there to judge them.")
    degraded: list[str] = Field(default_factory=list, description="What was missing, each told once.")


class StoryContinuity(StoryBase):
    """The check of a draft."""

    def check(
        self,
        text: Draft,
        *,
        chapter_index: Number,
        scene_index: Number,
        scene_plan: CallerObject | None = None,
        pov: Annotated[str, Field(max_length=400)] | None = None,
        model: BaseChatModel | str | None = None,
        use_model: bool = True,
    ) -> DraftCheck:
        """Check a draft against the story strictly before its scene, without storing.

        Args:
            text: The draft.
            chapter_index: Chapter of the scene that it is to become.
            scene_index: The scene within its chapter.
            scene_plan: What the scene is meant to do, in the forms of `context`, which is no contradiction; None takes
                the project's own plan of the scene, where there is one.
            pov: From whose point of view: a name, an alias or an id; None takes the plan's.
            model: Chat model or its name; None takes that of `novelgen.open`, else that of the settings.
            use_model: False lists what the story says of what the draft touches; nobody judges it.

        Returns:
            Findings of a chat model with quotes of both sides, worst first, and the evidence that was gathered. Where
            no model judged, `touched` lists what the draft touches and what the story says of it. What fails inside
            stands in its `report.issues`.

        Raises:
            UserInputError: When the text is empty or longer than 100,000 characters, or the plan is none.
            UnknownProjectError: When nothing of the story is stored.
            ConfigurationError: When a model that is named cannot be built.
        """
        require_size(text, "the draft", limit_characters=DRAFT_CHARACTERS)
        as_plan = partial(given_fields, model=ScenePlan, where="scene_plan")
        plan = None if scene_plan is None else read_given(ScenePlan, scene_plan, by=as_plan)
        options = CheckOptions(model=model or self._chat_model, uses_model=use_model)
        checker = DraftChecker(self._stores, self.project_id, options)
        await_index(self._stores, self.project_id)
        place = {"chapter_index": chapter_index, "scene_index": scene_index}
        return checker.check(DraftScene(**place, text=text, scene_plan=plan, pov=pov or ""))

    acheck = async_twin(check)


class StoryChecks(StoryBase):
    """Checks of stored scenes, checks in chains, and waivers."""

    def as_runnable(
        self, *, writer: BaseChatModel | None = None, repair: bool = False, use_model: bool = True
    ) -> CheckedWritingChain:
        """Return a step for LangChain chains that comes after the writer: it checks the draft.

        It takes a mapping with chapter_index, scene_index and draft (scene_plan and pov where given), as
        `RunnablePassthrough.assign(draft=writer)` makes it, and gives the draft with its check.

        Args:
            writer: The chat model that wrote it.
            repair: Let `writer` change what was found, once; the better draft is kept.
            use_model: As for `check`.

        Raises:
            UserInputError: When `repair` is asked for and there is no writer.
        """

        continuity = StoryContinuity(self._stores, self.project_id, chat_model=self._chat_model)

        def checked(written_draft: WrittenDraft) -> DraftCheck:
            return continuity.check(
                written_draft.draft,
                chapter_index=written_draft.chapter_index,
                scene_index=written_draft.scene_index,
                scene_plan=written_draft.scene_plan,
                pov=written_draft.pov or None,
                use_model=use_model,
            )

        return check_after_writing(checked, writer=writer, repair=repair)

    def check_stored(
        self,
        *,
        chapter_index: Number | None = None,
        scene_index: Number | None = None,
        model: BaseChatModel | str | None = None,
        use_model: bool = True,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> StoredCheck:
        """Check stored scenes, each against the story before it.

        Args:
            chapter_index: Only this chapter; None means the whole book.
            scene_index: Only this scene of the chapter.
            model: As for `check`.
            use_model: As for `check`.
            workers: So many scenes are checked side by side; None takes that of the settings.
            progress: Called after each scene with the scenes done and the scenes in all.

        Raises:
            UnknownSceneError: When no scene is stored there.
            ConfigurationError: When a model that is named cannot be built.
            DatabaseError: When the scenes cannot be read.
        """
        options = CheckOptions(model=model or self._chat_model, uses_model=use_model, workers=workers)
        if scene_index is not None and chapter_index is None:
            raise UserInputError(f"scene {scene_index!r} was named without its chapter; name both")
        checker = DraftChecker(self._stores, self.project_id, options)
        with self._stores.database(self.project_id).read() as unit:
            scenes = [
                scene
                for scene in unit.scenes.list_as_of(with_text=True)
                if chapter_index in (None, scene.chapter_index) and scene_index in (None, scene.scene_index)
            ]
        if not scenes and chapter_index is not None:
            where = str(StoryPosition(chapter_index, scene_index))
            raise UnknownSceneError(f"no scene is stored at {where!r}; see `novelgen scene list {self.project_id}`")
        drafts = [
            DraftScene(
                text=scene.text, chapter_index=scene.chapter_index, scene_index=scene.scene_index, pov=scene.pov or ""
            )
            for scene in scenes
            if scene.text and scene.text.strip()
        ]
        await_index(self._stores, self.project_id)
        checks = [_of_stored(check) for check in checker.in_order(checker.check, drafts, progress=progress)]
        return StoredCheck(checks=checks, without_text=len(scenes) - len(drafts))

    def waive(self, finding_id: str, *, note: str = "") -> Waiver:
        """Waive a finding, as long as draft and evidence stay the same.

        Args:
            finding_id: As a check tells it.
            note: Why it is meant so.

        Raises:
            UserInputError: When that is no id of a finding.
        """
        if not _FINDING_ID.fullmatch(finding_id):
            raise UserInputError(
                f"{finding_id!r} is no id of a finding; use one that `novelgen check {self.project_id} …` shows, such "
                "as K0123456789ab"
            )
        with self._stores.database(self.project_id).write() as unit:
            change_id = say_meant(unit, "findings", finding_id, note)
        return Waiver(finding_id=finding_id, note=note, change_id=change_id)

    def unwaive(self, finding_id: str) -> Waiver:
        """Take a waiver back: the finding is told again.

        Args:
            finding_id: The finding.

        Raises:
            UserInputError: When it is not waived.
        """
        with self._stores.database(self.project_id).write() as unit:
            waivers = unit.projects.waived("findings")
            if finding_id not in waivers:
                listing = ", ".join(waivers) or "none"
                raise UnknownIdError(f"finding {finding_id!r} is not waived; waived are: {listing}")
            change_id = say_meant(unit, "findings", finding_id, None)
        return Waiver(finding_id=finding_id, note=waivers[finding_id], change_id=change_id)

    def list_waivers(self) -> list[Waiver]:
        """Return all findings that were waived."""
        with self._stores.database(self.project_id).read() as unit:
            return [Waiver(finding_id=name, note=note) for name, note in unit.projects.waived("findings").items()]

    acheck_stored = async_twin(check_stored)
    awaive = async_twin(waive)
    aunwaive = async_twin(unwaive)
    alist_waivers = async_twin(list_waivers)


class StoryDraftChecks(StoryBase):
    """Checks of files of drafts."""

    def check_drafts(
        self,
        *,
        drafts_file: Path,
        folder: Path,
        options: CheckOptions | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> DraftsReport:
        """Check every draft of a file, writing `<id>.json` to a folder."""
        self._stores.database(self.project_id)
        checker = DraftChecker(self._stores, self.project_id, options)
        text = read_text_file(drafts_file)
        id_fields = ("draft_id", "id")
        lines = list(read_numbered_lines(text, DraftLine, file=drafts_file, id_fields=id_fields, example="D001"))
        if not lines:
            raise InvalidFileError(f"{str(drafts_file)!r} holds no draft; write one JSON object per line")
        await_index(self._stores, self.project_id)
        folder.mkdir(parents=True, exist_ok=True)
        report = DraftsReport(asked=len(lines), has_model=checker.has_model)
        check = partial(_checked, checker, folder, resume)
        for outcome in checker.in_order(check, lines, progress=progress):
            if isinstance(outcome, str):
                report.failures.append(outcome)
            elif outcome is None:
                report.kept += 1
            else:
                report.written += 1
                report.findings += len(outcome.findings)
                told_keys = (f"{issue.stage} {issue.kind}: {issue.message}" for issue in outcome.report.issues)
                report.degraded = list(dict.fromkeys([*report.degraded, *told_keys]))
        return report


def _checked(
    checker: DraftChecker, folder: Path, resume: bool, line: NumberedLine[DraftLine]
) -> DraftCheck | str | None:
    """Check and write one draft, returning its error, None if done."""
    draft = line.value
    if draft is None:
        return line.problem
    file = folder / f"{draft.id}.json"
    if resume and _is_check_of(file, draft):
        return None
    try:
        require_size(draft.text, "the draft", limit_characters=DRAFT_CHARACTERS)
        check = checker.check(draft)
        fields = check.model_dump(mode="json")
        # Programs that score these files know the findings as `issues`.
        fields["issues"] = fields["findings"]
        write_text_atomically(file, json.dumps(fields, ensure_ascii=False, indent=2), root=folder)
    except NovelgenError as error:
        return f"line {line.number}, draft {draft.id!r}: {error}"
    return check


def _is_check_of(file: Path, draft: DraftLine) -> bool:
    if not file.exists():
        return False
    try:
        check = validated(DraftCheck, read_json_file(file), where=repr(str(file)))
    except InvalidFileError:
        return False
    is_whole = all(issue.kind not in ("timeout", "unavailable") for issue in check.report.issues)
    return is_whole and (check.chapter_index, check.scene_index) == (draft.chapter_index, draft.scene_index)


def _of_stored(check: DraftCheck) -> DraftCheck:
    """Return a stored scene's check, without its own newcomers."""
    issues = [issue for issue in check.report.issues if (issue.stage, issue.kind) != ("plan", "unresolved")]
    return check.model_copy(update={"report": check.report.model_copy(update={"issues": issues})})
